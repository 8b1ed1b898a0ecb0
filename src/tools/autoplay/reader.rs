//! Reads an engine's output and records the arrival time of each line.
//!
//! The thread that reads standard output only reads, splits and timestamps lines, so that the
//! timestamps are accurate even if the match runner is busy.

use std::io::{ErrorKind, Read};
use std::time::Instant;

use crossbeam::channel::Sender;

use crate::support::platform;

/// The maximum length of a line, in bytes. Longer lines are truncated to limit memory use. The
/// limit is more than four times xboard's, because some engines send very long lists of options.
const LONGEST_LINE: usize = 1 << 16;

/// The number of bytes read at a time. All lines completed by the same read get the same arrival
/// time.
const CHUNK: usize = 1 << 14;

/// The nice value of the reader threads, used on Linux if the operating system permits it. A reader
/// needs little processor time, but it should not wait for a core: the delay would be counted as
/// the engine's thinking time.
const READER_NICE: i32 = -15;

/// A line from the engine's standard output, together with its arrival time.
#[derive(Debug, Clone)]
pub struct Line {
    /// The time at which the end of the line was read.
    pub at: Instant,
    /// The text of the line, without the line ending.
    pub text: String,
}

/// Sends each line of the engine's output to `sender`. Returns when the output ends or the receiver
/// has been dropped.
pub(super) fn forward_output(output: impl Read, sender: &Sender<Line>) {
    platform::raise_priority(READER_NICE);
    for_each_line(output, |at, line| sender.send(Line { at, text: text(line) }).is_ok());
}

/// Calls `handle` for each line of error output.
pub(super) fn read_errors(output: impl Read, mut handle: impl FnMut(&str)) {
    for_each_line(output, |_, line| {
        handle(&text(line));
        true
    });
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end_matches(['\n', '\r']).to_owned()
}

/// Calls `handle` for each line, with the time at which the end of the line was read. Stops when
/// `handle` returns `false`.
fn for_each_line(mut output: impl Read, mut handle: impl FnMut(Instant, &[u8]) -> bool) {
    let mut chunk = vec![0; CHUNK];
    let mut line = Vec::new();
    loop {
        let read = output.read(&mut chunk);
        let at = Instant::now();
        let count = match read {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        for piece in chunk[..count].split_inclusive(|&byte| byte == b'\n') {
            let room = LONGEST_LINE.saturating_sub(line.len());
            line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                if !handle(at, &line) {
                    return;
                }
                line.clear();
            }
        }
    }
    if !line.is_empty() {
        handle(Instant::now(), &line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(output: impl Read) -> Vec<(Instant, String)> {
        let mut lines = Vec::new();
        for_each_line(output, |at, line| {
            lines.push((at, text(line)));
            true
        });
        lines
    }

    #[test]
    fn lines_are_split_truncated_and_decoded() {
        let long = "x".repeat(LONGEST_LINE + 9);
        let bytes = [b"a\r\n\nb\xffc\n", long.as_bytes(), b"\nlast"].concat();
        let texts: Vec<String> = lines(&bytes[..]).into_iter().map(|(_, text)| text).collect();
        let long = &long[..LONGEST_LINE];
        assert_eq!(texts, ["a", "", "b\u{fffd}c", long, "last"]);
    }

    #[test]
    fn lines_have_the_time_of_their_last_piece() {
        let pieces = (&b"info\nbest"[..]).chain(&b"move e2e4\ninfo\n"[..]);
        let lines = lines(pieces);
        assert_eq!(lines[1].1, "bestmove e2e4");
        assert!(lines[0].0 < lines[1].0, "the line was complete only after the second read");
        assert_eq!(lines[1].0, lines[2].0, "both were complete after the same read");
    }
}
