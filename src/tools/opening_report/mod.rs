//! The opening report: statistics about the games that reached a position, as an HTML page or as
//! JSON.
//!
//! Some statistics come from the book. They cover all games that reached the position (`facts`) or
//! all games in the book (`theory` and the move orders). Other statistics are about the moves
//! played after the position, which are read from the PGN files (`sample`). If too many games
//! reached the position, only a sample of them is read, taken at regular intervals in date order.
//! The report states how many games each statistic covers. A filter by rating, speed and date
//! applies to everything but the move orders, because these are estimated from the counts of a book.

mod charts;
mod endgames;
mod facts;
mod page;
mod sample;
mod summary;
mod theory;

use std::path::PathBuf;

use serde::Serialize;

use crate::chess::notation::NamedMove;
use crate::chess::position::Game;
use crate::games::book::{
    Arrival, Book, Counts, FacetFilter, MoveOrders, NamedOpening, Names, PositionGames,
    RatingGroup, SELF_PLAY, arrivals, move_orders,
};
use facts::Facts;
pub(crate) use page::{ExplorerLinks, page};
use sample::Sample;
pub(crate) use summary::summary;
use theory::TheoryRow;

/// The default maximum number of games to read from the PGN files.
pub(crate) const SAMPLE_GAMES: usize = 1_000;

/// What a report is created from.
#[derive(Debug)]
pub(crate) struct ReportSource<'a> {
    pub(crate) book: &'a Book,
    /// The name of the book, as shown in the report.
    pub(crate) name: String,
    pub(crate) names: &'a Names,
    /// The games that the report covers. A filter requires a book with facets.
    pub(crate) filter: &'a FacetFilter,
    /// The folders in which to look for the PGN files of the book's games.
    pub(crate) folders: &'a [PathBuf],
    /// The maximum number of games to read from the PGN files.
    pub(crate) limit: usize,
}

/// The report on an opening.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpeningReport {
    book: String,
    /// The number of plies up to which the book counts each game; 0 if unknown.
    book_plies: u32,
    /// Descriptions of the filters. Empty if all games are covered.
    filters: Vec<String>,
    /// A note that the book contains self-play games, or `None` if it does not.
    note: Option<&'static str>,
    /// Whether the counts are move weights (as in Polyglot books) rather than numbers of games.
    weights: bool,
    fen: String,
    /// The FEN of the position from which the moves in `line` lead to the report's position.
    start: String,
    line: Vec<NamedMove>,
    opening: Option<NamedOpening>,
    /// The results of the games that reached the position via any move order and pass the filters.
    pub(crate) reached: Counts,
    /// Popularity, ratings and model games; `None` if the book has no facets or does not contain
    /// the position.
    pub(crate) facts: Option<Facts>,
    arrivals: Vec<ArrivalRow>,
    move_orders: MoveOrders,
    theory: Vec<TheoryRow>,
    /// The data read from the PGN files; `None` if the book has no facets or does not contain the
    /// position.
    pub(crate) sample: Option<Sample>,
}

/// A move that led to the position in at least one game, and the position in which it was played.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ArrivalRow {
    #[serde(flatten)]
    mv: NamedMove,
    fen: String,
    played: Counts,
}

impl ArrivalRow {
    fn new(arrival: &Arrival) -> Self {
        let Arrival { before, mv, played } = arrival;
        ArrivalRow { mv: NamedMove::new(before, *mv), fen: before.fen(), played: *played }
    }
}

/// Creates the report on the final position of `game`. Calls `progress` with the number of games
/// read so far. If `is_stopped` returns `true`, stops reading games, and the sample contains only
/// those already read.
pub(crate) fn opening_report(
    source: &ReportSource<'_>,
    game: &Game,
    is_stopped: &dyn Fn() -> bool,
    mut progress: impl FnMut(u64),
) -> OpeningReport {
    let &ReportSource { book, names, filter, .. } = source;
    let position = game.position();
    let games = book.position_games(position, filter);
    let mut facts = games.as_ref().map(Facts::new);
    let sample = games.as_ref().zip(facts.as_mut()).map(|(games, facts)| {
        let mut sample = Sample::choose(games, source.limit);
        sample.read(games, facts, position, source.folders, is_stopped, &mut progress);
        sample
    });
    let reached = match filter.is_everything() {
        true => book.reached(position).unwrap_or_default(),
        false => facts.as_ref().map_or(Counts::default(), |facts| facts.games),
    };
    let moves = game.positions().iter().zip(game.moves());
    let counting = games.as_ref().map_or(book, PositionGames::book);
    OpeningReport {
        book: source.name.clone(),
        book_plies: counting.manifest().map_or(0, |manifest| manifest.max_ply),
        filters: describe(filter),
        note: book.counts_self_play(position).then_some(SELF_PLAY),
        weights: book.holds_weights(),
        fen: position.fen(),
        start: game.start().fen(),
        line: moves.map(|(before, &mv)| NamedMove::new(before, mv)).collect(),
        opening: names.of_game(game).cloned(),
        reached,
        facts,
        arrivals: arrivals(book, position).iter().map(ArrivalRow::new).collect(),
        move_orders: move_orders(book, names, position),
        theory: theory::rows(book, names, position, filter),
        sample,
    }
}

/// Describes a filter, one phrase for each condition.
fn describe(filter: &FacetFilter) -> Vec<String> {
    let list = |name: &str, values: Vec<String>| {
        (!values.is_empty()).then(|| format!("{name} {}", values.join(", ")))
    };
    let rating = |group: &RatingGroup| page::rating_name(Some(group.lower_bound()));
    let phrases = [
        list("mean rating", filter.ratings.iter().map(rating).collect()),
        list("speed", filter.speeds.iter().map(ToString::to_string).collect()),
        filter.since.map(|date| format!("since {date}")),
        filter.until.map(|date| format!("until {date}")),
    ];
    phrases.into_iter().flatten().collect()
}

/// Returns `part` as a fraction of `whole`, or 0 if `whole` is 0.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
