//! Plots Tabia's speedup against the number of threads, together with published results of other
//! engines.

use super::SpeedupSummary;
use crate::support::plot::{COLORS, Line, Point, doublings};

struct Published {
    name: &'static str,
    color: &'static str,
    /// Each pair consists of the number of threads or processors, and the speedup relative to a
    /// single one.
    gains: &'static [(f64, f64)],
}

/// Published results of other engines. `docs/measurements/threads.md` lists their sources and
/// hardware.
const PUBLISHED: [Published; 2] = [
    Published {
        name: "DTS in Cray Blitz (R. Hyatt 1994)",
        color: COLORS[4],
        gains: &[(2.0, 2.0), (4.0, 3.7), (8.0, 6.6), (16.0, 11.1)],
    },
    Published {
        name: "ABDADA (J.-C. Weill 1996)",
        color: COLORS[3],
        gains: &[(2.0, 1.92), (4.0, 3.59), (8.0, 6.44), (16.0, 10.9), (32.0, 16.8)],
    },
];

/// Draws the speedups as an SVG image: the medians with bars from the lower to the upper quartile,
/// the speedups in total time, the line of ideal (linear) speedup, and the published results.
pub(crate) fn picture(summaries: &[SpeedupSummary]) -> String {
    let mut summaries = summaries.to_vec();
    summaries.sort_by_key(|summary| summary.threads);
    let median = |&SpeedupSummary { threads, speedup: [lower, median, upper], .. }: &_| Point {
        x: threads as f64,
        y: median,
        bar: Some([lower, upper]),
    };
    let total = |summary: &SpeedupSummary| point(summary.threads as f64, summary.total);
    let mut lines = vec![
        Line {
            name: "Tabia: median and quartiles of the positions".to_owned(),
            color: COLORS[1],
            dashed: false,
            points: from_one(summaries.iter().map(median)),
        },
        Line {
            name: "Tabia: total time of all positions".to_owned(),
            color: COLORS[2],
            dashed: false,
            points: from_one(summaries.iter().map(total)),
        },
    ];
    lines.extend(PUBLISHED.iter().map(|published| Line {
        name: published.name.to_owned(),
        color: published.color,
        dashed: true,
        points: from_one(published.gains.iter().map(|&(threads, gain)| point(threads, gain))),
    }));
    let most = lines.iter().flat_map(|line| &line.points).map(|point| point.x).fold(1.0, f64::max);
    lines.push(Line {
        name: "speedup equal to the number of threads".to_owned(),
        color: COLORS[0],
        dashed: true,
        points: vec![point(1.0, 1.0), point(most, most)],
    });
    let title = "Threads: speedup to the same depth";
    doublings(title, ["threads", "speedup"], &lines)
}

fn point(x: f64, y: f64) -> Point {
    Point { x, y, bar: None }
}

fn from_one(points: impl Iterator<Item = Point>) -> Vec<Point> {
    let mut points: Vec<Point> = points.collect();
    if points.first().is_none_or(|first| first.x > 1.0) {
        points.insert(0, point(1.0, 1.0));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::super::summarise;
    use super::*;

    #[test]
    fn picture_shows_own_and_published_speedups() {
        let summary = summarise(&[1], &[])[0];
        let gain = |threads, median: f64| SpeedupSummary {
            threads,
            speedup: [median / 2.0, median, median + 1.0],
            total: median,
            ..summary
        };
        let svg = picture(&[gain(4, 3.0), gain(2, 1.8)]);
        for name in
            ["Tabia: median", "Tabia: total", "DTS", "ABDADA", "equal to the number of threads"]
        {
            assert!(svg.contains(name), "{name} is missing in\n{svg}");
        }
        // The axis extends to 32, the number of processors used by ABDADA, and every curve starts
        // at one thread.
        assert!(svg.contains(">32</text>") && !svg.contains(">64</text>"), "{svg}");
        let starts: Vec<&str> = svg
            .split("points=\"")
            .skip(1)
            .filter_map(|places| places.split_once(' '))
            .map(|(first, _)| first)
            .collect();
        let begin = starts[0];
        assert_eq!(starts.iter().filter(|&&start| start == begin).count(), 5, "{starts:?}");
    }

    #[test]
    fn measured_point_at_one_thread_is_kept() {
        let measured = [point(1.0, 0.98), point(2.0, 1.9)];
        assert_eq!(from_one(measured.into_iter()), measured);
        assert_eq!(from_one([point(2.0, 1.9)].into_iter())[0], point(1.0, 1.0));
    }
}
