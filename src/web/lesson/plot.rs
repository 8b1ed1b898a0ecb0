//! Plots the times measured by [`timing`](super::timing). There is a panel for each depth and a
//! curve for each search. The vertical axis shows seconds per move on a logarithmic scale.

use super::splitting::describe_threads;
use super::timing::{Measurement, PUBLISHED};
use crate::chess::score::Depth;
use crate::support::plot::{COLORS, Curve, Panel, Scale};

const WIDTH: f64 = 300.0;

pub(crate) fn plot(measurements: &[Measurement], title: &str) -> String {
    let mut depths: Vec<Depth> = measurements.iter().map(|one| one.depth).collect();
    depths.sort_unstable();
    depths.dedup();
    let panels: Vec<Panel> = depths
        .into_iter()
        .map(|depth| Panel { title: format!("depth {depth}"), curves: curves(measurements, depth) })
        .collect();
    let curves = panels.iter().flat_map(|panel| &panel.curves);
    let scale = Scale::logarithmic(curves.flat_map(|curve| &curve.values).copied(), " s");
    crate::support::plot::plot(title, &panels, WIDTH, &scale)
}

/// Returns the curves for one depth: serial search, split searches and, if there are any for this
/// depth, published times.
fn curves(measurements: &[Measurement], depth: Depth) -> Vec<Curve> {
    let of_depth = || measurements.iter().filter(move |one| one.depth == depth);
    let mut curves = vec![Curve {
        name: "serial alpha-beta".to_owned(),
        color: COLORS[0],
        dashed: false,
        values: of_depth().map(|one| one.seconds).collect(),
    }];
    let first = of_depth().next().map_or(&[][..], |one| &one.splits);
    for (index, split) in first.iter().enumerate() {
        curves.push(Curve {
            name: format!("PV-splitting, {}", describe_threads(split.threads)),
            color: COLORS[1 + index % (COLORS.len() - 1)],
            dashed: false,
            values: of_depth().filter_map(|one| Some(one.splits.get(index)?.seconds)).collect(),
        });
    }
    if let Some((_, figures)) = PUBLISHED.iter().find(|(published, _)| *published == depth) {
        let (serial, split) = figures.iter().copied().unzip();
        for (name, color, values) in [
            ("published, serial", COLORS[0], serial),
            ("published, split over 5 threads", COLORS[6], split),
        ] {
            curves.push(Curve { name: name.to_owned(), color, dashed: true, values });
        }
    }
    curves
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::lesson::timing::Split;

    #[test]
    fn plot_has_a_line_for_every_search() {
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
        assert_eq!(picture.matches("<circle").count(), 4 * 5, "a mark at every point");
        assert!(!plot(&[], "nothing").contains("NaN"));
    }

    #[test]
    fn single_measurement_is_visible_below_a_long_title() {
        let one = Measurement {
            depth: 9,
            number: 1,
            best: "e4".to_owned(),
            score: 0,
            seconds: 0.0002,
            nodes: 100,
            splits: vec![Split { threads: 2, seconds: 0.0009, nodes: 120 }],
        };
        let title = "a title that is much longer than one panel of the picture is wide";
        let picture = plot(&[one], title);
        let attribute = |name: &str| -> f64 {
            let rest = picture.split_once(&format!("{name}=\"")).expect(name).1;
            rest.split('"').next().expect("a value").parse().expect("a number")
        };
        assert!(attribute("width") > 8.0 * title.len() as f64, "{}", attribute("width"));
        assert_eq!(picture.matches("<circle").count(), 2);
        // The scale adapts to the data: it covers only one power of ten and does not extend to 1 s.
        assert!(picture.contains(">0.0001 s<") && !picture.contains(">1 s<"), "{picture}");
    }
}
