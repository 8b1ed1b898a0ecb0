//! The user's settings. A single table declares them for UCI, xboard and the console.

use std::io;
use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

use crate::chess::score::Score;
use crate::engine::eval::Evaluation;
use crate::engine::eval::nnue::Network;
use crate::engine::search::{BookSearch, Config, MOVE_OVERHEAD, ResearchOrder, total_memory};
use crate::engine::tablebase::Tables;
use crate::games::book::{LearnFile, MAX_LOSS, Policy};
use crate::support::files::{FileError, JournalError};
use crate::support::words::named_values;

use super::strength::{STRONGEST, WEAKEST};

#[cfg(feature = "tune")]
use crate::engine::search::constants::{values as constant, with_constants};
#[cfg(feature = "tune")]
use std::sync::atomic::Ordering::Relaxed;

/// Callback that opens the log file at the given path. An empty path means no log file.
pub(crate) type OpenLog = Box<dyn Fn(&str) -> io::Result<()> + Send>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Search configuration. Its network and endgame tables are opened from the paths in the fields
    /// `network` and `tablebases`.
    pub search: Config,
    pub ponder: bool,
    pub lines: i64,
    /// Whether thinking output includes the probabilities of a win, a draw and a loss.
    pub show_wdl: bool,
    pub own_book: bool,
    /// Paths of the books (see [`crate::games::book::Book::open_all`]); empty for the embedded
    /// book.
    pub book: String,
    pub policy: Policy,
    /// Maximum evaluation loss of a book move in centipawns, according to the analyses stored in
    /// the book.
    pub max_loss: Score,
    /// Number of plies, counted from move 1, during which the book is used; 0 for no limit.
    pub book_depth: i64,
    /// A book move is played only if at least this many games reached the position after it.
    pub min_games: i64,
    pub learn: String,
    pub veto: bool,
    /// Games whose openings the engine imitates, with optional filters by player and rating (see
    /// [`crate::games::book::OpponentBook::open`]); empty for none.
    pub opponent_book: String,
    pub evaluation: EvaluationKind,
    /// Path of the network file; empty for the embedded network.
    pub network: String,
    /// The engine resigns if its score has been at least this many centipawns behind for several
    /// moves; 0 disables resignation.
    pub resign: i64,
    /// The engine accepts a draw offer if it is behind by at least this many centipawns.
    pub contempt: i64,
    pub offer_draws: bool,
    pub limited: bool,
    pub elo: i64,
    /// Seed for the random number generator behind deliberate mistakes at limited strength; 0 for a
    /// new random seed in each game.
    pub seed: i64,
    /// Whether the engine, at limited strength, takes about as long as a human for each move.
    pub pauses: bool,
    /// Time reserved per move for communication delays, in ms. At least [`MOVE_OVERHEAD`] is always
    /// reserved.
    pub overhead: i64,
    /// Folders with Syzygy tables; empty for none.
    pub tablebases: String,
    pub log: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum EvaluationKind {
    /// The classical evaluation: a sum of named terms with tuned weights. A breakdown by term can
    /// be displayed.
    Classical,
    #[default]
    Nnue,
}

named_values! { pub(crate) EvaluationKind, "kind of evaluation":
    Classical = "classical", Nnue = "nnue"
}

impl EvaluationKind {
    /// Creates the evaluation. Opens the network file even if the classical evaluation is selected,
    /// so that errors in the file are reported.
    pub(crate) fn open(self, network: Option<&Path>) -> Result<Evaluation, FileError> {
        let network = network.map(Network::open).transpose()?.map(Arc::new);
        Ok(match self {
            EvaluationKind::Classical => Evaluation::Classical,
            EvaluationKind::Nnue => Evaluation::Nnue(network.unwrap_or_else(Network::embedded)),
        })
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            search: Config::default(),
            ponder: false,
            lines: 1,
            show_wdl: false,
            own_book: true,
            book: String::new(),
            policy: Policy::default(),
            max_loss: MAX_LOSS,
            book_depth: 0,
            min_games: 1,
            learn: String::new(),
            veto: true,
            opponent_book: String::new(),
            evaluation: EvaluationKind::default(),
            network: String::new(),
            resign: 0,
            contempt: 30,
            offer_draws: false,
            limited: false,
            elo: USUAL_ELO,
            seed: 0,
            pauses: false,
            overhead: MOVE_OVERHEAD.as_millis() as i64,
            tablebases: String::new(),
            log: String::new(),
        }
    }
}

