//! Formats match results as text and tables.

use std::cmp::Ordering;
use std::fmt::Write;

use serde_json::{Value, json};

use super::ratings::{RatedGame, Rating, Ratings, ratings};
use super::rounds::Placing;
use super::schedule::Round;
use super::stats::{Count, Decision, EloModel, Estimate, Sprt, Tally, normalised_elo};
use super::tournament::Standings;
use crate::support::words::rounded;

/// Formats the wins, losses, draws, score and number of games on one line: `Score of A vs B: 6 - 3
/// - 3 [0.625] 12`.
pub(crate) fn score_line(names: [&str; 2], tally: &Tally) -> String {
    let Count { wins, draws, losses } = tally.total;
    let games = tally.total.games();
    let share = tally.total.points() / f64::from(games.max(1));
    format!(
        "Score of {} vs {}: {wins} - {losses} - {draws} [{share:.3}] {games}",
        names[0], names[1]
    )
}

/// Formats the Elo difference, the normalised Elo difference and the likelihood of superiority on
/// one line.
pub(crate) fn elo_line(tally: &Tally) -> String {
    if tally.total.games() == 0 {
        return "Elo: no games yet".to_owned();
    }
    let distribution = tally.distribution();
    let basis = if distribution.len() == 5 { "pairs" } else { "games" };
    let elo = tally.elo().map_or_else(|| "Elo: no finite estimate".to_owned(), elo);
    let normalised = normalised_elo(&distribution)
        .map_or_else(String::new, |normalised| format!(", n{}", self::elo(normalised)));
    let los =
        tally.superiority().map_or_else(String::new, |los| format!(", LOS {:.1}%", 100.0 * los));
    format!("{elo}{normalised}{los} (from {basis})")
}

/// Formats an Elo difference with its margin of error: `Elo +12.3 ± 4.5`.
pub(crate) fn elo(Estimate { value, error }: Estimate) -> String {
    match error {
        Some(error) => format!("Elo {:+.1} ± {error:.1}", rounded(value, 1)),
        None => format!("Elo {:+.1}, error not bounded", rounded(value, 1)),
    }
}

/// Formats the state of the sequential test on one line: the log-likelihood ratio, its bounds, the
/// hypotheses and the decision.
pub(crate) fn sprt_line(sprt: &Sprt, tally: &Tally) -> String {
    decided_line(sprt, tally, sprt.decide(sprt.llr(&tally.pairs)))
}

/// Like [`sprt_line`], but with a given decision, because a shared test may have been decided
/// earlier.
pub(crate) fn decided_line(sprt: &Sprt, tally: &Tally, decision: Decision) -> String {
    let llr = rounded(sprt.llr(&tally.pairs), 2);
    let (lower, upper) = sprt.bounds();
    let model = match sprt.model {
        EloModel::Logistic => "Elo",
        EloModel::Normalized => "nElo",
    };
    let verdict = match decision {
        Decision::Continue => "undecided",
        Decision::AcceptH0 => "H0 accepted",
        Decision::AcceptH1 => "H1 accepted",
    };
    format!(
        "LLR {llr:.2} ({lower:.2}, {upper:.2}) [{}, {}] {model}: {verdict}",
        sprt.elo0, sprt.elo1
    )
}

