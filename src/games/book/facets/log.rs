//! Logs the games of a book as they are read, and then sorts them into the games section.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io;

use super::game_tags::GameTags;
use super::games::{FileRecord, GameId, GameRow, Games, HEAD_BYTES, ROW_BYTES, TRAITS_BYTES};
use crate::games::pgn::{GameResult, Tags};

#[derive(Debug, Clone, Copy)]
struct LoggedGame {
    game_tags: GameTags,
    row: GameRow,
}

impl LoggedGame {
    fn to_bytes(self) -> [u8; TRAITS_BYTES + ROW_BYTES] {
        let mut bytes = [0; TRAITS_BYTES + ROW_BYTES];
        bytes[..TRAITS_BYTES].copy_from_slice(&self.game_tags.to_bytes());
        bytes[TRAITS_BYTES..].copy_from_slice(&self.row.to_bytes());
        bytes
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let (game_tags, rest) = bytes.split_first_chunk()?;
        let (row, rest) = rest.split_first_chunk()?;
        *bytes = rest;
        Some(LoggedGame {
            game_tags: GameTags::from_bytes(*game_tags),
            row: GameRow::from_bytes(row),
        })
    }
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*number))
}

/// The games read by one thread or contained in one book, numbered from 0 in the order in which
/// they are logged.
#[derive(Default)]
pub(in crate::games::book) struct GameLog {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    games: Vec<LoggedGame>,
    /// For each game, the hash used to detect duplicates. Empty unless duplicates are skipped.
    courses: Vec<u64>,
    /// Games that are not counted because this thread or another one has already counted a
    /// duplicate, each with the hash that the two games share.
    again: Vec<(u64, LoggedGame)>,
    pending: Option<(LoggedGame, Ending)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Open,
    /// The game is counted. Its hash is stored only if duplicates are skipped.
    Counted(Option<u64>),
    /// The game is not counted, because a game with this hash has already been counted.
    Again(u64),
}

/// Memory per game, in bytes: an entry in the log and an entry in the games section that is created
/// from the log.
const BYTES_PER_GAME: usize = 2 * size_of::<LoggedGame>();
/// Approximate memory per player name, in bytes. Each name is stored twice.
const BYTES_PER_NAME: usize = 120;

impl GameLog {
    #[inline]
    pub(in crate::games::book) fn wants_tag(name: &[u8]) -> bool {
        matches!(name, b"White" | b"Black" | b"Site") || GameTags::uses(name)
    }

    pub(in crate::games::book) fn begin(&mut self, tags: &Tags) {
        let [white, black] = ["White", "Black"].map(|name| {
            let name = tags.get(name).unwrap_or_default();
            self.name(name.trim())
        });
        let id = tags.raw("Site").and_then(GameId::of_site);
        let row = GameRow::of_players(white, black, id);
        self.pending = Some((LoggedGame { game_tags: GameTags::of(tags), row }, Ending::Open));
    }

    /// Marks the current game, whose hash is `course`, as counted. Returns its number in this log.
    pub(in crate::games::book) fn count(&mut self, result: GameResult, course: Option<u64>) -> u32 {
        self.end(result, Ending::Counted(course));
        self.games.len() as u32
    }

    /// Marks the current game as a duplicate of a counted game with the same hash `course`. The
    /// book keeps the copy that comes first in the files, regardless of which copy was read first.
    pub(in crate::games::book) fn again(&mut self, result: GameResult, course: u64) {
        self.end(result, Ending::Again(course));
    }

    fn end(&mut self, result: GameResult, ending: Ending) {
        if let Some((game, open)) = &mut self.pending {
            game.game_tags = game.game_tags.with_result(result);
            *open = ending;
        }
    }

    pub(in crate::games::book) fn locate(&mut self, file: u32, offset: u64, text: &[u8]) {
        let Some((mut game, ending)) = self.pending.take() else { return };
        if ending != Ending::Open {
            game.row.locate(file, offset, text);
        }
        match ending {
            Ending::Open => {}
            Ending::Counted(course) => {
                self.games.push(game);
                self.courses.extend(course);
            }
            Ending::Again(course) => self.again.push((course, game)),
        }
    }

    pub(in crate::games::book) fn games(&self) -> usize {
        self.games.len()
    }

    /// Returns the approximate size in bytes of the log and the section created from it.
    pub(in crate::games::book) fn memory(&self) -> usize {
        let games = self.games.len() + self.again.len();
        games * BYTES_PER_GAME + self.names.len() * BYTES_PER_NAME
    }

