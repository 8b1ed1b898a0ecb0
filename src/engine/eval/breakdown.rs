//! The evaluation split into its terms, for display.

use std::fmt;

use super::classical::endgame::FULL_SCALE;
use super::classical::pawn_table::PawnTable;
use super::classical::trace::TermCounts;
use super::classical::tuned::TUNED;
use super::classical::weights::{FIELDS, Field, Term};
use super::classical::{Assessment, FULL_PHASE, assess, safety};
use super::tapered::{Tapered, s};
use crate::chess::position::{Color, Position};
use crate::chess::score::Score;

/// The evaluation of a position, split into terms, in centipawns. `Display` formats it as a table.
#[derive(Debug, Clone)]
pub(crate) struct Breakdown {
    terms: Vec<TermRow>,
    total: Tapered,
    phase: i32,
    scale: i32,
    /// Whether the position is a won endgame against a lone king, which is evaluated without terms.
    known: bool,
    score: Score,
    side_to_move: Color,
}

#[derive(Debug, Clone)]
struct TermRow {
    term: Term,
    sides: [Tapered; 2],
    parts: Vec<(&'static str, [Tapered; 2])>,
}

pub(crate) fn breakdown(position: &Position) -> Breakdown {
    let mut counts = TermCounts::new(&TUNED);
    let assessment = assess(position, &TUNED, &mut PawnTable::new(), &mut counts);
    let values = TUNED.to_vec();
    let of_field = |field: &Field| {
        let range = field.first..field.first + field.len;
        [0, 1].map(|side| {
            let counted = counts.counts[side][range.clone()].iter();
            counted.zip(&values[range.clone()]).fold(Tapered::ZERO, |sum, (&n, &w)| sum + w * n)
        })
    };
    let terms = Term::ALL.map(|term| {
        let fields = FIELDS.iter().filter(|field| field.term == term);
        let parts: Vec<_> = fields
            .map(|field| (field.name, of_field(field)))
            .filter(|(_, sides)| *sides != [Tapered::ZERO; 2])
            .collect();
        TermRow { term, sides: [0, 1].map(|side| term_sum(term, &parts, side)), parts }
    });
    let (total, phase, scale, known) = match assessment {
        Assessment::Known(_) => (Tapered::ZERO, 0, FULL_SCALE, true),
        Assessment::Sum { total, phase, scale } => (total, phase, scale, false),
    };
    Breakdown {
        terms: terms.to_vec(),
        total,
        phase,
        scale,
        known,
        score: assessment.score(),
        side_to_move: position.side_to_move(),
    }
}

/// Sums the parts of a term for one side. King danger is converted from danger units to a penalty
/// in centipawns.
fn term_sum(term: Term, parts: &[(&str, [Tapered; 2])], side: usize) -> Tapered {
    let sum = parts.iter().fold(Tapered::ZERO, |sum, (_, sides)| sum + sides[side]);
    match term {
        Term::KingSafety => -s(safety::penalty(sum.middlegame()), safety::penalty(sum.endgame())),
        _ => sum,
    }
}

impl Breakdown {
    pub(crate) fn score(&self) -> Score {
        match self.side_to_move {
            Color::White => self.score,
            Color::Black => -self.score,
        }
    }

    #[cfg(test)]
    pub(super) fn adds_up(&self) -> bool {
        let net = |row: &TermRow| row.sides[0] - row.sides[1];
        self.total == self.terms.iter().fold(Tapered::ZERO, |sum, row| sum + net(row))
    }

    fn write_row(
        &self,
        f: &mut fmt::Formatter<'_>,
        name: &str,
        [white, black]: [Tapered; 2],
    ) -> fmt::Result {
        let net = white - black;
        write!(f, "{name:<32}")?;
        for value in [white, black, net] {
            write!(f, " |{:>6}{:>6}", value.middlegame(), value.endgame())?;
        }
        writeln!(f, " |{:>6}", self.blend(net))
    }

    fn blend(&self, value: Tapered) -> Score {
        Assessment::Sum { total: value, phase: self.phase, scale: FULL_SCALE }.score()
    }

    fn write_terms(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<32} |       White |       Black |         Net |   Now", "centipawns")?;
        writeln!(f, "{:<32} |    mg    eg |    mg    eg |    mg    eg |", "")?;
        writeln!(f, "{}", "-".repeat(83))?;
        for row in &self.terms {
            self.write_row(f, row.term.name(), row.sides)?;
            let units = row.term == Term::KingSafety;
            for (name, sides) in row.parts.iter().filter(|_| row.parts.len() > 1) {
                let name = name.replace('_', " ");
                if units {
                    write_units(f, &name, *sides)?;
                } else {
                    self.write_row(f, &format!("  {name}"), *sides)?;
                }
            }
        }
        writeln!(f, "{}", "-".repeat(83))?;
        self.write_row(f, "total", [self.total, Tapered::ZERO])?;
        write!(f, "phase {} of {FULL_PHASE} (0: no pieces are left)", self.phase)?;
        writeln!(f, ", the endgame counts {} of {FULL_SCALE}", self.scale)
    }
}

/// Writes both sides' king danger in units. The net value is omitted because units are not
/// centipawns.
fn write_units(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    [white, black]: [Tapered; 2],
) -> fmt::Result {
    write!(f, "{:<32}", format!("  {name} (units)"))?;
    for value in [white, black] {
        write!(f, " |{:>6}{:>6}", value.middlegame(), value.endgame())?;
    }
    writeln!(f, " |             |")
}

impl fmt::Display for Breakdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.known {
            writeln!(f, "won endgame against the lone king")?;
        } else {
            self.write_terms(f)?;
        }
        let pawns = f64::from(self.score) / 100.0;
        writeln!(
            f,
            "classical {pawns:+.2} pawns for White, {:+} centipawns for the side to move",
            self.score()
        )
    }
}