/// Default rating at limited strength: that of a typical club player.
const USUAL_ELO: i64 = 1500;

/// Maximum of the `Hash` option in MiB, regardless of the machine's memory.
const MAX_MEMORY: i64 = 1 << 20;

const MAX_CENTIPAWNS: i64 = 1_000;

/// Maximum seed. It fits in a signed 32-bit integer, which every GUI can store.
const MAX_SEED: i64 = i32::MAX as i64;

const MAX_THREADS: i64 = 256;

const MAX_BOOK_DEPTH: i64 = 1_000;
const MAX_BOOK_GAMES: i64 = 1_000_000;

pub(crate) struct Setting {
    /// The xboard name; empty if the xboard protocol has a separate command for the setting. The
    /// name contains no spaces, because python-chess truncates names at spaces, and does not
    /// contain `Draw`, because xboard interprets that word as the end of the game.
    pub name: &'static str,
    /// The UCI name; empty for the settings about draws and resignation, which UCI GUIs handle
    /// themselves.
    pub uci: &'static str,
    pub help: &'static str,
    pub kind: Kind,
}

pub(crate) enum Kind {
    Check {
        get: fn(&Settings) -> bool,
        set: fn(&mut Settings, bool),
    },
    Spin {
        min: i64,
        max: i64,
        get: fn(&Settings) -> i64,
        set: fn(&mut Settings, i64),
    },
    Choice {
        choices: &'static [&'static str],
        get: fn(&Settings) -> usize,
        set: fn(&mut Settings, usize),
    },
    File {
        get: fn(&Settings) -> &str,
        set: fn(&mut Settings, String),
    },
    Folder {
        get: fn(&Settings) -> &str,
        set: fn(&mut Settings, String),
    },
    ClearMemory,
}

/// Names of the policies for choosing a book move (all except `off`), in the same order as
/// [`Policy::IN_USE`].
const POLICY_NAMES: &[&str] = match Policy::NAMES.split_last() {
    Some((_off, used)) => used,
    None => &[],
};

fn index_of<T: PartialEq>(table: &[T], value: &T) -> usize {
    table.iter().position(|row| row == value).unwrap_or(0)
}

const fn row(name: &'static str, uci: &'static str, help: &'static str, kind: Kind) -> Setting {
    Setting { name, uci, help, kind }
}

