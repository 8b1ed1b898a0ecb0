//! `tabia book info`, `show` and `why`: print the contents of a book, and explain how the engine
//! chooses its book moves.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;

use super::facets::FacetArgs;
use super::learn::open_learned;
use super::rows::{GameRow, GameRows, MoveRow, PositionRow, ValueRow};
use super::{open, policy, size};
use crate::chess::notation;
use crate::chess::position::Game;
use crate::chess::score::Score;
use crate::cli::output;
use crate::cli::place::PositionArgs;
use crate::games::book::{
    Book, Candidate, Chooser, ListedGame, MAX_LOSS, Manifest, Names, Policy, PositionStats,
    SELF_PLAY,
};
use crate::support::words::{counted, grouped};

/// Show how a book was made and how large it is
#[derive(Debug, clap::Args)]
pub(super) struct InfoArgs {
    /// The book (.tbk, .bin or .pgn), or `embedded`
    book: PathBuf,
}

/// Show the moves of a position and the results of their games
#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// The book (.tbk, .bin or .pgn), or `embedded`
    book: PathBuf,
    #[command(flatten)]
    place: PositionArgs,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    filter: FacetArgs,
}

const SHOWN_GAMES: usize = 5;

/// Explain how the engine chooses a move
#[derive(Debug, clap::Args)]
pub(super) struct WhyArgs {
    /// The book (.tbk, .bin or .pgn), or `embedded`
    book: PathBuf,
    #[command(flatten)]
    place: PositionArgs,
    /// Policy for choosing moves
    #[arg(long, default_value_t = Policy::default(), value_parser = policy())]
    policy: Policy,
    /// Confidence level of each bound of a score, 50 to 99.9 percent
    #[arg(long, value_name = "P", default_value_t = 90.0, value_parser = parse_confidence)]
    confidence: f64,
    /// Reject moves played in fewer than N games
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_games: u64,
    /// Maximum loss of an analysed move, in centipawns
    #[arg(long, value_name = "CP", default_value_t = MAX_LOSS)]
    max_loss: Score,
    /// Learning file (`tabia --learn FILE`), which may exclude moves
    #[arg(long, value_name = "FILE")]
    learn: Option<PathBuf>,
    /// Seed for the choice of a move
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

fn parse_confidence(text: &str) -> Result<f64, String> {
    let percent = text.parse().map_err(|_| "expected a number from 50 to 99.9".to_owned())?;
    if (50.0..=99.9).contains(&percent) {
        Ok(percent)
    } else {
        Err("expected 50 to 99.9".to_owned())
    }
}

pub(super) fn info(args: &InfoArgs) -> anyhow::Result<ExitCode> {
    let book = open(&args.book)?;
    let manifest = book.manifest()?;
    let mut out = output::stdout();
    writeln!(out, "book        {}", book.name())?;
    writeln!(out, "size        {}", size(book.bytes().len() as u64))?;
    writeln!(out, "positions   {}", grouped(book.positions()))?;
    writeln!(out, "moves       {}", grouped(book.move_count()))?;
    if book.values().len() > 0 {
        writeln!(out, "analysed    {}", grouped(book.values().len() as u64))?;
    }
    if book.has_facets() {
        writeln!(out, "facets      of {}", counted(book.facet_games().into(), "game"))?;
    }
    write_manifest(&mut out, &manifest)?;
    if book.is_self_play() {
        writeln!(out, "note        {SELF_PLAY}")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write_manifest(out: &mut impl Write, manifest: &Manifest) -> std::io::Result<()> {
    let games = manifest.games;
    writeln!(out, "made by     {} from {}", manifest.made_by, manifest.made_from)?;
    if manifest.max_ply > 0 {
        writeln!(out, "depth       {}", counted(manifest.max_ply.into(), "ply"))?;
    }
    writeln!(out, "games       {}: {games}", grouped(games.total()))?;
    if manifest.broken > 0 {
        writeln!(out, "broken      {}", grouped(manifest.broken))?;
    }
    if manifest.skipped.total() > 0 {
        writeln!(out, "skipped     {}", manifest.skipped)?;
    }
    if manifest.interrupted {
        writeln!(out, "incomplete  the build was interrupted")?;
    }
    for filter in &manifest.filters {
        writeln!(out, "filter      {filter}")?;
    }
    for input in &manifest.inputs {
        let (games, bytes) = (counted(input.games, "game"), size(input.bytes));
        writeln!(out, "input       {} ({bytes}, {games})", input.name)?;
    }
    Ok(())
}

pub(super) fn show(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let whole = open(&args.book)?;
    let game = args.place.game()?;
    let filter = args.filter.resolve();
    let book = match filter.is_everything() {
        true => whole.clone(),
        false => whole.filtered(game.position(), &filter)?,
    };
    let explored = whole.has_facets().then(|| whole.explore(game.position(), &filter));
    let mut out = output::stdout();
    let names = Names::embedded();
    let candidates = Chooser::new(Policy::Prefer, 0).candidates(&book, &game);
    let position = game.position();
    let is_known = whole.value(position).is_some() || book.reached(position).is_some();
    if args.json {
        let candidates = known(candidates, is_known, &game)?;
        let row = position_row(&book, &game, &names, &candidates, explored.as_ref());
        writeln!(out, "{}", serde_json::to_string(&row)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    write_heading(&mut out, &book, &game, &names)?;
    let candidates = known(candidates, is_known, &game)?;
    if book.holds_weights() {
        let name = |candidate: &Candidate| name_after(&names, &game, candidate);
        write_weights(&mut out, &game, &candidates, "opening", name)?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows = candidates.iter().map(|candidate| {
        let [played, reached] = [candidate.book_move.played, candidate.book_move.reached]
            .map(|counts| counts.to_string());
        let (name, value) = (name_after(&names, &game, candidate), value(candidate));
        [
            game.position().san(candidate.book_move.mv),
            played,
            reached,
            score(candidate),
            value,
            rating(explored.as_ref(), candidate),
            name,
        ]
    });
    let head = ["move", "played here", "position reached", "score", "value", "rated", "opening"];
    write_table(
        &mut out,
        &std::iter::once(head.map(str::to_owned)).chain(rows).collect::<Vec<_>>(),
    )?;
    write_legend(&mut out, &candidates)?;
    if let Some(explored) = explored {
        write_games(&mut out, "highest rated", &explored.reached.top, &game)?;
        write_games(&mut out, "latest", &explored.reached.latest, &game)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn position_row(
    book: &Book,
    game: &Game,
    names: &Names,
    candidates: &[Candidate],
    explored: Option<&PositionStats>,
) -> PositionRow {
    let position = game.position();
    let moves = candidates.iter().map(|Candidate { book_move, .. }| {
        let counts = [book_move.played, book_move.reached];
        let opening = names.get(&position.play(book_move.mv));
        MoveRow::new(book, position, book_move.mv, counts).leading_to(opening)
    });
    let games = |games: &[ListedGame]| {
        games.iter().map(|game| GameRow::new(position, game)).collect::<Vec<_>>()
    };
    PositionRow {
        fen: position.fen(),
        ply: None,
        opening: names.of_game(game).cloned(),
        self_play: book.counts_self_play(position),
        reached: book.reached(position).unwrap_or_default().into(),
        value: book.value(position).map(|value| ValueRow::new(position, &value)),
        moves: moves.collect(),
        games: explored.map(|explored| GameRows {
            highest_rated: games(&explored.reached.top),
            latest: games(&explored.reached.latest),
        }),
    }
}

fn rating(explored: Option<&PositionStats>, candidate: &Candidate) -> String {
    let moves = explored.map_or(&[][..], |explored| &explored.moves);
    let found = moves.iter().find(|found| found.mv == candidate.book_move.mv);
    let rating = found.and_then(|found| found.played.mean_rating());
    rating.map_or_else(String::new, |rating| rating.to_string())
}

fn write_games(
    out: &mut impl Write,
    heading: &str,
    games: &[ListedGame],
    place: &Game,
) -> std::io::Result<()> {
    if games.is_empty() {
        return Ok(());
    }
    let head = [heading, "move", "played", "speed", "result", "players"].map(str::to_owned);
    let rows = games.iter().take(SHOWN_GAMES).map(|game| {
        [
            game.id.to_string(),
            game.mv.map_or_else(String::new, |mv| place.position().san(mv)),
            game.date.to_string(),
            game.speed.to_string(),
            game.result.to_string(),
            format!("{} - {}", game.white.describe(), game.black.describe()),
        ]
    });
    writeln!(out)?;
    write_table(out, &std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

pub(super) fn print_explanation(args: &WhyArgs) -> anyhow::Result<ExitCode> {
    let book = open(&args.book)?;
    let game = args.place.game()?;
    let mut chooser = Chooser::new(args.policy, args.seed);
    chooser.confidence = args.confidence / 100.0;
    chooser.min_games = args.min_games;
    chooser.max_loss = args.max_loss;
    chooser.learned = args.learn.as_deref().map(open_learned).transpose()?;
    let is_known = book.value(game.position()).is_some();
    let candidates = known(chooser.candidates(&book, &game), is_known, &game)?;
    let mut out = output::stdout();
    let names = Names::embedded();
    write_heading(&mut out, &book, &game, &names)?;
    if book.holds_weights() {
        write_weights(&mut out, &game, &candidates, "chance", verdict)?;
    } else {
        let rows = candidates.iter().map(|candidate| {
            let reached = candidate.book_move.reached.to_string();
            let san = game.position().san(candidate.book_move.mv);
            [
                san,
                reached,
                score(candidate),
                value(candidate),
                combined_score(candidate),
                verdict(candidate),
            ]
        });
        let head = ["move", "position reached", "score", "value", "together", "chance"];
        let head = head.map(str::to_owned);
        write_table(&mut out, &std::iter::once(head).chain(rows).collect::<Vec<_>>())?;
        write_legend(&mut out, &candidates)?;
    }
    let chosen = chooser.choose(&book, &game);
    match &chosen {
        Some(choice) => writeln!(out, "{}", choice.explain(game.position()))?,
        None => writeln!(out, "no move: the policy {} leaves none", args.policy)?,
    }
    if let (None, Some(value)) = (chosen, book.value(game.position())) {
        let why = value.as_move_reason(game.position());
        writeln!(
            out,
            "{why}: the engine plays it without a search, unless a search may take more than twice as long"
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn verdict(candidate: &Candidate) -> String {
    match candidate.rejected {
        Some(rejection) => rejection.to_string(),
        None => format!("{:.1}%", 100.0 * candidate.chance),
    }
}

/// Formats the analysed value of a move in pawns, for the side that plays it.
fn value(candidate: &Candidate) -> String {
    candidate.value.map_or_else(String::new, notation::score)
}

fn combined_score(candidate: &Candidate) -> String {
    candidate.value.map_or_else(String::new, |_| bounded(candidate.expected, candidate.certain))
}

fn name_after(names: &Names, game: &Game, candidate: &Candidate) -> String {
    let opening = names.get(&game.position().play(candidate.book_move.mv));
    opening.map_or(String::new(), |opening| format!("{} {}", opening.eco, opening.name))
}

fn write_weights(
    out: &mut impl Write,
    game: &Game,
    candidates: &[Candidate],
    head: &str,
    last: impl Fn(&Candidate) -> String,
) -> std::io::Result<()> {
    let weight = |candidate: &Candidate| candidate.weight.unwrap_or(0);
    let all: u64 = candidates.iter().map(weight).sum();
    let rows = candidates.iter().map(|candidate| {
        let share = 100.0 * weight(candidate) as f64 / all.max(1) as f64;
        let san = game.position().san(candidate.book_move.mv);
        [san, weight(candidate).to_string(), format!("{share:.1}%"), last(candidate)]
    });
    let head = ["move", "weight", "share", head].map(str::to_owned);
    write_table(out, &std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

/// Returns the candidates, or an error if there are none and nothing else about the position is
/// known either.
fn known(
    candidates: Vec<Candidate>,
    is_known: bool,
    game: &Game,
) -> anyhow::Result<Vec<Candidate>> {
    if candidates.is_empty() && !is_known {
        bail!("the book has no move in {}", game.position().fen());
    }
    Ok(candidates)
}

fn write_heading(
    out: &mut impl Write,
    book: &Book,
    game: &Game,
    names: &Names,
) -> std::io::Result<()> {
    writeln!(out, "{}", game.position().fen())?;
    if let Some(opening) = names.of_game(game) {
        writeln!(out, "{} {}", opening.eco, opening.name)?;
    }
    match book.reached(game.position()) {
        Some(_) if book.holds_weights() => writeln!(out, "weights of a Polyglot book"),
        Some(counts) => {
            let side = game.position().side_to_move();
            writeln!(out, "reached: {}", counts.describe(side))
        }
        None if book.holds(game.position()).is_some() => writeln!(out, "reached in no game"),
        None => writeln!(out, "not in the book itself"),
    }?;
    if book.counts_self_play(game.position()) {
        writeln!(out, "{SELF_PLAY}")?;
    }
    match book.value(game.position()) {
        Some(value) => writeln!(out, "analysed: {}", value.describe(game.position())),
        None => Ok(()),
    }
}

fn write_legend(out: &mut impl Write, candidates: &[Candidate]) -> std::io::Result<()> {
    match candidates.is_empty() {
        true => Ok(()),
        false => writeln!(out, "(games +White won =drawn -Black won *without a result)"),
    }
}

/// Formats the side to move's score in the games as a percentage, or as a dash if no game has a
/// result. If the move has no analysed value, adds confidence bounds.
fn score(candidate: &Candidate) -> String {
    let reached = candidate.book_move.reached;
    match candidate.value {
        Some(_) if reached.is_empty() => String::new(),
        _ if reached.games() == u64::from(reached.undecided) => "–".to_owned(),
        Some(_) => format!("{:.1}%", 100.0 * candidate.score),
        None => bounded(candidate.score, candidate.certain),
    }
}

fn bounded(score: f64, (low, high): (f64, f64)) -> String {
    format!("{:.1}% ({:.0}-{:.0})", 100.0 * score, 100.0 * low, 100.0 * high)
}

fn write_table<const N: usize>(out: &mut impl Write, rows: &[[String; N]]) -> std::io::Result<()> {
    let is_empty = |column: usize| rows.iter().skip(1).all(|row| row[column].is_empty());
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    for row in rows.iter().filter(|_| rows.len() > 1) {
        let columns = row.iter().zip(widths).enumerate().filter(|&(column, _)| !is_empty(column));
        let cells: Vec<String> =
            columns.map(|(_, (cell, width))| format!("{cell:width$}")).collect();
        writeln!(out, "{}", cells.join("  ").trim_end())?;
    }
    Ok(())
}
