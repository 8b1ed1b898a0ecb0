//! Knockout tournaments, in which the loser of each pairing is eliminated.
//!
//! Engines are seeded in the order in which they were defined, and the top two seeds can only meet
//! in the final. If the number of engines is not a power of two, the top seeds get a bye in the
//! first round.

use super::super::schedule::{Round, TIE_BREAKS};
use super::{Placing, Rounds};

/// Pairs the next round or tie-break. Returns `None` if fewer than two engines are left.
pub(super) fn next_round(rounds: &Rounds) -> Option<Round> {
    let number = rounds.list.last().map_or(0, |last| last.number);
    let stage = rounds.list.iter().filter(|round| round.number == number);
    if number > 0 && stage.count() <= TIE_BREAKS {
        let pairings = tied(rounds, number);
        if !pairings.is_empty() {
            return Some(Round { number, tie_break: true, pairings, ..Round::default() });
        }
    }
    let bracket = bracket(rounds, number);
    if bracket.iter().flatten().count() < 2 {
        return None;
    }
    let mut round = Round { number: number + 1, ..Round::default() };
    for pair in bracket.chunks(2) {
        match *pair {
            [Some(a), Some(b)] => round.pairings.push((a.min(b), a.max(b))),
            [Some(engine), None] | [None, Some(engine)] => round.byes.push(engine),
            _ => {}
        }
    }
    Some(round)
}

/// Returns the pairings of round `number` that are still tied.
fn tied(rounds: &Rounds, number: usize) -> Vec<(usize, usize)> {
    let both_stay = |&(a, b): &(usize, usize)| rounds.stays(number, a) && rounds.stays(number, b);
    let encounters = rounds.encounters().into_iter();
    let tied = encounters.filter(|&((round, _), [a, b])| round == number && a == b);
    tied.map(|((_, pairing), _)| pairing).filter(both_stay).collect()
}

/// Returns the engines left after `number` rounds, in bracket order: in the next round, each engine
/// at an even index plays the one after it. `None` is a bye.
fn bracket(rounds: &Rounds, number: usize) -> Vec<Option<usize>> {
    let encounters = rounds.encounters();
    let mut bracket = match rounds.list.first() {
        Some(first) => seeded(&first.entrants),
        None => seeded(&rounds.entrants()),
    };
    for round in 1..=number {
        let winner = |pair: &[Option<usize>]| {
            let stay = |engine: &usize| rounds.stays(round, *engine);
            let mut engines: Vec<usize> = pair.iter().flatten().copied().filter(stay).collect();
            engines.sort_unstable();
            if let [a, b] = engines[..] {
                let [first, second] = encounters.get(&(round, (a, b))).copied().unwrap_or_default();
                return Some(if second > first { b } else { a });
            }
            engines.first().copied()
        };
        bracket = bracket.chunks(2).map(winner).collect();
    }
    bracket
}

/// Returns the engines in bracket order, starting with the top seed. An engine whose neighbour is
/// `None` gets a bye.
fn seeded(engines: &[usize]) -> Vec<Option<usize>> {
    let mut seeds = vec![0];
    while seeds.len() < engines.len() {
        // If the better seed always wins, each pairing of this round consists of two seeds whose
        // 0-based numbers add up to `last`.
        let last = 2 * seeds.len() - 1;
        seeds = seeds.into_iter().flat_map(|seed| [seed, last - seed]).collect();
    }
    seeds.into_iter().map(|seed| engines.get(seed).copied()).collect()
}

/// Returns the number of engines that will be left after the most recently paired round.
pub(super) fn survivors(rounds: &Rounds) -> usize {
    let last = rounds.list.iter().rfind(|round| !round.tie_break);
    last.map_or(rounds.entrants().len(), |round| round.pairings.len() + round.byes.len())
}

/// Returns the placings, in which the score is the number of rounds that the engine survived.
pub(super) fn placings(rounds: &Rounds) -> Vec<Placing> {
    let mut placings = vec![Placing::default(); rounds.engines()];
    for round in &rounds.list {
        let players = round.pairings.iter().flat_map(|&(a, b)| [a, b]);
        for engine in players.chain(round.byes.iter().copied()) {
            placings[engine].score = (round.number - 1) as f64;
        }
    }
    let number = rounds.list.last().map_or(0, |last| last.number);
    if number > 0 && rounds.is_over() {
        for winner in bracket(rounds, number).into_iter().flatten() {
            placings[winner].score = number as f64;
        }
    }
    placings
}
