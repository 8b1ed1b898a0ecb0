//! `tabia lesson book`: compares searches with and without a book.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use serde_json::{Value, json};

use super::output::print;
use crate::chess::notation;
use crate::chess::position::{Game, Position};
use crate::chess::score::Depth;
use crate::cli::args::depth;
use crate::cli::book::open as open_book;
use crate::cli::list::{List, list};
use crate::cli::place::play;
use crate::cli::work::{exit_status, stop_switch};
use crate::engine::search::BookSearch;
use crate::support::words::number_of;
use crate::tools::suite::book_effect::{EXAMPLE_MOVES, Effect, Known, effects, example_book, walk};
use clap::builder::StringValueParser;

/// Compare searches with and without the book inside the search
///
/// Without arguments, uses the game books/dumb.pgn and another move order that leads into it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Moves from the start position
    #[arg(long, default_value = EXAMPLE_MOVES, value_name = "MOVES")]
    moves: String,
    /// The book (.tbk, .bin or .pgn), or `embedded` (default: the game books/dumb.pgn)
    #[arg(short, long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// Maximum depth in plies
    #[arg(short, long, default_value_t = 12, value_parser = depth())]
    depth: Depth,
    /// Modes to compare: off, first, stop, value (the mode of -b) or steer
    #[arg(long, default_value = "off,stop", value_parser = list(StringValueParser::new()))]
    modes: List<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let modes: Vec<BookSearch> = args
        .modes
        .iter()
        .map(|mode| mode.parse().context("--modes"))
        .collect::<anyhow::Result<_>>()?;
    let game = play(Game::default(), &args.moves, "--moves")?;
    let book = match &args.book {
        None => example_book()?,
        Some(path) => open_book(path)?,
    };
    let switch = stop_switch()?;
    let steps = walk(&game, &book);
    let effects = effects(&game, &book, &modes, args.depth, &|| switch.control());
    let root = game.position();
    print(&match args.json {
        true => format!("{}\n", as_json(root, &steps, &effects)),
        false => as_text(root, &steps, &effects),
    })?;
    Ok(exit_status(switch.is_stopped()))
}

fn as_text(root: &Position, steps: &[Known], effects: &[Effect]) -> String {
    let mut text = format!("{:<8}{:<18}{}\n", "move", "games in the book", "moves that lead there");
    for step in steps {
        let games = step.reached.unwrap_or_default().describe(root.side_to_move());
        let _ = writeln!(text, "{:<8}{games:<18}{}", step.mv, step.exits);
    }
    for effect in effects {
        let _ = writeln!(text, "\nbook inside the search: {}", effect.mode.name());
        let _ = writeln!(text, "{:>5} {:>6} {:>8}  line", "depth", "score", "nodes");
        for iteration in &effect.iterations {
            let line = notation::line(root, &iteration.line);
            let enters = iteration.book.as_ref().map_or(String::new(), |book| {
                format!("  (in the book after {})", number_of(book.line.len() as u64, "ply"))
            });
            let _ = writeln!(
                text,
                "{:>5} {:>6} {:>8}  {line}{enters}",
                iteration.depth, iteration.score, iteration.nodes
            );
        }
        if let Some(book) = &effect.ending {
            let _ = writeln!(
                text,
                "ends after iteration {}: transposes to the book after {}: {} ({})",
                effect.depth,
                number_of(book.line.len() as u64, "ply"),
                notation::line(root, &book.line),
                book.counts.describe(root.side_to_move())
            );
        }
    }
    text.push('\n');
    for effect in effects {
        let _ = writeln!(
            text,
            "{:<6} plays {:<6} after iteration {:>2} and {:>7} nodes{}",
            effect.mode.name(),
            effect.best.map_or("-".to_owned(), |mv| root.san(mv)),
            effect.depth,
            effect.nodes,
            share(effect, &effects[0])
        );
    }
    text
}

fn share(effect: &Effect, first: &Effect) -> String {
    if std::ptr::eq(effect, first) || first.nodes == 0 {
        return String::new();
    }
    format!(" ({:.1}%)", 100.0 * effect.nodes as f64 / first.nodes as f64)
}

fn as_json(root: &Position, steps: &[Known], effects: &[Effect]) -> Value {
    let steps = steps.iter().map(|step| {
        let games = step.reached.map_or(0, |counts| counts.games());
        json!({ "move": step.mv, "games": games, "exits": step.exits })
    });
    let searches = effects.iter().map(|effect| {
        let iterations = effect.iterations.iter().map(|iteration| {
            json!({
                "depth": iteration.depth, "score": iteration.score, "nodes": iteration.nodes,
                "line": notation::line(root, &iteration.line),
                "in_book_after": iteration.book.as_ref().map(|book| book.line.len()),
            })
        });
        json!({
            "mode": effect.mode.name(), "best": effect.best.map(|mv| root.san(mv)),
            "nodes": effect.nodes, "depth": effect.depth,
            "ends_in_book": effect.ending.as_ref().map(|book| notation::line(root, &book.line)),
            "iterations": iterations.collect::<Vec<Value>>(),
        })
    });
    json!({ "steps": steps.collect::<Vec<Value>>(), "searches": searches.collect::<Vec<Value>>() })
}
