//! `tabia train pgn`: converts self-play games to PGN for building books and for human readers.

use std::collections::HashSet;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::chess::position::{Color, Move};
use crate::cli::output;
use crate::games::pgn::{GameResult, PgnGame};
use crate::tools::train::{GameReader, PlayedGame, game_fault};

const PLAYER: &str = "Tabia";

type Played = (u8, Option<Box<str>>, Vec<Move>);

/// Print self-play games as PGN
///
/// The `Event` tag contains the game's settings; the `Round` tag is the game's number in the file.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Files of games, made by `tabia train games`
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print only the first N plies of each game; the result is kept
    #[arg(long, value_name = "N", default_value_t = usize::MAX, hide_default_value = true)]
    max_ply: usize,
    /// Print repeated games only once
    #[arg(long)]
    unique: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut out = BufWriter::new(output::stdout());
    let mut seen = args.unique.then(HashSet::new);
    for path in &args.files {
        print_games(path, args.max_ply, seen.as_mut(), &mut out)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the games in one file, except those that have already been printed.
fn print_games(
    path: &Path,
    max_ply: usize,
    mut seen: Option<&mut HashSet<Played>>,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let mut reader = GameReader::open(path)?;
    while let Some(game) = reader.read_game()? {
        let is_new = |seen: &mut &mut HashSet<Played>| {
            seen.insert((game.half_points, game.start.clone(), moves_of(&game)))
        };
        if !seen.as_mut().is_none_or(is_new) {
            continue;
        }
        let number = reader.games();
        let mut pgn =
            pgn(&game, max_ply).ok_or_else(|| game_fault(path, number, "a move is illegal"))?;
        pgn.set_tag("Event", reader.settings());
        pgn.set_tag("Round", number.to_string());
        pgn.set_tag("White", PLAYER);
        pgn.set_tag("Black", PLAYER);
        writeln!(out, "{pgn}")?;
    }
    Ok(())
}

fn moves_of(game: &PlayedGame) -> Vec<Move> {
    game.opening.iter().copied().chain(game.moves.iter().map(|played| played.mv)).collect()
}

/// Converts the first plies and the result of a game. Returns `None` if a move is illegal.
fn pgn(game: &PlayedGame, max_ply: usize) -> Option<PgnGame> {
    let mut position = game.start()?;
    let mut pgn = PgnGame::new(position);
    for mv in moves_of(game).into_iter().take(max_ply) {
        if !position.is_legal(mv) {
            return None;
        }
        position = position.play(mv);
        pgn.moves.push(mv.into());
    }
    pgn.result = match game.half_points {
        2 => GameResult::won_by(Some(Color::White)),
        0 => GameResult::won_by(Some(Color::Black)),
        _ => GameResult::won_by(None),
    };
    Some(pgn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::train::SearchedMove;

    #[test]
    fn truncated_game_keeps_its_result() {
        let chosen = |text: &str| {
            let mv = text.parse().expect(text);
            SearchedMove { mv, score: 0, noisy: false }
        };
        let opening = vec!["f2f3".parse().expect("f2f3")];
        let moves = ["e7e5", "g2g4", "d8h4"].map(chosen).to_vec();
        let game = PlayedGame { opening, moves, ..PlayedGame::default() };
        let text = pgn(&game, 3).expect("legal").to_string();
        assert!(text.ends_with("\n1. f3 e5 2. g4 0-1\n"), "{text}");
        let whole = pgn(&game, usize::MAX).expect("legal").to_string();
        assert!(whole.ends_with("\n1. f3 e5 2. g4 Qh4# 0-1\n"), "{whole}");
        let again = PlayedGame { moves: game.moves.repeat(2), ..game };
        assert!(pgn(&again, usize::MAX).is_none(), "e7e5 twice");
    }
}
