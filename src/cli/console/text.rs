//! Words that all commands of the console use.

use std::error::Error;
use std::io;
use std::time::Duration;

/// An error in words of our own.
pub(super) fn failed(why: impl Into<Box<dyn Error + Send + Sync>>) -> io::Error {
    io::Error::other(why)
}

/// A time in words.
pub(super) fn seconds(time: Duration) -> String {
    format!("{} s", (time.as_secs_f64() * 100.0).round() / 100.0)
}

/// A line of text in which nothing controls the terminal, be it by escapes or by the direction of
/// writing (Unicode's bidirectional formatting), and nothing begins another line.
pub(super) fn harmless(text: &str) -> String {
    let controls = |letter: char| {
        let direction = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let line_end = matches!(letter, '\u{2028}' | '\u{2029}');
        letter.is_control() || direction || line_end
    };
    text.chars().map(|letter| if controls(letter) { '\u{fffd}' } else { letter }).collect()
}
