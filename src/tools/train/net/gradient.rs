//! The forward and backward passes of training.
//!
//! The loops are written so that the compiler can vectorise them. On x86-64 they are compiled three
//! times: for the target processor of the build, for AVX2, and for AVX-512. All versions perform
//! the same operations in the same order, so their results are identical.

use super::example::{Example, Inputs};
use super::objective::Objective;
use super::parameters::{BIASES, Parameters};
use super::sigmoid::Sigmoid;

/// The number of partial sums in which the output is accumulated. It equals the number of values in
/// an AVX-512 register, so one instruction can update all of them.
const LANES: usize = 16;

/// The number of neurons processed at a time, chosen so that their sums fit in the registers of
/// both AVX2 and AVX-512.
const IN_REGISTERS: usize = 64;

/// Adds the gradient of `objective`, summed over all examples, to `gradient`. Returns the sum of
/// the squared errors.
pub(super) fn add_gradient<const N: usize>(
    parameters: &Parameters<N>,
    objective: &Objective,
    blocks: &[&[Example]],
    gradient: &mut Parameters<N>,
) -> f64 {
    #[cfg(target_arch = "x86_64")]
    {
        // Each call is sound, because the processor feature that the function requires was
        // detected.
        if is_x86_feature_detected!("avx512f") {
            #[allow(unsafe_code)]
            return unsafe { add_avx512(parameters, objective, blocks, gradient) };
        }
        if is_x86_feature_detected!("avx2") {
            #[allow(unsafe_code)]
            return unsafe { add_avx2(parameters, objective, blocks, gradient) };
        }
    }
    add(parameters, objective, blocks, gradient)
}

/// Returns the name of the kernel that [`add_gradient`] selects for this processor.
pub(crate) fn kernel_name() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            return "AVX-512";
        }
        if is_x86_feature_detected!("avx2") {
            return "AVX2";
        }
    }
    "portable"
}

/// Like [`add_gradient`], but always uses the version that runs on any processor.
#[cfg(test)]
pub(super) fn add_gradient_portably<const N: usize>(
    parameters: &Parameters<N>,
    objective: &Objective,
    blocks: &[&[Example]],
    gradient: &mut Parameters<N>,
) -> f64 {
    add(parameters, objective, blocks, gradient)
}

pub(super) fn square_errors<const N: usize>(
    parameters: &Parameters<N>,
    curve: Sigmoid,
    examples: &[Example],
) -> f64 {
    let square =
        |example: &Example| (curve.expected(output(parameters, example)) - example.target).powi(2);
    examples.iter().map(|example| f64::from(square(example))).sum()
}

/// Returns the raw output of the network, before the sigmoid converts it to an expected result.
pub(super) fn output<const N: usize>(parameters: &Parameters<N>, example: &Example) -> f32 {
    let neurons = neurons(parameters.rows(), &example.inputs());
    weighted_sum(parameters, &neurons, example.bucket())
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn add_avx512<const N: usize>(
    parameters: &Parameters<N>,
    objective: &Objective,
    blocks: &[&[Example]],
    gradient: &mut Parameters<N>,
) -> f64 {
    add(parameters, objective, blocks, gradient)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_avx2<const N: usize>(
    parameters: &Parameters<N>,
    objective: &Objective,
    blocks: &[&[Example]],
    gradient: &mut Parameters<N>,
) -> f64 {
    add(parameters, objective, blocks, gradient)
}

#[inline(always)]
fn add<const N: usize>(
    parameters: &Parameters<N>,
    objective: &Objective,
    blocks: &[&[Example]],
    gradient: &mut Parameters<N>,
) -> f64 {
    let (slopes, bias_slopes) = gradient.split_mut();
    let mut loss = 0.0;
    // Group examples by king buckets, so that successive examples use the same weights. Not all
    // weights fit into a core's cache.
    let mut examples: Vec<&Example> = blocks.iter().copied().flatten().collect();
    examples.sort_by_key(|example| example.king_buckets());
    for example in examples {
        let inputs = example.inputs();
        let bucket = example.bucket();
        let neurons = neurons(parameters.rows(), &inputs);
        let expected = objective.curve.expected(weighted_sum(parameters, &neurons, bucket));
        let error = expected - example.target;
        loss += f64::from(error * error);
        let slope = objective.derivative(error, example) * objective.curve.slope(expected);
        bias_slopes[bucket] += slope;
        for (side, row) in Parameters::<N>::output_rows(bucket).into_iter().enumerate() {
            let weights = &parameters.rows()[row];
            let back = propagate(&neurons[side], weights, slope, &mut slopes[row]);
            add_row(&mut slopes[BIASES], &back);
            for &input in inputs.of(side) {
                add_row(&mut slopes[usize::from(input)], &back);
            }
        }
    }
    loss
}

/// Returns the neuron values before activation, first for the side to move and then for the other
/// side. Avoids `array::map`, because its closure would be compiled without the caller's target
/// features.
#[inline(always)]
fn neurons<const N: usize>(rows: &[[f32; N]], inputs: &Inputs) -> [[f32; N]; 2] {
    [neurons_of(rows, inputs.of(0)), neurons_of(rows, inputs.of(1))]
}

#[inline(always)]
fn neurons_of<const N: usize>(rows: &[[f32; N]], inputs: &[u16]) -> [f32; N] {
    let mut sums = rows[BIASES];
    // Process the neurons in groups whose sums fit into registers.
    for (place, sums) in sums.as_chunks_mut::<IN_REGISTERS>().0.iter_mut().enumerate() {
        let mut kept = *sums;
        for &input in inputs {
            add_row(&mut kept, &rows[usize::from(input)].as_chunks().0[place]);
        }
        *sums = kept;
    }
    sums
}

#[inline(always)]
fn add_row<const N: usize>(sums: &mut [f32; N], row: &[f32; N]) {
    for i in 0..N {
        sums[i] += row[i];
    }
}

#[inline(always)]
fn weighted_sum<const N: usize>(
    parameters: &Parameters<N>,
    neurons: &[[f32; N]; 2],
    bucket: usize,
) -> f32 {
    let mut lanes = [0.0; LANES];
    for (side, row) in Parameters::<N>::output_rows(bucket).into_iter().enumerate() {
        let values = neurons[side].as_chunks::<LANES>().0;
        let weights = parameters.rows()[row].as_chunks::<LANES>().0;
        for (values, weights) in values.iter().zip(weights) {
            for lane in 0..LANES {
                let clipped = values[lane].clamp(0.0, 1.0);
                lanes[lane] += clipped * clipped * weights[lane];
            }
        }
    }
    parameters.output_biases()[bucket] + lanes.iter().sum::<f32>()
}

/// Backpropagates `slope`, the gradient of the output, through the neurons of one side. Adds the
/// gradients of the output weights to `weight_slopes`, and returns the gradients of the neuron
/// values before activation.
#[inline(always)]
fn propagate<const N: usize>(
    values: &[f32; N],
    weights: &[f32; N],
    slope: f32,
    weight_slopes: &mut [f32; N],
) -> [f32; N] {
    let mut back = [0.0; N];
    for i in 0..N {
        let clipped = values[i].clamp(0.0, 1.0);
        weight_slopes[i] += slope * clipped * clipped;
        let rise = if values[i] < 1.0 { 2.0 * clipped } else { 0.0 };
        back[i] = slope * weights[i] * rise;
    }
    back
}
