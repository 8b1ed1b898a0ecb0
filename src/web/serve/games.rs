//! Reads individual games from the game files of the served books. Game ids are computed as in
//! books with facets.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::api_error::ApiError;
use super::loaded_books::Content;
use crate::chess::notation::NamedMove;
use crate::chess::position::Position;
use crate::games::book::{GameError, GameId};
use crate::games::pgn::{
    GameEnd, GamePly, GameStatus, PgnGame, PgnInput, Reader, Tags, Visitor, read_games,
};
use crate::support::files::describe;

/// Reads the game with the given id. If a book with facets contains the game, it stores the game's
/// location. Otherwise the game files are searched, starting with the file at index `likely`.
pub(crate) fn find(
    content: &Content,
    likely: Option<usize>,
    text: &str,
) -> Result<PgnGame, ApiError> {
    let not_found = || ApiError::not_found(format!("there is no game {text:?}"));
    let id: GameId = text.parse().map_err(|_| not_found())?;
    if let Some(found) = find_in_book(content, id) {
        return found;
    }
    // A book with facets stores the locations of all games that it lists. Only a game found by a
    // player search can be missing from it, and that game is in the file `likely`.
    let others = if content.book.has_facets() { 0 } else { content.games.len() };
    let others = (0..others).filter(|&file| Some(file) != likely);
    let mut fault = None;
    for file in likely.into_iter().chain(others).filter_map(|file| content.games.get(file)) {
        match read(&file.input, id) {
            Ok(Some(game)) => return Ok(game),
            Ok(None) => {}
            Err(error) => fault = fault.or(Some(unreadable(&file.input, &error))),
        }
    }
    Err(fault.map_or_else(not_found, ApiError::gone))
}

/// Describes why the games in a file cannot be shown, without disclosing the file's folder.
pub(crate) fn unreadable(input: &PgnInput, error: &io::Error) -> String {
    format!("cannot read the games of {}: {}", input.short_name(), describe(error))
}

/// Returns the id of the game that `reader` read last: the id from its `Site` tag or, failing that,
/// a hash of its text.
pub(crate) fn id_of<R: Read>(reader: &Reader<R>, of_site: Option<GameId>) -> GameId {
    of_site.unwrap_or_else(|| GameId::of_text(reader.game_text().trim_ascii()))
}

/// Returns the folders of the game files.
pub(crate) fn game_folders(content: &Content) -> Vec<PathBuf> {
    let folders = content.games.iter().filter_map(|file| match &file.input {
        PgnInput::File(path) => path.parent().map(Path::to_owned),
        _ => None,
    });
    let mut folders: Vec<PathBuf> = folders.collect();
    folders.dedup();
    folders
}

/// Looks up a game by its location in a book. Returns `None` if no book stores the location.
fn find_in_book(content: &Content, id: GameId) -> Option<Result<PgnGame, ApiError>> {
    match content.book.game_from(id, &game_folders(content)) {
        Err(GameError::Unknown { .. }) => None,
        Err(error) => Some(Err(ApiError::gone(error.to_string()))),
        Ok(pgn) => match read_games(pgn.as_bytes()).next()? {
            Ok((game, _)) => Some(Ok(game)),
            Err(error) => Some(Err(ApiError::gone(describe(&error)))),
        },
    }
}

fn read(input: &PgnInput, id: GameId) -> io::Result<Option<PgnGame>> {
    let mut reader = Reader::new(input.reopen()?);
    let mut seeker = SiteReader::default();
    while let Some(end) = reader.read_game(&mut seeker)? {
        if end.status != GameStatus::Text && id_of(&reader, seeker.0.take()) == id {
            return read_games(reader.game_text()).next().map(|game| Ok(game?.0)).transpose();
        }
    }
    Ok(None)
}

/// Reads the id in the `Site` tag of each game and skips the moves.
#[derive(Default)]
struct SiteReader(Option<GameId>);

impl Visitor for SiteReader {
    fn begin(&mut self, tags: &Tags, _start: &Position) -> ControlFlow<()> {
        self.0 = tags.raw("Site").and_then(GameId::of_site);
        ControlFlow::Break(())
    }

    fn played(&mut self, _ply: &GamePly) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn end(&mut self, _end: &GameEnd) {}
}

#[derive(Debug, Serialize)]
pub(crate) struct GameAnswer {
    tags: Vec<(String, String)>,
    fen: String,
    moves: Vec<NamedMove>,
    result: &'static str,
    /// The comment before the first move.
    comment: String,
    tree: Vec<TreeMove>,
    /// Why moves are missing from the game or its variations, or `None` if it is complete.
    fault: Option<String>,
}

