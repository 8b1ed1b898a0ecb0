//! The findings of a repertoire check, as rows that all output formats share.

use serde::Serialize;

use super::searches::Searches;
use crate::chess::notation::{self, ScoreAnswer};
use crate::chess::position::{Color, Move, Position};
use crate::chess::score::Score;
use crate::games::book::{Book, BookMove, Candidate, Names};
use crate::games::pgn::Variation;
use crate::games::repertoire::{
    Arrival, Chapter, Forecast, Gap, Line, LowScore, Node, Place, Proposal, Remark, Repertoire,
    SHARE_PLIES, Transposition,
};
use crate::support::words::counted;

#[derive(Serialize)]
pub(super) struct Findings {
    pub side: &'static str,
    pub reference: String,
    pub chapters: usize,
    pub positions: usize,
    pub shares: Vec<ShareRow>,
    pub gaps: Vec<GapRow>,
    pub conflicts: Vec<ConflictRow>,
    pub redundant: Vec<RedundantRow>,
    pub dead_ends: Vec<PositionRow>,
    pub losing: Vec<LossRow>,
    pub low_scores: Vec<LowScoreRow>,
    /// These are not mistakes, so [`Findings::count`] does not include them.
    pub transpositions: Vec<TranspositionRow>,
    pub remarks: Vec<RemarkRow>,
}

#[derive(Serialize)]
pub(super) struct ShareRow {
    pub plies: usize,
    pub share: f64,
}

#[derive(Serialize)]
pub(super) struct PositionRow {
    pub fen: String,
    /// The expected number of occurrences of the position per game.
    pub probability: f64,
    /// The line that leads to the position, in SAN with move numbers. Empty if no line was found.
    pub line: String,
    #[serde(skip)]
    pub found: Option<Line>,
}

#[derive(Serialize)]
pub(super) struct GapRow {
    #[serde(flatten)]
    pub at: PositionRow,
    pub kind: &'static str,
    /// The moves of the line to the position, in coordinate notation.
    pub moves: Vec<String>,
    pub line_probability: f64,
    pub games: u64,
    pub opening: Option<String>,
    /// The player's moves that lead back into the repertoire, in SAN.
    pub ways_back: Vec<String>,
    pub answer: Option<AnswerRow>,
}

#[derive(Serialize)]
pub(super) struct AnswerRow {
    #[serde(skip)]
    pub mv: Move,
    pub san: String,
    /// The source of the move: `engine` (a search), `value` (the book's best move) or `games` (the
    /// most frequent move).
    pub source: &'static str,
    pub score: Option<ScoreAnswer>,
    #[serde(skip)]
    pub text: String,
}

#[derive(Serialize)]
pub(super) struct ConflictRow {
    #[serde(flatten)]
    pub at: PositionRow,
    pub moves: Vec<ConflictingMove>,
}

#[derive(Serialize)]
pub(super) struct ConflictingMove {
    pub san: String,
    /// See [`crate::games::repertoire::KnownMove::weight`].
    pub weight: u64,
    pub places: Vec<PlaceRow>,
}

#[derive(Serialize)]
pub(super) struct PlaceRow {
    pub file: String,
    pub game: u64,
    pub chapter: String,
    pub line: String,
}

#[derive(Serialize)]
pub(super) struct RedundantRow {
    /// The line, cut off after its first redundant move. From that move on, it repeats an earlier
    /// line.
    #[serde(flatten)]
    pub at: PlaceRow,
    pub moves: usize,
    pub covered_by: PlaceRow,
}

#[derive(Serialize)]
pub(super) struct TranspositionRow {
    #[serde(flatten)]
    pub at: PositionRow,
    pub arrivals: Vec<ArrivalRow>,
}

#[derive(Serialize)]
pub(super) struct ArrivalRow {
    /// The chapter, and its line to the position, which is empty if the chapter starts there.
    #[serde(flatten)]
    pub at: PlaceRow,
    /// The chapter's moves in the position, in SAN.
    pub moves: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct LossRow {
    #[serde(flatten)]
    pub at: PositionRow,
    pub san: String,
    /// How much worse the repertoire's move is than the best move, in centipawns.
    pub loss: Score,
    pub best: Option<String>,
    pub source: &'static str,
}

#[derive(Serialize)]
pub(super) struct LowScoreRow {
    #[serde(flatten)]
    pub at: PositionRow,
    #[serde(flatten)]
    pub own: ScoredMove,
    /// An upper bound on the expected score of the repertoire's move, in points per game.
    pub at_most: f64,
    /// The average expected score of the other moves, in points per game, weighted by their number
    /// of games.
    pub usual: f64,
    /// A lower bound of `usual`.
    pub usual_at_least: f64,
    pub best: Option<ScoredMove>,
}

/// A move, the number of games that reached the position after it, and its expected score in points
/// per game. The expected score is computed from these games and the engine value.
#[derive(Serialize)]
pub(super) struct ScoredMove {
    pub san: String,
    pub games: u64,
    pub score: f64,
}

#[derive(Serialize)]
pub(super) struct RemarkRow {
    pub file: String,
    pub game: u64,
    pub kind: &'static str,
    pub text: String,
}

pub(super) struct Check<'a> {
    pub repertoire: &'a Repertoire,
    pub book: &'a Book,
    pub forecast: Forecast,
    pub min_probability: f64,
    /// Repertoire moves that lose more than this many centipawns are reported.
    pub margin: Score,
    /// Repertoire moves that score worse than the other moves by more than this many points per
    /// game are reported.
    pub score_margin: f64,
}

