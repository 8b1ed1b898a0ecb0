//! Measures how accurately the match runner times moves, using engines that time their own moves.
//!
//! Usage: `clock_error [MOVES] [ENGINES] [BUSY_THREADS]`, such as `cargo run --release --example
//! clock_error 20000 250`. By default, one thread per core is kept busy with other work.
//!
//! Each engine reports the time between reading `go` and writing its move. The time measured by the
//! match runner includes two further delays. The delay until the engine wakes up depends only on
//! the operating system. The delay until the engine's move arrives depends on the match runner.
//! Like the match runner's reader threads, the engines run at a higher priority if the operating
//! system permits it. The first games are not counted, because other engines may still be starting.
//!
//! The time control is 0.2 s + 0.002 s without a margin. If an engine finds that it has exceeded
//! its time, it reports this on standard error. A virtual machine may also lose its cores to other
//! machines for a while, which Linux reports as stolen time. Games that were in progress in such a
//! second are counted separately. All other losses on time are attributed to the match runner.
//!
//! The exit status is 1 if the measured time of more than 0.1% of the moves is more than 1 ms too
//! long, or if the match runner caused a loss.

use std::io::{BufRead, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context;
use tabia::autoplay::clock::{MoveLimits, TimeControl};
use tabia::autoplay::config::{EngineConfig, Protocol};
use tabia::autoplay::match_record::{MatchRecord, Places};
use tabia::autoplay::openings::Opening;
use tabia::autoplay::play::{Conditions, Interrupt};
use tabia::autoplay::record::GameRecord;
use tabia::autoplay::referee::Rules;
use tabia::autoplay::results::Results;
use tabia::autoplay::schedule::{Format, Schedule};
use tabia::autoplay::tournament::{Progress, Tournament};
use tabia::autoplay::verdict::Termination;
use tabia::position::Position;
use tabia::uci::{Command, Go, Start};

/// If this is the first argument, the program runs as an engine.
const ENGINE: &str = "engine";

const BASE: Duration = Duration::from_millis(200);
const INCREMENT: Duration = Duration::from_millis(2);

/// On each move, an engine spends at most 1/`LARGEST_PART` of its remaining time, plus the
/// increment.
const LARGEST_PART: u32 = 20;

/// The nice value of the engine processes, set only if the operating system permits it.
#[cfg(unix)]
const NICE: i32 = -15;

/// The number of initial games per worker to discard, because other engines may still be starting.
const WARM_UP: usize = 1;

/// The largest permitted timing error, and the share of moves that may exceed it.
const PERMITTED: Duration = Duration::from_millis(1);
const EXCEPTIONS: f64 = 0.001;

/// Tolerance when an engine checks its own time, because the clock times it receives are rounded to
/// whole milliseconds.
const ROUNDING: Duration = Duration::from_millis(1);

/// The interval at which the stolen time is read.
const SAMPLING: Duration = Duration::from_secs(1);

/// The stolen share of the time of all cores above which an interval counts as disturbed.
const DISTURBED: f64 = 0.02;

/// Linux counts the time in `/proc/stat` in hundredths of a second.
const TICKS_PER_SECOND: f64 = 100.0;

/// The time after which a silent engine is considered hung.
const TIMEOUT: Duration = Duration::from_secs(10);

fn main() -> anyhow::Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == ENGINE) {
        play_as_engine()?;
        return Ok(ExitCode::SUCCESS);
    }
    let number = |index: usize, default| words.get(index).map_or(Ok(default), |word| word.parse());
    let cores = thread::available_parallelism()?.get();
    let [moves, engines, busy] = [number(0, 20_000)?, number(1, 250)?, number(2, cores)?];
    let is_over = AtomicBool::new(false);
    let found = thread::scope(|scope| {
        let disturbed = scope.spawn(|| watch_stolen_time(&is_over, cores));
        for _ in 0..busy {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let found = measure(moves, engines);
        is_over.store(true, Ordering::Relaxed);
        let disturbed = disturbed.join().unwrap_or_default();
        found.map(|found| Found { disturbed, ..found })
    })?;
    println!("{engines} engines, {cores} cores, {busy} threads busy with other work");
    Ok(found.print())
}

/// The results of a measurement.
#[derive(Default)]
struct Found {
    /// Three values per move, in seconds: the error (measured minus true time), the delay until the
    /// engine read `go`, and the delay until its move arrived. The error is the sum of the two
    /// delays.
    errors: [Vec<f64>; 3],
    /// The number of initial games whose moves are not measured.
    warm_up: usize,
    games: Vec<Game>,
    /// The system times, in seconds, at which the intervals with stolen time ended.
    disturbed: Vec<f64>,
    overhead: String,
}

/// A finished game.
struct Game {
    /// The system times of the first and last moves, in seconds.
    period: RangeInclusive<f64>,
    loss: Option<Loss>,
}

/// A loss on time.
struct Loss {
    /// The path where the engine's standard error would be saved. The file exists only if the
    /// engine reported that it had exceeded its time.
    report: PathBuf,
    /// Whether `report` exists after the last game.
    is_reported: bool,
}

