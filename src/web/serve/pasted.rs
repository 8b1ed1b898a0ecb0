//! Reads text pasted into the page: a position, moves or a game.

use super::api_error::ApiError;
use super::games::GameAnswer;
use crate::chess::position::Position;
use crate::games::pgn::{GameStatus, PgnGame, read_games};
use crate::support::words::is_space;

/// Reads a FEN or, if the text is not a FEN, the first game or list of moves in it.
pub(crate) fn read(text: &str) -> Result<GameAnswer, ApiError> {
    let (game, status) = read_game(text)?;
    Ok(GameAnswer::new(&game, &status))
}

/// Like [`read`], but returns the game and whether it was read completely.
pub(crate) fn read_game(text: &str) -> Result<(PgnGame, GameStatus), ApiError> {
    let text = text.trim_matches(is_space);
    let as_fen = Position::from_fen_repaired(text);
    if let Ok(position) = as_fen {
        return Ok((PgnGame::new(position), GameStatus::Read));
    }
    let game = read_games(text.as_bytes()).find_map(Result::ok);
    match (game, as_fen) {
        (Some((game, end)), _) if !game.moves.is_empty() || !game.tags.is_empty() => {
            Ok((game, end.status))
        }
        // Text with seven or more slashes is treated as a FEN even if it is invalid, so that the
        // error message explains what is wrong with the FEN.
        (_, Err(error)) if text.matches('/').count() >= 7 => {
            Err(ApiError::bad_request(error.to_string()))
        }
        _ => Err(ApiError::bad_request(
            "this is no position (FEN), no game (PGN) and no list of moves",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(text: &str) -> String {
        serde_json::to_string(&read(text).expect(text)).expect("JSON")
    }

    #[test]
    fn pasted_positions_moves_and_games_are_recognised() {
        let fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
        assert!(reported(fen).contains(fen));
        for text in [
            "1. e4 e5 2. Nf3",
            "e4 e5 Nf3",
            "e2e4 e7e5 g1f3",
            "[White \"A\"]\n\n1. e4 e5 2. Nf3 *\n",
        ] {
            let reported = reported(text);
            assert!(
                reported.contains("g1f3") && reported.contains("\"fault\":null"),
                "{text}: {reported}"
            );
        }
        assert!(
            reported("1. e4 e5 2. Nd4").contains("illegal move Nd4"),
            "{}",
            reported("1. e4 e5 2. Nd4")
        );
    }

    #[test]
    fn invalid_text_is_rejected_with_a_reason() {
        for (text, named) in [
            ("", "no position"),
            ("hello", "no position"),
            ("9/8/8/8/8/8/8/8 w - -", "unexpected '9'"),
        ] {
            let error = read(text).expect_err(text).text;
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
