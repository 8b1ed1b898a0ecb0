//! `tabia repertoire report`: compares a player's games with a repertoire.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;

use super::game_rows::{Comparison, EventRow, GameRow};
use super::played::{each_game, games_of, is_played_by};
use super::report_rows::{LeaveRow, OUTCOMES, OpeningRow, Report};
use super::{ReferenceArgs, RepertoireArgs};
use crate::chess::notation;
use crate::chess::position::Color;
use crate::cli::args::GamePaths;
use crate::cli::book::{lowercase, parse_side};
use crate::cli::output::outln;
use crate::games::book::SELF_PLAY;
use crate::games::pgn::GameDate;
use crate::games::repertoire::{EventKind, GapKind};
use crate::support::words::{clip, counted, percent, visible};

/// Find where games left a repertoire
///
/// For each game: your own deviations, replies of the opponent without an answer, lines that ended,
/// and returns by transposition. Positions are compared, not lines. The summary lists the most
/// frequent deviations and gaps, and the score by opening.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A PGN file with variations, or a folder of them; or a book with the moves of one side
    #[arg(value_name = "REPERTOIRE")]
    repertoire: PathBuf,
    #[command(flatten)]
    games: GamePaths,
    /// Another file or folder of the repertoire; may be repeated
    #[arg(long = "repertoire", value_name = "REPERTOIRE")]
    more: Vec<PathBuf>,
    /// The side of the repertoire (default: the side that the book was made for)
    #[arg(long, value_parser = parse_side)]
    side: Option<Color>,
    /// Part of the player's name; may be repeated (default: all players of the side)
    #[arg(long, value_name = "NAME")]
    player: Vec<String>,
    #[command(flatten)]
    reference: ReferenceArgs,
    /// Maximum number of rows to print for each list
    #[arg(long, value_name = "N", default_value_t = 5)]
    limit: usize,
    /// Print all games and events as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let inputs = games_of(&args.games.games)?;
    let paths: Vec<PathBuf> = [&args.repertoire].into_iter().chain(&args.more).cloned().collect();
    let files: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let repertoire = RepertoireArgs { paths, side: args.side }.open()?;
    let (side, book) = (repertoire.side, args.reference.open()?);
    let players = lowercase(&args.player);
    let (mut comparison, mut games) = (Comparison::new(&repertoire, &book), Vec::new());
    let is_wanted = |game: &_| is_played_by(game, side, &players);
    each_game(&inputs, is_wanted, |played| games.push(comparison.game(&played)))?;
    if games.is_empty() {
        let side = notation::color(side);
        match &args.player[..] {
            [] => bail!("the input contains no game"),
            names => bail!("the input contains no game of {} as {side}", names.join(" or ")),
        }
    }
    let names = [&files.join(", "), book.name()];
    let report = Report::new(side, names, book.is_self_play(), games);
    match args.json {
        true => outln!("{}", serde_json::to_string(&report)?)?,
        false => print(&report, args.limit)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn print(report: &Report, limit: usize) -> std::io::Result<()> {
    let Report { side, results, leaves, openings, .. } = report;
    let games = counted(results.games(), "game");
    let score = percent(results.score);
    outln!("{games} as {side} against {}, score {score}", visible(&report.repertoire))?;
    let note = if report.self_play { format!(". {SELF_PLAY}") } else { String::new() };
    outln!("Counts in parentheses are those of {}{note}", visible(&report.reference))?;
    outln!("\nOutcomes: games, share, score")?;
    for (row, (_, meaning)) in report.outcomes.iter().zip(OUTCOMES) {
        let number = row.results.games();
        let share = percent(number as f64 / results.games() as f64);
        if number > 0 {
            outln!("{number:>6} {share:>4} {:>4}  {meaning}", percent(row.results.score))?;
        }
    }
    if report.returned > 0 {
        let games = counted(report.returned as u64, "game");
        outln!("  {games} returned to the repertoire by transposition")?;
    }
    let of_kind = |is_wanted: fn(EventKind) -> bool| -> Vec<&LeaveRow> {
        leaves.iter().filter(|row| is_wanted(row.at.kind)).collect()
    };
    print_leaves("Your deviations", &of_kind(|kind| kind == EventKind::Deviation), limit)?;
    let is_gap = |kind| matches!(kind, EventKind::Gap(GapKind::Reply | GapKind::DeadEnd));
    print_leaves("No answer", &of_kind(is_gap), limit)?;
    let is_end = |kind| kind == EventKind::Gap(GapKind::End);
    print_leaves("Lines that ended", &of_kind(is_end), limit)?;
    outln!("\nOpenings ({}): games, score, plies in the repertoire", openings.len())?;
    openings.iter().take(limit).try_for_each(print_opening)?;
    print_rest(openings.len(), limit)?;
    print_games(&report.games, limit)
}

fn print_leaves(title: &str, rows: &[&LeaveRow], limit: usize) -> std::io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    outln!("\n{title} ({}): games, score", rows.len())?;
    for LeaveRow { at, results } in rows.iter().take(limit) {
        let score = percent(results.score);
        outln!(
            "{:>6} {score:>4}  {}\n             {}",
            results.games(),
            short(&at.line),
            at.describe()
        )?;
    }
    print_rest(rows.len(), limit)
}

