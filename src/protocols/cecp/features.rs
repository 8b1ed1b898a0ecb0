//! The features that the engine announces to the GUI.

use crate::engine::controller::{Kind, Setting, Settings, all_settings};

use super::option::{OptionKind, OptionSpec};
use super::reply::Feature;

/// The numeric features. They turn on everything in the protocol that is useful for orthodox chess,
/// except `san`, because every GUI can send moves in coordinate notation.
const SWITCHES: [(&str, i64); 19] = [
    ("ping", 1),
    ("setboard", 1),
    ("playother", 1),
    ("san", 0),
    ("usermove", 1),
    ("time", 1),
    ("draw", 1),
    ("sigint", 0),
    ("sigterm", 0),
    ("reuse", 1),
    ("analyze", 1),
    ("colors", 0),
    ("name", 1),
    ("pause", 1),
    ("nps", 1),
    ("debug", 1),
    ("memory", 1),
    ("smp", 1),
    ("exclude", 1),
];

pub(super) fn name() -> String {
    format!("Tabia {}", env!("CARGO_PKG_VERSION"))
}

pub(super) fn all(settings: &Settings) -> Vec<Vec<Feature>> {
    let mut lines = vec![
        vec![Feature::number("done", 0)],
        vec![
            Feature::text("myname", &name()),
            Feature::text("variants", "normal"),
            Feature::text("egt", "syzygy"),
        ],
        SWITCHES.iter().map(|&(name, value)| Feature::number(name, value)).collect(),
    ];
    lines.extend(options(settings).iter().map(|spec| vec![Feature::option(spec)]));
    lines.push(vec![Feature::number("done", 1)]);
    lines
}

pub(crate) fn options(settings: &Settings) -> Vec<OptionSpec> {
    let rows = all_settings().filter(|row| !row.name.is_empty());
    rows.map(|row| spec(row, settings)).collect()
}

fn spec(row: &Setting, settings: &Settings) -> OptionSpec {
    let kind = match &row.kind {
        Kind::Check { get, .. } => OptionKind::Check(get(settings)),
        &Kind::Spin { min, max, get, .. } => OptionKind::Spin { value: get(settings), min, max },
        Kind::Choice { choices, get, .. } => OptionKind::Combo {
            choices: choices.iter().map(|&choice| choice.to_owned()).collect(),
            chosen: get(settings),
        },
        Kind::File { get, .. } => OptionKind::File(get(settings).to_owned()),
        Kind::Folder { get, .. } => OptionKind::Path(get(settings).to_owned()),
        Kind::ClearMemory => OptionKind::Button,
    };
    OptionSpec::new(row.name, kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_begin_and_end_with_done() {
        let lines = all(&Settings::default());
        assert_eq!(lines.first(), Some(&vec![Feature::number("done", 0)]));
        assert_eq!(lines.last(), Some(&vec![Feature::number("done", 1)]));
    }

    #[test]
    fn protocols_page_has_a_row_for_each_feature() {
        let page = include_str!("../../../docs/reference/protocols.md");
        let page = &page[..page.find("## UCI").expect("a section on UCI")];
        let rows = |start: &str| page.lines().filter(|line| line.starts_with(start)).count();
        for (name, value) in SWITCHES {
            assert_eq!(rows(&format!("| `{name}` | {value} | ")), 1, "{name}");
        }
    }

    #[test]
    fn every_option_round_trips() {
        let settings = Settings::default();
        for row in all_settings().filter(|row| !row.name.is_empty()) {
            let spec = spec(row, &settings);
            assert_eq!(spec.to_string().parse(), Ok(spec), "{}", row.name);
        }
    }
}
