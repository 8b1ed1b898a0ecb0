//! The arguments of `tabia autoplay`, and the settings derived from them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::ValueEnum;

use super::given::Given;
#[cfg(feature = "serve")]
use super::live::Live;
use super::names::{is_program, make_unique, undefined};
use super::open_files::allow_open_files;
use super::openings::Openings;
use super::records::Records;
use super::shared::Shared;

use crate::cli::args::Concurrency;
use crate::cli::output::errln;
use crate::cli::usage::{of_arguments, wrong};
use crate::cli::writing::{EPD, Force};
use crate::engine::tablebase::Tables;
use crate::support::files::{FileError, FileKind, Output};
use crate::support::words::parse_time;
use crate::tools::autoplay::affinity::Cores;
use crate::tools::autoplay::clock::{MoveLimits, TimeControl};
use crate::tools::autoplay::config::{EngineConfig, Protocol};
use crate::tools::autoplay::engine_file::read_engines;
use crate::tools::autoplay::match_record::{Entrant, Places};
use crate::tools::autoplay::openings::Opening;
use crate::tools::autoplay::play::Conditions;
use crate::tools::autoplay::referee::{DrawRule, Rules, WinRule};
use crate::tools::autoplay::rounds::MAX_ENGINES;
use crate::tools::autoplay::schedule::{Format, Schedule};
use crate::tools::autoplay::stats::{EloModel, Sprt};

const DEFAULT_MOVE_TIME: Duration = Duration::from_secs(5);

/// The default time by which a move may exceed its limit before the engine loses on time.
const DEFAULT_MARGIN: Duration = Duration::from_millis(50);

/// Run matches between chess engines
///
/// If none of --tc, --st, --depth and --nodes is given, each move gets 5 seconds.
///
/// The exit status is 0 if the first engine scored more (or the SPRT accepts H1), 3 if both scored
/// the same (or the SPRT is undecided), 4 if the second engine scored more (or the SPRT accepts
/// H0), 1 after an error, and 130 if interrupted. For three or more engines it is 0.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The first field, because the fields after it take their options from clap.
    #[command(flatten)]
    _given: Given,
    /// Command line of the first engine, or its name in the --engines file
    #[arg(short = '1', long = "first", value_name = "CMD")]
    first: Option<String>,
    /// Command line of the second engine, or its name in the --engines file
    #[arg(short = '2', long = "second", value_name = "CMD")]
    second: Option<String>,
    /// File of engine definitions (TOML); without -1 and -2, all of them play
    #[arg(long, value_name = "FILE")]
    engines: Option<PathBuf>,
    /// Tournament format
    #[arg(long, value_enum, default_value_t = FormatName::RoundRobin)]
    format: FormatName,
    /// Have the first engine play all others: the same as --format gauntlet
    #[arg(long, conflicts_with = "format", hide_short_help = true)]
    gauntlet: bool,
    /// Number of rounds of a Swiss tournament
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// Number of games for each pairing (default: 1, or 2 for swiss and knockout)
    #[arg(short = 'n', long, value_name = "N")]
    games: Option<usize>,
    #[command(flatten)]
    pub concurrency: Concurrency,
    /// Bind each game to its own processor cores (Linux)
    #[arg(long, hide_short_help = true)]
    affinity: bool,
    /// State file for --resume (default: the --pgn file with `.state` appended)
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    state: Option<PathBuf>,
    /// Resume an interrupted match
    #[arg(long)]
    resume: bool,
    /// Write a report to index.html in this folder
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// Write the final statistics to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Append the games to this file
    #[arg(long, value_name = "FILE")]
    pub pgn: Option<PathBuf>,
    /// Value of the `Event` tag of the games
    #[arg(long, hide_short_help = true, default_value = "tabia autoplay", value_name = "NAME")]
    pub event: String,
    #[command(flatten)]
    pub records: Records,
    /// Write every move, both clocks and every result to this file
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Write all traffic with the engines to this file
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    #[command(flatten)]
    pub force: Force,
    /// Test an engine's protocol instead of playing; exit with 4 on a violation
    #[arg(long, value_name = "CMD", conflicts_with_all = ["first", "second", "engines"])]
    pub check: Option<String>,
    /// Write the results of --check to this file, as a JUnit report
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    junit: Option<PathBuf>,
    /// Show every move, as in a match of one game
    #[arg(long, hide_short_help = true)]
    moves: bool,
    /// Print statistics after every N games
    #[arg(long, hide_short_help = true, default_value_t = 10, value_name = "N")]
    pub every: usize,
    #[command(flatten)]
    both: Both,
    #[command(flatten)]
    first_only: First,
    #[command(flatten)]
    second_only: Second,
    #[command(flatten)]
    pub(super) openings: Openings,
    #[command(flatten)]
    endings: Endings,
    #[command(flatten)]
    test: Test,
    #[command(flatten)]
    pub(super) shared: Shared,
    #[cfg(feature = "serve")]
    #[command(flatten)]
    pub(super) live: Live,
}

