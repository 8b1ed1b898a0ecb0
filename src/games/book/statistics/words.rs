//! Descriptions of what the book contains.

use std::cmp::Reverse;

use super::explore::ListedGame;
use crate::chess::notation;
use crate::chess::position::{Game, Move, Position};
use crate::games::book::choice::chooser::Chooser;
use crate::games::book::choice::policy::Policy;
use crate::games::book::facets::FacetFilter;
use crate::games::book::format::counts::Counts;
use crate::games::book::lookup::names::Names;
use crate::games::book::lookup::values::BookValue;
use crate::games::book::lookup::{Book, BookMove};
use crate::support::words::number_of;

/// The start of the message that a line of the search transposes to the book.
pub(crate) const MEETS_BOOK: &str = "transposes to the book";

/// The start of the message that the book's analysis covers the root.
pub(crate) const ANALYSED: &str = "analysed in the book";

/// The prefix to either message if the search ended in the book.
pub(crate) const ENDED: &str = "ended in the book: ";

/// Describes where a line of play enters the book and what an analysis found there. For a line
/// without moves, describes the analysis of the position itself.
pub(crate) fn transposition(
    position: &Position,
    line: &[Move],
    counts: Counts,
    value: Option<&BookValue>,
) -> String {
    let plies = line.len();
    let end = line.iter().fold(*position, |position, &mv| position.play(mv));
    let found = value.map(|value| value.describe(&end));
    let (line, games) = (notation::line(position, line), games(counts));
    match (plies, found) {
        (0, found) => format!("{}: {}", ANALYSED, found.unwrap_or_default()),
        (_, None) => format!("{} after {}: {line} ({games})", MEETS_BOOK, count(plies)),
        (_, Some(found)) => {
            format!("{} after {}: {line} ({games}; {found})", MEETS_BOOK, count(plies))
        }
    }
}

/// Games above which the best one is not looked up during a search: reading a thousand takes about
/// twenty microseconds.
const LOOKED_THROUGH: u64 = 50_000;

/// Describes the position at the end of a line: the opening's name, the move that most games
/// played, and the highest rated game, if the book stores its games.
pub(crate) fn at_the_end(book: &Book, names: &Names, position: &Position) -> String {
    let name = names.get(position).map(|opening| format!("{} {}", opening.eco, opening.name));
    let moves = book.moves(position);
    let usual = moves.iter().filter(|book_move| !book_move.played.is_empty());
    let usual = usual.max_by_key(|book_move| (book_move.played.games(), Reverse(book_move.mv)));
    let usual = usual.map(|BookMove { mv, played, reached }| {
        let (san, value) = (position.san(*mv), book.value_of_move(position, *mv));
        let value =
            value.map_or_else(String::new, |value| format!(", value {}", notation::score(value)));
        format!("then usually {san}, played {played}, reached {reached}{value}")
    });
    let reached = book.reached(position).unwrap_or_default();
    let best = (book.has_facets() && reached.games() <= LOOKED_THROUGH)
        .then(|| book.explore(position, &FacetFilter::default()).reached.top);
    let best = best.and_then(|top| top.first().map(ListedGame::describe));
    let best = best.map(|game| format!("best game {game}"));
    name.into_iter().chain(usual).chain(best).collect::<Vec<_>>().join(", ")
}

fn count(plies: usize) -> String {
    format!("{plies} {}", if plies == 1 { "ply" } else { "plies" })
}

fn games(counts: Counts) -> String {
    match (counts.games(), counts) {
        (1, Counts { white: 1, .. }) => "1 game, 1-0".to_owned(),
        (1, Counts { black: 1, .. }) => "1 game, 0-1".to_owned(),
        (1, Counts { draws: 1, .. }) => "1 game, 1/2-1/2".to_owned(),
        (1, _) => "1 line".to_owned(),
        (games, _) => format!("{games} games, {counts}"),
    }
}

