//! Changes of the settings, and what follows from them.

use std::io;

use crate::chess::position::Position;
use crate::games::book::{Book, Partner};

use super::engine::Engine;
use super::event::Event;
use super::settings::{Kind, OpenLog, Setting, SettingError, Settings};
use super::strength::ratings;
use super::wanted::Purpose;

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
            let told = |error: io::Error| SettingError::Log { path, why: error.to_string() };
            (self.open_log)(&settings.log).map_err(told)?;
        }
        self.change(settings);
        if let (Kind::Spin { get, .. }, Ok(wanted)) = (&row.kind, value.parse()) {
            self.report_cut(row.title(), wanted, get(&self.settings));
        }
        Ok(())
    }

    /// Reports that a number was cut to what is possible here.
    fn report_cut(&mut self, name: &str, wanted: i64, used: i64) {
        if wanted > used {
            let text = format!("{name} {wanted} is more than can be used here; it is {used} now");
            self.events.push(Event::Fault(text));
        }
    }

    /// Takes over new settings, whose files but the book are open already.
    fn change(&mut self, settings: Settings) {
        let old = std::mem::replace(&mut self.settings, settings);
        let new = &self.settings;
        if old.book != new.book {
            self.library.open(&new.book, &self.worker.outbox());
        }
        if old.learn != new.learn {
            self.turn_to_learning();
            self.put_books_together();
        }
        if old.partner != self.settings.partner {
            self.library.invite(&self.settings.partner, &self.worker.outbox());
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
        let wanted = i64::try_from(megabytes).unwrap_or(i64::MAX);
        self.report_cut("memory", wanted, self.settings.search.memory_mb as i64);
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
    pub(super) fn shelve(&mut self, number: u64, book: Result<Book, String>) {
        let (book, why) = match book {
            Ok(book) => (Some(book), None),
            Err(why) => (None, Some(why)),
        };
        if self.library.shelve(number, book) {
            self.events.extend(why.map(Event::BookFailed));
            self.put_books_together();
        }
    }

    /// The games of a sparring partner have been read, or have not.
    pub(super) fn welcome(&mut self, number: u64, partner: Result<Partner, String>) {
        self.events.extend(self.library.welcome(number, partner).map(Event::BookFailed));
        self.reconcile();
    }

    /// Plays by the games of a partner from now on, whom [`Settings::partner`] names.
    pub(crate) fn spar_with(&mut self, partner: Partner) {
        self.library.seat(partner);
    }

    /// Whose games are played by.
    pub(crate) fn partner(&self) -> Option<&Partner> {
        self.library.partner()
    }

    /// The rating to play like: what was asked for, or else the partner's; `None` for full strength,
    /// which the best partners get too.
    pub(crate) fn rating(&self) -> Option<i64> {
        let of_partner = || self.partner()?.rating.map(i64::from);
        let asked = self.settings.rating().or_else(of_partner)?;
        (asked <= *ratings().end()).then_some(asked.max(*ratings().start()))
    }

    /// What the opening is called that a position belongs to, if it has a name of its own.
    pub(crate) fn opening(&self, position: &Position) -> Option<String> {
        self.library.opening(position)
    }

    /// The book that moves are played from, and what was learnt behind it.
    pub(crate) fn book(&self) -> &Book {
        self.settings.search.book.as_ref().unwrap_or(self.library.book())
    }
}
