//! Parses option declarations, and chooses the option values that the tests set.

use super::super::conversation::Handshake;
use super::Declarations;

/// Options whose type is fixed by the specification or by common usage, each with its type.
const FIXED: [(&str, &str); 19] = [
    ("Hash", "spin"),
    ("NalimovPath", "string"),
    ("NalimovCache", "spin"),
    ("Ponder", "check"),
    ("OwnBook", "check"),
    ("MultiPV", "spin"),
    ("UCI_ShowCurrLine", "check"),
    ("UCI_ShowRefutations", "check"),
    ("UCI_LimitStrength", "check"),
    ("UCI_Elo", "spin"),
    ("UCI_AnalyseMode", "check"),
    ("UCI_Opponent", "string"),
    ("UCI_EngineAbout", "string"),
    ("UCI_ShredderbasesPath", "string"),
    ("UCI_SetPositionValue", "string"),
    ("UCI_Chess960", "check"),
    ("UCI_ShowWDL", "check"),
    ("Threads", "spin"),
    ("SyzygyPath", "string"),
];

/// Substrings of the names of options that reserve memory or start threads. Such an option is never
/// set to its largest value, because this could exhaust the machine's resources.
const RESOURCES: [&str; 5] = ["hash", "cache", "memory", "thread", "core"];

pub(super) const FORM: &str = "an option is declared as \"option name NAME type TYPE\", followed \
    by default, min, max and var as its type requires";
const TYPE: &str = "the type of an option is check, spin, combo, button or string";
const CHECK: &str = "an option of type check needs \"default true\" or \"default false\"";
const SPIN: &str = "an option of type spin needs default, min and max, which are whole numbers, \
    with the default between the limits";
const COMBO: &str = "an option of type combo needs a default that is one of its var values";
const BUTTON: &str = "an option of type button has no value";
const TEXT: &str = "an option of type string needs a default, which is <empty> if there is none";
const WELL_KNOWN: &str = "options such as Hash, Ponder and MultiPV must have the type that GUIs \
    expect";
const RESERVED: &str = "the name of an option must not contain the words name and value";
pub(super) const UNIQUE: &str = "the names of options must differ, also without regard to case";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Check(bool),
    Spin { default: i64, min: i64, max: i64 },
    Combo { default: String, values: Vec<String> },
    Button,
    Text(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Declaration {
    pub name: String,
    pub kind: Kind,
}

impl Declaration {
    /// Parses a line that begins with `option`. If it is malformed, returns the rule that it
    /// violates.
    pub(super) fn parse(line: &str) -> Result<Self, &'static str> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["option", "name", rest @ ..] = words.as_slice() else { return Err(FORM) };
        let at = rest.iter().position(|&word| word == "type").ok_or(FORM)?;
        let (name, [_, kind, details @ ..]) = rest.split_at(at) else { return Err(FORM) };
        if name.is_empty() {
            return Err(FORM);
        }
        if name.iter().any(|word| ["name", "value"].contains(word)) {
            return Err(RESERVED);
        }
        let name = name.join(" ");
        let fixed = FIXED.iter().find(|(fixed, _)| fixed.eq_ignore_ascii_case(&name));
        if fixed.is_some_and(|(_, fixed)| fixed != kind) {
            return Err(WELL_KNOWN);
        }
        Ok(Declaration { kind: parse_kind(kind, details)?, name })
    }

    fn uses_resources(&self) -> bool {
        let name = self.name.to_lowercase();
        RESOURCES.iter().any(|part| name.contains(part))
    }

    /// Returns the commands that set the option to valid values. The last one restores the default.
    ///
    /// The only buttons pressed are those for the hash table, because others could delete data.
    pub(super) fn valid_settings(&self) -> Vec<String> {
        let values = match &self.kind {
            Kind::Check(default) => vec![(!default).to_string(), default.to_string()],
            Kind::Spin { default, min, max } => {
                let max = Some(max).filter(|_| !self.uses_resources());
                [Some(min), max, Some(default)].into_iter().flatten().map(i64::to_string).collect()
            }
            Kind::Combo { default, values } => values.iter().chain([default]).cloned().collect(),
            Kind::Button if self.name.to_lowercase().contains("hash") => vec![String::new()],
            Kind::Button => Vec::new(),
            Kind::Text(default) => vec![default.clone()],
        };
        self.commands(&values)
    }

    /// Returns the commands that set invalid values.
    pub(super) fn invalid_settings(&self) -> Vec<String> {
        let values = match &self.kind {
            Kind::Check(_) => vec!["maybe".to_owned()],
            Kind::Spin { min, max, .. } => {
                let above = max.checked_add(1).filter(|_| !self.uses_resources());
                let limits = [min.checked_sub(1), above].into_iter().flatten();
                limits.map(|limit| limit.to_string()).chain(["many".to_owned()]).collect()
            }
            Kind::Combo { .. } => vec!["no such value".to_owned()],
            Kind::Button | Kind::Text(_) => Vec::new(),
        };
        self.commands(&values)
    }

    fn commands(&self, values: &[String]) -> Vec<String> {
        values.iter().map(|value| Declarations::set_option(&self.name, value)).collect()
    }
}

