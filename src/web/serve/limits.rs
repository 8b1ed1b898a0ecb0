//! Limits on what clients may request. Each is far above what the page and the known clients need,
//! and low enough that a few machines cannot tie the server up. All are hand-set.

use std::time::Duration;

use crate::tools::annotate::NODES;

/// Bytes of a request's line and headers together; a request line with 300 moves has 1,500.
pub(crate) const MAX_REQUEST_HEAD: usize = 32 << 10;
pub(crate) const MAX_REQUEST_HEADERS: usize = 100;
/// Bytes of an encoded query.
pub(crate) const MAX_QUERY: usize = 8 << 10;
/// Moves in `play`: more than any recorded game has.
pub(crate) const MAX_PLAY: usize = 600;
/// Bytes of a pasted text: a FEN, moves, or a game with comments.
pub(crate) const MAX_PASTED: usize = 256 << 10;
/// Moves of a response in the explorer's form; no position has more.
pub(crate) const MAX_MOVES: usize = 218;
/// Simultaneous connections; further ones wait to be accepted.
pub(crate) const MAX_CONNECTIONS: usize = 1024;
/// Default seconds for a client to send the head of a request, to send its body, and to receive a
/// piece of the response. An idle connection stays open as long.
pub(crate) const CLIENT_SECONDS: u64 = 15;
/// How long browsers may cache a preflight response, as on Lichess.
pub(crate) const PREFLIGHT_AGE: Duration = Duration::from_secs(86_400);
/// Time limit for finding a game in its file.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Time for responses in progress to finish when the server stops.
pub(crate) const GRACE: Duration = Duration::from_secs(3);
/// Simultaneous searches, over all clients.
pub(crate) const MAX_SEARCHES: usize = 4;
/// Maximum seconds of a search.
pub(crate) const MAX_SEARCH_SECONDS: u64 = 60;
/// Default seconds of a search.
pub(crate) const DEFAULT_SEARCH_SECONDS: u64 = 20;
/// Simultaneous annotations, over all clients.
pub(crate) const MAX_ANNOTATIONS: usize = 1;
/// Maximum seconds to annotate a game; with the most nodes, a game of forty moves takes about ten.
pub(crate) const MAX_ANNOTATION_SECONDS: u64 = 120;
/// Minimum nodes for each position of an annotated game.
pub(crate) const MIN_ANNOTATION_NODES: u64 = 100;
/// Maximum nodes for each position: the default of `tabia annotate`.
pub(crate) const MAX_ANNOTATION_NODES: u64 = NODES;
/// Default nodes for each position.
pub(crate) const DEFAULT_ANNOTATION_NODES: u64 = NODES / 2;
/// Transposition table of a search, in mebibytes.
pub(crate) const SEARCH_MEMORY_MB: usize = 32;
/// Maximum lines of one search.
pub(crate) const MAX_LINES: usize = 5;
/// Events of a search queued for a slow client; further ones are dropped, but never the last.
pub(crate) const SEARCH_BACKLOG: usize = 64;
/// Bytes of the client name with which a page identifies its own searches.
pub(crate) const MAX_CLIENT_NAME: usize = 64;
/// Games stored per player, the first ones of the files.
pub(crate) const MAX_PLAYER_GAMES: usize = 20_000;
/// Games stored of all players, about 600 bytes each; the least recently requested players are
/// dropped first.
pub(crate) const MAX_KEPT_GAMES: usize = 100_000;
/// Players whose games are being searched for or queued.
pub(crate) const MAX_WAITING_PLAYERS: usize = 32;
/// Simultaneous streams of players' games.
pub(crate) const MAX_PLAYER_STREAMS: usize = 64;
/// Bytes of a player's name.
pub(crate) const MAX_PLAYER_NAME: usize = 128;
/// Time between two updates of a stream while games are read.
pub(crate) const PLAYER_UPDATE: Duration = Duration::from_millis(500);
/// Plies of a player's game that are indexed, as many as on Lichess.
pub(crate) const PLAYER_PLIES: usize = 50;
/// Files that are read at once to show one of their games.
pub(crate) const MAX_GAME_READERS: usize = 2;
/// Bytes of cached responses.
pub(crate) const ANSWER_CACHE: usize = 32 << 20;
