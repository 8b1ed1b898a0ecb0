//! Arguments that contain lists.

use std::ffi::OsStr;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};

/// The values of one argument. The alias hides the `Vec`, which clap would treat as a repeatable
/// argument.
pub(super) type List<T> = Vec<T>;

pub(super) fn list<P: TypedValueParser>(one: P) -> ListParser<P> {
    ListParser(one)
}

#[derive(Debug, Clone)]
pub(super) struct ListParser<P>(P);

impl<P: TypedValueParser> TypedValueParser for ListParser<P> {
    type Value = List<P::Value>;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        text: &OsStr,
    ) -> Result<Self::Value, Error> {
        let text = text.to_str().ok_or_else(|| Error::new(ErrorKind::InvalidUtf8))?;
        let words = text.split([',', ' ', '\t']).filter(|word| !word.is_empty());
        let values = words.map(|word| self.0.parse_ref(command, argument, OsStr::new(word)));
        let values: List<P::Value> = values.collect::<Result<_, _>>()?;
        if values.is_empty() {
            // Parse an empty value to get an error that names the argument and the values it
            // expects.
            self.0.parse_ref(command, argument, OsStr::new(""))?;
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Lists {
        #[arg(short, default_value = "3,4,5", value_parser = list(clap::value_parser!(i32).range(1..=12)))]
        depths: List<i32>,
        #[arg(short, value_parser = list(clap::value_parser!(u16)))]
        threads: Option<List<u16>>,
    }

    #[test]
    fn lists_are_separated_by_commas_or_whitespace() {
        let read = |arguments: &[&str]| {
            Lists::try_parse_from([&["lists"], arguments].concat())
                .map(|lists| (lists.depths, lists.threads))
        };
        assert_eq!(read(&[]).ok(), Some((vec![3, 4, 5], None)));
        for text in ["1,2,12", "1 2 12", "1, 2, 12", " 1\t2,,12 "] {
            assert_eq!(read(&["-d", text]).ok(), Some((vec![1, 2, 12], None)), "{text}");
        }
        assert_eq!(read(&["-d", "2", "-t", "8 9"]).ok(), Some((vec![2], Some(vec![8, 9]))));
        for (text, part) in [("1,13", "13"), ("1 x", "'x'"), ("", "-d"), (" , ", "-d")] {
            let error = read(&["-d", text]).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