#[rustfmt::skip]
pub(super) const SETTINGS: &[Setting] = &[
    row("", "Hash", "size of the transposition table in MiB",
        Kind::Spin { min: 1, max: MAX_MEMORY, get: |s| s.search.memory_mb as i64, set: |s, v| s.set_memory(v.unsigned_abs()) }),
    row("", "Threads", "search threads",
        Kind::Spin { min: 1, max: MAX_THREADS, get: |s| s.search.threads as i64, set: |s, v| s.search.threads = v.unsigned_abs() as usize }),
    row("", "Ponder", "think on the opponent's time",
        Kind::Check { get: |s| s.ponder, set: |s, v| s.ponder = v }),
    row("MultiPV", "MultiPV", "number of lines that an analysis shows",
        Kind::Spin { min: 1, max: 218, get: |s| s.lines, set: |s, v| s.lines = v }),
    row("", "UCI_ShowWDL", "show the chances of win, draw and loss",
        Kind::Check { get: |s| s.show_wdl, set: |s, v| s.show_wdl = v }),
    row("OwnBook", "OwnBook", "play book moves",
        Kind::Check { get: |s| s.own_book, set: |s, v| s.own_book = v }),
    row("BookFile", "BookFile", "books, separated by ;; empty: embedded; none: no book",
        Kind::File { get: |s| &s.book, set: |s, v| s.book = v }),
    row("OpponentBook", "OpponentBook", "play the openings of GAMES.pgn[,player=NAME][,ratings=A-B]",
        Kind::File { get: |s| &s.opponent_book, set: |s, v| s.opponent_book = v }),
    row("BookPolicy", "BookPolicy", "choice among the book moves",
        Kind::Choice { choices: POLICY_NAMES, get: |s| index_of(&Policy::IN_USE, &s.policy), set: |s, i| s.policy = Policy::IN_USE[i] }),
    row("BookMaxLoss", "BookMaxLoss", "centipawns that a move of an analysed book may lose",
        Kind::Spin { min: 0, max: MAX_CENTIPAWNS, get: |s| s.max_loss.into(), set: |s, v| s.max_loss = v as Score }),
    row("BookDepth", "BookDepth", "play book moves only in the first N plies; 0: no limit",
        Kind::Spin { min: 0, max: MAX_BOOK_DEPTH, get: |s| s.book_depth, set: |s, v| s.book_depth = v }),
    row("BookMinGames", "BookMinGames", "minimum number of games of a book move",
        Kind::Spin { min: 1, max: MAX_BOOK_GAMES, get: |s| s.min_games, set: |s, v| s.min_games = v }),
    row("BookSearch", "BookSearch", "what the search does at book positions",
        Kind::Choice { choices: &BookSearch::NAMES, get: |s| index_of(&BookSearch::ALL, &s.search.book_search), set: |s, i| s.search.book_search = BookSearch::ALL[i] }),
    row("SteerMargin", "SteerMargin", "centipawns that mode steer may lose to return to the book",
        Kind::Spin { min: 0, max: MAX_CENTIPAWNS, get: |s| s.search.steer_margin.into(), set: |s, v| s.search.steer_margin = v as Score }),
    row("LearnFile", "LearnFile", "learning file; empty for none",
        Kind::File { get: |s| &s.learn, set: |s, v| s.learn = v }),
    row("LearnVeto", "LearnVeto", "skip book moves that the learning file refutes",
        Kind::Check { get: |s| s.veto, set: |s, v| s.veto = v }),
    row("NetworkFile", "EvalFile", "network made by tabia train net; empty: the embedded one",
        Kind::File { get: |s| &s.network, set: |s, v| s.network = v }),
    row("Evaluation", "Evaluation", "evaluation: a network or the classical terms",
        Kind::Choice { choices: &EvaluationKind::NAMES, get: |s| index_of(&EvaluationKind::ALL, &s.evaluation), set: |s, i| s.evaluation = EvaluationKind::ALL[i] }),
    row("ResearchOrder", "ResearchOrder", "how a reduced move that fails high is searched again",
        Kind::Choice { choices: &ResearchOrder::NAMES, get: |s| index_of(&ResearchOrder::ALL, &s.search.research_order), set: |s, i| s.search.research_order = ResearchOrder::ALL[i] }),
    row("ResignBelow", "", "resign when this many centipawns behind; 0: never",
        Kind::Spin { min: 0, max: 5000, get: |s| s.resign, set: |s, v| s.resign = v }),
    row("Contempt", "", "accept a draw when at least this many centipawns behind",
        Kind::Spin { min: -1000, max: 1000, get: |s| s.contempt, set: |s, v| s.contempt = v }),
    row("Propose-draws", "", "offer a draw in a dead game",
        Kind::Check { get: |s| s.offer_draws, set: |s, v| s.offer_draws = v }),
    row("LimitStrength", "UCI_LimitStrength", "play at the rating Elo",
        Kind::Check { get: |s| s.limited, set: |s, v| s.limited = v }),
    row("Elo", "UCI_Elo", "the rating",
        Kind::Spin { min: WEAKEST, max: STRONGEST, get: |s| s.elo, set: |s, v| s.elo = v }),
    row("Seed", "Seed", "seed of the errors at limited strength; 0: a new one each game",
        Kind::Spin { min: 0, max: MAX_SEED, get: |s| s.seed, set: |s, v| s.seed = v }),
    row("HumanPauses", "HumanPauses", "at limited strength, think about as long as a person",
        Kind::Check { get: |s| s.pauses, set: |s, v| s.pauses = v }),
    row("MoveOverhead", "Move Overhead", "milliseconds per move reserved for delays",
        Kind::Spin { min: 0, max: 5000, get: |s| s.overhead, set: |s, v| s.overhead = v }),
    row("SyzygyPath", "SyzygyPath", "folders of Syzygy tables, separated by : (on Windows by ;)",
        Kind::Folder { get: |s| &s.tablebases, set: |s, v| s.tablebases = v }),
    row("LogFile", "LogFile", "append the log to this file",
        Kind::File { get: |s| &s.log, set: |s, v| s.log = v }),
    row("ClearHash", "Clear Hash", "clear the transposition table and what the search has learnt", Kind::ClearMemory),
];

#[cfg(not(feature = "tune"))]
const CONSTANTS: &[Setting] = &[];

#[cfg(feature = "tune")]
macro_rules! constant_rows {
    ($($name:ident = $value:literal in $least:literal ..= $most:literal, $step:literal;)*) => {
        &[$(row(stringify!($name), stringify!($name), "a constant of the search",
            Kind::Spin {
                min: $least,
                max: $most,
                get: |_| constant::$name.load(Relaxed).into(),
                set: |_, value| constant::$name.store(value as i32, Relaxed),
            })),*]
    };
}

