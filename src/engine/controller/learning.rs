//! Stores learned results (of earlier searches and games) and uses them when a position occurs
//! again.

use std::time::Duration;

use crossbeam::channel::Sender;

use crate::chess::position::{Game, Move};
use crate::engine::search::{Limits, TimeLimit, usual_time};
use crate::games::book::{Book, BookValue, Learned, Row, Scored, UnrefutedMove};

use super::learn_writer::LearnWriter;
use super::worker::BackgroundEvent;
use crate::support::threads::refused;

/// Maximum halfmove clock at which learned results are used. Above it, a draw by the fifty-move
/// rule is near, which the searches that produced these results did not take into account.
pub(super) const MAX_QUIET_PLIES: u16 = 80;
/// A learned move is played without a new search if the search that found it used at least this
/// percentage of the time or nodes that a new search would use. Chosen by hand: halving the time
/// costs less than one ply of depth.
const ENOUGH: u32 = 50;

#[derive(Default)]
pub(super) struct Learning {
    writer: Option<LearnWriter>,
    learned: Option<Learned>,
    asked: u64,
    is_reading: bool,
    unwritten: usize,
    /// Set when the engine moves and cleared when the result of the game is learned, so that each
    /// result is learned only once.
    pub(super) has_played: bool,
    /// The last move sent, and the key of the position before it. Set only if the GUI does not
    /// report the end of the game.
    pub(super) given: Option<(u64, Move)>,
}

impl Learning {
    pub(super) fn is_reading(&self) -> bool {
        self.is_reading
    }

    pub(super) fn is_on(&self) -> bool {
        self.writer.is_some()
    }

    pub(super) fn switch_file(&mut self, path: &str, event_sender: &Sender<BackgroundEvent>) {
        *self = Learning { asked: self.asked, ..Learning::default() };
        if path.is_empty() {
            return;
        }
        match LearnWriter::start(path, event_sender.clone()) {
            Ok(writer) => self.writer = Some(writer),
            Err(error) => {
                let why = format!("cannot use the learning file: {}", refused(&error));
                let _ = event_sender.send(BackgroundEvent::Fault(why));
            }
        }
        self.read();
    }

    /// Requests that the learning file be read again, because other engines may have written to it.
    pub(super) fn read(&mut self) {
        if let Some(writer) = &self.writer {
            self.asked += 1;
            self.is_reading = true;
            writer.read(self.asked);
        }
    }

    pub(super) fn board_was_set(&mut self) {
        self.has_played = false;
        self.given = None;
    }

    pub(super) fn moved(&mut self) {
        self.has_played = true;
    }

    /// Stores the results of read request `number` and returns true. If a later read has been
    /// requested, ignores them and returns false.
    pub(super) fn take(&mut self, number: u64, learned: Option<Learned>) -> bool {
        if number != self.asked {
            return false;
        }
        self.is_reading = false;
        self.learned = learned;
        true
    }

    pub(super) fn keep(&mut self, rows: Vec<Row>, ends_game: bool) {
        if let Some(writer) = self.writer.as_ref().filter(|_| !rows.is_empty()) {
            self.unwritten += 1;
            writer.keep(rows, ends_game);
        }
    }

    pub(super) fn kept(&mut self) {
        self.unwritten = self.unwritten.saturating_sub(1);
    }

    pub(super) fn is_written(&self) -> bool {
        self.unwritten == 0
    }

    pub(super) fn book(&self) -> Option<&Book> {
        self.learned.as_ref().map(Learned::book)
    }

    pub(super) fn behind(&self, book: &Book) -> Book {
        match self.book() {
            Some(learned) => book.clone().followed_by(learned),
            None => book.clone(),
        }
    }

