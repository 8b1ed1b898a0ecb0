//! Searches the game files for the games of requested players, one player at a time, and keeps a
//! limited number of the games found.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use crossbeam::channel::{Receiver, Sender, bounded};

use super::names::WantedName;
use super::order::Mode;
use crate::chess::position::{Color, Move, Position};
use crate::games::book::{GameId, ListedGame, Player, Speed};
use crate::games::pgn::{GameDate, GameEnd, GamePly, GameResult, PgnInput, Reader, Tags, Visitor};
use crate::web::serve::api_error::ApiError;
use crate::web::serve::games::{id_of, unreadable};
use crate::web::serve::limits::{
    MAX_KEPT_GAMES, MAX_PLAYER_GAMES, MAX_WAITING_PLAYERS, PLAYER_PLIES,
};
use crate::web::serve::loaded_books::GameFile;

#[derive(Debug)]
pub(super) struct PlayerGame {
    pub(super) listed: ListedGame,
    /// The index of the game's file, and the number of the player's games found before this one.
    /// Used as a sort key.
    pub(super) place: (usize, usize),
    /// The player's colour. If the requested name is a part of both players' names, the list
    /// contains both colours.
    pub(super) colors: Vec<Color>,
    pub(super) mode: Mode,
    /// The keys of the positions in which `moves` were played.
    pub(super) keys: Vec<u64>,
    pub(super) moves: Vec<Move>,
}

/// The games of one player that have been found so far.
#[derive(Debug)]
pub(crate) struct PlayerIndex {
    name: WantedName,
    /// The number of players requested before this one.
    number: u64,
    games: Mutex<Vec<PlayerGame>>,
    /// Why a file could not be read, in which case games may be missing.
    fault: OnceLock<String>,
    is_done: AtomicBool,
}

impl PlayerIndex {
    pub(super) fn games(&self) -> MutexGuard<'_, Vec<PlayerGame>> {
        self.games.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.is_done.load(Acquire)
    }

    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
    }
}

#[derive(Debug)]
pub(crate) struct Players {
    /// The players, least recently requested first.
    known: Mutex<Vec<Arc<PlayerIndex>>>,
    line: Sender<Arc<PlayerIndex>>,
    asked: AtomicU64,
    /// The number of players for whom the search of all files is complete.
    served: Arc<AtomicU64>,
    is_closing: Arc<AtomicBool>,
}

impl Drop for Players {
    fn drop(&mut self) {
        self.close();
    }
}

impl Players {
    /// Starts the thread that searches `files` for games. No players are known at first.
    pub(crate) fn new(files: Vec<GameFile>) -> std::io::Result<Self> {
        let (line, waiting) = bounded(MAX_WAITING_PLAYERS);
        let served = Arc::new(AtomicU64::new(0));
        let is_closing = Arc::new(AtomicBool::new(false));
        let counter = Arc::clone(&served);
        let closing = Arc::clone(&is_closing);
        thread::Builder::new()
            .name("players".to_owned())
            .spawn(move || run_searches(&files, &waiting, &counter, &closing))?;
        let (known, asked) = (Mutex::default(), AtomicU64::new(0));
        Ok(Players { known, line, asked, served, is_closing })
    }

    pub(crate) fn close(&self) {
        self.is_closing.store(true, Relaxed);
    }

    /// Returns the games of a player found so far. If the player is new, adds it to the queue of
    /// searches.
    pub(crate) fn get(&self, name: &WantedName) -> Result<Arc<PlayerIndex>, ApiError> {
        let mut known = self.known();
        // Forget players for whom a file could not be read, because the file may be readable now.
        known.retain(|player| !player.is_done() || player.fault().is_none());
        if let Some(at) = known.iter().position(|player| player.name == *name) {
            let player = known.remove(at);
            known.push(Arc::clone(&player));
            return Ok(player);
        }
        let player = Arc::new(PlayerIndex {
            name: name.clone(),
            number: self.asked.load(Relaxed),
            games: Mutex::default(),
            fault: OnceLock::new(),
            is_done: AtomicBool::new(false),
        });
        if self.line.try_send(Arc::clone(&player)).is_err() {
            return Err(ApiError::unavailable(
                "too many players are being looked for: try again soon",
            ));
        }
        self.asked.fetch_add(1, Relaxed);
        known.push(Arc::clone(&player));
        make_room(&mut known);
        Ok(player)
    }

    fn known(&self) -> MutexGuard<'_, Vec<Arc<PlayerIndex>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the index of the file that contains the game `id`, if the game is stored for any
    /// player.
    pub(crate) fn file_of(&self, id: GameId) -> Option<usize> {
        self.known().iter().find_map(|player| {
            player.games().iter().find(|game| game.listed.id == id).map(|game| game.place.0)
        })
    }

    /// Returns the number of players ahead of this one in the queue.
    pub(crate) fn queue_position(&self, player: &PlayerIndex) -> u64 {
        player.number.saturating_sub(self.served.load(Relaxed))
    }
}

