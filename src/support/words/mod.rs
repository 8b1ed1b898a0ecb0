//! Formats numbers, durations and words for all frontends, and escapes untrusted text.

mod named;
mod number;
mod space;
mod text;
mod time;

pub(crate) use named::named_values;
pub(crate) use number::{counted, grouped, number_of, percent, plural, rounded};
pub(crate) use space::{is_space, split_words};
pub(crate) use text::{clip, one_line, visible, visible_lines, xml};
pub(crate) use time::{
    LONGEST_TIME, MinutesSeconds, Seconds, parse_clock, parse_seconds, parse_time,
};
