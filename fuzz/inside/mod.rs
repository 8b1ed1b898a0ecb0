//! What the fuzz targets ask of what is no part of the library's interface. Compiled into the library
//! for them alone.

pub mod console;
pub mod epd;
pub mod network;
pub mod san;
pub mod state;
