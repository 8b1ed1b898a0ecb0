//! Commands that start or end the game on the board, step through it, or take back moves.

use std::io;

use super::record::Record;
use super::text::failed;
use super::{Console, ending, files};
use crate::chess::notation;
use crate::chess::position::Position;
use crate::cli::date::today;
use crate::engine::controller::Flow;
use crate::games::pgn::GameResult;

impl Console {
    /// Saves the game on the board and replaces it with `record`.
    fn replace_game(&mut self, record: Record) -> io::Result<()> {
        self.keep_game()?;
        self.record = record;
        self.offer = None;
        Ok(())
    }

    /// Runs the `new` command. As in GNU Chess, the name of a variant may follow the command.
    pub(super) fn begin(&mut self, variant: &str) -> io::Result<Flow> {
        match variant {
            "" | "standard" | "normal" | "chess" => self.new_game(),
            other => Err(failed(format!(
                "{other} cannot be played, only standard chess; `new` alone begins a game"
            ))),
        }
    }

    fn new_game(&mut self) -> io::Result<Flow> {
        self.replace_game(Record::new(Position::start(), today()))?;
        self.depth = None;
        self.engine.new_game();
        self.show_board()
    }

    pub(super) fn set_up(&mut self, fen: &str) -> io::Result<Flow> {
        self.place(Position::from_fen(fen).map_err(failed)?)
    }

    fn place(&mut self, position: Position) -> io::Result<Flow> {
        self.replace_game(Record::new(position, today()))?;
        self.engine.set_position(position);
        self.show_board()
    }

    pub(super) fn load_position(&mut self, arguments: &str) -> io::Result<Flow> {
        let (name, number) = numbered(arguments)?;
        self.place(files::load_position(&name, number)?)
    }

    pub(super) fn save_position(&mut self, arguments: &str, as_epd: bool) -> io::Result<Flow> {
        let name = files::file(arguments)?;
        let position = self.position();
        let text = match as_epd {
            false => format!("{position}\n"),
            true => {
                let (clock, number) = (position.halfmove_clock(), position.fullmove_number());
                format!("{} hmvc {clock}; fmvn {number};\n", position.epd())
            }
        };
        files::append(name.as_ref(), &text)?;
        self.print_text(&format!("The position is in {name}."))
    }

    pub(super) fn load_game(&mut self, arguments: &str, from_start: bool) -> io::Result<Flow> {
        let (name, number) = numbered(arguments)?;
        let (game, fault) = files::load_game(&name, number)?;
        let headline = files::headline(&game);
        self.replace_game(Record::loaded(game))?;
        self.stop_playing();
        self.engine.set_game(self.record.replay());
        if from_start {
            self.engine.undo(self.record.len());
        }
        self.show("board")?;
        self.print_text(&headline)?;
        if let Some(fault) = fault {
            self.print_text(&format!("The game could be read only so far: {fault}"))?;
        }
        self.print_idle_notice()
    }

    pub(super) fn save_game(&mut self, arguments: &str) -> io::Result<Flow> {
        let name = files::file(arguments)?;
        files::append(name.as_ref(), &format!("{}\n", self.pgn()))?;
        self.record.saved();
        self.print_text(&format!("The game is in {name}."))
    }

    pub(super) fn list(&mut self, arguments: &str) -> io::Result<Flow> {
        if arguments.is_empty() {
            return self.show("game");
        }
        let name = files::file(arguments)?;
        files::list(&name, &mut |line| self.print_text(&line).map(drop))?;
        Ok(Flow::Continue)
    }

    pub(super) fn undo(&mut self, number: &str) -> io::Result<Flow> {
        let plies = if number.is_empty() { Some(1) } else { number.parse().ok() };
        match plies.filter(|&plies| plies > 0) {
            Some(plies) => self.take_back(plies),
            None => Err(failed("expected how many moves to take back, each side's counted")),
        }
    }

    /// Takes back `plies` plies and deletes all later moves. If the user has stepped back in the
    /// game, the whole game is saved first.
    pub(super) fn take_back(&mut self, plies: usize) -> io::Result<Flow> {
        let played = self.engine.game().moves().len();
        if !self.engine.undo(plies) {
            return Err(failed(match played {
                0 => "there is nothing to take back".to_owned(),
                _ => format!("no more than {played} can be taken back"),
            }));
        }
        if played < self.record.len() {
            self.keep_game()?;
        }
        self.record.cut(played - plies);
        self.show_board()
    }

    pub(super) fn go_back(&mut self, plies: usize) -> io::Result<Flow> {
        let played = self.engine.game().moves().len();
        if played == 0 {
            return Err(failed("this is the start of the game"));
        }
        let rested = self.stop_playing();
        self.engine.undo(plies.min(played));
        self.show_board()?;
        if rested { self.print_idle_notice() } else { Ok(Flow::Continue) }
    }

    pub(super) fn go_forward(&mut self, plies: usize) -> io::Result<Flow> {
        let played = self.engine.game().moves().len();
        if played == self.record.len() {
            return Err(failed("this is the end of the game"));
        }
        let rested = self.stop_playing();
        for ply in (played..self.record.len()).take(plies) {
            if let Some(mv) = self.record.move_after(ply) {
                self.engine.play(mv).map_err(failed)?;
            }
        }
        self.show_board()?;
        if rested { self.print_idle_notice() } else { Ok(Flow::Continue) }
    }

