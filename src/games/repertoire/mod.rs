//! Repertoires: the opening moves that one player has prepared, by position.
//!
//! A repertoire is read from PGN, where every move of every variation belongs to it, or from a book
//! with the moves of one side. [`Repertoire`] is a graph, in which a position that several lines
//! reach is a single [`Node`].
//!
//! ```
//! use tabia::pgn::PgnInput;
//! use tabia::position::{Color, Position};
//! use tabia::repertoire::Repertoire;
//!
//! let text = "1. d4 Nf6 2. c4 e6 (2... g6 3. Nc3) 3. Nc3 *\n\n1. c4 e6 2. d4 Nf6 3. Nf3 *\n";
//! let input = PgnInput::Text("my lines".to_owned(), text.as_bytes().into());
//! let repertoire = Repertoire::read(&[input], Color::White)?;
//! let conflicts: Vec<_> = repertoire.conflicts().collect();
//! assert_eq!(conflicts.len(), 2, "d4 or c4, and Nc3 or Nf3 by either move order");
//! let moves = &conflicts[1].moves;
//! assert_eq!(conflicts[1].position.san(moves[0].mv), "Nc3");
//! assert_eq!(repertoire.line(moves[1].places[0]).len(), 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod add;
mod chapters;
mod follow;
mod forecast;
mod graph;
mod grow;
mod lines;
mod low_scores;
mod opponent;
mod propose;
mod read;
mod redundant;
mod shares;
mod training;
mod transpositions;

pub use add::{AddError, Addition};
pub use follow::{Event, EventKind, Followed, follow_book};
pub use forecast::{FORECAST_PLIES, Forecast, Gap, GapKind, Line, MIN_PROBABILITY};
pub use graph::{Chapter, KnownMove, Node, Place, Remark, RemarkKind, Repertoire, Step};
pub use grow::{GrowOptions, Growth, Search, Searched, Style};
pub use low_scores::{LowScore, SCORE_MARGIN};
pub use opponent::{NewMove, OpponentGames, Reached, Spot};
pub use propose::Proposal;
pub use read::RepertoireError;
pub use redundant::Redundant;
pub use shares::{SHARE_PLIES, Shares};
pub use training::{
    Grade, Hint, Judgement, Memory, MoveFacts, Progress, Question, ReplyFacts, Tally, Time,
    Training, TrainingOptions, Verdict,
};
pub use transpositions::{Arrival, Transposition};
