//! The log of engine mode: into a file, or nowhere. Standard error is no place for it, since
//! xboard reads that as protocol.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use env_logger::Target;
use log::LevelFilter;

use crate::files::append_to;

/// Where the log goes; clones share it.
#[derive(Clone, Default)]
pub(super) struct Log {
    file: Arc<Mutex<Option<File>>>,
}

impl Log {
    /// Makes this the log of the process. Panics are logged too, and say nothing elsewhere.
    pub(super) fn install(&self) {
        let mut builder = env_logger::Builder::new();
        // The libraries' own debugging is of no use to a user.
        builder
            .filter_module("tabia", LevelFilter::Debug)
            .target(Target::Pipe(Box::new(self.clone())));
        if builder.try_init().is_ok() {
            log::set_max_level(LevelFilter::Off);
        }
        std::panic::set_hook(Box::new(|panic| log::error!("{panic}")));
    }

    /// Appends to the named file from now on; to none if the name is empty.
    pub(super) fn open(&self, name: &str) -> io::Result<()> {
        let file = match name {
            "" => None,
            name => Some(append_to(Path::new(name))?),
        };
        let level = if file.is_some() { LevelFilter::Debug } else { LevelFilter::Off };
        *self.file.lock().unwrap_or_else(PoisonError::into_inner) = file;
        log::set_max_level(level);
        Ok(())
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(file) = &mut *self.file.lock().unwrap_or_else(PoisonError::into_inner) {
            file.write_all(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
