//! Uses the book's analyses in the search. They act like transposition table entries that are never
//! overwritten.
//!
//! Unlike a table entry, a book value also replaces the search of a PV node, because it is exact
//! and the principal variation continues in the book. Searches that use book values have separate
//! table entries.

use super::node::Pv;
use super::observe::OptionalObserver;
use super::report::{Bound, SearchEvent, SearchResult, Transposition};
use super::table::{NO_EVAL, TableEntry};
use super::worker::Worker;
use crate::chess::position::{Move, Position};
use crate::chess::score::{DRAW, Depth, INFINITY, MAX_PLY, Ply, Score, from_table};
use crate::games::book::BookValue;

/// A book analysis is valid only if the sum of its depth and the halfmove clock is below this
/// value. Analyses ignore the halfmove clock, so a deeper one could overlook a draw by the
/// fifty-move rule.
const CLOCK_ROOM: Depth = 100;
/// Number of plies of a book line that are checked for a repetition. Four plies are the fewest that
/// can repeat a position.
const REPETITION_PLIES: usize = 4;

/// Converts a book analysis to a transposition table entry for a node at `ply`.
pub(super) fn known(value: &BookValue, ply: Ply) -> TableEntry {
    TableEntry {
        mv: value.best,
        score: from_table(value.score, ply),
        eval: NO_EVAL,
        bound: Bound::Exact,
        depth: value.depth,
    }
}

/// Returns the deeper of a book entry and a table entry. The static evaluation is always that of
/// the table entry, if there is one.
pub(super) fn deeper(book: TableEntry, table: Option<TableEntry>) -> TableEntry {
    match table {
        Some(table) if table.depth > book.depth => TableEntry { mv: table.mv.or(book.mv), ..table },
        Some(table) => TableEntry { eval: table.eval, ..book },
        None => book,
    }
}

/// Returns the transposition table's entry, with the book's move if the entry has no move. Used if
/// the book's score is not valid in this game.
pub(super) fn with_move(table: Option<TableEntry>, mv: Option<Move>) -> Option<TableEntry> {
    /// Depth of an entry that only provides a move. It is so low that the entry's score is never
    /// used.
    const NO_DEPTH: Depth = Depth::MIN / 2;
    let Some(table) = table else {
        let unknown = TableEntry {
            mv,
            score: -INFINITY,
            eval: NO_EVAL,
            bound: Bound::Lower,
            depth: NO_DEPTH,
        };
        return mv.map(|_| unknown);
    };
    Some(TableEntry { mv: table.mv.or(mv), ..table })
}

