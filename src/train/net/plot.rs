//! The course of training as a picture.

use std::fmt::Write;

use super::trainer::EpochLoss;

/// The picture's size and the room left for the scales, in pixels.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
/// Lines across the picture, about.
const GRID_LINES: f64 = 6.0;
/// Epochs are numbered at most this often.
const EPOCH_LABELS: usize = 20;

/// A curve: its name, its colour, and what it shows.
type Curve = (&'static str, &'static str, fn(&EpochLoss) -> f64);
const CURVES: [Curve; 2] = [
    ("learnt from", "#1f77b4", |loss| loss.training),
    ("held out", "#d62728", |loss| loss.held_out),
];

/// The losses by epoch as an SVG picture.
pub fn plot(history: &[EpochLoss]) -> String {
    let axes = Axes::new(history);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    axes.draw(&mut svg);
    for (place, (name, colour, loss)) in CURVES.into_iter().enumerate() {
        let points = history
            .iter()
            .enumerate()
            .map(|(epoch, losses)| format!("{:.1} {:.1}", axes.x(epoch + 1), axes.y(loss(losses))));
        let points = points.collect::<Vec<_>>().join("L");
        let path = if points.is_empty() { points } else { format!("M{points}") };
        let (x, y) = (WIDTH - RIGHT - 110.0, TOP + 20.0 * (place as f64 + 1.0));
        // Writing to a string cannot fail.
        let _ = writeln!(
            svg,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" \
             stroke-linejoin=\"round\"/>\n\
             <text x=\"{x}\" y=\"{y}\" fill=\"{colour}\">{name}</text>"
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// Where losses and epochs are in the picture.
struct Axes {
    epochs: usize,
    low: f64,
    high: f64,
    /// Between two lines.
    grid: f64,
}

impl Axes {
    fn new(history: &[EpochLoss]) -> Self {
        // The loss of the first epoch is mostly that of random weights.
        let learnt = history.iter().skip(1).map(|loss| loss.training);
        let losses = learnt.chain(history.iter().map(|loss| loss.held_out));
        let (mut low, mut high) =
            losses.fold((f64::MAX, 0.0_f64), |(low, high), loss| (low.min(loss), high.max(loss)));
        if low >= high {
            (low, high) = (0.0, high.max(f64::MIN_POSITIVE));
        }
        let grid = round_number((high - low) / GRID_LINES);
        let (low, high) = ((low / grid).floor() * grid, (high / grid).ceil() * grid);
        Axes { epochs: history.len(), low, high, grid }
    }

    fn x(&self, epoch: usize) -> f64 {
        let width = WIDTH - LEFT - RIGHT;
        LEFT + width * (epoch - 1) as f64 / (self.epochs.max(2) - 1) as f64
    }

    /// What is higher than the picture is drawn at its upper edge.
    fn y(&self, loss: f64) -> f64 {
        let below = self.high - loss.min(self.high);
        TOP + (HEIGHT - TOP - BOTTOM) * below / (self.high - self.low)
    }

    /// Grid, numbers and names.
    fn draw(&self, svg: &mut String) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let lines = ((self.high - self.low) / self.grid).round() as usize;
        let digits = (-self.grid.log10()).ceil().max(0.0) as usize;
        for line in 0..=lines {
            let loss = self.low + line as f64 * self.grid;
            let (y, label) = (self.y(loss), LEFT - 8.0);
            let _ = writeln!(
                svg,
                "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"#ddd\"/>\
                 <text x=\"{label}\" y=\"{:.1}\" text-anchor=\"end\">{loss:.digits$}</text>",
                y + 4.0
            );
        }
        for epoch in (1..=self.epochs).step_by(self.epochs.div_ceil(EPOCH_LABELS).max(1)) {
            let (x, y) = (self.x(epoch), bottom + 18.0);
            let _ =
                writeln!(svg, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{epoch}</text>");
        }
        let (middle, below) = ((LEFT + right) / 2.0, HEIGHT - 12.0);
        let _ = writeln!(
            svg,
            "<text x=\"{middle}\" y=\"{below}\" text-anchor=\"middle\">epoch</text>\n\
             <text x=\"{LEFT}\" y=\"{}\">mean square error of the expected result</text>",
            TOP - 16.0
        );
    }
}

/// The next number above `least` that is 1, 2 or 5 times a power of ten.
fn round_number(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|&number| number >= least)
        .unwrap_or(least)
}
