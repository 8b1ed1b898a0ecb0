//! Parses the query parameters of a request.

use std::borrow::Cow;
use std::str::FromStr;

use axum::http::Uri;

use super::api_error::ApiError;
use super::limits::{MAX_PLAY, MAX_QUERY};
use crate::chess::position::{Game, Move, Position, UCI_NULL};

/// The characters that are escaped in a value of a query. Commas separate items and stay readable.
const ESCAPED: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b',').remove(b'-');

fn decoded(text: &str) -> Result<String, ApiError> {
    let spaced = text.replace('+', " ");
    let decoded = percent_encoding::percent_decode_str(&spaced).decode_utf8();
    decoded.map(Cow::into_owned).map_err(|_| ApiError::bad_request("the query is not UTF-8"))
}

/// The parameters of a request that have not been read yet.
#[derive(Debug)]
pub(crate) struct Query {
    rest: Vec<(String, String)>,
}

impl Query {
    /// Parses the query of a URI.
    ///
    /// # Errors
    ///
    /// Fails if the query is too long, is not UTF-8, or contains a parameter twice.
    pub(crate) fn of(uri: &Uri) -> Result<Self, ApiError> {
        let text = uri.query().unwrap_or_default();
        if text.len() > MAX_QUERY {
            let length = text.len();
            return Err(ApiError::bad_request(format!(
                "the query has {length} bytes: at most {MAX_QUERY} are read"
            )));
        }
        let mut rest: Vec<(String, String)> = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decoded(name)?, decoded(value)?);
            if rest.iter().any(|(other, _)| *other == name) {
                return Err(ApiError::bad_request(format!(
                    "the parameter {name:?} is given twice"
                )));
            }
            rest.push((name, value));
        }
        Ok(Query { rest })
    }

    /// Removes a parameter and returns its text. Returns `None` if the parameter is absent.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        let at = self.rest.iter().position(|(other, _)| other == name)?;
        Some(self.rest.swap_remove(at).1)
    }

    /// Returns those of the named parameters that have not been read yet, in the order of the names,
    /// as a part of a query.
    pub(crate) fn part(&self, names: &[&str]) -> String {
        let find = |name: &&str| self.rest.iter().find(|(other, _)| other == name);
        let pair = |(name, value): &(String, String)| {
            format!("{name}={}", percent_encoding::utf8_percent_encode(value, ESCAPED))
        };
        let pairs: Vec<String> = names.iter().filter_map(find).map(pair).collect();
        pairs.join("&")
    }

    /// Removes a parameter and parses it. `what` describes the expected value in error messages.
    pub(crate) fn read<T: FromStr>(
        &mut self,
        name: &str,
        what: &str,
    ) -> Result<Option<T>, ApiError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match text.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(ApiError::bad_request(format!("{name}={text:?}: expected {what}"))),
        }
    }

    /// Removes a parameter and parses it as an integer from `least` to `most`, inclusive.
    pub(crate) fn number(
        &mut self,
        name: &str,
        (least, most): (u64, u64),
    ) -> Result<Option<u64>, ApiError> {
        let what = format!("a whole number from {least} to {most}");
        let number: Option<u64> = self.read(name, &what)?;
        match number.filter(|number| !(least..=most).contains(number)) {
            Some(number) => Err(ApiError::bad_request(format!("{name}={number}: expected {what}"))),
            None => Ok(number),
        }
    }

    /// Removes a parameter and parses it as a boolean: `true`, `false`, or a variant that Lichess
    /// clients use, such as `True`, `1` or `on`.
    pub(crate) fn flag(&mut self, name: &str) -> Result<Option<bool>, ApiError> {
        match self.text(name).as_deref().map(str::to_ascii_lowercase).as_deref() {
            None => Ok(None),
            Some("true" | "1" | "on") => Ok(Some(true)),
            Some("false" | "0" | "off") => Ok(Some(false)),
            Some(text) => {
                Err(ApiError::bad_request(format!("{name}={text:?}: expected true or false")))
            }
        }
    }

    /// Removes a parameter and parses it as a comma-separated list. As in Lichess's explorer, an
    /// empty list is treated as absent.
    pub(crate) fn list<T: FromStr>(&mut self, name: &str, what: &str) -> Result<Vec<T>, ApiError> {
        let text = self.text(name).unwrap_or_default();
        let read = |part: &str| {
            let wrong =
                |_| ApiError::bad_request(format!("{name}={text:?}: {part:?} is not {what}"));
            part.parse().map_err(wrong)
        };
        text.split(',').filter(|part| !part.is_empty()).map(read).collect()
    }

    /// Reads the parameters `fen`, a start position, and `play`, the moves played from it.
    pub(crate) fn game(&mut self) -> Result<Game, ApiError> {
        let start = match self.text("fen").filter(|fen| !fen.trim().is_empty()) {
            Some(fen) => Position::from_fen_repaired(&fen)
                .map_err(|error| ApiError::bad_request(format!("fen={fen:?}: {error}")))?,
            None => Position::start(),
        };
        let mut game = Game::new(start);
        let play = self.text("play").unwrap_or_default();
        for (number, word) in play.split(',').filter(|word| !word.is_empty()).enumerate() {
            if number >= MAX_PLAY {
                return Err(ApiError::bad_request(format!(
                    "play: at most {MAX_PLAY} moves are read"
                )));
            }
            let mv = read_uci(game.position(), word).ok_or_else(|| {
                let fen = game.position().fen();
                ApiError::bad_request(format!("play: {word:?} is no legal move in {fen}"))
            })?;
            game.play(mv).map_err(|error| ApiError::bad_request(format!("play: {error}")))?;
        }
        Ok(game)
    }

    /// Returns an error if any parameter has not been read, because the endpoint does not support
    /// it.
    pub(crate) fn finish(self) -> Result<(), ApiError> {
        match self.rest.first() {
            Some((name, _)) => Err(ApiError::bad_request(format!(
                "there is no parameter {name:?}: /openapi.json has them all"
            ))),
            None => Ok(()),
        }
    }
}

