//! The two inner loops: adding rows of weights, and the weighted sum of the neurons.
//!
//! They are written so that the compiler turns them into vector instructions, and compiled twice:
//! for the processor that the program is built for, and for AVX2, which is chosen at run time where
//! it is there. Integers add up alike in any order, so both give the same bits.

use super::{HIDDEN, QA};

/// A value or weight for each neuron, on a cache line's boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Row(pub [i16; HIDDEN]);

/// Sums kept apart, so that none of them can overflow: 255 * 255 * 127 times the neurons of a lane.
const LANES: usize = 8;
const _: () = assert!(255 * 255 * 127 * (HIDDEN / LANES) < i32::MAX as usize);

/// Neurons whose values the registers of AVX2 hold at once, with some to spare.
const IN_REGISTERS: usize = 128;
const _: () = assert!(HIDDEN.is_multiple_of(IN_REGISTERS));

/// The sums, as a vector register holds them.
#[repr(C, align(32))]
struct Lanes([i32; LANES]);

impl Lanes {
    #[inline(always)]
    fn sum(&self) -> i64 {
        self.0.iter().map(|&lane| i64::from(lane)).sum()
    }
}

/// Which of the compiled loops to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kernel {
    /// What the program was built for.
    Portable,
    /// AVX2. Made by [`Kernel::detect`] alone, where the processor has it.
    #[cfg(target_arch = "x86_64")]
    Avx2(Detected),
}

/// Proof that the processor has what a kernel needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Detected(());

impl Kernel {
    /// The fastest one for this processor.
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            return Kernel::Avx2(Detected(()));
        }
        Kernel::Portable
    }

    /// `from` with the rows of `added` on top and those of `removed` taken off.
    #[inline]
    pub(super) fn update(self, from: &Row, added: &[&Row], removed: &[&Row], to: &mut Row) {
        match self {
            Kernel::Portable => update(from, added, removed, to),
            #[cfg(target_arch = "x86_64")]
            // The processor has AVX2: a `Detected` proves it.
            #[allow(unsafe_code)]
            Kernel::Avx2(_) => unsafe { update_avx2(from, added, removed, to) },
        }
    }

    /// The sum over all neurons of value squared times weight; values are clipped to 0..=QA.
    #[inline]
    pub(super) fn weighted_sum(self, values: &Row, weights: &Row) -> i64 {
        match self {
            Kernel::Portable => weighted_sum(values, weights),
            #[cfg(target_arch = "x86_64")]
            // The processor has AVX2: a `Detected` proves it.
            #[allow(unsafe_code)]
            Kernel::Avx2(_) => unsafe { weighted_sum_avx2(values, weights) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn update_avx2(from: &Row, added: &[&Row], removed: &[&Row], to: &mut Row) {
    update(from, added, removed, to);
}

/// Written out, because no form of the plain loop made the compiler multiply and add in pairs.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn weighted_sum_avx2(values: &Row, weights: &Row) -> i64 {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_load_si256, _mm256_madd_epi16, _mm256_max_epi16,
        _mm256_min_epi16, _mm256_mullo_epi16, _mm256_set1_epi16, _mm256_setzero_si256,
        _mm256_store_si256,
    };
    /// Numbers of 16 bits in a vector.
    const WIDTH: usize = 16;
    const _: () = assert!(HIDDEN.is_multiple_of(WIDTH));
    let (zero, one) = (_mm256_setzero_si256(), _mm256_set1_epi16(QA as i16));
    let mut sums = zero;
    for at in (0..HIDDEN).step_by(WIDTH) {
        // A row is aligned to 64 bytes, and `at` leaves room for a whole vector.
        #[allow(unsafe_code)]
        let (value, weight) = unsafe {
            let value = values.0.as_ptr().add(at).cast::<__m256i>();
            let weight = weights.0.as_ptr().add(at).cast::<__m256i>();
            (_mm256_load_si256(value), _mm256_load_si256(weight))
        };
        let value = _mm256_max_epi16(_mm256_min_epi16(value, one), zero);
        let weighted = _mm256_mullo_epi16(value, weight);
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(value, weighted));
    }
    let mut lanes = Lanes([0; LANES]);
    // `Lanes` is as large as a vector and aligned like one.
    #[allow(unsafe_code)]
    unsafe {
        _mm256_store_si256(lanes.0.as_mut_ptr().cast::<__m256i>(), sums);
    }
    lanes.sum()
}

