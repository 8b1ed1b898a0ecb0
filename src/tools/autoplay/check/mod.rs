//! Checks whether an engine follows the xboard protocol.
//!
//! Each probe runs a separate process, so that a failure does not affect the next probe. Source:
//! <https://www.gnu.org/software/xboard/engine-intf.html>.

mod conversation;
mod probes;

use std::fmt;

use crate::support::words::visible;

use super::config::EngineConfig;
use super::player::StartError;
use super::process::Trace;

use conversation::Conversation;
pub(crate) use probes::PROBES;

/// A deviation from the specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub sent: String,
    /// The engine's output, or a description of what happened instead of output.
    pub came: String,
    /// The requirement stated in the specification.
    pub rule: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "    sent: {}", visible(&self.sent))?;
        writeln!(f, "    came: {}", visible(&self.came))?;
        write!(f, "    rule: {}", self.rule)
    }
}

/// A check of one requirement.
pub(crate) struct Probe {
    pub name: &'static str,
    run: fn(&mut Conversation) -> Vec<Finding>,
}

impl Probe {
    /// Runs the check with a new engine process.
    pub(crate) fn run(
        &self,
        config: &EngineConfig,
        trace: &Trace,
    ) -> Result<Vec<Finding>, StartError> {
        let mut conversation = Conversation::start(config, trace)?;
        let mut findings = (self.run)(&mut conversation);
        findings.extend(conversation.unsolicited_errors());
        Ok(findings)
    }
}
