//! Gives the fuzz targets access to private parts of the library; compiled only for fuzzing.

pub mod console;
pub mod epd;
pub mod network;
pub mod san;
pub mod state;
