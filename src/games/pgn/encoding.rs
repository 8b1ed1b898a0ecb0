//! Converts UTF-16, which some Windows programs write, to UTF-8.

use std::io::{self, Cursor, Read};

/// The number of bytes examined to detect the encoding. In UTF-16 they are eight characters, all of
/// which are ASCII if the text begins with a tag.
const SAMPLE: usize = 16;
const BLOCK: usize = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    /// UTF-8, Latin-1 or any other ASCII-compatible encoding.
    Bytes,
    /// UTF-16 in the given byte order.
    Utf16 { big_endian: bool },
    /// UTF-32, which is not supported.
    Utf32,
}

/// Returns a reader that converts UTF-16 to UTF-8 and passes text in ASCII-compatible encodings
/// through unchanged. Fails if the text is UTF-32.
pub(super) fn decoded(mut input: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut sample = Vec::with_capacity(SAMPLE);
    input.by_ref().take(SAMPLE as u64).read_to_end(&mut sample)?;
    let encoding = encoding_of(&sample);
    let whole = Cursor::new(sample).chain(input);
    match encoding {
        Encoding::Bytes => Ok(Box::new(whole)),
        Encoding::Utf16 { big_endian } => Ok(Box::new(Utf16::new(whole, big_endian))),
        Encoding::Utf32 => {
            let reason = "its text is UTF-32; convert it to UTF-8 first, for example with iconv";
            Err(io::Error::new(io::ErrorKind::Unsupported, reason))
        }
    }
}

/// Returns true if text that starts with these bytes needs no conversion.
pub(super) fn is_bytes(head: &[u8]) -> bool {
    encoding_of(&head[..head.len().min(SAMPLE)]) == Encoding::Bytes
}

/// Detects the encoding from the byte order mark or, without one, from the zero byte in each ASCII
/// character of UTF-16.
fn encoding_of(sample: &[u8]) -> Encoding {
    let little = Encoding::Utf16 { big_endian: false };
    let big = Encoding::Utf16 { big_endian: true };
    let zeros: Vec<bool> = sample.iter().map(|&byte| byte == 0).collect();
    let alternate = |first: bool| {
        let pairs = zeros.as_chunks::<2>().0;
        pairs.len() > 1 && pairs.iter().all(|pair| *pair == [first, !first])
    };
    match sample {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Encoding::Utf32,
        [0xff, 0xfe, ..] => little,
        [0xfe, 0xff, ..] => big,
        _ if alternate(false) => little,
        _ if alternate(true) => big,
        _ => Encoding::Bytes,
    }
}

/// A reader that converts UTF-16 to UTF-8. Unpaired surrogates become replacement characters.
struct Utf16<R> {
    input: R,
    big_endian: bool,
    text: Cursor<Vec<u8>>,
    rest: Vec<u8>,
}

impl<R: Read> Utf16<R> {
    fn new(input: R, big_endian: bool) -> Self {
        Utf16 { input, big_endian, text: Cursor::default(), rest: Vec::new() }
    }

    fn refill(&mut self) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.rest);
        self.input.by_ref().take(BLOCK as u64).read_to_end(&mut bytes)?;
        let (pairs, _) = bytes.as_chunks::<2>();
        let read = if self.big_endian { u16::from_be_bytes } else { u16::from_le_bytes };
        let mut units: Vec<u16> = pairs.iter().map(|pair| read(*pair)).collect();
        let full = bytes.len() >= BLOCK;
        // If the block ends with the first half of a surrogate pair, keep it for the next block,
        // which begins with the second half.
        let waits = full && units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit));
        if waits {
            units.pop();
        }
        self.rest = if full { bytes.split_off(2 * units.len()) } else { Vec::new() };
        let decoded = char::decode_utf16(units);
        let text: String = decoded.map(|sign| sign.unwrap_or('\u{fffd}')).collect();
        self.text = Cursor::new(text.into_bytes());
        Ok(())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(buffer)?;
        if read > 0 || buffer.is_empty() {
            return Ok(read);
        }
        self.refill()?;
        self.text.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: Vec<u8>) -> String {
        let mut text = String::new();
        let mut input = decoded(Box::new(Cursor::new(bytes))).expect("known");
        input.read_to_string(&mut text).expect("UTF-8");
        text
    }

    fn utf16(text: &str, big_endian: bool) -> Vec<u8> {
        let bytes = |unit: u16| if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn utf_8_and_utf_16_of_both_byte_orders_are_decoded() {
        let text = "[White \"Žižka 🙂\"]\n".repeat(20_000);
        for big_endian in [false, true] {
            assert_eq!(read(utf16(&text, big_endian)), text);
            let marked = format!("\u{feff}{text}");
            assert_eq!(read(utf16(&marked, big_endian)), marked);
        }
        assert_eq!(read(text.clone().into_bytes()), text);
        assert_eq!(read(Vec::new()), "");
    }

    #[test]
    fn truncated_characters_are_replaced() {
        let mut bytes = utf16("[White \"🙂", false);
        bytes.truncate(bytes.len() - 1);
        assert_eq!(read(bytes), "[White \"\u{fffd}");
    }

    #[test]
    fn utf_32_is_rejected_by_name() {
        let error = decoded(Box::new(&b"\xff\xfe\0\0[\0\0\0"[..])).err().expect("refused");
        assert!(error.to_string().contains("UTF-32"), "{error}");
    }
}