    fn name(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        number
    }

    pub(in crate::games::book) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let number = |number: usize| (number as u64).to_le_bytes();
        let counts = [self.names.len(), self.games.len(), self.courses.len(), self.again.len()];
        counts.iter().for_each(|&count| bytes.extend(number(count)));
        for name in &self.names {
            bytes.extend(number(name.len()));
            bytes.extend_from_slice(name.as_bytes());
        }
        self.games.iter().for_each(|game| bytes.extend(game.to_bytes()));
        self.courses.iter().for_each(|course| bytes.extend(course.to_le_bytes()));
        for (course, game) in &self.again {
            bytes.extend(course.to_le_bytes());
            bytes.extend(game.to_bytes());
        }
        bytes
    }

    /// Restores a valid result of [`GameLog::to_bytes`].
    pub(in crate::games::book) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let mut log = GameLog::default();
        let [names, games, courses, again] = [(); 4].map(|()| take_number(&mut bytes));
        for _ in 0..names? {
            let length = usize::try_from(take_number(&mut bytes)?).ok()?;
            let name = bytes.split_off(..length)?;
            log.name(std::str::from_utf8(name).ok()?);
        }
        for _ in 0..games? {
            log.games.push(LoggedGame::take(&mut bytes)?);
        }
        for _ in 0..courses? {
            log.courses.push(take_number(&mut bytes)?);
        }
        for _ in 0..again? {
            log.again.push((take_number(&mut bytes)?, LoggedGame::take(&mut bytes)?));
        }
        let is_named = |game: &LoggedGame| {
            let GameRow { white, black, .. } = game.row;
            (white.max(black) as usize) < log.names.len()
        };
        let all = log.games.iter().chain(log.again.iter().map(|(_, game)| game));
        (bytes.is_empty() && all.into_iter().all(is_named)).then_some(log)
    }

    /// Creates a log of all games in the games section of a book, in the same order. `first_file`
    /// is added to all file indices.
    pub(in crate::games::book) fn of_games(games: &Games<'_>, first_file: u32) -> Self {
        let mut log = GameLog::default();
        let numbers: Vec<u32> =
            (0..games.names()).map(|number| log.name(games.name(number))).collect();
        let name = |number: u32| numbers.get(number as usize).copied().unwrap_or(0);
        for (game_tags, row) in
            (0..games.len()).filter_map(|n| games.game_tags(n).zip(games.row(n)))
        {
            let (white, black) = (name(row.white), name(row.black));
            let row = GameRow { white, black, file: row.file.saturating_add(first_file), ..row };
            log.games.push(LoggedGame { game_tags, row });
        }
        log
    }
}

pub(in crate::games::book) struct GamesTable {
    pub bytes: Vec<u8>,
    /// For each log, the numbers of its games in the book. The number is `u32::MAX` for a game that
    /// is not in the book.
    pub numbers: Vec<Vec<u32>>,
    pub games: u32,
}

const LEFT_OUT: u32 = u32::MAX;

impl GamesTable {
    /// Merges the games of several logs into one sorted table, keeping only those for which `stays`
    /// returns true. A game and its duplicates must be counted only once in all logs together.
    /// Fails if there are more games or names than the format supports.
    pub(in crate::games::book) fn new(
        logs: Vec<GameLog>,
        files: &[FileRecord],
        stays: impl Fn(usize, u32) -> bool,
    ) -> io::Result<Self> {
        let all: usize = logs.iter().map(|log| log.games.len()).sum();
        if all >= LEFT_OUT as usize {
            return Err(io::Error::other("a book with facets contains at most four billion games"));
        }
        let (file_numbers, files) = sorted_files(files);
        let (name_numbers, names) = sorted_names(&logs);
        let renumber = |log: usize, game: &mut LoggedGame| {
            let row = &mut game.row;
            row.file = file_numbers.get(row.file as usize).copied().unwrap_or(0);
            row.white = name_numbers[log][row.white as usize];
            row.black = name_numbers[log][row.black as usize];
        };
        let lengths: Vec<usize> = logs.iter().map(|log| log.games.len()).collect();
        let (mut games, mut courses, mut again) = (Vec::with_capacity(all), Vec::new(), Vec::new());
        for (index, log) in logs.into_iter().enumerate() {
            for (number, mut game) in log.games.into_iter().enumerate() {
                renumber(index, &mut game);
                games.push((game, index as u32, number as u32));
            }
            courses.extend(log.courses);
            again.extend(log.again.into_iter().map(|(course, mut game)| {
                renumber(index, &mut game);
                (course, game)
            }));
        }
        choose_first(&mut games, &courses, again);
        games.retain(|&(_, log, number)| stays(log as usize, number));
        games.sort_unstable_by_key(|(game, ..)| (Reverse(game.game_tags), place(game)));
        let mut numbers: Vec<Vec<u32>> =
            lengths.into_iter().map(|length| vec![LEFT_OUT; length]).collect();
        for (number, &(_, log, local)) in games.iter().enumerate() {
            numbers[log as usize][local as usize] = number as u32;
        }
        let bytes = section(&games, &names, &files)?;
        Ok(GamesTable { bytes, numbers, games: games.len() as u32 })
    }
}

