//! The connection to an engine that is being tested.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::protocols::cecp::{FATAL, FeatureValue, Reply};
use crate::tools::autoplay::config::EngineConfig;
use crate::tools::autoplay::player::{StartError, spawn};
use crate::tools::autoplay::process::{Process, Received, Trace};

use super::Finding;

/// The time that a GUI waits for features if the engine does not send `done=0`.
const FEATURE_TIMEOUT: Duration = Duration::from_secs(2);

/// The time limit for replies that require no search.
pub(super) const TIMEOUT: Duration = Duration::from_secs(3);

/// The pause after the first line. Some engines lose a second line that arrives too soon.
const FIRST_TIMEOUT: Duration = Duration::from_millis(600);

/// The pause between lines, without which some engines lose input. Too short to affect times.
const PACE: Duration = Duration::from_millis(10);

/// Maximum number of characters quoted from an engine's output.
const QUOTE: usize = 200;

/// The time to wait for output that the engine should not send.
const SILENCE: Duration = Duration::from_millis(400);

/// A connection to an engine, with a log of the messages in both directions.
pub(super) struct Conversation {
    pub process: Process,
    /// The features declared by the engine. All other features have their default values.
    pub features: BTreeMap<String, FeatureValue>,
    /// The time between the start of the engine and `done=1`.
    pub done_after: Option<Duration>,
    pub asked_for_time: bool,
    sent: Vec<String>,
    received: Vec<String>,
}

impl Conversation {
    pub(super) fn start(config: &EngineConfig, trace: &Trace) -> Result<Self, StartError> {
        let mut process = spawn(config, trace)?;
        process.set_pace(PACE);
        let mut conversation = Conversation {
            process,
            features: BTreeMap::new(),
            done_after: None,
            asked_for_time: false,
            sent: Vec::new(),
            received: Vec::new(),
        };
        conversation.send("xboard");
        let _ = conversation.next(Instant::now() + FIRST_TIMEOUT);
        conversation.send("protover 2");
        conversation.read_features();
        conversation.sent.clear();
        Ok(conversation)
    }

    fn read_features(&mut self) {
        let start = Instant::now();
        while self.done_after.is_none() {
            let timeout = if self.asked_for_time { 5 * FEATURE_TIMEOUT } else { FEATURE_TIMEOUT };
            let Some(line) = self.next(start + timeout) else { return };
            let Reply::Features(features) = Reply::from(line.as_str()) else { continue };
            for feature in features {
                match (feature.name.as_str(), &feature.value) {
                    ("done", FeatureValue::Number(1)) => self.done_after = Some(start.elapsed()),
                    ("done", _) => self.asked_for_time = true,
                    _ => {
                        self.features.insert(feature.name, feature.value);
                    }
                }
            }
        }
    }

    /// Returns whether a feature is on. `default` is its default value in the specification.
    pub(super) fn has(&self, feature: &str, default: bool) -> bool {
        self.features.get(feature).map_or(default, |value| *value == FeatureValue::Number(1))
    }

    /// Sends a line. If the engine has exited, the missing reply will reveal this.
    pub(super) fn send(&mut self, line: &str) {
        self.sent.push(line.to_owned());
        let _ = self.process.send(line);
    }

    pub(super) fn send_all(&mut self, lines: &[&str]) {
        for line in lines {
            self.send(line);
        }
    }

    /// Sends several lines with a single write.
    pub(super) fn send_together(&mut self, lines: &[&str]) {
        self.sent.extend(lines.iter().map(|&line| line.to_owned()));
        let _ = self.process.send(lines.join("\n"));
    }

    pub(super) fn make_move(&mut self, text: &str) {
        let word = if self.has("usermove", false) { "usermove " } else { "" };
        self.send(&format!("{word}{text}"));
    }

    fn next(&mut self, deadline: Instant) -> Option<String> {
        match self.process.receive(deadline) {
            Received::Line(line) => {
                self.received.push(line.text.clone());
                Some(line.text)
            }
            Received::Timeout | Received::Closed => None,
        }
    }

    pub(super) fn wait_for(
        &mut self,
        timeout: Duration,
        wanted: impl Fn(&Reply) -> bool,
    ) -> Option<Reply> {
        let deadline = Instant::now() + timeout;
        loop {
            let line = self.next(deadline)?;
            let reply = Reply::from(line.as_str());
            if wanted(&reply) {
                return Some(reply);
            }
        }
    }

    pub(super) fn read_pending(&mut self) -> Vec<Reply> {
        let deadline = Instant::now() + SILENCE;
        std::iter::from_fn(|| self.next(deadline)).map(|line| Reply::from(line.as_str())).collect()
    }

    /// Waits until the engine has processed all commands. Returns the output received in the
    /// meantime, or `None` if the engine no longer responds.
    pub(super) fn sync(&mut self, number: u64) -> Option<Vec<Reply>> {
        if !self.has("ping", false) {
            let received = self.read_pending();
            return self.is_alive().then_some(received);
        }
        self.send(&format!("ping {number}"));
        let deadline = Instant::now() + TIMEOUT;
        let mut received = Vec::new();
        loop {
            let reply = Reply::from(self.next(deadline)?.as_str());
            if reply == Reply::Pong(number) {
                return Some(received);
            }
            received.push(reply);
        }
    }

    pub(super) fn is_alive(&mut self) -> bool {
        self.process.wait(Instant::now()).is_none()
    }

    /// Creates a finding that quotes the most recently sent lines.
    pub(super) fn finding(&self, came: impl Into<String>, rule: &'static str) -> Finding {
        // At this point only the greeting has been sent.
        let greeting = ["xboard".to_owned(), "protover 2".to_owned()];
        let sent = if self.sent.is_empty() { &greeting[..] } else { &self.sent };
        let from = sent.len().saturating_sub(6);
        let mut came = came.into();
        if came.is_empty() {
            came = self.recent();
        }
        if let Some((end, _)) = came.char_indices().nth(QUOTE) {
            came.truncate(end);
            came.push_str("...");
        }
        Finding { sent: sent[from..].join(" | "), came, rule }
    }

    fn recent(&self) -> String {
        let from = self.received.len().saturating_sub(3);
        match &self.received[from..] {
            [] => "nothing".to_owned(),
            lines => lines.join(" | "),
        }
    }

    /// Returns findings for error messages that an engine should never send.
    pub(super) fn unsolicited_errors(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let fatal = |line: &&String| FATAL.iter().any(|(word, _)| line.contains(word));
        if let Some(line) = self.received.iter().find(fatal) {
            let rule = "xboard treats a line with words such as \"not found\" or \"Permission \
                denied\" as the failure of a remote shell, and ends the engine";
            findings.push(self.finding(line.clone(), rule));
        }
        let words = self.process.last_output();
        if let Some(line) = words.iter().find(|line| line.starts_with("(stderr)")) {
            let rule = "standard error reaches the GUI as protocol, so it must stay empty";
            findings.push(self.finding(line.clone(), rule));
        }
        findings
    }
}
