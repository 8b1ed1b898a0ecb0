//! `tabia ratings`: computes the ratings of players in PGN files from all games together.

use std::process::ExitCode;

use anyhow::ensure;

use crate::cli::args::GamePaths;
use crate::cli::output::{errln, outln};
use crate::cli::usage::wrong;
use crate::games::pgn::PgnInput;
use crate::support::words::{number_of, visible_lines};
use crate::tools::autoplay::ratings::{Anchor, MAX_PLAYERS, PgnResults, ratings};
use crate::tools::autoplay::summary;

/// Compute the ratings of players from all their games
///
/// The ratings and White's advantage are fitted to all results together (maximum likelihood).
/// Errors are 95% confidence intervals. Games of the same players in the same round with reversed
/// colours count as a pair. LOS is the likelihood that a player is stronger than the next one.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    games: GamePaths,
    /// Fix a player's rating, exactly or with a standard deviation; may be repeated
    #[arg(long = "anchor", value_name = "NAME=ELO[+-SD]", value_parser = parse_anchor)]
    anchors: Vec<NamedAnchor>,
    /// Only rate players with at least N games
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_games: u32,
    /// Print the ratings as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone)]
struct NamedAnchor {
    name: String,
    elo: f64,
    deviation: f64,
}

fn parse_anchor(text: &str) -> Result<NamedAnchor, &'static str> {
    const FORM: &str = "expected NAME=ELO or NAME=ELO+-SD, such as \"Stockfish 16=3600+-20\"";
    let (name, value) = text.rsplit_once('=').ok_or(FORM)?;
    let (elo, deviation) = value.split_once("+-").unwrap_or((value, "0"));
    let number = |text: &str| text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    match (number(elo), number(deviation)) {
        (Some(elo), Some(deviation)) if deviation >= 0.0 => {
            Ok(NamedAnchor { name: name.trim().to_owned(), elo, deviation })
        }
        _ => Err(FORM),
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut results = PgnResults::default();
    for input in PgnInput::from_paths(&args.games.games)? {
        results.read(&input)?;
    }
    results.keep_players_with(args.min_games);
    let PgnResults { names, games, skipped, .. } = &results;
    ensure!(!games.is_empty(), "the input contains no finished game of two named players");
    ensure!(
        names.len() <= MAX_PLAYERS,
        "{} players are too many, the limit is {MAX_PLAYERS}; use --min-games",
        names.len()
    );
    let anchors = args.anchors.iter().map(|anchor| {
        let player = names.iter().position(|name| *name == anchor.name);
        let NamedAnchor { name, elo, deviation } = anchor;
        let unknown = || wrong(format!("--anchor: no player is called \"{name}\""));
        Ok(Anchor { player: player.ok_or_else(unknown)?, elo: *elo, deviation: *deviation })
    });
    let anchors: Vec<Anchor> = anchors.collect::<anyhow::Result<_>>()?;
    let is_repeated =
        |anchor: &Anchor| anchors.iter().filter(|other| other.player == anchor.player).count() > 1;
    if let Some(anchor) = anchors.iter().find(|&anchor| is_repeated(anchor)) {
        let name = &names[anchor.player];
        return Err(wrong(format!("--anchor: \"{name}\" has two ratings")).into());
    }
    let found = ratings(names.len(), games, &anchors);
    if args.json {
        outln!("{:#}", summary::ratings_json(names, games, &found))?;
    } else {
        outln!("{}", visible_lines(&summary::ratings_table(names, games, &found)))?;
    }
    if *skipped > 0 {
        errln!("{} skipped: no result, or no names of two players", number_of(*skipped, "game"));
    }
    Ok(ExitCode::SUCCESS)
}
