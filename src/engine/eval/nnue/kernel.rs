//! The two inner loops: adding rows of weights, and computing the weighted sum of the neurons.
//!
//! The loops are compiled three times: for the instruction set of the build target, for AVX2 and
//! for AVX-512. The version is selected at run time, and the environment variable `TABIA_KERNEL` can
//! select a slower one. Integer sums do not depend on the order of the terms, so all versions
//! produce identical results.
//!
//! The pairwise multiply-add is written with intrinsics, because the compiler turns the plain loop
//! into scalar code. The hot loops do not pass closures to `array::map`, because such closures are
//! compiled without AVX2 even inside a function that enables it.

use super::{HIDDEN, QA};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Row(pub [i16; HIDDEN]);

/// Number of partial sums in a weighted sum. Each neuron adds at most 255 * 255 * 127, so a partial
/// sum cannot overflow (see the assertion below).
const LANES: usize = 8;
const _: () = assert!(255 * 255 * 127 * (HIDDEN / LANES) < i32::MAX as usize);

/// Number of neuron values that fit in the AVX2 registers while leaving some registers free.
const IN_REGISTERS: usize = 128;
const _: () = assert!(HIDDEN.is_multiple_of(IN_REGISTERS));

/// Like [`IN_REGISTERS`], but for AVX-512, which has twice as many registers, each twice as wide.
#[cfg(target_arch = "x86_64")]
const IN_WIDE_REGISTERS: usize = if HIDDEN.is_multiple_of(256) { 256 } else { IN_REGISTERS };

#[repr(C, align(32))]
struct Lanes([i32; LANES]);

impl Lanes {
    #[inline(always)]
    fn sum(&self) -> i64 {
        self.0.iter().map(|&lane| i64::from(lane)).sum()
    }
}

/// The compiled version of the loops to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kernel {
    Portable,
    /// Uses AVX2. Created only by [`Kernel::detect`], on processors that support AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2(Detected),
    /// Uses AVX-512. Created only by [`Kernel::detect`], on processors that support AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512(Detected),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Detected(());

/// Environment variable with the name of the kernel to use. With it, `examples/packaging/guided`
/// records a profile of every kernel.
const VARIABLE: &str = "TABIA_KERNEL";

impl Kernel {
    /// Returns the kernel named by the environment variable `TABIA_KERNEL`. If the variable is not
    /// set, or this processor does not support the kernel, returns the fastest one.
    pub(super) fn detect() -> Self {
        Self::select(std::env::var(VARIABLE).ok().as_deref())
    }

    fn select(wanted: Option<&str>) -> Self {
        let is_wanted = |kernel: &Kernel| {
            wanted.is_some_and(|wanted| wanted.eq_ignore_ascii_case(kernel.name()))
        };
        let fastest = || Self::available().last().unwrap_or(Kernel::Portable);
        Self::available().find(is_wanted).unwrap_or_else(fastest)
    }

    fn name(self) -> &'static str {
        match self {
            Kernel::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(_) => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(_) => "AVX-512",
        }
    }

    fn available() -> impl Iterator<Item = Self> {
        let kernels = [
            Some(Kernel::Portable),
            #[cfg(target_arch = "x86_64")]
            is_x86_feature_detected!("avx2").then_some(Kernel::Avx2(Detected(()))),
            #[cfg(target_arch = "x86_64")]
            wide_vectors_are_cheap().then_some(Kernel::Avx512(Detected(()))),
        ];
        kernels.into_iter().flatten()
    }

    /// Sets `to` to `from` plus the rows in `added` minus the rows in `removed`.
    #[inline]
    pub(super) fn update(self, from: &Row, added: &[&Row], removed: &[&Row], to: &mut Row) {
        match self {
            Kernel::Portable => update::<IN_REGISTERS>(from, added, removed, to),
            #[cfg(target_arch = "x86_64")]
            // `Detected` proves that the processor supports AVX2.
            #[allow(unsafe_code)]
            Kernel::Avx2(_) => unsafe { update_avx2(from, added, removed, to) },
            #[cfg(target_arch = "x86_64")]
            // `Detected` proves that the processor supports AVX-512.
            #[allow(unsafe_code)]
            Kernel::Avx512(_) => unsafe { update_avx512(from, added, removed, to) },
        }
    }

    /// Returns the weighted sum of the neuron values. Each value is clipped to 0..=QA and then
    /// squared.
    #[inline]
    pub(super) fn weighted_sum(self, values: &Row, weights: &Row) -> i64 {
        match self {
            Kernel::Portable => weighted_sum(values, weights),
            #[cfg(target_arch = "x86_64")]
            // `Detected` proves that the processor supports AVX2.
            #[allow(unsafe_code)]
            Kernel::Avx2(_) => unsafe { weighted_sum_avx2(values, weights) },
            #[cfg(target_arch = "x86_64")]
            // `Detected` proves that the processor supports AVX-512.
            #[allow(unsafe_code)]
            Kernel::Avx512(_) => unsafe { weighted_sum_avx512(values, weights) },
        }
    }
}