/// Lines of at most this many characters are printed in full.
const LINE_WIDTH: usize = 80;

/// Shortens a long line by removing its first moves. The rest starts with a move number.
fn short(line: &str) -> String {
    let is_number = |word: &str| word.ends_with('.') || word.contains("...");
    let mut starts = line.match_indices(' ').map(|(at, _)| &line[at + 1..]);
    let is_fit = |end: &&str| {
        let first = end.split(' ').next().unwrap_or_default();
        end.len() <= LINE_WIDTH && is_number(first)
    };
    match starts.find(is_fit) {
        Some(end) if line.len() > LINE_WIDTH => format!("… {end}"),
        _ => line.to_owned(),
    }
}

fn print_opening(row: &OpeningRow) -> std::io::Result<()> {
    let name = row.opening.as_deref().unwrap_or("without a name");
    let leave = row.leave.as_ref().map_or_else(String::new, |leave| {
        format!("; most often left after {}", short(&leave.at.line))
    });
    let (games, score) = (row.results.games(), percent(row.results.score));
    outln!("{games:>6} {score:>4} {:>5.1}  {name}{leave}", row.followed_plies)
}

fn print_rest(rows: usize, limit: usize) -> std::io::Result<()> {
    match rows.saturating_sub(limit) {
        0 => Ok(()),
        more => outln!("  … and {more} more (--limit)"),
    }
}

fn print_games(games: &[GameRow], limit: usize) -> std::io::Result<()> {
    let date = |game: &GameRow| game.date.as_deref().and_then(|date| GameDate::parse(date).ok());
    let mut latest: Vec<&GameRow> = games.iter().collect();
    // The list is reversed before the stable sort. Therefore, among games played on the same day,
    // the last one in the file comes first.
    latest.reverse();
    latest.sort_by_key(|game| Reverse(date(game).unwrap_or_default()));
    outln!("\nLatest games ({} in all)", games.len())?;
    for game in latest.into_iter().take(limit) {
        let date = game.date.as_deref().unwrap_or("?");
        let [white, black] =
            [&game.white, &game.black].map(|name| visible(clip(name).as_ref()).into_owned());
        outln!("{}  {white} - {black}  {}  {}", visible(date), game.result, name_of(game))?;
        if game.events.is_empty() {
            outln!("      {}", game.outcome)?;
        }
        game.events.iter().try_for_each(|row| outln!("      {}", event(row)))?;
    }
    Ok(())
}

fn name_of(game: &GameRow) -> &str {
    game.opening.as_deref().unwrap_or_default()
}

fn event(row: &EventRow) -> String {
    let answer = row
        .answer
        .as_ref()
        .map_or_else(String::new, |answer| format!("; you played {}{}", answer.san, answer.about));
    let time = if row.time > 1 { format!("; {} time", ordinal(row.time)) } else { String::new() };
    format!("{}{answer}{time}", row.at.describe())
}

fn ordinal(number: u64) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_begin_at_a_move_number() {
        let line = "1. e4 e5 2. Nf3 Nc6";
        assert_eq!(short(line), line);
        let long: Vec<String> = (1..20).map(|number| format!("{number}. Nf3 Ng8")).collect();
        let end = short(&long.join(" "));
        assert!(end.starts_with("… 14. Nf3 Ng8 15. ") && end.ends_with(" 19. Nf3 Ng8"), "{end}");
        assert_eq!(short(&"x".repeat(100)), "x".repeat(100));
    }

    #[test]
    fn ordinals_have_the_right_ending() {
        let shown: Vec<String> = [1, 2, 3, 4, 11, 12, 13, 21, 112, 1003].map(ordinal).to_vec();
        let expected = "1st 2nd 3rd 4th 11th 12th 13th 21st 112th 1003rd";
        assert_eq!(shown.join(" "), expected);
    }
}