/// The tournament format; see [`Format`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatName {
    /// Every engine plays every other engine
    #[value(name = "roundrobin")]
    RoundRobin,
    /// The first engine plays all others
    Gauntlet,
    /// Engines with similar scores play each other, for --rounds rounds
    Swiss,
    /// The loser of each pairing is eliminated
    Knockout,
}

/// Defines the options for engines. An option for only one engine ends with the number of the
/// engine, such as `--tc2`.
macro_rules! engine_args {
    ($name:ident, $digit:literal, $heading:literal) => {
        #[doc = concat!($heading, ".")]
        #[derive(Debug, clap::Args)]
        #[command(next_help_heading = $heading)]
        pub(in crate::cli) struct $name {
            /// Time control in seconds: [MOVES/]TIME[+INCREMENT]
            #[arg(id = concat!("tc", $digit), long = concat!("tc", $digit), value_name = "TC", hide_short_help = !$digit.is_empty())]
            tc: Option<TimeControl>,
            /// Seconds for each move
            #[arg(id = concat!("st", $digit), long = concat!("st", $digit), value_name = "S", value_parser = parse_time, hide_short_help = !$digit.is_empty())]
            st: Option<Duration>,
            /// Plies for each move
            #[arg(id = concat!("depth", $digit), long = concat!("depth", $digit), value_name = "N", hide_short_help = !$digit.is_empty())]
            depth: Option<u32>,
            /// Nodes for each move
            #[arg(id = concat!("nodes", $digit), long = concat!("nodes", $digit), value_name = "N", hide_short_help = !$digit.is_empty())]
            nodes: Option<u64>,
            /// Set an engine option; a button takes no value; may be repeated
            #[arg(id = concat!("option", $digit), long = concat!("option", $digit), value_name = "NAME[=VALUE]", value_parser = engine_option, hide_short_help = !$digit.is_empty())]
            options: Vec<(String, String)>,
            /// Think on the opponent's time
            #[arg(id = concat!("ponder", $digit), long = concat!("ponder", $digit), hide_short_help = !$digit.is_empty())]
            ponder: bool,
            /// Protocol: xboard, uci, or auto to detect it
            #[arg(id = concat!("proto", $digit), long = concat!("proto", $digit), default_value = "auto", value_name = "PROTOCOL", hide_short_help = true)]
            protocol: Protocol,
            /// Name to show in tables and games
            #[arg(id = concat!("name", $digit), long = concat!("name", $digit), value_name = "NAME", hide = $digit.is_empty(), hide_short_help = true)]
            name: Option<String>,
            /// Milliseconds by which a move may exceed its time limit (default: 50)
            #[arg(id = concat!("margin", $digit), long = concat!("margin", $digit), value_name = "MS", hide_short_help = true)]
            margin: Option<u64>,
            /// Restart the engine for every game
            #[arg(id = concat!("restart", $digit), long = concat!("restart", $digit), hide_short_help = true)]
            restart: bool,
            /// Wait this many milliseconds after each line, for engines that lose input
            #[arg(id = concat!("pace", $digit), long = concat!("pace", $digit), value_name = "MS", hide_short_help = true)]
            pace: Option<u64>,
            /// Run the engine in this folder
            #[arg(id = concat!("dir", $digit), long = concat!("dir", $digit), value_name = "DIR", hide_short_help = true)]
            dir: Option<PathBuf>,
            /// Set an environment variable; may be repeated
            #[arg(id = concat!("env", $digit), long = concat!("env", $digit), value_name = "NAME=VALUE", value_parser = assignment, hide_short_help = true)]
            env: Vec<(String, String)>,
            /// Send this line at the start; may be repeated
            #[arg(id = concat!("init", $digit), long = concat!("init", $digit), value_name = "LINE", hide_short_help = true)]
            init: Vec<String>,
        }

        impl $name {
            pub(in crate::cli) fn apply(&self, engine: &mut EngineConfig) {
                let own = MoveLimits {
                    clock: self.tc,
                    move_time: self.st,
                    depth: self.depth,
                    nodes: self.nodes,
                };
                if own != MoveLimits::default() {
                    engine.limits = own;
                }
                if let Some(margin) = self.margin {
                    engine.margin = Duration::from_millis(margin);
                }
                engine.ponder |= self.ponder;
                engine.restart |= self.restart;
                engine.pace = self.pace.map(Duration::from_millis).or(engine.pace);
                if self.protocol != Protocol::Auto {
                    engine.protocol = self.protocol;
                }
                if let Some(name) = &self.name {
                    engine.name.clone_from(name);
                }
                engine.options.extend(self.options.iter().cloned());
                engine.env.extend(self.env.iter().cloned());
                engine.init.extend(self.init.iter().cloned());
                if self.dir.is_some() {
                    engine.dir.clone_from(&self.dir);
                }
            }
        }
    };
}

