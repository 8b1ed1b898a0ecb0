//! Plots curves on axes with base-2 logarithmic scales, on which each doubling covers the same
//! distance.

use super::canvas::{CurveStyle, LEGEND_ROW, Place, begin, grid_line, legend, text};
use crate::support::words::xml;

/// The width of the diagram in user units (pixels).
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 26.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 66.0;
const CAP: f64 = 5.0;
/// The smallest value that an axis can show. Smaller values are clamped to it.
const MIN_VALUE: f64 = 1.0 / 1024.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub x: f64,
    pub y: f64,
    /// The lower and upper ends of the error bar, if there is one.
    pub bar: Option<[f64; 2]>,
}

#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub name: String,
    /// One of [`super::COLORS`].
    pub color: &'static str,
    pub dashed: bool,
    pub points: Vec<Point>,
}

impl Line {
    fn style(&self) -> CurveStyle<'_> {
        CurveStyle { name: &self.name, color: self.color, dashed: self.dashed }
    }
}

#[derive(Debug, Clone, Copy)]
struct Axis {
    low: i32,
    high: i32,
}

impl Axis {
    /// Creates an axis that covers the given numbers and whose ends are powers of two.
    fn of(numbers: impl Iterator<Item = f64>) -> Self {
        let ends = numbers.map(doubled).fold(None, |ends, at| match ends {
            None => Some((at, at)),
            Some((low, high)) => Some((at.min(low), at.max(high))),
        });
        let (low, high) = ends.unwrap_or_default();
        let low = low.floor() as i32;
        Axis { low, high: (high.ceil() as i32).max(low + 1) }
    }

    fn share(&self, number: f64) -> f64 {
        (doubled(number) - f64::from(self.low)) / f64::from(self.high - self.low)
    }

    fn powers(&self) -> impl Iterator<Item = f64> {
        (self.low..=self.high).map(f64::from).map(f64::exp2)
    }
}

fn doubled(number: f64) -> f64 {
    number.max(MIN_VALUE).log2()
}

/// Plots curves as an SVG image. Earlier curves are drawn on top of later ones. `across` is the
/// label of the horizontal axis, and `up` that of the vertical axis.
pub(crate) fn doublings(title: &str, [across, up]: [&str; 2], lines: &[Line]) -> String {
    let points = || lines.iter().flat_map(|line| &line.points);
    let x_axis = Axis::of(points().map(|point| point.x));
    let y_axis =
        Axis::of(points().flat_map(|point| point.bar.into_iter().flatten().chain([point.y])));
    let place = |x: f64, y: f64| -> Place {
        (LEFT + WIDTH * x_axis.share(x), TOP + HEIGHT * (1.0 - y_axis.share(y)))
    };
    let height = TOP + HEIGHT + BOTTOM + lines.len() as f64 * LEGEND_ROW;
    let mut out = begin(title, LEFT + WIDTH + RIGHT, height);
    for x in x_axis.powers() {
        let at = place(x, 1.0).0;
        grid_line(&mut out, (at, TOP), (at, TOP + HEIGHT));
        text(&mut out, (at, TOP + HEIGHT + 18.0), "middle", &x.to_string());
    }
    for y in y_axis.powers() {
        let at = place(1.0, y).1;
        grid_line(&mut out, (LEFT, at), (LEFT + WIDTH, at));
        text(&mut out, (LEFT - 8.0, at + 4.0), "end", &y.to_string());
    }
    text(&mut out, (LEFT + WIDTH / 2.0, TOP + HEIGHT + 38.0), "middle", &xml(across));
    text(&mut out, (LEFT - 40.0, TOP - 14.0), "start", &xml(up));
    for line in lines.iter().rev() {
        draw(&mut out, line, place);
    }
    legend(&mut out, (LEFT, TOP + HEIGHT + BOTTOM), lines.iter().map(Line::style));
    out.push_str("</svg>\n");
    out
}

fn draw(out: &mut String, line: &Line, place: impl Fn(f64, f64) -> Place) {
    let style = line.style();
    style.line(out, line.points.iter().map(|point| place(point.x, point.y)));
    for &Point { x, y, bar } in &line.points {
        if let Some(ends) = bar {
            let [low, high] = ends.map(|end| place(x, end));
            style.line(out, [low, high].into_iter());
            for (x, y) in [low, high] {
                style.line(out, [(x - CAP, y), (x + CAP, y)].into_iter());
            }
        }
        style.mark(out, place(x, y));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doublings_are_equally_spaced() {
        let point = |x, y, bar| Point { x, y, bar };
        let points = vec![point(1.0, 1.0, None), point(2.0, 1.5, Some([0.75, 2.0]))];
        let line = Line { name: "a<b".to_owned(), color: "#000000", dashed: false, points };
        let svg = doublings("gain", ["threads", "times"], &[line]);
        let middle = TOP + HEIGHT / 2.0;
        let first = format!("cx=\"{LEFT:.1}\" cy=\"{middle:.1}\"");
        let bar = format!("points=\"{0:.1},{1:.1} {0:.1},{TOP:.1}\"", LEFT + WIDTH, {
            TOP + HEIGHT * (1.0 - 1.5_f64.log2() / 2.0)
        });
        for part in [first.as_str(), bar.as_str(), ">0.5</text>", ">threads<", ">times<", "a&lt;b"]
        {
            assert!(svg.contains(part), "{part} is missing in\n{svg}");
        }
        assert!(!svg.contains(">0.25<") && !svg.contains(">4<"), "{svg}");
    }

    #[test]
    fn empty_plot_has_axes() {
        let svg = doublings("gain", ["threads", "times"], &[]);
        assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{svg}");
    }
}