impl Found {
    fn add(&mut self, record: &GameRecord, error_output: &Path) {
        // Convert to system time, because the engines report system times. An `Instant` has no
        // meaning in another process.
        let (now, system) = (Instant::now(), since_epoch());
        let mut start = system;
        for played in &record.moves {
            let nanoseconds = |number: Option<u64>| number.unwrap_or_default() as f64 / 1e9;
            let [true_time, woken] = [Some(played.info.nodes), played.info.speed].map(nanoseconds);
            let began = system - now.duration_since(played.began).as_secs_f64();
            let error = played.elapsed.as_secs_f64() - true_time;
            if self.games.len() >= self.warm_up {
                for (list, part) in
                    self.errors.iter_mut().zip([error, woken - began, error - (woken - began)])
                {
                    list.push(part);
                }
            }
            start = start.min(began);
        }
        let loss = (record.verdict.termination == Termination::Time).then(|| {
            let color = if record.game.moves().len().is_multiple_of(2) { "white" } else { "black" };
            let report = error_output.join(format!("game-{}-{color}.txt", record.number));
            Loss { report, is_reported: false }
        });
        self.games.push(Game { period: start..=system, loss });
    }

    fn print(mut self) -> ExitCode {
        const SHARES: [f64; 7] = [0.0, 0.5, 0.9, 0.99, 1.0 - EXCEPTIONS, 0.9999, 1.0];
        let head: String = SHARES.iter().map(|share| format!("{:>9}%", 100.0 * share)).collect();
        println!("{} moves in {} games; in ms:", self.errors[0].len(), self.games.len());
        println!("{}{head}", " ".repeat(24));
        let mut worst = 0.0;
        for (name, list) in
            ["measured minus true time", "  until the engine runs", "  until the move arrives"]
                .into_iter()
                .zip(&mut self.errors)
        {
            list.sort_by(f64::total_cmp);
            let quantiles = SHARES.map(|share| quantile(list, share));
            let cells: String = quantiles.iter().map(|value| format!("{value:>10.3}")).collect();
            println!("{name:24}{cells}");
            if !name.starts_with(' ') {
                worst = quantile(list, 1.0 - EXCEPTIONS);
            }
        }
        let (disturbed, undisturbed): (Vec<&Game>, Vec<&Game>) =
            self.games.iter().partition(|game| self.is_disturbed(game));
        let losses = |games: &[&Game]| games.iter().filter(|game| game.loss.is_some()).count();
        println!(
            "{} games while the machine lost its cores to others: {} losses on time",
            disturbed.len(),
            losses(&disturbed)
        );
        let is_by_runner = |game: &&&Game| game.loss.as_ref().is_some_and(|loss| !loss.is_reported);
        let by_runner = undisturbed.iter().filter(is_by_runner).count();
        println!(
            "{} other games: {} losses on time, {by_runner} caused by the match runner",
            undisturbed.len(),
            losses(&undisturbed)
        );
        println!("Runner: {}", self.overhead);
        let is_exact = worst <= PERMITTED.as_secs_f64() * 1000.0;
        if is_exact && by_runner == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// Whether time was stolen in a second in which the game was in progress.
    fn is_disturbed(&self, game: &Game) -> bool {
        let (start, end) = (game.period.start(), game.period.end());
        let interval = SAMPLING.as_secs_f64();
        self.disturbed.iter().any(|second| start <= second && second - interval <= *end)
    }
}

/// Returns the `share` quantile of a sorted list, converted from seconds to milliseconds.
fn quantile(list: &[f64], share: f64) -> f64 {
    let index = ((share * list.len() as f64).ceil() as usize).max(1) - 1;
    1000.0 * list.get(index).copied().unwrap_or_default()
}

/// Returns the system time in seconds.
fn since_epoch() -> f64 {
    SystemTime::UNIX_EPOCH.elapsed().map_or(0.0, |time| time.as_secs_f64())
}

/// Returns the system times at which intervals with stolen time ended.
fn watch_stolen_time(is_over: &AtomicBool, cores: usize) -> Vec<f64> {
    let mut disturbed = Vec::new();
    let mut last = (since_epoch(), stolen());
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(SAMPLING);
        let now = (since_epoch(), stolen());
        if now.1 - last.1 > DISTURBED * cores as f64 * (now.0 - last.0) {
            disturbed.push(now.0);
        }
        last = now;
    }
    disturbed
}

/// Returns the time in seconds for which the hypervisor has let the cores wait, or 0 if the system
/// does not report it.
fn stolen() -> f64 {
    // The first line is `cpu`, user, nice, system, idle, iowait, irq, softirq and steal.
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let field = text.split_whitespace().nth(8).and_then(|word| word.parse::<f64>().ok());
    field.unwrap_or_default() / TICKS_PER_SECOND
}

