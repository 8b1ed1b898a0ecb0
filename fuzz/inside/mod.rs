//! Access of the fuzz targets to private parts of the library; compiled only for them.

pub mod console;
pub mod epd;
pub mod network;
pub mod san;
pub mod state;
