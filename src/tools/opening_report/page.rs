//! Formats the report as a printable HTML page without scripts.

use std::fmt::Write;

use super::endgames::{MAX_POINTS, MIN_POSITIONS};
use super::facts::{Facts, ModelGame, RatingRow, YearRow};
use super::sample::{PIECES, PLAN_PLIES, Placement, Sample};
use super::theory::{self, TheoryRow};
use super::{ArrivalRow, OpeningReport, charts};
use crate::chess::notation::{self, NamedMove, ScoreAnswer};
use crate::chess::position::{Color, Position};
use crate::games::book::{Counts, RatingGroup};
use crate::support::page::scriptless_page;
use crate::support::words::{counted, grouped, percent, visible, xml};

/// The minimum width of a labelled bar segment, as a percentage of the bar. Smaller segments are
/// too narrow for a label.
const LABELLED: f64 = 12.0;

/// Addresses in the opening explorer.
#[derive(Debug)]
pub(crate) struct ExplorerLinks {
    /// The report's position.
    pub(crate) position: String,
    /// The part of a query that selects the filters of the report; empty without filters.
    pub(crate) filters: String,
}

impl ExplorerLinks {
    /// Returns the address of a position, with the same filters.
    fn place(&self, fen: &str) -> String {
        // Spaces are the only characters in a FEN that need escaping.
        let fen = fen.replace(' ', "%20");
        match self.filters.as_str() {
            "" => format!("/?fen={fen}"),
            filters => format!("/?fen={fen}&{filters}"),
        }
    }

    /// Returns the address of a game, with the same filters.
    fn game(&self, id: &str) -> String {
        match self.filters.as_str() {
            "" => format!("/#game={id}"),
            filters => format!("/?{filters}#game={id}"),
        }
    }
}

/// Formats the report as a page. If `explorer` is given, the page links to the position in the
/// opening explorer, and its games and positions to that explorer.
pub(crate) fn page(report: &OpeningReport, explorer: Option<&ExplorerLinks>) -> String {
    let title = title(report);
    let mut body = String::new();
    let back = explorer.map_or_else(String::new, |links| {
        format!("<a class=\"back\" href=\"{}\">Explorer</a>", xml(&links.position))
    });
    put(&mut body, format_args!("<header><h1>{}</h1>{back}</header>\n<main>\n", xml(&title)));
    body.push_str(&charts::squares());
    put_top(&mut body, report);
    if let Some(facts) = &report.facts {
        put_years(&mut body, facts, !report.filters.is_empty());
        put_ratings(&mut body, facts);
    }
    put_move_orders(&mut body, report);
    if let Some(sample) = report.sample.as_ref().filter(|sample| sample.read > 0) {
        put_plans(&mut body, sample);
    }
    if let Some(facts) = &report.facts {
        put_model_games(&mut body, facts, report, explorer);
    }
    if let Some(sample) = report.sample.as_ref().filter(|sample| sample.read > 0) {
        put_endgames(&mut body, sample);
    }
    put_theory(&mut body, report, explorer);
    body.push_str("</main>\n");
    put_footer(&mut body, report);
    scriptless_page(&format!("{title} – opening report"), include_str!("report.css"), &body)
}

/// Writing to a string cannot fail.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

fn text(text: &str) -> String {
    xml(&visible(text))
}

fn title(report: &OpeningReport) -> String {
    match &report.opening {
        Some(opening) => format!("{} {}", opening.eco, opening.name),
        None => "Opening report".to_owned(),
    }
}

fn panel(out: &mut String, title: &str, class: &str, content: &str) {
    let id = title.to_lowercase().replace(' ', "-");
    put(
        out,
        format_args!(
            "<section class=\"panel {class}\" aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{title}</h2>\n\
             {content}</section>\n"
        ),
    );
}

/// Returns a table that can be scrolled if it is too wide. `heads` contains the headings and
/// whether each one is right-aligned.
fn table(name: &str, class: &str, heads: &[(&str, bool)], rows: &str) -> String {
    let head = |&(text, right): &(&str, bool)| {
        let class = if right { " class=\"right\"" } else { "" };
        format!("<th scope=\"col\"{class}>{text}</th>")
    };
    let heads: String = heads.iter().map(head).collect();
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{name}\"><table class=\"{class}\">\
         <thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n"
    )
}