engine_args!(Both, "", "Engines");
engine_args!(First, "1", "First engine");
engine_args!(Second, "2", "Second engine");

impl Both {
    pub(in crate::cli) fn base(&self) -> EngineConfig {
        let mut engine = EngineConfig { margin: DEFAULT_MARGIN, ..EngineConfig::default() };
        self.apply(&mut engine);
        engine
    }
}

/// Rules that end games early.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Ends of games")]
pub(in crate::cli) struct Endings {
    /// Draw after move FROM if both scores are within CP for MOVES moves
    ///
    /// A capture or a pawn move restarts the count.
    #[arg(long, value_name = "FROM,MOVES,CP", value_parser = numbers::<3>)]
    draw: Option<[u32; 3]>,
    /// Award the win if both scores are beyond CP for MOVES moves
    #[arg(long, value_name = "MOVES,CP", value_parser = numbers::<2>)]
    resign: Option<[u32; 2]>,
    /// Declare a draw after this many moves
    #[arg(long, hide_short_help = true, value_name = "N")]
    max_moves: Option<u32>,
    /// End games using the Syzygy tablebases in this folder
    #[arg(long, value_name = "DIR")]
    tablebases: Option<PathBuf>,
    /// Treat an engine as hung S seconds after its flag falls or, without a clock, S seconds into a
    /// move
    #[arg(long, hide_short_help = true, default_value = "10", value_parser = parse_time, value_name = "S")]
    patience: Duration,
}

/// Settings for the sequential test (SPRT).
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Test")]
struct Test {
    /// Stop when ELO0 or ELO1 is accepted for the first engine
    #[arg(long, value_name = "ELO0,ELO1", allow_hyphen_values = true, value_parser = bounds)]
    sprt: Option<[f64; 2]>,
    /// Probability of wrongly accepting ELO1
    #[arg(long, hide_short_help = true, default_value_t = 0.05)]
    alpha: f64,
    /// Probability of wrongly accepting ELO0
    #[arg(long, hide_short_help = true, default_value_t = 0.05)]
    beta: f64,
    /// The unit of ELO0 and ELO1
    #[arg(long, hide_short_help = true, value_enum, default_value_t = Model::Normalized)]
    elo_model: Model,
}