/// Parses a legal move in UCI notation. Castling may also be written as the king capturing its own
/// rook.
pub(crate) fn read_uci(position: &Position, word: &str) -> Option<Move> {
    let mv = if word == UCI_NULL { Move::NULL } else { word.parse().ok()? };
    if position.try_play(mv).is_some() {
        return Some(mv);
    }
    let is_it =
        |castling: &Move| position.is_castling(*castling) && with_rook(position, *castling) == word;
    position.legal_moves().iter().find(is_it)
}

/// Formats a move as in Lichess's explorer, where castling is written as the king capturing its own
/// rook.
pub(crate) fn with_rook(position: &Position, mv: Move) -> String {
    let text = mv.to_string();
    if !position.is_castling(mv) {
        return text;
    }
    match text.as_str() {
        "e1g1" => "e1h1",
        "e1c1" => "e1a1",
        "e8g8" => "e8h8",
        _ => "e8a8",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Result<Query, ApiError> {
        Query::of(&format!("/book?{text}").parse().expect("an address"))
    }

    #[test]
    fn positions_are_parsed_with_their_moves() {
        let game =
            query("play=e2e4,e7e5,g1f3,b8c6,f1c4,f8c5,e1h1").expect("fine").game().expect("legal");
        assert_eq!(game.moves().last().map(Move::to_string).as_deref(), Some("e1g1"));
        let fen = "fen=4k3/8/8/8/8/8/8/4K2R_w_K_-_0_1&play=e1g1";
        assert!(
            query(fen)
                .expect("fine")
                .game()
                .expect("legal")
                .position()
                .fen()
                .starts_with("4k3/8/8/8/8/8/8/5RK1 b")
        );
        let error = query("play=e2e4,e2e4").expect("fine").game().expect_err("illegal").text;
        assert!(error.contains("\"e2e4\" is no legal move in rnbq"), "{error}");
    }

    #[test]
    fn part_of_a_query_has_the_named_parameters_in_order() {
        let mut query = query("play=e2e4&until=2009-12&x=1&ratings=2200,2500").expect("fine");
        query.game().expect("legal");
        assert_eq!(query.part(&["ratings", "since", "until"]), "ratings=2200,2500&until=2009-12");
        assert_eq!(query.part(&["since"]), "");
    }

    #[test]
    fn castling_is_parsed_and_printed_in_both_forms() {
        let position = Position::from_fen("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1").expect("legal");
        for (with, own) in [("e8h8", "e8g8"), ("e8a8", "e8c8")] {
            let mv = read_uci(&position, with).expect(with);
            assert_eq!((mv.to_string().as_str(), with_rook(&position, mv).as_str()), (own, with));
            assert_eq!(read_uci(&position, own), Some(mv));
        }
        assert_eq!(read_uci(&position, "e1g1"), None);
    }

    #[test]
    fn escapes_are_decoded() {
        let mut read = query("&a+b=%2B%26%3d&&empty&flag=").expect("fine");
        let values = ["a b", "empty", "flag", "none"].map(|name| read.text(name));
        let expected = [Some("+&="), Some(""), Some(""), None];
        assert_eq!(values.each_ref().map(|value| value.as_deref()), expected);
    }

    #[test]
    fn error_names_the_bad_parameter() {
        for (text, named) in [
            ("a=%ff", "not UTF-8"),
            ("%c3=1", "not UTF-8"),
            ("a=1&%61=2", "twice"),
            ("a=1&a=2", "twice"),
            ("moves=x", "whole number from 0 to 9"),
            ("moves=10", "whole number from 0 to 9"),
            ("nonsense=1", "no parameter \"nonsense\""),
        ] {
            let read = query(text).and_then(|mut query| {
                query.number("moves", (0, 9))?;
                query.finish()
            });
            let error = read.expect_err(text).text;
            assert!(error.contains(named), "{text}: {error}");
        }
        assert!(query(&format!("fen={}", "8".repeat(MAX_QUERY))).is_err());
        let long = "e2e4,".repeat(MAX_PLAY);
        assert!(query(&format!("play={long}")).expect("fits").game().is_err());
    }
}
