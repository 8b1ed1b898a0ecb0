//! The options that an engine declares in `feature option="..."`.

use std::fmt;
use std::str::FromStr;

/// An option declared by the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionSpec {
    /// Option name, which may contain spaces.
    pub name: String,
    /// Type and current value of the option.
    pub kind: OptionKind,
}

/// The type of an option, with its current value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionKind {
    /// A switch that is on or off.
    Check(bool),
    /// An integer within a range.
    Spin {
        /// Current value, from `min` to `max`.
        value: i64,
        /// Minimum value, inclusive.
        min: i64,
        /// Maximum value, inclusive.
        max: i64,
    },
    /// An integer within a range, shown as a slider.
    Slider {
        /// Current value, from `min` to `max`.
        value: i64,
        /// Minimum value, inclusive.
        min: i64,
        /// Maximum value, inclusive.
        max: i64,
    },
    /// One of several strings, chosen from a list.
    Combo {
        /// All choices, in display order.
        choices: Vec<String>,
        /// Index of the current choice.
        chosen: usize,
    },
    /// An arbitrary line of text.
    Text(String),
    /// The path of a file.
    File(String),
    /// The path of a folder.
    Path(String),
    /// An action that is executed immediately.
    Button,
    /// Like [`OptionKind::Button`], but the GUI sends it only after all other options.
    Save,
    /// Like [`OptionKind::Button`], but the engine declares its options again afterwards.
    Reset,
}

impl OptionSpec {
    /// Creates an option with this name and type.
    pub fn new(name: &str, kind: OptionKind) -> Self {
        OptionSpec { name: name.to_owned(), kind }
    }
}

const SEPARATOR: &str = " /// ";

impl fmt::Display for OptionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.name)?;
        match &self.kind {
            OptionKind::Check(on) => write!(f, "-check {}", u8::from(*on)),
            OptionKind::Spin { value, min, max } => write!(f, "-spin {value} {min} {max}"),
            OptionKind::Slider { value, min, max } => write!(f, "-slider {value} {min} {max}"),
            OptionKind::Combo { choices, chosen } => {
                let mark = |(index, choice): (usize, &String)| {
                    if index == *chosen { format!("*{choice}") } else { choice.clone() }
                };
                let choices: Vec<String> = choices.iter().enumerate().map(mark).collect();
                write!(f, "-combo {}", choices.join(SEPARATOR))
            }
            OptionKind::Text(text) => write!(f, "-string {text}"),
            OptionKind::File(name) => write!(f, "-file {name}"),
            OptionKind::Path(name) => write!(f, "-path {name}"),
            OptionKind::Button => f.write_str("-button"),
            OptionKind::Save => f.write_str("-save"),
            OptionKind::Reset => f.write_str("-reset"),
        }
    }
}

/// Parses the text between the quotation marks in `feature option="..."`. If a combo option marks
/// none of its choices as current, the first one is current.
impl FromStr for OptionSpec {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let kinds = [
            "check", "spin", "slider", "combo", "string", "file", "path", "button", "save", "reset",
        ];
        for kind in kinds {
            let Some((name, rest)) = text.split_once(&format!(" -{kind}")) else { continue };
            if rest.is_empty() || rest.starts_with(' ') {
                let kind = parse_kind(kind, rest.strip_prefix(' ').unwrap_or(rest)).ok_or(())?;
                return Ok(OptionSpec { name: name.to_owned(), kind });
            }
        }
        Err(())
    }
}

fn parse_kind(kind: &str, rest: &str) -> Option<OptionKind> {
    let mut numbers = rest.split_whitespace().map(|word| word.parse::<i64>().ok());
    let mut number = || numbers.next().flatten();
    Some(match kind {
        "check" => OptionKind::Check(number()? != 0),
        "spin" => OptionKind::Spin { value: number()?, min: number()?, max: number()? },
        "slider" => OptionKind::Slider { value: number()?, min: number()?, max: number()? },
        "combo" => parse_combo(rest),
        "string" => OptionKind::Text(rest.to_owned()),
        "file" => OptionKind::File(rest.to_owned()),
        "path" => OptionKind::Path(rest.to_owned()),
        "save" => OptionKind::Save,
        "reset" => OptionKind::Reset,
        _ => OptionKind::Button,
    })
}

fn parse_combo(rest: &str) -> OptionKind {
    let marked: Vec<&str> = rest.split("///").map(str::trim).collect();
    let chosen = marked.iter().position(|choice| choice.starts_with('*')).unwrap_or(0);
    let bare = |choice: &&str| choice.strip_prefix('*').unwrap_or(choice).to_owned();
    OptionKind::Combo { choices: marked.iter().map(bare).collect(), chosen }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_round_trip() {
        let choices = ["off", "stop", "score"].map(str::to_owned).to_vec();
        for (kind, text) in [
            (OptionKind::Check(true), "Own Book -check 1"),
            (OptionKind::Spin { value: -3, min: -9, max: 9 }, "Own Book -spin -3 -9 9"),
            (OptionKind::Slider { value: 0, min: 0, max: 9 }, "Own Book -slider 0 0 9"),
            (OptionKind::Combo { choices, chosen: 1 }, "Own Book -combo off /// *stop /// score"),
            (OptionKind::Text("a - b".into()), "Own Book -string a - b"),
            (OptionKind::File(String::new()), "Own Book -file "),
            (OptionKind::Path("/tmp".into()), "Own Book -path /tmp"),
            (OptionKind::Button, "Own Book -button"),
            (OptionKind::Save, "Own Book -save"),
            (OptionKind::Reset, "Own Book -reset"),
        ] {
            let option = OptionSpec::new("Own Book", kind);
            assert_eq!(option.to_string(), text);
            assert_eq!(text.parse(), Ok(option));
        }
        for text in ["", "x", "x -check", "x -check y", "x -spin 1 2", "x -buttons"] {
            assert_eq!(text.parse::<OptionSpec>(), Err(()), "{text}");
        }
    }
}
