//! The rounds of a tournament, and the pairing of the next round.
//!
//! ```
//! use tabia::autoplay::rounds::Rounds;
//! use tabia::autoplay::schedule::{Format, Schedule};
//!
//! let format = Format::Swiss { rounds: 2 };
//! let schedule = Schedule { engines: 4, format, games: 2, openings: 1, reversed: true };
//! let mut rounds = Rounds::new(schedule, vec![true; 4]);
//! assert_eq!(rounds.pair_next().map(|round| round.pairings), Some(vec![(0, 2), (1, 3)]));
//! // White wins all games of the first round, so the pairings are tied.
//! for slot in rounds.remaining() {
//!     rounds.add_result(slot.number, 2);
//! }
//! assert_eq!(rounds.pair_next().map(|round| round.pairings), Some(vec![(0, 3), (1, 2)]));
//! ```

mod knockout;
mod matching;
mod swiss;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::schedule::{Format, Round, Schedule, Slot, Start};
pub use swiss::MAX_ENGINES;

/// The number of half points for a win.
const WIN: u32 = 2;

/// The rounds of a tournament and the results of their games.
#[derive(Debug, Clone)]
pub struct Rounds {
    schedule: Schedule,
    list: Vec<Round>,
    slots: Vec<Slot>,
    /// White's half points in each finished game, by game number.
    results: BTreeMap<usize, u8>,
    /// For each engine, whether it is still in the tournament; `false` if it has been withdrawn.
    present: Vec<bool>,
}

/// An engine's standing in a Swiss or knockout tournament.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Placing {
    /// In a Swiss tournament, the engine's points, including those for byes and for games not
    /// played because the opponent was withdrawn. In a knockout, the number of rounds that the
    /// engine survived.
    pub score: f64,
    /// In a Swiss tournament, the tie-break score: the sum of the opponents' scores, where a bye
    /// counts as an opponent with the engine's own score. In a knockout, 0.
    pub buchholz: f64,
}

impl Schedule {
    /// Returns the games that can be scheduled before any results are known, in playing order: all
    /// games of a round robin or gauntlet, or the first round of another tournament.
    pub fn slots(&self) -> Vec<Slot> {
        let mut rounds = Rounds::new(*self, vec![true; self.engines]);
        rounds.pair_next();
        rounds.slots().to_vec()
    }
}

impl Rounds {
    /// Creates a tournament in which no round has been paired yet. For each engine, `present`
    /// contains `true` if it takes part, or `false` if it has been withdrawn.
    pub fn new(schedule: Schedule, present: Vec<bool>) -> Self {
        let (list, slots, results) = (Vec::new(), Vec::new(), BTreeMap::new());
        Rounds { schedule, list, slots, results, present }
    }

    /// Returns the rounds that have been paired.
    pub fn list(&self) -> &[Round] {
        &self.list
    }

    /// Returns the current round of a Swiss or knockout tournament; `None` for a round robin or
    /// gauntlet.
    pub fn current(&self) -> Option<&Round> {
        self.list.last().filter(|_| self.schedule.format.has_rounds())
    }

    /// Returns the games of all rounds that have been paired.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Sets for each engine whether it takes part. `present` may be longer than before: new engines
    /// come last.
    pub fn set_present(&mut self, present: Vec<bool>) {
        self.present = present;
    }

    /// Returns the indexes of the engines that have not been withdrawn.
    pub fn entrants(&self) -> Vec<usize> {
        (0..self.present.len()).filter(|&engine| self.present[engine]).collect()
    }

    /// Stores the result of a game, as White's half points.
    pub fn add_result(&mut self, number: usize, half_points: u8) {
        self.results.insert(number, half_points);
    }

    /// Returns White's score in game `number`, in half-points (0, 1 or 2), or `None` if the game
    /// has not been finished.
    pub fn result(&self, number: usize) -> Option<u8> {
        self.results.get(&number).copied()
    }

    /// Adds a round that was paired in an earlier run of the match.
    ///
    /// # Errors
    /// If the round does not follow the rounds added before it, or if it refers to unknown engines.
    pub fn restore(&mut self, round: Round) -> Result<(), String> {
        let engines = self.present.len();
        let follows = round.first_game == self.slots.len() + 1
            && round.number >= self.list.last().map_or(1, |last| last.number)
            && round.number <= self.list.len() + 1;
        let is_known = round.pairings.iter().all(|&(a, b)| a < b && b < engines)
            && round.entrants.iter().chain(&round.byes).all(|&engine| engine < engines)
            && round.entrants.is_sorted_by(|a, b| a < b);
        if !follows || !is_known {
            return Err(format!("round {} does not follow the lines before it", round.number));
        }
        self.push(round);
        Ok(())
    }