    /// Returns the legal moves that the learned results do not refute, and the best refuted move
    /// with its score. Returns `None` if all moves should be searched.
    pub(super) fn refuted(&self, game: &Game, limits: &Limits) -> Option<(Vec<Move>, Scored)> {
        let is_plain = limits.root_moves.is_empty() && limits.mate.is_none();
        let learned = self.learned.as_ref().filter(|_| is_plain && !limits.is_analysis())?;
        let refuted = learned.refuted(game.position());
        let best = refuted.iter().copied().max_by_key(|&(_, score)| score)?;
        let is_open = |mv: &Move| refuted.iter().all(|(known, _)| known != mv);
        let open: Vec<Move> = game.position().legal_moves().iter().filter(is_open).collect();
        (limits.multi_pv == 1 && !open.is_empty()).then_some((open, best))
    }

    pub(super) fn answer(&self, game: &Game, limits: &Limits) -> Option<UnrefutedMove> {
        let unrefuted = self.learned.as_ref()?.unrefuted(game.position())?;
        let move_number = game.position().fullmove_number();
        let is_enough = is_enough(&unrefuted.value, unrefuted.time, limits, move_number);
        (is_enough && is_new(game, unrefuted.mv)).then_some(unrefuted)
    }
}

/// Returns true if `mv` neither repeats a position of this game nor brings it close to a fifty-move
/// draw. Learned results come from other games, so they do not account for such draws.
pub(super) fn is_new(game: &Game, mv: Move) -> bool {
    let after = game.position().play(mv);
    let repeats = game.positions().iter().any(|before| before.key() == after.key());
    !repeats && after.halfmove_clock() <= MAX_QUIET_PLIES
}

/// Whether `value`, which a search found in `time`, makes a new search within `limits` unnecessary.
/// It does if the old search was at least as deep as the new one would be, or if it used at least
/// [`ENOUGH`] percent of the new search's time or nodes.
pub(super) fn is_enough(
    value: &BookValue,
    time: Duration,
    limits: &Limits,
    move_number: u16,
) -> bool {
    let nodes = limits.nodes.into_iter().chain(limits.soft_nodes).min();
    let expected = match limits.time {
        TimeLimit::Infinite => None,
        TimeLimit::MoveTime(time) => Some(time),
        TimeLimit::Clock { remaining, increment, moves_to_go } => {
            Some(usual_time(remaining, increment, moves_to_go, move_number))
        }
    };
    limits.depth.is_some_and(|depth| value.own_depth >= depth)
        || nodes.is_some_and(|nodes| value.nodes >= nodes / 100 * u64::from(ENOUGH))
        || expected.is_some_and(|expected| time >= expected / 100 * ENOUGH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Position;

    #[test]
    fn short_search_is_not_reused_when_there_is_more_time() {
        let position = Position::start();
        let mv = position.legal_moves().iter().next().expect("a move");
        let value = BookValue {
            key: position.key(),
            score: 0,
            best: Some(mv),
            outside: None,
            own: Some((mv, 0)),
            depth: 12,
            own_depth: 12,
            nodes: 100_000,
        };
        let seconds = Duration::from_secs;
        let clock = |remaining, moves_to_go| {
            let (remaining, increment) = (seconds(remaining), seconds(1));
            let time = TimeLimit::Clock { remaining, increment, moves_to_go };
            Limits { time, ..Limits::default() }
        };
        let depth = |depth| Limits { depth: Some(depth), ..Limits::default() };
        for (limits, enough) in [
            (Limits::default(), false),
            (depth(12), true),
            (depth(13), false),
            (Limits::nodes(200_000), true),
            (Limits::nodes(200_100), false),
            (Limits::nodes(u64::MAX), false),
            (Limits::move_time(Duration::MAX), false),
            (Limits::move_time(seconds(4)), true),
            (Limits::move_time(seconds(5)), false),
            (Limits { depth: Some(20), ..Limits::move_time(seconds(4)) }, true),
            (clock(60, None), true),
            (clock(180, None), false),
            (clock(12, Some(4)), true),
            (clock(20, Some(4)), false),
        ] {
            assert_eq!(is_enough(&value, seconds(2), &limits, 1), enough, "{limits:?}");
        }
        // At a later move number a move gets a larger share of the clock, so the same learned
        // result is not enough.
        assert!(is_enough(&value, seconds(2), &clock(90, None), 1));
        assert!(!is_enough(&value, seconds(2), &clock(90, None), 60));
    }
}
