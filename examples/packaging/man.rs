//! Generates the manual pages. clap generates most sections, and this program adds the others.

use std::collections::BTreeMap;
use std::io;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};

/// Section 6 of the manual is for games.
const SECTION: &str = "6";

/// Pages have no date, so that builds are reproducible. This is a space rather than an empty string
/// because clap_mangen omits empty arguments of the roff macro `TH`, which would shift the later
/// ones.
const NO_DATE: &str = " ";

/// Environment variables that Tabia reads, and their effects.
const ENVIRONMENT: [(&str, &str); 7] = [
    ("HOME", "Parent of the folder for console games if XDG_DATA_HOME is not set."),
    ("NO_COLOR", "If set and not empty, the board in the terminal and the help have no colours."),
    (
        "RUST_LOG",
        "The log level of commands, instead of -v: error, warn, info, debug, trace or off, or levels by module, such as tabia::book=debug. Engines log only to the file of --log.",
    ),
    (
        "TABIA_KERNEL",
        "Selects a kernel of the network: portable, AVX2 or AVX-512. The default is the fastest that the processor supports; all give the same results.",
    ),
    ("TERM", "If dumb or not set, the board in the terminal is plain text."),
    (
        "TMPDIR",
        "The folder for temporary files of book builds that exceed --memory. Default: /tmp.",
    ),
    ("XDG_DATA_HOME", "Parent of the folder for console games."),
];

/// The files that Tabia uses: files with fixed names, and files next to those named on the command
/// line.
const FILES: &[(&str, &str)] = &[
    (
        "$XDG_DATA_HOME/tabia/games.pgn, ~/.local/share/tabia/games.pgn",
        "Unsaved games of the console.",
    ),
    (
        "/usr/share/games/plugins/xboard/tabia.eng",
        "Adds the engine to xboard's list; installed by packages.",
    ),
    (
        "BOOK.tbk.unfinished/",
        "The progress of tabia-book-build(6); removed when the book is complete.",
    ),
    ("BOOK.tbk.analysis", "The progress of tabia-book-analyse(6); removed when it is complete."),
    ("OUT.pgn.annotations", "The progress of tabia-annotate(6); removed when it is complete."),
    ("GAMES.pgn.state", "The state of a match of tabia-autoplay(6), for --resume."),
    #[cfg(feature = "train")]
    (
        "NETWORK.checkpoint, NETWORK.svg",
        "The state of tabia-train-net(6), for resuming, and a chart of the losses.",
    ),
    (
        ".tabia-*",
        "Temporary output. If the program is killed while it replaces a file, this file remains; the next run that writes the file removes it.",
    ),
];

/// Returns a manual page for every command, keyed by its path, such as `man/man6/tabia-book.6`.
///
/// # Errors
/// Never: writing to memory does not fail.
pub fn pages() -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut pages = BTreeMap::new();
    let mut open = vec![command()];
    while let Some(command) = open.pop() {
        let place = format!("man/man6/{}.{SECTION}", page_name(&command));
        pages.insert(place, page(&command)?);
        open.extend(command.get_subcommands().cloned());
    }
    Ok(pages)
}

/// Returns the root command. All subcommands have their full names, and the `help` subcommands are
/// disabled because they would duplicate every page.
fn command() -> Command {
    let mut command = without_help(tabia::cli::command());
    command.build();
    command
}

fn without_help(command: Command) -> Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help)
}

fn page_name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    // clap puts the examples at the end of the long help. In the manual page, they have their own
    // section.
    Man::new(command.clone().version(None).long_version(None).after_long_help(None::<&str>))
        .section(SECTION)
        .date(NO_DATE)
        .source(concat!("Tabia ", env!("CARGO_PKG_VERSION")))
        .manual("Games Manual")
        .render(&mut text)?;
    text.extend_from_slice(added(command).to_roff().as_bytes());
    Ok(text)
}

fn added(command: &Command) -> Roff {
    let (mut page, name) = (Roff::new(), page_name(command));
    if name == "tabia" {
        list(&mut page, "ENVIRONMENT", &ENVIRONMENT);
        list(&mut page, "FILES", FILES);
    }
    let examples = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let lines: Vec<&str> = examples.lines().skip(1).map(str::trim).collect();
    let examples: Vec<(&str, &str)> = lines.chunks_exact(2).map(|two| (two[0], two[1])).collect();
    if !examples.is_empty() {
        list(&mut page, "EXAMPLES", &examples);
    }
    if let Some((above, _)) = name.rsplit_once('-') {
        page.control("SH", ["SEE ALSO"]);
        page.text(linked(&format!("{above}({SECTION})")));
    } else {
        page.control("SH", ["SEE ALSO"]);
        page.text(linked("xboard(6), gnuchess(1), polyglot(6)"));
    }
    page
}

fn list(page: &mut Roff, heading: &str, rows: &[(&str, &str)]) {
    page.control("SH", [heading]);
    for (term, what) in rows {
        page.control("TP", []);
        page.text([bold(*term)]);
        page.text(linked(what));
    }
}

fn linked(text: &str) -> Vec<Inline> {
    let mut parts = Vec::new();
    for word in text.split_inclusive(' ') {
        match word.find('(').map(|end| word.split_at(end)) {
            Some((name, rest)) if rest[1..].starts_with(|sign: char| sign.is_ascii_digit()) => {
                parts.extend([bold(name), roman(rest)]);
            }
            _ => parts.push(roman(word)),
        }
    }
    parts
}
