//! Words that all commands of the console use.

use std::error::Error;
use std::io;
use std::time::Duration;

/// An error in words of our own.
pub(super) fn failed(why: impl Into<Box<dyn Error + Send + Sync>>) -> io::Error {
    io::Error::other(why)
}

/// A time in words.
pub(super) fn seconds(time: Duration) -> String {
    format!("{} s", (time.as_secs_f64() * 100.0).round() / 100.0)
}