/// Returns the name of the kernel in use.
#[cfg(feature = "cli")]
pub(crate) fn name() -> &'static str {
    Kernel::detect().name()
}

/// Whether the processor supports AVX-512 without reducing its clock speed.
///
/// Processors older than Ice Lake and Zen 4 lower their clock speed while they use AVX-512, which
/// would slow down the rest of the search. They are recognised by their lack of VBMI2.
#[cfg(target_arch = "x86_64")]
fn wide_vectors_are_cheap() -> bool {
    is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vbmi2")
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn update_avx2(from: &Row, added: &[&Row], removed: &[&Row], to: &mut Row) {
    update::<IN_REGISTERS>(from, added, removed, to);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512bw")]
fn update_avx512(from: &Row, added: &[&Row], removed: &[&Row], to: &mut Row) {
    update::<IN_WIDE_REGISTERS>(from, added, removed, to);
}

/// The AVX2 version of [`weighted_sum`]. It uses intrinsics, because the compiler did not emit a
/// pairwise multiply-add for any form of the plain loop.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn weighted_sum_avx2(values: &Row, weights: &Row) -> i64 {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_load_si256, _mm256_madd_epi16, _mm256_max_epi16,
        _mm256_min_epi16, _mm256_mullo_epi16, _mm256_set1_epi16, _mm256_setzero_si256,
        _mm256_store_si256,
    };
    const WIDTH: usize = 16;
    const _: () = assert!(HIDDEN.is_multiple_of(WIDTH));
    let (zero, one) = (_mm256_setzero_si256(), _mm256_set1_epi16(QA as i16));
    let mut sums = zero;
    for at in (0..HIDDEN).step_by(WIDTH) {
        // Each row is aligned to 64 bytes, and a whole vector fits between `at` and the end of the
        // row.
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
    // `Lanes` has the same size and alignment as a vector.
    #[allow(unsafe_code)]
    unsafe {
        _mm256_store_si256(lanes.0.as_mut_ptr().cast::<__m256i>(), sums);
    }
    lanes.sum()
}

/// The AVX-512 version of [`weighted_sum_avx2`]. VNNI is not faster: its fused instruction
/// lengthens the dependency chain of the sums, so the compiler splits it up again.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512bw")]
fn weighted_sum_avx512(values: &Row, weights: &Row) -> i64 {
    use std::arch::x86_64::{
        __m512i, _mm256_add_epi32, _mm512_add_epi32, _mm512_castsi512_si256, _mm512_cvtepi32_epi64,
        _mm512_extracti64x4_epi64, _mm512_load_si512, _mm512_madd_epi16, _mm512_max_epi16,
        _mm512_min_epi16, _mm512_mullo_epi16, _mm512_reduce_add_epi64, _mm512_set1_epi16,
        _mm512_setzero_si512,
    };
    const WIDTH: usize = 32;
    const _: () = assert!(HIDDEN.is_multiple_of(WIDTH));
    let (zero, one) = (_mm512_setzero_si512(), _mm512_set1_epi16(QA as i16));
    let mut sums = zero;
    for at in (0..HIDDEN).step_by(WIDTH) {
        // Each row is aligned to 64 bytes, and a whole vector fits between `at` and the end of the
        // row.
        #[allow(unsafe_code)]
        let (value, weight) = unsafe {
            let value = values.0.as_ptr().add(at).cast::<__m512i>();
            let weight = weights.0.as_ptr().add(at).cast::<__m512i>();
            (_mm512_load_si512(value), _mm512_load_si512(weight))
        };
        let value = _mm512_max_epi16(_mm512_min_epi16(value, one), zero);
        let weighted = _mm512_mullo_epi16(value, weight);
        sums = _mm512_add_epi32(sums, _mm512_madd_epi16(value, weighted));
    }
    // Each of these 16 lanes covers half as many neurons as one of the 8 `LANES`, so the sum of two
    // lanes fits in 32 bits. The total needs 64 bits.
    let (low, high) = (_mm512_castsi512_si256(sums), _mm512_extracti64x4_epi64::<1>(sums));
    _mm512_reduce_add_epi64(_mm512_cvtepi32_epi64(_mm256_add_epi32(low, high)))
}

#[inline(always)]
fn update<const BLOCK: usize>(from: &Row, added: &[&Row], removed: &[&Row], to: &mut Row) {
    // Except for castling, a move adds one row and removes one or two. Each of these two cases has
    // its own loop, which makes a single pass over the neurons.
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
        _ => update_any::<BLOCK>(from, added, removed, to),
    }
}

