//! `tabia` without a subcommand: plays under a GUI or in the terminal.

use std::io::{self, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use crossbeam::channel::{Receiver, SendTimeoutError, Sender, unbounded};

use super::args::{EvaluationArgs, parse_memory};
use super::console::{self, Console};
use super::logging::{Log, Verbosity};
use crate::cli::output::{self, outln};
use crate::engine::controller::{self, Engine, Flow, Frontend, Input, Queue, Settings};
use crate::engine::search::BookSearch;
use crate::games::book::{BOOK_SEPARATOR, Book, EMBEDDED_NAME, NO_BOOK_NAME, OpponentBook};
use crate::protocols::cecp::{self, Feature, Reply};
use crate::protocols::uci;
use crate::support::files::Cannot;
use crate::support::platform::{Event, on_events};

/// The exit status that shells report for a process terminated by SIGTERM.
const TERMINATED: i32 = 128 + 15;

/// Options for playing.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Engine mode: speak the xboard protocol
    #[arg(short = 'x', long, conflicts_with = "uci")]
    xboard: bool,
    /// Engine mode: speak UCI
    #[arg(long)]
    uci: bool,
    /// Also use a book inside the search (.tbk, .pgn, .bin, `embedded`)
    #[arg(short = 'b', long = "bookpvs", value_name = "BOOK", num_args = 0..=1,
          default_missing_value = EMBEDDED_NAME)]
    bookpvs: Vec<String>,
    /// Play opening moves from this book
    #[arg(long, value_name = "BOOK", conflicts_with_all = ["bookpvs", "no_book"])]
    book: Vec<String>,
    /// Play no moves from a book
    #[arg(long)]
    no_book: bool,
    /// Load learned results from this file, and save new ones to it
    #[arg(long, value_name = "FILE")]
    learn: Option<PathBuf>,
    /// Book inside the search: off, first, stop, value, steer
    #[arg(long, value_name = "MODE", hide_possible_values = true, value_parser = PossibleValuesParser::new(BookSearch::NAMES).try_map(|name| name.parse::<BookSearch>()))]
    book_search: Option<BookSearch>,
    /// Play like a player with this rating (800 or more)
    #[arg(long, value_name = "RATING", value_parser = clap::value_parser!(i64).range(controller::ratings()))]
    elo: Option<i64>,
    /// Play like the players in GAMES.pgn[,player=NAME][,ratings=A-B]
    #[arg(long, alias = "spar", value_name = "GAMES")]
    opponent_book: Option<String>,
    /// Number of threads
    #[arg(long, alias = "cores", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: Option<u32>,
    /// Memory for the transposition table, such as 64 or 64M
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    memory: Option<usize>,
    #[command(flatten)]
    evaluation: EvaluationArgs,
    /// Write the log to this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Folder of the Syzygy tablebases
    #[arg(long, value_name = "DIR")]
    egtpath: Option<PathBuf>,
}

impl Args {
    /// Returns the names of the books as one string, in order of priority. The string is empty if
    /// only the embedded book is used.
    fn books(&self) -> String {
        let books = [&self.bookpvs[..], &self.book].concat();
        if books == [EMBEDDED_NAME] {
            return String::new();
        }
        books.join(&BOOK_SEPARATOR.to_string())
    }

    fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        let text = |path: &Path| path.to_string_lossy().into_owned();
        settings.own_book = !self.no_book;
        settings.book = self.books();
        if self.no_book && self.learn.is_some() && settings.book.is_empty() {
            // Disable the book, because the search would otherwise also probe the embedded book.
            settings.book = NO_BOOK_NAME.to_owned();
        }
        settings.learn = self.learn.as_deref().map(text).unwrap_or_default();
        settings.search.book_search = match self.book_search {
            Some(mode) => mode,
            None if !self.bookpvs.is_empty() || self.learn.is_some() => BookSearch::Value,
            None => BookSearch::Off,
        };
        settings.opponent_book = self.opponent_book.clone().unwrap_or_default();
        settings.limited = self.elo.is_some();
        self.elo.iter().for_each(|&elo| settings.elo = elo);
        self.threads.iter().for_each(|&threads| settings.set_threads(threads));
        self.memory.iter().for_each(|&bytes| settings.set_memory((bytes >> 20).max(1) as u64));
        settings.evaluation = self.evaluation.kind;
        settings.network = self.evaluation.network.as_deref().map(text).unwrap_or_default();
        settings.tablebases = self.egtpath.as_deref().map(text).unwrap_or_default();
        settings.log = self.log.as_deref().map(text).unwrap_or_default();
        settings
    }
}

struct Opened {
    settings: Settings,
    book: Book,
    opponent_book: Option<OpponentBook>,
    faults: Vec<String>,
}

fn open(mut settings: Settings, log: &Log) -> Opened {
    let mut faults = Vec::new();
    if let Err(error) = log.open(&settings.log).cannot("write the log", &settings.log) {
        faults.push(error.to_string());
        settings.log.clear();
    }
    let (book, opened, closed) = Book::open_any(&settings.book);
    settings.book = opened;
    faults.extend(closed.iter().map(ToString::to_string));
    faults.extend(settings.open_usable().iter().map(ToString::to_string));
    let opponent_book = match settings.opponent_book.as_str() {
        "" => None,
        spec => OpponentBook::open(spec).map_err(|error| faults.push(error.to_string())).ok(),
    };
    if opponent_book.is_none() {
        settings.opponent_book.clear();
    }
    Opened { settings, book, opponent_book, faults }
}