/// The unit of the sequential test's bounds; see [`EloModel`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Model {
    /// Ordinary Elo
    Logistic,
    /// Normalised Elo, independent of the draw rate
    Normalized,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Parses `NAME=VALUE` or `NAME`. Without a value, the returned value is empty.
fn engine_option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let named = (name.to_owned(), value.to_owned());
    if name.is_empty() { Err("expected NAME or NAME=VALUE".to_owned()) } else { Ok(named) }
}

fn numbers<const N: usize>(text: &str) -> Result<[u32; N], String> {
    let fail = || format!("expected {N} numbers with commas between them");
    let parsed: Result<Vec<u32>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    parsed.map_err(|_| fail())?.try_into().map_err(|_| fail())
}

fn bounds(text: &str) -> Result<[f64; 2], String> {
    let fail = || "expected two Elo bounds, like 0,5".to_owned();
    let (first, second) = text.split_once(',').ok_or_else(fail)?;
    let number = |part: &str| part.trim().parse::<f64>().map_err(|_| fail());
    Ok([number(first)?, number(second)?])
}

impl Args {
    pub(crate) fn engine(&self, command: &str) -> anyhow::Result<EngineConfig> {
        let own = EngineConfig::from_command(command)?;
        Ok(EngineConfig { command: own.command, ..self.both.base() })
    }

    pub(crate) fn resolve_engines(&self) -> anyhow::Result<Vec<EngineConfig>> {
        let base = self.both.base();
        let defined = match &self.engines {
            Some(path) => read_engines(path, &base)?,
            None => Vec::new(),
        };
        let mut engines = Vec::new();
        for command in [&self.first, &self.second].into_iter().flatten() {
            let found = defined.iter().find(|engine| engine.label() == *command);
            engines.push(match (found, &self.engines) {
                (Some(engine), _) => engine.clone(),
                (None, Some(path)) if !is_program(command) => {
                    bail!(undefined(command, path, &defined))
                }
                (None, _) => self.engine(command)?,
            });
        }
        match (&self.first, &self.second) {
            (None, None) => engines = defined,
            (Some(_), None) | (None, Some(_)) => {
                bail!(wrong("name both engines, with -1 and with -2"))
            }
            (Some(_), Some(_)) => {
                self.first_only.apply(&mut engines[0]);
                self.second_only.apply(&mut engines[1]);
            }
        }
        ensure!(
            engines.len() >= 2,
            wrong("two engines are needed: name them with -1 CMD -2 CMD, or with --engines FILE")
        );
        for engine in engines.iter_mut().filter(|engine| engine.limits == MoveLimits::default()) {
            engine.limits.move_time = Some(DEFAULT_MOVE_TIME);
        }
        make_unique(&mut engines);
        Ok(engines)
    }

    /// Returns the openings. `machines` is the number of machines that share the match.
    pub(crate) fn resolve_openings(
        &self,
        schedule: &Schedule,
        machines: usize,
    ) -> anyhow::Result<Vec<Opening>> {
        self.openings.resolve(schedule.openings_needed().saturating_mul(machines))
    }

    fn resolve_format(&self) -> anyhow::Result<Format> {
        let name = if self.gauntlet { FormatName::Gauntlet } else { self.format };
        Ok(match (name, self.rounds) {
            (FormatName::Swiss, Some(rounds @ 1..)) => Format::Swiss { rounds },
            (FormatName::Swiss, _) => bail!(wrong("--format swiss needs --rounds N, at least 1")),
            (_, Some(_)) => bail!(wrong(
                "--rounds is the length of a Swiss tournament: it needs --format swiss"
            )),
            (FormatName::RoundRobin, None) => Format::RoundRobin,
            (FormatName::Gauntlet, None) => Format::Gauntlet,
            (FormatName::Knockout, None) => Format::Knockout,
        })
    }

