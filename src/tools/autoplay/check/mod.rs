//! Checks whether an engine follows its protocol, xboard or UCI.
//!
//! Each test starts a new engine process, so that a failure does not affect the next test. A
//! `Conversation` is the connection to this process, including what the engine declared in the
//! handshake. Sources: <https://www.gnu.org/software/xboard/engine-intf.html> and
//! <https://www.shredderchess.com/chess-features/uci-universal-chess-interface.html>.

mod conversation;
mod endings;
mod junit;
mod uci;
mod xboard;

use std::fmt;
use std::time::{Duration, Instant};

use crate::support::words::visible;

use super::config::{EngineConfig, Protocol};
use super::player::{StartError, find_protocol};
use super::process::Trace;

use conversation::{Conversation, Handshake};
pub(crate) use junit::junit;

/// A deviation from the specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub sent: String,
    /// The engine's output, or what happened instead if there was none.
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

/// The settings for all tests of an engine.
pub(crate) struct Limits<'a> {
    /// How long to wait for an answer before the engine is considered hung.
    pub patience: Duration,
    /// By how much an answer may exceed its time.
    pub margin: Duration,
    pub trace: &'a Trace,
}

/// The result of one test.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub name: &'static str,
    pub findings: Vec<Finding>,
    /// Measurements, such as the time from `stop` to `bestmove`.
    pub notes: Vec<String>,
    /// What the engine lacks, if the test was skipped for that reason.
    pub skipped: Option<&'static str>,
    pub duration: Duration,
}

/// A quiet middlegame position that is unlikely to be in an opening book, so that the engine has to
/// search.
const MIDDLE_GAME: &str = "r2q1rk1/1b2bppp/p1n1pn2/1p1p4/3P1B2/P1NBPN1P/1P3PP1/R2Q1RK1 w - - 2 13";

/// How long the engine must stay silent when it is not supposed to send a move.
const SILENCE: Duration = Duration::from_millis(400);

/// A test of one requirement.
struct Probe<H> {
    name: &'static str,
    /// Runs the test. Findings are added to the conversation; a finding returned as an error also
    /// ends the test.
    run: fn(&mut Conversation<H>) -> Result<(), Finding>,
}

/// Runs all tests of the engine's protocol, and passes the result of each test to `report`.
///
/// # Errors
/// If the engine's program cannot be started, or if `report` fails.
pub(crate) fn check<E: From<StartError>>(
    config: &EngineConfig,
    limits: &Limits<'_>,
    report: impl FnMut(&Outcome) -> Result<(), E>,
) -> Result<Vec<Outcome>, E> {
    match find_protocol(config, limits.trace)? {
        Protocol::Uci => run(uci::PROBES, config, limits, report),
        _ => run(xboard::PROBES, config, limits, report),
    }
}

fn run<H: Handshake, E: From<StartError>>(
    probes: &[Probe<H>],
    config: &EngineConfig,
    limits: &Limits<'_>,
    mut report: impl FnMut(&Outcome) -> Result<(), E>,
) -> Result<Vec<Outcome>, E> {
    let mut outcomes = Vec::new();
    let mut is_usable = true;
    for &Probe { name, run } in probes {
        let start = Instant::now();
        let (mut findings, mut notes, mut skipped) = (Vec::new(), Vec::new(), Some("a handshake"));
        if is_usable {
            let mut conversation = Conversation::start(config, limits)?;
            let last = run(&mut conversation).err();
            findings = std::mem::take(&mut conversation.findings);
            findings.extend(last);
            findings.extend(H::unsolicited(&conversation));
            // Only the handshake of the first test decides whether the engine is usable. If it
            // fails in a later test, that test reports a finding.
            is_usable = !outcomes.is_empty() || conversation.handshake.is_usable();
            (notes, skipped) = (conversation.notes, conversation.skipped);
        }
        let outcome = Outcome { name, findings, notes, skipped, duration: start.elapsed() };
        report(&outcome)?;
        outcomes.push(outcome);
    }
    Ok(outcomes)
}
