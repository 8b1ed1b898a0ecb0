//! `tabia annotate`: annotates games with engine searches.

use std::collections::BTreeMap;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use super::args::{EvaluationArgs, GamePaths, SearchLimit, TableMemory, Threads};
use super::book::{lowercase, parse_side};
use super::output::{self, errln};
use super::repertoire::RepertoireArgs;
use super::work::{Progress, exit_status, stop_switches};
use super::writing::{Force, GAMES, files_of};
use crate::chess::notation;
use crate::chess::position::Color;
use crate::engine::search::Config;
use crate::games::book::{BOOK_SEPARATOR, Book, EMBEDDED_NAME, Names};
use crate::games::pgn::{GameEnd, GameStatus, PgnGame, PgnInput, read_games};
use crate::games::repertoire::{Node, Repertoire};
use crate::support::files::{Cannot, FileError, FileKind, Output};
use crate::support::words::{number_of, plural, visible};
use crate::tools::annotate::journal::AnnotatedGames;
use crate::tools::annotate::work::{Numbered, Plan, annotate_all};
use crate::tools::annotate::{Annotated, Background, Effort, Limits, NODES, describe, page};
use crate::tools::suite::Switch;

/// Find mistakes in games and add better lines
///
/// Marks moves that lose expected points as inaccuracies (?!), mistakes (?) or blunders (??), and
/// adds the better line as a variation. Comments report moves without a good alternative, missed
/// mates, the opening, the position where the game left the book, and each player's accuracy.
/// Existing comments are kept. With -o, the same command resumes an interrupted run.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("nodes", |arg| arg.help(format!("Nodes for each position (default: {NODES})"))),
    mut_arg("memory", |arg| arg.default_value("16M"))
)]
pub(super) struct Args {
    #[command(flatten)]
    games: GamePaths,
    /// Write the annotated games to this file (default: standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also write an HTML page with a board, expected points and turning points
    #[arg(long, value_name = "FILE", requires = "output")]
    html: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    limit: SearchLimit,
    /// Minimum loss of expected points (0 to 1) for an inaccuracy, a mistake and a blunder
    #[arg(long, value_name = "A,B,C", default_value_t, value_parser = parse_limits)]
    limits: Limits,
    /// Compare the games with this book, or with several books separated by ;
    #[arg(long, value_name = "BOOK", default_value = EMBEDDED_NAME)]
    book: String,
    #[command(flatten)]
    repertoire: OwnRepertoire,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    memory: TableMemory,
    #[command(flatten)]
    evaluation: EvaluationArgs,
}

/// The repertoire of one of the players.
#[derive(Debug, clap::Args)]
struct OwnRepertoire {
    /// Note where games leave or reach this repertoire (PGN, a folder or a book); may be repeated
    #[arg(long, value_name = "REPERTOIRE")]
    repertoire: Vec<PathBuf>,
    /// The side of the repertoire (default: the side that the book was made for)
    #[arg(long, value_parser = parse_side, requires = "repertoire")]
    side: Option<Color>,
    /// Use the repertoire only if its side is played by NAME (part of a name); may be repeated
    #[arg(long, value_name = "NAME", requires = "repertoire")]
    player: Vec<String>,
}

impl OwnRepertoire {
    /// Describes the repertoire and the player in one line. Empty if there is no repertoire.
    fn describe(&self, repertoire: Option<&Repertoire>) -> String {
        let Some(repertoire) = repertoire else { return String::new() };
        let of_node = |node: &Node| {
            let after = node.moves.iter().map(|known| node.position.play(known.mv).key());
            after.fold(node.position.key(), |sum, key| sum.rotate_left(1).wrapping_add(key))
        };
        let checksum = repertoire.nodes().map(of_node).fold(0, u64::wrapping_add);
        let (side, players) = (notation::color(repertoire.side), self.player.join(" or "));
        format!("; repertoire {checksum:016x} for {side} {players}")
    }
}

/// Parses the values of `--limits`: three losses of expected points, from 0 to 1, in ascending
/// order.
fn parse_limits(text: &str) -> Result<Limits, String> {
    let shares: Option<Vec<f64>> = text.split(',').map(|share| share.trim().parse().ok()).collect();
    match shares.as_deref() {
        Some(&[inaccuracy, mistake, blunder])
            if 0.0 < inaccuracy && inaccuracy < mistake && mistake < blunder && blunder <= 1.0 =>
        {
            Ok(Limits { inaccuracy, mistake, blunder })
        }
        _ => Err(format!("expected three rising numbers up to 1, such as {}", Limits::default())),
    }
}

impl Args {
    fn effort(&self) -> Effort {
        self.limit
            .seconds
            .map_or_else(|| Effort::Nodes(self.limit.nodes.unwrap_or(NODES)), Effort::Time)
    }

