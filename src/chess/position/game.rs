//! A game: its start position, the moves played, and its outcome.

use thiserror::Error;

use super::{Color, Move, Position};

/// The number of plies without a capture or pawn move after which a draw can be claimed.
const FIFTY_MOVES: u16 = 100;

/// The error returned if a move is illegal in the current position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("illegal move: {0}")]
pub struct IllegalMove(pub Move);

/// The outcome, under the rules of chess, of a game that has ended or in which a draw can be
/// claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// The winner; `None` if the game is drawn.
    pub winner: Option<Color>,
    /// The rule that ended the game or that allows the draw claim.
    pub reason: OutcomeReason,
}

/// A rule that ends a game or allows a draw claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeReason {
    /// The side to move is mated.
    Checkmate,
    /// The side to move is not in check but has no legal move.
    Stalemate,
    /// Neither side has enough material to mate.
    InsufficientMaterial,
    /// Each side has played fifty moves without a capture or pawn move.
    FiftyMoves,
    /// The position has occurred for the third time.
    Repetition,
}

impl Outcome {
    /// Returns the PGN result: `1-0`, `0-1` or `1/2-1/2`.
    pub fn result(self) -> &'static str {
        match self.winner {
            Some(Color::White) => "1-0",
            Some(Color::Black) => "0-1",
            None => "1/2-1/2",
        }
    }
}

/// A start position and the moves played from it.
#[derive(Debug, Clone)]
pub struct Game {
    /// All positions from the start to the current one. There is one more position than there are
    /// `moves`.
    positions: Vec<Position>,
    moves: Vec<Move>,
}

impl Game {
    /// Creates a game that begins at `start`.
    pub fn new(start: Position) -> Self {
        Game { positions: vec![start], moves: Vec::new() }
    }

    /// Returns the position in which the game began.
    pub fn start(&self) -> &Position {
        &self.positions[0]
    }

    /// Returns the current position.
    pub fn position(&self) -> &Position {
        &self.positions[self.moves.len()]
    }

    /// Returns all positions from the start to the current one.
    pub fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// Returns the moves played so far.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Plays a move, which may be a null move.
    ///
    /// # Errors
    /// If the move is illegal, in which case the game is unchanged.
    pub fn play(&mut self, mv: Move) -> Result<(), IllegalMove> {
        let next = self.position().try_play(mv).ok_or(IllegalMove(mv))?;
        self.positions.push(next);
        self.moves.push(mv);
        Ok(())
    }

    /// Undoes the last move and returns it. Returns `None` if no move has been played.
    pub fn undo(&mut self) -> Option<Move> {
        let mv = self.moves.pop()?;
        self.positions.pop();
        Some(mv)
    }

    /// Returns how many times the current position has occurred in the game, including now.
    pub fn repetitions(&self) -> usize {
        let current = self.position();
        self.positions
            .iter()
            .rev()
            .take(usize::from(current.halfmove_clock()) + 1)
            .step_by(2)
            .filter(|position| position.key() == current.key())
            .count()
    }

    /// Returns the outcome if the game has ended or if a draw can be claimed.
    pub fn outcome(&self) -> Option<Outcome> {
        let position = self.position();
        let draw = |reason| Some(Outcome { winner: None, reason });
        if position.has_no_moves() {
            if position.in_check() {
                let winner = Some(!position.side_to_move());
                return Some(Outcome { winner, reason: OutcomeReason::Checkmate });
            }
            return draw(OutcomeReason::Stalemate);
        }
        if position.insufficient_material() {
            return draw(OutcomeReason::InsufficientMaterial);
        }
        if position.halfmove_clock() >= FIFTY_MOVES {
            return draw(OutcomeReason::FiftyMoves);
        }
        if self.repetitions() >= 3 {
            return draw(OutcomeReason::Repetition);
        }
        None
    }
}

impl Default for Game {
    fn default() -> Self {
        Game::new(Position::start())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(game: &mut Game, moves: &str) {
        for text in moves.split(' ') {
            let mv = game.position().parse_move(text).expect(text);
            game.play(mv).expect(text);
        }
    }

    #[test]
    fn threefold_repetition_ends_the_game() {
        let mut game = Game::default();
        play(&mut game, "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1");
        assert_eq!((game.repetitions(), game.outcome()), (2, None));
        play(&mut game, "Ng8");
        assert_eq!(game.repetitions(), 3);
        let reason = OutcomeReason::Repetition;
        assert_eq!(game.outcome(), Some(Outcome { winner: None, reason }));
        game.undo();
        assert_eq!(game.outcome(), None);
    }

    #[test]
    fn checkmate_and_stalemate_have_different_outcomes() {
        let mut game = Game::default();
        play(&mut game, "f3 e5 g4 Qh4");
        let reason = OutcomeReason::Checkmate;
        assert_eq!(game.outcome(), Some(Outcome { winner: Some(Color::Black), reason }));
        assert_eq!(game.outcome().map(Outcome::result), Some("0-1"));
        let stalemate = Position::from_fen("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1").expect("legal");
        let reason = OutcomeReason::Stalemate;
        assert_eq!(Game::new(stalemate).outcome(), Some(Outcome { winner: None, reason }));
    }

    #[test]
    fn checkmate_takes_precedence_over_the_fifty_move_rule() {
        let fen = "7k/8/6K1/8/8/8/8/R7 w - - 99 80";
        let mut quiet = Game::new(Position::from_fen(fen).expect(fen));
        let mut mate = quiet.clone();
        play(&mut quiet, "Ra2");
        assert_eq!(quiet.outcome().map(|outcome| outcome.reason), Some(OutcomeReason::FiftyMoves));
        play(&mut mate, "Ra8");
        assert_eq!(mate.outcome().map(|outcome| outcome.reason), Some(OutcomeReason::Checkmate));
    }

    #[test]
    fn illegal_move_leaves_the_game_unchanged() {
        let mut game = Game::default();
        let mv: Move = "e2e5".parse().expect("a move");
        assert_eq!(game.play(mv), Err(IllegalMove(mv)));
        assert_eq!((game.moves().len(), game.positions().len()), (0, 1));
    }
}
