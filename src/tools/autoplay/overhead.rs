//! The time that the match runner takes between an engine's move and the command to its opponent.
//!
//! ```
//! use std::time::Duration;
//!
//! use tabia::autoplay::overhead::Durations;
//!
//! let mut durations = Durations::default();
//! (1..=1000).for_each(|number| durations.add(Duration::from_micros(number)));
//! // Quantiles are rounded up by less than an eighth.
//! let median = durations.quantile(0.5).as_micros();
//! assert!((500..563).contains(&median));
//! assert_eq!(durations.longest, Duration::from_millis(1));
//! ```

use std::time::Duration;

use serde_json::{Value, json};

/// The binary logarithm of the number of histogram classes for each doubling of the duration.
const CLASS_BITS: u32 = 3;
/// Durations below this many microseconds have one class per microsecond.
const EXACT: u64 = 2 << CLASS_BITS;

/// The quantile reported in addition to the median.
const TAIL: f64 = 0.999;

/// A histogram of durations. Durations in the same class differ by less than 12.5%.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Durations {
    counts: Vec<u64>,
    /// The number of durations.
    pub count: u64,
    /// The longest duration.
    pub longest: Duration,
}

impl Durations {
    /// Adds a duration.
    pub fn add(&mut self, duration: Duration) {
        let class = class(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX));
        if self.counts.len() <= class {
            self.counts.resize(class + 1, 0);
        }
        self.counts[class] += 1;
        self.count += 1;
        self.longest = self.longest.max(duration);
    }

    /// Adds all durations of `other`.
    pub fn merge(&mut self, other: &Durations) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (own, more) in self.counts.iter_mut().zip(&other.counts) {
            *own += more;
        }
        self.count += other.count;
        self.longest = self.longest.max(other.longest);
    }

    /// Returns the given quantile of the durations, or zero if there are no durations. `share` is
    /// between 0 and 1. The result is rounded up to the upper limit of its bin, by less than an
    /// eighth.
    pub fn quantile(&self, share: f64) -> Duration {
        let wanted = (share * self.count as f64).ceil() as u64;
        let mut seen = 0;
        let class = self.counts.iter().position(|&count| {
            seen += count;
            seen >= wanted
        });
        let most = class.map_or(0, most);
        Duration::from_micros(most).min(self.longest)
    }

    fn json(&self) -> Value {
        json!({
            "median": milliseconds(self.quantile(0.5)),
            "p99_9": milliseconds(self.quantile(TAIL)),
            "longest": milliseconds(self.longest),
        })
    }

    /// Formats the median, the [`TAIL`] quantile and the maximum, for example `0.02 ms (99.9%: 0.30
    /// ms, longest 1.50 ms)`.
    fn describe(&self) -> String {
        let [median, tail] = [0.5, TAIL].map(|share| milliseconds(self.quantile(share)));
        let longest = milliseconds(self.longest);
        format!("{median:.2} ms (99.9%: {tail:.2} ms, longest {longest:.2} ms)")
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}

fn class(microseconds: u64) -> usize {
    if microseconds < EXACT {
        return microseconds as usize;
    }
    let shift = microseconds.ilog2() - CLASS_BITS;
    // `microseconds >> shift` is at least `1 << CLASS_BITS` and less than twice that, so adding
    // `shift << CLASS_BITS` makes the classes consecutive.
    (u64::from(shift << CLASS_BITS) + (microseconds >> shift)) as usize
}

/// Returns the upper limit of a class (inclusive), in microseconds.
fn most(class: usize) -> u64 {
    let class = class as u64;
    if class < EXACT {
        return class;
    }
    let shift = (class >> CLASS_BITS) - 1;
    let leading = class - (shift << CLASS_BITS);
    (((u128::from(leading) + 1) << shift) - 1).try_into().unwrap_or(u64::MAX)
}

/// The delays caused by the match runner itself. They do not count against the engines' clocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overhead {
    /// For each move, the time from its arrival until the match runner begins to process it.
    pub waiting: Durations,
    /// For each move, the time from when the match runner begins to process it until it sends the
    /// next command to the opponent.
    pub processing: Durations,
}

impl Overhead {
    /// Adds the delays of another game.
    pub fn merge(&mut self, other: &Overhead) {
        self.waiting.merge(&other.waiting);
        self.processing.merge(&other.processing);
    }

    /// Describes the delays on one line. Returns `None` if no delays were recorded.
    pub fn describe(&self) -> Option<String> {
        (self.waiting.count > 0).then(|| {
            let [waiting, processing] = [&self.waiting, &self.processing].map(Durations::describe);
            format!("{waiting} to read a move, {processing} to send the next command")
        })
    }

    /// Returns the delays in milliseconds.
    pub(crate) fn json(&self) -> Value {
        json!({
            "moves": self.waiting.count,
            "waiting_ms": self.waiting.json(),
            "processing_ms": self.processing.json(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_consecutive_and_narrow() {
        let mut last = 0;
        for microseconds in 0..100_000 {
            let class = class(microseconds);
            assert!(class == last || class == last + 1, "{microseconds}");
            let most = most(class);
            assert!(most >= microseconds && most - microseconds <= microseconds / 8);
            last = class;
        }
        assert_eq!(most(class(u64::MAX)), u64::MAX);
    }

    #[test]
    fn merged_durations_are_those_of_both() {
        let [mut all, mut odd, mut even] = [(); 3].map(|()| Durations::default());
        for number in 1..=5_000 {
            let duration = Duration::from_micros(number * number);
            all.add(duration);
            if number % 2 == 0 { &mut even } else { &mut odd }.add(duration);
        }
        odd.merge(&even);
        assert_eq!(odd, all);
        assert_eq!(all.quantile(1.0), Duration::from_secs(25));
        assert_eq!(Durations::default().quantile(0.5), Duration::ZERO);
    }

    #[test]
    fn overhead_is_described_only_if_there_is_any() {
        let mut overhead = Overhead::default();
        assert_eq!(overhead.describe(), None);
        overhead.waiting.add(Duration::from_micros(10));
        overhead.processing.add(Duration::from_micros(1_500));
        let text = overhead.describe().expect("a delay");
        assert!(text.starts_with("0.01 ms (99.9%") && text.contains("longest 1.50 ms"), "{text}");
    }
}