    fn push(&mut self, round: Round) {
        let schedule = &self.schedule;
        let mut start = Start {
            pair: self.slots.iter().map(|slot| slot.pair + 1).max().unwrap_or(0),
            ..Start::default()
        };
        if schedule.format.has_rounds() {
            for earlier in &self.list {
                let games = schedule.games_in(earlier);
                start.opening += games.div_ceil(schedule.games_per_opening());
                start.games += if earlier.number == round.number { games } else { 0 };
            }
        }
        self.slots.extend(schedule.round_slots(&round, start));
        self.list.push(round);
    }

    /// Returns the games still to be played in the rounds paired so far. In a Swiss or knockout
    /// tournament, only the most recent round is considered.
    pub fn remaining(&self) -> Vec<Slot> {
        let first = match self.list.last() {
            Some(last) if self.schedule.format.has_rounds() => last.first_game,
            _ => 1,
        };
        let is_open = |slot: &&Slot| {
            let (first, second) = slot.engines;
            !self.results.contains_key(&slot.number) && self.present[first] && self.present[second]
        };
        self.slots[first - 1..].iter().filter(is_open).copied().collect()
    }

    /// Pairs the next round and adds it to the tournament. Returns `None` if the tournament is
    /// over. All games of earlier rounds must have been played (see [`Rounds::remaining`]).
    pub fn pair_next(&mut self) -> Option<Round> {
        let round = self.next_round()?;
        self.push(round.clone());
        Some(round)
    }

    fn next_round(&self) -> Option<Round> {
        let round = match self.schedule.format {
            Format::RoundRobin | Format::Gauntlet => {
                let pairings = self.missing();
                let number = self.list.len() + 1;
                (!pairings.is_empty()).then(|| Round { number, pairings, ..Round::default() })
            }
            Format::Swiss { rounds } => swiss::next_round(self, rounds),
            Format::Knockout => knockout::next_round(self),
        }?;
        Some(Round { first_game: self.slots.len() + 1, entrants: self.entrants(), ..round })
    }

    /// Returns the pairings of a round robin or gauntlet that no round contains yet, such as those
    /// of an engine that joined late.
    fn missing(&self) -> Vec<(usize, usize)> {
        let listed: BTreeSet<_> = self.list.iter().flat_map(|round| &round.pairings).collect();
        let mut pairings = self.schedule.all_pairings(&self.entrants());
        pairings.retain(|pairing| !listed.contains(pairing));
        pairings
    }

    /// Returns whether all games have been played.
    pub fn is_over(&self) -> bool {
        self.remaining().is_empty() && self.next_round().is_none()
    }

    /// Returns the expected number of games in the whole tournament, assuming no further tie-breaks
    /// and no engines joining or withdrawing.
    pub fn planned(&self) -> usize {
        self.results.len() + self.remaining().len() + self.future()
    }

    /// Returns the expected game number of the last game. It exceeds [`Self::planned`] by the
    /// number of games that were not played because an engine was withdrawn.
    pub fn last_number(&self) -> usize {
        self.slots.len() + self.future()
    }

    /// Returns the number of games expected in rounds that have not been paired yet.
    fn future(&self) -> usize {
        let engines = self.entrants().len();
        let pairings = match self.schedule.format {
            Format::RoundRobin | Format::Gauntlet => self.missing().len(),
            Format::Swiss { rounds } => rounds.saturating_sub(self.list.len()) * (engines / 2),
            Format::Knockout => knockout::survivors(self).saturating_sub(1),
        };
        self.schedule.games * pairings
    }

    /// Returns each engine's placing, by engine index. Empty for a round robin or gauntlet.
    pub fn placings(&self) -> Vec<Placing> {
        match self.schedule.format {
            Format::RoundRobin | Format::Gauntlet => Vec::new(),
            Format::Swiss { .. } => swiss::placings(self),
            Format::Knockout => knockout::placings(self),
        }
    }

    fn engines(&self) -> usize {
        self.present.len()
    }

