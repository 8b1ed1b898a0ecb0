//! What a stranger may ask of the server. Each bound is far above what the page and the known clients
//! need, and low enough that a few machines cannot tie the server up. All are hand-set.

use std::time::Duration;

use crate::tools::annotate::NODES;

/// Bytes of a request's line and headers together; a line of 300 moves has 1,500.
pub(crate) const MAX_REQUEST_HEAD: usize = 32 << 10;
/// Headers of a request.
pub(crate) const MAX_REQUEST_HEADERS: usize = 100;
/// Bytes of a query, still encoded.
pub(crate) const MAX_QUERY: usize = 8 << 10;
/// Moves of `play`: longer than any game of a collection has been.
pub(crate) const MAX_PLAY: usize = 600;
/// Bytes of a text that is pasted into the page: a FEN, moves, a game with comments.
pub(crate) const MAX_PASTED: usize = 256 << 10;
/// Moves of an answer in the explorer's form; no position has more.
pub(crate) const MAX_MOVES: usize = 218;
/// Connections at once; further ones wait to be accepted.
pub(crate) const MAX_CONNECTIONS: usize = 1024;
/// Seconds that a client gets, if nobody says otherwise, to send the head of a request, to send its body,
/// and to take a piece of the answer. An idle connection stays open as long.
pub(crate) const CLIENT_SECONDS: u64 = 15;
/// How long browsers may remember what other pages may ask, as with Lichess.
pub(crate) const PREFLIGHT_AGE: Duration = Duration::from_secs(86_400);
/// Time to find a game in its file.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Time that the answers under way are given when the server ends.
pub(crate) const GRACE: Duration = Duration::from_secs(3);
/// Searches at once, over all clients.
pub(crate) const MAX_SEARCHES: usize = 4;
/// The longest search, and the one of who does not say.
pub(crate) const MAX_SEARCH_SECONDS: u64 = 60;
/// See [`MAX_SEARCH_SECONDS`].
pub(crate) const DEFAULT_SEARCH_SECONDS: u64 = 20;
/// Games that are annotated at once, over all clients.
pub(crate) const MAX_ANNOTATIONS: usize = 1;
/// The longest time for a game; at the most nodes one of forty moves takes some ten seconds.
pub(crate) const MAX_ANNOTATION_SECONDS: u64 = 120;
/// The fewest nodes for each position of a game.
pub(crate) const MIN_ANNOTATION_NODES: u64 = 100;
/// The most of them: as many as `tabia annotate` takes by default.
pub(crate) const MAX_ANNOTATION_NODES: u64 = NODES;
/// Those of who does not say.
pub(crate) const DEFAULT_ANNOTATION_NODES: u64 = NODES / 2;
/// The transposition table of a search, in mebibytes.
pub(crate) const SEARCH_MEMORY_MB: usize = 32;
/// Lines of one search.
pub(crate) const MAX_LINES: usize = 5;
/// News of a search that wait for a slow client; further ones are dropped, but never the last.
pub(crate) const SEARCH_BACKLOG: usize = 64;
/// Letters of the name by which a page tells its searches from those of others.
pub(crate) const MAX_CLIENT_NAME: usize = 64;
/// Games that are kept of one player, the first ones of the files.
pub(crate) const MAX_PLAYER_GAMES: usize = 20_000;
/// Games that are kept of all players, about 600 bytes each: those asked for longest ago go first.
pub(crate) const MAX_KEPT_GAMES: usize = 100_000;
/// Players whose games are looked for or wait for that.
pub(crate) const MAX_WAITING_PLAYERS: usize = 32;
/// Streams of a player's games at once.
pub(crate) const MAX_PLAYER_STREAMS: usize = 64;
/// Bytes of a player's name.
pub(crate) const MAX_PLAYER_NAME: usize = 128;
/// Time between two answers of a stream while games are read.
pub(crate) const PLAYER_UPDATE: Duration = Duration::from_millis(500);
/// Plies of a player's games that are looked at, as many as the explorer of Lichess looks at.
pub(crate) const PLAYER_PLIES: usize = 50;
/// Files of games that are read through at once to show one of their games.
pub(crate) const MAX_GAME_READERS: usize = 2;
/// Bytes of answers that are kept to be given again.
pub(crate) const ANSWER_CACHE: usize = 32 << 20;
