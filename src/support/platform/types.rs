//! Types that are the same on all operating systems.

/// Identifies a file on this machine, regardless of the name or link by which it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    pub(crate) volume: u64,
    pub(crate) number: u64,
}

/// A request from the user or the operating system to end the program.
#[cfg(feature = "cli")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// Ctrl-C (SIGINT), or Ctrl-Break.
    Interrupt,
    /// SIGTERM, or the end of the Windows session.
    Terminate,
    /// The terminal was closed (SIGHUP).
    Hangup,
}

/// A signal to an engine. Windows has no signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Interrupt,
    Terminate,
}