fn measure(moves: usize, engines: usize) -> anyhow::Result<Found> {
    let folder = std::env::temp_dir().join(format!("clock_error-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let clock = Some(TimeControl { moves: None, base: BASE, increment: INCREMENT });
    let limits = MoveLimits { clock, ..MoveLimits::default() };
    let program = std::env::current_exe()?.to_string_lossy().into_owned();
    let engine = |name: &str| EngineConfig {
        name: name.to_owned(),
        command: vec![program.clone(), ENGINE.to_owned()],
        protocol: Protocol::Uci,
        limits,
        ..EngineConfig::default()
    };
    let configs = [engine("first"), engine("second")];
    // Schedule enough games: every game has at least one move, so `moves` games always suffice.
    let schedule = Schedule {
        engines: 2,
        format: Format::RoundRobin,
        games: moves,
        openings: 1,
        reversed: false,
    };
    let match_record = MatchRecord::open(&Places::default(), schedule, &[], "")?;
    let mut results = Results::new(&configs, match_record, None);
    let tournament = Tournament {
        engines: configs.to_vec(),
        openings: vec![Opening::default()],
        conditions: Conditions { rules: Rules::default(), tablebases: None, timeout: TIMEOUT },
        concurrency: (engines / 2).max(1),
        cores: Vec::new(),
        trace: None,
        date: "????.??.??".to_owned(),
        pause: Duration::ZERO,
        error_output: Some(folder.clone()),
    };
    let warm_up = WARM_UP * tournament.concurrency;
    let (interrupt, mut found) = (Interrupt::new(), Found { warm_up, ..Found::default() });
    results.play(&tournament, &interrupt, |_, progress| {
        if let Progress::Finished { record, .. } = progress {
            found.add(record, &folder);
            if found.errors[0].len() >= moves {
                interrupt.trigger();
            }
        }
    })?;
    found.overhead = results.overhead.describe().unwrap_or_default();
    // Count the files after the match, because the match runner may save an engine's report after
    // it records the game.
    for loss in found.games.iter_mut().filter_map(|game| game.loss.as_mut()) {
        loss.is_reported = loss.report.exists();
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(found)
}

/// Plays random moves. Each `info` line reports two times in nanoseconds: `nodes` is the time the
/// move actually took, and `nps` is the system time at which `go` was read.
fn play_as_engine() -> anyhow::Result<()> {
    raise_priority();
    let mut random = u64::from(std::process::id()) | 1;
    let mut game = String::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (begin, system) = (Instant::now(), since_epoch());
        let mut answer = std::io::stdout().lock();
        match line.split(' ').next().unwrap_or_default() {
            "uci" => writeln!(answer, "uciok")?,
            "isready" => writeln!(answer, "readyok")?,
            "position" => game = line,
            "go" => {
                let (mv, left) = choose(&game, &line, begin, &mut random)?;
                let used = begin.elapsed();
                if used > left + ROUNDING {
                    // Report this before sending the move, so that the match runner receives the
                    // report before it records the game.
                    eprintln!("used {used:?}: {line}");
                }
                let nanoseconds = used.as_nanos();
                let woken = (1e9 * system) as u64;
                let info =
                    format!("info depth 1 score cp 0 nodes {nanoseconds} nps {woken} pv {mv}");
                answer.write_all(format!("{info}\nbestmove {mv}\n").as_bytes())?;
            }
            "quit" => break,
            _ => {}
        }
        answer.flush()?;
    }
    Ok(())
}

/// Raises the priority of this process. Has no effect without the necessary permission.
#[cfg(unix)]
fn raise_priority() {
    let _ = rustix::process::setpriority_process(None, NICE);
}

/// Does nothing: Windows has no nice values.
#[cfg(not(unix))]
fn raise_priority() {}

/// Chooses a random move and a random thinking time, and waits until this time has passed since
/// `begin`. Returns the move and the time that was on the clock at `begin`.
fn choose(
    game: &str,
    go: &str,
    begin: Instant,
    random: &mut u64,
) -> anyhow::Result<(String, Duration)> {
    let (left, moves) = clock(go, game)?;
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    let most = left / LARGEST_PART + INCREMENT;
    let time = most.mul_f64((*random >> 11) as f64 / (1_u64 << 53) as f64);
    let mv = &moves[*random as usize % moves.len()];
    thread::sleep(time.saturating_sub(begin.elapsed()));
    Ok((mv.clone(), left))
}

/// Parses the `go` and `position` commands. Returns the remaining time and the legal moves of the
/// side to move.
fn clock(go: &str, game: &str) -> anyhow::Result<(Duration, Vec<String>)> {
    let (Ok(Command::Go(go)), Ok(Command::Position { start, moves })) = (go.parse(), game.parse())
    else {
        anyhow::bail!("cannot read {go:?} or {game:?}");
    };
    anyhow::ensure!(start == Start::Usual, "the game does not begin as usual");
    let mut position = Position::start();
    for mv in moves {
        position = position.play(position.parse_move(&mv)?);
    }
    let Go { time, .. } = *go;
    let left = time[position.side_to_move().to_index()].context("no clock")?;
    Ok((left, position.legal_moves().iter().map(|mv| mv.to_string()).collect()))
}
