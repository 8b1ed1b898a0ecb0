//! The FSRS 6 algorithm for spaced repetition: estimates how well an item is remembered, and
//! schedules its next review.
//!
//! The formulas and the default parameters are those of
//! <https://github.com/open-spaced-repetition/fsrs4anki/wiki/The-Algorithm>. No crate is used:
//! `rs-fsrs` 1.2 implements FSRS 5 and reads the system clock, and `fsrs` 6.6 is mainly an
//! optimiser with nine dependencies.

use serde::{Deserialize, Serialize};

/// A time in seconds since 1970-01-01.
pub type Time = u64;

const DAY: f64 = 86_400.0;

/// The default parameters, named `w[0]` to `w[20]` in the FSRS documentation.
const W: [f64; 21] = [
    0.212, 1.2931, 2.3065, 8.2956, 6.4133, 0.8334, 3.0194, 0.001, 1.8722, 0.1666, 0.796, 1.4835,
    0.0614, 0.2629, 1.6483, 0.6014, 1.8729, 0.5425, 0.0912, 0.0658, 0.1542,
];
/// The best of the four FSRS grades. Tabia never gives it, but the formulas need it: every
/// difficulty reverts towards the initial difficulty for this grade.
const EASY: f64 = 4.0;
const DIFFICULTIES: (f64, f64) = (1.0, 10.0);
/// The minimum stability in days.
const MIN_STABILITY: f64 = 0.001;
/// The maximum stability in days: a hundred years, as in Anki.
const MAX_STABILITY: f64 = 36_500.0;

/// How well an item was remembered. FSRS also has the grade "easy", which is never given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// It was not remembered.
    Again,
    /// It was remembered with help.
    Hard,
    /// It was remembered.
    Good,
}

impl Grade {
    fn number(self) -> f64 {
        match self {
            Grade::Again => 1.0,
            Grade::Hard => 2.0,
            Grade::Good => 3.0,
        }
    }
}

/// The state of an item in the player's memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Memory {
    /// The number of days after which the probability of recall falls to 90%.
    pub stability: f64,
    /// The difficulty of the item, from 1 to 10.
    pub difficulty: f64,
    /// The time of the last answer.
    pub last: Time,
    /// The grade of the last answer.
    pub grade: Grade,
}

impl Memory {
    /// Returns the memory state after the first answer to an item.
    pub fn first(grade: Grade, now: Time) -> Self {
        let stability = W[grade.number() as usize - 1];
        let difficulty = clamped(first_difficulty(grade.number()));
        Memory { stability, difficulty, last: now, grade }
    }

    /// Returns the state after another answer.
    pub fn next(self, grade: Grade, now: Time) -> Self {
        let stability = match (self.days(now) < 1.0, grade) {
            (true, _) => self.after_hours(grade),
            (false, Grade::Again) => self.after_lapse(now),
            (false, _) => self.after_recall(grade, now),
        };
        let stability = stability.clamp(MIN_STABILITY, MAX_STABILITY);
        Memory { stability, difficulty: self.next_difficulty(grade), last: now, grade }
    }

    /// Returns the probability that the player remembers the item.
    pub fn recall(&self, now: Time) -> f64 {
        let decay = -W[20];
        let factor = 0.9_f64.powf(1.0 / decay) - 1.0;
        (1.0 + factor * self.days(now) / self.stability).powf(decay)
    }

    /// Returns the time at which the item is due: immediately after a mistake, or otherwise when
    /// the probability of recall falls to 90%.
    pub fn due(&self) -> Time {
        match self.grade {
            Grade::Again => self.last,
            _ => self.last.saturating_add((self.stability * DAY) as Time),
        }
    }

    /// Returns the number of days since the last answer; 0 if the clock was set back.
    fn days(&self, now: Time) -> f64 {
        now.saturating_sub(self.last) as f64 / DAY
    }

    /// Returns the new stability after an answer given less than a day after the previous one.
    fn after_hours(self, grade: Grade) -> f64 {
        let increase = (W[17] * (grade.number() - 3.0 + W[18])).exp() * self.stability.powf(-W[19]);
        self.stability * if grade == Grade::Again { increase } else { increase.max(1.0) }
    }

    fn after_recall(self, grade: Grade, now: Time) -> f64 {
        let hard = if grade == Grade::Hard { W[15] } else { 1.0 };
        let forgotten = (W[10] * (1.0 - self.recall(now))).exp() - 1.0;
        let ease = W[8].exp() * (11.0 - self.difficulty) * self.stability.powf(-W[9]);
        self.stability * (1.0 + ease * forgotten * hard)
    }

    fn after_lapse(self, now: Time) -> f64 {
        let long = W[11]
            * self.difficulty.powf(-W[12])
            * ((self.stability + 1.0).powf(W[13]) - 1.0)
            * (W[14] * (1.0 - self.recall(now))).exp();
        long.min(self.stability / (W[17] * W[18]).exp())
    }