impl Check<'_> {
    pub(super) fn findings(&self, searches: &mut Option<Searches>) -> Findings {
        let Check { repertoire, book, .. } = self;
        let names = Names::embedded();
        let gaps = self.forecast.gaps(repertoire, book, self.min_probability);
        let gaps = gaps.iter().map(|gap| self.gap(gap, &names, searches)).collect();
        let own = || {
            let nodes = repertoire.nodes().map(|node| &node.position);
            nodes.filter(|position| repertoire.is_own_turn(position))
        };
        let unanswered = own().filter(|at| !repertoire.answers(at) && !at.has_no_moves());
        let dead_ends = sorted(unanswered.map(|at| self.position(at)).collect(), |row| row);
        let answered = own().filter(|at| repertoire.answers(at));
        let losing = answered.flat_map(|at| self.losing(at, searches)).collect();
        let low_scores = repertoire.nodes().flat_map(|node| self.low_scores(node));
        let shares = self.forecast.shares(repertoire, book);
        Findings {
            side: if repertoire.side == Color::White { "white" } else { "black" },
            reference: book.name().to_owned(),
            chapters: repertoire.chapters.len(),
            positions: repertoire.positions(),
            shares: SHARE_PLIES.map(|plies| ShareRow { plies, share: shares.after(plies) }).into(),
            gaps,
            conflicts: sorted(self.conflicts(), |row| &row.at),
            redundant: self.redundant(),
            dead_ends,
            losing: sorted(losing, |row| &row.at),
            low_scores: sorted(low_scores.collect(), |row| &row.at),
            transpositions: sorted(self.transpositions(), |row| &row.at),
            remarks: repertoire.remarks.iter().map(RemarkRow::from).collect(),
        }
    }

    fn position(&self, position: &Position) -> PositionRow {
        let found = self.forecast.line(position);
        let line = found.as_ref().map_or_else(String::new, |line| text(&line.start, &line.moves));
        let probability = self.forecast.probability(position);
        PositionRow { fen: position.fen(), probability, line, found }
    }

    fn gap(&self, gap: &Gap, names: &Names, searches: &mut Option<Searches>) -> GapRow {
        let position = &gap.position;
        GapRow {
            at: self.position(position),
            kind: gap.kind.name(),
            moves: gap.line.moves.iter().map(Move::to_string).collect(),
            line_probability: gap.line.probability,
            games: gap.games,
            opening: names.of_game(&gap.line.game()).map(|opening| opening.name.clone()),
            ways_back: gap.ways_back.iter().map(|&mv| position.san(mv)).collect(),
            answer: self.answer(position, searches),
        }
    }

    /// Proposes a move for a position without an answer. If searches are enabled, this is the
    /// engine's move. Otherwise, it is the move with the best value in the book or, if there are no
    /// values, the most frequent move.
    fn answer(&self, position: &Position, searches: &mut Option<Searches>) -> Option<AnswerRow> {
        let row = |mv, source, score: Option<Score>| {
            let text = score.map(notation::score).unwrap_or_default();
            let (san, score) = (position.san(mv), score.map(ScoreAnswer::from));
            AnswerRow { mv, san, source, score, text }
        };
        if let Some(searches) = searches {
            let found = searches.value(position, &[]);
            return found.best().map(|mv| row(mv, "engine", Some(found.score)));
        }
        match Proposal::find(self.book, position)? {
            Proposal::Value(mv, score) => Some(row(mv, "value", Some(score))),
            Proposal::Games(mv, games) => {
                Some(AnswerRow { text: counted(games, "game"), ..row(mv, "games", None) })
            }
        }
    }

    fn conflicts(&self) -> Vec<ConflictRow> {
        let repertoire = self.repertoire;
        let row = |node: &Node| {
            let moves = node.moves.iter().map(|known| ConflictingMove {
                san: node.position.san(known.mv),
                weight: known.weight,
                places: known.places.iter().map(|&place| self.place(place)).collect(),
            });
            ConflictRow { at: self.position(&node.position), moves: moves.collect() }
        };
        repertoire.conflicts().map(row).collect()
    }

    fn redundant(&self) -> Vec<RedundantRow> {
        let lines = self.repertoire.redundant_lines().into_iter();
        let rows = lines.map(|line| RedundantRow {
            at: self.place(line.place),
            moves: line.moves,
            covered_by: self.place(line.covered),
        });
        rows.collect()
    }

    fn transpositions(&self) -> Vec<TranspositionRow> {
        let found = self.repertoire.transpositions().into_iter();
        let rows = found.map(|Transposition { node, arrivals }| {
            let arrivals = arrivals.into_iter().map(|Arrival { chapter, step, moves }| {
                let line = step
                    .map_or_else(Vec::new, |step| self.repertoire.line(Place { chapter, step }));
                let moves = moves.iter().map(|&mv| node.position.san(mv)).collect();
                let at = place_row(&self.repertoire.chapters[chapter as usize], &line);
                ArrivalRow { at, moves }
            });
            TranspositionRow { at: self.position(&node.position), arrivals: arrivals.collect() }
        });
        rows.collect()
    }

    fn place(&self, place: Place) -> PlaceRow {
        place_row(self.repertoire.chapter(place), &self.repertoire.line(place))
    }

    /// Returns the repertoire's moves in a position that lose more than `margin`. The values come
    /// from a book or, if the books have none and the position is likely enough, from a search.
    fn losing(&self, position: &Position, searches: &mut Option<Searches>) -> Vec<LossRow> {
        let moves = self.repertoire.node(position).map_or(&[][..], |node| &node.moves);
        let books = [Some(self.book), self.repertoire.book.as_ref()];
        let mut analysed = books.into_iter().flatten().filter_map(|book| {
            let value = book.value(position)?;
            Some((book, value.score, value.best))
        });
        let (book, best) = match (analysed.next(), searches.as_mut()) {
            (Some((book, score, best)), _) => (Some(book), Some((score, best))),
            (None, Some(searches))
                if self.forecast.probability(position) >= self.min_probability =>
            {
                let found = searches.value(position, &[]);
                (None, Some((found.score, found.best())))
            }
            _ => (None, None),
        };
        let Some((best_score, best)) = best else { return Vec::new() };
        let mut rows = Vec::new();
        for known in moves.iter().filter(|known| Some(known.mv) != best) {
            let score = match (book, searches.as_mut()) {
                (Some(book), _) => book.value_of_move(position, known.mv),
                (None, Some(searches)) => Some(searches.value(position, &[known.mv]).score),
                (None, None) => None,
            };
            let Some(score) = score.filter(|score| best_score - score > self.margin) else {
                continue;
            };
            let legal = best.filter(|&mv| position.is_legal(mv));
            rows.push(LossRow {
                at: self.position(position),
                san: position.san(known.mv),
                loss: best_score - score,
                best: legal.map(|mv| position.san(mv)),
                source: if book.is_some() { "value" } else { "engine" },
            });
        }
        rows
    }

    fn low_scores(&self, node: &Node) -> Vec<LowScoreRow> {
        let position = &node.position;
        let scored = |of: &Candidate| {
            let BookMove { mv, reached, .. } = of.book_move;
            ScoredMove { san: position.san(mv), games: reached.games(), score: of.expected }
        };
        let found = self.repertoire.low_scores(node, self.book, self.score_margin).into_iter();
        let rows = found.map(|LowScore { own, usual, usual_at_least, best }| LowScoreRow {
            at: self.position(position),
            own: scored(&own),
            at_most: own.certain.1,
            usual,
            usual_at_least,
            best: best.as_ref().map(scored),
        });
        rows.collect()
    }
}