/// Updates the values in blocks of `BLOCK`. A block stays in registers until all rows have been
/// added and removed.
#[inline(always)]
fn update_any<const BLOCK: usize>(from: &Row, added: &[&Row], removed: &[&Row], to: &mut Row) {
    let blocks = to.0.as_chunks_mut::<BLOCK>().0.iter_mut();
    for (place, (to, from)) in blocks.zip(from.0.as_chunks().0).enumerate() {
        let mut kept: [i16; BLOCK] = *from;
        for row in added {
            let row: &[i16; BLOCK] = &row.0.as_chunks().0[place];
            for i in 0..BLOCK {
                kept[i] = kept[i].wrapping_add(row[i]);
            }
        }
        for row in removed {
            let row: &[i16; BLOCK] = &row.0.as_chunks().0[place];
            for i in 0..BLOCK {
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
            // The product cannot overflow, because output weights never exceed
            // `OUTPUT_WEIGHT_LIMIT`.
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
    use crate::engine::eval::nnue::OUTPUT_WEIGHT_LIMIT;
    use crate::support::random::Random;

    fn row(random: &mut Random, limit: i16) -> Row {
        Row([(); HIDDEN].map(|()| random.below(2 * limit as usize + 1) as i16 - limit))
    }

    #[test]
    fn all_kernels_give_identical_results() {
        let mut random = Random::new(5);
        for round in 0..200 {
            let rows: Vec<Row> = (0..6).map(|_| row(&mut random, 500)).collect();
            let rows: Vec<&Row> = rows.iter().collect();
            let (added, removed) = (&rows[..round % 4], &rows[4 - round % 3..4]);
            let from = row(&mut random, 300);
            let plain = |i: usize| {
                let sum = |rows: &[&Row]| rows.iter().map(|row| row.0[i]).sum::<i16>();
                from.0[i] + sum(added) - sum(removed)
            };
            let values = Row(std::array::from_fn(plain));
            let weights = row(&mut random, OUTPUT_WEIGHT_LIMIT);
            let expected: i64 = (0..HIDDEN)
                .map(|i| i64::from(values.0[i].clamp(0, 255)).pow(2) * i64::from(weights.0[i]))
                .sum();
            for kernel in Kernel::available() {
                let mut updated = from;
                kernel.update(&from, added, removed, &mut updated);
                assert_eq!(updated, values, "{kernel:?}");
                assert_eq!(kernel.weighted_sum(&values, &weights), expected, "{kernel:?}");
            }
        }
    }

    #[test]
    fn kernel_can_be_selected_by_name() {
        let fastest = Kernel::available().last().unwrap_or(Kernel::Portable);
        for kernel in Kernel::available() {
            assert_eq!(Kernel::select(Some(&kernel.name().to_lowercase())), kernel);
        }
        for wanted in [None, Some(""), Some("AVX-1024")] {
            assert_eq!(Kernel::select(wanted), fastest, "{wanted:?}");
        }
    }

    #[test]
    fn largest_sums_do_not_overflow() {
        let values = Row([i16::MAX; HIDDEN]);
        for weight in [OUTPUT_WEIGHT_LIMIT, -OUTPUT_WEIGHT_LIMIT] {
            let expected = 255 * 255 * i64::from(weight) * HIDDEN as i64;
            for kernel in Kernel::available() {
                let sum = kernel.weighted_sum(&values, &Row([weight; HIDDEN]));
                assert_eq!(sum, expected, "{kernel:?}");
            }
        }
    }
}