fn startup_warnings(faults: &[String]) -> Option<String> {
    let words = || format!("{}; going on with what is left or built in", faults.join("; "));
    (!faults.is_empty()).then(words)
}

/// Plays until the user quits.
///
/// In the terminal, an unusable file is an error. Under a GUI, the engine reports it and continues:
/// if the engine exited, the GUI would keep waiting and would not show the reason.
pub(super) fn run(args: &Args, verbosity: &Verbosity) -> anyhow::Result<ExitCode> {
    let console = !args.xboard && !args.uci && io::stdin().is_terminal();
    let log = if console { Log::of_console(verbosity) } else { Log::of_protocol(verbosity) };
    let log = log.install();
    let (sender, direct_sender, inputs) = controller::inputs();
    watch_signals(sender.clone(), console)?;
    if args.xboard && (!args.books().is_empty() || args.opponent_book.is_some()) {
        // Ask xboard to wait for the features, because counting the games in a PGN file may take
        // longer than its timeout.
        outln!("{}", Reply::Features(vec![Feature::number("done", 0)]))?;
        output::stdout().flush()?;
    }
    let Opened { settings, book, opponent_book, faults } = open(args.settings(), &log);
    let mut engine = Engine::new(controller::searcher(), settings, book)?;
    opponent_book.into_iter().for_each(|opponent_book| engine.play_by_opponent_book(opponent_book));
    engine.on_log_file(Box::new(move |name| log.open(name)));
    if console {
        anyhow::ensure!(faults.is_empty(), "{}", faults.join("; "));
        return run_console(engine, sender, &inputs);
    }
    controller::read_lines(BufReader::new(io::stdin()), direct_sender)?;
    let first = if args.xboard || args.uci { None } else { first_words(&inputs.messages) };
    let asks_for_uci = matches!(&first, Some(Input::Line(line)) if is_uci(line));
    let startup_warnings = startup_warnings(&faults);
    let frontend: Box<dyn Frontend> = if args.uci || asks_for_uci {
        // By default, do not play book moves, because UCI GUIs have their own openings and expect
        // every `go` to start a search.
        if args.books().is_empty() {
            engine.set_own_book(false);
        }
        Box::new(
            uci::Session::new(engine, output::stdout()).with_startup_warnings(startup_warnings),
        )
    } else {
        Box::new(
            cecp::Session::new(engine, output::stdout()).with_startup_warnings(startup_warnings),
        )
    };
    match converse(frontend, first, &inputs) {
        // Ignore a broken pipe: the GUI has exited, so the error cannot be reported.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Returns the first input that is not a blank line. This input determines the protocol.
fn first_words(inputs: &Receiver<Input>) -> Option<Input> {
    inputs.iter().find(|input| !matches!(input, Input::Line(line) if line.trim().is_empty()))
}

/// Returns whether a line selects UCI. As the specification requires, unknown words before `uci`
/// are ignored.
fn is_uci(line: &str) -> bool {
    matches!(line.parse(), Ok(uci::Command::Uci))
}

fn run_console(
    engine: Engine,
    lines: Sender<Input>,
    inputs: &Queue<Input>,
) -> anyhow::Result<ExitCode> {
    let (prompts, asked) = unbounded();
    console::read_lines(asked, lines)?;
    let fancy = io::stdout().is_terminal();
    let mut console = Console::new(engine, Box::new(output::stdout()), prompts, fancy);
    console.print_greeting()?;
    controller::run(Box::new(console), inputs)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs a frontend. It first processes the input that has already been read.
fn converse(
    mut frontend: Box<dyn Frontend>,
    first: Option<Input>,
    inputs: &Queue<Input>,
) -> io::Result<()> {
    match first.map_or(Ok(Flow::Continue), |input| frontend.input(input))? {
        Flow::Continue => controller::run(frontend, inputs),
        Flow::Quit => Ok(()),
    }
}

/// Makes SIGTERM end the session. In the console, SIGINT makes the engine move immediately. Under a
/// GUI, SIGINT is ignored, because old GUIs send it to get the engine's attention.
fn watch_signals(sender: Sender<Input>, console: bool) -> io::Result<()> {
    on_events(&[Event::Interrupt, Event::Terminate], move |event| match event {
        Event::Terminate => leave(&sender),
        // Ignore the error: sending fails only if the frontend has already exited.
        _ if console => drop(sender.send(Input::Line("?".to_owned()))),
        _ => {}
    })
}

/// Requests the end of the session. A frontend that is blocked, because its output is not being
/// read, cannot receive the request. In that case, the process exits here.
fn leave(sender: &Sender<Input>) {
    /// The time between two checks of the output. The process exits if both find the pipe full.
    const PAUSE: Duration = Duration::from_millis(200);
    let mut is_sent = false;
    loop {
        let was_full = !output::has_room();
        match is_sent {
            true => thread::sleep(PAUSE),
            false => {
                let sent = sender.send_timeout(Input::Leave, PAUSE);
                is_sent = !matches!(sent, Err(SendTimeoutError::Timeout(_)));
            }
        }
        if was_full && !output::has_room() {
            std::process::exit(TERMINATED);
        }
    }
}
