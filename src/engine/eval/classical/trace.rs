//! Sums of weights, and traces that record which weights were added to them.

use super::weights::{WEIGHTS, Weights};
use crate::chess::position::Color;
use crate::engine::eval::tapered::Tapered;

/// Records each weight that contributes to the evaluation, for tuning and for display.
pub(in crate::engine::eval) trait Trace {
    /// Whether this trace records weights. If so, the evaluation bypasses its caches, because
    /// cached terms would not be recorded.
    const ON: bool;

    /// Called before the weights for `side` are added.
    fn begin(&mut self, side: Color);

    /// Records that `weight` was added `times` times. `weight` must be a reference to an element of
    /// the weights in use, because its address identifies it.
    fn note(&mut self, weight: &Tapered, times: i32);
}

pub(in crate::engine::eval) struct Silent;

impl Trace for Silent {
    const ON: bool = false;

    #[inline(always)]
    fn begin(&mut self, _: Color) {}

    #[inline(always)]
    fn note(&mut self, _: &Tapered, _: i32) {}
}

/// A trace that counts how many times each weight was added for each side.
pub(in crate::engine::eval) struct TermCounts<'w> {
    weights: &'w Weights,
    side: Color,
    /// Counts, indexed by side and then by the weight's index in [`Weights`].
    pub(in crate::engine::eval) counts: [Vec<i32>; 2],
}

impl<'w> TermCounts<'w> {
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

pub(in crate::engine::eval) struct Sum<'t, T> {
    pub(in crate::engine::eval) score: Tapered,
    trace: &'t mut T,
}

impl<'t, T: Trace> Sum<'t, T> {
    #[inline(always)]
    pub(in crate::engine::eval) fn new(side: Color, trace: &'t mut T) -> Self {
        trace.begin(side);
        Sum { score: Tapered::ZERO, trace }
    }

    /// Creates an empty sum with the same trace, for weights that are not added directly to the
    /// score, such as danger units.
    #[inline(always)]
    pub(in crate::engine::eval) fn apart(&mut self) -> Sum<'_, T> {
        Sum { score: Tapered::ZERO, trace: self.trace }
    }

    #[inline(always)]
    pub(in crate::engine::eval) fn add(&mut self, weight: &Tapered) {
        self.score += *weight;
        self.trace.note(weight, 1);
    }

    #[inline(always)]
    pub(in crate::engine::eval) fn add_times(&mut self, weight: &Tapered, times: i32) {
        self.score += *weight * times;
        self.trace.note(weight, times);
    }

    #[inline(always)]
    pub(in crate::engine::eval) fn add_if(&mut self, condition: bool, weight: &Tapered) {
        self.add_times(weight, i32::from(condition));
    }
}
