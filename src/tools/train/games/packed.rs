//! The packed format of games: independent blocks with less than two bytes per position.
//!
//! A file is a sequence of parts, so files can be joined with `cat`. A part is a line of text with
//! the settings of its games, followed by blocks. All numbers are little-endian:
//!
//! ```text
//! part    "tabia games 2; " settings "\n", then its blocks
//! block   "GBLK", games u32, positions u32, bytes u32, CRC-32 of the bytes u32,
//!         CRC-32 of the preceding 20 bytes u32, then the bytes: see [`super::model`]
//! ```
//!
//! Several threads can unpack the blocks of a file. A damaged block loses only its own games,
//! because the next block is found by searching for the block marker.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::{LONGEST_HEADLINE, PlayedGame, READ, WRITE, foreign, game_fault, model};
use crate::support::files::open_locked;
use crate::support::files::{Cannot, FileError};
use crate::tools::train::in_parallel;

/// The text at the start of every part of a packed file. The number is the format version.
pub(super) const MAGIC: &str = "tabia games 2; ";
const MARK: [u8; 4] = *b"GBLK";
const HEAD_BYTES: usize = 24;
/// A block is full once it has this many positions. Larger blocks would hardly compress better.
/// Playing this many positions takes about ten seconds.
const FULL_BLOCK: usize = 1 << 16;
/// The number of searched nodes at which a block is full, even if it has fewer than `FULL_BLOCK`
/// positions. This limits how much work is lost if the block is damaged.
const NODES_A_BLOCK: u64 = 1 << 25;
/// The minimum number of positions in a full block, regardless of the nodes searched. Smaller
/// blocks would compress poorly.
const SMALL_BLOCK: usize = 1 << 10;
/// Headers with more games than this are rejected as damaged. Blocks written by Tabia have far
/// fewer.
const MAX_GAMES: u32 = 1 << 18;
/// Headers with more positions than this are rejected as damaged. Blocks written by Tabia have far
/// fewer.
const MAX_POSITIONS: u32 = 1 << 18;
const MAX_BYTES: u32 = 1 << 22;

/// Returns the number of positions at which a block is full if `nodes` nodes are searched per
/// position.
pub(crate) fn block_positions(nodes: u64) -> usize {
    ((NODES_A_BLOCK / nodes.max(1)) as usize).clamp(SMALL_BLOCK, FULL_BLOCK)
}

pub(crate) struct PackedBlock {
    games: u32,
    positions: u32,
    data: Vec<u8>,
}

impl PackedBlock {
    fn pack(games: &[PlayedGame]) -> Option<Self> {
        let positions: usize = games.iter().map(|game| game.moves.len()).sum();
        let data = model::pack(games)?;
        Some(PackedBlock { games: games.len() as u32, positions: positions as u32, data })
    }

    pub(super) fn unpack(&self) -> Option<Vec<PlayedGame>> {
        model::unpack(&self.data, self.games as usize, self.positions as usize)
    }

    pub(super) fn games(&self) -> usize {
        self.games as usize
    }

    pub(super) fn bytes(&self) -> u64 {
        (HEAD_BYTES + self.data.len()) as u64
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut bytes = MARK.to_vec();
        let checksum = crc32fast::hash(&self.data);
        for number in [self.games, self.positions, self.data.len() as u32, checksum] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes.extend(&self.data);
        out.write_all(&bytes)
    }
}

pub(super) enum Section {
    /// The settings from the first line of a part, and the length of that line in bytes.
    Headline(String, u64),
    /// A complete, undamaged block.
    Block(PackedBlock),
    /// Damaged bytes, up to the next section. `games` is the number of games lost in them, if
    /// known.
    Damaged { games: Option<usize>, bytes: u64 },
    /// The end of the file.
    End,
}

