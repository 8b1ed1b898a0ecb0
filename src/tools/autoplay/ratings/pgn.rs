//! Reads the results of games from PGN files.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::RatedGame;
use crate::chess::position::Position;
use crate::games::pgn::{
    GameEnd, GamePly, GameResult, GameStatus, PgnInput, Reader, Tags, Visitor,
};
use crate::support::files::{Cannot, FileError};

/// Game results read from PGN files.
///
/// Two games form a pair if the same players meet in the same round with reversed colours. The
/// round is the part of the `Round` tag before the first dot.
#[derive(Debug, Clone, Default)]
pub struct PgnResults {
    /// The names of the players, in order of first appearance.
    pub names: Vec<String>,
    /// The finished games.
    pub games: Vec<RatedGame>,
    /// The number of games skipped because they have no result or do not name two different
    /// players.
    pub skipped: u64,
    players: HashMap<String, usize>,
    /// The indexes of the games whose partner in a pair has not been read yet, keyed by White,
    /// Black and round.
    open: HashMap<([usize; 2], String), usize>,
}

impl PgnResults {
    /// Adds all games of an input, except games of chess variants.
    ///
    /// # Errors
    /// If the input cannot be read.
    pub fn read(&mut self, input: &PgnInput) -> Result<(), FileError> {
        let name = input.name();
        let mut reader = Reader::new(input.open(&Arc::default()).cannot("read", &name)?);
        let mut header = Header::default();
        while let Some(end) = reader.read_game(&mut header).cannot("read", &name)? {
            let Header { names, round } = std::mem::take(&mut header);
            if matches!(end.status, GameStatus::Text | GameStatus::Variant) {
                continue;
            }
            let half_points = match end.result {
                GameResult::White => Some(2),
                GameResult::Draw => Some(1),
                GameResult::Black => Some(0),
                GameResult::Undecided => None,
            };
            match (half_points, names) {
                (Some(half_points), [Some(white), Some(black)]) if white != black => {
                    self.add([white, black], half_points, round);
                }
                _ => self.skipped += 1,
            }
        }
        // The same round name in another file means a different round, so games are not paired
        // across files.
        self.open.clear();
        Ok(())
    }

    fn add(&mut self, names: [String; 2], half_points: u8, round: Option<String>) {
        let number = self.games.len();
        let players @ [white, black] = names.map(|name| self.player(name));
        let mut pair = None;
        if let Some(round) = round {
            let first = self.open.remove(&([black, white], round.clone()));
            match first {
                Some(first) => {
                    pair = Some(first);
                    self.games[first].pair = pair;
                }
                None => {
                    self.open.insert((players, round), number);
                }
            }
        }
        self.games.push(RatedGame { players, half_points, pair });
    }

    /// Repeatedly removes players with fewer than `min_games` games, together with their games,
    /// until all remaining players have enough games.
    pub fn keep_players_with(&mut self, min_games: u32) {
        loop {
            let mut counts = vec![0; self.names.len()];
            self.games.iter().flat_map(|game| game.players).for_each(|player| counts[player] += 1);
            let before = self.games.len();
            self.games
                .retain(|game| game.players.iter().all(|&player| counts[player] >= min_games));
            if self.games.len() == before {
                self.keep_names(|player| counts[player] >= min_games);
                return;
            }
        }
    }

    /// Removes the players for which `is_kept` returns `false`, and renumbers the others. The
    /// removed players must have no games.
    fn keep_names(&mut self, is_kept: impl Fn(usize) -> bool) {
        let mut numbers = Vec::with_capacity(self.names.len());
        let mut next = 0;
        for player in 0..self.names.len() {
            numbers.push(next);
            next += usize::from(is_kept(player));
        }
        let mut players = 0..;
        self.names.retain(|_| players.next().is_some_and(&is_kept));
        for game in &mut self.games {
            game.players = game.players.map(|player| numbers[player]);
        }
        self.players = self.names.iter().cloned().zip(0..).collect();
    }

    fn player(&mut self, name: String) -> usize {
        let next = self.names.len();
        let player = *self.players.entry(name.clone()).or_insert(next);
        if player == next {
            self.names.push(name);
        }
        player
    }
}

/// Collects the tags of a game. The moves are skipped if the tags contain the result.
#[derive(Default)]
struct Header {
    names: [Option<String>; 2],
    round: Option<String>,
}

impl Visitor for Header {
    fn wants_tag(&self, name: &[u8]) -> bool {
        matches!(name, b"White" | b"Black" | b"Round")
    }

    fn begin(&mut self, tags: &Tags, _start: &Position) -> ControlFlow<()> {
        let known = |name| tags.known(name).map(Cow::into_owned);
        self.names = [known("White"), known("Black")];
        self.round = known("Round").map(|round| round.split('.').next().unwrap_or("").to_owned());
        let result = tags.raw("Result").and_then(GameResult::from_token);
        match result {
            None | Some(GameResult::Undecided) => ControlFlow::Continue(()),
            Some(_) => ControlFlow::Break(()),
        }
    }

    fn played(&mut self, _ply: &GamePly) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn end(&mut self, _end: &GameEnd) {}
}
