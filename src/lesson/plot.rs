//! The times of [`timing`](super::timing) as a plot: a panel for each depth, a line for each
//! search, seconds on a logarithmic scale.

use std::fmt::Write;

use super::svg::escape;
use super::timing::{Measurement, PUBLISHED};
use crate::score::Depth;

/// A panel's room for its lines, and the room around it, in pixels.
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 62.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 46.0;
const GAP: f64 = 26.0;
/// Room for a row of the legend.
const LEGEND_ROW: f64 = 20.0;

/// The colours of the lines: serial, then by number of threads. Okabe and Ito's palette, which
/// colour-blind readers can tell apart.
const COLORS: [&str; 7] =
    ["#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// A line of the plot.
struct Series {
    name: String,
    color: &'static str,
    dashed: bool,
    /// Seconds by move.
    seconds: Vec<f64>,
}

/// The plot.
pub fn plot(measurements: &[Measurement], title: &str) -> String {
    let mut depths: Vec<Depth> = measurements.iter().map(|one| one.depth).collect();
    depths.sort_unstable();
    depths.dedup();
    let panels: Vec<(Depth, Vec<Series>)> =
        depths.into_iter().map(|depth| (depth, series(measurements, depth))).collect();
    let all = || panels.iter().flat_map(|(_, lines)| lines).flat_map(|line| &line.seconds);
    let low = all().copied().fold(1.0, f64::min).max(1e-6).log10().floor();
    let high = all().copied().fold(low, f64::max).log10().ceil().max(low + 1.0);
    let rows = panels.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0) as f64;
    let width = LEFT + panels.len() as f64 * (WIDTH + GAP);
    let height = TOP + HEIGHT + BOTTOM + rows * LEGEND_ROW;
    let mut out = String::new();
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{title}</title>\n<style>\n\
         text {{ font: 12px system-ui, sans-serif; fill: #1c2024; }}\n\
         .grid {{ stroke: #d9dee3; }} .line {{ fill: none; stroke-width: 2; }}\n</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"16\" y=\"26\" style=\"font-size:17px\">{title}</text>",
        title = escape(title)
    );
    for (index, (depth, lines)) in panels.iter().enumerate() {
        let left = LEFT + index as f64 * (WIDTH + GAP);
        panel(&mut out, left, (low, high), *depth, lines, index == 0);
        legend(&mut out, left, lines);
    }
    out.push_str("</svg>\n");
    out
}

/// The lines of one depth: serial, split, and the published ones beside them.
fn series(measurements: &[Measurement], depth: Depth) -> Vec<Series> {
    let of_depth = || measurements.iter().filter(move |one| one.depth == depth);
    let mut lines = vec![Series {
        name: "serial alpha-beta".to_owned(),
        color: COLORS[0],
        dashed: false,
        seconds: of_depth().map(|one| one.seconds).collect(),
    }];
    let first = of_depth().next().map_or(&[][..], |one| &one.splits);
    for (index, split) in first.iter().enumerate() {
        lines.push(Series {
            name: format!("PV-splitting, {} threads", split.threads),
            color: COLORS[1 + index % (COLORS.len() - 1)],
            dashed: false,
            seconds: of_depth().filter_map(|one| Some(one.splits.get(index)?.seconds)).collect(),
        });
    }
    if let Some((_, figures)) = PUBLISHED.iter().find(|(published, _)| *published == depth) {
        let (serial, split) = figures.iter().copied().unzip();
        for (name, color, seconds) in [
            ("published, serial", COLORS[0], serial),
            ("published, split over 5 threads", COLORS[2], split),
        ] {
            lines.push(Series { name: name.to_owned(), color, dashed: true, seconds });
        }
    }
    lines
}

fn panel(
    out: &mut String,
    left: f64,
    (low, high): (f64, f64),
    depth: Depth,
    lines: &[Series],
    labelled: bool,
) {
    let y = |seconds: f64| TOP + HEIGHT * (high - seconds.max(1e-6).log10()) / (high - low);
    let most = lines.iter().map(|line| line.seconds.len()).max().unwrap_or(1);
    let x = |index: usize| left + WIDTH * (index as f64 + 0.5) / most as f64;
    let _ = writeln!(out, "<text x=\"{left}\" y=\"{}\">depth {depth}</text>", TOP - 10.0);
    for exponent in low as i32..=high as i32 {
        let at = y(10f64.powi(exponent));
        let right = left + WIDTH;
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{left}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\"/>"
        );
        if labelled {
            let label = format!("{} s", 10f64.powi(exponent));
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{:.1}\" style=\"text-anchor:end\">{label}</text>",
                left - 6.0,
                at + 4.0
            );
        }
    }
    for index in 0..most {
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{}\" style=\"text-anchor:middle\">{}</text>",
            x(index),
            TOP + HEIGHT + 16.0,
            index + 1
        );
    }
    for line in lines {
        let points: Vec<String> = line
            .seconds
            .iter()
            .enumerate()
            .map(|(index, &seconds)| format!("{:.1},{:.1}", x(index), y(seconds)))
            .collect();
        let dash = if line.dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        let _ = writeln!(
            out,
            "<polyline class=\"line\" stroke=\"{}\"{dash} points=\"{}\"/>",
            line.color,
            points.join(" ")
        );
    }
}

fn legend(out: &mut String, left: f64, lines: &[Series]) {
    for (row, line) in lines.iter().enumerate() {
        let y = TOP + HEIGHT + 36.0 + row as f64 * LEGEND_ROW;
        let dash = if line.dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        let _ = writeln!(
            out,
            "<line class=\"line\" stroke=\"{}\"{dash} x1=\"{left}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\"/>\
             <text x=\"{}\" y=\"{}\">{}</text>",
            line.color,
            left + 26.0,
            left + 32.0,
            y + 4.0,
            line.name
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::timing::Split;

    #[test]
    fn every_search_has_its_line_with_every_move() {
        let measurements: Vec<Measurement> = (1..=5)
            .map(|number| Measurement {
                depth: 4,
                number,
                best: "e4".to_owned(),
                score: 12,
                seconds: 0.01 * number as f64,
                nodes: 100,
                splits: vec![Split { threads: 2, seconds: 0.004, nodes: 120 }],
            })
            .collect();
        let picture = plot(&measurements, "a < b");
        assert!(picture.contains("a &lt; b"));
        let lines: Vec<&str> = picture.lines().filter(|line| line.contains("<polyline")).collect();
        assert_eq!(lines.len(), 4, "serial, split, and two published lines");
        assert!(lines.iter().all(|line| line.matches(',').count() == 5), "{lines:?}");
        assert!(!plot(&[], "nothing").contains("NaN"));
    }
}
