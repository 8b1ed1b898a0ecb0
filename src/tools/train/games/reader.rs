//! Reads games, whichever kind of file they are in.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use super::packed::{self, PackedBlock, headline};
use super::{GameError, PlayedGame, plain};

/// Games of a plain file that are handed out as a block.
const GAMES_AT_ONCE: usize = 512;

/// Reads a file of games, one by one or in blocks.
pub(crate) struct GameReader {
    path: PathBuf,
    input: BufReader<File>,
    /// Of the file.
    bytes: u64,
    packed: bool,
    settings: String,
    /// Games handed out so far.
    games: usize,
    /// Bytes up to the end of the last whole game or block.
    whole_bytes: u64,
    /// Games of the block that is handed out one by one.
    waiting: VecDeque<PlayedGame>,
    /// Games that were passed over since their block is damaged, as far as it is known.
    lost: usize,
}

/// Games that stand together; those of a packed file are still to be unpacked.
pub(crate) struct Block {
    /// The number of the first, counted from 1.
    first: usize,
    content: Content,
}

enum Content {
    Games(Vec<PlayedGame>),
    Packed(PackedBlock),
}

impl Block {
    /// The games and the number of the first; `None` if they are nothing that was ever packed.
    pub(crate) fn unpack(&self) -> (usize, Option<Cow<'_, [PlayedGame]>>) {
        let games = match &self.content {
            Content::Games(games) => Some(Cow::Borrowed(games.as_slice())),
            Content::Packed(block) => block.unpack().map(Cow::Owned),
        };
        (self.first, games)
    }
}

impl GameReader {
    /// Opens a file of games.
    ///
    /// # Errors
    /// If it cannot be read or is something else.
    pub(crate) fn open(path: &Path) -> Result<Self, GameError> {
        let io_error = |error| GameError::Io { path: path.to_owned(), error };
        let file = File::open(path).map_err(io_error)?;
        let bytes = file.metadata().map_err(io_error)?.len();
        let mut input = BufReader::new(file);
        let line = headline(&mut input).map_err(io_error)?;
        let reported = |magic| Some(line.strip_prefix(magic)?.strip_suffix('\n')?.to_owned());
        let settings = reported(plain::MAGIC).map(|settings| (false, settings));
        let (packed, settings) = settings
            .or_else(|| reported(packed::MAGIC).map(|settings| (true, settings)))
            .ok_or_else(|| GameError::Foreign(path.to_owned()))?;
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

    /// The next game; `None` at the end of the file, also where a game at the end is torn, as
    /// after a loss of power.
    ///
    /// # Errors
    /// If the file cannot be read, or holds a word that is no move.
    pub(crate) fn read_game(&mut self) -> Result<Option<PlayedGame>, GameError> {
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

    /// The next games, as many as are read at once; `None` at the end of the file.
    ///
    /// # Errors
    /// As [`GameReader::read_game`].
    pub(crate) fn read_block(&mut self) -> Result<Option<Block>, GameError> {
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

    /// What the games read last follow from, in words.
    pub(crate) fn settings(&self) -> &str {
        &self.settings
    }

    /// The number of the game read last, counted from 1.
    pub(crate) fn games(&self) -> usize {
        self.games
    }

    /// Games that were passed over, with a word in the log, since their block is damaged; of blocks
    /// whose beginning is damaged nobody knows how many they had.
    pub(crate) fn lost(&self) -> usize {
        self.lost
    }

    /// Whether the file is packed.
    pub(super) fn is_packed(&self) -> bool {
        self.packed
    }

    /// Bytes up to the end of the last whole game or block.
    pub(crate) fn whole_bytes(&self) -> u64 {
        self.whole_bytes
    }

    /// Of the file, when it was opened.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn damaged(&self, what: &'static str) -> GameError {
        GameError::Damaged { path: self.path.clone(), game: self.games + 1, what }
    }

    fn io_error(&self, error: io::Error) -> GameError {
        GameError::Io { path: self.path.clone(), error }
    }

    fn read_plain(&mut self) -> Result<Option<PlayedGame>, GameError> {
        match plain::decode(&mut self.input) {
            Ok(Some(game)) => {
                self.games += 1;
                self.whole_bytes += plain::size(&game);
                Ok(Some(game))
            }
            Ok(None) => Err(self.damaged("a word is no move")),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(self.io_error(error)),
        }
    }

    /// The next block that is whole.
    fn read_packed(&mut self) -> Result<Option<PackedBlock>, GameError> {
        loop {
            match packed::read_section(&mut self.input).map_err(|error| self.io_error(error))? {
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
                        "{}: {} from byte {} on are damaged and are passed over",
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
