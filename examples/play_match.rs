//! Plays a match between two engines with a fixed number of nodes per move, and prints each game's
//! result: `cargo run --release --example play_match "tabia -x" "gnuchess --xboard" [GAMES]`

use std::time::Duration;

use anyhow::Context;
use tabia::autoplay::clock::MoveLimits;
use tabia::autoplay::config::EngineConfig;
use tabia::autoplay::match_record::{MatchRecord, Places};
use tabia::autoplay::openings::Opening;
use tabia::autoplay::play::{Conditions, Interrupt};
use tabia::autoplay::referee::Rules;
use tabia::autoplay::results::Results;
use tabia::autoplay::schedule::{Format, Schedule};
use tabia::autoplay::tournament::{Progress, Tournament, find_protocols};

const DEFAULT_GAMES: usize = 2;
const NODES: u64 = 10_000;
/// Time limit for every response of an engine.
const TIMEOUT: Duration = Duration::from_secs(60);

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [first, second, rest @ ..] = &words[..] else {
        anyhow::bail!("usage: play_match ENGINE ENGINE [GAMES]")
    };
    let games = rest.first().map_or(Ok(DEFAULT_GAMES), |text| text.parse())?;
    let limits = MoveLimits { nodes: Some(NODES), ..MoveLimits::default() };
    let mut engines = Vec::new();
    for command in [first, second] {
        let config = EngineConfig::from_command(command).context("no command line")?;
        engines.push(EngineConfig { limits, ..config });
    }
    find_protocols(&mut engines, &None, |startup_retry| eprintln!("{startup_retry:?}"))?;
    let format = Format::RoundRobin;
    let schedule = Schedule { engines: 2, format, games, openings: 1, reversed: true };
    let match_record = MatchRecord::open(&Places::default(), schedule, &[], "")?;
    let mut results = Results::new(&engines, match_record, None);
    let tournament = Tournament {
        engines,
        openings: vec![Opening::default()],
        conditions: Conditions { rules: Rules::default(), tablebases: None, timeout: TIMEOUT },
        concurrency: 1,
        cores: Vec::new(),
        trace: None,
        date: "????.??.??".to_owned(),
        pause: Duration::ZERO,
        error_output: None,
    };
    results.play(&tournament, &Interrupt::new(), |results, progress| {
        if let Progress::Finished { slot, record, .. } = progress {
            let [white, black] = slot.colors.map(|engine| &results.names[engine]);
            println!("{white} - {black}: {} {}", record.verdict.result(), record.verdict.detail);
        }
    })?;
    for tally in results.match_record.standings.tallies.values() {
        let total = tally.total;
        println!("first: +{} ={} -{}", total.wins, total.draws, total.losses);
    }
    Ok(())
}
