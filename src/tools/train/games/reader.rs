//! Reads self-play game files in both formats.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use super::packed::{self, PackedBlock, headline};
use super::{PlayedGame, READ, foreign, game_fault, plain};
use crate::support::files::{Cannot, FileError};

/// The number of games per block when reading a plain file, which itself is not divided into
/// blocks.
const GAMES_AT_ONCE: usize = 512;

pub(crate) struct GameReader {
    path: PathBuf,
    input: BufReader<File>,
    bytes: u64,
    packed: bool,
    settings: String,
    games: usize,
    whole_bytes: u64,
    /// The games of the current block that `read_game` has not returned yet.
    waiting: VecDeque<PlayedGame>,
    /// The number of games lost in damaged blocks. Blocks with a damaged header are not included,
    /// because their number of games is unknown.
    lost: usize,
}

/// Consecutive games from a file. Games from a packed file have not been unpacked yet.
pub(crate) struct Block {
    /// The 1-based number of the first game, counted from the beginning of the file.
    first: usize,
    content: Content,
}

enum Content {
    Games(Vec<PlayedGame>),
    Packed(PackedBlock),
}

impl Block {
    /// Returns the number of the block's first game, along with the games. The games are `None` if
    /// the block cannot be decompressed.
    pub(crate) fn unpack(&self) -> (usize, Option<Cow<'_, [PlayedGame]>>) {
        let games = match &self.content {
            Content::Games(games) => Some(Cow::Borrowed(games.as_slice())),
            Content::Packed(block) => block.unpack().map(Cow::Owned),
        };
        (self.first, games)
    }
}

impl GameReader {
    pub(crate) fn open(path: &Path) -> Result<Self, FileError> {
        let file = File::open(path).cannot(READ, path)?;
        let bytes = file.metadata().cannot(READ, path)?.len();
        let mut input = BufReader::new(file);
        let line = headline(&mut input).cannot(READ, path)?;
        let reported = |magic| Some(line.strip_prefix(magic)?.strip_suffix('\n')?.to_owned());
        let settings = reported(plain::MAGIC).map(|settings| (false, settings));
        let (packed, settings) = settings
            .or_else(|| reported(packed::MAGIC).map(|settings| (true, settings)))
            .ok_or_else(|| foreign(path))?;
        Ok(GameReader {
            path: path.to_owned(),
            input,
            bytes,
            packed,
            settings,
            games: 0,
            whole_bytes: line.len() as u64,
            waiting: VecDeque::new(),
            lost: 0,
        })
    }

    /// Returns the next game, or `None` at the end of the file or if the last game is incomplete.
    pub(crate) fn read_game(&mut self) -> Result<Option<PlayedGame>, FileError> {
        if !self.packed {
            return self.read_plain();
        }
        while self.waiting.is_empty() {
            let Some(block) = self.read_packed()? else { return Ok(None) };
            let games = block.unpack().ok_or_else(|| self.damaged("its block is damaged"))?;
            self.waiting = games.into();
        }
        self.games += 1;
        Ok(self.waiting.pop_front())
    }

    pub(crate) fn read_block(&mut self) -> Result<Option<Block>, FileError> {
        let first = self.games + 1;
        if self.packed {
            let Some(block) = self.read_packed()? else { return Ok(None) };
            self.games += block.games();
            return Ok(Some(Block { first, content: Content::Packed(block) }));
        }
        let mut games = Vec::new();
        while games.len() < GAMES_AT_ONCE
            && let Some(game) = self.read_plain()?
        {
            games.push(game);
        }
        Ok((!games.is_empty()).then_some(Block { first, content: Content::Games(games) }))
    }

    pub(crate) fn settings(&self) -> &str {
        &self.settings
    }

    /// Returns the number of the most recently read game, counted from 1. It is 0 before the first
    /// game is read.
    pub(crate) fn games(&self) -> usize {
        self.games
    }

    /// Returns the number of games that were skipped because their block is damaged. Blocks with a
    /// damaged header are not included, because their number of games is unknown. Each damaged
    /// block is logged.
    pub(crate) fn lost(&self) -> usize {
        self.lost
    }

    /// Returns the offset in bytes at which the last complete game or section that was read ends.
    pub(crate) fn whole_bytes(&self) -> u64 {
        self.whole_bytes
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn damaged(&self, what: &'static str) -> FileError {
        game_fault(&self.path, self.games + 1, what)
    }

    fn read_plain(&mut self) -> Result<Option<PlayedGame>, FileError> {
        match plain::decode(&mut self.input) {
            Ok(Some(game)) => {
                self.games += 1;
                self.whole_bytes += plain::size(&game);
                Ok(Some(game))
            }
            Ok(None) => Err(self.damaged("a word is not a move")),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(FileError::io(READ, &self.path, &error)),
        }
    }

    fn read_packed(&mut self) -> Result<Option<PackedBlock>, FileError> {
        loop {
            match packed::read_section(&mut self.input).cannot(READ, &self.path)? {
                packed::Section::Headline(settings, bytes) => {
                    self.settings = settings;
                    self.whole_bytes += bytes;
                }
                packed::Section::Block(block) => {
                    self.whole_bytes += block.bytes();
                    return Ok(Some(block));
                }
                packed::Section::Damaged { games, bytes } => {
                    log::warn!(
                        "{}: {} from byte {} on are damaged and were skipped",
                        self.path.display(),
                        games.map_or("games".to_owned(), |games| format!("{games} games")),
                        self.whole_bytes
                    );
                    self.lost += games.unwrap_or(0);
                    self.whole_bytes += bytes;
                }
                packed::Section::End => return Ok(None),
            }
        }
    }
}