fn place(game: &LoggedGame) -> (u32, u64) {
    (game.row.file, game.row.offset)
}

type Numbered = (LoggedGame, u32, u32);

/// Replaces each counted game with its first duplicate in the order of the files, if that duplicate
/// comes before the counted copy.
fn choose_first(games: &mut [Numbered], courses: &[u64], again: Vec<(u64, LoggedGame)>) {
    let mut firsts: HashMap<u64, LoggedGame> = HashMap::new();
    for (course, game) in again {
        let first = firsts.entry(course).or_insert(game);
        if place(&game) < place(first) {
            *first = game;
        }
    }
    if firsts.is_empty() {
        return;
    }
    for ((game, ..), course) in games.iter_mut().zip(courses) {
        match firsts.get(course) {
            Some(first) if place(first) < place(game) => *game = *first,
            _ => {}
        }
    }
}

/// Returns the new index of each element of `files`, and a sorted list of the files without
/// duplicates.
fn sorted_files(files: &[FileRecord]) -> (Vec<u32>, Vec<FileRecord>) {
    let mut sorted = files.to_vec();
    sorted.sort();
    sorted.dedup();
    let number = |file| sorted.binary_search(file).unwrap_or(0) as u32;
    (files.iter().map(number).collect(), sorted)
}

fn sorted_names(logs: &[GameLog]) -> (Vec<Vec<u32>>, Vec<String>) {
    let mut sorted: Vec<&String> = logs.iter().flat_map(|log| &log.names).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let number = |name: &String| sorted.binary_search(&name).unwrap_or(0) as u32;
    let numbers = logs.iter().map(|log| log.names.iter().map(number).collect()).collect();
    (numbers, sorted.into_iter().cloned().collect())
}

fn section(games: &[Numbered], names: &[String], files: &[FileRecord]) -> io::Result<Vec<u8>> {
    let files = serde_json::to_vec(files).map_err(io::Error::other)?;
    let too_long = |_| io::Error::other("the names of the players take more than 4 GB");
    let mut bytes = Vec::with_capacity(HEAD_BYTES + games.len() * 40);
    bytes.extend_from_slice(&(games.len() as u64).to_le_bytes());
    for length in [names.len(), files.len()] {
        bytes.extend_from_slice(&u32::try_from(length).map_err(too_long)?.to_le_bytes());
    }
    games.iter().for_each(|(game, ..)| bytes.extend_from_slice(&game.game_tags.to_bytes()));
    games.iter().for_each(|(game, ..)| bytes.extend_from_slice(&game.row.to_bytes()));
    let mut end = 0;
    for name in names {
        end += name.len();
        bytes.extend_from_slice(&u32::try_from(end).map_err(too_long)?.to_le_bytes());
    }
    names.iter().for_each(|name| bytes.extend_from_slice(name.as_bytes()));
    bytes.extend_from_slice(&files);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_round_trips_and_games_of_unknown_players_are_rejected() {
        let mut log = GameLog::default();
        for (white, black) in [("A", "B"), ("B", "C")] {
            let (white, black) = (log.name(white), log.name(black));
            let row = GameRow::of_players(white, black, None);
            let game_tags = GameTags::from_bytes([0; TRAITS_BYTES]);
            log.games.push(LoggedGame { game_tags, row });
        }
        let bytes = log.to_bytes();
        assert_eq!(GameLog::from_bytes(&bytes).map(|log| log.to_bytes()), Some(bytes));
        log.games[1].row.black = 3;
        assert!(GameLog::from_bytes(&log.to_bytes()).is_none());
    }
}
