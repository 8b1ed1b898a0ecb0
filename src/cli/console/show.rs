//! Prints boards, games, clocks and prompts.

use std::io::{self, Write};

use super::Console;
use super::board;
use super::text::{failed, fold, seconds};
use crate::chess::notation;
use crate::chess::position::{Color, Move, Position};
use crate::engine::controller::{Flow, Mode};
use crate::engine::search::TimeLimit;
use crate::games::book::book_lines;
use crate::games::pgn::{GameResult, PgnGame};
use crate::support::words::{number_of, visible_lines};

fn listed(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    if words.is_empty() { "none".to_owned() } else { words.join(" ") }
}

impl Console {
    /// Prints text, wrapped if the output is a terminal. Control characters are made visible,
    /// because the text may come from files.
    pub(super) fn print_text(&mut self, text: &str) -> io::Result<Flow> {
        let text = visible_lines(text.trim_end());
        match self.width() {
            Some(width) => writeln!(self.out, "{}", fold(&text, width))?,
            None => writeln!(self.out, "{text}")?,
        }
        Ok(Flow::Continue)
    }

    /// Returns the width at which lines are wrapped, or `None` if they are not wrapped.
    fn width(&self) -> Option<usize> {
        let size = terminal_size::terminal_size().filter(|_| self.is_terminal);
        size.map(|(width, _)| usize::from(width.0))
    }

    pub(super) fn show_board(&mut self) -> io::Result<Flow> {
        let position = *self.position();
        let last = self.engine.game().moves().last().copied();
        self.show_board_of(&position, last)
    }

    /// Shows the board for any position of the game, and the name of the opening if it has changed.
    pub(super) fn show_board_of(
        &mut self,
        position: &Position,
        last: Option<Move>,
    ) -> io::Result<Flow> {
        if self.boards {
            let board = self.drawn(position, last);
            writeln!(self.out, "\n{board}")?;
        }
        if last.is_some()
            && let Some(opening) = self.engine.opening(position)
            && opening != self.opening
        {
            self.print_text(&opening)?;
            self.opening = opening;
        }
        Ok(Flow::Continue)
    }

    fn drawn(&mut self, position: &Position, last: Option<Move>) -> String {
        if let Some(engine) = self.engine.side() {
            self.style.below = !engine;
        }
        let below = if self.flipped { !self.style.below } else { self.style.below };
        board::draw(position, last, board::BoardStyle { below, ..self.style })
    }

    pub(super) fn show(&mut self, what: &str) -> io::Result<Flow> {
        let text = match what {
            "" | "board" => {
                let position = *self.position();
                let last = self.engine.game().moves().last().copied();
                let board = self.drawn(&position, last);
                write!(self.out, "{board}")?;
                return Ok(Flow::Continue);
            }
            "fen" => self.position().to_string(),
            "eval" | "score" => self.engine.settings().search.evaluation.explain(self.position()),
            "moves" => self.moves(|_| true),
            "capture" => self.moves(|mv| self.position().is_capture(mv)),
            "noncapture" => self.moves(|mv| !self.position().is_capture(mv)),
            "escape" if self.position().in_check() => self.moves(|_| true),
            "escape" => "There is no check.".to_owned(),
            "pin" => self.pinned(),
            "game" => self.pgn().to_string(),
            "time" => self.time(),
            "book" => book_lines(self.engine.book(), self.engine.game()).join("\n"),
            "options" => self.options(),
            _ => {
                let known = "expected board, moves, capture, noncapture, escape, pin, game, time, \
                             fen, eval, book or options";
                return Err(failed(known));
            }
        };
        self.print_text(&text)
    }

    pub(super) fn pgn(&self) -> PgnGame {
        let mut players = self.players.clone();
        if players.engine_rating.is_none() {
            players.engine_rating = self.engine.rating().and_then(|rating| rating.try_into().ok());
        }
        let control = self.engine.clocks().tag();
        self.record.pgn(&players, self.engine.side(), &control)
    }

    fn moves(&self, wanted: impl Fn(Move) -> bool) -> String {
        let position = self.position();
        let legal = position.legal_moves();
        let moves = legal.iter().filter(|&mv| wanted(mv));
        listed(moves.map(|mv| position.san(mv)))
    }

    fn pinned(&self) -> String {
        let position = self.position();
        let own = position.pinned() & position.by_color(position.side_to_move());
        let name = |square| {
            let letter = position.piece_on(square).map(|piece| piece.to_string(Color::White));
            format!("{}{square}", letter.unwrap_or_default())
        };
        listed(own.map(name))
    }

    fn time(&self) -> String {
        let doing = match self.engine.mode() {
            _ if self.record.result() != GameResult::Undecided => "The game is over",
            Mode::Thinking => "I am thinking",
            Mode::Pondering => "I am thinking on your time",
            Mode::Analysing => "I am analysing",
            Mode::Waiting => "I am waiting for your move",
            Mode::Force => "I play neither side",
        };
        let depth = self.depth.map_or(String::new(), |plies| {
            format!(", no deeper than {}", number_of(plies.into(), "ply"))
        });
        format!("{}{depth}. {doing}.", self.clocks())
    }

    pub(super) fn clocks(&self) -> String {
        let clocks = self.engine.clocks();
        let color = self.position().side_to_move();
        let plies = self.engine.game().moves().len();
        match clocks.limit(color, plies).0 {
            TimeLimit::MoveTime(time) => format!("{} for each of my moves", seconds(time)),
            TimeLimit::Infinite => "I have no clock".to_owned(),
            TimeLimit::Clock { increment, moves_to_go, .. } => {
                let left = |color| seconds(clocks.remaining(color));
                let (white, black) = (left(Color::White), left(Color::Black));
                let moves = moves_to_go.map_or("the whole game".to_owned(), |moves| match moves {
                    1 => "the next move".to_owned(),
                    moves => format!("the next {moves} moves"),
                });
                let more = if increment.is_zero() {
                    String::new()
                } else {
                    format!(", {} more with every move", seconds(increment))
                };
                format!("White has {white}, Black {black} for {moves}{more}")
            }
        }
    }

    /// Returns the prompt, which names the side to move. It is empty during analysis, because
    /// analysis is printed while the user types.
    pub(super) fn prompt(&self) -> String {
        if self.engine.mode() == Mode::Analysing {
            return String::new();
        }
        let side = notation::color(self.position().side_to_move());
        format!("{side} ({}): ", self.position().fullmove_number())
    }
}