    fn games(&self) -> usize {
        let in_pairs = matches!(self.format, FormatName::Swiss | FormatName::Knockout);
        self.games.unwrap_or(if in_pairs { 2 } else { 1 })
    }

    /// Returns the schedule. Its number of openings is 1 until the openings have been read.
    pub(crate) fn resolve_schedule(&self, engines: usize) -> anyhow::Result<Schedule> {
        let (format, games) = (self.resolve_format()?, self.games());
        ensure!(games > 0, wrong("--games: at least one game must be played"));
        ensure!(
            !format.has_rounds() || games.is_multiple_of(2),
            wrong(
                "--games: this format needs an even number, so that both engines have White as often"
            )
        );
        ensure!(
            !matches!(format, Format::Swiss { .. }) || engines <= MAX_ENGINES,
            wrong(format!("a Swiss tournament has at most {MAX_ENGINES} engines, not {engines}"))
        );
        Ok(Schedule { engines, format, games, openings: 1, reversed: !self.openings.no_reverse })
    }

    /// Returns the engines that may differ when the match is resumed. These are all engines of the
    /// engines file, or none if `-1` is given.
    pub(crate) fn entrants(&self, engines: &[EngineConfig]) -> Vec<Entrant> {
        let entrant =
            |engine: &EngineConfig| Entrant { name: engine.label(), settings: described(engine) };
        if self.first.is_some() { Vec::new() } else { engines.iter().map(entrant).collect() }
    }

    pub(crate) fn resolve_conditions(&self) -> anyhow::Result<Conditions> {
        self.endings.resolve()
    }

    pub(crate) fn resolve_sprt(&self, engines: usize) -> anyhow::Result<Option<Sprt>> {
        let Test { sprt, alpha, beta, elo_model } = self.test;
        let model = match elo_model {
            Model::Logistic => EloModel::Logistic,
            Model::Normalized => EloModel::Normalized,
        };
        let test = sprt.map(|[elo0, elo1]| Sprt { elo0, elo1, alpha, beta, model }.checked());
        let test = test.transpose().context("--sprt").map_err(of_arguments)?;
        ensure!(
            test.is_none() || !self.openings.no_reverse,
            wrong("--sprt counts pairs of games: it does not go with --no-reverse")
        );
        ensure!(
            test.is_none() || engines == 2,
            wrong(format!(
                "--sprt tests two engines, but {engines} play; select two with -1 and -2"
            ))
        );
        Ok(test)
    }

    /// Makes sure that the operating system lets this process open enough files for its games.
    pub(crate) fn allow_open_files(&self, schedule: &Schedule) -> anyhow::Result<()> {
        let pairings = schedule.engines * (schedule.engines - 1) / 2;
        let games = self.concurrency.count().min(schedule.games.saturating_mul(pairings));
        allow_open_files(games, self.records.stores_errors())
    }

    /// Returns the cores for each simultaneous game. The list is empty without `--affinity`.
    pub(crate) fn resolve_cores(&self) -> anyhow::Result<Vec<Cores>> {
        if !self.affinity {
            return Ok(Vec::new());
        }
        Cores::deal(self.concurrency.count()).context("--affinity")
    }

    pub(crate) fn places(&self) -> Places {
        // By default, the state file is stored next to the PGN file. This is impossible if the PGN
        // is written to a pipe or a device.
        let is_stream = |path: &Path| path.metadata().is_ok_and(|there| !there.is_file());
        let beside_pgn = self.pgn.as_ref().filter(|path| !is_stream(path)).map(|path| {
            let mut path = path.clone().into_os_string();
            path.push(".state");
            PathBuf::from(path)
        });
        Places {
            pgn: self.pgn.clone(),
            state: self.state.clone().or_else(|| self.shared.state()).or(beside_pgn),
            resume: self.resume,
            keep: self.report.is_some(),
            epd: self.records.epdout.clone(),
            style: self.records.style(&self.event),
        }
    }

