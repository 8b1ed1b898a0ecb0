//! `tabia book dump`: prints the contents of a book as text.

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;

use super::open;
use super::rows::{MoveRow, PositionRow, ValueRow};
use crate::chess::position::{KeyMap, Move, Position};
use crate::chess::score::{Score, mate_distance};
use crate::cli::output;
use crate::cli::place::PositionArgs;
use crate::games::book::{Book, Counts, Visited};
use crate::games::pgn::PgnGame;

/// Print the positions or the lines of a book
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The book (.tbk, .bin or .pgn), or `embedded`
    book: PathBuf,
    #[command(flatten)]
    place: PositionArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = DumpFormat::Csv)]
    format: DumpFormat,
    /// Number of plies to print from the position
    #[arg(long, value_name = "N", default_value_t = u32::MAX, hide_default_value = true)]
    max_ply: u32,
    /// Omit moves played in fewer than N games
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_games: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DumpFormat {
    /// One row for each move of each position, with analysis results
    Csv,
    /// One object per line for each position, with analysis results
    Json,
    /// The FEN of each position
    Fen,
    /// One game for each line of play
    Pgn,
}

/// The columns of a CSV dump.
///
/// Counts are numbers of games. Scores are from the side to move's point of view, in centipawns or
/// in moves to mate. The `move_` columns are for the position after the move.
const CSV_HEAD: &str = "fen,ply,move,played_white,played_draws,played_black,played_undecided,\
    reached_white,reached_draws,reached_black,reached_undecided,\
    value_cp,value_mate,value_depth,value_nodes,value_best,move_cp,move_mate";

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let book = open(&args.book)?;
    let starts = match args.place.is_given() {
        true => vec![*args.place.game()?.position()],
        false => book.starts(),
    };
    let starts = &starts[..];
    let mut out = BufWriter::new(output::stdout());
    match args.format {
        DumpFormat::Pgn => write_lines(&mut out, &book, starts, args)?,
        DumpFormat::Csv => {
            writeln!(out, "{CSV_HEAD}")?;
            book.walk_all(starts, args.max_ply)
                .try_for_each(|at| write_csv(&mut out, &book, &at, args))?;
        }
        DumpFormat::Json => {
            for at in book.walk_all(starts, args.max_ply) {
                serde_json::to_writer(&mut out, &position_row(&book, &at, args))?;
                writeln!(out)?;
            }
        }
        DumpFormat::Fen => {
            let known =
                book.walk_all(starts, args.max_ply).filter(|at| !at.entry.reached.is_empty());
            known
                .filter(|at| at.entry.reached.games() >= args.min_games)
                .try_for_each(|at| writeln!(out, "{}", at.position.fen()))?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn moves_of(at: &Visited, args: &Args) -> Vec<(Move, Counts)> {
    let moves = at.entry.legal_moves(&at.position);
    moves.filter(|(_, played)| played.games() >= args.min_games).collect()
}

fn write_csv(out: &mut impl Write, book: &Book, at: &Visited, args: &Args) -> std::io::Result<()> {
    let value = book.value(&at.position);
    let value_columns = value.map_or_else(
        || ",,,,".to_owned(),
        |value| {
            let best = value.best.filter(|&mv| at.position.is_legal(mv));
            let best = best.map_or_else(String::new, |mv| at.position.san(mv));
            format!("{},{},{},{best}", score_columns(Some(value.score)), value.depth, value.nodes)
        },
    );
    let moves = moves_of(at, args);
    for &(mv, played) in &moves {
        let reached = book.reached(&at.position.play(mv)).unwrap_or_default();
        write!(out, "{},{},{}", at.position.fen(), at.ply, at.position.san(mv))?;
        for Counts { white, draws, black, undecided } in [played, reached] {
            write!(out, ",{white},{draws},{black},{undecided}")?;
        }
        let score = score_columns(book.value_of_move(&at.position, mv));
        writeln!(out, ",{value_columns},{score}")?;
    }
    // An analysed position that was not reached in any game has a value but no moves.
    if moves.is_empty() && value.is_some() {
        writeln!(out, "{},{},,,,,,,,,,{value_columns},,", at.position.fen(), at.ply)?;
    }
    Ok(())
}

fn score_columns(score: Option<Score>) -> String {
    match (score, score.and_then(mate_distance)) {
        (_, Some(moves)) => format!(",{moves}"),
        (Some(score), None) => format!("{score},"),
        (None, None) => ",".to_owned(),
    }
}

fn position_row(book: &Book, at: &Visited, args: &Args) -> PositionRow {
    let moves = moves_of(at, args).into_iter().map(|(mv, played)| {
        let reached = book.reached(&at.position.play(mv)).unwrap_or_default();
        MoveRow::new(book, &at.position, mv, [played, reached])
    });
    PositionRow {
        fen: at.position.fen(),
        ply: Some(at.ply),
        opening: None,
        self_play: false,
        reached: at.entry.reached.into(),
        value: book.value(&at.position).map(|value| ValueRow::new(&at.position, &value)),
        moves: moves.collect(),
        games: None,
    }
}

/// Writes each line of play as a game. A line ends where the book ends, or where it transposes to
/// an earlier line.
fn write_lines(
    out: &mut impl Write,
    book: &Book,
    starts: &[Position],
    args: &Args,
) -> std::io::Result<()> {
    let mut seen: KeyMap<()> = KeyMap::default();
    // Push the first start last, so that it is popped first.
    let mut open: Vec<_> =
        starts.iter().rev().map(|start| (start, *start, Vec::<Move>::new())).collect();
    while let Some((start, position, line)) = open.pop() {
        let is_new = seen.insert(position.key(), ()).is_none();
        let entry = book.entry(&position).unwrap_or_default();
        let mut moves: Vec<(Move, Counts)> = entry
            .legal_moves(&position)
            .filter(|(_, played)| played.games() >= args.min_games)
            .collect();
        if !is_new || moves.is_empty() || line.len() as u64 >= u64::from(args.max_ply) {
            let mut game = PgnGame::new(*start);
            game.set_tag("Event", book.name());
            game.moves = line.into_iter().map(Into::into).collect();
            writeln!(out, "{game}")?;
            continue;
        }
        // Push the most frequent move last, so that it is popped first.
        moves.sort_by_key(|&(_, played)| played.games());
        for (mv, _) in moves {
            let mut longer = line.clone();
            longer.push(mv);
            open.push((start, position.play(mv), longer));
        }
    }
    Ok(())
}
