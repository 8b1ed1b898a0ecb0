//! Positions for tuning. Each is stored as a target (the result to predict) and the coefficients of
//! the weights that contribute to its evaluation.

use crate::engine::eval::tuning::{FIELDS, FULL_PHASE, FULL_SCALE, Term, Tracer, WEIGHTS};
use crate::tools::train::{Sample, in_parallel};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Coefficient {
    pub place: u16,
    /// How often the weight applies: White's count minus Black's count, or one side's count for a
    /// danger weight.
    pub count: i16,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The index of the position's first coefficient. Its linear coefficients come first, followed
    /// by those for the danger to White's king and those for the danger to Black's king. Each list
    /// ends where the next one starts.
    start: usize,
    white_danger: usize,
    black_danger: usize,
    end: usize,
    phase: f32,
    scales: [f32; 2],
    target: f32,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TuneRow<'a> {
    pub linear: &'a [Coefficient],
    /// The coefficients of the danger weights: first those for the danger to White's king, then
    /// those for the danger to Black's king.
    pub danger: [&'a [Coefficient]; 2],
    /// The weight of the middlegame score in the tapered evaluation, from 0 to 1.
    pub phase: f32,
    /// The factors, from 0 to 1, by which the endgame score is multiplied: the first if it favours
    /// White, the second if it favours Black.
    pub scales: [f32; 2],
    /// The result to predict, from White's point of view, from 0 to 1.
    pub target: f32,
}

#[derive(Debug, Default)]
pub(crate) struct Samples {
    coefficients: Vec<Coefficient>,
    entries: Vec<Entry>,
}

impl Samples {
    /// Extracts the features of `samples`. Known endgames are skipped, because their evaluation
    /// uses no weights. `target` computes the target of a sample.
    pub(crate) fn new<'s>(
        samples: impl IntoIterator<Item = &'s Sample>,
        target: impl Fn(&Sample) -> f32,
    ) -> Self {
        let mut data = Samples::default();
        let mut tracer = Tracer::new();
        let danger = danger_places();
        for sample in samples {
            let Some(features) = tracer.features(&sample.position) else { continue };
            let [white, black] = &features.counts;
            let start = data.coefficients.len();
            data.push((0..WEIGHTS).filter(|&place| !danger[place]), |place| {
                white[place] - black[place]
            });
            let white_danger = data.coefficients.len();
            data.push((0..WEIGHTS).filter(|&place| danger[place]), |place| white[place]);
            let black_danger = data.coefficients.len();
            data.push((0..WEIGHTS).filter(|&place| danger[place]), |place| black[place]);
            data.entries.push(Entry {
                start,
                white_danger,
                black_danger,
                end: data.coefficients.len(),
                phase: features.phase as f32 / FULL_PHASE as f32,
                scales: features.scales.map(|scale| scale as f32 / FULL_SCALE as f32),
                target: target(sample),
            });
        }
        data
    }

    /// Like [`Samples::new`], but distributes `blocks` of samples among several threads.
    pub(crate) fn in_parallel(
        blocks: &[&[Sample]],
        threads: usize,
        target: impl Fn(&Sample) -> f32 + Sync,
    ) -> Self {
        in_parallel(blocks, threads, |blocks| {
            Samples::new(blocks.iter().copied().flatten(), &target)
        })
        .into_iter()
        .reduce(Samples::join)
        .unwrap_or_default()
    }

    fn push(&mut self, places: impl Iterator<Item = usize>, count: impl Fn(usize) -> i32) {
        self.coefficients.extend(places.filter_map(|place| {
            let count = count(place) as i16;
            (count != 0).then_some(Coefficient { place: place as u16, count })
        }));
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn row(&self, index: usize) -> TuneRow<'_> {
        let entry = &self.entries[index];
        let list = |from: usize, to: usize| &self.coefficients[from..to];
        TuneRow {
            linear: list(entry.start, entry.white_danger),
            danger: [
                list(entry.white_danger, entry.black_danger),
                list(entry.black_danger, entry.end),
            ],
            phase: entry.phase,
            scales: entry.scales,
            target: entry.target,
        }
    }

    /// Returns how often each weight is used: the sum of the absolute values of its coefficients.
    pub(crate) fn usage(&self) -> Vec<f64> {
        let mut usage = vec![0.0; WEIGHTS];
        for coefficient in &self.coefficients {
            usage[usize::from(coefficient.place)] += f64::from(coefficient.count.abs());
        }
        usage
    }

    fn join(mut self, other: Samples) -> Samples {
        let shift = self.coefficients.len();
        self.coefficients.extend(other.coefficients);
        self.entries.extend(other.entries.into_iter().map(|entry| Entry {
            start: entry.start + shift,
            white_danger: entry.white_danger + shift,
            black_danger: entry.black_danger + shift,
            end: entry.end + shift,
            ..entry
        }));
        self
    }
}

pub(super) fn danger_places() -> Vec<bool> {
    let mut danger = vec![false; WEIGHTS];
    for field in FIELDS.iter().filter(|field| field.term == Term::KingSafety) {
        danger[field.first..field.first + field.len].fill(true);
    }
    danger
}