    /// Prepares a file for overwriting. Fails if the match reads the file or appends to it.
    pub(crate) fn output<'a>(&'a self, path: &'a Path, kind: FileKind) -> Output<'a> {
        let output = Output::new(path, kind).force(self.force.allowed);
        output.apart_from(&self.engines).apart_from(&self.openings.file).apart_from(&self.pgn)
    }

    pub(crate) fn report_page(&self) -> Option<PathBuf> {
        self.report.as_deref().map(|folder| folder.join("index.html"))
    }

    /// Checks that the output files of the match can be written.
    pub(crate) fn check_outputs(&self) -> Result<(), FileError> {
        if let Some(path) = self.report_page().filter(|path| path.exists()) {
            self.output(&path, FileKind::HTML).check()?;
        }
        if let Some(path) = &self.records.epdout {
            self.output(path, EPD).check()?;
        }
        self.json.as_deref().map_or(Ok(()), |path| self.output(path, FileKind::JSON).check())
    }

    /// Describes every setting that affects the results, one per line, except [`Self::entrants`].
    pub(crate) fn settings(&self, engines: &[EngineConfig], schedule: &Schedule) -> String {
        let mut lines: Vec<String> = Vec::new();
        let fixed = if self.first.is_some() { engines } else { &[] };
        for (index, engine) in fixed.iter().enumerate() {
            lines.push(format!("engine {}: {}", index + 1, described(engine)));
        }
        lines.push(self.openings.settings());
        lines.push(format!("games: {} {:?}", schedule.games, schedule.format));
        lines.push(format!("colours reversed: {}", schedule.reversed));
        lines.push(self.endings_settings());
        lines.join("\n")
    }

    pub(super) fn endings_settings(&self) -> String {
        self.endings.settings()
    }

    pub(crate) fn patience(&self) -> Duration {
        self.endings.patience
    }

    pub(crate) fn junit(&self) -> Option<Output<'_>> {
        self.junit.as_deref().map(|path| self.output(path, FileKind::JUNIT))
    }

    pub(crate) fn resumes(&self) -> bool {
        self.resume
    }

    pub(crate) fn shows_moves(&self) -> bool {
        self.moves || self.games() == 1
    }
}

impl Endings {
    pub(in crate::cli) fn resolve(&self) -> anyhow::Result<Conditions> {
        let Endings { draw, resign, max_moves, patience, .. } = *self;
        let limit = |score: u32| i32::try_from(score).unwrap_or(i32::MAX);
        let rules = Rules {
            draw: draw.map(|[from_move, moves, score]| DrawRule {
                from_move,
                moves,
                score: limit(score),
            }),
            win: resign.map(|[moves, score]| WinRule { moves, score: limit(score) }),
            max_moves,
        };
        let tablebases = self.tablebases.as_deref().map(Tables::open).transpose()?;
        tablebases.iter().flat_map(Tables::take_damage).for_each(|fault| errln!("{fault}"));
        Ok(Conditions { rules, tablebases, timeout: patience })
    }

    /// Describes the rules that end games early. The description is unique to each set of rules, so
    /// it shows whether a resumed match uses the same rules.
    pub(in crate::cli) fn settings(&self) -> String {
        let Endings { draw, resign, max_moves, tablebases, .. } = self;
        format!("ends: {draw:?} {resign:?} {max_moves:?} {tablebases:?}")
    }
}

pub(in crate::cli) fn described(engine: &EngineConfig) -> String {
    let EngineConfig { command, limits, margin, ponder, options, init, .. } = engine;
    format!(
        "{command:?} {limits:?}, margin {margin:?}, ponder {ponder}, options {options:?}, init {init:?}"
    )
}

pub(in crate::cli) fn check_limits(engine: &EngineConfig) -> anyhow::Result<()> {
    ensure!(
        engine.limits != MoveLimits::default(),
        wrong(format!(
            "nothing limits the thinking of {}: give --tc, --st, --depth or --nodes",
            engine.label()
        ))
    );
    Ok(())
}
