//! Plots curves over numbered points. The panels are either side by side with the same vertical
//! scale, or in rows with a separate vertical scale for each panel.

use std::fmt::Write;

use super::canvas::{CurveStyle, LEGEND_ROW, begin, grid_line, legend, text};
use crate::support::words::xml;

/// The height of a panel in user units (pixels).
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 46.0;
const GAP: f64 = 26.0;
/// The gap between two rows of panels. It contains the panel titles of the lower row.
const ROW_GAP: f64 = 40.0;
/// The maximum number of points that are labelled with their numbers in a panel.
const NUMBERS: usize = 20;
/// The approximate number of horizontal grid lines in a panel with a linear scale.
const GRID_LINES: f64 = 6.0;
/// The maximum number of points in a panel for which each point gets a marker. A curve with a
/// single point would be invisible without one.
const MARKED: usize = 20;
/// The smallest value that a logarithmic scale can show. Smaller values are clamped to it.
const MIN_VALUE: f64 = 1e-6;

#[derive(Debug, Clone)]
pub(crate) struct Curve {
    pub name: String,
    /// One of [`super::COLORS`].
    pub color: &'static str,
    pub dashed: bool,
    /// The values at successive points.
    pub values: Vec<f64>,
}

impl Curve {
    fn style(&self) -> CurveStyle<'_> {
        CurveStyle { name: &self.name, color: self.color, dashed: self.dashed }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Panel {
    pub title: String,
    pub curves: Vec<Curve>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    /// The lower end of the grid. On a logarithmic scale, this field and `high` are base-10
    /// logarithms.
    low: f64,
    high: f64,
    step: f64,
    logarithmic: bool,
    unit: &'static str,
}

impl Scale {
    /// Creates a logarithmic scale that covers the values and whose ends are powers of ten. `unit`
    /// is appended to the labels.
    pub(crate) fn logarithmic(values: impl Iterator<Item = f64>, unit: &'static str) -> Self {
        let (low, high) = extent(values.map(logarithm));
        let low = if low > high { 0.0 } else { low.floor() };
        Scale { low, high: high.ceil().max(low + 1.0), step: 1.0, logarithmic: true, unit }
    }

    pub(crate) fn linear(values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = extent(values);
        if low >= high {
            (low, high) = (0.0, if high > 0.0 { high } else { 1.0 });
        }
        let step = round_number((high - low) / GRID_LINES);
        let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        Scale { low, high, step, logarithmic: false, unit: "" }
    }

    /// Returns the vertical position of a value. Values above the scale are drawn at its top.
    fn y(&self, value: f64) -> f64 {
        let at = if self.logarithmic { logarithm(value) } else { value };
        TOP + HEIGHT * (self.high - at.min(self.high)) / (self.high - self.low)
    }

    fn grid(&self) -> impl Iterator<Item = (f64, String)> {
        let lines = ((self.high - self.low) / self.step).round() as usize;
        let digits = (-self.step.log10()).ceil().max(0.0) as usize;
        (0..=lines).map(move |line| {
            let at = self.low + line as f64 * self.step;
            let label = match self.logarithmic {
                true => format!("{:.*}", (-at).max(0.0) as usize, 10_f64.powi(at as i32)),
                false => format!("{at:.digits$}"),
            };
            (TOP + HEIGHT * (1.0 - line as f64 / lines as f64), format!("{label}{}", self.unit))
        })
    }
}

fn logarithm(value: f64) -> f64 {
    value.max(MIN_VALUE).log10()
}

fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
}

/// Rounds `least` up to a number that is 1, 2 or 5 times a power of ten.
pub(crate) fn round_number(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let numbers = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    numbers.into_iter().find(|&number| number >= least).unwrap_or(least)
}

#[derive(Debug, Clone)]
pub(crate) struct Tile {
    pub panel: Panel,
    pub scale: Scale,
}

