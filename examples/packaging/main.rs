//! Writes the files that a package contains in addition to the program: manual pages, shell
//! completions, xboard's plugin file, a desktop entry and its AppStream metadata. The argument is
//! the target folder, such as `/usr/local/share`:
//!
//! ```sh
//! cargo run --example packaging -- target/share
//! ```
//!
//! Prints the path of each file that it writes.

mod share;

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let Some(folder) = env::args_os().nth(1) else {
        return Err(io::Error::other("usage: packaging FOLDER, such as target/share"));
    };
    for (place, text) in share::files()? {
        let path = Path::new(&folder).join(place);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(&path, text)?;
        println!("{}", path.display());
    }
    Ok(())
}
