//! Changes of the settings, and what follows from them.

use std::io;

use crate::chess::position::Position;
use crate::games::book::{Book, OpponentBook};

use super::desired_state::Purpose;
use super::engine::Engine;
use super::event::Event;
use super::settings::{Kind, OpenLog, Setting, SettingError, Settings};
use super::strength::ratings;

impl Engine {
    /// What to do when the user sets the file of the log; nothing at first.
    pub(crate) fn on_log_file(&mut self, open: OpenLog) {
        self.open_log = open;
    }

    /// Changes a setting by its name, at any time. A search for a move that is running goes on
    /// with the old one; pondering and analysis begin anew.
    ///
    /// # Errors
    /// If there is no such setting, the value does not fit, or a file that it names cannot be used;
    /// nothing has changed then.
    pub(crate) fn set_option(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        let row = Setting::find(name).ok_or(SettingError::Unknown)?;
        if matches!(row.kind, Kind::ClearMemory) {
            self.worker.new_game();
            self.restart();
            return Ok(());
        }
        let mut settings = self.settings.clone();
        row.change(&mut settings, value)?;
        settings.open_files(&self.settings)?;
        if settings.log != self.settings.log {
            let path = settings.log.clone();
            let to_error = |error: io::Error| SettingError::Log { path, why: error.to_string() };
            (self.open_log)(&settings.log).map_err(to_error)?;
        }
        self.change(settings);
        if let (Kind::Spin { get, .. }, Ok(desired)) = (&row.kind, value.parse()) {
            self.report_cut(row.title(), desired, get(&self.settings));
        }
        Ok(())
    }

    /// Reports that a number was cut to what is possible here.
    fn report_cut(&mut self, name: &str, desired: i64, used: i64) {
        if desired > used {
            let text = format!("{name} {desired} is more than can be used here; it is {used} now");
            self.events.push(Event::Fault(text));
        }
    }

    /// Takes over new settings, whose files but the book are open already.
    fn change(&mut self, settings: Settings) {
        let old = std::mem::replace(&mut self.settings, settings);
        let new = &self.settings;
        if old.book != new.book {
            self.book_loader.open(&new.book, &self.worker.event_sender());
        }
        if old.learn != new.learn {
            self.start_learning();
            self.put_books_together();
        }
        if old.opponent_book != self.settings.opponent_book {
            self.book_loader
                .load_opponent_book(&self.settings.opponent_book, &self.worker.event_sender());
        }
        let new = &self.settings;
        if old.search != new.search {
            self.worker.configure(new.search.clone());
            self.restart();
        }
        if old.lines != self.settings.lines {
            self.restart();
        }
        self.reconcile();
    }

    pub(super) fn change_one(&mut self, change: impl FnOnce(&mut Settings)) {
        let mut settings = self.settings.clone();
        change(&mut settings);
        self.change(settings);
    }

    /// Thinks on the opponent's time, or does not.
    pub(crate) fn set_ponder(&mut self, on: bool) {
        self.change_one(|settings| settings.ponder = on);
    }

    /// Plays moves from the book, or does not.
    pub(crate) fn set_own_book(&mut self, on: bool) {
        self.change_one(|settings| settings.own_book = on);
    }

    /// Lets all tables take so many mebibytes together.
    pub(crate) fn set_memory(&mut self, megabytes: u64) {
        self.change_one(|settings| settings.set_memory(megabytes));
        let desired = i64::try_from(megabytes).unwrap_or(i64::MAX);
        self.report_cut("memory", desired, self.settings.search.memory_mb as i64);
    }

    /// Lets so many threads search.
    pub(crate) fn set_threads(&mut self, count: u32) {
        self.change_one(|settings| settings.set_threads(count));
    }

    /// Lets pondering and analysis begin anew.
    fn restart(&mut self) {
        if self.job.as_ref().is_some_and(|job| job.purpose != Purpose::Think) {
            self.cancel();
        }
        self.reconcile();
    }

    /// A book has been opened, or has not.
    pub(super) fn set_book(&mut self, number: u64, book: Result<Book, String>) {
        let (book, why) = match book {
            Ok(book) => (Some(book), None),
            Err(why) => (None, Some(why)),
        };
        if self.book_loader.set_book(number, book) {
            self.events.extend(why.map(Event::BookFailed));
            self.put_books_together();
        }
    }

    /// Takes over an opponent book that has been read, or the error.
    pub(super) fn set_opponent_book(
        &mut self,
        number: u64,
        opponent_book: Result<OpponentBook, String>,
    ) {
        self.events.extend(
            self.book_loader.set_opponent_book(number, opponent_book).map(Event::BookFailed),
        );
        self.reconcile();
    }

    /// Plays from the opponent book that [`Settings::opponent_book`] names from now on.
    pub(crate) fn play_by_opponent_book(&mut self, opponent_book: OpponentBook) {
        self.book_loader.install_opponent_book(opponent_book);
    }

    /// The opponent book in use.
    pub(crate) fn opponent_book(&self) -> Option<&OpponentBook> {
        self.book_loader.opponent_book()
    }

    /// The rating to play at: the one that was set, or else that of the opponent book; `None` for full
    /// strength, which opponent books above the highest rating get too.
    pub(crate) fn rating(&self) -> Option<i64> {
        let of_opponent_book = || self.opponent_book()?.rating.map(i64::from);
        let asked = self.settings.rating().or_else(of_opponent_book)?;
        (asked <= *ratings().end()).then_some(asked.max(*ratings().start()))
    }

    /// What the opening is called that a position belongs to, if it has a name of its own.
    pub(crate) fn opening(&self, position: &Position) -> Option<String> {
        self.book_loader.opening(position)
    }

    /// The book that moves are played from, and what was learnt behind it.
    pub(crate) fn book(&self) -> &Book {
        self.settings.search.book.as_ref().unwrap_or(self.book_loader.book())
    }
}