/// Reads the headline of a part: its first line, including the newline. Returns an empty string if
/// the line is not valid UTF-8. If the line is too long, returns only its beginning.
pub(super) fn headline(input: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    input.take(LONGEST_HEADLINE).read_until(b'\n', &mut line)?;
    Ok(String::from_utf8(line).unwrap_or_default())
}

/// Reads the next section. If it is damaged, skips to the next marker, where another section
/// probably starts.
pub(super) fn read_section<R: Read + Seek>(input: &mut BufReader<R>) -> io::Result<Section> {
    let here = input.stream_position()?;
    if input.fill_buf()?.is_empty() {
        return Ok(Section::End);
    }
    let mut head = Vec::new();
    input.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    if head.starts_with(&MAGIC.as_bytes()[..4]) {
        input.seek(SeekFrom::Start(here))?;
        let line = headline(input)?;
        if let Some(settings) = line.strip_prefix(MAGIC).and_then(|line| line.strip_suffix('\n')) {
            return Ok(Section::Headline(settings.to_owned(), line.len() as u64));
        }
    }
    let Some([games, positions, bytes, checksum]) = numbers(&head) else {
        return damaged(input, here, here + 1, None);
    };
    let mut data = Vec::new();
    input.take(bytes.into()).read_to_end(&mut data)?;
    if data.len() < bytes as usize || crc32fast::hash(&data) != checksum {
        return damaged(input, here, here + HEAD_BYTES as u64, Some(games as usize));
    }
    Ok(Section::Block(PackedBlock { games, positions, data }))
}

/// Returns the numbers of games, positions and bytes in a block header, and the checksum of the
/// block's data. Returns `None` if the header is invalid.
fn numbers(head: &[u8]) -> Option<[u32; 4]> {
    let (numbers, checksum) = head.strip_prefix(&MARK)?.split_last_chunk::<4>()?;
    let numbers: &[[u8; 4]; 4] = numbers.as_chunks().0.try_into().ok()?;
    let [games, positions, bytes, data] = numbers.map(u32::from_le_bytes);
    let whole = crc32fast::hash(&head[..HEAD_BYTES - 4]) == u32::from_le_bytes(*checksum);
    let possible = games <= MAX_GAMES && positions <= MAX_POSITIONS && bytes <= MAX_BYTES;
    (whole && possible).then_some([games, positions, bytes, data])
}

fn damaged<R: Read + Seek>(
    input: &mut BufReader<R>,
    here: u64,
    from: u64,
    games: Option<usize>,
) -> io::Result<Section> {
    input.seek(SeekFrom::Start(from))?;
    let mut last = [0; 4];
    let mut at = from;
    let next = loop {
        let mut byte = [0];
        if input.read(&mut byte)? == 0 {
            break at;
        }
        at += 1;
        last = [last[1], last[2], last[3], byte[0]];
        if last == MARK || last == MAGIC.as_bytes()[..4] {
            break at - 4;
        }
    };
    // Seek back, because the loop has already read the marker of the next section (unless it
    // reached the end of the file).
    input.seek(SeekFrom::Start(next))?;
    Ok(Section::Damaged { games, bytes: next - here })
}

/// Packs games into blocks on several threads, and writes the blocks in order.
pub(crate) struct Packer<W> {
    out: W,
    threads: usize,
    settings: Option<String>,
    games: Vec<PlayedGame>,
    positions: usize,
    full: Vec<Vec<PlayedGame>>,
    bytes: u64,
}

impl<W: Write> Packer<W> {
    pub(crate) fn new(out: W, threads: usize) -> Self {
        let (games, full) = (Vec::new(), Vec::new());
        Packer { out, threads, settings: None, games, positions: 0, full, bytes: 0 }
    }

