//! The schedule of a match or tournament: pairings, colours and openings.
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

/// The tournament format. It determines which engines play each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Every engine plays every other engine. With two engines, this is a simple match.
    #[default]
    RoundRobin,
    /// The first engine plays all the others.
    Gauntlet,
}

/// The parameters of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// The number of engines.
    pub engines: usize,
    /// The pairings of the tournament.
    pub format: Format,
    /// The number of games in each pairing.
    pub games: usize,
    /// The number of openings. After the last opening, the list starts again from the first one.
    pub openings: usize,
    /// Whether each opening is played twice, with colours reversed in the second game.
    pub reversed: bool,
}

/// A game in the schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The game's number in the schedule, counted from 1.
    pub number: usize,
    /// The index of the pair. A pair consists of the two games with the same opening.
    pub pair: usize,
    /// The indexes of the two engines, in the order in which they were defined.
    pub engines: (usize, usize),
    /// The indexes of the engines that play White and Black.
    pub colors: [usize; 2],
    /// The opening's index, counted from 0.
    pub opening: usize,
    /// The round number and the game's number within its pair, both counted from 1.
    pub round: (usize, usize),
}

impl Schedule {
    /// Returns all games in playing order, in rounds so that an interrupted tournament is fair.
    pub fn slots(&self) -> Vec<Slot> {
        let pairings = self.pairings();
        let per_round = if self.reversed { 2 } else { 1 };
        let mut slots = Vec::with_capacity(self.games * pairings.len());
        for round in 0..self.games.div_ceil(per_round) {
            for (index, &engines) in pairings.iter().enumerate() {
                let games = per_round.min(self.games - round * per_round);
                for game in 0..games {
                    let swapped = if self.reversed { game == 1 } else { round % 2 == 1 };
                    let (first, second) = engines;
                    slots.push(Slot {
                        number: slots.len() + 1,
                        pair: (round * per_round / 2) * pairings.len() + index,
                        engines,
                        colors: if swapped { [second, first] } else { [first, second] },
                        opening: round % self.openings.max(1),
                        round: (round + 1, game + 1),
                    });
                }
            }
        }
        slots
    }

    /// Returns the pairs of engines that play each other, in playing order.
    pub fn pairings(&self) -> Vec<(usize, usize)> {
        let firsts = match self.format {
            Format::RoundRobin => self.engines,
            Format::Gauntlet => self.engines.min(1),
        };
        (0..firsts).flat_map(|first| (first + 1..self.engines).map(move |s| (first, s))).collect()
    }
}

/// A map that is indexed by pairs of engines.
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
