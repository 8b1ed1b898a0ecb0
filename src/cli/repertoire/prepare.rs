//! `tabia repertoire prepare`: creates a dossier, a report on an opponent's openings.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;

use super::RepertoireArgs;
use super::dossier::{
    Collection, ColourRows, Dossier, MeetingRow, NextRow, OpeningShare, PositionRow, SpotRow,
};
use super::played::{each_game, games_of, is_played_by};
use super::prepare_page::page;
use super::report_rows::Results;
use crate::chess::position::Color;
use crate::cli::args::GamePaths;
use crate::cli::book::parse_side;
use crate::cli::output::outln;
use crate::cli::writing::{Force, GAMES, check_texts, files_of, write_text};
use crate::games::pgn::{PgnGame, PgnInput, PgnMove};
use crate::support::files::{FileKind, Output};
use crate::support::words::{counted, percent, visible};

/// Summarise an opponent's openings
///
/// Lists the openings by colour and year, and positions in which the opponent scores badly. With
/// --repertoire, it also lists positions of your repertoire that occur in the games, and your moves
/// that lead to positions new to the opponent. Positions are compared, not lines.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Part of the opponent's name
    #[arg(value_name = "NAME")]
    player: String,
    #[command(flatten)]
    games: GamePaths,
    /// Your repertoire: a PGN file with variations, a folder of them, or a book; may be repeated
    #[arg(long, value_name = "REPERTOIRE")]
    repertoire: Vec<PathBuf>,
    /// The side of the repertoire (default: the side that the book was made for)
    #[arg(long, value_parser = parse_side, requires = "repertoire")]
    side: Option<Color>,
    /// Minimum number of games for a weak spot
    #[arg(long, value_name = "N", default_value_t = 5)]
    min_games: u64,
    /// Plies from the start
    #[arg(long, value_name = "N", default_value_t = 40)]
    max_ply: usize,
    /// Maximum number of rows to print and write for each list
    #[arg(long, value_name = "N", default_value_t = 5)]
    limit: usize,
    /// Print the whole dossier as JSON
    #[arg(long)]
    json: bool,
    /// Write the lines as a study
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Write an HTML page with the openings, and the lines on a board
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let inputs = games_of(&args.games.games)?;
    let pgn = args.pgn.as_deref().map(|path| args.output(path, GAMES, &inputs));
    let html = args.html.as_deref().map(|path| args.output(path, FileKind::HTML, &inputs));
    let is_text_printed = check_texts(pgn.iter().chain(&html), args.json)?;
    if let (Some(pgn), Some(html)) = (&pgn, &html) {
        html.check_beside(pgn)?;
    }
    let repertoire = RepertoireArgs::open_given(&args.repertoire, args.side)?;
    let names = [args.player.to_lowercase()];
    let sides = |game: &PgnGame| {
        let sides = [Color::White, Color::Black].into_iter();
        sides.filter(|&side| is_played_by(game, side, &names)).collect::<Vec<Color>>()
    };
    let mut collection = Collection::new(args.max_ply);
    each_game(
        &inputs,
        |game| !sides(game).is_empty(),
        |played| sides(&played.game).into_iter().for_each(|side| collection.add(&played, side)),
    )?;
    if collection.is_empty() {
        bail!("the input contains no game of {}", args.player);
    }
    let dossier = collection.dossier(&args.player, repertoire.as_ref(), args.min_games);
    let chapters = chapters(&dossier, args.limit);
    if let Some(output) = &pgn {
        let study: String = chapters.iter().map(|chapter| format!("{chapter}\n")).collect();
        write_text(output, &study)?;
    }
    if let Some(output) = &html {
        write_text(output, &page(&dossier, &chapters))?;
    }
    match args.json {
        true => outln!("{}", serde_json::to_string(&dossier)?)?,
        false if is_text_printed => {}
        false => print(&dossier, args.limit)?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn output<'a>(&self, path: &'a Path, kind: FileKind, inputs: &[PgnInput]) -> Output<'a> {
        let output = Output::new(path, kind).force(self.force.allowed);
        output.apart_from(files_of(inputs).chain(self.repertoire.iter().cloned()))
    }
}

