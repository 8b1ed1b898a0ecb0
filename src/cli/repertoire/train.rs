//! `tabia repertoire train`: trains the user on the moves of a repertoire.

use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

use super::findings::text;
use super::searches::Searches;
use super::train_words::{introduction, judged, piece_name, progress, summary};
use super::{ReferenceArgs, RepertoireArgs, parse_share};
use crate::chess::notation;
use crate::chess::position::{Move, Position};
use crate::cli::args::{SearchLimit, TableMemory};
use crate::cli::console::{BoardStyle, draw};
use crate::cli::output::outln;
use crate::cli::work::INTERRUPTED;
use crate::cli::writing::{Force, GAMES, check_texts, write_text};
use crate::games::repertoire::{Hint, Search, Time, Training, TrainingOptions};
use crate::support::clock::since_epoch;
use crate::support::files::Output;
use crate::support::words::visible;

/// The suffix that turns the name of a repertoire into the name of its journal.
const JOURNAL_ENDING: &str = ".training";
/// By default, questions cover unanswered positions reached by at least this share of games.
pub(in crate::cli) const END_PROBABILITY: f64 = 0.01;
const HELP: &str = "Type a move such as Nf3 or g1f3, or `hint`, `skip` or `quit`.";

/// Learn a repertoire by answering questions
///
/// Asks for your move in positions of the repertoire, and in positions where it ends. Frequent
/// positions and answers that you have probably forgotten come first (spaced repetition, FSRS). The
/// opponent's replies are drawn from the reference by frequency. Answers are stored in a journal
/// next to the repertoire.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("reference", |arg| arg.short('b')),
    mut_arg("nodes", |arg| arg.help("Search moves that the reference has not analysed, with this many nodes")),
    mut_arg("seconds", |arg| arg.help("Search such moves for this many seconds, instead of nodes"))
)]
pub(super) struct Args {
    #[command(flatten)]
    repertoire: RepertoireArgs,
    #[command(flatten)]
    reference: ReferenceArgs,
    /// Number of questions; with 0, the session ends when no position is due
    #[arg(long, value_name = "N", default_value_t = 20)]
    questions: usize,
    /// Ask about unanswered positions that occur in at least this share of games, from 0 to 1
    #[arg(long, value_name = "P", default_value_t = END_PROBABILITY, value_parser = parse_share)]
    min_probability: f64,
    /// Journal of the answers (default: the first REPERTOIRE with .training appended)
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Seed of the random choices (default: the time)
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    search: SearchLimit,
    #[command(flatten)]
    memory: TableMemory,
    /// Write good answers that are missing from the repertoire to this file, as games
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let journal = args.journal();
    let output = args.pgn.as_deref().map(|path| {
        let inputs = args.repertoire.paths.iter().chain([&args.reference.reference, &journal]);
        Output::new(path, GAMES).force(args.force.allowed).apart_from(inputs)
    });
    let is_text_printed = check_texts(&output, false)?;
    let (repertoire, book) = (args.repertoire.open()?, args.reference.open()?);
    let seed = args.seed.unwrap_or_else(now);
    let options = TrainingOptions { min_probability: args.min_probability, seed };
    let training = Training::open(repertoire, book, &options, Some(&journal))?;
    let searches = Searches::new(&args.search, &args.memory);
    let mut session = Session { training, searches, keyboard: Keyboard::new()?, asked: 0 };
    outln!("{}", introduction(&session.training, now()))?;
    let status = session.run(args.questions)?;
    outln!("\n{}", summary(&session.training, now()))?;
    let games = session.training.additions();
    if let Some(output) = output.filter(|_| !games.is_empty()) {
        let text: String = games.iter().map(|game| format!("{game}\n")).collect();
        write_text(&output, &text)?;
        if !is_text_printed {
            outln!("The good answers are in {}.", output.path().display())?;
        }
    }
    Ok(status)
}

impl Args {
    fn journal(&self) -> PathBuf {
        self.journal.clone().unwrap_or_else(|| journal_beside(&self.repertoire.paths[0]))
    }
}

pub(in crate::cli) fn journal_beside(repertoire: &Path) -> PathBuf {
    // Drop a trailing slash from the name of a folder, so that the journal is next to the folder
    // and not in it.
    let mut name = repertoire.components().collect::<PathBuf>().into_os_string();
    name.push(JOURNAL_ENDING);
    name.into()
}

fn now() -> Time {
    since_epoch().as_secs()
}

