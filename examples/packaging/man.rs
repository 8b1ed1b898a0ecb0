//! The manual pages: the contents that clap provides, and additional sections.

use std::collections::BTreeMap;
use std::io;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};

/// Section 6 of the manual is for games.
const SECTION: &str = "6";

/// Pages have no date, so that builds are reproducible. The macro requires an argument, and
/// clap_mangen leaves out empty ones.
const NO_DATE: &str = " ";

/// Environment variables that Tabia reads, and their effects.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("HOME", "Games of the terminal are kept below it if XDG_DATA_HOME is not set."),
    (
        "NO_COLOR",
        "If it is set and not empty, the board in the terminal and the help have no colours.",
    ),
    (
        "RUST_LOG",
        "The log level of commands, in place of -v: error, warn, info, debug, trace or off, or levels by module, such as tabia::book=debug. Engines log to the file of --log only.",
    ),
    ("TERM", "If it is dumb or not set, the board in the terminal is plain text."),
    (
        "TMPDIR",
        "The folder for what does not fit into the --memory of a book that is built. If it is not set: /tmp.",
    ),
    ("XDG_DATA_HOME", "Games of the terminal are kept below it."),
];

/// Files that Tabia reads or writes without being given their names, and those beside given files.
const FILES: &[(&str, &str)] = &[
    (
        "$XDG_DATA_HOME/tabia/games.pgn, ~/.local/share/tabia/games.pgn",
        "The games of the terminal that would be lost otherwise.",
    ),
    (
        "/usr/share/games/plugins/xboard/tabia.eng",
        "By this file of a package xboard lists the engine.",
    ),
    ("BOOK.tbk.unfinished/", "What tabia-book-build(6) has done so far, until the book is there."),
    ("BOOK.tbk.analysis", "What tabia-book-analyse(6) has found so far, until it is done."),
    ("OUT.pgn.annotations", "The games that tabia-annotate(6) has done so far, until all are."),
    ("GAMES.pgn.state", "What tabia-autoplay(6) needs to go on with a match (--resume)."),
    #[cfg(feature = "train")]
    (
        "NETWORK.checkpoint, NETWORK.svg",
        "What tabia-train-net(6) needs to go on, and the losses as a picture.",
    ),
    (
        ".tabia-*",
        "The draft of a file. A program that is killed while it replaces a file leaves one behind; the next run that writes the file removes it.",
    ),
];

/// Returns a page for every command by its path: `man/man6/tabia.6`, `man/man6/tabia-book.6`, ….
///
/// # Errors
/// None that a text in memory can cause.
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

/// Returns the command line, in which every command has its full name. `tabia help`, which would
/// repeat all pages, is removed.
fn command() -> Command {
    let mut command = without_help(tabia::cli::command());
    command.build();
    command
}

fn without_help(command: Command) -> Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help)
}

/// Returns the command's words joined by hyphens.
fn page_name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    // The examples get a section of their own.
    Man::new(command.clone().version(None).after_long_help(None::<&str>))
        .section(SECTION)
        .date(NO_DATE)
        .source(concat!("Tabia ", env!("CARGO_PKG_VERSION")))
        .manual("Games Manual")
        .render(&mut text)?;
    text.extend_from_slice(added(command).to_roff().as_bytes());
    Ok(text)
}

/// Returns the sections that clap does not provide.
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

/// Adds a section of terms with explanations.
fn list(page: &mut Roff, heading: &str, rows: &[(&str, &str)]) {
    page.control("SH", [heading]);
    for (term, what) in rows {
        page.control("TP", []);
        page.text([bold(*term)]);
        page.text(linked(what));
    }
}

/// Highlights the names of pages in a text.
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
