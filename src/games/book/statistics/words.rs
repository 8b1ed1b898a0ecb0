//! Describes the contents of a book in words.

use std::cmp::Reverse;

use super::summary::ListedGame;
use crate::chess::notation;
use crate::chess::position::{Game, Move, Position};
use crate::games::book::choice::chooser::Chooser;
use crate::games::book::choice::policy::Policy;
use crate::games::book::facets::FacetFilter;
use crate::games::book::format::counts::Counts;
use crate::games::book::lookup::names::Names;
use crate::games::book::lookup::values::BookValue;
use crate::games::book::lookup::{Book, BookMove, SELF_PLAY};
use crate::support::words::{counted, grouped, percent};

/// The prefix of the message shown when a search line transposes into the book.
pub(crate) const MEETS_BOOK: &str = "transposes to the book";

/// The prefix of the message shown when the book contains an analysis of the root position.
pub(crate) const ANALYSED: &str = "analysed in the book";

/// The prefix added to [`MEETS_BOOK`] or [`ANALYSED`] in the final report of a search that ended in
/// the book.
pub(crate) const ENDED: &str = "ended in the book: ";

/// Describes where a search line transposes into the book. If the line has no moves, describes the
/// book's analysis of the root position instead.
pub(crate) fn transposition(
    position: &Position,
    line: &[Move],
    counts: Counts,
    value: Option<&BookValue>,
) -> String {
    let plies = line.len();
    let end = line.iter().fold(*position, |position, &mv| position.play(mv));
    let found = value.map(|value| value.describe(&end));
    let games = counts.describe(position.side_to_move());
    let line = notation::line(position, line);
    match (plies, found) {
        (0, found) => format!("{}: {}", ANALYSED, found.unwrap_or_default()),
        (_, None) => format!("{} after {}: {line} ({games})", MEETS_BOOK, count(plies)),
        (_, Some(found)) => {
            format!("{} after {}: {line} ({games}; {found})", MEETS_BOOK, count(plies))
        }
    }
}

/// If a position has more games than this, its highest-rated game is not looked up. Reading a
/// thousand games takes about 20 microseconds.
const LOOKED_THROUGH: u64 = 50_000;

