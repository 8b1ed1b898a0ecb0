//! The schedule of a match or tournament: pairings, colours and openings.
//!
//! A [`Schedule`] contains the rules, and a [`Round`] the pairings.
//! [`Rounds`](super::rounds::Rounds) contains all rounds, and pairs the next one.
//!
//! ```
//! use tabia::autoplay::schedule::{Format, Schedule};
//!
//! let schedule =
//!     Schedule { engines: 2, format: Format::RoundRobin, games: 2, openings: 1, reversed: true };
//! let colors: Vec<_> = schedule.slots().iter().map(|slot| slot.colors).collect();
//! assert_eq!(colors, [[0, 1], [1, 0]]);
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The number of games in a tie-break of a knockout pairing.
pub(super) const TIE_BREAK_GAMES: usize = 2;
/// The maximum number of tie-breaks per pairing. If the pairing is still tied after them, the
/// higher seed advances.
pub(super) const TIE_BREAKS: usize = 4;

/// The tournament format, which determines which engines play each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Every engine plays every other engine. With two engines, this is a simple match.
    #[default]
    RoundRobin,
    /// The first engine plays all the others.
    Gauntlet,
    /// In each round, engines with similar scores play each other.
    Swiss {
        /// The number of rounds.
        rounds: usize,
    },
    /// The loser of each pairing is eliminated.
    Knockout,
}

impl Format {
    /// Returns whether the pairings of each round depend on the results of earlier rounds.
    pub fn has_rounds(self) -> bool {
        matches!(self, Format::Swiss { .. } | Format::Knockout)
    }
}

/// The parameters of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// The number of engines at the start.
    pub engines: usize,
    /// The tournament format.
    pub format: Format,
    /// The number of games in each pairing.
    pub games: usize,
    /// The number of openings. After the last opening, play continues with the first one.
    pub openings: usize,
    /// Whether each opening is played twice, with colours reversed in the second game.
    pub reversed: bool,
}

/// A game in the schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The 1-based number of the game in the schedule.
    pub number: usize,
    /// The 0-based index of the game pair to which the game belongs. If [`Schedule::reversed`] is
    /// set, both games of a pair have the same opening.
    pub pair: usize,
    /// The indexes of the two engines, the lower one first.
    pub engines: (usize, usize),
    /// The indexes of the engines that play White and Black.
    pub colors: [usize; 2],
    /// The opening's index, counted from 0.
    pub opening: usize,
    /// The round number, and the number of the game among the games of its pairing in that round.
    /// Both are 1-based.
    pub round: (usize, usize),
}

/// The pairings of a round. A round robin or gauntlet has a single round, but each time engines
/// join, a round with their pairings is added.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Round {
    /// The 1-based number of the round. A tie-break has the same number as the round whose ties it
    /// breaks.
    pub number: usize,
    /// Whether the round is a tie-break of a knockout.
    #[serde(default)]
    pub tie_break: bool,
    /// The number of the round's first game.
    pub first_game: usize,
    /// The engines that had not been withdrawn when the round was paired, in ascending order.
    pub entrants: Vec<usize>,
    /// The indexes of the engines that play each other, the lower index first.
    pub pairings: Vec<(usize, usize)>,
    /// The engines without an opponent.
    pub byes: Vec<usize>,
}

/// The numbers with which the pairs, openings and games of a round begin.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Start {
    pub pair: usize,
    pub opening: usize,
    /// The number of games that each pairing has already played in this round and its earlier
    /// tie-breaks.
    pub games: usize,
}

impl Schedule {
    /// Returns how many openings are needed to avoid repeating one: within a pairing in a round
    /// robin or gauntlet, and across all games of an engine in a Swiss or knockout tournament.
    pub fn openings_needed(&self) -> usize {
        let per_opening = self.games_per_opening();
        let in_round = self.games.div_ceil(per_opening);
        match self.format {
            Format::RoundRobin | Format::Gauntlet => in_round,
            Format::Swiss { rounds } => rounds.saturating_mul(in_round),
            Format::Knockout => {
                let rounds = self.engines.next_power_of_two().ilog2() as usize;
                rounds * (in_round + TIE_BREAKS * TIE_BREAK_GAMES.div_ceil(per_opening))
            }
        }
    }

    /// Returns the number of consecutive games of a pairing that use the same opening.
    pub(super) fn games_per_opening(&self) -> usize {
        if self.reversed { 2 } else { 1 }
    }

    pub(super) fn games_in(&self, round: &Round) -> usize {
        if round.tie_break { TIE_BREAK_GAMES } else { self.games }
    }

