//! Opening names, looked up by position so that transpositions get the same name.

use serde::Serialize;

use crate::chess::position::{Game, KeyMap, Move, Position};
use crate::games::pgn::read_games;

/// The named openings in PGN. They are also used to build the embedded book. See `books/README.md`.
static EMBEDDED: &[u8] = include_bytes!("../../../../books/openings.pgn");

/// A position with an opening name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedOpening {
    /// The code from the *Encyclopaedia of Chess Openings*, such as `B90`.
    pub eco: String,
    /// The name, such as `Sicilian Defense: Najdorf Variation`.
    pub name: String,
    /// A commonly played sequence of moves from the start position to the opening.
    #[serde(skip)]
    pub line: Vec<Move>,
}

/// Opening names by position.
#[derive(Debug, Default)]
pub struct Names {
    openings: Vec<NamedOpening>,
    by_key: KeyMap<u32>,
}

impl Names {
    /// Parses the 3,807 built-in opening names. Each call takes milliseconds, so callers should
    /// keep the result.
    pub fn embedded() -> Names {
        Self::read(EMBEDDED)
    }

    fn read(pgn: &[u8]) -> Self {
        let mut names = Names::default();
        for (game, _) in read_games(pgn).flatten() {
            let (Some(eco), Some(name)) = (game.tag("ECO"), game.tag("Opening")) else { continue };
            let line: Vec<Move> = game.moves.iter().map(|played| played.mv).collect();
            let last = line.iter().fold(game.start, |position, &mv| position.play(mv));
            let number = names.openings.len() as u32;
            names.by_key.entry(last.key()).or_insert(number);
            names.openings.push(NamedOpening { eco: eco.to_owned(), name: name.to_owned(), line });
        }
        names
    }

    /// Returns the name of this position, regardless of how it was reached.
    pub fn get(&self, position: &Position) -> Option<&NamedOpening> {
        self.by_key.get(&position.key()).map(|&number| &self.openings[number as usize])
    }

    /// Returns the opening name of a game: the name of the last position in it that has one.
    pub fn of_game(&self, game: &Game) -> Option<&NamedOpening> {
        game.positions().iter().rev().find_map(|position| self.get(position))
    }

    /// Finds an opening by ECO code or name, ignoring case and apostrophes. Returns the first
    /// opening with this code, or if there is none, the opening with the shortest name that
    /// contains `text`.
    pub fn find(&self, text: &str) -> Option<&NamedOpening> {
        let wanted = normalised(text);
        let by_code = self.openings.iter().find(|opening| opening.eco.to_lowercase() == wanted);
        by_code.or_else(|| {
            let fits = |opening: &&NamedOpening| normalised(&opening.name).contains(&wanted);
            self.openings.iter().filter(fits).min_by_key(|opening| opening.name.chars().count())
        })
    }
}

fn normalised(text: &str) -> String {
    text.to_lowercase().replace(['\'', '’'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(moves: &str) -> Game {
        let mut game = Game::default();
        for san in moves.split_ascii_whitespace() {
            let mv = game.position().parse_move(san).expect(san);
            game.play(mv).expect(san);
        }
        game
    }

    #[test]
    fn opening_name_does_not_depend_on_move_order() {
        let names = Names::embedded();
        assert_eq!(names.openings.len(), 3807);
        for (moves, eco, name) in [
            ("e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6", "B90", "Sicilian Defense: Najdorf Variation"),
            ("Nf3 c5 e4 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6", "B90", "Sicilian Defense: Najdorf Variation"),
            ("c4 e6 d4 d5", "D30", "Queen's Gambit Declined"),
            ("e4 e5 Nf3 Nc6 Bb5 a6 h3", "C70", "Ruy Lopez: Morphy Defense"),
        ] {
            let opening = names.of_game(&game(moves)).expect(moves);
            assert_eq!((opening.eco.as_str(), opening.name.as_str()), (eco, name), "{moves}");
        }
        assert_eq!(names.of_game(&Game::default()), None);
    }

    #[test]
    fn openings_are_found_by_name_or_eco_code() {
        let names = Names::embedded();
        let name = |text| names.find(text).map(|opening| opening.name.as_str());
        assert_eq!(name("najdorf"), Some("Sicilian Defense: Najdorf Variation"));
        assert_eq!(name("Ruy Lopez"), Some("Ruy Lopez"));
        for text in ["queens gambit", "Queen's Gambit", "QUEEN’S GAMBIT"] {
            assert_eq!(name(text), Some("Queen's Gambit"), "{text}");
        }
        assert_eq!(name("b01"), Some("Scandinavian Defense"));
        assert_eq!(name("no such opening"), None);
    }
}
