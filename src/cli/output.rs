//! Command output. Writing never panics. If the reader of standard output has exited, the command
//! ends silently. After other errors, such as a full disk, it ends with an error message.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use thiserror::Error;

use crate::support::files::without_error_numbers;
use crate::support::platform;

/// The exit status that shells report for a program terminated by SIGPIPE, which means that the
/// reader of its output has exited.
const READER_LEFT: u8 = 128 + 13;

/// A write error on standard output. A separate type distinguishes it from write errors on files.
#[derive(Debug, Error)]
#[error("cannot write to the standard output: {0}")]
struct StandardOutputError(io::Error);

#[derive(Debug)]
pub(super) struct StandardOutput(io::Stdout);

pub(super) fn stdout() -> StandardOutput {
    StandardOutput(io::stdout())
}

/// Returns true if data can be written to standard output without blocking. This is not the case if
/// it is a full pipe.
pub(super) fn has_room() -> bool {
    platform::output_has_room(&io::stdout())
}

pub(super) fn marked(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), StandardOutputError(error))
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(marked)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes).map_err(marked)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(marked)
    }
}

/// Prints a line to standard output like `println!`, but returns errors instead of panicking.
macro_rules! outln {
    ($($part:tt)*) => {
        $crate::cli::output::print_line(format_args!($($part)*))
    };
}
pub(in crate::cli) use outln;

/// Prints the line for [`outln`] with a single write, so that no part of the line remains in the
/// buffer after an error.
pub(super) fn print_line(text: fmt::Arguments<'_>) -> io::Result<()> {
    stdout().write_all(format!("{text}\n").as_bytes())
}

/// Prints a line to standard error like `eprintln!`, but ignores errors.
macro_rules! errln {
    ($($part:tt)*) => {
        $crate::cli::output::complain(format_args!($($part)*))
    };
}
pub(in crate::cli) use errln;

pub(super) fn complain(text: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{}", without_error_numbers(&text.to_string()));
}

pub(super) fn exit_code(done: anyhow::Result<ExitCode>) -> ExitCode {
    // Flush the buffer, because it may contain an incomplete last line.
    let done = done.and_then(|status| Ok(stdout().flush().map(|()| status)?));
    match done {
        Ok(status) => status,
        Err(error) if is_broken_pipe(&error) => ExitCode::from(READER_LEFT),
        Err(error) => {
            errln!("tabia: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>()).any(|error| {
        error.kind() == ErrorKind::BrokenPipe
            && matches!(error.get_ref(), Some(inner) if inner.is::<StandardOutputError>())
    })
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn only_broken_pipe_of_standard_output_is_ignored() {
        let own = marked(ErrorKind::BrokenPipe.into());
        assert!(is_broken_pipe(&anyhow::Error::from(own)));
        let wrapped = Err::<(), _>(marked(ErrorKind::BrokenPipe.into())).context("showing");
        assert!(is_broken_pipe(&wrapped.expect_err("an error")));
        let other = io::Error::from(ErrorKind::BrokenPipe);
        assert!(!is_broken_pipe(&anyhow::Error::from(other)));
        assert!(!is_broken_pipe(&anyhow::Error::from(marked(ErrorKind::StorageFull.into()))));
    }
}
