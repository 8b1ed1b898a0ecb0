//! Limits on requests. Each is far above what the page and known clients need, but low enough to
//! keep a few machines from overloading the server. All limits were chosen by hand.

use std::time::Duration;

use crate::support::threads::cores;
use crate::tools::annotate::NODES;

/// Maximum size in bytes of the request line and headers. A line of 300 plies takes 1,500 bytes.
pub(crate) const MAX_REQUEST_HEAD: usize = 32 << 10;
pub(crate) const MAX_REQUEST_HEADERS: usize = 100;
/// Maximum size of an encoded query in bytes.
pub(crate) const MAX_QUERY: usize = 8 << 10;
/// Maximum number of plies in the `play` parameter. No recorded game is longer.
pub(crate) const MAX_PLAY: usize = 600;
/// Maximum size in bytes of pasted text: a FEN, moves, or a game with comments.
pub(crate) const MAX_PASTED: usize = 256 << 10;
/// Maximum length, in characters, of a comment that is added to a repertoire.
pub(crate) const MAX_COMMENT: usize = 2_000;
/// Maximum number of arrows and marked squares in a repertoire comment: one per square of the
/// board.
pub(crate) const MAX_SHAPES: usize = 64;
/// Maximum number of moves in a response. No reachable position has more legal moves.
pub(crate) const MAX_MOVES: usize = 218;
/// Maximum number of simultaneous connections. Further connections wait to be accepted.
pub(crate) const MAX_CONNECTIONS: usize = 1024;
/// Default time limit in seconds for a client to send the head of a request, to send the body, or
/// to accept the next part of the response. Idle connections are closed after the same time.
pub(crate) const CLIENT_SECONDS: u64 = 15;
/// How long browsers may cache the response to a CORS preflight request. Same value as on Lichess.
pub(crate) const PREFLIGHT_AGE: Duration = Duration::from_secs(86_400);
/// The time limit for finding a game in its file.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the server waits for responses in progress when it shuts down.
pub(crate) const GRACE: Duration = Duration::from_secs(3);
/// Maximum number of simultaneous searches across all clients.
pub(crate) const MAX_SEARCHES: usize = 4;
/// Maximum duration of a search in seconds.
pub(crate) const MAX_SEARCH_SECONDS: u64 = 60;
pub(crate) const DEFAULT_SEARCH_SECONDS: u64 = 20;
/// Maximum number of simultaneous annotations across all clients.
pub(crate) const MAX_ANNOTATIONS: usize = 1;
/// Maximum number of simultaneous pattern searches across all clients. Each one uses all cores.
pub(crate) const MAX_PATTERN_SEARCHES: usize = 2;
/// Time limit in seconds for a pattern search, including reading the games.
pub(crate) const MAX_PATTERN_SECONDS: u64 = 60;
/// Interval between progress reports while a pattern search reads the games of a book.
pub(crate) const PATTERN_UPDATE: Duration = Duration::from_millis(250);
/// Maximum number of games in the response to a pattern search.
pub(crate) const MAX_FOUND_GAMES: u64 = 100;
pub(crate) const DEFAULT_FOUND_GAMES: u64 = 20;
pub(crate) const MAX_FOUND_POSITIONS: usize = 8;
/// Time limit in seconds for annotating a game. A forty-move game takes about ten seconds.
pub(crate) const MAX_ANNOTATION_SECONDS: u64 = 120;
/// Minimum number of nodes per position for annotations.
pub(crate) const MIN_ANNOTATION_NODES: u64 = 100;
/// Maximum number of nodes per position for annotations. It equals the default of `tabia annotate`.
pub(crate) const MAX_ANNOTATION_NODES: u64 = NODES;
/// Default number of nodes per position for annotations.
pub(crate) const DEFAULT_ANNOTATION_NODES: u64 = NODES / 2;
/// Default size of the transposition table of a search, in mebibytes.
pub(crate) const SEARCH_MEMORY_MB: usize = 32;
/// Maximum number of nodes per book move in the search that evaluates the book moves. This takes at
/// most about 50 ms per move.
pub(crate) const VALUE_NODES: u64 = 40_000;
/// The time limit for evaluating the book moves is the requested search time divided by this
/// number.
pub(crate) const VALUE_SHARE: u32 = 4;
/// Maximum total size of cached analyses in bytes.
pub(crate) const ANALYSIS_CACHE: usize = 16 << 20;
/// Maximum number of events queued for a client that reads slowly. While the queue is full, new
/// events are dropped, except the final one. The queue has room for every event of a cached
/// analysis.
pub(crate) const SEARCH_BACKLOG: usize = 256;
/// Maximum length, in bytes, of the client name, which identifies the searches started by one page.
pub(crate) const MAX_CLIENT_NAME: usize = 64;
/// Maximum number of games stored per player. Once it is reached, further games in the files are
/// ignored.
pub(crate) const MAX_PLAYER_GAMES: usize = 20_000;
/// Maximum number of games stored for all players together. A game takes about 600 bytes. Beyond
/// this number, the games of the least recently requested players are dropped.
pub(crate) const MAX_KEPT_GAMES: usize = 100_000;
/// Maximum number of players in the queue, waiting for the search for their games to start.
pub(crate) const MAX_WAITING_PLAYERS: usize = 32;
pub(crate) const MAX_PLAYER_STREAMS: usize = 64;
/// Maximum length of a player's name in bytes.
pub(crate) const MAX_PLAYER_NAME: usize = 128;
/// Maximum number of suggestions for completing a player's name.
pub(crate) const MAX_COMPLETIONS: usize = 12;
/// Interval between updates to a client while the games of a player are being read.
pub(crate) const PLAYER_UPDATE: Duration = Duration::from_millis(500);
/// Number of plies indexed from the start of each game of a player, as on Lichess.
pub(crate) const PLAYER_PLIES: usize = 50;
pub(crate) const MAX_GAME_READERS: usize = 2;
/// Maximum total size of cached responses in bytes.
pub(crate) const ANSWER_CACHE: usize = 32 << 20;
/// Maximum number of opening reports created at the same time, across all clients.
pub(crate) const MAX_REPORTS: usize = 2;
/// Maximum number of games read for an opening report.
pub(crate) const MAX_REPORT_GAMES: usize = 5_000;
/// Time limit in seconds for reading the games of an opening report. If the game files are not
/// compressed, reading takes about one second.
pub(crate) const MAX_REPORT_SECONDS: u64 = 20;

/// The resources that a client may request for a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SearchLimits {
    pub(crate) threads: usize,
    /// Number of best lines.
    pub(crate) lines: usize,
    /// Size of the transposition table in mebibytes.
    pub(crate) memory_mb: usize,
}

impl SearchLimits {
    /// Returns the default limits, which are lower if other machines can connect to the server.
    pub(crate) fn new(is_local: bool) -> Self {
        match is_local {
            true => SearchLimits { threads: cores(), lines: 20, memory_mb: 256 },
            false => SearchLimits { threads: 1, lines: 5, memory_mb: SEARCH_MEMORY_MB },
        }
    }
}
