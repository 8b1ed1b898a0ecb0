//! The statistics of a match as JSON, for programs: what [`super::summary`] tells people.

use serde_json::{Value, json};

use super::stats::{Sprt, Tally, normalised_elo};
use super::summary::{against, ranking};
use super::tournament::Standings;

/// All statistics of a match of `scheduled` games. What cannot be estimated, or is infinite, is
/// `null`.
pub fn json(
    event: &str,
    names: &[String],
    standings: &Standings,
    sprt: Option<&Sprt>,
    scheduled: usize,
) -> Value {
    let played: u32 = standings.tallies.values().map(|tally| tally.total.games()).sum();
    let pairings = standings.tallies.iter().map(|(&(first, second), tally)| {
        let mut value = pairing(tally, sprt);
        value["engines"] = json!([names[first], names[second]]);
        value
    });
    json!({
        "event": event,
        "scheduled": scheduled,
        "played": played,
        "crosstable": crosstable(names, standings),
        "pairings": pairings.collect::<Vec<Value>>(),
    })
}

/// One row for each engine, the most successful first; `against` follows the order of the rows.
fn crosstable(names: &[String], standings: &Standings) -> Vec<Value> {
    let ranks = ranking(names.len(), standings);
    let rows = ranks.iter().map(|row| {
        let cells = ranks.iter().map(|column| against(standings, row.engine, column.engine));
        json!({
            "engine": names[row.engine],
            "points": row.count.points(),
            "games": row.count.games(),
            "results": row.count,
            "against": cells.collect::<Vec<Option<f64>>>(),
        })
    });
    rows.collect()
}

/// What two engines' games say of the first of them.
fn pairing(tally: &Tally, sprt: Option<&Sprt>) -> Value {
    json!({
        "results": tally.total,
        "as_white": tally.by_color[0],
        "as_black": tally.by_color[1],
        "pairs": tally.pairs,
        "elo": tally.elo(),
        "normalized_elo": normalised_elo(&tally.distribution()),
        "superiority": tally.superiority(),
        "sprt": sprt.map(|sprt| test(sprt, tally)),
        "terminations": tally.terminations,
    })
}

/// The sequential test with its parameters.
fn test(sprt: &Sprt, tally: &Tally) -> Value {
    let llr = sprt.llr(&tally.pairs);
    let (lower, upper) = sprt.bounds();
    json!({
        "parameters": sprt,
        "llr": llr,
        "lower": lower,
        "upper": upper,
        "decision": sprt.decide(llr),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autoplay::schedule::{Format, Schedule};
    use crate::autoplay::stats::EloModel;
    use crate::autoplay::verdict::{Termination, Verdict};
    use crate::position::Color;

    #[test]
    fn programs_find_what_people_are_told() {
        let (engines, format) = (2, Format::RoundRobin);
        let slots = Schedule { engines, format, games: 4, openings: 1, reversed: true }.slots();
        let mut standings = Standings::default();
        let ends = [Termination::Time, Termination::Checkmate, Termination::Checkmate];
        for (slot, end) in slots.iter().zip(ends) {
            standings.add(slot, &Verdict::against(Color::Black, end, ""));
        }
        let names = ["a".to_owned(), "b".to_owned()];
        let model = EloModel::Logistic;
        let sprt = Sprt { elo0: 0.0, elo1: 5.0, alpha: 0.05, beta: 0.05, model };
        let value = json("event", &names, &standings, Some(&sprt), slots.len());
        assert_eq!((&value["scheduled"], &value["played"]), (&json!(4), &json!(3)));
        assert_eq!(value["crosstable"][0]["engine"], "a");
        assert_eq!(value["crosstable"][0]["against"], json!([null, 2.0]));
        let pairing = &value["pairings"][0];
        assert_eq!(pairing["engines"], json!(["a", "b"]));
        assert_eq!(pairing["results"], json!({"wins": 2, "draws": 0, "losses": 1}));
        assert_eq!(pairing["pairs"], json!([0, 0, 1, 0, 0]));
        assert_eq!(pairing["terminations"], json!({"checkmate": 2, "time": 1}));
        assert_eq!(pairing["sprt"]["decision"], "continue");
        assert_eq!(pairing["sprt"]["parameters"]["model"], "logistic");
        assert!(pairing["elo"]["value"].as_f64().is_some_and(|elo| elo > 100.0));
    }

    #[test]
    fn infinite_values_are_null() {
        let slot = Schedule {
            engines: 2,
            format: Format::RoundRobin,
            games: 1,
            openings: 1,
            reversed: true,
        };
        let slot = slot.slots();
        let mut standings = Standings::default();
        standings.add(&slot[0], &Verdict::against(Color::Black, Termination::Crash, ""));
        let value = json("", &["a".to_owned(), "b".to_owned()], &standings, None, 1);
        assert_eq!(value["pairings"][0]["elo"]["value"], Value::Null);
        assert_eq!(value["pairings"][0]["sprt"], Value::Null);
    }
}
