//! Plays random tournaments without engines, and prints one line of JSON for each tournament.
//! `tests/tools/swiss-oracle` checks the output.
//!
//! Usage: `tournaments swiss|knockout|roundrobin COUNT [MAX_ENGINES] [SEED]`
//!
//! Strengths and results are random. In some tournaments, engines join, are withdrawn during a
//! round, and return.

use serde_json::json;
use tabia::autoplay::rounds::Rounds;
use tabia::autoplay::schedule::{Format, Schedule, Slot};

/// In one out of every `CHANGING` tournaments, engines join, are withdrawn and return.
const CHANGING: u64 = 2;
/// Average number of games between two withdrawals of an engine, in tournaments in which the set of
/// engines changes.
const WITHDRAWALS: u64 = 25;
/// Average number of rounds until an engine joins or returns, in tournaments in which the set of
/// engines changes.
const ADDITIONS: u64 = 3;
const STRENGTHS: u64 = 100;
const DEFAULT_MAX_ENGINES: u64 = 16;

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [format, count, rest @ ..] = &words[..] else {
        anyhow::bail!("usage: tournaments swiss|knockout|roundrobin COUNT [MAX_ENGINES] [SEED]")
    };
    let max_engines = rest.first().map_or(Ok(DEFAULT_MAX_ENGINES), |text| text.parse())?;
    let mut random = XorShift(rest.get(1).map_or(Ok(1), |text| text.parse())?);
    for _ in 0..count.parse()? {
        let engines = 2 + random.below(max_engines - 1) as usize;
        let format = match format.as_str() {
            "swiss" => Format::Swiss { rounds: 1 + random.below(engines as u64 + 1) as usize },
            "knockout" => Format::Knockout,
            "roundrobin" => Format::RoundRobin,
            _ => anyhow::bail!("unknown format {format}"),
        };
        let games = 2 * (1 + random.below(2) as usize);
        let openings = 1 + random.below(8) as usize;
        let schedule = Schedule { engines, format, games, openings, reversed: true };
        println!("{}", play(schedule, &mut random));
    }
    Ok(())
}

fn play(schedule: Schedule, random: &mut XorShift) -> serde_json::Value {
    let changing = random.below(CHANGING) == 0;
    let mut present = vec![true; schedule.engines];
    let mut strengths: Vec<u64> = present.iter().map(|_| random.below(STRENGTHS)).collect();
    let mut rounds = Rounds::new(schedule, present.clone());
    let mut places = Vec::new();
    loop {
        if changing && random.below(ADDITIONS) == 0 {
            let back = random.below(2 * present.len() as u64) as usize;
            match present.get_mut(back) {
                Some(is_present) => *is_present = true,
                None if schedule.format != Format::Knockout => {
                    present.push(true);
                    strengths.push(random.below(STRENGTHS));
                }
                None => {}
            }
            rounds.set_present(present.clone());
        }
        // Games that a returned engine missed in this round are played before the next round is
        // paired.
        if rounds.remaining().is_empty() && rounds.pair_next().is_none() {
            break;
        }
        while let Some(&slot) = rounds.remaining().first() {
            let is_withdrawal = changing && random.below(WITHDRAWALS) == 0;
            if is_withdrawal && present.iter().filter(|&&is_present| is_present).count() > 2 {
                present[slot.colors[random.below(2) as usize]] = false;
                rounds.set_present(present.clone());
            } else {
                rounds.add_result(slot.number, result(&slot, &strengths, random));
            }
        }
        places.push(rounds.placings());
    }
    let games = rounds.slots().iter().map(|slot| {
        json!({
            "round": slot.round.0,
            "colors": slot.colors,
            "opening": slot.opening,
            "half_points": rounds.result(slot.number),
        })
    });
    json!({
        "limit": if let Format::Swiss { rounds } = schedule.format { Some(rounds) } else { None },
        "games_per_pairing": schedule.games,
        "openings": schedule.openings,
        "present": present,
        "rounds": rounds.list(),
        "games": games.collect::<Vec<_>>(),
        "places": places.last(),
    })
}

/// Returns White's score in half-points. Half of all games are drawn; in the others, the chances
/// depend on the strengths of the engines.
fn result(slot: &Slot, strengths: &[u64], random: &mut XorShift) -> u8 {
    let [white, black] = slot.colors.map(|engine| strengths[engine] + 1);
    match random.below(2) {
        0 => 1,
        _ if random.below(white + black) < white => 2,
        _ => 0,
    }
}

/// A small random number generator (Marsaglia 2003, <https://doi.org/10.18637/jss.v008.i14>).
struct XorShift(u64);

impl XorShift {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}