impl<S: OptionalObserver> Worker<'_, S> {
    /// Returns the score of a node that the book has analysed deeply enough. The caller must have
    /// checked [`Worker::holds_here`]. At a PV node, also continues the principal variation with
    /// the book's moves.
    #[cold]
    pub(super) fn settle_by_book(
        &mut self,
        known: TableEntry,
        position: &Position,
        ply: Ply,
        pv: bool,
    ) -> Score {
        if pv {
            let line = self.line_in_book(position, known.mv, MAX_PLY - ply);
            self.pv_table[ply] = Pv::from_moves(&line);
        }
        known.score
    }

    /// Reports the book's analysis of the root. Also returns it as a provisional result, except in
    /// analysis, with MultiPV, or if the user has restricted the root moves.
    ///
    /// The search tries the book's move first. It remains the move to play until an iteration
    /// deeper than the analysis finds a better one.
    pub(super) fn probe_book_at_root(&mut self) -> Option<SearchResult> {
        let job = self.job;
        let probe = job.book.as_ref()?;
        let value = probe.value(&job.root)?;
        let known = known(&value, 0);
        let mv = known.mv.filter(|_| self.holds_here(known, &job.root, 0))?;
        let line = self.line_in_book(&job.root, Some(mv), MAX_PLY);
        let is_free = job.limits.root_moves.is_empty() && job.limits.multi_pv == 1;
        let settles = is_free && !job.limits.is_analysis();
        let mut root_moves = job.root_moves();
        let root_move = root_moves.iter_mut().find(|root_move| root_move.mv == mv)?;
        root_move.pv.clone_from(&line);
        drop(root_moves);
        self.book_ending.known = Some(known);
        self.book_ending.settled = if settles { known.depth } else { 0 };
        let counts = probe.reached(&job.root).unwrap_or_default();
        let found = Transposition { line: Vec::new(), counts, value: Some(value) };
        self.send_event(SearchEvent::Transposition(found.clone()));
        settles.then(|| SearchResult {
            best: Some(mv),
            ponder: line.get(1).copied(),
            score: known.score,
            depth: known.depth,
            book: Some(found),
            ..SearchResult::default()
        })
    }

    /// Moves the book's move to the front of the root moves, unless an earlier iteration could
    /// already have replaced it.
    pub(super) fn move_book_move_first(&self, depth: Depth) {
        let Some(known) = self.book_ending.known.filter(|_| depth <= self.book_ending.settled + 1)
        else {
            return;
        };
        let mut root_moves = self.job.root_moves();
        let place = root_moves.iter().position(|root_move| Some(root_move.mv) == known.mv);
        place.into_iter().for_each(|place| root_moves[..=place].rotate_right(1));
    }

    /// Whether the score of a book analysis is valid in the current game.
    ///
    /// The score is invalid if a draw by the fifty-move rule is near, if the book's line leads to a
    /// repetition, or if the side to move is worse and can repeat a position.
    pub(super) fn holds_here(&self, known: TableEntry, position: &Position, ply: Ply) -> bool {
        let clock = Depth::from(position.halfmove_clock());
        let can_draw = known.score < DRAW && self.can_repeat(position, ply);
        clock + known.depth < CLOCK_ROOM && !can_draw && !self.leads_back(position, known.mv)
    }

    /// Whether the book's line soon reaches a position that has already occurred in the game or on
    /// the current search path.
    fn leads_back(&self, position: &Position, mv: Option<Move>) -> bool {
        let clock = usize::from(position.halfmove_clock());
        if clock == 0 {
            return false;
        }
        let before = &self.keys[self.keys.len().saturating_sub(clock + 1)..];
        let mut after = *position;
        self.line_in_book(position, mv, REPETITION_PLIES).into_iter().any(|mv| {
            after = after.play(mv);
            before.contains(&after.key())
        })
    }

    /// Returns a line of up to `plies` moves: `mv`, followed by the best move of each position
    /// according to the book's analyses.
    fn line_in_book(&self, position: &Position, mv: Option<Move>, plies: usize) -> Vec<Move> {
        let mut position = *position;
        let mut seen = vec![position.key()];
        let mut next = mv;
        let line = std::iter::from_fn(|| {
            let mv = next.filter(|&mv| position.is_legal(mv))?;
            position = position.play(mv);
            let goes_round = seen.contains(&position.key());
            seen.push(position.key());
            let probe = self.job.book.as_ref().filter(|_| !goes_round);
            next = probe.and_then(|probe| probe.value(&position)?.best);
            Some(mv)
        });
        line.take(plies).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BookSearch, Config, Control, Limits, Searcher};
    use super::*;
    use crate::chess::position::Game;
    use crate::chess::score::MATE;
    use crate::games::book::{Book, BuildOptions, build_in_memory};
    use crate::games::pgn::PgnInput;

    const GAME: &str = "1. e4 e5 2. Nf3 Nc6 3. Ng1 Nb8 4. Nf3 Nc6 1/2-1/2\n";
    const NODES: u64 = 60_000;

    fn play(moves: &str) -> Game {
        let mut game = Game::default();
        for text in moves.split_whitespace() {
            game.play(game.position().parse_san(text).expect(text)).expect(text);
        }
        game
    }

    fn found(moves: &str, best: &str, score: Score, depth: Depth) -> BookValue {
        let position = *play(moves).position();
        let best = position.parse_san(best).ok();
        BookValue {
            key: position.key(),
            score,
            best,
            outside: None,
            own: best.map(|mv| (mv, score)),
            depth,
            own_depth: depth,
            nodes: 1_000,
        }
    }

    fn book(mut values: Vec<BookValue>) -> Book {
        let games = PgnInput::Text("a game".to_owned(), GAME.as_bytes().into());
        let book = build_in_memory(&[games], &BuildOptions::default(), "x").expect("a book").0;
        values.sort_by_key(|value| value.key);
        book.with_values(&values).expect("a book")
    }

    fn search(
        game: &Game,
        values: &[BookValue],
        mode: BookSearch,
        limits: &Limits,
    ) -> SearchResult {
        let config = Config {
            memory_mb: 4,
            book: Some(book(values.to_vec())),
            book_search: mode,
            ..Config::default()
        };
        Searcher::new(config).search(game, limits, &Control::new(), &mut |_| {})
    }

    #[test]
    fn book_value_is_used_only_up_to_its_depth() {
        let (start, limits) = (Game::default(), Limits::depth(6));
        // After 1. e4 Black is to move, so the score is from Black's point of view.
        let deep = [found("e4", "e5", -900, 20)];
        let result = search(&start, &deep, BookSearch::Value, &limits);
        assert_eq!(
            (result.best.map(|mv| start.position().san(mv)).as_deref(), result.score),
            (Some("e4"), 900)
        );
        assert_eq!(result.ponder.map(|mv| mv.to_string()).as_deref(), Some("e7e5"));
        let shallow = [found("e4", "e5", -900, 2)];
        for (values, mode) in [(&shallow, BookSearch::Value), (&deep, BookSearch::Stop)] {
            assert!(search(&start, values, mode, &limits).score < 300, "{mode:?}");
        }
    }

    #[test]
    fn position_without_games_has_a_value_but_ends_no_search() {
        let value = found("e4", "e5", -900, 20);
        let entry = crate::games::book::BookEntry { key: value.key, ..Default::default() };
        let file = std::io::Cursor::new(Vec::new());
        let bytes =
            crate::games::book::write_entries(file, std::iter::once(entry)).expect("written");
        let plain = Book::from_bytes(bytes.into_inner(), "x").expect("a book");
        let config = Config {
            memory_mb: 4,
            book: Some(plain.with_values(&[value]).expect("a book")),
            book_search: BookSearch::Value,
            ..Config::default()
        };
        let mut met = 0;
        let result = Searcher::new(config).search(
            &Game::default(),
            &Limits::depth(6),
            &Control::new(),
            &mut |event| met += u32::from(matches!(event, SearchEvent::Transposition(_))),
        );
        assert_eq!((result.score, met), (900, 0));
    }

    #[test]
    fn deeper_analysis_of_the_root_decides_the_move_and_saves_nodes() {
        let (start, limits) = (Game::default(), Limits::nodes(NODES));
        let known = [found("", "a4", 50, 60)];
        let result = search(&start, &known, BookSearch::Value, &limits);
        let a4: Option<Move> = "a2a4".parse().ok();
        assert_eq!((result.best, result.score, result.depth), (a4, 50, 60));
        assert_eq!(result.book.map(|found| found.line), Some(vec![]));
        assert!((NODES * 2 / 5..NODES * 9 / 10).contains(&result.nodes), "{}", result.nodes);
        // A deeper search overrides the analysis.
        let known = [found("", "a4", 50, 4)];
        let result = search(&start, &known, BookSearch::Value, &limits);
        assert!(result.best.is_some_and(|best| Some(best) != a4));
        // The move that the search found may itself lead into the book, but the result must not
        // contain the book's analysis of the root.
        assert!(result.book.is_none_or(|found| !found.line.is_empty()));
        // If the user restricts the root moves, the analysis is not used either.
        let wanted: Move = "e2e4".parse().expect("a move");
        let limits = Limits { root_moves: vec![wanted], ..limits };
        let known = [found("", "a4", 50, 60)];
        assert_eq!(search(&start, &known, BookSearch::Value, &limits).best, Some(wanted));
    }

    #[test]
    fn book_analysis_of_the_root_is_reported_first() {
        let known = vec![found("", "a4", 50, 60)];
        let config = Config {
            memory_mb: 4,
            book: Some(book(known)),
            book_search: BookSearch::Value,
            ..Config::default()
        };
        let mut reported = Vec::new();
        Searcher::new(config).search(
            &Game::default(),
            &Limits::depth(3),
            &Control::new(),
            &mut |event| {
                reported.push(match event {
                    SearchEvent::Transposition(found) => found.describe(&Position::start()),
                    _ => String::new(),
                });
            },
        );
        assert_eq!(reported[0], "analysed in the book: a4 +0.50, depth 60");
    }

    #[test]
    fn book_value_does_not_override_repetition_or_fifty_move_rule() {
        let limits = Limits::depth(6);
        // The move from the analysis would cause a threefold repetition, so its winning score must
        // be ignored.
        let values = [found("e4 e5 Nf3 Nc6", "Ng1", 900, 30)];
        let again = play("e4 e5 Nf3 Nc6 Ng1 Nb8 Nf3 Nc6");
        let result = search(&again, &values, BookSearch::Value, &limits);
        assert!(result.score < 300 && result.book.is_none(), "{result:?}");
        let first = play("e4 e5 Nf3 Nc6");
        assert_eq!(search(&first, &values, BookSearch::Value, &limits).score, 900);
        // The same position, but with a halfmove clock so high that the analysis is no longer
        // valid.
        let fen = first.position().fen().replace(" 2 3", " 75 50");
        let late = Game::new(Position::from_fen(&fen).expect("a position"));
        assert_eq!(late.position().key(), first.position().key());
        let result = search(&late, &values, BookSearch::Value, &limits);
        assert!(result.score < 300 && result.book.is_none(), "{result:?}");
    }

    #[test]
    fn book_value_is_ignored_if_the_halfmove_clock_is_too_high() {
        let fen = play("e4 e5").position().fen();
        for depth in [40, 70, 100] {
            let value = found("e4 e5 Nf3", "Nc6", -900, depth);
            for clock in (0..98).step_by(7) {
                let fen = fen.replace(" 0 2", &format!(" {clock} 60"));
                let game = Game::new(Position::from_fen(&fen).expect("a position"));
                let holds = clock + 1 + depth < CLOCK_ROOM;
                for limits in [Limits::depth(2), Limits::depth(5)] {
                    let result = search(&game, &[value], BookSearch::Value, &limits);
                    assert_eq!(result.score == 900, holds, "{clock} {depth} {result:?}");
                }
            }
        }
    }

    #[test]
    fn unusable_book_value_still_provides_its_move() {
        let (mv, other) = ("e2e4".parse().ok(), "d2d4".parse().ok());
        let entry = TableEntry { mv: other, score: 12, eval: 3, bound: Bound::Lower, depth: 4 };
        assert_eq!(with_move(Some(entry), mv), Some(entry));
        let without = TableEntry { mv: None, ..entry };
        assert_eq!(with_move(Some(without), mv), Some(TableEntry { mv, ..entry }));
        assert_eq!(with_move(None, None), None);
        let alone = with_move(None, mv).expect("a move");
        assert_eq!((alone.mv, alone.eval), (mv, NO_EVAL));
        // The depth is too low for the entry to cut off a search of any depth, and the score is too
        // low to cause a cutoff in any window.
        assert!(alone.depth < -100 && alone.score < -MATE && alone.bound == Bound::Lower);
    }
}