/// A move of the main line or of a variation, stored in a flat list.
#[derive(Debug, Serialize)]
struct TreeMove {
    /// The index of the previous move in the list, or `None` for moves from the start position.
    parent: Option<usize>,
    #[serde(flatten)]
    mv: NamedMove,
    nags: Vec<u8>,
    /// The comment before this move, if it is the first move of a variation; otherwise empty.
    before: String,
    comment: String,
}

impl GameAnswer {
    /// Converts a game for the response. If the game has an error, only the moves before it are
    /// included.
    pub(crate) fn new(game: &PgnGame, status: &GameStatus) -> Self {
        let moves: Vec<_> = game.moves.iter().map(|played| played.mv).collect();
        GameAnswer {
            tags: game.tags.clone(),
            fen: game.start.fen(),
            moves: NamedMove::line(&game.start, &moves),
            result: game.result.token(),
            comment: game.comment.clone(),
            tree: tree(game),
            fault: match status {
                GameStatus::Broken(fault) => Some(fault.to_string()),
                _ => game.unread().next().map(|unread| unread.fault.to_string()),
            },
        }
    }
}

/// Returns the moves of the main line and of all variations. Each move precedes the variations that
/// replace it.
fn tree(game: &PgnGame) -> Vec<TreeMove> {
    let mut rows = Vec::new();
    let mut lines = VecDeque::from([(None, game.start, "", game.moves.as_slice())]);
    while let Some((mut parent, mut position, mut before, moves)) = lines.pop_front() {
        for played in moves {
            let Some(after) = position.try_play(played.mv) else { break };
            lines.extend(
                played
                    .variations
                    .iter()
                    .map(|line| (parent, position, line.comment.as_str(), line.moves.as_slice())),
            );
            rows.push(TreeMove {
                parent,
                mv: NamedMove::new(&position, played.mv),
                nags: played.nags.clone(),
                before: std::mem::take(&mut before).to_owned(),
                comment: played.comment.clone(),
            });
            (parent, position) = (Some(rows.len() - 1), after);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_has_the_moves_of_all_variations() {
        let text = "{start} 1. e4 $1 (1. d4 d5 (1... Nf6 {Indian}) 2. c4) ({flank} 1. c4) e5 {open} \
                    2. Nf3 (2. Ke2 $4) *";
        let (game, end) = read_games(text.as_bytes()).next().expect("a game").expect("readable");
        let answer = GameAnswer::new(&game, &end.status);
        let rows: Vec<String> = answer
            .tree
            .iter()
            .map(|row| {
                let parent = row.parent.map_or("-", |parent| answer.tree[parent].mv.san.as_str());
                format!("{parent} {} {:?} {}|{}", row.mv.san, row.nags, row.before, row.comment)
            })
            .collect();
        assert_eq!(
            rows,
            [
                "- e4 [1] |",
                "e4 e5 [] |open",
                "e5 Nf3 [] |",
                "- d4 [] |",
                "d4 d5 [] |",
                "d5 c4 [] |",
                "- c4 [] flank|",
                "e5 Ke2 [4] |",
                "d4 Nf6 [] |Indian",
            ]
        );
        assert_eq!((answer.comment.as_str(), answer.moves.len(), answer.fault), ("start", 3, None));
    }

    #[test]
    fn fault_in_a_variation_is_reported() {
        let text = "1. e4 (1. d4 d5 2. Ke3 e6) e5 *";
        let (game, end) = read_games(text.as_bytes()).next().expect("a game").expect("readable");
        let answer = GameAnswer::new(&game, &end.status);
        assert_eq!((answer.moves.len(), answer.tree.len()), (2, 4));
        assert!(answer.fault.is_some_and(|fault| fault.contains("Ke3")));
    }

    #[test]
    fn game_is_found_by_its_book_id() {
        let text = "some text\n\n1. e4 e5 1-0\n\n[Site \"https://lichess.org/abcd1234/white\"]\n\n1. d4 0-1\n";
        let input = PgnInput::Text("games".to_owned(), text.as_bytes().into());
        let find = |id: GameId| read(&input, id).expect("readable");
        let by_site = find("abcd1234".parse().expect("an id")).expect("there");
        assert_eq!((by_site.moves.len(), by_site.result.token()), (1, "0-1"));
        let by_text = find(GameId::of_text(b"1. e4 e5 1-0")).expect("there");
        assert_eq!((by_text.moves.len(), by_text.result.token()), (2, "1-0"));
        assert!(find(GameId::of_text(b"some text")).is_none());
    }
}
