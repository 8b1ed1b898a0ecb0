//! Arguments for a sequential test (SPRT) that several machines share, and code that computes the
//! joint result.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::ensure;
use xxhash_rust::xxh3::Xxh3;

use super::{Args, described, exit_code};
use crate::cli::output::outln;
use crate::cli::usage::wrong;
use crate::support::files::FileKind;
use crate::tools::autoplay::config::EngineConfig;
use crate::tools::autoplay::openings::Opening;
use crate::tools::autoplay::results::shared_json;
use crate::tools::autoplay::schedule::Schedule;
use crate::tools::autoplay::shared::{SharedTest, Worker};
use crate::tools::autoplay::stats::Sprt;

/// The folder of a shared test, and the part of the test that this machine plays.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Shared test")]
pub(super) struct Shared {
    /// Share an SPRT with other machines through this folder
    #[arg(id = "shared", long, value_name = "DIR", hide_short_help = true, conflicts_with_all = ["state", "check"])]
    folder: Option<PathBuf>,
    /// Number of this machine and number of machines, such as 1/4
    #[arg(long, value_name = "K/N", hide_short_help = true)]
    worker: Option<Worker>,
    /// Print the joint result of the machines instead of playing
    #[arg(long, hide_short_help = true, conflicts_with_all = ["worker", "first", "second", "engines"])]
    aggregate: bool,
}

/// A shared test that this machine has joined.
pub(super) struct Joined {
    pub test: SharedTest,
    /// The settings that are stored in the state file of this machine.
    pub settings: String,
}

impl Shared {
    /// Returns the folder whose joint result is to be printed, if `--aggregate` is given.
    pub(super) fn aggregated(&self) -> Option<&Path> {
        self.folder.as_deref().filter(|_| self.aggregate)
    }

    pub(super) fn machines(&self) -> usize {
        self.worker.map_or(1, |worker| worker.count)
    }

    /// Returns the state file of this machine.
    pub(super) fn state(&self) -> Option<PathBuf> {
        Some(self.worker?.path(self.folder.as_deref()?))
    }

    /// Returns the openings that this machine plays.
    pub(super) fn share(&self, openings: Vec<Opening>) -> anyhow::Result<Vec<Opening>> {
        let Some(worker) = self.worker else { return Ok(openings) };
        let count = openings.len();
        let share = worker.share(openings);
        let too_few =
            format!("--worker: {count} openings are too few for {} machines", worker.count);
        ensure!(!share.is_empty(), wrong(too_few));
        Ok(share)
    }
}

/// Joins the shared test if `--shared` is given. Fails if another machine plays a different test.
pub(super) fn join(
    args: &Args,
    engines: &[EngineConfig],
    schedule: &Schedule,
    openings: &[Opening],
    sprt: Option<Sprt>,
) -> anyhow::Result<Option<Joined>> {
    let Some(folder) = &args.shared.folder else { return Ok(None) };
    let worker = args.shared.worker.ok_or(wrong("--shared needs --worker K/N or --aggregate"))?;
    let sprt = sprt.ok_or(wrong("--shared needs --sprt: the machines share a sequential test"))?;
    ensure!(
        engines.len() == 2 && !schedule.format.has_rounds(),
        wrong("--shared needs a match between two engines")
    );
    let needs_openings = "--shared needs --openings, so that the machines play different games";
    ensure!(args.openings.file.is_some(), wrong(needs_openings));
    let settings = settings(args, engines, schedule, openings);
    let test = SharedTest::join(folder, &settings, worker, sprt)?;
    let settings = test.settings_of(worker);
    Ok(Some(Joined { test, settings }))
}

/// Describes the settings on which all machines must agree, one per line. The machines may store
/// the engines and the openings in different folders.
fn settings(
    args: &Args,
    engines: &[EngineConfig],
    schedule: &Schedule,
    openings: &[Opening],
) -> String {
    let engines = engines.iter().enumerate().map(|(index, engine)| {
        let mut engine = engine.clone();
        if let Some(program) = engine.command.first_mut()
            && let Some(name) = Path::new(program).file_name()
        {
            *program = name.to_string_lossy().into_owned();
        }
        format!("engine {}: {}", index + 1, described(&engine))
    });
    let mut lines: Vec<String> = engines.collect();
    lines.push(format!("openings: {} with hash {:016x}", openings.len(), hash(openings)));
    lines.push(format!("games: {}", schedule.games));
    lines.push(args.endings_settings());
    lines.join("\n")
}

/// Returns the XXH3 hash of the positions and moves of the openings.
fn hash(openings: &[Opening]) -> u64 {
    let mut hash = Xxh3::new();
    for opening in openings {
        let game = opening.game();
        hash.update(game.start().fen().as_bytes());
        for mv in game.moves() {
            hash.update(mv.to_string().as_bytes());
        }
        hash.update(b"\n");
    }
    hash.digest()
}

/// Prints the joint result, and writes it as JSON if requested.
pub(super) fn aggregate(args: &Args, folder: &Path) -> anyhow::Result<ExitCode> {
    args.check_outputs()?;
    let test = SharedTest::aggregate(folder)?;
    outln!("{}", test.summary())?;
    if let Some(path) = &args.json {
        let json = format!("{:#}\n", shared_json(&test));
        args.output(path, FileKind::JSON).write(json.as_bytes())?;
    }
    Ok(exit_code(Some(test.decision().into()), false))
}
