//! The kinds of files that commands write, and which files they may replace.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::output::stdout;
use super::usage::wrong;
use crate::games::pgn::PgnInput;
use crate::support::files::{Cannot, FileKind, Output, open_output};

/// Permission to replace a file of a different kind.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Force {
    /// Replace an output file even if it is of another kind
    #[arg(long = "force")]
    pub allowed: bool,
}

pub(super) const GAMES: FileKind = FileKind {
    name: "a file of games (PGN)",
    recognises: |head| head.trim_ascii_start().starts_with(b"[Event "),
};
pub(super) const EPD: FileKind = FileKind { name: "a file of positions (EPD)", recognises: is_epd };
/// A list of the errors found by a build (see [`crate::games::book::GameFault`]).
pub(super) const FAULTS: FileKind = FileKind { name: "a list of faults", recognises: is_faults };
pub(super) const CARDS: FileKind =
    FileKind { name: "a file of cards", recognises: |head| head.starts_with(b"#separator:") };
pub(super) const NETWORK: FileKind =
    FileKind { name: "a network", recognises: |head| head.starts_with(b"tabia network ") };
pub(super) const CHECKPOINT: FileKind =
    FileKind { name: "a checkpoint", recognises: |head| head.starts_with(b"tabia checkpoint ") };
pub(super) const WEIGHTS: FileKind = FileKind {
    name: "a file of weights",
    recognises: |head| head.starts_with(b"//! The weights "),
};
pub(super) const LOG: FileKind = FileKind { name: "the log of a match", recognises: is_log };
pub(super) const TRACE: FileKind = FileKind { name: "the trace of a match", recognises: is_trace };

/// Opens an output for a run. If `anew` is set, replaces the file; otherwise, appends to it.
pub(super) fn open_run_output(output: &Output<'_>, anew: bool) -> anyhow::Result<BufWriter<File>> {
    output.check()?;
    let path = output.path();
    Ok(BufWriter::new(open_output(path, anew).cannot("write", path)?))
}

/// The name of the standard output as the path of a text output.
const STANDARD_OUTPUT: &str = "-";

pub(super) fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == STANDARD_OUTPUT
}

/// Checks the text outputs of a command (see [`Output::check`]). Returns whether one of them is the
/// standard output; in this case, the command must print nothing else. `prints_json` is whether the
/// command prints JSON to the standard output.
pub(super) fn check_texts<'a>(
    outputs: impl IntoIterator<Item = &'a Output<'a>>,
    prints_json: bool,
) -> anyhow::Result<bool> {
    let mut uses = u32::from(prints_json);
    for output in outputs {
        if is_standard_output(output.path()) {
            uses += 1;
        } else {
            output.check()?;
        }
    }
    match uses {
        0 | 1 => Ok(uses == 1 && !prints_json),
        _ => Err(wrong("only one output can be the standard output (-)").into()),
    }
}

/// Writes a text to a file or, if the path is `-`, to the standard output.
pub(super) fn write_text(output: &Output<'_>, text: &str) -> anyhow::Result<()> {
    match is_standard_output(output.path()) {
        true => Ok(stdout().write_all(text.as_bytes())?),
        false => Ok(output.write(text.as_bytes())?),
    }
}

/// Returns the files that a list of inputs refers to, in the form that
/// [`crate::support::files::Output::apart_from`] requires.
pub(super) fn files_of(inputs: &[PgnInput]) -> impl Iterator<Item = PathBuf> + '_ {
    inputs.iter().filter_map(|input| match input {
        PgnInput::File(path) => Some(path.clone()),
        PgnInput::Stdin => Some("-".into()),
        PgnInput::Text(..) => None,
    })
}

/// Returns the complete lines in `head`, or all of `head` if it contains no line end.
fn whole_lines(head: &[u8]) -> impl Iterator<Item = &str> {
    let end = head.iter().rposition(|&byte| byte == b'\n').map_or(head.len(), |end| end + 1);
    std::str::from_utf8(&head[..end]).unwrap_or("\u{0}").lines()
}

/// Returns whether every line starts with a board of eight ranks and the side to move.
fn is_epd(head: &[u8]) -> bool {
    whole_lines(head).all(|line| {
        let mut fields = line.split(' ');
        let board = fields.next().unwrap_or_default();
        board.split('/').count() == 8 && matches!(fields.next(), Some("w" | "b"))
    })
}

fn is_faults(head: &[u8]) -> bool {
    const SIGNS: [&str; 2] = [": game ", " beyond line "];
    whole_lines(head).all(|line| SIGNS.iter().any(|sign| line.contains(sign)))
}

/// Returns whether any line reports the start of a game. Earlier lines may report problems.
fn is_log(head: &[u8]) -> bool {
    whole_lines(head).any(|line| line.starts_with("Game ") && line.contains(" of "))
}

fn is_trace(head: &[u8]) -> bool {
    whole_lines(head)
        .all(|line| line.split_whitespace().next().is_some_and(|time| time.parse::<f64>().is_ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_kind_is_detected_from_its_first_bytes() {
        let games: &[u8] = b"[Event \"?\"]\n\n1. e4 e5 *\n";
        let epd: &[u8] = b"4k3/8/8/8/8/8/8/4K3 w - - c0 \"x\";\n4k3/8/8/8/8/8/8/4K";
        let faults: &[u8] = b"a.pgn: game 1, line 6: illegal move Ke3 in 8/8\n";
        let trace: &[u8] = b"    0.001 1> xboard\n    0.002 1< feature done=1\n";
        let kinds = [(EPD, epd), (FAULTS, faults), (TRACE, trace), (LOG, b"Game 1 of 2: a - b")];
        for (kind, own) in kinds {
            assert!((kind.recognises)(own), "{}", kind.name);
            assert!(!(kind.recognises)(games), "{}", kind.name);
            assert!(!(kind.recognises)(b"\xff\xfe\n"), "{}", kind.name);
        }
    }
}
