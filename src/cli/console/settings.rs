//! The commands that change settings. Each change is confirmed in one line.

use std::io;
use std::time::Duration;

use super::Console;
use super::text::{failed, seconds};
use crate::cli::suggestion::did_you_mean;
use crate::engine::controller::{Engine, Flow, Kind, Setting, Settings, all_settings};
use crate::games::book::Policy;
use crate::protocols::cecp::Command;
use crate::support::words::number_of;

fn value_and_range(row: &Setting, settings: &Settings) -> (String, String) {
    match &row.kind {
        Kind::Check { get, .. } => (on_off(get(settings)).to_owned(), "on, off".to_owned()),
        Kind::Spin { min, max, get, .. } => (get(settings).to_string(), format!("{min} to {max}")),
        Kind::Choice { choices, get, .. } => {
            (choices[get(settings)].to_owned(), choices.join(", "))
        }
        Kind::File { get, .. } => (quoted(get(settings)), "a file".to_owned()),
        Kind::Folder { get, .. } => (quoted(get(settings)), "a folder".to_owned()),
        Kind::ClearMemory => (String::new(), "done at once".to_owned()),
    }
}

fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

fn quoted(name: &str) -> String {
    if name.is_empty() { "(none)".to_owned() } else { name.to_owned() }
}

fn row(name: &str) -> io::Result<&'static Setting> {
    Setting::find(name).ok_or_else(|| {
        let names = all_settings().map(|row| row.title().to_owned());
        let hint = match did_you_mean(name, names) {
            none if none.is_empty() => "; `show options` lists them".to_owned(),
            hint => hint,
        };
        failed(format!("no such option{hint}"))
    })
}

impl Console {
    pub(super) fn options(&self) -> String {
        let settings = self.engine.settings();
        let line = |row: &Setting| {
            let (value, range) = value_and_range(row, settings);
            format!("{:14} {value:10} {} ({range})\n", row.title(), row.help)
        };
        all_settings().map(line).collect()
    }

    pub(super) fn option_command(&mut self, text: &str) -> io::Result<Flow> {
        match text.split_once('=') {
            _ if text.is_empty() => self.show("options"),
            Some((name, value)) => self.option(name.trim(), value.trim()),
            None => {
                let row = row(text)?;
                match row.kind {
                    Kind::ClearMemory => self.option(text, ""),
                    _ => self.print_option(row),
                }
            }
        }
    }

    /// Changes a setting and confirms it, or shows the setting if its value is missing.
    pub(super) fn option(&mut self, name: &str, value: &str) -> io::Result<Flow> {
        let row = row(name)?;
        match row.kind {
            Kind::Spin { .. } | Kind::Check { .. } | Kind::Choice { .. } if value.is_empty() => {
                return self.print_option(row);
            }
            _ => self.engine.set_option(name, value).map_err(failed)?,
        }
        if matches!(row.kind, Kind::ClearMemory) {
            return self.print_text("What the search had learned is forgotten.");
        }
        // Delay the prompt until the book is open, so that errors are printed before the prompt.
        self.opening_book =
            ["BookFile", "OpponentBook"].contains(&row.uci) && !self.engine.is_settled();
        if self.opening_book { Ok(Flow::Continue) } else { self.print_option(row) }
    }

    fn print_option(&mut self, row: &Setting) -> io::Result<Flow> {
        let (value, range) = value_and_range(row, self.engine.settings());
        self.print_text(&format!("{} = {value} ({range})", row.title()))
    }

    pub(super) fn book_opened(&mut self) -> io::Result<Flow> {
        self.opening_book = false;
        if self.engine.opponent_book().is_some() {
            return self.print_opponent_book();
        }
        let book = self.engine.book();
        let positions = number_of(book.positions(), "position");
        self.print_text(&format!("The book is {} ({positions}).", book.name()))
    }

