//! What the commands write, and what they may replace by it.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use anyhow::Context;

use crate::games::pgn::PgnInput;
use crate::support::files::{FileKind, Output, open_output};

/// Leave to replace a file that is something else.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Force {
    /// Replace an output file even if it is something else than this command writes
    #[arg(long = "force")]
    pub allowed: bool,
}

/// Games, as programs write them.
pub(super) const GAMES: FileKind = FileKind {
    name: "a file of games (PGN)",
    recognises: |head| head.trim_ascii_start().starts_with(b"[Event "),
};
/// Positions, one a line.
pub(super) const EPD: FileKind = FileKind { name: "a file of positions (EPD)", recognises: is_epd };
/// Pages of the manual.
pub(super) const MAN: FileKind = FileKind { name: "a page of the manual", recognises: is_man };
/// What an installed program has besides it: the scripts of shells, and entries in lists.
pub(super) const INSTALLED: FileKind =
    FileKind { name: "a file that `tabia generate` wrote", recognises: is_installed };
/// The faults of a build, see [`crate::games::book::GameFault`].
pub(super) const FAULTS: FileKind = FileKind { name: "a list of faults", recognises: is_faults };
/// A network.
pub(super) const NETWORK: FileKind =
    FileKind { name: "a network", recognises: |head| head.starts_with(b"tabia network ") };
/// Training to be taken up again.
pub(super) const CHECKPOINT: FileKind =
    FileKind { name: "a checkpoint", recognises: |head| head.starts_with(b"tabia checkpoint ") };
/// Tuned weights as source text.
pub(super) const WEIGHTS: FileKind = FileKind {
    name: "a file of weights",
    recognises: |head| head.starts_with(b"//! The weights "),
};
/// The log of a match.
pub(super) const LOG: FileKind = FileKind { name: "the log of a match", recognises: is_log };
/// What engines said in a match.
pub(super) const TRACE: FileKind = FileKind { name: "the trace of a match", recognises: is_trace };

/// Opens an output to write to as long as a run lasts: anew, or to add to what is there.
pub(super) fn open_run_output(output: &Output<'_>, anew: bool) -> anyhow::Result<BufWriter<File>> {
    output.check()?;
    let path = output.path();
    let file = open_output(path, anew).with_context(|| format!("cannot write {}", path.display()));
    Ok(BufWriter::new(file?))
}

/// The files that a list of inputs reads, as [`crate::support::files::Output::apart_from`] takes them.
pub(super) fn files_of(inputs: &[PgnInput]) -> impl Iterator<Item = PathBuf> + '_ {
    inputs.iter().filter_map(|input| match input {
        PgnInput::File(path) => Some(path.clone()),
        PgnInput::Stdin => Some("-".into()),
        PgnInput::Text(..) => None,
    })
}

/// The lines of the beginning of a text that are there to their end, or all if it has no end.
fn whole_lines(head: &[u8]) -> impl Iterator<Item = &str> {
    let end = head.iter().rposition(|&byte| byte == b'\n').map_or(head.len(), |end| end + 1);
    std::str::from_utf8(&head[..end]).unwrap_or("\u{0}").lines()
}

/// Eight ranks and who is to move.
fn is_epd(head: &[u8]) -> bool {
    whole_lines(head).all(|line| {
        let mut fields = line.split(' ');
        let board = fields.next().unwrap_or_default();
        board.split('/').count() == 8 && matches!(fields.next(), Some("w" | "b"))
    })
}

fn is_man(head: &[u8]) -> bool {
    [".ie ", ".TH "].iter().any(|macro_call| head.starts_with(macro_call.as_bytes()))
}

/// All of them begin in ways that nothing else does, and name the program soon.
fn is_installed(head: &[u8]) -> bool {
    const SIGNS: [&str; 5] =
        ["_tabia() {", "# Print an optspec", "#compdef tabia", "plugin spec ", "[Desktop Entry]"];
    let text = String::from_utf8_lossy(head);
    SIGNS.iter().any(|sign| text.starts_with(sign)) && text.contains("tabia")
}

fn is_faults(head: &[u8]) -> bool {
    const SIGNS: [&str; 2] = [": game ", ": cannot be read beyond line "];
    whole_lines(head).all(|line| SIGNS.iter().any(|sign| line.contains(sign)))
}

/// A game is said to begin; before that there may be trouble with the engines.
fn is_log(head: &[u8]) -> bool {
    whole_lines(head).any(|line| line.starts_with("Game ") && line.contains(" of "))
}

/// Every line begins with a time in seconds.
fn is_trace(head: &[u8]) -> bool {
    whole_lines(head)
        .all(|line| line.split_whitespace().next().is_some_and(|time| time.parse::<f64>().is_ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_reported_by_their_beginning() {
        let games: &[u8] = b"[Event \"?\"]\n\n1. e4 e5 *\n";
        let epd: &[u8] = b"4k3/8/8/8/8/8/8/4K3 w - - c0 \"x\";\n4k3/8/8/8/8/8/8/4K";
        let faults: &[u8] = b"a.pgn: game 1, line 6: illegal move Ke3 in 8/8\n";
        let trace: &[u8] = b"    0.001 1> xboard\n    0.002 1< feature done=1\n";
        let plugin: &[u8] = b"plugin spec 0.0\ntabia -x\nchess\n";
        let kinds = [
            (EPD, epd),
            (FAULTS, faults),
            (TRACE, trace),
            (LOG, b"Game 1 of 2: a - b"),
            (INSTALLED, plugin),
        ];
        for (kind, own) in kinds {
            assert!((kind.recognises)(own), "{}", kind.name);
            assert!(!(kind.recognises)(games), "{}", kind.name);
            assert!(!(kind.recognises)(b"\xff\xfe\n"), "{}", kind.name);
        }
    }
}
