//! `/repertoire/gaps`: positions that opponents reach but for which the repertoire has no answer.

use serde::Serialize;

use crate::chess::notation::{NamedMove, ScoreAnswer};
use crate::chess::position::Position;
use crate::games::book::{Book, NamedOpening};
use crate::games::repertoire::{
    FORECAST_PLIES, Gap, MIN_PROBABILITY, Proposal, Repertoire, SHARE_PLIES,
};
use crate::web::serve::loaded_books::Content;

/// Maximum number of gaps in a response.
const MAX_GAPS: usize = 200;
#[derive(Debug, Clone, Serialize)]
pub(crate) struct GapsAnswer {
    version: String,
    /// The name of the book whose games show which moves opponents play.
    reference: String,
    shares: Vec<ShareAnswer>,
    /// The number of gaps found, including any that are not listed because there are more than
    /// `MAX_GAPS`.
    total: usize,
    gaps: Vec<GapAnswer>,
}

#[derive(Debug, Clone, Serialize)]
struct ShareAnswer {
    plies: usize,
    share: f64,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct GapAnswer {
    fen: String,
    kind: &'static str,
    /// How often the position is expected to occur per game, given how opponents play.
    probability: f64,
    games: u64,
    /// The start position of the most common line that leads to the gap. The moves of that line are
    /// in `line`.
    start: String,
    line: Vec<NamedMove>,
    opening: Option<NamedOpening>,
    ways_back: Vec<NamedMove>,
    proposal: Option<ProposalAnswer>,
}

#[derive(Debug, Clone, Serialize)]
struct ProposalAnswer {
    #[serde(flatten)]
    mv: NamedMove,
    /// The score of the proposed move in an analysed book, or `None` if the move is proposed
    /// because it is played most often.
    score: Option<ScoreAnswer>,
    games: Option<u64>,
}

impl GapsAnswer {
    pub(super) fn new(repertoire: &Repertoire, version: &str, content: &Content) -> Self {
        let book = &content.book;
        let forecast = repertoire.forecast(book, FORECAST_PLIES);
        let mut gaps = forecast.gaps(repertoire, book, MIN_PROBABILITY);
        let shares = forecast.shares(repertoire, book);
        let total = gaps.len();
        gaps.truncate(MAX_GAPS);
        GapsAnswer {
            version: version.to_owned(),
            reference: book.name().to_owned(),
            shares: SHARE_PLIES
                .map(|plies| ShareAnswer { plies, share: shares.after(plies) })
                .into(),
            total,
            gaps: gaps.iter().map(|gap| GapAnswer::new(gap, content)).collect(),
        }
    }
}

impl GapAnswer {
    fn new(gap: &Gap, content: &Content) -> Self {
        let position = &gap.position;
        let ways_back = gap.ways_back.iter().map(|&mv| NamedMove::new(position, mv)).collect();
        GapAnswer {
            fen: position.fen(),
            kind: gap.kind.name(),
            probability: gap.probability,
            games: gap.games,
            start: gap.line.start.fen(),
            line: NamedMove::line(&gap.line.start, &gap.line.moves),
            opening: content.names.of_game(&gap.line.game()).cloned(),
            ways_back,
            proposal: proposal(&content.book, position),
        }
    }
}

fn proposal(book: &Book, position: &Position) -> Option<ProposalAnswer> {
    let (mv, score, games) = match Proposal::find(book, position)? {
        Proposal::Value(mv, score) => (mv, Some(score.into()), None),
        Proposal::Games(mv, games) => (mv, None, Some(games)),
    };
    Some(ProposalAnswer { mv: NamedMove::new(position, mv), score, games })
}
