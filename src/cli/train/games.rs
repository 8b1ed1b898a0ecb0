//! `tabia train games`: generates training data from games of the engine against itself.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, bounded};

use crate::chess::score::Score;
use crate::cli::args::{EvaluationArgs, Threads};
use crate::cli::output::outln;
use crate::cli::work::{Progress, interruption};
use crate::engine::search::STACK_SIZE;
use crate::games::book::{Book, Policy};
use crate::support::threads;
use crate::support::words::number_of;
use crate::tools::train::{BookOpenings, GameFile, GameSettings, PlayedGame, SelfPlay};

/// Play games for training
///
/// The engine plays against itself and stores its scores with the games. The same command resumes
/// an interrupted run. The same settings give the same output with any number of threads.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    evaluation: EvaluationArgs,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Number of games in the complete file
    #[arg(long, value_name = "N", default_value_t = 1000)]
    games: u64,
    /// Nodes for each move, after which no new iteration starts
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Start with lines from this book instead of random moves
    #[arg(long, value_name = "BOOK")]
    book: Option<String>,
    /// Policy for choosing book moves after the random plies
    #[arg(long, value_name = "POLICY", default_value_t = Policy::Weighted, requires = "book")]
    book_policy: Policy,
    /// Number of random plies after the end of the book
    #[arg(long, value_name = "PLIES", default_value_t = 0, requires = "book", value_parser = clap::value_parser!(u8).range(..=40))]
    random_after: u8,
    /// Start with this many pieces placed at random, such as 3-12
    #[arg(long, alias = "men", value_name = "FROM-TO", conflicts_with = "book", value_parser = piece_range)]
    pieces: Option<(u8, u8)>,
    /// Number of random plies at the start; with --book, book moves weighted by their number of
    /// games
    #[arg(long, default_value_t = 8, value_name = "PLIES", value_parser = clap::value_parser!(u8).range(..=40))]
    random_plies: u8,
    /// Maximum absolute score of an opening, in centipawns
    #[arg(long, value_name = "CP", default_value_t = 400)]
    opening_limit: Score,
    #[command(flatten)]
    threads: Threads,
    /// Seed for the openings
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let interrupted = interruption()?;
    let settings = args.settings()?;
    let (mut file, held) = GameFile::open(&args.output, &settings)?;
    let played = play(args, &settings, held as u64, &interrupted, &mut file)?;
    let GamesWritten { games, positions, quiet, elapsed } = played;
    outln!(
        "{} added to {held} in {}: {}, {quiet} of them quiet, {:.0} positions/s",
        number_of(games, "game"),
        args.output.display(),
        number_of(positions as u64, "position"),
        positions as f64 / elapsed.as_secs_f64().max(1e-9)
    )?;
    Ok(ExitCode::SUCCESS)
}

fn play(
    args: &Args,
    settings: &GameSettings,
    held: u64,
    interrupted: &AtomicBool,
    file: &mut GameFile,
) -> anyhow::Result<GamesWritten> {
    let next = AtomicU64::new(held);
    let (sender, receiver) = bounded(64);
    std::thread::scope(|scope| {
        let player = |_| {
            let (sender, next) = (sender.clone(), &next);
            move || {
                let mut player = SelfPlay::new(settings.clone());
                while !interrupted.load(Relaxed) {
                    let number = next.fetch_add(1, Relaxed);
                    if number >= args.games || sender.send((number, player.play(number))).is_err() {
                        return; // no game is left, or the writer failed
                    }
                }
            }
        };
        threads::start(scope, (args.threads.count(), STACK_SIZE), player)?;
        drop(sender);
        write(held, args.games, receiver, file)
    })
}

struct GamesWritten {
    games: u64,
    positions: usize,
    quiet: usize,
    elapsed: Duration,
}

fn write(
    held: u64,
    wanted: u64,
    games: Receiver<(u64, PlayedGame)>,
    file: &mut GameFile,
) -> anyhow::Result<GamesWritten> {
    let start = Instant::now();
    let mut progress = Progress::new(wanted, held, "games");
    let mut tally = GamesWritten { games: 0, positions: 0, quiet: 0, elapsed: Duration::ZERO };
    let mut early = BTreeMap::new();
    for (number, game) in games {
        early.insert(number, game);
        while let Some(game) = early.remove(&(held + tally.games)) {
            file.append(&game)?;
            tally.games += 1;
            tally.positions += game.moves.len();
            tally.quiet += game.moves.iter().filter(|played| !played.noisy).count();
        }
        tally.elapsed = start.elapsed();
        progress.set(held + tally.games);
    }
    progress.finish();
    Ok(tally)
}

fn piece_range(text: &str) -> Result<(u8, u8), String> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    match (from.parse(), to.parse()) {
        (Ok(from), Ok(to)) if 3 <= from && from <= to && to <= 32 => Ok((from, to)),
        _ => Err("expected one number from 3 to 32, or two such as 3-12".to_owned()),
    }
}

impl Args {
    fn settings(&self) -> anyhow::Result<GameSettings> {
        let open = |path: &String| -> anyhow::Result<BookOpenings> {
            Ok(BookOpenings {
                book: Book::open_all(path)?,
                policy: self.book_policy,
                random_after: self.random_after.into(),
            })
        };
        Ok(GameSettings {
            evaluation: self.evaluation.open()?,
            seed: self.seed,
            nodes: self.nodes,
            random_plies: self.random_plies.into(),
            book: self.book.as_ref().map(open).transpose()?,
            piece_count: self.pieces,
            opening_limit: self.opening_limit,
            ..GameSettings::default()
        })
    }
}