/// If too many games are stored, drops players whose search is complete, starting with the least
/// recently requested. Always keeps at least one player.
fn make_room(known: &mut Vec<Arc<PlayerIndex>>) {
    // A player without games counts as one game, because its entry needs memory too.
    let cost = |player: &Arc<PlayerIndex>| player.games().len().max(1);
    let mut kept: usize = known.iter().map(cost).sum();
    while known.len() > 1 && kept > MAX_KEPT_GAMES {
        let Some(oldest) = known.iter().position(|player| player.is_done()) else { return };
        kept = kept.saturating_sub(cost(&known.remove(oldest)));
    }
}

fn run_searches(
    files: &[GameFile],
    waiting: &Receiver<Arc<PlayerIndex>>,
    served: &AtomicU64,
    is_closing: &AtomicBool,
) {
    for player in waiting {
        let mut books = HashMap::new();
        for (number, GameFile { book, input }) in files.iter().enumerate() {
            let is_new = |id: GameId| *books.entry(id).or_insert(*book) == *book;
            if let Err(error) = search_file(&player, number, input, is_new, is_closing) {
                let fault = unreadable(input, &error);
                log::warn!("{fault}");
                // Only the first fault is stored.
                let _ = player.fault.set(fault);
            }
        }
        if is_closing.load(Relaxed) {
            return;
        }
        player.is_done.store(true, Release);
        served.fetch_add(1, Relaxed);
    }
}

/// Adds the player's games in one file. `is_new` returns false for a game that a file of an earlier
/// book contains, because each game counts once.
fn search_file(
    player: &PlayerIndex,
    file: usize,
    input: &PgnInput,
    mut is_new: impl FnMut(GameId) -> bool,
    is_closing: &AtomicBool,
) -> std::io::Result<()> {
    let mut reader = Reader::new(input.reopen()?);
    let mut seeker = PlayerGameFinder { name: &player.name, site: None, found: None, key: 0 };
    while let Some(end) = reader.read_game(&mut seeker)? {
        if let Some(mut game) = seeker.found.take() {
            game.listed.result = end.result;
            game.listed.id = id_of(&reader, seeker.site.take());
            let mut games = player.games();
            if games.len() >= MAX_PLAYER_GAMES {
                return Ok(());
            }
            if is_new(game.listed.id) {
                game.place = (file, games.len());
                games.push(game);
            }
        }
        if is_closing.load(Relaxed) {
            return Ok(());
        }
    }
    Ok(())
}

struct PlayerGameFinder<'p> {
    name: &'p WantedName,
    site: Option<GameId>,
    found: Option<PlayerGame>,
    key: u64,
}

impl Visitor for PlayerGameFinder<'_> {
    fn begin(&mut self, tags: &Tags, start: &Position) -> ControlFlow<()> {
        let tag = |name| tags.get(name).unwrap_or_default();
        let sides = [(Color::White, "White"), (Color::Black, "Black")].into_iter();
        let sides = sides.filter(|&(_, name)| self.name.is(&tag(name)));
        let colors: Vec<Color> = sides.map(|(color, _)| color).collect();
        if colors.is_empty() {
            return ControlFlow::Break(());
        }
        let player = |name, elo| Player {
            name: tag(name).into_owned(),
            rating: tag(elo).trim().parse().ok().filter(|&rating| rating > 0),
        };
        self.key = start.key();
        self.site = tags.raw("Site").and_then(GameId::of_site);
        self.found = Some(PlayerGame {
            listed: ListedGame {
                mv: None,
                id: GameId::default(),
                result: GameResult::Undecided,
                speed: Speed::of_time_control(&tag("TimeControl")),
                white: player("White", "WhiteElo"),
                black: player("Black", "BlackElo"),
                date: GameDate::of(tags),
            },
            place: (0, 0),
            colors,
            mode: Mode::of_event(&tag("Event")),
            keys: Vec::new(),
            moves: Vec::new(),
        });
        ControlFlow::Continue(())
    }

    fn played(&mut self, ply: &GamePly) -> ControlFlow<()> {
        let Some(game) = &mut self.found else { return ControlFlow::Break(()) };
        let key = std::mem::replace(&mut self.key, ply.key);
        if ply.mv.is_null() {
            return ControlFlow::Continue(());
        }
        game.keys.push(key);
        game.moves.push(ply.mv);
        match game.moves.len() < PLAYER_PLIES {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }

    fn end(&mut self, _end: &GameEnd) {}
}

#[cfg(test)]
mod tests {
    use super::super::names::Comparison;
    use super::*;

    #[test]
    fn no_file_exceeds_the_limit_of_games() {
        let index = PlayerIndex {
            name: WantedName::new(Comparison::Complete, "A"),
            number: 0,
            games: Mutex::default(),
            fault: OnceLock::new(),
            is_done: AtomicBool::new(false),
        };
        let game = b"[White \"A\"]\n\n1. e4 *\n\n";
        let first = PgnInput::Text("first".to_owned(), game.repeat(MAX_PLAYER_GAMES).into());
        let second = PgnInput::Text("second".to_owned(), game.as_slice().into());
        for (file, input) in [first, second].iter().enumerate() {
            search_file(&index, file, input, |_| true, &AtomicBool::new(false)).expect("read");
        }
        assert_eq!(index.games().len(), MAX_PLAYER_GAMES);
    }
}
