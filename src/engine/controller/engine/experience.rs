//! Stores results of the engine's searches and games in the learning file.

use std::time::Duration;

use crate::chess::position::{Game, Move, Position};
use crate::chess::score::{Depth, is_mate};
use crate::engine::search::{
    BookSearch, Bound, Limits, Report, SearchEvent, SearchResult, Transposition,
};
use crate::games::book::{Found, Learned, Row, Scored};
use crate::games::pgn::GameResult;

use super::super::learning::MAX_QUIET_PLIES;
use super::Engine;

/// Minimum search depth at which a result is learned, unless the search finds a mate. Chosen by
/// hand as roughly the depth reached in a tenth of a second.
const MIN_DEPTH: Depth = 8;
/// Search time after which the first interim result is learned. Another one is learned each time
/// the search time has doubled. Chosen by hand.
const FIRST_INTERIM: Duration = Duration::from_secs(5);

impl Engine {
    pub(super) fn start_learning(&mut self) {
        self.learning.switch_file(&self.settings.learn, &self.worker.event_sender());
    }

    /// Reads the learning file again at the start of a game, because other engines may have added
    /// results.
    pub(super) fn read_what_was_learnt(&mut self) {
        self.learning.read();
    }

    pub(super) fn set_learned(&mut self, number: u64, learned: Option<Learned>) {
        if self.learning.take(number, learned) {
            self.put_books_together();
        }
    }

    /// Sets the book that the search uses: the user's book combined with the learned results.
    pub(super) fn put_books_together(&mut self) {
        let book = self.learning.behind(self.book_loader.book());
        self.change_one(|settings| settings.search.book = Some(book));
    }

    /// Returns the position for which the search result may be learned. Returns `None` if it must
    /// not be learned, for example because the search is restricted to some moves.
    pub(super) fn subject(&self, game: &Game, limits: &Limits) -> Option<Position> {
        let is_whole = limits.root_moves.is_empty() && limits.mate.is_none();
        let is_free = self.rating().is_none()
            && game.repetitions() == 1
            && game.position().halfmove_clock() <= MAX_QUIET_PLIES;
        (self.learning.is_on() && is_whole && is_free).then(|| *game.position())
    }

    /// Restricts the search to moves that earlier searches did not refute, unless no such moves
    /// remain. Returns the best excluded move with its score.
    pub(super) fn leave_out_refuted(&self, game: &Game, limits: &mut Limits) -> Option<Scored> {
        let is_free = self.rating().is_none();
        let (open, best) = self.learning.refuted(game, limits).filter(|_| is_free)?;
        limits.root_moves = open;
        Some(best)
    }

    /// Learns the result of a search and returns it. If the best move excluded from the search has
    /// a higher known score, returns that move and score instead.
    pub(super) fn learn_result(&mut self, result: SearchResult) -> SearchResult {
        let Some(job) = &mut self.job else { return result };
        let (subject, refuted) = (job.learnable_position(result.score), job.refuted.take());
        job.subject = None;
        let is_own = self.is_own_finding(result.book.as_ref());
        if let (Some(position), Some(best), true) = (subject, result.best, is_own) {
            let SearchResult { score, depth, nodes, elapsed: time, .. } = result;
            self.learn_found(&position, best, Found { score, depth, nodes, time });
        }
        match refuted.filter(|&(_, known)| known > result.score) {
            Some((mv, score)) => SearchResult { best: Some(mv), ponder: None, score, ..result },
            None => result,
        }
    }

    /// Returns true if the result comes from the search itself rather than from a book.
    fn is_own_finding(&self, met: Option<&Transposition>) -> bool {
        let mode = self.settings.search.book_search;
        met.is_none_or(|met| !met.line.is_empty() && mode != BookSearch::First)
    }

    /// Learns an interim result of a long search, in case the search is interrupted.
    pub(super) fn learn_interim(&mut self, event: &SearchEvent) {
        let SearchEvent::Iteration(report) = event else { return };
        let Some(job) = &self.job else { return };
        let due = FIRST_INTERIM.max(job.learnt_at * 2);
        let is_whole = report.multi_pv == 1 && report.bound == Bound::Exact;
        if is_whole && report.elapsed >= due {
            self.learn_report(report);
        }
    }

    pub(super) fn learn_called_off(&mut self) {
        let Some(job) = self.job.as_ref().filter(|job| !job.is_pondering()) else { return };
        let background_event =
            job.completed.clone().filter(|report| report.elapsed > job.learnt_at);
        if let Some(report) = background_event {
            self.learn_report(&report);
        }
    }

    fn learn_report(&mut self, report: &Report) {
        let is_own = self.is_own_finding(report.book.as_ref());
        let Some(job) = self.job.as_mut().filter(|_| is_own) else { return };
        let subject = job.learnable_position(report.score);
        let (Some(position), Some(&best)) = (subject, report.pv.first()) else { return };
        job.learnt_at = report.elapsed;
        let &Report { score, depth, nodes, elapsed: time, .. } = report;
        self.learn_found(&position, best, Found { score, depth, nodes, time });
    }