struct Session {
    training: Training,
    searches: Option<Searches>,
    keyboard: Keyboard,
    asked: usize,
}

enum End {
    Answered,
    Quit(ExitCode),
}

impl Session {
    fn run(&mut self, questions: usize) -> anyhow::Result<ExitCode> {
        while questions == 0 || self.asked < questions {
            if self.training.ask(now()).is_none() {
                outln!("\n{}", progress(&self.training, now()))?;
                break;
            }
            self.asked += 1;
            self.show()?;
            if let End::Quit(status) = self.wait_for_answer()? {
                return Ok(status);
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn show(&self) -> io::Result<()> {
        let Some(question) = self.training.question() else { return Ok(()) };
        let line = text(&question.line.start, &question.line.moves);
        let line = if line.is_empty() { "The start of your repertoire".to_owned() } else { line };
        let again = if question.is_repeated { " (again)" } else { "" };
        let below = self.training.repertoire().side;
        let style = BoardStyle { below, ..BoardStyle::of_output(io::stdout().is_terminal()) };
        let board = draw(&question.position, question.line.moves.last().copied(), style);
        outln!("\nQuestion {}{again}: {line}\n\n{board}", self.asked)?;
        match question.gap {
            Some(_) => outln!("Your repertoire ends here. What would you play?"),
            None => outln!("Your move?"),
        }
    }

    fn wait_for_answer(&mut self) -> anyhow::Result<End> {
        while let Some(position) = self.training.question().map(|question| question.position) {
            let side = notation::color(position.side_to_move());
            let prompt = format!("{side} ({}): ", position.fullmove_number());
            let line = match self.keyboard.read(&prompt)? {
                Typed::Line(line) => line,
                Typed::End => return Ok(End::Quit(ExitCode::SUCCESS)),
                Typed::Interrupted => return Ok(End::Quit(ExitCode::from(INTERRUPTED))),
            };
            match line.trim() {
                "" => {}
                "quit" | "q" | "exit" => return Ok(End::Quit(ExitCode::SUCCESS)),
                "skip" | "s" => self.training.skip(),
                "hint" | "h" => self.hint(&position)?,
                "help" | "?" => outln!("{HELP}")?,
                word => match position.parse_move(word) {
                    Ok(mv) => self.answer(&position, mv)?,
                    Err(error) => outln!("{}: {error}. {HELP}", visible(word))?,
                },
            }
        }
        Ok(End::Answered)
    }

    fn hint(&mut self, position: &Position) -> io::Result<()> {
        match self.training.hint() {
            Some(Hint::Piece(piece)) => outln!("A {} moves.", piece_name(piece)),
            Some(Hint::Move(mv)) => outln!("The move is {}.", position.san(mv)),
            None => outln!("The reference has no move here."),
        }
    }

    fn answer(&mut self, position: &Position, mv: Move) -> anyhow::Result<()> {
        let mut search = self.searches.as_mut().map(|searches| {
            |position: &Position, moves: Vec<Move>| searches.value(position, &moves)
        });
        let search = search.as_mut().map(|search| search as &mut Search<'_>);
        let gap = self.training.question().and_then(|question| question.gap);
        if let Some(judgement) = self.training.answer(mv, now(), search)? {
            outln!("{}", judged(&self.training, position, gap, &judgement))?;
        }
        Ok(())
    }
}

/// Reads lines, with prompts and line editing if the input is a terminal.
enum Keyboard {
    Terminal(Box<DefaultEditor>),
    Stream,
}

enum Typed {
    Line(String),
    Interrupted,
    End,
}

impl Keyboard {
    fn new() -> rustyline::Result<Self> {
        match io::stdin().is_terminal() {
            true => Ok(Keyboard::Terminal(Box::new(DefaultEditor::new()?))),
            false => Ok(Keyboard::Stream),
        }
    }

    fn read(&mut self, prompt: &str) -> anyhow::Result<Typed> {
        match self {
            Keyboard::Terminal(editor) => match editor.readline(prompt) {
                Ok(line) => Ok(Typed::Line(line)),
                Err(ReadlineError::Interrupted) => Ok(Typed::Interrupted),
                Err(ReadlineError::Eof) => Ok(Typed::End),
                Err(error) => Err(error.into()),
            },
            Keyboard::Stream => {
                let mut line = Vec::new();
                match io::stdin().lock().read_until(b'\n', &mut line)? {
                    0 => Ok(Typed::End),
                    _ => Ok(Typed::Line(String::from_utf8_lossy(&line).into_owned())),
                }
            }
        }
    }
}
