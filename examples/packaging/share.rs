//! Files below `/usr/share` for an installed program, at the paths where shells, `man`, desktops
//! and xboard look for them.

#[path = "man.rs"]
mod man;

use std::collections::BTreeMap;
use std::io;

use clap_complete::Shell;

/// xboard's plugin file: its kind, the command line, the variants. Its path is
/// `games/plugins/xboard` below `/usr/share` or `/usr/local/share`.
const PLUGIN: &str = "plugin spec 0.0\ntabia -x\nchess\n";

/// A desktop entry (<https://specifications.freedesktop.org/desktop-entry-spec/1.5/>). Desktops
/// hide it if xboard, whose icon it uses, is missing.
const DESKTOP: &str = "[Desktop Entry]
Type=Application
Name=Tabia
GenericName=Chess Game
Comment=Play chess against Tabia in xboard
Comment[de]=Schach gegen Tabia spielen, in xboard
Exec=xboard -fcp \"tabia -x\"
TryExec=xboard
Icon=xboard
Terminal=false
Categories=Game;BoardGame;
Keywords=chess;board;game;openings;engine;
";

/// Paths of completion scripts. Debian's zsh uses `zsh/vendor-completions` for packages.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions/tabia"),
    (Shell::Fish, "fish/vendor_completions.d/tabia.fish"),
    (Shell::Zsh, "zsh/site-functions/_tabia"),
];

/// Returns all files by their paths below the folder.
///
/// # Errors
/// Never: writing to memory does not fail.
pub fn files() -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut files = man::pages()?;
    for (shell, place) in COMPLETIONS {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut tabia::cli::command(), "tabia", &mut text);
        files.insert(place.to_owned(), text);
    }
    files.insert("games/plugins/xboard/tabia.eng".to_owned(), PLUGIN.into());
    files.insert("applications/tabia.desktop".to_owned(), DESKTOP.into());
    Ok(files)
}
