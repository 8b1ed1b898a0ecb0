//! Elements shared by all plots: title, text labels, lines, marks and the legend.

use std::fmt::Write;

use crate::support::words::xml;

/// The height of a row in the legend. All lengths in this module are in SVG user units (pixels).
pub(super) const LEGEND_ROW: f64 = 20.0;
const MARK: f64 = 3.5;
/// The estimated mean width of a character in the title.
const TITLE_LETTER: f64 = 8.4;
const TITLE_MARGIN: f64 = 16.0;

/// Curve colours: the Okabe–Ito palette, which is colour-blind-friendly.
pub(crate) const COLORS: [&str; 7] =
    ["#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

pub(super) type Place = (f64, f64);

/// Returns the opening of an SVG image with a title. The size is in pixels; the image is made wider
/// if the title does not fit.
pub(super) fn begin(title: &str, width: f64, height: f64) -> String {
    let width = width.max(2.0 * TITLE_MARGIN + TITLE_LETTER * title.chars().count() as f64);
    let title = xml(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{title}</title>\n<style>\n\
         text {{ font: 12px system-ui, sans-serif; fill: #1c2024; }}\n\
         .grid {{ stroke: #d9dee3; }} .line {{ fill: none; stroke-width: 2; }}\n</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"{TITLE_MARGIN}\" y=\"26\" style=\"font-size:17px\">{title}</text>\n"
    )
}

pub(super) fn text(out: &mut String, (x, y): Place, anchor: &str, text: &str) {
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" style=\"text-anchor:{anchor}\">{text}</text>"
    );
}

pub(super) fn grid_line(out: &mut String, (x1, y1): Place, (x2, y2): Place) {
    let _ = writeln!(
        out,
        "<line class=\"grid\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
    );
}

#[derive(Debug, Clone, Copy)]
pub(super) struct CurveStyle<'a> {
    pub(super) name: &'a str,
    pub(super) color: &'a str,
    pub(super) dashed: bool,
}

impl CurveStyle<'_> {
    fn look(&self) -> String {
        let dash = if self.dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        format!("class=\"line\" stroke=\"{}\"{dash}", self.color)
    }

    pub(super) fn line(&self, out: &mut String, places: impl Iterator<Item = Place>) {
        let places: Vec<String> = places.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(out, "<polyline {} points=\"{}\"/>", self.look(), places.join(" "));
    }

    /// Draws a point marker: a circle that is hollow if the line is dashed and filled otherwise.
    pub(super) fn mark(&self, out: &mut String, (x, y): Place) {
        let fill = if self.dashed { "#ffffff" } else { self.color };
        let _ = writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{MARK}\" fill=\"{fill}\" stroke=\"{}\"/>",
            self.color
        );
    }

    fn explain(&self, out: &mut String, (x, y): Place) {
        let (look, end) = (self.look(), x + 26.0);
        let _ = writeln!(out, "<line {look} x1=\"{x}\" y1=\"{y}\" x2=\"{end}\" y2=\"{y}\"/>");
        text(out, (x + 32.0, y + 4.0), "start", &xml(self.name));
    }
}

/// Draws a legend that starts at `(x, y)` and has one row per style.
pub(super) fn legend<'a>(
    out: &mut String,
    (x, y): Place,
    pens: impl Iterator<Item = CurveStyle<'a>>,
) {
    for (row, style) in pens.enumerate() {
        style.explain(out, (x, y + row as f64 * LEGEND_ROW));
    }
}
