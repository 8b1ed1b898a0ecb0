//! Parts that several responses share.

use arrayvec::ArrayString;
use serde::Serialize;

use super::facets::Month;
use crate::chess::position::{Move, Position, SAN_BYTES, UCI_BYTES};
use crate::games::book::{self, Counts, MonthCounts, NamedOpening};
use crate::games::pgn::GameResult;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Opening {
    eco: String,
    name: String,
}

impl From<&NamedOpening> for Opening {
    fn from(opening: &NamedOpening) -> Self {
        Opening { eco: opening.eco.clone(), name: opening.name.clone() }
    }
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct NamedMove {
    /// In UCI; castling is the king's move.
    pub(crate) uci: ArrayString<UCI_BYTES>,
    pub(crate) san: ArrayString<SAN_BYTES>,
}

impl NamedMove {
    pub(crate) fn new(position: &Position, mv: Move) -> Self {
        NamedMove { uci: mv.uci(), san: position.short_san(mv) }
    }

    /// Converts the moves of a line up to the first illegal one.
    pub(crate) fn line(start: &Position, moves: &[Move]) -> Vec<Self> {
        let mut position = *start;
        let mut line = Vec::with_capacity(moves.len());
        for &mv in moves {
            let Some(next) = position.try_play(mv) else { break };
            line.push(Self::new(&position, mv));
            position = next;
        }
        line
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Results {
    games: u64,
    white: u32,
    draws: u32,
    black: u32,
    /// Games and lines without a result.
    undecided: u32,
}

impl From<Counts> for Results {
    fn from(counts: Counts) -> Self {
        let Counts { white, draws, black, undecided } = counts;
        Results { games: counts.games(), white, draws, black, undecided }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Player {
    pub(crate) name: String,
    /// 0 if unknown.
    pub(crate) rating: u16,
}

impl From<&book::Player> for Player {
    fn from(player: &book::Player) -> Self {
        Player { name: player.name.clone(), rating: player.rating.unwrap_or_default() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ListedGame {
    /// The move played in the position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uci: Option<String>,
    pub(crate) id: String,
    /// `white` or `black`; `None` if nobody won.
    pub(crate) winner: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) speed: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mode: Option<&'static str>,
    pub(crate) white: Player,
    pub(crate) black: Player,
    /// 0 if unknown.
    pub(crate) year: u16,
    pub(crate) month: Option<Month>,
}

impl From<&book::ListedGame> for ListedGame {
    fn from(game: &book::ListedGame) -> Self {
        let month = game.date.month().map(Month::from);
        ListedGame {
            uci: game.mv.map(|mv| mv.to_string()),
            id: game.id.to_string(),
            winner: match game.result {
                GameResult::White => Some("white"),
                GameResult::Black => Some("black"),
                GameResult::Draw | GameResult::Undecided => None,
            },
            speed: Some(game.speed.name()),
            mode: None,
            white: (&game.white).into(),
            black: (&game.black).into(),
            year: month.map_or(0, |month| month.year),
            month,
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct MonthResults {
    pub(crate) month: Month,
    pub(crate) white: u32,
    pub(crate) draws: u32,
    pub(crate) black: u32,
}

impl MonthResults {
    /// Converts a history. Games without a date are left out; those with only a year are counted in
    /// January.
    pub(crate) fn of(history: &[MonthCounts]) -> Vec<Self> {
        let mut months: Vec<MonthResults> = Vec::new();
        let known = history.iter().filter_map(|(month, counts)| Some(((*month)?.into(), *counts)));
        for (month, Counts { white, draws, black, .. }) in known {
            match months.last_mut().filter(|last| last.month == month) {
                Some(last) => {
                    last.white += white;
                    last.draws += draws;
                    last.black += black;
                }
                None => months.push(MonthResults { month, white, draws, black }),
            }
        }
        months
    }
}
