//! Sums of weights, and the record of which weights went into them.
//!
//! The same code evaluates, explains and is tuned: every weight enters a [`Sum`], and a [`Trace`]
//! may note it. While playing the trace is [`Silent`] and costs nothing.

use super::weights::{WEIGHTS, Weights};
use crate::chess::position::Color;
use crate::engine::eval::tapered::Tapered;

/// Something that hears of every weight that is counted.
pub(in crate::engine::eval) trait Trace {
    /// Whether anything is noted; nothing may come out of a cache then.
    const ON: bool;

    /// From now on, weights count for `side`.
    fn begin(&mut self, side: Color);

    /// `weight`, an element of the weights in use, counted `times`.
    fn note(&mut self, weight: &Tapered, times: i32);
}

/// Hears nothing.
pub(in crate::engine::eval) struct Silent;

impl Trace for Silent {
    const ON: bool = false;

    #[inline(always)]
    fn begin(&mut self, _: Color) {}

    #[inline(always)]
    fn note(&mut self, _: &Tapered, _: i32) {}
}

/// How often each weight was counted for each side.
pub(in crate::engine::eval) struct TermCounts<'w> {
    weights: &'w Weights,
    side: Color,
    /// By side, then by the weight's place in [`Weights`].
    pub(in crate::engine::eval) counts: [Vec<i32>; 2],
}

impl<'w> TermCounts<'w> {
    /// Nothing counted yet.
    pub(in crate::engine::eval) fn new(weights: &'w Weights) -> Self {
        TermCounts { weights, side: Color::White, counts: [vec![0; WEIGHTS], vec![0; WEIGHTS]] }
    }
}

impl Trace for TermCounts<'_> {
    const ON: bool = true;

    fn begin(&mut self, side: Color) {
        self.side = side;
    }

    fn note(&mut self, weight: &Tapered, times: i32) {
        self.counts[self.side.to_index()][self.weights.place(weight)] += times;
    }
}

/// A growing sum of weights for one side.
pub(in crate::engine::eval) struct Sum<'t, T> {
    pub(in crate::engine::eval) score: Tapered,
    trace: &'t mut T,
}

impl<'t, T: Trace> Sum<'t, T> {
    /// An empty sum for `side`.
    #[inline(always)]
    pub(in crate::engine::eval) fn new(side: Color, trace: &'t mut T) -> Self {
        trace.begin(side);
        Sum { score: Tapered::ZERO, trace }
    }

    /// An empty sum for the same side, of weights that are not simply added to the score.
    #[inline(always)]
    pub(in crate::engine::eval) fn apart(&mut self) -> Sum<'_, T> {
        Sum { score: Tapered::ZERO, trace: self.trace }
    }

    /// Adds a weight.
    #[inline(always)]
    pub(in crate::engine::eval) fn add(&mut self, weight: &Tapered) {
        self.score += *weight;
        self.trace.note(weight, 1);
    }

    /// Adds a weight several times.
    #[inline(always)]
    pub(in crate::engine::eval) fn add_times(&mut self, weight: &Tapered, times: i32) {
        self.score += *weight * times;
        self.trace.note(weight, times);
    }

    /// Adds a weight if something holds.
    #[inline(always)]
    pub(in crate::engine::eval) fn add_if(&mut self, condition: bool, weight: &Tapered) {
        self.add_times(weight, i32::from(condition));
    }
}
