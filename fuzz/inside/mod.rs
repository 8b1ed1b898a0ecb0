//! Gives the fuzz targets access to private parts of the library. Compiled only for fuzzing.

pub mod checkpoint;
pub mod console;
pub mod epd;
pub mod http;
pub mod journal;
pub mod learning;
pub mod network;
pub mod san;
pub mod state;

/// Splits a text into words at white space and zero-width characters.
pub fn words(text: &str) -> Vec<&str> {
    crate::support::words::split_words(text).collect()
}