/// Draws a bar of results with three segments: White's wins, draws (including unfinished games),
/// and Black's wins.
fn bar(counts: &Counts) -> String {
    let games = counts.games().max(1) as f64;
    let parts = [
        ("won", counts.white),
        ("drawn", counts.draws.saturating_add(counts.undecided)),
        ("lost", counts.black),
    ];
    let part = |(class, count): (&str, u32)| {
        let width = 100.0 * f64::from(count) / games;
        let label = match width < LABELLED {
            true => String::new(),
            false => format!("<span>{width:.0}%</span>"),
        };
        format!("<i class=\"{class}\" style=\"width:{width:.2}%\">{label}</i>")
    };
    let [white, draws, black] = parts.map(|(_, count)| percent(f64::from(count) / games));
    let parts: String = parts.into_iter().map(part).collect();
    format!(
        "<div class=\"bar\" role=\"img\" aria-label=\"White won {white}, drawn {draws}, Black won {black}\">\
         {parts}</div>"
    )
}

fn white_score(counts: &Counts) -> String {
    format!("{:.1}%", 100.0 * counts.score(Color::White))
}

fn line(start: &str, moves: &[NamedMove]) -> String {
    let start = Position::from_fen(start).unwrap_or_else(|_| Position::start());
    xml(&notation::numbered_line(&start, moves))
}

fn put_top(out: &mut String, report: &OpeningReport) {
    let mut content = String::from(
        "<section class=\"panel whole\" aria-label=\"Position\"><div class=\"top\">\n",
    );
    content.push_str(&charts::board(&report.fen));
    content.push_str("<div>\n");
    if !report.line.is_empty() {
        put(
            &mut content,
            format_args!("<p class=\"line\">{}</p>\n", line(&report.start, &report.line)),
        );
    }
    put(&mut content, format_args!("<p class=\"fen\">{}</p>\n", xml(&report.fen)));
    let reached = &report.reached;
    if report.weights {
        content.push_str("<p>The book has weights of moves instead of results.</p>\n");
    } else if reached.is_empty() {
        content.push_str(match report.filters.is_empty() {
            true => "<p>No game of the book reached the position.</p>\n",
            false => "<p>No game that passes the filters reached the position.</p>\n",
        });
    } else {
        put(
            &mut content,
            format_args!(
                "<p><b>{}</b> reached the position by any move order; White scores {}.</p>\n{}\n",
                counted(reached.games(), "game"),
                white_score(reached),
                bar(reached)
            ),
        );
    }
    for note in notes(report) {
        put(&mut content, format_args!("<p class=\"note\">{}</p>\n", text(&note)));
    }
    content.push_str("</div></div></section>\n");
    out.push_str(&content);
}

/// Describes the book and the sample.
fn notes(report: &OpeningReport) -> Vec<String> {
    let plies = match report.book_plies {
        0 => String::new(),
        plies => format!(", which counts the first {} of each game", counted(plies.into(), "ply")),
    };
    let mut notes = vec![format!("Book: {}{plies}.", report.book)];
    if !report.filters.is_empty() {
        notes.push(format!(
            "Filters: {}. They do not apply to the move orders and the values.",
            report.filters.join("; ")
        ));
    }
    notes.extend(report.note.map(str::to_owned));
    match &report.sample {
        None => notes.push(
            "The book does not list its games, so there are no years, ratings, plans, model games and \
             endgames. Build it with --facets, or use the games as the book."
                .to_owned(),
        ),
        Some(sample) => notes.push(describe(sample)),
    }
    notes
}