/// Describes the position at the end of a line: its opening name, its most frequent move, and its
/// highest-rated game.
pub(crate) fn at_the_end(book: &Book, names: &Names, position: &Position) -> String {
    let name = names.get(position).map(|opening| format!("{} {}", opening.eco, opening.name));
    let moves = book.moves(position);
    let usual = moves.iter().filter(|book_move| !book_move.played.is_empty());
    let usual = usual.max_by_key(|book_move| (book_move.played.games(), Reverse(book_move.mv)));
    let usual = usual.map(|BookMove { mv, reached, .. }| {
        let (san, value) = (position.san(*mv), book.value_of_move(position, *mv));
        let value =
            value.map_or_else(String::new, |value| format!(", value {}", notation::score(value)));
        format!("then usually {san} ({}{value})", reached.describe(position.side_to_move()))
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

impl BookValue {
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

    pub(crate) fn as_move_reason(&self, position: &Position) -> String {
        format!("analysed in the book: {} ({} nodes)", self.describe(position), self.nodes)
    }
}

/// The maximum length of a reply to xboard, in bytes. xboard copies replies to a buffer of 5,120
/// bytes without checking its bounds.
const LONGEST_REPLY: usize = 4000;

const LEGEND: &str = "score: of the side to move; games: that reached the position after the move; \
                      here: that played it in this position; the rest: who won";

pub(crate) fn book_lines(book: &Book, game: &Game) -> Vec<String> {
    let position = game.position();
    let candidates = Chooser::new(Policy::Prefer, 0).candidates(book, game);
    if candidates.is_empty() && book.value(position).is_none() {
        return vec!["The book does not contain this position.".to_owned()];
    }
    let weights = book.holds_weights();
    let mut lines = vec![format!("{} ({})", book.name(), counted(book.positions(), "position"))];
    if book.counts_self_play(position) {
        lines.push(SELF_PLAY.to_owned());
    }
    lines.extend(
        book.value(position).map(|value| format!("analysed: {}", value.describe(position))),
    );
    let analysed = book.values().len() > 0;
    let value = |text: &str| if analysed { format!(" {text:>6}") } else { String::new() };
    let row = |san: &str, score: &str, worth: &str, games: [&str; 5]| {
        let [reached, played, white, draws, black] = games;
        let games = match weights {
            true => format!("{played:>9}"),
            false => format!("{reached:>9} {played:>9}  {white:>5} {draws:>5} {black:>5}"),
        };
        format!("{san:7} {score:>5}{} {games}", value(worth)).trim_end().to_owned()
    };
    let played_head = if weights { "weight" } else { "here" };
    lines.push(row("move", "score", "value", ["games", played_head, "White", "drawn", "Black"]));
    let mut length: usize = lines.iter().map(|line| line.len() + 2).sum::<usize>() + LEGEND.len();
    for (index, candidate) in candidates.iter().enumerate() {
        let BookMove { mv, played, reached } = candidate.book_move;
        let decided = reached.games() - u64::from(reached.undecided);
        let has_score = !weights && decided > 0;
        let score = if has_score { percent(candidate.score) } else { String::new() };
        let share = |games: u32| match decided {
            0 => String::new(),
            _ => percent(f64::from(games) / decided as f64),
        };
        let mut line = row(
            &position.san(mv),
            &score,
            &candidate.value.map_or_else(String::new, notation::score),
            [
                &grouped(reached.games()),
                &grouped(played.games()),
                &share(reached.white),
                &share(reached.draws),
                &share(reached.black),
            ],
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
    if !weights && !candidates.is_empty() {
        lines.push(LEGEND.to_owned());
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
        let usual = "B00 King's Pawn Game, then usually c5 (1 game, 1-0)";
        assert_eq!(reported(false), usual);
        let with_game = reported(true);
        let best = with_game.strip_prefix(&format!("{usual}, best game ")).expect(&with_game);
        assert!(best.starts_with("c (2500) - d 0-1, 2001.02.?? ("), "{best}");
    }

    fn book_of(text: &str) -> Book {
        let input = PgnInput::Text("games".to_owned(), text.as_bytes().into());
        let options = BuildOptions { undecided: true, ..BuildOptions::default() };
        build_in_memory(&[input], &options, "my book").expect("a book").0
    }

    const TRANSPOSING: &str = "1. d4 Nf6 2. c4 1-0\n\n1. c4 Nf6 2. d4 0-1\n\n1. c4 Nf6 2. d4 1-0\n";

    #[test]
    fn only_the_embedded_book_counts_self_play() {
        let (own, start) = (book_of(TRANSPOSING), Position::start());
        let copy = Book::from_bytes(Book::embedded().bytes().to_vec(), "copy.tbk").expect("a book");
        for (book, expected) in [
            (Book::embedded(), true),
            (copy, true),
            (own.clone(), false),
            (own.clone().followed_by(&Book::embedded()), false),
            (Book::embedded().followed_by(&own), true),
        ] {
            assert_eq!(book.counts_self_play(&start), expected, "{book:?}");
            let lines = book_lines(&book, &Game::default());
            assert_eq!(lines.iter().any(|line| line == SELF_PLAY), expected, "{lines:#?}");
        }
        let mut later = Game::default();
        later.play(start.parse_move("e4").expect("legal")).expect("legal");
        let both = own.followed_by(&Book::embedded());
        assert!(both.counts_self_play(later.position()), "the second book has the position");
    }

    #[test]
    fn the_listing_has_columns_and_a_legend() {
        let lines = book_lines(&book_of(TRANSPOSING), &Game::default());
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&lines[1]), ["move", "score", "games", "here", "White", "drawn", "Black"]);
        assert_eq!(words(&lines[2]), ["c4", "50%", "2", "2", "50%", "0%", "50%"]);
        assert_eq!(lines.last().map(String::as_str), Some(LEGEND));
    }

    #[test]
    fn a_book_move_is_described_without_bare_counts() {
        let mut game = Game::default();
        for san in ["d4", "Nf6"] {
            let mv = game.position().parse_move(san).expect(san);
            game.play(mv).expect(san);
        }
        let choose = |policy: Policy, text: &str| {
            let choice = Chooser::new(policy, 0).choose(&book_of(text), &game).expect("a move");
            (choice.describe(game.position()), choice.explain(game.position()))
        };
        let (phrase, explained) = choose(Policy::Frequency, TRANSPOSING);
        let results = "67% for White in 3 games (2 by other move orders)";
        assert_eq!(phrase, format!("book move c4: {results}"));
        assert!(explained.starts_with(&format!("c4: {results}; bounds ")), "{explained}");
        let (phrase, _) = choose(Policy::Frequency, "1. d4 Nf6 2. Nf3 *\n");
        assert_eq!(phrase, "book move Nf3: 1 line without a result");
    }
}
