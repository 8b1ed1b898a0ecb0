//! The `tabia` binary. All of its code is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    tabia::cli::main()
}