/// Describes which games of a sample were read.
fn describe(sample: &Sample) -> String {
    let mut text = match sample.chosen < sample.games {
        true => format!(
            "Plans and endgames: a sample of {} of {}, at equal distances in the order of their dates.",
            grouped(sample.chosen),
            counted(sample.games, "game")
        ),
        false => format!("Plans and endgames: all {}.", counted(sample.games, "game")),
    };
    if sample.missing > 0 {
        let missing = counted(sample.missing, "game");
        text += &format!(" The files no longer contain {missing} of them.");
    }
    if sample.stopped {
        let read = counted(sample.read, "game");
        text += &format!(" The time was up after {read}, in the order of the files.");
    }
    text
}

fn put_years(out: &mut String, facts: &Facts, is_filtered: bool) {
    let unknown = facts.years.iter().find(|row| row.year.is_none());
    let mut content = charts::years(&facts.years).unwrap_or_default();
    let dated = facts.games.games() - unknown.map_or(0, |row: &YearRow| row.games.games());
    let note = match unknown {
        Some(row) => format!(" {} without a date.", counted(row.games.games(), "game")),
        None => String::new(),
    };
    put(
        &mut content,
        format_args!(
            "<p class=\"note\">Percentage of the book's games of each year that reached the position: {} of \
             {} in the book{}.{note}</p>\n",
            counted(dated, "game"),
            grouped(facts.book_games),
            if is_filtered { " that pass the filters" } else { "" }
        ),
    );
    panel(out, "Popularity by year", "whole", &content);
}

fn put_ratings(out: &mut String, facts: &Facts) {
    let row = |row: &RatingRow| {
        let share = super::share(row.games.games(), facts.games.games());
        (rating_name(row.from), row.games, share)
    };
    // List the highest ratings first, and games without ratings last.
    let rows = facts.ratings.iter().rev().map(row);
    let content = results_table("Results by rating", "Mean rating", rows);
    panel(out, "Results by rating", "whole", &content);
}

/// Returns a table of results, in which `first` is the heading of the first column. Each item in
/// `rows` consists of a row heading, the results and the share of the games.
fn results_table(
    name: &str,
    first: &str,
    rows: impl Iterator<Item = (String, Counts, f64)>,
) -> String {
    let row = |(heading, games, share): (String, Counts, f64)| {
        format!(
            "<tr><th scope=\"row\">{heading}</th><td class=\"right\">{}</td><td class=\"right\">{}</td><td>{}</td>\
             <td class=\"right\">{}</td></tr>\n",
            grouped(games.games()),
            percent(share),
            bar(&games),
            white_score(&games)
        )
    };
    let rows: String = rows.map(row).collect();
    let heads =
        [(first, false), ("Games", true), ("Share", true), ("Results", false), ("White", true)];
    table(name, "", &heads, &rows)
}

pub(super) fn rating_name(from: Option<u16>) -> String {
    let Some(from) = from else { return "unknown".to_owned() };
    match RatingGroup::BOUNDS.into_iter().find(|&bound| bound > from) {
        Some(next) if from == 0 => format!("below {next}"),
        Some(next) => format!("{from}–{}", next - 1),
        None => format!("{from} and above"),
    }
}

fn put_move_orders(out: &mut String, report: &OpeningReport) {
    let orders = &report.move_orders.orders;
    if orders.is_empty() && report.arrivals.is_empty() {
        return;
    }
    let row = |share: String, moves: String| {
        format!("<tr><td class=\"right\">{share}</td><td class=\"moves\">{moves}</td></tr>\n")
    };
    let rows: String = orders
        .iter()
        .map(|order| row(percent(order.share), line(&order.fen, &order.moves)))
        .collect();
    let mut content = String::new();
    if !orders.is_empty() {
        content += &table("Move orders", "", &[("Share", true), ("Moves", false)], &rows);
    }
    let last = |arrival: &ArrivalRow| {
        let moves = line(&arrival.fen, std::slice::from_ref(&arrival.mv));
        format!("{moves} ({})", counted(arrival.played.games(), "game"))
    };
    let last: Vec<String> = report.arrivals.iter().map(last).collect();
    put(
        &mut content,
        format_args!(
            "<p class=\"note\">Last moves, counted: {}. The shares of whole move orders are estimated from the \
             counts of each position.{}</p>\n",
            last.join(", "),
            if report.filters.is_empty() { "" } else { " The filters do not apply to this table." }
        ),
    );
    panel(out, "Move orders", "whole", &content);
}

