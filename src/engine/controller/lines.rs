//! Reads lines of input on a separate thread.

use std::io::{self, BufRead};

use crossbeam::channel::{Sender, bounded};

use super::queue::{DirectSender, Queue, queue};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// A line without its terminator. Invalid UTF-8 and NULs are replaced by `U+FFFD`.
    Line(String),
    /// The first `KEPT` bytes of a line longer than `LONGEST`, which is longer than any valid
    /// command.
    TooLong(String),
    End,
    Leave,
}

/// Maximum length of a line that is accepted whole, in bytes. The longest valid command is
/// `position startpos moves` with the longest possible game (5,900 plies), which takes about 30,000
/// bytes.
const LONGEST: usize = 64 * 1024;

const KEPT: usize = 80;

/// Capacity of the input queue, in lines. The sender blocks while the queue is full.
const WAITING: usize = 1024;

/// Returns the queue of the input, and the sending ends for the thread that reads the input and for
/// other threads.
pub(crate) fn inputs() -> (Sender<Input>, DirectSender<Input>, Queue<Input>) {
    let (sender, inputs) = bounded(WAITING);
    let (direct, inputs) = queue(sender.clone(), inputs);
    (sender, direct, inputs)
}

pub(crate) fn read_lines(
    mut source: impl BufRead + Send + 'static,
    sender: DirectSender<Input>,
) -> io::Result<()> {
    std::thread::Builder::new().name("input".to_owned()).spawn(move || {
        while let Ok(Some(input)) = next(&mut source) {
            if sender.send(input).is_err() {
                return;
            }
        }
        let _ = sender.send(Input::End);
    })?;
    Ok(())
}

/// Returns the next line, or `None` at the end of the input. The last line need not have a
/// terminator.
fn next(source: &mut impl BufRead) -> io::Result<Option<Input>> {
    let mut line = Vec::new();
    let mut length = 0;
    let mut some = false;
    loop {
        let chunk = match source.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            chunk => chunk?,
        };
        if chunk.is_empty() {
            return Ok(some.then(|| input(&line, length)));
        }
        some = true;
        let end = chunk.iter().position(|&byte| byte == b'\n');
        let part = &chunk[..end.unwrap_or(chunk.len())];
        length += part.len();
        let room = (LONGEST + 1).saturating_sub(line.len());
        line.extend_from_slice(&part[..part.len().min(room)]);
        let used = end.map_or(chunk.len(), |end| end + 1);
        source.consume(used);
        if end.is_some() {
            return Ok(Some(input(&line, length)));
        }
    }
}

fn input(bytes: &[u8], length: usize) -> Input {
    let text = |bytes| String::from_utf8_lossy(bytes).replace('\0', "\u{fffd}");
    if length > LONGEST {
        return Input::TooLong(text(&bytes[..KEPT]));
    }
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    Input::Line(text(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<Input> {
        let (_, sender, inputs) = inputs();
        read_lines(io::Cursor::new(bytes.to_vec()), sender).expect("a thread");
        inputs.messages.iter().collect()
    }

    #[test]
    fn arbitrary_bytes_are_split_into_lines() {
        let line = |text: &str| Input::Line(text.to_owned());
        assert_eq!(all(b""), [Input::End]);
        assert_eq!(all(b"new\r\n\nquit"), [line("new"), line(""), line("quit"), Input::End]);
        assert_eq!(all(b"a\0b\xff\n"), [line("a\u{fffd}b\u{fffd}"), Input::End]);
    }

    #[test]
    fn overlong_line_is_truncated_and_the_next_is_read() {
        let bytes = [vec![b'x'; 3 << 20], b"\nnew\n".to_vec()].concat();
        let new = Input::Line("new".to_owned());
        assert_eq!(all(&bytes), [Input::TooLong("x".repeat(KEPT)), new, Input::End]);
    }
}