    /// Returns whether an engine was still in the tournament at the end of round `number`,
    /// including its tie-breaks.
    fn stays(&self, number: usize, engine: usize) -> bool {
        match self.list.iter().find(|round| round.number > number) {
            Some(next) => next.entrants.contains(&engine),
            None => self.present[engine],
        }
    }

    /// Returns both engines' total half-points for each pairing, keyed by round and pairing. A game
    /// not played because one engine was withdrawn counts as a win for the other.
    fn encounters(&self) -> BTreeMap<(usize, (usize, usize)), [u32; 2]> {
        let mut encounters = BTreeMap::new();
        for slot in &self.slots {
            let (first, second) = slot.engines;
            let points = match self.results.get(&slot.number) {
                Some(&white) if slot.colors[0] == first => {
                    [u32::from(white), WIN - u32::from(white)]
                }
                Some(&white) => [WIN - u32::from(white), u32::from(white)],
                None => match [first, second].map(|engine| self.stays(slot.round.0, engine)) {
                    [true, false] => [WIN, 0],
                    [false, true] => [0, WIN],
                    _ => [0, 0],
                },
            };
            let sums: &mut [u32; 2] = encounters.entry((slot.round.0, slot.engines)).or_default();
            sums.iter_mut().zip(points).for_each(|(sum, points)| *sum += points);
        }
        encounters
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::support::random::Random;

    const GAMES: usize = 2;

    fn schedule(format: Format, engines: usize) -> Schedule {
        Schedule { engines, format, games: GAMES, openings: 5, reversed: true }
    }

    /// Plays the remaining games with random results. On average, withdraws an engine instead of
    /// playing one in `odds` games; 0 means never.
    fn play(rounds: &mut Rounds, random: &mut Random, odds: u64) {
        while let Some(&slot) = rounds.remaining().first() {
            if odds > 0 && random.next_u64().is_multiple_of(odds) && rounds.entrants().len() > 3 {
                rounds.present[slot.colors[0]] = false;
            } else {
                rounds.add_result(slot.number, (random.next_u64() % 3) as u8);
            }
        }
    }

    /// Returns a copy of the tournament, rebuilt from its rounds and results in the same way as
    /// when a match is resumed.
    fn restored(rounds: &Rounds) -> Rounds {
        let mut copy = Rounds::new(rounds.schedule, rounds.present.clone());
        for round in &rounds.list {
            copy.restore(round.clone()).expect("a valid round");
        }
        copy.results.clone_from(&rounds.results);
        copy
    }

    fn has_rematch(round: &Round, earlier: &[Round]) -> bool {
        let met = |pairing| earlier.iter().any(|round| round.pairings.contains(pairing));
        round.pairings.iter().any(met)
    }

    /// Returns whether there is any way to pair all engines without a rematch and without giving an
    /// engine a second bye.
    fn can_avoid_rematches(engines: &[usize], earlier: &[Round]) -> bool {
        let [first, rest @ ..] = engines else { return true };
        let without = |index: usize| [&rest[..index], &rest[index + 1..]].concat();
        let has_bye = earlier.iter().any(|round| round.byes.contains(first));
        let with_bye = engines.len() % 2 == 1 && !has_bye && can_avoid_rematches(rest, earlier);
        let with_opponent = |index: usize| {
            let pairing = (*first, rest[index]);
            !earlier.iter().any(|round| round.pairings.contains(&pairing))
                && can_avoid_rematches(&without(index), earlier)
        };
        with_bye || (0..rest.len()).any(with_opponent)
    }

    proptest! {
        #[test]
        fn swiss_rounds_follow_the_rules(
            engines in 2_usize..=8,
            limit in 1_usize..=7,
            seed: u64,
            odds in prop::sample::select(vec![0_u64, 15]),
        ) {
            let mut random = Random::new(seed);
            let format = Format::Swiss { rounds: limit };
            let mut rounds = Rounds::new(schedule(format, engines), vec![true; engines]);
            for number in 1..=limit {
                if odds > 0 && random.next_u64().is_multiple_of(3) {
                    rounds.present.push(true);
                }
                let (earlier, entrants) = (rounds.list.clone(), rounds.entrants());
                let mut copy = restored(&rounds);
                let points = rounds.placings();
                let round = rounds.pair_next().expect("a round");
                prop_assert_eq!(&copy.pair_next().expect("the same round"), &round);
                prop_assert_eq!(copy.remaining(), rounds.remaining());
                let mut paired: Vec<usize> =
                    round.pairings.iter().flat_map(|&(a, b)| [a, b]).chain(round.byes.clone()).collect();
                paired.sort_unstable();
                prop_assert_eq!(&paired, &entrants);
                prop_assert_eq!((round.number, round.byes.len()), (number, entrants.len() % 2));
                let second_bye = earlier.iter().any(|other| other.byes.iter().any(|engine| round.byes.contains(engine)));
                if has_rematch(&round, &earlier) || second_bye {
                    prop_assert!(!can_avoid_rematches(&entrants, &earlier));
                } else if let [bye] = round.byes[..] {
                    // No engine with a lower rank could have had the bye without a rematch or a
                    // second bye.
                    let key = |engine: usize| (points[engine].score, std::cmp::Reverse(engine));
                    for &lower in entrants.iter().filter(|&&engine| key(engine) < key(bye)) {
                        let had_bye = earlier.iter().any(|other| other.byes.contains(&lower));
                        let others: Vec<usize> = entrants.iter().copied().filter(|&engine| engine != lower).collect();
                        prop_assert!(had_bye || !can_avoid_rematches(&others, &earlier));
                    }
                }
                play(&mut rounds, &mut random, odds);
            }
            prop_assert!(rounds.is_over() && rounds.pair_next().is_none());
            // The engines in each pairing share `GAMES` points, and each bye awards the same
            // number.
            let pairings = rounds.list.iter().map(|round| round.pairings.len() + round.byes.len());
            let sum: f64 = rounds.placings().iter().map(|placing| placing.score).sum();
            let all = (GAMES * pairings.sum::<usize>()) as f64;
            prop_assert!(sum == all || (odds > 0 && sum < all));
        }

        #[test]
        fn the_best_of_a_knockout_is_left(engines in 2_usize..=20, seed: u64, odds in prop::sample::select(vec![0_u64, 15])) {
            let mut random = Random::new(seed);
            let mut rounds = Rounds::new(schedule(Format::Knockout, engines), vec![true; engines]);
            let mut alive: BTreeSet<usize> = (0..engines).collect();
            loop {
                prop_assert_eq!(restored(&rounds).pair_next(), rounds.clone().pair_next());
                let Some(round) = rounds.pair_next() else { break };
                let players: Vec<usize> = round.pairings.iter().flat_map(|&(a, b)| [a, b]).chain(round.byes.clone()).collect();
                let distinct: BTreeSet<usize> = players.iter().copied().collect();
                prop_assert_eq!(distinct.len(), players.len());
                prop_assert!(distinct.is_subset(&alive));
                if !round.tie_break {
                    alive = distinct;
                }
                play(&mut rounds, &mut random, odds);
            }
            let placings = rounds.placings();
            let best = placings.iter().map(|placing| placing.score).fold(0.0, f64::max);
            prop_assert_eq!(placings.iter().filter(|placing| placing.score == best).count(), 1);
            let last = rounds.list.last().map_or(0, |round| round.number);
            prop_assert!(odds > 0 || best == last as f64);
            prop_assert!(odds > 0 || last == engines.next_power_of_two().ilog2() as usize);
        }

        #[test]
        fn all_engines_of_a_round_robin_meet(engines in 2_usize..=6, seed: u64) {
            let mut random = Random::new(seed);
            let mut rounds = Rounds::new(schedule(Format::RoundRobin, engines), vec![true; engines]);
            for _ in 0..3 {
                rounds.pair_next();
                play(&mut rounds, &mut random, 10);
                rounds.present.push(true);
                prop_assert_eq!(restored(&rounds).pair_next(), rounds.clone().pair_next());
            }
            rounds.pair_next();
            play(&mut rounds, &mut random, 0);
            prop_assert!(rounds.is_over());
            let pairings: Vec<_> = rounds.list.iter().flat_map(|round| round.pairings.clone()).collect();
            let distinct: BTreeSet<_> = pairings.iter().copied().collect();
            prop_assert_eq!(distinct.len(), pairings.len());
            let complete = rounds.schedule.all_pairings(&rounds.entrants());
            prop_assert!(complete.iter().all(|pairing| distinct.contains(pairing)));
            prop_assert_eq!(rounds.planned(), rounds.results.len());
        }
    }

    #[test]
    fn games_against_a_withdrawn_engine_are_won() {
        let format = Format::Swiss { rounds: 3 };
        let mut rounds = Rounds::new(schedule(format, 5), vec![true; 5]);
        let round = rounds.pair_next().expect("a round");
        assert_eq!((round.pairings, round.byes), (vec![(0, 2), (1, 3)], vec![4]));
        assert_eq!(rounds.planned(), 4 + 2 * 4);
        rounds.add_result(1, 2);
        rounds.present[0] = false;
        let open: Vec<usize> = rounds.remaining().iter().map(|slot| slot.number).collect();
        assert_eq!(open, [3, 4]);
        for number in open {
            rounds.add_result(number, 1);
        }
        let scores =
            |rounds: &Rounds| rounds.placings().iter().map(|p| p.score).collect::<Vec<_>>();
        assert_eq!(scores(&rounds), [1.0, 1.0, 1.0, 1.0, 2.0]);
        let round = rounds.pair_next().expect("a round");
        assert_eq!((round.pairings, round.byes), (vec![(1, 4), (2, 3)], vec![]));
        // A returning engine is paired again in the next round. The games it missed still count as
        // losses.
        rounds.present[0] = true;
        assert!(rounds.remaining().iter().all(|slot| slot.round.0 == 2));
        assert_eq!(scores(&rounds), [1.0, 1.0, 1.0, 1.0, 2.0]);
    }

    #[test]
    fn openings_continue_from_round_to_round() {
        let format = Format::Swiss { rounds: 3 };
        let swiss = Schedule { games: 4, ..schedule(format, 4) };
        assert_eq!(swiss.openings_needed(), 6);
        let mut rounds = Rounds::new(swiss, vec![true; 4]);
        for openings in [[0, 1], [2, 3], [4, 0]] {
            rounds.pair_next();
            let mut played = rounds.remaining();
            played.retain(|slot| slot.engines.0 == 0);
            let found: Vec<usize> = played.iter().map(|slot| slot.opening).collect();
            assert_eq!(found, [openings[0], openings[0], openings[1], openings[1]]);
            let games: Vec<usize> = played.iter().map(|slot| slot.round.1).collect();
            assert_eq!(games, [1, 2, 3, 4]);
            play(&mut rounds, &mut Random::new(1), 0);
        }
    }

    #[test]
    fn tied_pairings_of_a_knockout_play_on() {
        let mut rounds = Rounds::new(schedule(Format::Knockout, 3), vec![true; 3]);
        let first = rounds.pair_next().expect("a round");
        assert_eq!((&first.pairings[..], &first.byes[..]), (&[(1, 2)][..], &[0][..]));
        for tie_break in 0..=super::super::schedule::TIE_BREAKS {
            let games: Vec<usize> = rounds.remaining().iter().map(|slot| slot.round.1).collect();
            assert_eq!(games, [2 * tie_break + 1, 2 * tie_break + 2]);
            for slot in rounds.remaining() {
                rounds.add_result(slot.number, 1);
            }
            assert!(!rounds.is_over());
            rounds.pair_next();
        }
        // After the last tie-break, the higher seed advances.
        assert_eq!(rounds.list.last().map(|round| &round.pairings[..]), Some(&[(0, 1)][..]));
        for slot in rounds.remaining() {
            rounds.add_result(slot.number, if slot.colors[0] == 1 { 2 } else { 0 });
        }
        assert!(rounds.is_over());
        let scores: Vec<f64> = rounds.placings().iter().map(|placing| placing.score).collect();
        assert_eq!(scores, [1.0, 2.0, 0.0]);
    }

    #[test]
    fn rounds_that_do_not_fit_are_rejected() {
        let format = Format::Swiss { rounds: 3 };
        let good = Rounds::new(schedule(format, 4), vec![true; 4]).pair_next().expect("a round");
        for bad in [
            Round { first_game: 2, ..good.clone() },
            Round { number: 2, ..good.clone() },
            Round { number: 0, ..good.clone() },
            Round { pairings: vec![(0, 4)], ..good.clone() },
            Round { pairings: vec![(1, 1)], ..good.clone() },
            Round { byes: vec![4], ..good.clone() },
            Round { entrants: vec![0, 0], ..good.clone() },
        ] {
            let mut rounds = Rounds::new(schedule(format, 4), vec![true; 4]);
            rounds.restore(bad.clone()).expect_err(&format!("{bad:?}"));
            rounds.restore(good.clone()).expect("the first round");
        }
    }
}
