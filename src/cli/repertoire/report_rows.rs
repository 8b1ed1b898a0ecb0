//! Summarises the games in a report.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::game_rows::{At, GameRow};
use crate::chess::position::{Color, Move};
use crate::games::book::Counts;

/// The possible outcomes of comparing a game with the repertoire, and their meanings, in the order
/// in which they are printed.
pub(super) const OUTCOMES: [(&str, &str); 6] = [
    ("deviation", "you left the repertoire"),
    ("reply", "no answer to the opponent's reply"),
    ("end", "the repertoire ended"),
    ("dead end", "the repertoire has the reply, but no move"),
    ("followed", "in the repertoire to the end of the game"),
    ("not met", "never in the repertoire"),
];

#[derive(Serialize)]
pub(super) struct Report {
    pub side: &'static str,
    pub repertoire: String,
    pub reference: String,
    /// Whether the reference book was built from self-play games of Tabia.
    pub self_play: bool,
    pub results: Results,
    pub outcomes: Vec<OutcomeRow>,
    pub openings: Vec<OpeningRow>,
    /// The moves with which the games left the repertoire, most frequent first.
    pub leaves: Vec<LeaveRow>,
    pub returned: usize,
    pub games: Vec<GameRow>,
}

#[derive(Clone, Copy, Serialize)]
pub(super) struct Results {
    pub score: f64,
    #[serde(flatten)]
    pub counts: Counts,
}

#[derive(Serialize)]
pub(super) struct OutcomeRow {
    pub outcome: &'static str,
    #[serde(flatten)]
    pub results: Results,
}

#[derive(Serialize)]
pub(super) struct OpeningRow {
    /// The opening's name without the variation, or `None` if no position in the games has a name.
    pub opening: Option<String>,
    #[serde(flatten)]
    pub results: Results,
    pub outcomes: BTreeMap<&'static str, usize>,
    /// The average number of plies before a game first left the repertoire. If a game never left
    /// it, all of its plies are counted.
    pub followed_plies: f64,
    pub leave: Option<LeaveRow>,
}

#[derive(Clone, Serialize)]
pub(super) struct LeaveRow {
    #[serde(flatten)]
    pub at: At,
    #[serde(flatten)]
    pub results: Results,
}

impl Results {
    pub(super) fn new(counts: Counts, side: Color) -> Self {
        Results { score: counts.score(side), counts }
    }

    fn of(games: impl Iterator<Item = Counts>, side: Color) -> Self {
        Self::new(games.sum(), side)
    }

    pub(super) fn games(&self) -> u64 {
        self.counts.games()
    }
}

impl Report {
    pub(super) fn new(side: Color, names: [&str; 2], self_play: bool, games: Vec<GameRow>) -> Self {
        let [repertoire, reference] = names.map(str::to_owned);
        let results = |games: &mut dyn Iterator<Item = &GameRow>| {
            Results::of(games.map(|game| game.counts), side)
        };
        let outcomes = OUTCOMES.map(|(outcome, _)| {
            let results = results(&mut games.iter().filter(|game| game.outcome == outcome));
            OutcomeRow { outcome, results }
        });
        let all = games.iter().flat_map(|game| game.events.iter().map(move |row| (game, &row.at)));
        let returned = games
            .iter()
            .filter(|game| game.events.iter().any(|row| row.at.kind.name() == "return"));
        Report {
            side: if side == Color::White { "white" } else { "black" },
            repertoire,
            reference,
            self_play,
            results: results(&mut games.iter()),
            outcomes: outcomes.into(),
            openings: openings(&games, side),
            leaves: leaves(all, side),
            returned: returned.count(),
            games,
        }
    }
}

fn openings(games: &[GameRow], side: Color) -> Vec<OpeningRow> {
    let mut groups: BTreeMap<Option<&str>, Vec<&GameRow>> = BTreeMap::new();
    for game in games {
        groups.entry(game.opening.as_deref().map(family)).or_default().push(game);
    }
    let row = |(opening, games): (Option<&str>, Vec<&GameRow>)| {
        let mut outcomes = BTreeMap::new();
        games.iter().for_each(|game| *outcomes.entry(game.outcome).or_default() += 1);
        let plies: usize = games.iter().map(|game| game.followed_plies).sum();
        let first = games.iter().filter_map(|game| Some((*game, first_leave(game)?)));
        OpeningRow {
            opening: opening.map(str::to_owned),
            results: Results::of(games.iter().map(|game| game.counts), side),
            outcomes,
            followed_plies: plies as f64 / games.len() as f64,
            leave: leaves(first, side).into_iter().next(),
        }
    };
    let mut rows: Vec<OpeningRow> = groups.into_iter().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.results.games()));
    rows
}

fn first_leave(game: &GameRow) -> Option<&At> {
    game.events.iter().map(|row| &row.at).find(|at| at.kind.leaves())
}

pub(super) fn family(name: &str) -> &str {
    name.split([':', ',']).next().unwrap_or(name)
}

/// Groups the moves that left the repertoire by position and move, and sorts the groups by number
/// of games, largest first.
fn leaves<'a>(events: impl Iterator<Item = (&'a GameRow, &'a At)>, side: Color) -> Vec<LeaveRow> {
    let mut found: Vec<(&At, Vec<Counts>)> = Vec::new();
    let mut index: HashMap<(u64, Move), usize> = HashMap::new();
    for (game, at) in events.filter(|(_, at)| at.kind.leaves()) {
        let place = *index.entry(at.key).or_insert_with(|| {
            found.push((at, Vec::new()));
            found.len() - 1
        });
        found[place].1.push(game.counts);
    }
    let mut rows: Vec<LeaveRow> = found
        .into_iter()
        .map(|(at, games)| LeaveRow {
            at: at.clone(),
            results: Results::of(games.into_iter(), side),
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.results.games()));
    rows
}
