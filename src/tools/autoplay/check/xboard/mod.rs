//! The handshake of the xboard protocol.

mod probes;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::conversation::{self, Handshake};
use super::{Finding, SILENCE};
use crate::protocols::cecp::{Command, FATAL, FeatureValue, Reply};

pub(super) use probes::PROBES;

/// The time that a GUI waits for features if the engine does not send `done=0`.
const FEATURE_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum pause between `xboard` and `protover`. Some engines lose the second line if it
/// arrives too soon.
const FIRST_TIMEOUT: Duration = Duration::from_millis(600);

/// The features that an engine declares in reply to `protover`.
#[derive(Default)]
pub(super) struct Features {
    /// The values of the declared features. All other features have their default values.
    declared: BTreeMap<String, FeatureValue>,
    /// The time from `protover` to `done=1`.
    done_after: Option<Duration>,
    asked_for_time: bool,
}

type Conversation = conversation::Conversation<Features>;

impl Handshake for Features {
    type Reply = Reply;

    const NEW_GAME: &'static str = "new";
    const LONG_SEARCH: &'static [&'static str] = &["new", "st 600", "go"];

    fn perform(conversation: &mut Conversation) {
        conversation.send("xboard");
        let _ = conversation.next(Instant::now() + FIRST_TIMEOUT);
        conversation.send("protover 2");
        conversation.read_features();
    }

    fn is_usable(&self) -> bool {
        // All engines are usable, because one that declares no features may be using version 1 of
        // the protocol.
        true
    }

    fn option(name: String, value: Option<String>) -> String {
        Command::Option { name, value }.to_string()
    }

    fn unsolicited(conversation: &Conversation) -> Vec<Finding> {
        let mut findings = Vec::new();
        let fatal = |line: &&String| FATAL.iter().any(|(word, _)| line.contains(word));
        if let Some(line) = conversation.received().iter().find(fatal) {
            let rule = "xboard treats a line with words such as \"not found\" or \"Permission \
                denied\" as the failure of a remote shell, and ends the engine";
            findings.push(conversation.finding(line.clone(), rule));
        }
        let words = conversation.process.last_output();
        if let Some(line) = words.iter().find(|line| line.starts_with("(stderr)")) {
            let rule = "standard error reaches the GUI as protocol, so it must stay empty";
            findings.push(conversation.finding(line.clone(), rule));
        }
        findings
    }
}

impl Conversation {
    fn read_features(&mut self) {
        let start = Instant::now();
        while self.handshake.done_after.is_none() {
            let patience = if self.handshake.asked_for_time { 5 } else { 1 };
            let Some(line) = self.next(start + patience * FEATURE_TIMEOUT) else { return };
            let Reply::Features(features) = Reply::from(line.as_str()) else { continue };
            for feature in features {
                match (feature.name.as_str(), &feature.value) {
                    ("done", FeatureValue::Number(1)) => {
                        self.handshake.done_after = Some(start.elapsed());
                    }
                    ("done", _) => self.handshake.asked_for_time = true,
                    _ => {
                        self.handshake.declared.insert(feature.name, feature.value);
                    }
                }
            }
        }
    }

    /// Returns true if the engine has turned a feature on. `default` is the feature's default value
    /// in the specification.
    fn has(&self, feature: &str, default: bool) -> bool {
        let value = self.handshake.declared.get(feature);
        value.map_or(default, |value| *value == FeatureValue::Number(1))
    }

    fn make_move(&mut self, text: &str) {
        let word = if self.has("usermove", false) { "usermove " } else { "" };
        self.send(&format!("{word}{text}"));
    }

    fn read_pending(&mut self) -> Vec<Reply> {
        let deadline = Instant::now() + SILENCE;
        std::iter::from_fn(|| self.next(deadline)).map(|line| Reply::from(line.as_str())).collect()
    }

    /// Waits until the engine has processed all commands, by sending a `ping` if the engine
    /// supports it. Returns the output received in the meantime, or `None` if the engine no longer
    /// responds.
    fn sync(&mut self, number: u64) -> Option<Vec<Reply>> {
        if !self.has("ping", false) {
            let received = self.read_pending();
            return self.is_alive().then_some(received);
        }
        self.send(&format!("ping {number}"));
        let deadline = Instant::now() + self.patience;
        let mut received = Vec::new();
        loop {
            let reply = Reply::from(self.next(deadline)?.as_str());
            if reply == Reply::Pong(number) {
                return Some(received);
            }
            received.push(reply);
        }
    }
}
