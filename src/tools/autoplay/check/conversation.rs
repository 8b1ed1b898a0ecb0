//! The connection to an engine that is being tested.

use std::time::{Duration, Instant};

use crate::tools::autoplay::config::EngineConfig;
use crate::tools::autoplay::player::{StartError, spawn};
use crate::tools::autoplay::process::{Line, Process, Trace};

use super::{Finding, Limits};

/// The pause after each line sent. Some engines lose input that arrives too fast. The pause is too
/// short to affect the measured times.
const PACE: Duration = Duration::from_millis(10);

/// Maximum number of characters quoted from an engine's output.
const QUOTE: usize = 200;

/// The number of recently sent lines that a finding quotes.
const QUOTED_LINES: usize = 6;

/// The parts of the tests that depend on the protocol. An implementation stores what the engine
/// declared in the handshake.
pub(super) trait Handshake: Default {
    /// A parsed line from the engine.
    type Reply: for<'a> From<&'a str>;

    /// The command that starts a new game.
    const NEW_GAME: &'static str;

    /// The commands that start a search which cannot end before the test does.
    const LONG_SEARCH: &'static [&'static str];

    /// Performs the handshake.
    fn perform(conversation: &mut Conversation<Self>);

    /// Returns true if the other tests can run after this handshake.
    fn is_usable(&self) -> bool;

    /// Returns the command that sets an option or, if `value` is `None`, presses a button.
    fn option(name: String, value: Option<String>) -> String;

    /// Returns the command that sets an option or, if `value` is empty, presses a button.
    fn set_option(name: &str, value: &str) -> String {
        let value = Some(value.to_owned()).filter(|value| !value.is_empty());
        Self::option(name.to_owned(), value)
    }

    /// Returns a finding for each part of the output that an engine must not send in any test.
    fn unsolicited(conversation: &Conversation<Self>) -> Vec<Finding>;
}

/// A connection to an engine process, with a log of the lines sent in both directions.
pub(super) struct Conversation<H> {
    pub process: Process,
    pub handshake: H,
    /// How long to wait for an answer before the engine is considered hung.
    pub patience: Duration,
    /// By how much an answer may exceed its time.
    pub margin: Duration,
    /// Findings so far. None of them has ended the test.
    pub findings: Vec<Finding>,
    /// Measurements that are reported but cannot fail a test.
    pub notes: Vec<String>,
    /// What the engine lacks, if the test was skipped for that reason.
    pub skipped: Option<&'static str>,
    /// The lines sent in the handshake.
    greeting: Vec<String>,
    /// The lines sent after the handshake.
    sent: Vec<String>,
    received: Vec<String>,
    /// A line that arrived too late for the last call to `next`. The following call returns it.
    unread: Option<Line>,
    /// When the last line returned by `next` arrived.
    pub arrived: Instant,
}

impl<H: Handshake> Conversation<H> {
    pub(super) fn start(config: &EngineConfig, limits: &Limits<'_>) -> Result<Self, StartError> {
        let trace: &Trace = limits.trace;
        let mut process = spawn(config, trace)?;
        process.set_pace(config.pace.unwrap_or(PACE));
        let mut conversation = Conversation {
            process,
            handshake: H::default(),
            patience: limits.patience,
            margin: limits.margin,
            findings: Vec::new(),
            notes: Vec::new(),
            skipped: None,
            greeting: Vec::new(),
            sent: Vec::new(),
            received: Vec::new(),
            unread: None,
            arrived: Instant::now(),
        };
        H::perform(&mut conversation);
        for (name, value) in &config.options {
            conversation.send(&H::set_option(name, value));
        }
        for line in &config.init {
            conversation.send(line);
        }
        conversation.greeting = std::mem::take(&mut conversation.sent);
        Ok(conversation)
    }

    /// Sends a line. Errors are ignored: if the engine has exited, the test fails because the reply
    /// is missing.
    pub(super) fn send(&mut self, line: &str) {
        self.sent.push(line.to_owned());
        let _ = self.process.send(line);
    }

    pub(super) fn send_all(&mut self, lines: &[&str]) {
        for line in lines {
            self.send(line);
        }
    }

    /// Sends several lines in a single write, so that they arrive together.
    pub(super) fn send_together(&mut self, lines: &[&str]) {
        self.sent.extend(lines.iter().map(|&line| line.to_owned()));
        let _ = self.process.send(lines.join("\n"));
    }

    /// Returns the next line if it arrives before the deadline. A line that arrives later is kept
    /// for the next call, because it may answer the next command.
    pub(super) fn next(&mut self, deadline: Instant) -> Option<String> {
        let line = match self.unread.take() {
            Some(line) => line,
            None => {
                let line = self.process.lines().recv_deadline(deadline).ok()?;
                self.process.note(&line);
                line
            }
        };
        if line.at > deadline {
            self.unread = Some(line);
            return None;
        }
        self.arrived = line.at;
        self.received.push(line.text.clone());
        Some(line.text)
    }

    /// Returns the first reply that satisfies the predicate, or `None` if none arrives in time.
    pub(super) fn wait_for(&mut self, wanted: impl Fn(&H::Reply) -> bool) -> Option<H::Reply> {
        self.wait_within(self.patience, wanted)
    }

    pub(super) fn wait_within(
        &mut self,
        timeout: Duration,
        wanted: impl Fn(&H::Reply) -> bool,
    ) -> Option<H::Reply> {
        let deadline = Instant::now() + timeout;
        loop {
            let line = self.next(deadline)?;
            let reply = H::Reply::from(line.as_str());
            if wanted(&reply) {
                return Some(reply);
            }
        }
    }

    pub(super) fn is_alive(&mut self) -> bool {
        self.process.wait(Instant::now()).is_none()
    }

    /// Marks the test as skipped. `lack` names what the engine lacks.
    pub(super) fn skip(&mut self, lack: &'static str) -> Result<(), Finding> {
        self.skipped = Some(lack);
        Ok(())
    }

    /// Records a finding without ending the test.
    pub(super) fn report(&mut self, came: impl Into<String>, rule: &'static str) {
        let finding = self.finding(came, rule);
        self.findings.push(finding);
    }

    /// Creates a finding that quotes the most recently sent lines. If `came` is empty, it also
    /// quotes the most recently received lines.
    pub(super) fn finding(&self, came: impl Into<String>, rule: &'static str) -> Finding {
        let sent = if self.sent.is_empty() { &self.greeting } else { &self.sent };
        let from = sent.len().saturating_sub(QUOTED_LINES);
        let mut came = came.into();
        if came.is_empty() {
            came = self.recent();
        }
        Finding { sent: clipped(sent[from..].join(" | ")), came: clipped(came), rule }
    }

    /// Creates a finding for a missing answer. It states how long the test waited or, if the engine
    /// has exited, how it ended.
    pub(super) fn missing(&mut self, what: &str, rule: &'static str) -> Finding {
        let came = match self.is_alive() {
            true => format!("no {what} within {} s", self.patience.as_secs_f64()),
            false => format!("no {what}: the engine {}", self.process.exit_reason()),
        };
        self.finding(came, rule)
    }

    fn recent(&self) -> String {
        let from = self.received.len().saturating_sub(3);
        match &self.received[from..] {
            [] => "nothing".to_owned(),
            lines => lines.join(" | "),
        }
    }

    pub(super) fn received(&self) -> &[String] {
        &self.received
    }
}

fn clipped(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(QUOTE) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}
