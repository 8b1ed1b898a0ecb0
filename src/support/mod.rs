//! Code that does not depend on chess: files, text, threads, memory, random numbers, plots and HTML
//! pages.
//!
//! This area uses no other area.

pub(crate) mod clock;
pub(crate) mod error;
pub(crate) mod files;
pub(crate) mod huge_pages;
pub(crate) mod page;
pub(crate) mod platform;
pub(crate) mod plot;
pub(crate) mod prefetch;
pub(crate) mod random;
pub(crate) mod threads;
pub(crate) mod words;
