//! Types that all systems share.

/// Identifies a file on this machine, whatever names or links refer to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    pub(crate) volume: u64,
    pub(crate) number: u64,
}

/// A request from the user or the system to end the program.
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

/// A signal to an engine. Windows has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Interrupt,
    Terminate,
}
