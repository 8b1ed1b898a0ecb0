//! What users and programs talk to: xboard's protocol, UCI and the console.

#[path = "../support/mod.rs"]
mod support;

mod cecp;
mod console;
mod logging;
mod serve;
mod stress;
mod uci;
mod words;