/// Formats all statistics of the games between two engines, on several lines.
pub(crate) fn pairing(names: [&str; 2], tally: &Tally, sprt: Option<&Sprt>) -> String {
    let mut text = score_line(names, tally);
    let sides = tally.by_color.map(|c| format!("{} - {} - {}", c.wins, c.losses, c.draws));
    // Writing to a string cannot fail.
    let _ = write!(text, "\n  as White {}, as Black {}", sides[0], sides[1]);
    let _ = write!(text, "\n  {}", elo_line(tally));
    let pairs: Vec<String> = tally.pairs.iter().map(u32::to_string).collect();
    let _ = write!(text, "\n  pairs [0, ½, 1, 1½, 2]: {}", pairs.join(", "));
    if let Some(sprt) = sprt {
        let _ = write!(text, "\n  {}", sprt_line(sprt, tally));
    }
    let ends: Vec<String> =
        tally.terminations.iter().map(|(end, count)| format!("{} {count}", end.name())).collect();
    let _ = write!(text, "\n  ends: {}", ends.join(", "));
    text
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Standing {
    pub engine: usize,
    pub count: Count,
    pub placing: Option<Placing>,
}

/// Returns the standings of all engines, best engine first.
pub(crate) fn ranking(engines: usize, standings: &Standings) -> Vec<Standing> {
    let placing = |engine: usize| standings.placings.get(engine).copied();
    let row = |engine| Standing { engine, count: Count::default(), placing: placing(engine) };
    let mut table: Vec<Standing> = (0..engines).map(row).collect();
    for (&(first, second), tally) in &standings.tallies {
        let Count { wins, draws, losses } = tally.total;
        for (engine, won, lost) in [(first, wins, losses), (second, losses, wins)] {
            let count = &mut table[engine].count;
            count.wins += won;
            count.draws += draws;
            count.losses += lost;
        }
    }
    let share = |s: &Standing| s.count.points() / f64::from(s.count.games().max(1));
    let keys = |s: &Standing| {
        let Placing { score, buchholz } = s.placing.unwrap_or_default();
        [score, buchholz, share(s)]
    };
    table.sort_by(|a, b| keys(b).partial_cmp(&keys(a)).unwrap_or(Ordering::Equal));
    table
}

/// Formats the pairings of a round on one line: `Round 2: a - b, c - d; bye: e`.
pub(crate) fn round_line(names: &[String], round: &Round) -> String {
    let pairing = |&(a, b): &(usize, usize)| format!("{} - {}", names[a], names[b]);
    let pairings: Vec<String> = round.pairings.iter().map(pairing).collect();
    let byes: Vec<&str> = round.byes.iter().map(|&engine| &*names[engine]).collect();
    let kind = if round.tie_break { "Tie-break of round" } else { "Round" };
    let mut text = format!("{kind} {}: {}", round.number, pairings.join(", "));
    if !byes.is_empty() {
        let _ = write!(text, "; bye: {}", byes.join(", "));
    }
    text
}

/// Formats the crosstable of a tournament. Each row contains the rank, name, points, number of
/// games, score in percent, and the points scored against each of the other engines. Swiss and
/// knockout tournaments also have columns for [`Placing::score`] and [`Placing::buchholz`].
pub(crate) fn crosstable(names: &[String], standings: &Standings) -> String {
    let ranks = ranking(names.len(), standings);
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
    let mut text = format!("  # {:width$} {:>7} {:>6} {:>6}", "Engine", "Points", "Games", "Share");
    if !standings.placings.is_empty() {
        let _ = write!(text, " {:>7} {:>8}", "Score", "Buchholz");
    }
    for rank in 1..=ranks.len() {
        let _ = write!(text, " {rank:>7}");
    }
    for (index, row) in ranks.iter().enumerate() {
        let (points, games) = (row.count.points(), row.count.games());
        let share = 100.0 * points / f64::from(games.max(1));
        let name = &names[row.engine];
        let rank = index + 1;
        let _ = write!(text, "\n{rank:>3} {name:width$} {points:>7} {games:>6} {share:>5.1}%");
        if let Some(Placing { score, buchholz }) = row.placing {
            let _ = write!(text, " {score:>7} {buchholz:>8}");
        }
        for column in &ranks {
            let cell = against(standings, row.engine, column.engine)
                .map_or_else(|| "-".to_owned(), |points| points.to_string());
            let _ = write!(text, " {cell:>7}");
        }
    }
    text
}

/// Formats the ratings of all players as a table. Each row contains the rank, name, rating, margin
/// of error, points, number of games, score in percent, percentage of draws, and the likelihood of
/// superiority over the next player.
pub(crate) fn ratings_table(names: &[String], games: &[RatedGame], found: &Ratings) -> String {
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
    let mut text = format!(
        "  # {:width$} {:>7} {:>7} {:>7} {:>6} {:>6} {:>6} {:>6}",
        "Player", "Elo", "±", "Points", "Games", "Score", "Draws", "LOS"
    );
    let counts = counts(names.len(), games);
    let unrated = found.unrated.iter().map(|&player| (player, None));
    let rows = found.rows.iter().map(|row| (row.player, Some(row))).chain(unrated);
    for (rank, (player, rating)) in (1..).zip(rows) {
        let count = &counts[player];
        let (points, games) = (count.points(), count.games());
        let share = |part: f64| 100.0 * part / f64::from(games.max(1));
        let (score, draws) = (share(points), share(f64::from(count.draws)));
        let [elo, error, los] = rating.map_or_else(Default::default, cells);
        let name = &names[player];
        let _ = write!(
            text,
            "\n{rank:>3} {name:width$} {elo:>7} {error:>7} {points:>7} {games:>6} {score:>5.1}% {draws:>5.1}% {los:>6}"
        );
    }
    let Estimate { value, error } = found.white_advantage;
    let error = error.map_or_else(String::new, |error| format!(" ± {error:.1}"));
    // Without rated players, the advantage is only its prior.
    if !found.rows.is_empty() {
        let _ = write!(text, "\nWhite's advantage: {:+.1}{error} Elo", rounded(value, 1));
    }
    if !found.unrated.is_empty() {
        text.push_str("\nNo rating: all points won or lost against the others, or no games");
    }
    text
}

/// Returns the ratings of all players as JSON, together with their wins, draws and losses. Unknown
/// values are `null`.
pub(crate) fn ratings_json(names: &[String], games: &[RatedGame], found: &Ratings) -> Value {
    let counts = counts(names.len(), games);
    let rows = found.rows.iter().map(|row| {
        json!({
            "name": names[row.player],
            "elo": row.elo,
            "error": row.error,
            "superiority": row.superiority,
            "results": counts[row.player],
        })
    });
    let unrated = found.unrated.iter().map(|&player| &names[player]);
    json!({
        "players": rows.collect::<Vec<Value>>(),
        "unrated": unrated.collect::<Vec<_>>(),
        "white_advantage": found.white_advantage,
    })
}

/// Formats the table cells for the rating, its margin of error and the likelihood of superiority.
fn cells(row: &Rating) -> [String; 3] {
    let number = |value| format!("{:.1}", rounded(value, 1));
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    [
        number(row.elo),
        or_dash(row.error.map(number)),
        or_dash(row.superiority.map(|los| format!("{:.1}%", 100.0 * los))),
    ]
}

/// Returns the wins, draws and losses of each player.
pub(crate) fn counts(players: usize, games: &[RatedGame]) -> Vec<Count> {
    let mut counts = vec![Count::default(); players];
    for game in games {
        let [white, black] = game.players;
        counts[white].add(u32::from(game.half_points));
        counts[black].add(2 - u32::from(game.half_points));
    }
    counts
}

/// Formats the crosstable of a tournament, followed by the table of ratings.
pub(crate) fn tables(names: &[String], standings: &Standings) -> String {
    let found = ratings(names.len(), &standings.games, &[]);
    let ratings = ratings_table(names, &standings.games, &found);
    format!("{}\n\n{ratings}", crosstable(names, standings))
}

/// Returns the points that `engine` scored against `other`, or `None` if they have not met.
pub(crate) fn against(standings: &Standings, engine: usize, other: usize) -> Option<f64> {
    if let Some(tally) = standings.tallies.get(&(engine, other)) {
        return Some(tally.total.points());
    }
    let Count { wins, draws, losses } = standings.tallies.get(&(other, engine))?.total;
    Some(Count { wins: losses, draws, losses: wins }.points())
}