fn parse_kind(kind: &str, details: &[&str]) -> Result<Kind, &'static str> {
    if kind == "string" {
        let ["default", text @ ..] = details else { return Err(TEXT) };
        return Ok(Kind::Text(text.join(" ")));
    }
    let attributes = attributes(details);
    let all = |name: &str| -> Vec<String> {
        let named = attributes.iter().filter(|(known, _)| *known == name);
        named.map(|(_, value)| value.clone()).collect()
    };
    let one = |name: &str| all(name).into_iter().next();
    let number = |name: &str| one(name)?.parse::<i64>().ok();
    match kind {
        "check" => match one("default").as_deref() {
            Some("true") => Ok(Kind::Check(true)),
            Some("false") => Ok(Kind::Check(false)),
            _ => Err(CHECK),
        },
        "spin" => match (number("default"), number("min"), number("max")) {
            (Some(default), Some(min), Some(max)) if (min..=max).contains(&default) => {
                Ok(Kind::Spin { default, min, max })
            }
            _ => Err(SPIN),
        },
        "combo" => {
            let values = all("var");
            match one("default").filter(|default| values.contains(default)) {
                Some(default) => Ok(Kind::Combo { default, values }),
                None => Err(COMBO),
            }
        }
        "button" if details.is_empty() => Ok(Kind::Button),
        "button" => Err(BUTTON),
        _ => Err(TYPE),
    }
}

/// Splits `default V min V max V var V...`. Values may consist of several words.
fn attributes<'a>(words: &[&'a str]) -> Vec<(&'a str, String)> {
    let mut found = Vec::new();
    let mut rest = words;
    while let [name, tail @ ..] = rest {
        // The first word after a name belongs to the value, even if it looks like another name.
        let is_name = |word: &&str| ["default", "min", "max", "var"].contains(word);
        let end = tail.iter().skip(1).position(is_name).map_or(tail.len(), |at| at + 1);
        found.push((*name, tail[..end].join(" ")));
        rest = &tail[end..];
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn declarations_of_every_type_are_parsed() {
        let kind = |text: &str| Declaration::parse(text).map(|declaration| declaration.kind);
        assert_eq!(kind("option name A type check default false"), Ok(Kind::Check(false)));
        assert_eq!(
            kind("option name Move Overhead type spin default 10 min -5 max 5000"),
            Ok(Kind::Spin { default: 10, min: -5, max: 5000 })
        );
        assert_eq!(
            kind("option name Style type combo default Very Solid var default var Very Solid"),
            Ok(Kind::Combo {
                default: "Very Solid".to_owned(),
                values: vec!["default".to_owned(), "Very Solid".to_owned()],
            })
        );
        assert_eq!(kind("option name Clear Hash type button"), Ok(Kind::Button));
        assert_eq!(
            kind("option name P type string default <empty>"),
            Ok(Kind::Text("<empty>".to_owned()))
        );
        assert_eq!(kind("option name P type string default"), Ok(Kind::Text(String::new())));
    }

    #[test]
    fn malformed_declarations_violate_their_rules() {
        for (line, rule) in [
            ("option", FORM),
            ("option Hash type spin default 1 min 1 max 2", FORM),
            ("option name Hash", FORM),
            ("option name type spin", FORM),
            ("option name A type", FORM),
            ("option name A type slider default 1 min 0 max 2", TYPE),
            ("option name A type check default yes", CHECK),
            ("option name A type check", CHECK),
            ("option name A type spin default 5 min 1", SPIN),
            ("option name A type spin default 5 min 1 max 4", SPIN),
            ("option name A type spin default 5 min 7 max 4", SPIN),
            ("option name A type spin default 1.5 min 1 max 4", SPIN),
            ("option name A type spin default min 1 max 4", SPIN),
            ("option name A type combo default a var b", COMBO),
            ("option name A type combo var b", COMBO),
            ("option name A type button default true", BUTTON),
            ("option name A type string", TEXT),
            ("option name hash type string default 16", WELL_KNOWN),
            ("option name A value type check default true", RESERVED),
        ] {
            assert_eq!(Declaration::parse(line), Err(rule), "{line}");
        }
    }

    #[test]
    fn values_cover_the_type_but_not_the_memory() {
        let parse = |line: &str| Declaration::parse(line).expect(line);
        let small = parse("option name Contempt type spin default 0 min -9 max 9");
        let set = |value: &str| format!("setoption name Contempt value {value}");
        assert_eq!(small.valid_settings(), ["-9", "9", "0"].map(set));
        assert_eq!(small.invalid_settings(), ["-10", "10", "many"].map(set));
        let hash = parse("option name Hash type spin default 16 min 1 max 33554432");
        let all = [hash.valid_settings(), hash.invalid_settings()].concat();
        assert!(all.iter().all(|line| !line.contains("3355443")), "{all:?}");
        let bounds = format!("option name A type spin default 0 min {} max {}", i64::MIN, i64::MAX);
        assert_eq!(parse(&bounds).invalid_settings(), ["setoption name A value many"]);
        let button = parse("option name Clear Hash type button");
        assert_eq!(button.valid_settings(), ["setoption name Clear Hash"]);
        assert!(parse("option name Forget Games type button").valid_settings().is_empty());
    }

    proptest! {
        #[test]
        fn any_declaration_can_be_parsed(
            kind in "(check|spin|combo|button|string)",
            words in prop::collection::vec("(default|min|max|var|name|type|-?[0-9]{1,20}|.{0,4})", 0..8),
        ) {
            let line = format!("option name A type {kind} {}", words.join(" "));
            if let Ok(declaration) = Declaration::parse(&line) {
                declaration.valid_settings();
                declaration.invalid_settings();
            }
            let _ = Declaration::parse(&words.join(" "));
        }
    }
}