#[cfg(feature = "tune")]
const CONSTANTS: &[Setting] = with_constants!(constant_rows);

/// Returns all settings. In a build with the `tune` feature, these include the search constants.
pub(crate) fn all_settings() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().chain(CONSTANTS)
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum SettingError {
    #[error("no such option")]
    Unknown,
    #[error("expected {0}")]
    Value(String),
    #[error(transparent)]
    Endgames(FileError),
    #[error(transparent)]
    Network(FileError),
    #[error(transparent)]
    Log(#[from] FileError),
    #[error("{0}")]
    Learning(String),
    #[error("cannot start a search thread: {0}")]
    Start(String),
}

impl From<JournalError> for SettingError {
    fn from(error: JournalError) -> Self {
        SettingError::Learning(error.to_string())
    }
}

/// Old names of settings, which are still accepted, paired with the current names.
const RENAMED: [(&str, &str); 2] = [("SparFile", "OpponentBook"), ("Luck", "Seed")];

impl Setting {
    /// Finds a setting by its xboard or UCI name, ignoring case.
    pub(crate) fn find(name: &str) -> Option<&'static Setting> {
        let (_, name) = RENAMED
            .into_iter()
            .find(|(old, _)| old.eq_ignore_ascii_case(name))
            .unwrap_or(("", name));
        let is = |own: &str| !own.is_empty() && own.eq_ignore_ascii_case(name);
        all_settings().find(|row| is(row.name) || is(row.uci))
    }

    pub(crate) fn title(&self) -> &'static str {
        if self.uci.is_empty() { self.name } else { self.uci }
    }

    /// Parses `value` and changes the setting. Does nothing for [`Kind::ClearMemory`], which stores
    /// no value.
    pub(crate) fn change(&self, settings: &mut Settings, value: &str) -> Result<(), SettingError> {
        let expected = |what: &str| SettingError::Value(what.to_owned());
        match &self.kind {
            Kind::Check { set, .. } => {
                let on = parse_switch(value).ok_or_else(|| expected("0, 1, true or false"))?;
                set(settings, on);
            }
            Kind::Spin { min, max, set, .. } => {
                let number = value.parse().ok().filter(|number| (min..=max).contains(&number));
                let words = || expected(&format!("a whole number from {min} to {max}"));
                set(settings, number.ok_or_else(words)?);
            }
            Kind::Choice { choices, set, .. } => {
                let index = choices.iter().position(|choice| choice.eq_ignore_ascii_case(value));
                set(settings, index.ok_or_else(|| expected(&choices.join(", ")))?);
            }
            Kind::File { set, .. } | Kind::Folder { set, .. } => {
                set(settings, if value == "<empty>" { String::new() } else { value.to_owned() });
            }
            Kind::ClearMemory => {}
        }
        Ok(())
    }
}

fn parse_switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" | "on" | "yes" => Some(true),
        "0" | "false" | "off" | "no" => Some(false),
        _ => None,
    }
}

impl Settings {
    pub(crate) fn rating(&self) -> Option<i64> {
        self.limited.then_some(self.elo)
    }

    /// Opens the network, the endgame tables and the learning file if their settings differ from
    /// those in `old`.
    pub(super) fn open_files(&mut self, old: &Settings) -> Result<(), SettingError> {
        if (self.evaluation, &self.network) != (old.evaluation, &old.network) {
            self.search.evaluation = self.evaluation().map_err(SettingError::Network)?;
        }
        if self.tablebases != old.tablebases {
            self.search.endgames = self.endgames().map_err(SettingError::Endgames)?;
        }
        if self.learn != old.learn && !self.learn.is_empty() {
            LearnFile::open(Path::new(&self.learn))?;
        }
        Ok(())
    }

    fn evaluation(&self) -> Result<Evaluation, FileError> {
        let file = Some(&self.network).filter(|file| !file.is_empty());
        self.evaluation.open(file.map(Path::new))
    }

    fn endgames(&self) -> Result<Option<Tables>, FileError> {
        let folder = Some(&self.tablebases).filter(|folder| !folder.is_empty());
        folder.map(|folder| Tables::open(Path::new(folder))).transpose()
    }

