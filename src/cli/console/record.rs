//! The game that the console will save.

use crate::chess::position::{Color, Game, Move, Position};
use crate::games::pgn::{GameResult, PgnGame, PgnMove};

#[derive(Debug, Clone, Default)]
pub(super) struct Players {
    /// The user's name; empty if unknown.
    pub(super) name: String,
    pub(super) engine_rating: Option<u32>,
    pub(super) user_rating: Option<u32>,
}

/// The whole game, including any moves after the position on the board. Stepping back in the game
/// does not remove moves.
#[derive(Debug, Clone)]
pub(super) struct Record {
    game: PgnGame,
    /// The side that Tabia played when it made its most recent move.
    engine: Option<Color>,
    unsaved: bool,
}

impl Record {
    pub(super) fn new(start: Position, date: String) -> Self {
        let mut game = PgnGame::new(start);
        game.set_tag("Date", date);
        Record { game, engine: None, unsaved: false }
    }

    pub(super) fn loaded(game: PgnGame) -> Self {
        Record { game, engine: None, unsaved: false }
    }

    pub(super) fn is_unsaved(&self) -> bool {
        self.unsaved && !self.game.moves.is_empty()
    }

    pub(super) fn saved(&mut self) {
        self.unsaved = false;
    }

    pub(super) fn len(&self) -> usize {
        self.game.moves.len()
    }

    pub(super) fn move_after(&self, plies: usize) -> Option<Move> {
        self.game.moves.get(plies).map(|played| played.mv)
    }

    /// Returns true if the moves on the board deviate from the recorded game.
    pub(super) fn is_left_by(&self, moves: &[Move]) -> bool {
        let common = self.common(moves);
        common < self.len() && common < moves.len()
    }

    /// Records the moves on the board. Changes nothing if the user is only stepping through the
    /// recorded game.
    pub(super) fn follow(&mut self, moves: &[Move]) {
        let common = self.common(moves);
        if common < moves.len() {
            self.cut(common);
            self.game.moves.extend(moves[common..].iter().map(|&mv| PgnMove::from(mv)));
            self.unsaved = true;
        }
    }

    pub(super) fn cut(&mut self, plies: usize) {
        self.game.moves.truncate(plies);
        self.game.result = GameResult::Undecided;
    }

    fn common(&self, moves: &[Move]) -> usize {
        self.game.moves.iter().zip(moves).take_while(|(own, mv)| own.mv == **mv).count()
    }

    pub(super) fn played_by_engine(&mut self, side: Color) {
        self.engine = Some(side);
    }

    pub(super) fn set_result(&mut self, result: GameResult) {
        self.unsaved |= self.game.result != result;
        self.game.result = result;
    }

    /// Returns the recorded result or, if there is none, the result by the rules of chess.
    pub(super) fn result(&self) -> GameResult {
        if self.game.result != GameResult::Undecided {
            return self.game.result;
        }
        let outcome = self.replay().outcome();
        outcome.map_or(GameResult::Undecided, |outcome| GameResult::won_by(outcome.winner))
    }

    pub(super) fn replay(&self) -> Game {
        self.game.replay()
    }

    /// Returns the game with PGN tags for the players and the time control. If Tabia has not moved
    /// yet, `side` is the side it is going to play. `control` is the value of the `TimeControl` tag
    /// for games that were not loaded from a file.
    pub(super) fn pgn(&self, players: &Players, side: Option<Color>, control: &str) -> PgnGame {
        let mut game = self.game.clone();
        game.result = self.result();
        let Some(engine) = self.engine.or(side) else { return game };
        if game.tag("White").is_none() && game.tag("Black").is_none() {
            game.set_tag("TimeControl", control);
        }
        let tags = [("White", "WhiteElo"), ("Black", "BlackElo")];
        for (color, (name, rating)) in [Color::White, Color::Black].into_iter().zip(tags) {
            let is_engine = color == engine;
            let user = if players.name.is_empty() { "?" } else { &players.name };
            if game.tag(name).is_none() {
                game.set_tag(name, if is_engine { "Tabia" } else { user });
                let value = if is_engine { players.engine_rating } else { players.user_rating };
                if let Some(value) = value {
                    game.set_tag(rating, value.to_string());
                }
            }
        }
        game
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moves(text: &str) -> Vec<Move> {
        text.split(' ').map(|word| word.parse().expect(word)).collect()
    }

    fn record() -> Record {
        Record::new(Position::start(), "2026.01.31".to_owned())
    }

    #[test]
    fn going_back_keeps_later_moves_until_another_move_is_played() {
        let mut record = record();
        assert!(!record.is_unsaved());
        record.follow(&moves("e2e4 e7e5 g1f3"));
        assert!(record.is_unsaved());
        record.saved();
        record.set_result(GameResult::White);
        record.saved();
        assert!(!record.is_left_by(&moves("e2e4")));
        record.follow(&moves("e2e4"));
        assert_eq!((record.len(), record.is_unsaved()), (3, false));
        assert_eq!(record.result(), GameResult::White);
        let other = moves("e2e4 c7c5");
        assert!(record.is_left_by(&other));
        record.follow(&other);
        assert_eq!((record.len(), record.is_unsaved()), (2, true));
        assert_eq!(record.result(), GameResult::Undecided);
    }

    #[test]
    fn result_follows_from_checkmate_if_not_set() {
        let mut record = record();
        record.follow(&moves("f2f3 e7e5 g2g4 d8h4"));
        assert_eq!(record.result(), GameResult::Black);
    }

    #[test]
    fn loaded_player_names_are_kept() {
        let mut record = record();
        record.follow(&moves("e2e4 e7e5"));
        record.played_by_engine(Color::Black);
        let players =
            Players { name: "Ben".to_owned(), engine_rating: Some(2000), user_rating: Some(1500) };
        let game = record.pgn(&players, None, "40/300");
        let names = ["White", "Black", "WhiteElo", "BlackElo", "TimeControl", "Date"];
        let tags = names.map(|name| game.tag(name));
        let expected = ["Ben", "Tabia", "1500", "2000", "40/300", "2026.01.31"];
        assert_eq!(tags, expected.map(Some));
        let game = Record::loaded(game).pgn(&Players::default(), Some(Color::White), "9");
        assert_eq!((game.tag("White"), game.tag("Black")), (Some("Ben"), Some("Tabia")));
        assert_eq!(game.tag("TimeControl"), Some("40/300"), "the file's own");
    }
}