impl BookValue {
    /// Describes the search results of `position`, to which this value belongs.
    pub(crate) fn describe(&self, position: &Position) -> String {
        let san = |mv: Move| if position.is_legal(mv) { position.san(mv) } else { "?".to_owned() };
        let best = self.best.map_or_else(|| "no move".to_owned(), san);
        let mut text = format!("{best} {}, depth {}", notation::score(self.score), self.depth);
        if let Some((mv, score)) = self.outside.filter(|&(mv, _)| Some(mv) != self.best) {
            text +=
                &format!("; best move outside the analysis {} {}", san(mv), notation::score(score));
        }
        text
    }

    /// The reason to play the best move in `position` without a search.
    pub(crate) fn as_move_reason(&self, position: &Position) -> String {
        format!("analysed in the book: {} ({} nodes)", self.describe(position), self.nodes)
    }
}

pub(crate) fn percent(score: f64) -> String {
    format!("{:.0}%", 100.0 * score)
}

/// The maximum length of a reply, in bytes: xboard copies it into 5,120 bytes without a check.
const LONGEST_REPLY: usize = 4000;

pub(crate) fn book_lines(book: &Book, game: &Game) -> Vec<String> {
    let position = game.position();
    let candidates = Chooser::new(Policy::Prefer, 0).candidates(book, game);
    if candidates.is_empty() && book.value(position).is_none() {
        return vec!["The book does not contain this position.".to_owned()];
    }
    // Only analysed books have a column for it.
    let analysed = book.values().len() > 0;
    let value = |text: &str| if analysed { format!(" {text:>6}") } else { String::new() };
    let mut lines = vec![format!("{} ({})", book.name(), number_of(book.positions(), "position"))];
    lines.extend(
        book.value(position).map(|value| format!("analysed: {}", value.describe(position))),
    );
    let (head, column) = (["move", "score", "played here", "position reached"], value("value"));
    lines.push(format!("{:7} {:>5}{column}  {:24} {}", head[0], head[1], head[2], head[3]));
    let mut length: usize = lines.iter().map(|line| line.len() + 2).sum();
    for (index, candidate) in candidates.iter().enumerate() {
        let book_move = &candidate.book_move;
        let has_score = candidate.value.is_none() || !book_move.reached.is_empty();
        let mut line = format!(
            "{:7} {:>5}{}  {:24} {}",
            position.san(book_move.mv),
            if has_score { percent(candidate.score) } else { String::new() },
            value(&candidate.value.map_or_else(String::new, notation::score)),
            book_move.played.to_string(),
            book_move.reached
        );
        if let Some(rejection) = candidate.rejected {
            line.push_str(&format!(" ({rejection})"));
        }
        length += line.len() + 2;
        if length > LONGEST_REPLY {
            lines.push(format!("and {} more", candidates.len() - index));
            break;
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::book::builder::{BuildOptions, build_in_memory};
    use crate::games::pgn::PgnInput;

    #[test]
    fn highest_rated_game_is_reported_if_the_book_has_facets() {
        let text = "[White \"a\"]\n[Black \"b\"]\n[Result \"1-0\"]\n[WhiteElo \"2100\"]\n[BlackElo \
             \"2000\"]\n\n1. e4 c5 1-0\n\n[White \"c\"]\n[Black \"d\"]\n[Date \
             \"2001.02.??\"]\n[Result \"0-1\"]\n[WhiteElo \"2500\"]\n\n1. e4 e5 0-1\n";
        let reported = |facets| {
            let input = PgnInput::Text("games".to_owned(), text.as_bytes().into());
            let options = BuildOptions { facets, ..BuildOptions::default() };
            let (book, _) = build_in_memory(&[input], &options, "book").expect("a book");
            let after = Position::start().play("e2e4".parse().expect("a move"));
            at_the_end(&book, &Names::embedded(), &after)
        };
        let usual = "B00 King's Pawn Game, then usually c5, played 1 +1 =0 -0, reached 1 +1 =0 -0";
        assert_eq!(reported(false), usual);
        let with_game = reported(true);
        let best = with_game.strip_prefix(&format!("{usual}, best game ")).expect(&with_game);
        assert!(best.starts_with("c (2500) - d 0-1, 2001.02.?? ("), "{best}");
    }
}
