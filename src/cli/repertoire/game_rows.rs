//! Compares individual games with a repertoire. The results are rows that all output formats share.

use std::collections::HashMap;

use serde::{Serialize, Serializer};

use super::played::Played;
use crate::chess::notation::{self, ScoreAnswer};
use crate::chess::position::{Color, Move, Position};
use crate::games::book::{Book, Counts, Names};
use crate::games::pgn::Variation;
use crate::games::repertoire::{Event, EventKind, GapKind, Repertoire};
use crate::support::words::{counted, percent};

#[derive(Serialize)]
pub(super) struct GameRow {
    pub file: String,
    pub game: u64,
    pub white: String,
    pub black: String,
    pub date: Option<String>,
    pub result: &'static str,
    pub eco: Option<String>,
    pub opening: Option<String>,
    /// How the game first left the repertoire. See [`crate::games::repertoire::Followed::outcome`].
    pub outcome: &'static str,
    /// The number of plies before the game first left the repertoire, or all plies if it never did.
    pub followed_plies: usize,
    pub ends_inside: bool,
    pub events: Vec<EventRow>,
    #[serde(skip)]
    pub counts: Counts,
}

#[derive(Clone, Serialize)]
pub(super) struct EventRow {
    #[serde(flatten)]
    pub at: At,
    /// The player's reply, if it was the opponent's move that left the repertoire.
    pub answer: Option<MoveRow>,
    /// How many times this move has left the repertoire in the games so far, including this game. 0
    /// for moves that return to the repertoire or enter it.
    pub time: u64,
}

#[derive(Clone, Serialize)]
pub(super) struct At {
    #[serde(serialize_with = "name")]
    pub kind: EventKind,
    /// The number of plies before the move.
    pub ply: usize,
    pub move_number: u16,
    /// The position before the move.
    pub fen: String,
    /// The moves of the game up to and including this move.
    pub line: String,
    pub played: MoveRow,
    pub prepared: Vec<MoveRow>,
    /// The key of the position before the move, and the move.
    #[serde(skip)]
    pub key: (u64, Move),
}

#[derive(Clone, Serialize)]
pub(super) struct MoveRow {
    pub san: String,
    #[serde(rename = "move")]
    pub coordinates: String,
    pub games: u64,
    /// The average points per game for the side that makes the move.
    pub score: Option<f64>,
    /// The engine's evaluation of the move, from the point of view of the side that makes it.
    pub value: Option<ScoreAnswer>,
    /// The game counts and the value as text, such as ` (12 games, 54%, +0.35)`. Empty if both are
    /// missing.
    #[serde(skip)]
    pub about: String,
}

fn name<S: Serializer>(kind: &EventKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.name())
}

pub(super) struct Comparison<'a> {
    pub repertoire: &'a Repertoire,
    pub book: &'a Book,
    names: Names,
    /// How many times each move has left the repertoire in the games so far. The key consists of
    /// the position's key and the move.
    times: HashMap<(u64, Move), u64>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(repertoire: &'a Repertoire, book: &'a Book) -> Self {
        Comparison { repertoire, book, names: Names::embedded(), times: HashMap::new() }
    }

    pub(super) fn game(&mut self, played: &Played) -> GameRow {
        let game = &played.game;
        let moves: Vec<Move> = game.moves.iter().map(|played| played.mv).collect();
        let followed = self.repertoire.follow(&game.start, &moves);
        let replayed = game.replay();
        let opening = self.names.of_game(&replayed).cloned();
        let known = |value: &&str| !value.is_empty() && !value.starts_with('?');
        let first = followed.first_leave();
        let events = followed.events.iter();
        GameRow {
            file: played.file.clone(),
            game: played.number,
            white: played.player(Color::White).to_owned(),
            black: played.player(Color::Black).to_owned(),
            date: game.tag("Date").filter(known).map(str::to_owned),
            result: game.result.token(),
            eco: opening.as_ref().map(|opening| opening.eco.clone()),
            opening: opening.map(|opening| opening.name),
            outcome: followed.outcome(),
            followed_plies: first.map_or(replayed.moves().len(), |event| event.ply),
            ends_inside: followed.ends_inside,
            events: events.map(|event| self.event(event, &game.start, &moves)).collect(),
            counts: Counts::of(game.result, 1),
        }
    }

    fn event(&mut self, event: &Event, start: &Position, moves: &[Move]) -> EventRow {
        let Event { kind, ply, position, mv } = event;
        let key = (position.key(), *mv);
        let time = if kind.leaves() {
            let times = self.times.entry(key).or_default();
            *times += 1;
            *times
        } else {
            0
        };
        let line: Variation = moves[..=*ply].iter().copied().collect();
        let known = self.repertoire.node(position).filter(|_| kind.leaves());
        let known = known.map_or(&[][..], |node| &node.moves);
        let after = position.play(*mv);
        let answer = moves.get(ply + 1).filter(|&&mv| after.is_legal(mv));
        let answer = answer.filter(|_| kind.leaves() && self.repertoire.is_own_turn(&after));
        EventRow {
            at: At {
                kind: *kind,
                ply: *ply,
                move_number: position.fullmove_number(),
                fen: position.fen(),
                line: line.movetext(start),
                played: self.move_row(position, *mv),
                prepared: known.iter().map(|known| self.move_row(position, known.mv)).collect(),
                key,
            },
            answer: answer.map(|&mv| self.move_row(&after, mv)),
            time,
        }
    }

    fn move_row(&self, position: &Position, mv: Move) -> MoveRow {
        let played = self.book.played(position, mv);
        let books = [Some(self.book), self.repertoire.book.as_ref()];
        let value = books.into_iter().flatten().find_map(|book| book.value_of_move(position, mv));
        let score = (!played.is_empty()).then(|| played.score(position.side_to_move()));
        let games = score.map(|_| counted(played.games(), "game"));
        let parts = [games, score.map(percent), value.map(notation::score)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let about =
            if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
        MoveRow {
            san: position.san(mv),
            coordinates: mv.to_string(),
            games: played.games(),
            score,
            value: value.map(ScoreAnswer::from),
            about,
        }
    }
}

impl At {
    pub(super) fn describe(&self) -> String {
        let played = self.played.text();
        let prepared: Vec<String> = self.prepared.iter().map(MoveRow::text).collect();
        let move_number = self.move_number;
        let what = match self.kind {
            EventKind::Deviation => {
                format!("left with {played}; the repertoire has {}", prepared.join(" or "))
            }
            EventKind::Gap(GapKind::DeadEnd) => {
                format!("the repertoire has no move; you played {played}")
            }
            EventKind::Gap(GapKind::End) => format!("the repertoire ends before {played}"),
            EventKind::Gap(GapKind::Reply) => {
                let known: Vec<&str> = self.prepared.iter().map(|row| row.san.as_str()).collect();
                format!("no answer to {played}; the repertoire has {}", known.join(", "))
            }
            EventKind::Return => format!("back by transposition with {played}"),
            EventKind::Entry => format!("reaches the repertoire with {played}"),
        };
        format!("move {move_number}: {what}")
    }
}

impl MoveRow {
    fn text(&self) -> String {
        format!("{}{}", self.san, self.about)
    }
}
