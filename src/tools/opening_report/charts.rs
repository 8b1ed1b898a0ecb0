//! Draws the charts and board diagrams of an opening report as SVG.

use std::fmt::Write;

use super::facts::YearRow;
use super::sample::Heat;
use crate::chess::position::{BitBoard, Square};
use crate::support::page::piece_symbols;
use crate::support::plot::round_number;
use crate::support::words::{counted, percent, xml};

/// The size and margins of the chart of games by year, in SVG user units.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 150.0;
const LEFT: f64 = 44.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 22.0;
/// The minimum distance between the year labels below the chart.
const LABEL_WIDTH: f64 = 44.0;
/// The maximum width of a bar in the chart of games by year.
const BAR_WIDTH: f64 = 36.0;
/// The approximate number of horizontal grid lines.
const LINES: f64 = 4.0;
/// The number of squares named in the caption of a heat map.
const NAMED_SQUARES: usize = 3;
const SIDE: usize = 8;

/// Draws a diagram of the position given by `fen`, from White's point of view.
pub(super) fn board(fen: &str) -> String {
    let placement = fen.split(' ').next().unwrap_or_default();
    let mut letters: Vec<char> = placement.chars().filter(char::is_ascii_alphabetic).collect();
    letters.sort_unstable();
    letters.dedup();
    let mut out = format!(
        "<svg class=\"diagram\" viewBox=\"0 0 384 384\" role=\"img\" aria-label=\"{}\">\n{}",
        xml(&format!("Position {fen}")),
        piece_symbols(letters.into_iter())
    );
    for (row, rank) in placement.split('/').enumerate() {
        let mut column = 0;
        for letter in rank.chars() {
            let empty = letter.to_digit(10).unwrap_or(1) as usize;
            for column in column..column + empty {
                let class = if (row + column).is_multiple_of(2) { "light" } else { "dark" };
                let (x, y) = (column * 48, row * 48);
                // Here and below, ignore the result, because writing to a string cannot fail.
                let _ = write!(
                    out,
                    "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"48\" height=\"48\"/>"
                );
            }
            if letter.is_ascii_alphabetic() {
                let (x, y) = (column * 48, row * 48);
                let _ = write!(
                    out,
                    "<use href=\"#piece-{letter}\" x=\"{x}\" y=\"{y}\" width=\"48\" height=\"48\"/>"
                );
            }
            column += empty;
        }
        out.push('\n');
    }
    out + "</svg>\n"
}

/// Draws a bar chart that shows, for each year, the share of the book's games that reached the
/// position. Returns `None` if no game has a date.
pub(super) fn years(rows: &[YearRow]) -> Option<String> {
    let dated = || rows.iter().filter_map(|row| Some((row.year?, row)));
    let (first, last) =
        (dated().map(|(year, _)| year).min()?, dated().map(|(year, _)| year).max()?);
    let (_, best) = dated().max_by(|one, other| one.1.share.total_cmp(&other.1.share))?;
    let step = round_number((best.share / LINES).max(1e-4));
    let high = (best.share / step).ceil().max(1.0) * step;
    let number = f64::from(last - first) + 1.0;
    let slot = (WIDTH - LEFT) / number;
    let center = |year: u16| LEFT + (f64::from(year - first) + 0.5) * slot;
    let y = |share: f64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - share / high);
    let label = format!(
        "Share of the book's games by year, from {first} to {last}; the highest is {} in {}",
        percent_of(best.share, step),
        best.year.unwrap_or_default()
    );
    let mut out = format!(
        "<svg class=\"years\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{label}\">\n"
    );
    for line in 0..=(high / step).round() as u32 {
        let share = f64::from(line) * step;
        let (y, text) = (y(share), percent_of(share, step));
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{WIDTH}\" y2=\"{y:.1}\"/>\
             <text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{text}</text>",
            LEFT - 6.0,
            y + 4.0
        );
    }
    let width = (slot * 0.8).min(BAR_WIDTH);
    for (year, row) in dated() {
        let (x, y) = (center(year) - width / 2.0, y(row.share));
        let games = counted(row.games.games(), "game");
        let _ = writeln!(
            out,
            "<rect class=\"share\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\">\
             <title>{year}: {} of {}, {}</title></rect>",
            HEIGHT - BOTTOM - y,
            games,
            counted(row.book_games, "game"),
            percent_of(row.share, step),
        );
    }
    let every = round_number(LABEL_WIDTH / slot).max(1.0) as u16;
    for year in (first..=last).filter(|year| year.is_multiple_of(every)) {
        let _ = writeln!(
            out,
            "<text class=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{year}</text>",
            center(year),
            HEIGHT - 6.0
        );
    }
    Some(out + "</svg>\n")
}

