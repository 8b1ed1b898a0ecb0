//! The options to tune, and their SPSA parameters.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::support::error::ParseError;
use crate::support::files::{FileError, read_plain};

/// The names of a parameter's fields, in order. A parameter file may begin with this header line.
const HEAD: &str = "name,start,min,max,c_end,r_end";

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    /// The name of the engine option. Case is ignored.
    pub name: String,
    pub start: f64,
    pub min: f64,
    pub max: f64,
    /// The perturbation at the end of the run, in the option's own units. Must be greater than 0
    /// and less than `max - min`.
    pub c_end: f64,
    /// The learning rate at the end of the run: per point of score (wins minus losses), the value
    /// moves by this fraction of the perturbation. Must be greater than 0.
    pub r_end: f64,
}

impl FromStr for Parameter {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let fields: Vec<&str> = text.split(',').map(str::trim).collect();
        let &[name, start, min, max, c_end, r_end] = fields.as_slice() else {
            return Err(ParseError(format!(
                "\"{text}\" has {} fields, expected NAME,START,MIN,MAX,C_END,R_END",
                fields.len()
            )));
        };
        let number = |field, text: &str| {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            number.ok_or_else(|| ParseError(format!("{name}: {field} is not a number: \"{text}\"")))
        };
        let parameter = Parameter {
            name: name.to_owned(),
            start: number("START", start)?,
            min: number("MIN", min)?,
            max: number("MAX", max)?,
            c_end: number("C_END", c_end)?,
            r_end: number("R_END", r_end)?,
        };
        match parameter.fault() {
            Some(what) => Err(ParseError(format!("{name}: {what}"))),
            None => Ok(parameter),
        }
    }
}

impl Parameter {
    fn fault(&self) -> Option<String> {
        let &Parameter { ref name, start, min, max, c_end, r_end } = self;
        let faults = [
            (name.is_empty(), "the name is missing".to_owned()),
            (min >= max, format!("MIN {min} is not below MAX {max}")),
            (start < min || start > max, format!("START {start} is not from {min} to {max}")),
            (c_end <= 0.0, format!("C_END {c_end} is not above 0")),
            (c_end >= max - min, format!("C_END {c_end} is not below MAX - MIN, {}", max - min)),
            (r_end <= 0.0, format!("R_END {r_end} is not above 0")),
        ];
        faults.into_iter().find_map(|(is_so, fault)| is_so.then_some(fault))
    }
}

/// Formats the parameter so that `FromStr` can parse it.
impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parameter { name, start, min, max, c_end, r_end } = self;
        write!(f, "{name},{start},{min},{max},{c_end},{r_end}")
    }
}

/// Returns an error if two parameters have the same name.
pub(crate) fn check_names(parameters: &[Parameter]) -> Result<(), ParseError> {
    let name = |parameter: &Parameter| parameter.name.to_lowercase();
    for (index, parameter) in parameters.iter().enumerate() {
        if parameters[..index].iter().any(|earlier| name(earlier) == name(parameter)) {
            return Err(ParseError(format!("{} is named twice", parameter.name)));
        }
    }
    Ok(())
}

/// Reads a parameter from each line. Ignores empty lines, comments starting with `#`, and a header
/// line.
pub(crate) fn read_parameters(path: &Path) -> Result<Vec<Parameter>, FileError> {
    let bytes =
        read_plain(path).map_err(|error| FileError::io("read the parameters", path, &error))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let is_head = |line: &str| line.replace(' ', "").eq_ignore_ascii_case(HEAD);
    let numbered = lines.enumerate().filter(|(_, line)| !line.is_empty() && !is_head(line));
    let parse = |(index, line): (usize, &str)| {
        let reason = |error: ParseError| format!("line {}: {error}", index + 1);
        line.parse().map_err(|error| FileError::new("read the parameters", path, reason(error)))
    };
    numbered.map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameter_round_trips() {
        let text = "Move Overhead,30.5,0,5000,10,0.002";
        let parameter: Parameter = text.parse().expect(text);
        assert_eq!((parameter.start, parameter.c_end), (30.5, 10.0));
        assert_eq!(parameter.to_string(), text);
        assert_eq!(" Move Overhead, 30.5 ,0,5e3, 10,.002".parse(), Ok(parameter));
    }

    #[test]
    fn invalid_parameters_are_rejected_with_a_reason() {
        for (text, message) in [
            ("", "\"\" has 1 fields, expected NAME,START,MIN,MAX,C_END,R_END"),
            ("a,1,2", "\"a,1,2\" has 3 fields, expected NAME,START,MIN,MAX,C_END,R_END"),
            ("a,x,0,9,1,1", "a: START is not a number: \"x\""),
            ("a,1,0,inf,1,1", "a: MAX is not a number: \"inf\""),
            (",1,0,9,1,1", ": the name is missing"),
            ("a,1,9,9,1,1", "a: MIN 9 is not below MAX 9"),
            ("a,1,2,9,1,1", "a: START 1 is not from 2 to 9"),
            ("a,1,0,9,0,1", "a: C_END 0 is not above 0"),
            ("a,1,0,9,9,1", "a: C_END 9 is not below MAX - MIN, 9"),
            ("a,1,0,9,1,-1", "a: R_END -1 is not above 0"),
        ] {
            let error = text.parse::<Parameter>().expect_err(text);
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn parameter_file_is_parsed_line_by_line() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("parameters.csv");
        let text =
            "name,start,min,max,c_end,r_end\n\n# of the search\na,1,0,9,1,1 # first\nA,2,0,9,1,1\n";
        std::fs::write(&path, text).expect("written");
        let parameters = read_parameters(&path).expect("two");
        assert_eq!((parameters.len(), parameters[1].start), (2, 2.0));
        let twice = check_names(&parameters).expect_err("one option").to_string();
        assert_eq!(twice, "A is named twice");
        check_names(&parameters[..1]).expect("one");
        std::fs::write(&path, "a,1,0,9,1,1\nb,1\n").expect("written");
        let error = read_parameters(&path).expect_err("fields are missing").to_string();
        assert!(error.contains("parameters.csv: line 2: \"b,1\" has 2 fields"), "{error}");
        let missing = read_parameters(&dir.path().join("none")).expect_err("missing").to_string();
        assert!(missing.contains("none: it does not exist"), "{missing}");
    }
}