    /// Describes in one line every setting that affects the annotated games.
    fn settings(&self, inputs: &[PgnInput], book: &Book, rest: &str) -> String {
        let Limits { inaccuracy, mistake, blunder } = self.limits;
        let inputs: Vec<String> = inputs
            .iter()
            .map(|input| format!("{} ({} bytes)", input.name(), input.size().unwrap_or(0)))
            .collect();
        visible(&format!(
            "version {}; {}; limits {inaccuracy}, {mistake}, {blunder}; book {:016x}; {} MB; {rest}; {}",
            env!("CARGO_PKG_VERSION"),
            self.effort().describe(),
            book.checksum(),
            self.memory.mebibytes(),
            inputs.join(", ")
        ))
        .into_owned()
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let inputs = PgnInput::from_paths(&args.games.games)?;
    let book = Book::open_all(&args.book)?;
    let evaluation = args.evaluation.open()?;
    let OwnRepertoire { repertoire: paths, side, .. } = &args.repertoire;
    let repertoire = RepertoireArgs::open_given(paths, *side)?;
    let described = args.repertoire.describe(repertoire.as_ref());
    let settings = args.settings(&inputs, &book, &format!("{evaluation}{described}"));
    let mut target = args
        .output
        .as_deref()
        .map(|path| Target::open(path, args, &inputs, &settings))
        .transpose()?;
    let held = |number| target.as_ref().is_some_and(|target| target.journal.holds(number));
    let count = count(&inputs)?;
    let plan = Plan {
        config: Config { memory_mb: args.memory.mebibytes(), evaluation, ..Config::default() },
        effort: args.effort(),
    };
    let (names, players) = (Names::embedded(), lowercase(&args.repertoire.player));
    let background = Background {
        book: &book,
        names: &names,
        repertoire: repertoire.as_ref(),
        players: &players,
        limits: args.limits,
        effort: args.effort().describe(),
    };
    let switches = stop_switches(args.threads.count())?;

    let failure = Failure::default();
    let held: Vec<bool> = (0..count.unwrap_or(0)).map(held).collect();
    let games = Games::new(inputs, failure.clone())
        .filter(move |(number, _)| !held.get(*number as usize).is_some_and(|&held| held));
    let held = target.as_ref().map_or(0, |target| target.journal.len());
    let mut progress = Progress::new(count.unwrap_or(0), held as u64, "games");
    let mut printer = Printer::default();
    let done = annotate_all(games, &plan, &background, &switches, |(number, annotated)| {
        match &mut target {
            Some(target) => target.journal.append(number, annotated.pgn.to_string())?,
            None => printer.print(number, &annotated)?,
        }
        log_accuracy(&annotated);
        progress.step();
        anyhow::Ok(())
    });
    progress.finish();
    done?;
    failure.take().map_or(Ok(()), Err)?;
    let stopped = switches.iter().any(Switch::is_stopped);
    if let Some(target) = target {
        target.close(args, stopped, count)?;
    }
    Ok(exit_status(stopped))
}

/// The files to which annotated games are written at the end. Until then, a journal stores the
/// games.
struct Target<'a> {
    output: Output<'a>,
    page: Option<Output<'a>>,
    journal: AnnotatedGames,
}

impl<'a> Target<'a> {
    fn open(
        path: &'a Path,
        args: &'a Args,
        inputs: &[PgnInput],
        settings: &str,
    ) -> anyhow::Result<Self> {
        let output = |path, kind| {
            let output = Output::new(path, kind).force(args.force.allowed);
            output
                .apart_from(files_of(inputs))
                .apart_from(args.book.split(BOOK_SEPARATOR))
                .apart_from(&args.repertoire.repertoire)
        };
        let page = args.html.as_deref().map(|html| output(html, FileKind::HTML));
        let output = output(path, GAMES);
        output.check()?;
        page.as_ref().map_or(Ok(()), |page| page.check_beside(&output))?;
        let mut journal = path.as_os_str().to_owned();
        journal.push(".annotations");
        Ok(Target { output, page, journal: AnnotatedGames::open(Path::new(&journal), settings)? })
    }

    /// Writes all complete games to the output. Keeps the journal for the next run if `stopped` is
    /// set.
    fn close(mut self, args: &Args, stopped: bool, count: Option<u64>) -> anyhow::Result<()> {
        let path = self.output.path();
        let mut file = self.output.stream()?;
        self.journal.write_all(&mut file).cannot("write", path)?;
        file.keep()?;
        if let Some(page) = &self.page {
            page.write(page_of(path)?.as_bytes())?;
        }
        let games = self.journal.len();
        if stopped {
            let of = count.map_or_else(String::new, |count| format!(" of {count}"));
            errln!(
                "{}: {games}{of} {}; the same command goes on from here",
                path.display(),
                plural(games as u64, "game")
            );
            return Ok(());
        }
        self.journal.remove()?;
        errln!(
            "{}: {}, {}",
            path.display(),
            number_of(games as u64, "game"),
            args.effort().describe()
        );
        Ok(())
    }
}