/// Returns an SVG image with panels side by side, each `width` pixels wide.
pub(crate) fn plot(title: &str, panels: &[Panel], width: f64, scale: &Scale) -> String {
    let rows = panels.iter().map(|panel| panel.curves.len()).max().unwrap_or(0) as f64;
    let whole = LEFT + panels.len() as f64 * (width + GAP);
    let mut out = begin(title, whole, TOP + HEIGHT + BOTTOM + rows * LEGEND_ROW);
    for (index, panel) in panels.iter().enumerate() {
        let left = LEFT + index as f64 * (width + GAP);
        draw(&mut out, panel, (left, left + width), scale, index == 0);
        let step = points(panel).div_ceil(NUMBERS).max(1);
        let name = |point: usize| point.is_multiple_of(step).then(|| (point + 1).to_string());
        number(&mut out, panel, (left, left + width), &name);
    }
    out.push_str("</svg>\n");
    out
}

/// Returns an SVG image with rows of `columns` panels, each `width` pixels wide. `name` returns the
/// label of a point, if it has one. Points are numbered from 0.
pub(crate) fn tiles(
    title: &str,
    tiles: &[Tile],
    columns: usize,
    width: f64,
    name: &dyn Fn(usize) -> Option<String>,
) -> String {
    let legend = tiles.iter().map(|tile| tile.panel.curves.len()).max().unwrap_or(0) as f64;
    let (wide, down) = (LEFT + width + GAP, ROW_GAP + HEIGHT + BOTTOM + legend * LEGEND_ROW);
    let rows = tiles.len().div_ceil(columns) as f64;
    let whole = tiles.len().clamp(1, columns) as f64 * wide;
    let mut out = begin(title, whole, TOP - ROW_GAP + rows * down);
    for (index, tile) in tiles.iter().enumerate() {
        let (x, y) = ((index % columns) as f64 * wide, (index / columns) as f64 * down);
        let _ = writeln!(out, "<g transform=\"translate({x} {y})\">");
        draw(&mut out, &tile.panel, (LEFT, LEFT + width), &tile.scale, true);
        number(&mut out, &tile.panel, (LEFT, LEFT + width), name);
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

/// Returns the horizontal position of point number `point`, if `points` points are spaced equally
/// between `left` and `right`.
fn across((left, right): (f64, f64), points: usize, point: usize) -> f64 {
    left + (right - left) * (point as f64 + 0.5) / points.max(1) as f64
}

fn points(panel: &Panel) -> usize {
    panel.curves.iter().map(|curve| curve.values.len()).max().unwrap_or(1)
}

/// Draws a panel between two horizontal positions, without the point labels. If `labelled` is set,
/// the vertical scale is labelled.
fn draw(out: &mut String, panel: &Panel, ends: (f64, f64), scale: &Scale, labelled: bool) {
    axes(out, ends, scale, labelled);
    let (left, points) = (ends.0, points(panel));
    text(out, (left, TOP - 10.0), "start", &xml(&panel.title));
    // Draw the curves in reverse order, so that earlier ones are on top.
    for curve in panel.curves.iter().rev() {
        let style = curve.style();
        let place = |(point, &value)| (across(ends, points, point), scale.y(value));
        style.line(out, curve.values.iter().enumerate().map(place));
        if points <= MARKED {
            curve.values.iter().enumerate().map(place).for_each(|place| style.mark(out, place));
        }
    }
    legend(out, (left, TOP + HEIGHT + 36.0), panel.curves.iter().map(Curve::style));
}

fn number(
    out: &mut String,
    panel: &Panel,
    ends: (f64, f64),
    name: &dyn Fn(usize) -> Option<String>,
) {
    let points = points(panel);
    for (point, name) in (0..points).filter_map(|point| Some((point, name(point)?))) {
        text(out, (across(ends, points, point), TOP + HEIGHT + 16.0), "middle", &name);
    }
}

/// Draws the grid of a panel and, if `labelled` is set, the numbers of the vertical scale.
fn axes(out: &mut String, (left, right): (f64, f64), scale: &Scale, labelled: bool) {
    for (y, label) in scale.grid() {
        grid_line(out, (left, y), (right, y));
        if labelled {
            text(out, (left - 6.0, y + 4.0), "end", &label);
        }
    }
}
