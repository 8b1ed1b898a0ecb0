//! Changes settings and applies the changes to the engine.

use crate::chess::position::Position;
use crate::games::book::{Book, OpponentBook};
use crate::support::files::Cannot;

use super::super::desired_state::Purpose;
use super::super::event::Event;
use super::super::settings::{Kind, OpenLog, Setting, SettingError, Settings};
use super::super::strength::ratings;
use super::Engine;

impl Engine {
    pub(crate) fn on_log_file(&mut self, open: OpenLog) {
        self.open_log = open;
    }

    /// Changes a setting by name. This is allowed at any time. If the engine is thinking about its
    /// move, the search continues with the old value. Pondering, analysis and ordered searches
    /// restart if the setting affects them.
    ///
    /// # Errors
    /// If the setting or the value is invalid. The settings are then unchanged.
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
            (self.open_log)(&settings.log).cannot("write the log", &settings.log)?;
        }
        self.change(settings);
        if let (Kind::Spin { get, .. }, Ok(desired)) = (&row.kind, value.parse()) {
            self.report_cut(row.title(), desired, get(&self.settings));
        }
        Ok(())
    }

    fn report_cut(&mut self, name: &str, desired: i64, used: i64) {
        if desired > used {
            let text = format!(
                "cannot set {name} to {desired}: this machine allows at most {used}, which is set \
                 now"
            );
            self.events.push(Event::Fault(text));
        }
    }

    /// Applies new settings. All files that they name, except the books and the learning file, must
    /// already be open.
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

    pub(crate) fn set_ponder(&mut self, on: bool) {
        self.change_one(|settings| settings.ponder = on);
    }

    pub(crate) fn set_own_book(&mut self, on: bool) {
        self.change_one(|settings| settings.own_book = on);
    }

    pub(crate) fn set_memory(&mut self, megabytes: u64) {
        self.change_one(|settings| settings.set_memory(megabytes));
        let desired = i64::try_from(megabytes).unwrap_or(i64::MAX);
        self.report_cut("memory", desired, self.settings.search.memory_mb as i64);
    }

    pub(crate) fn set_threads(&mut self, count: u32) {
        self.change_one(|settings| settings.set_threads(count));
    }

    fn restart(&mut self) {
        if self.job.as_ref().is_some_and(|job| job.purpose != Purpose::Think) {
            self.cancel();
        }
        self.reconcile();
    }

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

    pub(crate) fn play_by_opponent_book(&mut self, opponent_book: OpponentBook) {
        self.book_loader.install_opponent_book(opponent_book);
    }

    pub(crate) fn opponent_book(&self) -> Option<&OpponentBook> {
        self.book_loader.opponent_book()
    }

    /// Returns the rating to which the engine's strength is limited: the rating in the settings or,
    /// if there is none, that of the opponent book. Returns `None` at full strength, or if the
    /// rating is above the maximum.
    pub(crate) fn rating(&self) -> Option<i64> {
        let of_opponent_book = || self.opponent_book()?.rating.map(i64::from);
        let asked = self.settings.rating().or_else(of_opponent_book)?;
        (asked <= *ratings().end()).then_some(asked.max(*ratings().start()))
    }

    pub(crate) fn opening(&self, position: &Position) -> Option<String> {
        self.book_loader.opening(position)
    }

    pub(crate) fn book(&self) -> &Book {
        self.settings.search.book.as_ref().unwrap_or(self.book_loader.book())
    }
}
