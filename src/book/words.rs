//! What the book knows, in words.

use std::cmp::Reverse;

use super::{Book, BookMove, BookValue, Chooser, Counts, Names, Policy};
use crate::position::{Game, Move, Position};
use crate::words;

/// Where a line of play meets the book, and what an analysis has found there; of a line without
/// moves, what it has found of the position itself.
pub(crate) fn transposition(
    position: &Position,
    line: &[Move],
    counts: Counts,
    value: Option<&BookValue>,
) -> String {
    let plies = line.len();
    let end = line.iter().fold(*position, |position, &mv| position.play(mv));
    let found = value.map(|value| value.in_words(&end));
    let (line, games) = (words::line(position, line), games(counts));
    match (plies, found) {
        (0, found) => format!("{}: {}", words::ANALYSED, found.unwrap_or_default()),
        (_, None) => format!("{} after {}: {line} ({games})", words::MEETS_BOOK, count(plies)),
        (_, Some(found)) => {
            format!("{} after {}: {line} ({games}; {found})", words::MEETS_BOOK, count(plies))
        }
    }
}

/// What a book knows of the position at the end of a line: the opening's name, and the move that
/// most games went on with.
pub(crate) fn at_the_end(book: &Book, names: &Names, position: &Position) -> String {
    let name = names.get(position).map(|opening| format!("{} {}", opening.eco, opening.name));
    let moves = book.moves(position);
    let usual = moves.iter().filter(|book_move| !book_move.played.is_empty());
    let usual = usual.max_by_key(|book_move| (book_move.played.games(), Reverse(book_move.mv)));
    let usual = usual.map(|BookMove { mv, played, reached }| {
        let (san, value) = (position.san(*mv), book.value_of_move(position, *mv));
        let value =
            value.map_or_else(String::new, |value| format!(", value {}", words::score(value)));
        format!("then usually {san}, played {played}, reached {reached}{value}")
    });
    name.into_iter().chain(usual).collect::<Vec<_>>().join(", ")
}

fn count(plies: usize) -> String {
    format!("{plies} {}", if plies == 1 { "ply" } else { "plies" })
}

/// The games that reached a position: the result of a single one, the counts of several.
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
    /// What was found of `position`, which is the one it is of.
    pub(crate) fn in_words(&self, position: &Position) -> String {
        let san = |mv: Move| if position.is_legal(mv) { position.san(mv) } else { "?".to_owned() };
        let best = self.best.map_or_else(|| "no move".to_owned(), san);
        let mut text = format!("{best} {}, depth {}", words::score(self.score), self.depth);
        if let Some((mv, score)) = self.outside.filter(|&(mv, _)| Some(mv) != self.best) {
            text += &format!("; out of the analysis {} {}", san(mv), words::score(score));
        }
        text
    }
}

/// A score in percent, as books have it.
pub(crate) fn percent(score: f64) -> String {
    format!("{:.0}%", 100.0 * score)
}

/// The most that is told of a position, in bytes: xboard copies it into 5,120 without looking.
const LONGEST_REPLY: usize = 4000;

/// What the book knows of the current position: a table of its moves, in lines.
pub(crate) fn book_lines(book: &Book, game: &Game) -> Vec<String> {
    let position = game.position();
    let candidates = Chooser::new(Policy::Prefer, 0).candidates(book, game);
    if candidates.is_empty() {
        return vec!["The book does not know this position.".to_owned()];
    }
    // Only analysed books have a column for it.
    let analysed = book.values().len() > 0;
    let value = |text: &str| if analysed { format!(" {text:>6}") } else { String::new() };
    let mut lines = vec![format!("{} ({} positions)", book.name(), book.positions())];
    lines.extend(
        book.value(position).map(|value| format!("analysed: {}", value.in_words(position))),
    );
    let (head, column) = (["move", "score", "played here", "position reached"], value("value"));
    lines.push(format!("{:7} {:>5}{column}  {:24} {}", head[0], head[1], head[2], head[3]));
    let mut length: usize = lines.iter().map(|line| line.len() + 2).sum();
    for (index, candidate) in candidates.iter().enumerate() {
        let book_move = &candidate.book_move;
        let mut line = format!(
            "{:7} {:>5}{}  {:24} {}",
            position.san(book_move.mv),
            percent(candidate.score),
            value(&candidate.value.map_or_else(String::new, words::score)),
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