/// Formats a fraction as a percentage, with just enough decimals to show multiples of `step`.
fn percent_of(share: f64, step: f64) -> String {
    let decimals = (-(100.0 * step).log10()).ceil().max(0.0) as usize;
    format!("{:.decimals$}%", 100.0 * share)
}

/// Draws a heat map that shows in what share of `games` games a piece stood on each square. The
/// caption names the most frequent squares.
pub(super) fn heat(heat: &Heat, name: &str, games: u64) -> String {
    let share = |count: u64| super::share(count, games);
    let squares = BitBoard(u64::MAX);
    let mut best: Vec<(Square, u64)> = squares.zip(heat.squares.iter().copied()).collect();
    // The sort is stable, so squares with equal counts stay in board order.
    best.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let named = best.iter().take(NAMED_SQUARES).filter(|&&(_, count)| count > 0);
    let named = named.map(|&(square, count)| format!("{square} {}", percent(share(count))));
    let named = named.collect::<Vec<_>>().join(", ");
    let mut out = format!(
        "<figure><svg class=\"heat\" viewBox=\"0 0 8 8\" role=\"img\" aria-label=\"{name}: {named}\">\
         <use href=\"#squares\"/>"
    );
    for (square, &count) in heat.squares.iter().enumerate().filter(|&(_, &count)| count > 0) {
        let (x, y) = (square % SIDE, SIDE - 1 - square / SIDE);
        let _ = write!(
            out,
            "<rect class=\"hot\" x=\"{x}\" y=\"{y}\" width=\"1\" height=\"1\" fill-opacity=\"{:.3}\"/>",
            share(count)
        );
    }
    let _ = writeln!(out, "</svg><figcaption><b>{name}</b> {named}</figcaption></figure>");
    out
}

/// Returns the SVG symbol of an empty board, which is the background of every heat map.
pub(super) fn squares() -> String {
    let dark = (0..SIDE * SIDE).map(|square| (square % SIDE, square / SIDE));
    let dark = dark.filter(|(x, y)| !(x + y).is_multiple_of(2));
    let dark: String = dark.map(|(x, y)| format!("M{x} {y}h1v1h-1z")).collect();
    format!(
        "<svg class=\"symbols\" aria-hidden=\"true\"><symbol id=\"squares\" viewBox=\"0 0 8 8\">\
         <rect class=\"pale\" width=\"8\" height=\"8\"/><path class=\"shade\" d=\"{dark}\"/></symbol></svg>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::book::Counts;

    #[test]
    fn board_has_every_square_and_piece() {
        let svg = board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1");
        assert_eq!((svg.matches("<rect").count(), svg.matches("<use").count()), (64, 3));
        assert_eq!(svg.matches("<symbol").count(), 3);
        assert!(svg.contains("href=\"#piece-P\" x=\"192\" y=\"288\""), "{svg}");
    }

    #[test]
    fn bars_are_proportional_to_shares() {
        let row =
            |year, share| YearRow { year, games: Counts::new(1, 0, 0), book_games: 10, share };
        let svg =
            years(&[row(None, 0.9), row(Some(2000), 0.1), row(Some(2001), 0.2)]).expect("drawn");
        assert!(svg.contains("from 2000 to 2001; the highest is 20% in 2001"), "{svg}");
        let heights: Vec<f64> = svg
            .split("<rect class=\"share\"")
            .skip(1)
            .filter_map(|bar| bar.split("height=\"").nth(1)?.split('"').next()?.parse().ok())
            .collect();
        assert!((heights[1] / heights[0] - 2.0).abs() < 0.02, "{heights:?}");
        assert_eq!(years(&[row(None, 0.5)]), None);
    }

    #[test]
    fn heat_map_names_the_most_frequent_squares() {
        let mut squares = vec![0; 64];
        (squares[21], squares[18], squares[6]) = (3, 1, 4);
        let svg = heat(&Heat { piece: 'N', squares }, "Knights", 4);
        assert!(svg.contains("aria-label=\"Knights: g1 100%, f3 75%, c3 25%\""), "{svg}");
        assert!(
            svg.contains("x=\"5\" y=\"5\" width=\"1\" height=\"1\" fill-opacity=\"0.750\""),
            "{svg}"
        );
    }
}