    fn stop_playing(&mut self) -> bool {
        let played = self.engine.side().is_some();
        self.engine.force();
        played
    }

    pub(super) fn print_idle_notice(&mut self) -> io::Result<Flow> {
        self.print_text("I play neither side now (force mode); `go` lets me play.")
    }

    pub(super) fn force(&mut self) -> io::Result<Flow> {
        self.stop_playing();
        self.print_idle_notice()
    }

    pub(super) fn result(&mut self, text: &str) -> io::Result<Flow> {
        let result = GameResult::from_token(text.as_bytes());
        self.end(result.ok_or_else(|| failed("expected 1-0, 0-1, 1/2-1/2 or *"))?)
    }

    pub(super) fn end(&mut self, result: GameResult) -> io::Result<Flow> {
        self.offer = None;
        self.record.set_result(result);
        self.engine.end_game(result);
        self.print_text(&format!("The result of the game is {result}."))
    }

    pub(super) fn resign(&mut self) -> io::Result<Flow> {
        self.check_not_over()?;
        let user = self.engine.side().map_or(self.position().side_to_move(), |engine| !engine);
        self.end(GameResult::won_by(Some(!user)))
    }

    /// Handles the `draw` command, with which the user offers a draw or accepts the engine's offer.
    pub(super) fn offer_draw(&mut self) -> io::Result<Flow> {
        self.check_not_over()?;
        if self.offer.take() == Some(Offer::Engine) {
            return self.end(GameResult::Draw);
        }
        if self.engine.side().is_none() {
            return Err(failed("I play neither side; `result 1/2-1/2` ends the game"));
        }
        self.offer = Some(Offer::User);
        self.engine.offer_draw();
        Ok(Flow::Continue)
    }

    /// Called when the engine wants a draw. Accepts the user's offer, or makes an offer for the
    /// engine.
    pub(super) fn draw_offered(&mut self) -> io::Result<()> {
        if self.offer.take() == Some(Offer::User) {
            self.print_text("I take the draw.")?;
            return self.end(GameResult::Draw).map(drop);
        }
        self.offer = Some(Offer::Engine);
        self.print_text("I offer a draw; `draw` takes it.").map(drop)
    }

    /// Called when the engine resigns, which it does only when it is to move.
    pub(super) fn resigned(&mut self) -> io::Result<()> {
        let winner = !self.position().side_to_move();
        self.print_text("I resign.")?;
        self.end(GameResult::won_by(Some(winner))).map(drop)
    }

    pub(super) fn must_have_moves(&self) -> io::Result<()> {
        let over = self.engine.game().outcome().filter(|_| self.position().has_no_moves());
        over.map_or(Ok(()), |outcome| Err(failed(format!("the game is over: {}", ending(outcome)))))
    }

    fn check_not_over(&self) -> io::Result<()> {
        match self.record.result() {
            GameResult::Undecided => Ok(()),
            result => Err(failed(format!("the game is over: {result}"))),
        }
    }

    /// Runs the `activate` command (from GNU Chess), which reopens a game that was drawn by
    /// agreement or resigned.
    pub(super) fn activate(&mut self) -> io::Result<Flow> {
        if self.position().has_no_moves() {
            return Err(failed("there is no move left; take one back with `undo`"));
        }
        self.record.set_result(GameResult::Undecided);
        self.engine.play_other();
        let side = notation::color(self.position().side_to_move());
        self.print_text(&format!("The game goes on; you play {side}."))
    }

    pub(super) fn name(&mut self, name: &str) -> io::Result<Flow> {
        if !name.is_empty() {
            name.clone_into(&mut self.players.name);
        }
        match self.players.name.as_str() {
            "" => Err(failed("expected a name")),
            name => self.print_text(&format!("You are {name}.")),
        }
    }

    pub(super) fn rating(&mut self, text: &str) -> io::Result<Flow> {
        let numbers: Result<Vec<u32>, _> = text.split_whitespace().map(str::parse).collect();
        let numbers = numbers.ok().and_then(|numbers| <[u32; 2]>::try_from(numbers).ok());
        let [own, user] = numbers.ok_or_else(|| failed("expected my rating and yours"))?;
        self.players.engine_rating = Some(own);
        self.players.user_rating = Some(user);
        self.print_text(&format!("My rating is {own}, yours {user}; they go into saved games."))
    }

    /// Records the moves that led to the current position. If they deviate from the recorded game,
    /// that game is saved first.
    pub(super) fn follow(&mut self) -> io::Result<()> {
        if self.solving.is_some() {
            return Ok(());
        }
        if self.record.is_left_by(self.engine.game().moves()) {
            self.keep_game()?;
        }
        self.record.follow(self.engine.game().moves());
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Offer {
    User,
    Engine,
}

fn numbered(arguments: &str) -> io::Result<(String, usize)> {
    let (name, number) = files::file_and_word(arguments)?;
    let number = number.map_or(Some(1), |text| text.parse().ok().filter(|&number| number > 0));
    Ok((
        name,
        number
            .ok_or_else(|| failed("expected a number after the file (quote a name with blanks)"))?,
    ))
}