    fn learn_found(&mut self, position: &Position, best: Move, found: Found) {
        let is_worth_it = found.depth >= MIN_DEPTH || is_mate(found.score);
        if is_worth_it && position.is_legal(best) {
            self.learning.keep(vec![Row::found(position, best, found)], false);
        }
    }

    /// Learns the result of a game, provided that the engine has made a move in that game.
    pub(super) fn learn_game(&mut self, result: GameResult) {
        if std::mem::take(&mut self.learning.has_played) && !self.desired.broken {
            self.learning.keep(Row::of_game(&self.game, result), true);
        }
    }

    /// Records a move sent to a GUI that does not report the end of the game. If `mv` ends the
    /// game, learns the result, provided that the previously recorded move was played in this game
    /// two plies earlier.
    pub(super) fn learn_given(&mut self, mv: Move) {
        let mut game = self.game.clone();
        let before = game
            .moves()
            .len()
            .checked_sub(2)
            .and_then(|ply| Some((game.positions()[ply].key(), *game.moves().get(ply)?)));
        let goes_on = before.is_some() && before == self.learning.given;
        self.learning.given = Some((game.position().key(), mv));
        if goes_on
            && game.play(mv).is_ok()
            && let Some(outcome) = game.outcome()
        {
            let rows = Row::of_game(&game, GameResult::won_by(outcome.winner));
            self.learning.keep(rows, true);
        }
    }
}

/// If an analysis is still running when the engine is dropped, learns its last result.
impl Drop for Engine {
    fn drop(&mut self) {
        self.learn_called_off();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::super::super::tests::TestEngine;
    use super::super::super::{Event, Mode};
    use super::*;
    use crate::chess::score::Score;
    use crate::games::book::{Book, Counts};

    fn learning_file() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("learnt");
        (dir, path)
    }

    fn learning_engine(path: &Path) -> TestEngine {
        let mut test_engine = TestEngine::new(|settings| {
            settings.ponder = false;
            settings.learn = path.display().to_string();
        });
        test_engine.engine.set_move_time(Duration::from_secs(1));
        test_engine
    }

    impl TestEngine {
        fn play_and_search(&mut self, user: &str, best: &str, score: Score) {
            self.play(user);
            self.finish_search(best, score);
        }

        fn finish_search(&mut self, best: &str, score: Score) -> Limits {
            let limits = self.started().limits;
            let result = SearchResult {
                best: best.parse().ok(),
                score,
                depth: 12,
                nodes: 50_000,
                elapsed: Duration::from_secs(1),
                ..SearchResult::default()
            };
            self.results.send(result).expect("a search");
            while self.engine.mode() == Mode::Thinking {
                self.handle_next_event();
            }
            limits
        }

        fn next_game(&mut self) {
            self.engine.new_game();
            self.settle();
            self.moves();
        }

        fn answer(&mut self, user: &str) -> Option<String> {
            self.play(user);
            self.moves().pop()
        }
    }

    fn lose_a_game(test_engine: &mut TestEngine) {
        test_engine.play_and_search("e2e4", "e7e5", 20);
        test_engine.play_and_search("g1f3", "f7f6", 10);
        test_engine.play_and_search("f3e5", "f6e5", -250);
        test_engine.engine.end_game(GameResult::White);
        test_engine.next_game();
    }

    #[test]
    fn losing_move_is_not_repeated_but_earlier_moves_are() {
        let (_dir, path) = learning_file();
        let mut test_engine = learning_engine(&path);
        lose_a_game(&mut test_engine);
        assert_eq!(test_engine.answer("e2e4").as_deref(), Some("e7e5"), "without a search");
        assert_eq!(test_engine.answer("g1f3"), None);
        assert_eq!(test_engine.engine.mode(), Mode::Thinking);
        let searched = test_engine.finish_search("b8c6", 5).root_moves;
        assert_eq!(
            searched.len(),
            test_engine.engine.game().positions()[3].legal_moves().iter().count() - 1
        );
        assert!(!searched.contains(&"f7f6".parse().expect("a move")));
        test_engine.play_and_search("f1b5", "a7a6", 8);
        test_engine.engine.end_game(GameResult::Draw);
        drop(test_engine);
        let mut other = learning_engine(&path);
        for (user, answer) in [("e2e4", "e7e5"), ("g1f3", "b8c6"), ("f1b5", "a7a6")] {
            assert_eq!(other.answer(user).as_deref(), Some(answer));
        }
        let book = other.engine.book();
        assert!(book.name().ends_with("learnt"), "{}", book.name());
        let own = Book::open(&path).expect("a book");
        assert_eq!(own.reached(&Position::start()), Some(Counts::new(1, 1, 0)));
    }

