//! Types shared by the modules for all operating systems.

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
    /// SIGTERM or, on Windows, logging off or shutting down.
    Terminate,
    /// The terminal was closed (SIGHUP).
    Hangup,
}

/// A signal that is sent to an engine. Windows has no signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Interrupt,
    Terminate,
}