    fn next_difficulty(self, grade: Grade) -> f64 {
        let change = -W[6] * (grade.number() - 3.0);
        let damped = self.difficulty + change * (DIFFICULTIES.1 - self.difficulty) / 9.0;
        clamped(W[7] * first_difficulty(EASY) + (1.0 - W[7]) * damped)
    }
}

fn first_difficulty(grade: f64) -> f64 {
    W[4] - (W[5] * (grade - 1.0)).exp() + 1.0
}

fn clamped(difficulty: f64) -> f64 {
    difficulty.clamp(DIFFICULTIES.0, DIFFICULTIES.1)
}

#[cfg(test)]
mod tests {
    use Grade::{Again, Good, Hard};
    use proptest::prelude::*;

    use super::*;

    const DAY: Time = 86_400;

    fn review(memory: Option<Memory>, grade: Grade, now: Time) -> Memory {
        memory.map_or_else(|| Memory::first(grade, now), |memory| memory.next(grade, now))
    }

    #[test]
    fn answers_give_the_values_of_the_reference_implementation() {
        // The expected values come from py-fsrs 6.3.2, with fuzzing and learning steps turned off.
        type Row = (Grade, u64, f64, f64);
        let sequences: [&[Row]; 3] = [
            &[
                (Good, 0, 2.306_5, 2.118_103_97),
                (Good, 2, 10.964_332_336, 2.111_214_236),
                (Good, 8, 38.866_587_212, 2.104_331_391),
                (Good, 30, 122.541_347_581, 2.097_455_429),
                (Again, 90, 4.121_928_611, 7.387_715_706),
                (Good, 1, 6.117_631_03, 7.375_556_36),
                (Hard, 10, 13.513_396_183, 8.243_000_382),
            ],
            &[
                (Again, 0, 0.212, 6.413_3),
                (Good, 0, 0.246_689_188, 6.402_115_069),
                (Good, 1, 2.021_477_252, 6.390_941_324),
                (Hard, 3, 5.534_989_315, 7.589_367_038),
                (Again, 3, 0.928_169_978, 9.192_869_707),
                (Again, 0, 0.331_158_012, 9.719_930_13),
                (Good, 0, 0.374_200_273, 9.705_438_57),
            ],
            &[
                (Hard, 0, 1.293_1, 5.112_170_706),
                (Hard, 0, 1.293_1, 6.740_459_511),
                (Hard, 1, 2.708_390_553, 7.821_393_498),
                (Good, 400, 27.950_875_006, 7.808_800_474),
                (Again, 1, 1.876_473_077, 9.264_995_985),
            ],
        ];
        for sequence in sequences {
            let (mut memory, mut now) = (None, 1_700_000_000);
            for &(grade, days, stability, difficulty) in sequence {
                now += days * DAY;
                let found = review(memory, grade, now);
                assert!((found.stability - stability).abs() < 1e-8, "{found:?}: {stability}");
                assert!((found.difficulty - difficulty).abs() < 1e-8, "{found:?}: {difficulty}");
                memory = Some(found);
            }
        }
    }

    #[test]
    fn stability_is_the_time_until_ninety_percent() {
        let memory = Memory::first(Good, 1000);
        assert!((memory.recall(1000) - 1.0).abs() < 1e-12);
        assert!((memory.recall(memory.due()) - 0.9).abs() < 1e-6);
        assert_eq!(memory.due(), 1000 + 199_281);
        assert_eq!(Memory::first(Again, 1000).due(), 1000, "a mistake is repeated at once");
        assert!((memory.recall(0) - 1.0).abs() < 1e-12, "a clock that was put back");
    }

    fn grade() -> impl Strategy<Value = Grade> {
        prop_oneof![Just(Again), Just(Hard), Just(Good)]
    }

    proptest! {
        #[test]
        fn states_stay_in_their_bounds(
            answers in prop::collection::vec((grade(), 0..20 * 365 * DAY), 1..40),
            later in 1..20 * 365 * DAY,
        ) {
            let (mut memory, mut now) = (None, 0);
            for (grade, seconds) in answers {
                now += seconds;
                let next = review(memory, grade, now);
                prop_assert!((MIN_STABILITY..=MAX_STABILITY).contains(&next.stability), "{:?}", next);
                prop_assert!((1.0..=10.0).contains(&next.difficulty), "{:?}", next);
                prop_assert!(next.due() >= now);
                let [soon, late] = [now + later / 2, now + later].map(|time| next.recall(time));
                prop_assert!(0.0 < late && late <= soon && soon <= 1.0, "{} {}", soon, late);
                memory = Some(next);
            }
        }

        #[test]
        fn better_answers_are_repeated_later(
            stability in MIN_STABILITY..1000.0, difficulty in 1.0..10.0, seconds in 0..3000 * DAY,
        ) {
            let before = Memory { stability, difficulty, last: 0, grade: Good };
            let [again, hard, good] = [Again, Hard, Good].map(|grade| before.next(grade, seconds));
            prop_assert!(again.stability <= hard.stability && hard.stability <= good.stability);
            prop_assert!(good.stability >= stability);
            prop_assert!(again.difficulty >= hard.difficulty && hard.difficulty >= good.difficulty);
        }
    }
}