fn put_plans(out: &mut String, sample: &Sample) {
    let games = sample.plans.games.games();
    let mut content = String::new();
    let names = ["Pawns", "Knights", "Bishops", "Rooks", "Queen", "King"];
    let sides = [("White", "white"), ("Black", "black")];
    for (maps, (side, _)) in sample.plans.heat.chunks(PIECES.len()).zip(sides) {
        put(&mut content, format_args!("<h3>{side}</h3>\n<div class=\"maps\">\n"));
        maps.iter().zip(names).for_each(|(map, name)| content += &charts::heat(map, name, games));
        content.push_str("</div>\n");
    }
    content.push_str("<div class=\"pair\">\n");
    for (side, class) in sides {
        let is_own = |row: &&Placement| row.piece.is_ascii_uppercase() == (class == "white");
        let rows: String = sample.plans.placements.iter().filter(is_own).map(placement).collect();
        let name = format!("New squares of {side}'s pieces");
        let heads = [("Piece", false), ("Games", true), ("Share", true), ("White", true)];
        put(
            &mut content,
            format_args!("<div><h3>{name}</h3>\n{}</div>\n", table(&name, "", &heads, &rows)),
        );
    }
    put(
        &mut content,
        format_args!(
            "</div>\n<p class=\"note\">Pieces {} after the position, in {} that lasted so long, of {} read. The \
             tables have the most frequent squares on which the piece did not stand before, and White's score.</p>\n",
            counted(PLAN_PLIES as u64, "ply"),
            counted(games, "game"),
            counted(sample.read, "game")
        ),
    );
    panel(out, "Typical plans", "", &content);
}

fn placement(row: &Placement) -> String {
    let letter = row.piece.to_ascii_uppercase();
    let name = if letter == 'P' { row.square.clone() } else { format!("{letter}{}", row.square) };
    format!(
        "<tr><th scope=\"row\">{name}</th><td class=\"right\">{}</td><td class=\"right\">{}</td>\
         <td class=\"right\">{}</td></tr>\n",
        grouped(row.games.games()),
        percent(row.share),
        white_score(&row.games)
    )
}

fn put_model_games(
    out: &mut String,
    facts: &Facts,
    report: &OpeningReport,
    explorer: Option<&ExplorerLinks>,
) {
    if facts.model_games.is_empty() {
        return;
    }
    let mut content = String::new();
    let games = facts.model_games.iter();
    games.for_each(|model| content += &model_game(model, &report.fen, explorer));
    content.push_str(
        "<p class=\"note\">The games with the highest mean rating: won by White, won by Black, and drawn. \
         The moves are those after the position.</p>\n",
    );
    panel(out, "Model games", "", &content);
}

fn model_game(model: &ModelGame, fen: &str, explorer: Option<&ExplorerLinks>) -> String {
    let game = &model.game;
    let players = format!("{} – {}", xml(&game.white.describe()), xml(&game.black.describe()));
    let address = explorer.map(|links| links.game(&game.id.to_string()));
    let event =
        if model.event.is_empty() { String::new() } else { format!("{}, ", text(&model.event)) };
    let rest = match model.plies - model.moves.len() {
        0 => "",
        _ => " …",
    };
    format!(
        "<div class=\"game\"><b>{}</b> {} <span class=\"note\">{event}{} · {}</span>\n<p>{}{rest}</p></div>\n",
        link(address, &players),
        game.result,
        game.date,
        game.id,
        line(fen, &model.moves)
    )
}

/// Returns a link with this content or, without an address, only the content.
fn link(address: Option<String>, content: &str) -> String {
    match address {
        Some(address) => format!("<a href=\"{}\">{content}</a>", xml(&address)),
        None => content.to_owned(),
    }
}

