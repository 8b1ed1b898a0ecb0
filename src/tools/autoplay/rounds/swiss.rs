//! Pairs the rounds of a Swiss tournament by a simplified FIDE (Dutch) system
//! (<https://handbook.fide.com/chapter/C0403Till2026>). There are no rules for colours, because in
//! each pairing both engines play the same number of games with each colour.
//!
//! The rules, in order of priority:
//!
//! 1. Unless it is unavoidable, engines do not meet twice, and no engine gets a second bye.
//! 2. If the number of engines is odd, the lowest-ranked one gets the bye.
//! 3. The sum of the squared score differences between opponents is minimal.
//! 4. If engines with different scores meet, they are the last engine of the group with the higher
//!    score and the first engine of the other group.
//! 5. In a group of engines with the same score, the first engine of the upper half plays the first
//!    engine of the lower half, and so on.
//!
//! The pairings are a perfect matching of minimum cost, where costs are compared rule by rule.

use super::super::schedule::{ByPairing, Round};
use super::matching::cheapest_matching;
use super::{Placing, Rounds, WIN};

/// The maximum number of engines. The time to pair a round grows with the cube of this number.
pub const MAX_ENGINES: usize = 256;

/// The history of a Swiss tournament.
struct Scores {
    half_points: Vec<u32>,
    byes: Vec<u32>,
    /// For each two engines, the number of rounds in which they have been paired with each other.
    met: ByPairing<u32>,
}

impl Scores {
    fn new(rounds: &Rounds) -> Self {
        let engines = rounds.engines();
        let (mut half_points, mut byes) = (vec![0; engines], vec![0; engines]);
        let mut met = ByPairing::new();
        for ((_, (a, b)), points) in rounds.encounters() {
            half_points[a] += points[0];
            half_points[b] += points[1];
            *met.entry((a, b)).or_default() += 1;
        }
        for &engine in rounds.list.iter().flat_map(|round| &round.byes) {
            byes[engine] += 1;
            half_points[engine] += WIN * rounds.schedule.games as u32;
        }
        Scores { half_points, byes, met }
    }
}

/// An engine to be paired. `rank` is its 0-based rank within its score group, the engines with the
/// same score.
#[derive(Clone, Copy)]
struct Candidate {
    engine: usize,
    half_points: u32,
    rank: i64,
    group_size: i64,
}

/// Pairs the next round. Returns `None` if `limit` rounds have already been paired, or if fewer
/// than two engines are left.
pub(super) fn next_round(rounds: &Rounds, limit: usize) -> Option<Round> {
    let scores = Scores::new(rounds);
    let candidates = candidates(rounds, &scores.half_points);
    if rounds.list.len() >= limit || candidates.len() < 2 {
        return None;
    }
    let count = candidates.len();
    let cost = |better: usize, worse: usize| match candidates.get(worse) {
        Some(opponent) => pairing_cost(&scores, &candidates[better], opponent),
        None => {
            let byes = i64::from(scores.byes[candidates[better].engine]);
            [byes * byes, (count - better) as i64, 0, 0, 0]
        }
    };
    // If the number of engines is odd, the last node of the graph is the bye.
    let partners = cheapest_matching(count.next_multiple_of(2), cost);
    let mut round = Round { number: rounds.list.len() + 1, ..Round::default() };
    for (better, &worse) in partners.iter().enumerate().take(count) {
        let engine = candidates[better].engine;
        match candidates.get(worse) {
            None => round.byes.push(engine),
            Some(Candidate { engine: other, .. }) if better < worse => {
                round.pairings.push((engine.min(*other), engine.max(*other)));
            }
            Some(_) => {}
        }
    }
    Some(round)
}

/// Returns the engines to pair, ordered by descending score and then by the order in which they
/// were defined.
fn candidates(rounds: &Rounds, half_points: &[u32]) -> Vec<Candidate> {
    let mut engines = rounds.entrants();
    engines.sort_by_key(|&engine| std::cmp::Reverse(half_points[engine]));
    let groups = engines.chunk_by(|&a, &b| half_points[a] == half_points[b]);
    let in_group = |group: &[usize]| {
        let group_size = group.len() as i64;
        let ranked = (0..).zip(group.to_vec());
        ranked.map(move |(rank, engine)| (engine, rank, group_size)).collect::<Vec<_>>()
    };
    let ranked = groups.flat_map(in_group);
    ranked
        .map(|(engine, rank, group_size)| Candidate {
            engine,
            half_points: half_points[engine],
            rank,
            group_size,
        })
        .collect()
}

/// Returns the cost of a pairing: for each rule, how far the pairing deviates from it.
fn pairing_cost(scores: &Scores, better: &Candidate, worse: &Candidate) -> [i64; 5] {
    let engines = (better.engine.min(worse.engine), better.engine.max(worse.engine));
    let met = i64::from(scores.met.get(&engines).copied().unwrap_or(0));
    let difference = i64::from(better.half_points - worse.half_points);
    let (float, order) = if difference == 0 {
        let half = better.group_size / 2;
        let is_same_half = (better.rank < half) == (worse.rank < half);
        // Make it more expensive to pair two engines from the same half than to exchange opponents
        // within the lower half.
        let exchange = if is_same_half { better.group_size.pow(2) } else { 0 };
        (0, (worse.rank - better.rank - half).pow(2) + exchange)
    } else {
        (better.group_size - 1 - better.rank + worse.rank, 0)
    };
    [met * met, 0, difference * difference, float, order]
}

/// Returns the score and Buchholz score of each engine.
pub(super) fn placings(rounds: &Rounds) -> Vec<Placing> {
    let scores = Scores::new(rounds);
    let points = |half_points: u32| f64::from(half_points) / f64::from(WIN);
    let mut placings: Vec<Placing> = scores
        .half_points
        .iter()
        .zip(&scores.byes)
        .map(|(&own, &byes)| Placing { score: points(own), buchholz: points(own * byes) })
        .collect();
    for (&(a, b), &times) in &scores.met {
        for (engine, opponent) in [(a, b), (b, a)] {
            placings[engine].buchholz += points(times * scores.half_points[opponent]);
        }
    }
    placings
}