fn print(dossier: &Dossier, limit: usize) -> std::io::Result<()> {
    let names = dossier.names.iter().take(limit);
    let names = names.map(|row| format!("{} ({})", visible(&row.name), row.games));
    outln!("{}", names.collect::<Vec<_>>().join("; "))?;
    for colour in &dossier.colours {
        print_colour(colour, limit)?;
    }
    let Some(repertoire) = &dossier.repertoire else { return Ok(()) };
    let (meetings, new) = (&repertoire.meetings, &repertoire.new);
    outln!("\nIn your repertoire ({}): share, games, opponent's score", meetings.len())?;
    for row in meetings.iter().take(limit) {
        outln!("{:>6} {}\n        {}", percent(row.share), position(&row.at), met(row))?;
    }
    print_rest(meetings.len(), limit)?;
    outln!("\nNew for the opponent ({}): games before the move", new.len())?;
    for row in new.iter().take(limit) {
        let line = if row.at.line.is_empty() { "start" } else { &row.at.line };
        outln!("{:>6}  {} after {line}", row.at.results.games(), row.san)?;
    }
    print_rest(new.len(), limit)
}

fn print_colour(colour: &ColourRows, limit: usize) -> std::io::Result<()> {
    let ColourRows { side, openings, .. } = colour;
    outln!("\nAs {side}: {}", games(&colour.results))?;
    for row in openings.iter().take(limit) {
        outln!("{:>6} {}  {}", percent(row.share), results(&row.results), opening(row))?;
    }
    print_rest(openings.len(), limit)?;
    let weak: Vec<&SpotRow> = weak_spots(colour).collect();
    if !weak.is_empty() {
        outln!("  Scores badly ({}): games, score, bounds (* surely below the mean)", weak.len())?;
        for row in weak.iter().take(limit) {
            let mark = if row.below_mean { "*" } else { "" };
            let (results, bounds) = (results(&row.at.results), bounds(row));
            outln!("       {results}  {bounds}{mark}  {}", row.at.line)?;
        }
        print_rest(weak.len(), limit)?;
    }
    Ok(())
}

fn weak_spots(colour: &ColourRows) -> impl Iterator<Item = &SpotRow> {
    let mean = colour.results.score;
    colour.spots.iter().filter(move |row| row.at.results.score < mean)
}

fn print_rest(rows: usize, limit: usize) -> std::io::Result<()> {
    match rows.saturating_sub(limit) {
        0 => Ok(()),
        more => outln!("  … and {more} more (--limit)"),
    }
}

fn results(results: &Results) -> String {
    format!("{:>5} {:>4}", results.games(), percent(results.score))
}

fn games(results: &Results) -> String {
    format!("{}, {}", counted(results.games(), "game"), percent(results.score))
}

fn bounds(row: &SpotRow) -> String {
    format!("({}-{})", percent(row.low), percent(row.high))
}

fn opening(row: &OpeningShare) -> String {
    let name = row.opening.as_deref().unwrap_or("without a name");
    let year = |year: Option<u16>| year.map_or_else(|| "?".to_owned(), |year| year.to_string());
    let years = row.years.iter().rev().take(YEARS);
    let years = years.map(|row| format!("{} {}", year(row.year), percent(row.share)));
    format!("{name} ({})", years.collect::<Vec<_>>().join(", "))
}

const YEARS: usize = 4;

fn position(at: &PositionRow) -> String {
    format!("{}  {}", results(&at.results), at.line)
}

fn met(row: &MeetingRow) -> String {
    let next: Vec<String> = row.at.next.iter().map(next_move).collect();
    let next = if next.is_empty() { "no move".to_owned() } else { next.join(", ") };
    let prepared = match &row.prepared[..] {
        [] => "no move".to_owned(),
        moves => moves.join(", "),
    };
    format!("games: {next}; repertoire: {prepared}")
}

fn next_move(row: &NextRow) -> String {
    format!("{} ({})", row.san, row.results.games())
}

fn chapters(dossier: &Dossier, limit: usize) -> Vec<PgnGame> {
    let mut chapters = Vec::new();
    for colour in &dossier.colours {
        for row in weak_spots(colour).take(limit) {
            let name = format!("Scores badly as {}: {}", colour.side, row.at.line);
            let comment = format!("{} {}", games(&row.at.results), bounds(row));
            chapters.push(row.at.chapter(&name, comment));
        }
    }
    let repertoire = dossier.repertoire.as_ref();
    for row in repertoire.iter().flat_map(|rows| rows.meetings.iter().take(limit)) {
        let name = format!("In the repertoire: {}", row.at.line);
        chapters.push(row.at.chapter(&name, format!("{}; {}", games(&row.at.results), met(row))));
    }
    for row in repertoire.iter().flat_map(|rows| rows.new.iter().take(limit)) {
        let name = format!("New for the opponent: {} after {}", row.san, row.at.line);
        let mut chapter = row.at.chapter(&name, games(&row.at.results));
        let comment = "The opponent has never reached this position.".to_owned();
        chapter.moves.push(PgnMove { comment, ..PgnMove::from(row.mv) });
        chapters.push(chapter);
    }
    chapters
}