fn place_row(chapter: &Chapter, line: &[Move]) -> PlaceRow {
    PlaceRow {
        file: chapter.file.clone(),
        game: chapter.number,
        chapter: chapter.name(),
        line: text(&chapter.game.start, line),
    }
}

impl From<&Remark> for RemarkRow {
    fn from(remark: &Remark) -> Self {
        let Remark { file, number, kind, text, .. } = remark.clone();
        RemarkRow { file, game: number, kind: kind.name(), text }
    }
}

impl Findings {
    pub(super) fn count(&self) -> usize {
        let Findings { gaps, conflicts, redundant, dead_ends, losing, low_scores, .. } = self;
        let of_lines = gaps.len() + conflicts.len() + redundant.len() + dead_ends.len();
        of_lines + losing.len() + low_scores.len()
    }
}

/// Sorts rows by the probability of their positions, highest first. Rows with equal probability
/// keep their order.
fn sorted<T>(mut rows: Vec<T>, position: impl Fn(&T) -> &PositionRow) -> Vec<T> {
    rows.sort_by(|a, b| position(b).probability.total_cmp(&position(a).probability));
    rows
}

pub(super) fn text(start: &Position, moves: &[Move]) -> String {
    moves.iter().copied().collect::<Variation>().movetext(start)
}
