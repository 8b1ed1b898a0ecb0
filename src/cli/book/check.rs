//! `tabia book check`: finds errors in a repertoire.

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;

use super::{open, parse_side};
use crate::chess::notation;
use crate::chess::position::{Color, Game, Move, Position};
use crate::chess::score::Score;
use crate::cli::args::TableMemory;
use crate::cli::output;
use crate::cli::place::PositionArgs;
use crate::engine::search::{Config, Control, Limits, Searcher};
use crate::games::book::{Book, Visited};
use crate::support::words::counted;

/// Find gaps and weak moves in a repertoire
///
/// Positions whose replies may have been removed by a book filter (--min-games, --min-score) are
/// counted but not listed.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The book (.tbk, .bin or .pgn), or `embedded`
    book: PathBuf,
    /// Side of the repertoire (default: both)
    #[arg(long, value_parser = parse_side)]
    side: Option<Color>,
    #[command(flatten)]
    place: PositionArgs,
    /// Number of plies to check from the position
    #[arg(long, value_name = "N", default_value_t = 20)]
    max_ply: u32,
    /// Skip positions reached in fewer than N games
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_games: u64,
    /// Nodes for each move; 0 disables the search
    #[arg(long, value_name = "N", default_value_t = 0)]
    nodes: u64,
    /// Centipawns that a move may lose, compared with the best one
    #[arg(long, value_name = "CP", default_value_t = 100)]
    margin: i32,
    #[command(flatten)]
    memory: TableMemory,
}

/// Prints one line for each problem. The exit status is nonzero if there are any problems.
///
/// # Errors
/// If the book cannot be read.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let book = open(&args.book)?;
    let game = args.place.game()?;
    let mut out = BufWriter::new(output::stdout());
    let mut searcher =
        Searcher::new(Config { memory_mb: args.memory.mebibytes(), ..Config::default() });
    let held = args.sides_held(&book, game.position())?;
    let last_ply = args.last_ply(&book, &game);
    let manifest = book.manifest()?;
    let pruning = manifest.pruning();
    let (mut findings, mut hidden) = (0_u64, 0_u64);
    for at in book.walk(game.position(), last_ply.saturating_add(1)) {
        if at.ply > last_ply || at.entry.reached.games() < args.min_games {
            continue;
        }
        let mover = at.position.side_to_move();
        let ours = args.side.map_or(held[mover.to_index()], |side| side == mover);
        let mut lines = Vec::new();
        if at.ply < last_ply {
            let missing_reply = missing_reply(&book, &at, ours, held[mover.to_index()]);
            let legal_moves = at.position.legal_moves().len() as u64;
            if missing_reply.is_some() && pruning.may_hide(at.entry.reached.games(), legal_moves) {
                hidden += 1;
            } else {
                lines.extend(missing_reply);
            }
        }
        if ours && args.nodes > 0 {
            lines.extend(refuted(&at, args, &mut searcher));
        }
        for line in lines {
            findings += 1;
            writeln!(out, "{line}  {}", at.position.fen())?;
            out.flush()?;
        }
    }
    if hidden > 0 {
        let positions = counted(hidden, "position");
        let filters = manifest.filters.join(", ");
        writeln!(
            out,
            "{positions} without a reply not listed: the filter may hide it ({filters})"
        )?;
    }
    writeln!(out, "{}", counted(findings, "finding"))?;
    out.flush()?;
    Ok(if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Args {
    /// Returns whether the book has moves for White and for Black. In a repertoire for one side,
    /// missing moves of the other side are not reported.
    fn sides_held(&self, book: &Book, start: &Position) -> anyhow::Result<[bool; 2]> {
        let mut held = [false; 2];
        for at in book.walk(start, self.max_ply) {
            held[at.position.side_to_move().to_index()] |= !at.entry.moves.is_empty();
            if held == [true; 2] {
                break;
            }
        }
        match self.side {
            Some(side) if !held[side.to_index()] => {
                let (book, name) = (book.name(), notation::color(side));
                bail!("{book} has no moves of {name}'s there: nothing to check")
            }
            _ => Ok(held),
        }
    }

    /// Returns the first ply, counted from the start of the check, at which missing moves are no
    /// longer reported because the book ends there.
    fn last_ply(&self, book: &Book, game: &Game) -> u32 {
        let depth = book.manifest().map_or(0, |manifest| manifest.max_ply);
        if depth == 0 || *game.start() != Position::start() {
            return self.max_ply;
        }
        self.max_ply.min(depth.saturating_sub(game.moves().len() as u32))
    }
}

/// Describes what is missing in a position without book moves. `held` is set if the book has any
/// moves for the side to move.
fn missing_reply(book: &Book, at: &Visited, ours: bool, held: bool) -> Option<String> {
    let over = Game::new(at.position).outcome().is_some();
    if !at.entry.moves.is_empty() || over {
        return None;
    }
    let games = counted(at.entry.reached.games(), "game");
    if let Some(transposed) = book.moves(&at.position).first() {
        if !held {
            return None;
        }
        let san = at.position.san(transposed.mv);
        let there = counted(transposed.reached.games(), "game");
        return Some(format!(
            "hole: no move after {games} here, but {san} leads to a position of {there}"
        ));
    }
    Some(match ours {
        true => format!("no reply: reached in {games}, and the book has no move"),
        false => format!("dead end: reached in {games}, and no answer to our move is known"),
    })
}

/// Returns the book moves that lose more than the margin compared with the best move.
fn refuted(at: &Visited, args: &Args, searcher: &mut Searcher) -> Vec<String> {
    let moves: Vec<Move> = at
        .entry
        .legal_moves(&at.position)
        .filter(|(_, played)| played.games() >= args.min_games)
        .map(|(mv, _)| mv)
        .collect();
    if moves.is_empty() {
        return Vec::new();
    }
    let (best, best_move) = value(&at.position, Vec::new(), args, searcher);
    let weak = moves.into_iter().filter(|&mv| Some(mv) != best_move).filter_map(|mv| {
        let (score, _) = value(&at.position, vec![mv], args, searcher);
        let loss = best - score;
        (loss > args.margin).then(|| {
            let better = best_move.map_or(String::new(), |mv| at.position.san(mv));
            let name = at.position.san(mv);
            format!("refuted: {name} loses {loss} centipawns against {better} ({best} to {score})")
        })
    });
    weak.collect()
}

/// Searches the given moves in a position. An empty list means all moves.
fn value(
    position: &Position,
    moves: Vec<Move>,
    args: &Args,
    searcher: &mut Searcher,
) -> (Score, Option<Move>) {
    let limits = Limits { nodes: Some(args.nodes), root_moves: moves, ..Limits::default() };
    let result = searcher.search(&Game::new(*position), &limits, &Control::new(), &mut |_| {});
    (result.score, result.best)
}