    pub(super) fn print_opponent_book(&mut self) -> io::Result<Flow> {
        let Some(opponent_book) = self.engine.opponent_book() else { return Ok(Flow::Continue) };
        let (name, games) = (opponent_book.book.name().to_owned(), opponent_book.games);
        let strength = match self.engine.rating() {
            Some(rating) => format!("like a player of {rating}"),
            None => "as well as I can".to_owned(),
        };
        self.print_text(&format!(
            "I play the moves of {name} ({} of games), and beyond them {strength}.",
            number_of(games, "side")
        ))
    }

    pub(super) fn opponent(&mut self, games: &str) -> io::Result<Flow> {
        match games {
            "" if self.engine.opponent_book().is_some() => self.print_opponent_book(),
            "" => Err(failed("expected GAMES.pgn[,player=NAME][,ratings=1600-1800], or off")),
            "off" => self.option("OpponentBook", ""),
            games => self.option("OpponentBook", games),
        }
    }

    pub(super) fn book(&mut self, what: &str) -> io::Result<Flow> {
        match what {
            "" => self.show("book"),
            "on" | "off" => self.option("OwnBook", what),
            policy if policy.parse::<Policy>().is_ok() => {
                self.engine.set_own_book(true);
                self.option("BookPolicy", policy)
            }
            file => self.option("BookFile", &super::files::file(file)?),
        }
    }

    pub(super) fn elo(&mut self, rating: &str) -> io::Result<Flow> {
        match rating {
            "" => {}
            "off" => self.engine.set_option("UCI_LimitStrength", "off").map_err(failed)?,
            rating => {
                self.engine.set_option("UCI_Elo", rating).map_err(failed)?;
                self.engine.set_option("UCI_LimitStrength", "on").map_err(failed)?;
            }
        }
        match self.engine.rating() {
            Some(rating) => {
                self.print_text(&format!("I play like a player of {rating}; `elo off` ends it."))
            }
            None => self.print_text(
                "I play as well as I can; `elo 1500` lets me play like a player of 1500.",
            ),
        }
    }

    pub(super) fn memory(&mut self, size: &str) -> io::Result<Flow> {
        if !size.is_empty() {
            let megabytes = size.parse().map_err(|_| failed("expected mebibytes"))?;
            self.engine.set_memory(megabytes);
        }
        self.print_text(&format!("My tables take {} MiB.", self.engine.settings().search.memory_mb))
    }

    pub(super) fn post(&mut self, on: bool) -> io::Result<Flow> {
        self.post = on;
        self.print_text(if on { "I show my thinking." } else { "I do not show my thinking." })
    }

    pub(super) fn ponder(&mut self, on: bool) -> io::Result<Flow> {
        self.engine.set_ponder(on);
        self.print_text(if on {
            "I think on your time too."
        } else {
            "I do not think on your time."
        })
    }

    /// Runs the xboard clock commands. Without arguments, shows the clocks.
    pub(super) fn clock(&mut self, name: &str, arguments: &str) -> io::Result<Flow> {
        if arguments.is_empty() {
            return self.show("time");
        }
        let engine: &mut Engine = &mut self.engine;
        let centiseconds =
            |left: i64| Duration::from_millis(left.unsigned_abs().saturating_mul(10));
        match format!("{name} {arguments}").parse::<Command>().map_err(failed)? {
            Command::Level(level) => engine.set_level(level),
            Command::MoveTime(time) => engine.set_move_time(time),
            Command::Depth(plies) => {
                self.depth = Some(plies);
                engine.set_depth(i32::try_from(plies).ok());
                let plies = number_of(plies.into(), "ply");
                return self.print_text(&format!("I search no deeper than {plies} in this game."));
            }
            Command::Time(left) => {
                engine.set_own_time(centiseconds(left));
                return self
                    .print_text(&format!("My clock shows {}.", seconds(centiseconds(left))));
            }
            Command::OtherTime(left) => {
                engine.set_opponent_time(centiseconds(left));
                return self
                    .print_text(&format!("Your clock shows {}.", seconds(centiseconds(left))));
            }
            _ => {}
        }
        self.print_text(&format!("{}.", self.clocks()))
    }
}
