//! Summarises a report as text.

use std::fmt::Write;

use super::OpeningReport;
use crate::chess::position::Color;
use crate::support::words::{counted, grouped, percent};

/// The maximum number of rows in each list.
const ROWS: usize = 5;

/// Formats the key figures of a report as plain text, one per line.
pub(crate) fn summary(report: &OpeningReport) -> String {
    let mut out = report.fen.clone();
    let mut put = |line: String| {
        // Writing to a string cannot fail.
        let _ = write!(out, "\n{line}");
    };
    if let Some(opening) = &report.opening {
        put(format!("{} {}", opening.eco, opening.name));
    }
    if !report.filters.is_empty() {
        put(format!("filters: {}", report.filters.join("; ")));
    }
    put(format!("reached: {}", report.reached.describe(Color::White)));
    let dated = report.facts.iter().flat_map(|facts| &facts.years).filter(|row| row.year.is_some());
    if let Some(best) = dated.max_by(|one, other| one.share.total_cmp(&other.share)) {
        let year = best.year.unwrap_or_default();
        put(format!("most popular: {year}, {} of the book's games", percent(best.share)));
    }
    let Some(sample) = &report.sample else {
        put("no plans and endgames: the book does not list its games".to_owned());
        return out;
    };
    put(format!("read: {} of {}", counted(sample.read, "game"), grouped(sample.games)));
    let plans = &sample.plans;
    for (side, is_own) in [("White", true), ("Black", false)] {
        let own = plans.placements.iter().filter(|row| row.piece.is_ascii_uppercase() == is_own);
        let rows = own.take(ROWS).map(|row| {
            let piece = row.piece.to_ascii_uppercase();
            format!("{piece}{} {}", row.square, percent(row.share))
        });
        put(format!("{side}'s plans: {}", rows.collect::<Vec<_>>().join(", ")));
    }
    let endgames =
        sample.endgames.rows.iter().take(ROWS).map(|row| {
            format!("{}-{} {}", row.material.white, row.material.black, percent(row.share))
        });
    put(format!("endgames: {}", endgames.collect::<Vec<_>>().join(", ")));
    out
}