#[inline(always)]
fn update(from: &Row, added: &[&Row], removed: &[&Row], to: &mut Row) {
    // A move adds one row and removes one or two; the loop over the neurons is then a single one.
    match (added, removed) {
        ([a], [r]) => {
            for i in 0..HIDDEN {
                to.0[i] = from.0[i].wrapping_add(a.0[i]).wrapping_sub(r.0[i]);
            }
        }
        ([a], [r, s]) => {
            for i in 0..HIDDEN {
                let sum = from.0[i].wrapping_add(a.0[i]);
                to.0[i] = sum.wrapping_sub(r.0[i]).wrapping_sub(s.0[i]);
            }
        }
        _ => update_any(from, added, removed, to),
    }
}

#[inline(always)]
fn update_any(from: &Row, added: &[&Row], removed: &[&Row], to: &mut Row) {
    let blocks = to.0.as_chunks_mut::<IN_REGISTERS>().0.iter_mut();
    for (place, (to, from)) in blocks.zip(from.0.as_chunks().0).enumerate() {
        let mut kept: [i16; IN_REGISTERS] = *from;
        for row in added {
            let row: &[i16; IN_REGISTERS] = &row.0.as_chunks().0[place];
            for i in 0..IN_REGISTERS {
                kept[i] = kept[i].wrapping_add(row[i]);
            }
        }
        for row in removed {
            let row: &[i16; IN_REGISTERS] = &row.0.as_chunks().0[place];
            for i in 0..IN_REGISTERS {
                kept[i] = kept[i].wrapping_sub(row[i]);
            }
        }
        *to = kept;
    }
}

#[inline(always)]
fn weighted_sum(values: &Row, weights: &Row) -> i64 {
    let mut lanes = Lanes([0; LANES]);
    let pairs = values.0.as_chunks::<{ 2 * LANES }>().0.iter().zip(weights.0.as_chunks().0);
    for (values, weights) in pairs {
        let values = values.map(|value| value.clamp(0, QA as i16));
        let mut weighted: [i16; 2 * LANES] = *weights;
        for (weight, value) in weighted.iter_mut().zip(values) {
            // Fits: weights are clipped for that.
            *weight = weight.wrapping_mul(value);
        }
        for (lane, sum) in lanes.0.iter_mut().enumerate() {
            let product = |i: usize| i32::from(values[i]) * i32::from(weighted[i]);
            *sum += product(2 * lane) + product(2 * lane + 1);
        }
    }
    lanes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::nnue::OUTPUT_WEIGHT_LIMIT;
    use crate::random::Random;

    fn row(random: &mut Random, limit: i16) -> Row {
        Row([(); HIDDEN].map(|()| random.below(2 * limit as usize + 1) as i16 - limit))
    }

    #[test]
    fn all_kernels_give_the_same_bits() {
        let mut random = Random::new(5);
        for round in 0..200 {
            let rows: Vec<Row> = (0..6).map(|_| row(&mut random, 500)).collect();
            let rows: Vec<&Row> = rows.iter().collect();
            let (added, removed) = (&rows[..round % 4], &rows[4 - round % 3..4]);
            let from = row(&mut random, 300);
            let [mut one, mut other] = [from; 2];
            Kernel::Portable.update(&from, added, removed, &mut one);
            Kernel::detect().update(&from, added, removed, &mut other);
            assert_eq!(one, other);
            let plain = |i: usize| {
                let sum = |rows: &[&Row]| rows.iter().map(|row| row.0[i]).sum::<i16>();
                from.0[i] + sum(added) - sum(removed)
            };
            assert!((0..HIDDEN).all(|i| one.0[i] == plain(i)));
            let weights = row(&mut random, OUTPUT_WEIGHT_LIMIT);
            let expected: i64 = (0..HIDDEN)
                .map(|i| i64::from(one.0[i].clamp(0, 255)).pow(2) * i64::from(weights.0[i]))
                .sum();
            assert_eq!(Kernel::Portable.weighted_sum(&one, &weights), expected);
            assert_eq!(Kernel::detect().weighted_sum(&one, &weights), expected);
        }
    }

    #[test]
    fn the_largest_sums_do_not_overflow() {
        let (values, weights) = (Row([i16::MAX; HIDDEN]), Row([OUTPUT_WEIGHT_LIMIT; HIDDEN]));
        let expected = 255 * 255 * 127 * HIDDEN as i64;
        assert_eq!(Kernel::Portable.weighted_sum(&values, &weights), expected);
        assert_eq!(Kernel::detect().weighted_sum(&values, &weights), expected);
    }
}
