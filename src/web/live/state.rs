//! The data that the live page shows: the games in progress, the standings and the latest results.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::chess::position::{Color, Game, Move, Position};
use crate::chess::score::Score;
use crate::tools::autoplay::play::{GameEvent, MoveMade};
use crate::tools::autoplay::record::GameRecord;
use crate::tools::autoplay::report::{pairing, table, test};
use crate::tools::autoplay::results::Results;
use crate::tools::autoplay::schedule::Slot;
use crate::tools::autoplay::summary::round_line;
use crate::tools::autoplay::tournament::{Progress, Tournament};

/// The number of finished games whose moves are kept in memory, because boards may still be showing
/// these games.
const KEPT_GAMES: usize = 64;
/// The maximum number of latest results that are kept and sent to a newly opened page.
const KEPT_RESULTS: usize = 200;
/// The maximum number of columns in the crosstable. It is limited because the whole crosstable is
/// sent to every page whenever a game ends.
const MAX_COLUMNS: usize = 16;
/// How long a board continues to show a finished game before switching to another game.
const REST: Duration = Duration::from_secs(2);

/// An event to send to a page: its name and its data.
pub(super) type News = (&'static str, Value);

/// The state of a match. The match updates it, and the server sends its changes to the pages.
#[derive(Debug)]
pub(crate) struct LiveMatch {
    content: Mutex<Content>,
    /// Notifies the pages of changes.
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Content {
    event: String,
    names: Vec<String>,
    has_pgn: bool,
    /// The games in progress and the most recently finished ones, indexed by game number.
    games: BTreeMap<usize, LiveGame>,
    /// The numbers of the finished games that are still in `games`, in the order in which they
    /// ended.
    ended: VecDeque<usize>,
    standings: Value,
    /// The number of changes to `standings`.
    version: u64,
    /// The pairings of the current round, as text.
    round: String,
    /// The log-likelihood ratio of the sequential test at the start and after each pair of games.
    curve: Vec<f64>,
    results: VecDeque<Value>,
    /// The total number of finished games. `results` contains only the latest ones.
    result_count: usize,
    /// The reason why the match ended, or `None` if it is still in progress.
    over: Option<String>,
}

#[derive(Debug)]
struct LiveGame {
    names: [String; 2],
    start: Position,
    position: Position,
    opening_plies: usize,
    moves: Vec<LiveMove>,
    left: [Option<Duration>; 2],
    used: [Duration; 2],
    /// The side to move and the time at which it started to think, or `None` if no clock is
    /// running, because the game has not started or is over.
    thinking: Option<(Color, Instant)>,
    /// The result (such as `1-0`), details of the ending, and the time at which the game ended.
    /// `None` while the game is in progress.
    result: Option<(String, String, Instant)>,
    version: u64,
}

#[derive(Debug)]
struct LiveMove {
    uci: String,
    san: String,
    score: Option<Score>,
    depth: u32,
    seconds: f32,
}

/// Keeps track of what has been sent to one page.
#[derive(Debug)]
pub(super) struct Cursor {
    boards: Vec<Option<Shown>>,
    is_greeted: bool,
    version: u64,
    pairs: usize,
    results: usize,
}

#[derive(Debug, Clone, Copy)]
struct Shown {
    number: usize,
    plies: usize,
    version: u64,
}

impl Cursor {
    /// Creates a cursor for a new page with the given number of boards.
    pub(super) fn new(boards: usize) -> Self {
        Cursor { boards: vec![None; boards], is_greeted: false, version: 0, pairs: 0, results: 0 }
    }
}

impl LiveMatch {
    /// Creates the state of a match that is about to begin or resume.
    pub(crate) fn new(results: &Results, has_pgn: bool) -> Self {
        let mut content = Content {
            event: results.match_record.style.event.clone(),
            has_pgn,
            ..Content::default()
        };
        content.rank(results);
        LiveMatch { content: Mutex::new(content), changed: watch::Sender::new(()) }
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the state with a progress event of the match, and notifies the pages. Never waits
    /// for a slow page.
    pub(crate) fn observe(&self, results: &Results, tournament: &Tournament, progress: &Progress) {
        self.content().take(results, tournament, progress);
        self.changed.send_replace(());
    }

    /// Marks the match as over. Only the reason of the first call is kept.
    pub(crate) fn finish(&self, results: Option<&Results>, reason: &str) {
        let mut content = self.content();
        if let Some(results) = results {
            content.rank(results);
        }
        content.over.get_or_insert_with(|| reason.to_owned());
        drop(content);
        self.changed.send_replace(());
    }

    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Returns the events that have not been sent to the page of `cursor` yet, and whether the
    /// match is over. Advances the cursor.
    pub(super) fn news(&self, cursor: &mut Cursor) -> (Vec<News>, bool) {
        let content = self.content();
        let mut news = Vec::new();
        if !cursor.is_greeted {
            cursor.is_greeted = true;
            news.push(("match", json!({ "event": content.event, "pgn": content.has_pgn })));
        }
        if cursor.version < content.version {
            cursor.version = content.version;
            news.push(("standings", content.standings.clone()));
        }
        if cursor.pairs < content.curve.len() {
            news.push((
                "curve",
                json!({ "from": cursor.pairs, "llr": content.curve[cursor.pairs..] }),
            ));
            cursor.pairs = content.curve.len();
        }
        let missing = content.result_count - cursor.results;
        if missing > 0 {
            let first = content.results.len().saturating_sub(missing);
            news.push(("results", content.results.iter().skip(first).cloned().collect()));
            cursor.results = content.result_count;
        }
        news.extend(content.boards(&mut cursor.boards));
        news.extend(content.over.as_ref().map(|reason| ("over", json!({ "reason": reason }))));
        (news, content.over.is_some())
    }
}

impl Content {
    fn take(&mut self, results: &Results, tournament: &Tournament, progress: &Progress) {
        match progress {
            Progress::Paired(round) => {
                self.round = round_line(&results.names, round);
                self.rank(results);
            }
            Progress::Named(..) => self.rank(results),
            Progress::Started(slot) => self.start(slot, tournament),
            Progress::InGame { slot, event } => {
                if let Some(game) = self.games.get_mut(&slot.number) {
                    game.take(event);
                }
            }
            Progress::Finished { record, .. } => {
                self.end(record);
                self.rank(results);
            }
            Progress::Starting { .. } | Progress::StartupRetry { .. } | Progress::Failed(_) => {}
        }
    }

    fn start(&mut self, slot: &Slot, tournament: &Tournament) {
        let opening = &tournament.openings[slot.opening % tournament.openings.len()];
        let names = slot.colors.map(|engine| self.names[engine].clone());
        self.games.insert(slot.number, LiveGame::new(names, &opening.game()));
    }

    fn end(&mut self, record: &GameRecord) {
        let GameRecord { number, names, verdict, .. } = record;
        let result = verdict.result().to_string();
        self.results.push_back(json!({
            "number": number,
            "names": names,
            "result": result,
            "end": verdict.termination.name(),
            "detail": verdict.detail,
        }));
        self.result_count += 1;
        if self.results.len() > KEPT_RESULTS {
            self.results.pop_front();
        }
        if let Some(game) = self.games.get_mut(number) {
            game.thinking = None;
            game.result = Some((result, verdict.detail.clone(), Instant::now()));
            game.version += 1;
            self.ended.push_back(*number);
        }
        if self.ended.len() > KEPT_GAMES
            && let Some(oldest) = self.ended.pop_front()
        {
            self.games.remove(&oldest);
        }
    }

    /// Updates the standings and other data that depends on the results.
    fn rank(&mut self, results: &Results) {
        let Results { names, match_record, .. } = results;
        self.names.clone_from(names);
        let standings = &match_record.standings;
        let own = standings.tallies.iter().next().filter(|_| names.len() == 2);
        let tested = results.tested().zip(results.sprt.as_ref());
        let pairs = |pairs: &[u32; 5]| pairs.iter().sum::<u32>();
        if let Some((tally, sprt)) = tested {
            let count = pairs(&tally.pairs);
            let known = self.standings["test"]["pairs"].as_u64();
            if known != Some(u64::from(count)) {
                self.curve.push(sprt.llr(&tally.pairs));
            }
        }
        self.standings = json!({
            "scheduled": match_record.scheduled,
            "finished": match_record.finished,
            "round": self.round,
            "table": table(names, standings, MAX_COLUMNS),
            "pairing": own.map(|(&engines, tally)| pairing(names, engines, tally, None)),
            "test": tested.map(|(tally, sprt)| {
                let mut value = test(sprt);
                value["pairs"] = json!(pairs(&tally.pairs));
                value
            }),
        });
        self.version += 1;
    }

    /// Assigns a new game to each board that can show one, and returns the board events to send.
    fn boards(&self, boards: &mut [Option<Shown>]) -> Vec<News> {
        for at in 0..boards.len() {
            let is_settled = boards[at].is_some_and(|shown| self.is_shown(&shown));
            let is_free =
                |number: usize| boards.iter().flatten().all(|other| other.number != number);
            let open = |(number, game): (&usize, &LiveGame)| {
                (game.result.is_none() && is_free(*number)).then_some(*number)
            };
            if let (false, Some(number)) = (is_settled, self.games.iter().find_map(open)) {
                boards[at] = Some(Shown { number, plies: 0, version: 0 });
            }
        }
        let change = |(at, shown): (usize, &mut Option<Shown>)| {
            let shown = shown.as_mut()?;
            let game = self.games.get(&shown.number).filter(|game| game.version > shown.version)?;
            let mut value = game.json(shown.plies);
            value["at"] = json!(at);
            value["number"] = json!(shown.number);
            (shown.plies, shown.version) = (game.moves.len(), game.version);
            Some(("board", value))
        };
        boards.iter_mut().enumerate().filter_map(change).collect()
    }

    /// Returns true if a board should keep showing its current game, because it is in progress or
    /// its result is either unsent or recent.
    fn is_shown(&self, shown: &Shown) -> bool {
        self.games.get(&shown.number).is_some_and(|game| match &game.result {
            Some((_, _, at)) => game.version > shown.version || at.elapsed() < REST,
            None => true,
        })
    }
}

impl LiveGame {
    fn new(names: [String; 2], opening: &Game) -> Self {
        let mut game = LiveGame {
            names,
            start: *opening.start(),
            position: *opening.start(),
            opening_plies: opening.moves().len(),
            moves: Vec::new(),
            left: [None; 2],
            used: [Duration::ZERO; 2],
            thinking: None,
            result: None,
            version: 1,
        };
        for &mv in opening.moves() {
            game.play(mv, None, 0, Duration::ZERO);
        }
        game
    }

    fn play(&mut self, mv: Move, score: Option<Score>, depth: u32, time: Duration) {
        let san = self.position.san(mv);
        let seconds = time.as_secs_f32();
        self.moves.push(LiveMove { uci: mv.to_string(), san, score, depth, seconds });
        self.position = self.position.play(mv);
    }

    fn take(&mut self, event: &GameEvent) {
        match event {
            GameEvent::Prepared(_) => return,
            GameEvent::ClocksStarted => {}
            GameEvent::Moved(MoveMade { color, mv, used, left, score, depth, .. }) => {
                let side = color.to_index();
                let time = used[side].saturating_sub(self.used[side]);
                (self.used, self.left) = (*used, *left);
                self.play(*mv, *score, *depth, time);
            }
        }
        self.thinking = Some((self.position.side_to_move(), Instant::now()));
        self.version += 1;
    }

    /// Returns the state of the game as JSON, with only the moves from index `from` on.
    fn json(&self, from: usize) -> Value {
        let moves = self.moves.iter().skip(from).map(|played| {
            let LiveMove { uci, san, score, depth, seconds } = played;
            json!({ "uci": uci, "san": san, "score": score, "depth": depth, "seconds": seconds })
        });
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        json!({
            "names": self.names,
            "fen": self.start.fen(),
            "opening": self.opening_plies,
            "from": from,
            "moves": moves.collect::<Vec<Value>>(),
            "left": self.left.map(|left| left.map(millis)),
            "used": self.used.map(millis),
            "thinking": self.thinking.map(|(_, since)| millis(since.elapsed())),
            "result": self.result.as_ref().map(|(result, ..)| result),
            "detail": self.result.as_ref().map(|(_, detail, _)| detail),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(moves: &[&str]) -> LiveGame {
        let mut opening = Game::default();
        opening.play("e2e4".parse().expect("a move")).expect("legal");
        let mut game = LiveGame::new(["a".to_owned(), "b".to_owned()], &opening);
        game.take(&GameEvent::ClocksStarted);
        for (number, mv) in (1..).zip(moves) {
            let color = game.position.side_to_move();
            let used = [Duration::from_secs(number); 2];
            game.take(&GameEvent::Moved(MoveMade {
                number: 1,
                color,
                mv: mv.parse().expect("a move"),
                used,
                left: [Some(Duration::from_secs(60)), None],
                score: Some(25),
                depth: 9,
            }));
        }
        game
    }

    fn content(numbers: std::ops::Range<usize>) -> Content {
        let games = numbers.map(|number| (number, game(&["e7e5", "g1f3"])));
        Content { games: games.collect(), ..Content::default() }
    }

    fn numbers(news: &[News]) -> Vec<(u64, u64, usize)> {
        let row = |(_, value): &News| {
            let number = |name: &str| value[name].as_u64().expect("a number");
            (number("at"), number("number"), value["moves"].as_array().expect("moves").len())
        };
        news.iter().map(row).collect()
    }

    #[test]
    fn game_has_moves_scores_and_times() {
        let value = game(&["e7e5", "g1f3"]).json(1);
        assert_eq!(value["moves"][0]["san"], "e5");
        assert_eq!(
            value["moves"][1],
            json!({"uci": "g1f3", "san": "Nf3", "score": 25, "depth": 9, "seconds": 1.0})
        );
        assert_eq!((&value["from"], &value["opening"]), (&json!(1), &json!(1)));
        assert_eq!(value["left"], json!([60_000, null]));
        assert!(value["thinking"].is_u64() && value["result"].is_null());
        assert_eq!(game(&[]).json(0)["moves"][0]["san"], "e4");
    }

    #[test]
    fn boards_get_each_move_once_and_then_another_game() {
        let mut content = content(5..9);
        let mut boards = vec![None; 2];
        assert_eq!(numbers(&content.boards(&mut boards)), [(0, 5, 3), (1, 6, 3)]);
        assert!(content.boards(&mut boards).is_empty());
        let continued = game(&["e7e5", "g1f3", "b8c6"]);
        content.games.insert(6, continued);
        assert_eq!(numbers(&content.boards(&mut boards)), [(1, 6, 1)]);
        let long_ago = Instant::now().checked_sub(2 * REST).expect("the machine runs for longer");
        let ended = content.games.get_mut(&6).expect("a game");
        ended.result = Some(("1-0".to_owned(), String::new(), long_ago));
        ended.version += 1;
        // The board sends the final state of its game before it switches to the next game.
        assert_eq!(numbers(&content.boards(&mut boards)), [(1, 6, 0)]);
        assert_eq!(numbers(&content.boards(&mut boards)), [(1, 7, 3)]);
        content.games.remove(&5);
        assert_eq!(numbers(&content.boards(&mut boards)), [(0, 8, 3)]);
        content.games.clear();
        assert!(content.boards(&mut boards).is_empty());
    }
}