    /// Opens the network, the endgame tables and the learning file, if they are set. If one cannot
    /// be opened, clears its setting. Returns the errors.
    pub(crate) fn open_usable(&mut self) -> Vec<SettingError> {
        let mut faults = Vec::new();
        while let Err(fault) = self.open_files(&Settings::default()) {
            match fault {
                SettingError::Network(_) => self.network.clear(),
                SettingError::Learning(_) => self.learn.clear(),
                _ => self.tablebases.clear(),
            }
            faults.push(fault);
        }
        faults
    }

    /// Sets the size of the transposition table in mebibytes, capped at three quarters of the
    /// machine's memory.
    pub(crate) fn set_memory(&mut self, megabytes: u64) {
        let desired = i64::try_from(megabytes).unwrap_or(i64::MAX);
        let all = total_memory().and_then(|bytes| i64::try_from(bytes >> 20).ok());
        let most = all.map_or(MAX_MEMORY, |all| (all * 3 / 4).clamp(1, MAX_MEMORY));
        self.search.memory_mb = desired.clamp(1, most).unsigned_abs() as usize;
    }

    pub(crate) fn set_threads(&mut self, threads: u32) {
        self.search.threads = i64::from(threads).clamp(1, MAX_THREADS).unsigned_abs() as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(settings: &mut Settings, name: &str, value: &str) -> Result<(), SettingError> {
        Setting::find(name).ok_or(SettingError::Unknown)?.change(settings, value)
    }

    #[test]
    fn every_setting_can_be_read_and_set() {
        let mut settings = Settings::default();
        for row in SETTINGS {
            let name = row.title();
            let current = match &row.kind {
                Kind::Check { get, .. } => u8::from(get(&settings)).to_string(),
                Kind::Spin { get, min, max, .. } => {
                    let value = get(&settings);
                    assert!((min..=max).contains(&&value), "{name}");
                    value.to_string()
                }
                Kind::Choice { get, choices, .. } => choices[get(&settings)].to_owned(),
                Kind::File { get, .. } | Kind::Folder { get, .. } => get(&settings).to_owned(),
                Kind::ClearMemory => String::new(),
            };
            let before = settings.clone();
            assert_eq!(change(&mut settings, name, &current), Ok(()), "{name}");
            assert_eq!(settings, before, "{name}");
        }
    }

    #[test]
    fn options_page_has_a_row_for_each_setting() {
        let page = include_str!("../../../docs/reference/options.md").replace('`', "");
        let settings = Settings::default();
        let dash = |name: &'static str| if name.is_empty() { "-" } else { name };
        for row in SETTINGS {
            let uci = if row.uci == row.name { "" } else { dash(row.uci) };
            let start = format!("| {} | {uci} ", dash(row.name)).replace("  ", " ");
            let rows: Vec<&str> = page.lines().filter(|line| line.starts_with(&start)).collect();
            let [line] = rows[..] else { panic!("{start}: {rows:?}") };
            let values = match &row.kind {
                Kind::Check { get, .. } => {
                    format!("on, off ({}", if get(&settings) { "on" } else { "off" })
                }
                Kind::Spin { min, max, get, .. } => format!("{min} to {max} ({})", get(&settings)),
                Kind::Choice { choices, get, .. } => choices[get(&settings)].to_owned(),
                Kind::File { .. } | Kind::Folder { .. } => "(empty)".to_owned(),
                Kind::ClearMemory => "button".to_owned(),
            };
            let rest = &line[start.len()..];
            assert!(rest.contains(&values), "{line}: expected {values}");
            assert!(rest.contains(&format!("| {}", row.help)), "{line}: expected {}", row.help);
        }
    }

    #[test]
    fn invalid_values_change_no_setting() {
        let mut settings = Settings::default();
        for (name, value) in [
            ("Nonsense", "1"),
            ("Threads", "0"),
            ("Threads", "x"),
            ("ownbook", "maybe"),
            ("BookPolicy", "x"),
            ("UCI_Elo", "100"),
        ] {
            assert!(change(&mut settings, name, value).is_err(), "{name} {value}");
        }
        assert_eq!(settings, Settings::default());
        assert_eq!(
            change(&mut settings, "bookpolicy", "x"),
            Err(SettingError::Value(POLICY_NAMES.join(", ")))
        );
    }

    #[test]
    fn memory_is_limited_to_the_machine() {
        let mut settings = Settings::default();
        settings.set_memory(u64::MAX);
        assert!((1..=MAX_MEMORY).contains(&(settings.search.memory_mb as i64)));
        settings.set_memory(0);
        assert_eq!(settings.search.memory_mb, 1);
    }
}