    /// Returns the games of a round in playing order. All pairings play their first opening before
    /// any of them plays its second, so that the standings are fair even if the tournament is
    /// interrupted.
    pub(super) fn round_slots(&self, round: &Round, start: Start) -> Vec<Slot> {
        let (pairings, total) = (&round.pairings, self.games_in(round));
        let per_opening = self.games_per_opening();
        let mut slots = Vec::with_capacity(total * pairings.len());
        for cycle in 0..total.div_ceil(per_opening) {
            for (index, &engines) in pairings.iter().enumerate() {
                let games = per_opening.min(total - cycle * per_opening);
                for game in 0..games {
                    let swapped = if self.reversed { game == 1 } else { cycle % 2 == 1 };
                    let (first, second) = engines;
                    slots.push(Slot {
                        number: round.first_game + slots.len(),
                        pair: start.pair + (cycle * per_opening / 2) * pairings.len() + index,
                        engines,
                        colors: if swapped { [second, first] } else { [first, second] },
                        opening: (start.opening + cycle) % self.openings.max(1),
                        round: if self.format.has_rounds() {
                            (round.number, start.games + cycle * per_opening + game + 1)
                        } else {
                            (cycle + 1, game + 1)
                        },
                    });
                }
            }
        }
        slots
    }

    /// Returns all pairings of a round robin or gauntlet among `engines`.
    pub(super) fn all_pairings(&self, engines: &[usize]) -> Vec<(usize, usize)> {
        let pairs = engines.iter().enumerate().flat_map(|(rank, &first)| {
            engines[rank + 1..].iter().map(move |&second| (first, second))
        });
        pairs.filter(|&(first, _)| first == 0 || self.format != Format::Gauntlet).collect()
    }
}

/// A map keyed by the indexes of two engines.
pub type ByPairing<T> = BTreeMap<(usize, usize), T>;

#[cfg(test)]
mod tests {
    use super::*;

    const MATCH: Schedule =
        Schedule { engines: 2, format: Format::RoundRobin, games: 5, openings: 2, reversed: true };

    #[test]
    fn openings_are_played_with_colours_reversed() {
        let slots = MATCH.slots();
        let rows: Vec<_> = slots.iter().map(|s| (s.number, s.pair, s.colors, s.opening)).collect();
        assert_eq!(
            rows,
            [
                (1, 0, [0, 1], 0),
                (2, 0, [1, 0], 0),
                (3, 1, [0, 1], 1),
                (4, 1, [1, 0], 1),
                (5, 2, [0, 1], 0)
            ]
        );
    }

    #[test]
    fn without_reversal_every_game_has_its_own_opening() {
        let slots = Schedule { reversed: false, games: 4, openings: 9, ..MATCH }.slots();
        let rows: Vec<_> = slots.iter().map(|s| (s.pair, s.colors[0], s.opening)).collect();
        assert_eq!(rows, [(0, 0, 0), (0, 1, 1), (1, 0, 2), (1, 1, 3)]);
    }

    #[test]
    fn all_pairings_play_equally_often() {
        let schedule = Schedule { engines: 5, games: 4, openings: 0, ..MATCH };
        let mut met = ByPairing::<[u32; 2]>::new();
        for slot in schedule.slots() {
            let first_is_white = slot.colors[0] == slot.engines.0;
            met.entry(slot.engines).or_default()[usize::from(first_is_white)] += 1;
        }
        assert_eq!(met.len(), 10);
        assert!(met.values().all(|&games| games == [2, 2]));
        let gauntlet = Schedule { format: Format::Gauntlet, ..schedule };
        assert_eq!(gauntlet.slots().len(), 4 * 4);
        assert!(gauntlet.slots().iter().all(|slot| slot.engines.0 == 0));
    }

    #[test]
    fn all_pairings_play_the_same_openings() {
        for (format, games, openings) in [
            (Format::RoundRobin, 14, 3),
            (Format::Gauntlet, 14, 3),
            (Format::RoundRobin, 8, 20),
            (Format::Swiss { rounds: 1 }, 14, 3),
            (Format::Knockout, 14, 3),
        ] {
            let schedule = Schedule { engines: 8, format, games, openings, reversed: true };
            let mut played = ByPairing::<BTreeMap<usize, usize>>::new();
            for slot in schedule.slots() {
                *played.entry(slot.engines).or_default().entry(slot.opening).or_default() += 1;
            }
            let first = played.values().next().expect("a pairing").clone();
            assert!(played.values().all(|counts| *counts == first), "{format:?}: {played:?}");
            let (fewest, most) = (first.values().min(), first.values().max());
            assert!(most <= fewest.map(|count| count + 2).as_ref(), "{format:?}: {first:?}");
            assert_eq!(first.len(), openings.min(games / 2));
        }
    }

    #[test]
    fn pairs_never_mix_pairings() {
        let slots = Schedule { engines: 4, games: 6, ..MATCH }.slots();
        let mut engines_of = BTreeMap::new();
        for slot in &slots {
            assert_eq!(*engines_of.entry(slot.pair).or_insert(slot.engines), slot.engines);
        }
        assert_eq!(
            slots.iter().map(|slot| slot.number).collect::<Vec<_>>(),
            (1..=36).collect::<Vec<_>>()
        );
    }
}
