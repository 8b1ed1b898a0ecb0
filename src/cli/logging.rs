//! Logging. Commands write the log to standard error. Under a GUI, the engine writes the log to a
//! file or omits it, because xboard interprets standard error as protocol output.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use clap::ArgAction;
use env_logger::Target;
use log::LevelFilter;

use crate::support::files::append_to;

pub(super) const VARIABLE: &str = "RUST_LOG";

/// Options for the amount of log output.
#[derive(Debug, clap::Args)]
pub(super) struct Verbosity {
    /// Log to standard error; -vv and -vvv log more
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,
}

impl Verbosity {
    fn level(&self) -> LevelFilter {
        match self.verbose {
            0 => LevelFilter::Warn,
            1 => LevelFilter::Info,
            2 => LevelFilter::Debug,
            _ => LevelFilter::Trace,
        }
    }

    pub(super) fn install(&self) {
        let mut builder = env_logger::Builder::new();
        match std::env::var(VARIABLE) {
            Ok(wanted) => builder.parse_filters(&wanted),
            // Log only Tabia's own messages, because those of libraries are not useful to users.
            Err(_) => builder.filter_module("tabia", self.level()),
        };
        let _ = builder.try_init();
    }
}

/// The destination of the engine's log. Clones share the same file.
#[derive(Clone)]
pub(super) struct Log {
    file: Arc<Mutex<Option<File>>>,
    level: LevelFilter,
    /// The log level on standard error while no log file is open.
    otherwise: LevelFilter,
}

impl Log {
    /// Creates the log for the console. It goes to standard error while no log file is open.
    pub(super) fn of_console(verbosity: &Verbosity) -> Self {
        Log { otherwise: verbosity.level(), ..Log::of_protocol(verbosity) }
    }

    /// Creates the log for a protocol. It never goes to standard error.
    pub(super) fn of_protocol(verbosity: &Verbosity) -> Self {
        let level = verbosity.level().max(LevelFilter::Debug);
        Log { file: Arc::default(), level, otherwise: LevelFilter::Off }
    }

    /// Installs this log, filtered by `RUST_LOG` if it is set. Panic messages go only to the log.
    pub(super) fn install(mut self) -> Self {
        let mut builder = env_logger::Builder::new();
        let filter = std::env::var(VARIABLE).ok();
        match &filter {
            Some(wanted) => builder.parse_filters(wanted),
            None => builder.filter_module("tabia", LevelFilter::Trace),
        };
        let logger = builder.target(Target::Pipe(Box::new(self.clone()))).build();
        if filter.is_some() {
            self.level = logger.filter();
            self.otherwise = self.otherwise.min(logger.filter());
        }
        if log::set_boxed_logger(Box::new(logger)).is_ok() {
            log::set_max_level(self.otherwise);
        }
        std::panic::set_hook(Box::new(|panic| log::error!("{panic}")));
        self
    }

    /// Appends later log messages to this file. If the name is empty, closes the current file.
    pub(super) fn open(&self, name: &str) -> io::Result<()> {
        let file = match name {
            "" => None,
            name => Some(append_to(Path::new(name))?),
        };
        let level = if file.is_some() { self.level } else { self.otherwise };
        *self.file.lock().unwrap_or_else(PoisonError::into_inner) = file;
        log::set_max_level(level);
        Ok(())
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut *self.file.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(file) => file.write_all(bytes)?,
            None if self.otherwise != LevelFilter::Off => io::stderr().write_all(bytes)?,
            None => {}
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
