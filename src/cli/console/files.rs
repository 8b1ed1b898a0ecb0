//! Games and positions in files.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Write};
use std::path::PathBuf;

use crate::pgn::{self, GameResult, PgnGame, PgnMove, Writer};
use crate::position::{Color, Game};

/// The game as PGN; `engine` is the side that the engine plays.
pub(super) fn record(game: &Game, engine: Option<Color>, result: GameResult) -> PgnGame {
    let mut record = PgnGame::new(*game.start());
    let name = |color| if engine == Some(color) { "Tabia" } else { "?" };
    record.set_tag("White", name(Color::White));
    record.set_tag("Black", name(Color::Black));
    record.moves = game.moves().iter().map(|&mv| PgnMove::from(mv)).collect();
    record.result = match game.outcome() {
        Some(outcome) => GameResult::won_by(outcome.winner),
        None => result,
    };
    record
}

/// Appends a game to a PGN file.
pub(super) fn append(name: &str, record: &PgnGame) -> io::Result<()> {
    let file = OpenOptions::new().create(true).append(true).open(name)?;
    let mut writer = Writer::new(file);
    writer.write(record)?;
    writer.into_inner().flush()
}

/// The first game of a PGN file with its result.
pub(super) fn load(name: &str) -> io::Result<(Game, GameResult)> {
    let mut games = pgn::read_games(BufReader::new(File::open(name)?));
    let (record, _) = games.next().unwrap_or_else(|| Err(io::Error::other("no game in it")))?;
    let mut game = Game::new(record.start);
    for mv in &record.moves {
        game.play(mv.mv).map_err(io::Error::other)?;
    }
    Ok((game, record.result))
}

/// Where games are kept when the user leaves: the data folder of the XDG base directories.
pub(super) fn keep_file() -> Option<PathBuf> {
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/share"));
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).or_else(home)?;
    let folder = data.join("tabia");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("games.pgn"))
}
