//! The `tabia` binary: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    tabia::cli::main()
}
