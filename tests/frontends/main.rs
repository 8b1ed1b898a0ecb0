//! Tests of the front ends: xboard protocol, UCI, console and explorer server.

#[path = "../support/mod.rs"]
mod support;

mod cecp;
mod console;
mod logging;
mod serve;
mod stress;
mod uci;
mod words;