fn page_of(path: &Path) -> Result<String, FileError> {
    let text = std::fs::File::open(path).cannot("read", path)?;
    let games = read_games(BufReader::new(text)).map(|game| game.map(|(game, _)| game));
    let games: std::io::Result<Vec<PgnGame>> = games.collect();
    Ok(page(&games.cannot("read", path)?))
}

#[derive(Default)]
struct Printer {
    next: u64,
    early: BTreeMap<u64, String>,
}

impl Printer {
    fn print(&mut self, number: u64, annotated: &Annotated) -> std::io::Result<()> {
        self.early.insert(number, annotated.pgn.to_string());
        let mut out = output::stdout();
        while let Some(pgn) = self.early.remove(&self.next) {
            writeln!(out, "{pgn}")?;
            self.next += 1;
        }
        out.flush()
    }
}

fn log_accuracy(annotated: &Annotated) {
    let tag = |name| annotated.pgn.tag(name).unwrap_or("?");
    let [white, black] = annotated.players.each_ref().map(describe);
    let (name, opponent) = (visible(tag("White")), visible(tag("Black")));
    log::info!("{name} - {opponent}: White: {white}; Black: {black}");
}

#[derive(Clone, Default)]
struct Failure(Arc<Mutex<Option<FileError>>>);

impl Failure {
    fn set(&self, error: FileError) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    fn take(&self) -> Option<FileError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

type Reading = Box<dyn Iterator<Item = std::io::Result<(PgnGame, GameEnd)>> + Send>;

/// Reads the games in all inputs and numbers them from 0. Skips games of chess variants.
struct Games {
    inputs: std::vec::IntoIter<PgnInput>,
    open: Option<(String, Reading)>,
    /// The number of games read from the current input, including games that were skipped.
    in_input: u64,
    number: u64,
    failure: Failure,
}

impl Games {
    fn new(inputs: Vec<PgnInput>, failure: Failure) -> Self {
        Games { inputs: inputs.into_iter(), open: None, in_input: 0, number: 0, failure }
    }

    fn read(&mut self) -> Option<std::io::Result<(PgnGame, GameEnd)>> {
        self.in_input += 1;
        self.open.as_mut()?.1.next()
    }

    fn open_next(&mut self) -> Option<()> {
        let input = self.inputs.next()?;
        match input.open(&Arc::default()) {
            Ok(text) => {
                self.open = Some((input.name(), Box::new(read_games(text))));
                self.in_input = 0;
                Some(())
            }
            Err(error) => self.fail(&input.name(), &error),
        }
    }

    fn fail(&self, name: &str, error: &std::io::Error) -> Option<()> {
        self.failure.set(FileError::io("read", name.as_ref(), error));
        None
    }

    fn report(&self, what: &str) {
        let name = self.open.as_ref().map_or("", |(name, _)| name);
        errln!("{}: game {}: {}", visible(name), self.in_input, visible(what));
    }
}

impl Iterator for Games {
    type Item = Numbered<PgnGame>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.read() {
                None => self.open_next()?,
                Some(Err(error)) => {
                    let name = self.open.take().map_or_else(String::new, |(name, _)| name);
                    self.fail(&name, &error)?;
                }
                Some(Ok((_, end))) if end.status == GameStatus::Variant => {
                    self.report("passed over: it is not orthodox chess");
                }
                Some(Ok((game, end))) => {
                    if let GameStatus::Broken(fault) = &end.status {
                        self.report(&format!("annotated up to where it breaks off: {fault}"));
                    }
                    if let Some(fault) = &end.contradiction {
                        self.report(&fault.to_string());
                    }
                    self.number += 1;
                    return Some((self.number - 1, game));
                }
            }
        }
    }
}

/// Counts the games to be annotated. Returns `None` if the games cannot be counted in advance.
fn count(inputs: &[PgnInput]) -> Result<Option<u64>, FileError> {
    let mut games = 0;
    for input in inputs {
        if matches!(input, PgnInput::Stdin) || input.size().is_none() {
            return Ok(None);
        }
        let text = input.open(&Arc::default()).cannot("read", input.name())?;
        for game in read_games(text) {
            let (_, end) = game.cannot("read", input.name())?;
            games += u64::from(end.status != GameStatus::Variant);
        }
    }
    Ok(Some(games))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_must_be_increasing() {
        assert_eq!(parse_limits("0.05, 0.1,0.15"), Ok(Limits::default()));
        for text in
            ["", "0.1,0.2", "0.2,0.1,0.3", "0,0.1,0.2", "0.1,0.2,1.5", "a,b,c", "0.1,0.2,nan"]
        {
            assert!(parse_limits(text).is_err(), "{text}");
        }
    }
}