    #[test]
    fn losing_move_is_played_if_all_others_are_worse() {
        let (_dir, path) = learning_file();
        let mut test_engine = learning_engine(&path);
        lose_a_game(&mut test_engine);
        test_engine.play("e2e4");
        test_engine.play("g1f3");
        test_engine.moves();
        test_engine.finish_search("b8c6", -400);
        assert_eq!(test_engine.moves(), ["f7f6"]);
        test_engine.engine.undo(1);
        test_engine.engine.analyse();
        assert_eq!(test_engine.started().limits.root_moves, []);
    }

    #[test]
    fn learning_of_another_engine_is_used_from_the_next_game() {
        let (_dir, path) = learning_file();
        let (mut one, mut other) = (learning_engine(&path), learning_engine(&path));
        lose_a_game(&mut one);
        other.next_game();
        assert_eq!(other.answer("e2e4").as_deref(), Some("e7e5"));
        // If more time is available now, the result of a short earlier search is not good enough to
        // be played.
        other.engine.set_move_time(Duration::from_secs(60));
        other.next_game();
        assert_eq!(other.answer("e2e4"), None);
        other.started();
        other.engine.set_move_time(Duration::from_secs(1));
        other.engine.set_option("LearnFile", "").expect("an option");
        other.next_game();
        assert_eq!(other.answer("e2e4"), None);
        other.started();
    }

    #[test]
    fn restricted_searches_are_not_learned() {
        let (_dir, path) = learning_file();
        let mut test_engine = learning_engine(&path);
        test_engine.engine.set_option("UCI_LimitStrength", "true").expect("an option");
        test_engine.play_and_search("e2e4", "e7e5", 20);
        test_engine.engine.set_option("UCI_LimitStrength", "false").expect("an option");
        let e5: Move = "e7e5".parse().expect("a move");
        let limits = Limits { root_moves: vec![e5], ..Limits::nodes(9) };
        test_engine.engine.force();
        test_engine.engine.undo(1);
        test_engine.engine.search(limits);
        test_engine.finish_search("e7e5", 20);
        drop(test_engine);
        assert!(Learned::read(&path).expect("a file").is_none());
    }

    #[test]
    fn game_ending_in_checkmate_is_learned_without_a_result() {
        let (_dir, path) = learning_file();
        let mut test_engine = learning_engine(&path);
        test_engine.engine.force();
        let mut game = Game::default();
        for (user, own) in [("f2f3", "e7e5"), ("g2g4", "d8h4")] {
            game.play(user.parse().expect(user)).expect(user);
            test_engine.engine.set_game(game.clone());
            test_engine.engine.search(Limits::move_time(Duration::from_secs(9)));
            test_engine.finish_search(own, 50);
            game.play(own.parse().expect(own)).expect(own);
        }
        drop(test_engine);
        let book = Book::open(&path).expect("a book");
        assert_eq!(book.reached(&Position::start()), Some(Counts::new(0, 0, 1)));
        assert_eq!(
            book.value(game.position()).map(|value| value.score),
            Some(-crate::chess::score::MATE)
        );
    }

    #[test]
    fn game_is_learned_once_and_only_if_the_engine_played() {
        let (_dir, path) = learning_file();
        let mut test_engine = learning_engine(&path);
        test_engine.engine.force();
        test_engine.play("e2e4");
        test_engine.engine.end_game(GameResult::White);
        test_engine.next_game();
        test_engine.play_and_search("f2f3", "e7e5", 20);
        test_engine.play_and_search("g2g4", "d8h4", crate::chess::score::mate_in(1));
        // xboard reports the result again.
        test_engine.engine.end_game(GameResult::Black);
        drop(test_engine);
        let book = Book::open(&path).expect("a book");
        assert_eq!(book.reached(&Position::start()), Some(Counts::new(0, 0, 1)));
    }

    #[test]
    fn failing_learning_file_is_reported_once_and_play_continues() {
        let (_dir, path) = learning_file();
        let mut test_engine = learning_engine(&path);
        fs::write(&path, "a letter").expect("written");
        test_engine.play_and_search("e2e4", "e7e5", 20);
        test_engine.play_and_search("g1f3", "b8c6", 20);
        test_engine.engine.ping(1);
        let mut events = Vec::new();
        while !events.iter().any(|event| matches!(event, Event::Pong(1))) {
            events.extend(test_engine.engine.take_events());
            if !test_engine.engine.is_done() {
                test_engine.handle_next_event();
            }
        }
        let faults = events.iter().filter(|event| matches!(event, Event::Fault(_)));
        assert_eq!(faults.count(), 1, "{events:?}");
        assert_eq!(fs::read_to_string(&path).expect("there"), "a letter");
        // Rows that could not be written are written once the file is writable again.
        fs::remove_file(&path).expect("there");
        test_engine.play_and_search("f1b5", "a7a6", 20);
        drop(test_engine);
        assert_eq!(Book::open(&path).expect("a book").values().len(), 6);
        let mut test_engine = TestEngine::new(|_| {});
        let reported = test_engine.engine.set_option("LearnFile", "/no/such/folder/file");
        assert!(reported.is_err_and(|error| error.to_string().contains("does not exist")));
        assert_eq!(test_engine.engine.settings().learn, "");
    }
}
