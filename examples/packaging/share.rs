//! Builds the files that an installation puts in `/usr/share`, at the paths where shells, `man`,
//! desktops and xboard look for them.

#[path = "man.rs"]
mod man;

use std::collections::BTreeMap;
use std::io;

use clap_complete::Shell;

/// xboard's plugin file, which belongs in `games/plugins/xboard` below `/usr/share` or
/// `/usr/local/share`. Its lines are the file type, the command that starts the engine, and the
/// variants it plays.
const PLUGIN: &str = "plugin spec 0.0\ntabia -x\nchess\n";

/// A desktop entry (<https://specifications.freedesktop.org/desktop-entry-spec/1.5/>). Desktops
/// hide the entry if xboard, which provides its icon, is missing.
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

/// AppStream metadata for software centres
/// (<https://www.freedesktop.org/software/appstream/docs/>). The list of releases is added from the
/// changelog. The component's id is not based on a domain, because the project does not own one.
const METAINFO: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<component type="desktop-application">
  <id>invalid.packages.tabia</id>
  <metadata_license>CC0-1.0</metadata_license>
  <project_license>GPL-3.0-or-later</project_license>
  <name>Tabia</name>
  <summary>Chess engine with an opening book that counts by position</summary>
  <developer_name>The Tabia developers</developer_name>
  <description>
    <p>
      Tabia plays chess in xboard, in programs that use UCI, and in the terminal. Its opening book
      shows for each position the results of the games that reached it, by any move order.
    </p>
    <ul>
      <li>Builds books from your own games, and shows them in the browser</li>
      <li>Plays at full strength or limited to a rating</li>
      <li>Annotates games with mistakes, better lines and accuracy</li>
      <li>Checks and trains opening repertoires</li>
      <li>Runs matches between engines</li>
    </ul>
  </description>
  <launchable type="desktop-id">tabia.desktop</launchable>
  <provides>
    <binary>tabia</binary>
  </provides>
  <content_rating type="oars-1.1"/>
"#;

/// Paths of the shell completion scripts. On Debian, zsh loads the scripts of packages from
/// `zsh/vendor-completions` instead.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions/tabia"),
    (Shell::Fish, "fish/vendor_completions.d/tabia.fish"),
    (Shell::Zsh, "zsh/site-functions/_tabia"),
];

/// Returns the contents of all files, keyed by their paths below the target folder.
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
    files.insert("metainfo/invalid.packages.tabia.metainfo.xml".to_owned(), metainfo().into());
    Ok(files)
}

/// Returns the AppStream metadata, including the releases listed in the changelog. Release headings
/// have the form `## [0.1.0] - 2026-11-21`.
fn metainfo() -> String {
    let mut text = format!("{METAINFO}  <releases>\n");
    for heading in
        include_str!("../../CHANGELOG.md").lines().filter_map(|line| line.strip_prefix("## ["))
    {
        if let Some((version, date)) = heading.split_once("] - ") {
            text += &format!("    <release version=\"{version}\" date=\"{date}\"/>\n");
        }
    }
    text + "  </releases>\n</component>\n"
}