fn put_endgames(out: &mut String, sample: &Sample) {
    let endgames = &sample.endgames;
    let rows = endgames.rows.iter().map(|row| {
        let bishops = if row.material.opposite_bishops { ", opposite bishops" } else { "" };
        let heading = format!("{} – {}{bishops}", row.material.white, row.material.black);
        (heading, row.games, row.share)
    });
    let mut content = match endgames.rows.is_empty() {
        true => String::new(),
        false => results_table("Endgames", "White – Black", rows),
    };
    let hidden = endgames.different - endgames.rows.len();
    let more = match hidden {
        0 => String::new(),
        hidden => format!(" {} more.", counted(hidden as u64, "rarer endgame")),
    };
    put(
        &mut content,
        format_args!(
            "<p class=\"note\">{} of {} read reached an endgame: each side's pieces are worth at most \
             {MAX_POINTS} pawns (queen 9, rook 5, bishop and knight 3), and the same pieces stay for \
             {MIN_POSITIONS} positions, or to the end of the game. Pawns are not listed.{more}</p>\n",
            grouped(endgames.games),
            counted(sample.read, "game")
        ),
    );
    panel(out, "Endgames", "whole", &content);
}

fn put_theory(out: &mut String, report: &OpeningReport, explorer: Option<&ExplorerLinks>) {
    if report.theory.is_empty() {
        return;
    }
    let before = |row: &TheoryRow| match row.parent {
        0 => &report.fen,
        parent => &report.theory[parent - 1].fen,
    };
    let rows: String =
        report.theory.iter().map(|row| theory_row(row, before(row), explorer)).collect();
    let heads = [
        ("Row", true),
        ("Move", false),
        ("Played", true),
        ("Reached", true),
        ("White", true),
        ("Value", true),
        ("Opening", false),
    ];
    let mut content = table("Theory table", "theory", &heads, &rows);
    put(
        &mut content,
        format_args!(
            "<p class=\"note\">Every position has one row; = refers to the row of a position that another move \
             order reached. Games that played the move in this position, games that reached the position after \
             it by any move order, and White's score in these. The table has at most {} rows and {}, and no move \
             of less than {} of the games.</p>\n",
            theory::MAX_ROWS,
            counted(theory::MAX_PLIES as u64, "ply"),
            percent(theory::MIN_SHARE)
        ),
    );
    panel(out, "Theory table", "", &content);
}

/// Formats a row of the theory table. `before` is the FEN of the position in which the move was
/// played.
fn theory_row(row: &TheoryRow, before: &str, explorer: Option<&ExplorerLinks>) -> String {
    let address = explorer.map(|links| links.place(&row.fen));
    let step = line(before, std::slice::from_ref(&row.mv));
    let indent = 0.9 * (row.ply - 1) as f64;
    let name = match (row.same_as, &row.opening) {
        (Some(0), _) => "= the position of this report".to_owned(),
        (Some(same), _) => format!("= row {same}"),
        (None, Some(opening)) => format!("{} {}", opening.eco, opening.name),
        (None, None) => String::new(),
    };
    let value = row.value.map_or_else(String::new, value);
    format!(
        "<tr><td class=\"right\">{}</td><td class=\"step\" style=\"padding-left:{indent:.1}rem\">\
         {}</td><td class=\"right\">{}</td><td class=\"right\">{}</td><td class=\"right\">{}</td>\
         <td class=\"right\">{value}</td><td class=\"name\">{}</td></tr>\n",
        row.number,
        link(address, &step),
        grouped(row.played.games()),
        grouped(row.reached.games()),
        white_score(&row.reached),
        text(&name)
    )
}

/// Formats the value of a move in pawns, or as the number of moves to mate.
fn value(value: ScoreAnswer) -> String {
    match value {
        ScoreAnswer::Cp(score) => format!("{:+.2}", f64::from(score) / 100.0),
        ScoreAnswer::Mate(moves) => format!("#{moves}"),
    }
}

fn put_footer(out: &mut String, report: &OpeningReport) {
    put(
        out,
        format_args!(
            "<footer class=\"note\">Opening report by Tabia {} from {}.</footer>\n",
            env!("CARGO_PKG_VERSION"),
            text(&report.book)
        ),
    );
}