    /// Adds a game played with `settings`, starting a new part if the previous game had other
    /// settings. The game must be legal.
    pub(crate) fn add(&mut self, settings: &str, game: PlayedGame) -> io::Result<()> {
        if self.settings.as_deref() != Some(settings) {
            self.flush()?;
            let line = begin_part(settings);
            self.out.write_all(line.as_bytes())?;
            self.bytes += line.len() as u64;
            self.settings = Some(settings.to_owned());
        }
        self.positions += game.moves.len();
        self.games.push(game);
        if self.positions >= FULL_BLOCK {
            self.close_block();
            if self.full.len() >= self.threads {
                self.write_full()?;
            }
        }
        Ok(())
    }

    /// Writes the games not yet written. Returns the output and the total number of bytes written.
    pub(crate) fn finish(mut self) -> io::Result<(W, u64)> {
        self.flush()?;
        Ok((self.out, self.bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.close_block();
        self.write_full()
    }

    fn close_block(&mut self) {
        if !self.games.is_empty() {
            self.full.push(std::mem::take(&mut self.games));
            self.positions = 0;
        }
    }

    fn write_full(&mut self) -> io::Result<()> {
        let full = std::mem::take(&mut self.full);
        let packed = in_parallel(&full, self.threads, |blocks| {
            blocks.iter().map(|games| pack_and_look(games)).collect::<Vec<_>>()
        });
        for block in packed.into_iter().flatten() {
            let block = block.ok_or_else(|| {
                io::Error::other("the block does not decompress to the games written to it")
            })?;
            block.write(&mut self.out)?;
            self.bytes += block.bytes();
        }
        Ok(())
    }
}

fn begin_part(settings: &str) -> String {
    format!("{MAGIC}{settings}\n")
}

fn pack_and_look(games: &[PlayedGame]) -> Option<PackedBlock> {
    let block = PackedBlock::pack(games)?;
    (block.unpack()? == games).then_some(block)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackedPart {
    pub settings: String,
    /// The number of games in the part's complete blocks.
    pub games: usize,
}

/// A packed file that is open for appending. It is locked, so only one program can have it open at
/// a time.
pub(crate) struct PackedFile {
    path: PathBuf,
    file: File,
}

impl PackedFile {
    /// Opens or creates a packed file, and returns it with a list of its parts. A damaged or
    /// incomplete block at the end of the file is removed. Fails if the file is damaged elsewhere.
    pub(crate) fn open(path: &Path) -> Result<(Self, Vec<PackedPart>), FileError> {
        let file = open_locked(path, true).cannot(READ, path)?;
        let mut input = BufReader::new(&file);
        let mut parts: Vec<PackedPart> = Vec::new();
        let (mut whole, mut torn) = (0, false);
        loop {
            let section = read_section(&mut input).cannot(READ, path)?;
            match (section, parts.last_mut()) {
                (Section::End, _) => break,
                (Section::Damaged { .. }, Some(_)) if !torn => torn = true,
                (Section::Headline(settings, bytes), _) if !torn => {
                    parts.push(PackedPart { settings, games: 0 });
                    whole += bytes;
                }
                (Section::Block(block), Some(part)) if !torn => {
                    part.games += block.games();
                    whole += block.bytes();
                }
                (_, None) => return Err(foreign(path)),
                (_, Some(part)) => {
                    let game = part.games + 1;
                    let what = "its block is damaged, and others follow";
                    return Err(game_fault(path, game, what));
                }
            }
        }
        file.set_len(whole).cannot(WRITE, path)?;
        Ok((PackedFile { path: path.to_owned(), file }, parts))
    }

    pub(crate) fn begin(&mut self, settings: &str) -> Result<(), FileError> {
        self.file.write_all(begin_part(settings).as_bytes()).cannot(WRITE, &self.path)
    }

    /// Appends a block that contains `games`, which must be legal.
    pub(crate) fn append(&mut self, games: &[PlayedGame]) -> Result<(), FileError> {
        let block = pack_and_look(games).ok_or_else(|| {
            let reason = "a block does not decompress to the games written to it";
            FileError::new(WRITE, &self.path, reason)
        })?;
        block.write(&mut self.file).cannot(WRITE, &self.path)
    }
}
