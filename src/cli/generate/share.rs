//! Files below `/usr/share` for an installed program, at the paths where shells, `man`, desktops
//! and xboard look for them.

use std::fs;
use std::path::Path;

use anyhow::Context;
use clap_complete::Shell;

use super::{completions, man};
use crate::cli::writing::{Force, INSTALLED};
use crate::support::files::Output;

/// xboard's plugin file: its kind, the command line, the variants. Its path is
/// `games/plugins/xboard` below `/usr/share` or `/usr/local/share`.
pub(super) const PLUGIN: &str = "plugin spec 0.0\ntabia -x\nchess\n";

/// A desktop entry (<https://specifications.freedesktop.org/desktop-entry-spec/1.5/>). Desktops
/// hide it if xboard, whose icon it uses, is missing.
pub(super) const DESKTOP: &str = "[Desktop Entry]
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

/// Writes everything below `folder`.
///
/// # Errors
/// If a file or a folder cannot be written, or would replace a file of another kind.
pub(super) fn write(folder: &Path, force: Force) -> anyhow::Result<()> {
    let pages = folder.join("man/man6");
    man::write(&pages, force)
        .with_context(|| format!("cannot write man pages into {}", pages.display()))?;
    for (shell, place) in COMPLETIONS {
        write_file(&folder.join(place), &completions(shell), force)?;
    }
    write_file(&folder.join("games/plugins/xboard/tabia.eng"), PLUGIN.as_bytes(), force)?;
    write_file(&folder.join("applications/tabia.desktop"), DESKTOP.as_bytes(), force)
}

/// Writes a file, and creates its parent folders.
fn write_file(path: &Path, text: &[u8], force: Force) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    Output::new(path, INSTALLED).force(force.allowed).write(text)?;
    Ok(())
}
