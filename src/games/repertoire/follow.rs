//! Compares games with a repertoire or a book, and finds the moves that leave, enter or return to
//! it.

use super::forecast::GapKind;
use super::graph::Repertoire;
use crate::chess::position::{Move, Position};
use crate::games::book::Book;

/// How a move leaves or enters a repertoire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// The player plays a move that is not among the repertoire's moves in this position.
    Deviation,
    /// The game leaves the repertoire because the repertoire is incomplete: it lacks the opponent's
    /// reply or an answer to it.
    Gap(GapKind),
    /// The game returns to the repertoire by transposition.
    Return,
    /// A game that starts outside the repertoire reaches it for the first time.
    Entry,
}

impl EventKind {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Deviation => "deviation",
            EventKind::Gap(kind) => kind.name(),
            EventKind::Return => "return",
            EventKind::Entry => "entry",
        }
    }

    /// Whether the game leaves the repertoire.
    pub fn leaves(self) -> bool {
        matches!(self, EventKind::Deviation | EventKind::Gap(_))
    }
}

/// A move that leaves a repertoire or leads into it.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The kind of event.
    pub kind: EventKind,
    /// The number of plies before the move.
    pub ply: usize,
    /// The position before the move.
    pub position: Position,
    /// The move.
    pub mv: Move,
}

/// The events in a game, in order. A move that deviates but leads back to the repertoire causes two
/// events, a deviation and a return.
#[derive(Debug, Clone, PartialEq)]
pub struct Followed {
    /// The events.
    pub events: Vec<Event>,
    /// Whether any position of the game is in the repertoire.
    pub is_met: bool,
    /// Whether the last position of the game is in the repertoire.
    pub ends_inside: bool,
}

impl Followed {
    /// Returns the event for the first move that leaves the repertoire, if any.
    pub fn first_leave(&self) -> Option<&Event> {
        self.events.iter().find(|event| event.kind.leaves())
    }

    /// Returns the name of the first event that leaves the repertoire. Returns `followed` if no
    /// event leaves it, and `not met` if the game never reaches the repertoire.
    pub fn outcome(&self) -> &'static str {
        match self.first_leave() {
            Some(event) => event.kind.name(),
            None if self.is_met => "followed",
            None => "not met",
        }
    }
}

impl Repertoire {
    /// Compares a game with the repertoire position by position, up to the first null or illegal
    /// move. An opponent's reply does not leave the repertoire if it leads to a position in the
    /// repertoire, even if no line contains the reply.
    pub fn follow(&self, start: &Position, moves: &[Move]) -> Followed {
        follow(self, start, moves)
    }
}

/// Compares a game with a book, like [`Repertoire::follow`]. A book does not belong to one side, so
/// no move is a deviation. Games leave the book with [`GapKind::Reply`] or, where the book has no
/// moves, with [`GapKind::End`].
pub fn follow_book(book: &Book, start: &Position, moves: &[Move]) -> Followed {
    follow(book, start, moves)
}

trait Known {
    fn moves(&self, position: &Position) -> Option<Vec<Move>>;
    /// Returns true if it is the player's turn, so that an unknown move is a deviation rather than
    /// a gap.
    fn is_own_turn(&self, position: &Position) -> bool;
}

impl Known for Repertoire {
    fn moves(&self, position: &Position) -> Option<Vec<Move>> {
        Some(self.node(position)?.moves.iter().map(|known| known.mv).collect())
    }

    fn is_own_turn(&self, position: &Position) -> bool {
        Repertoire::is_own_turn(self, position)
    }
}

impl Known for Book {
    fn moves(&self, position: &Position) -> Option<Vec<Move>> {
        self.reached(position)?;
        let moves = Book::moves(self, position).into_iter();
        Some(moves.filter(|known| !known.played.is_empty()).map(|known| known.mv).collect())
    }

    fn is_own_turn(&self, _: &Position) -> bool {
        false
    }
}

fn follow(lines: &impl Known, start: &Position, moves: &[Move]) -> Followed {
    let (mut position, mut events) = (*start, Vec::new());
    let mut known = lines.moves(start);
    let mut is_met = known.is_some();
    for (ply, &mv) in moves.iter().enumerate() {
        let Some(next) = position.try_play(mv).filter(|_| !mv.is_null()) else { break };
        let mut add = |kind| events.push(Event { kind, ply, position, mv });
        let known_next = lines.moves(&next);
        let leave = known
            .as_ref()
            .and_then(|known| leave(known, mv, lines.is_own_turn(&position), known_next.is_some()));
        leave.into_iter().for_each(&mut add);
        if known_next.is_some() && (known.is_none() || leave.is_some()) {
            add(if is_met { EventKind::Return } else { EventKind::Entry });
        }
        (position, known) = (next, known_next);
        is_met |= known.is_some();
    }
    Followed { events, is_met, ends_inside: known.is_some() }
}

/// Returns how a move leaves the known lines, or `None` if it does not. `known` contains the known
/// moves in the position before the move, and `leads_inside` is true if the position after the move
/// is known.
fn leave(known: &[Move], mv: Move, is_own_turn: bool, leads_inside: bool) -> Option<EventKind> {
    if known.contains(&mv) && leads_inside {
        return None;
    }
    match (is_own_turn, known.is_empty()) {
        (true, false) => Some(EventKind::Deviation),
        _ if leads_inside => None,
        (true, true) => Some(EventKind::Gap(GapKind::DeadEnd)),
        (false, false) => Some(EventKind::Gap(GapKind::Reply)),
        (false, true) => Some(EventKind::Gap(GapKind::End)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Color;
    use crate::games::book::{BuildOptions, build_in_memory};
    use crate::games::pgn::{PgnInput, read_games};

    fn repertoire(text: &str, side: Color) -> Repertoire {
        let input = PgnInput::Text("text".to_owned(), text.as_bytes().into());
        Repertoire::read(&[input], side).expect("readable")
    }

    fn follow(repertoire: &Repertoire, text: &str) -> Followed {
        let (game, _) = read_games(text.as_bytes()).next().expect("a game").expect("readable");
        let moves: Vec<Move> = game.moves.iter().map(|played| played.mv).collect();
        repertoire.follow(&game.start, &moves)
    }

    fn events(repertoire: &Repertoire, text: &str) -> Vec<(&'static str, usize, String)> {
        let event = |event: &Event| (event.kind.name(), event.ply, event.position.san(event.mv));
        follow(repertoire, text).events.iter().map(event).collect()
    }

    fn event(name: &'static str, ply: usize, san: &str) -> (&'static str, usize, String) {
        (name, ply, san.to_owned())
    }

    const LINES: &str =
        "1. d4 Nf6 (1... d5 2. c4 e6 3. Nc3) 2. c4 e6 (2... g6) 3. Nc3 Bb4 4. e3 *\n";

    #[test]
    fn each_way_to_leave_has_its_kind() {
        let white = repertoire(LINES, Color::White);
        for (game, leave) in [
            ("1. d4 Nf6 2. Nf3 e6 *", event("deviation", 2, "Nf3")),
            ("1. d4 f5 2. c4 *", event("reply", 1, "f5")),
            ("1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. e3 O-O 5. Nf3 *", event("end", 7, "O-O")),
            ("1. d4 Nf6 2. c4 g6 3. Nc3 *", event("dead end", 4, "Nc3")),
        ] {
            assert_eq!(events(&white, game), [leave], "{game}");
            let followed = follow(&white, game);
            assert!(followed.is_met && !followed.ends_inside);
            assert_eq!(followed.outcome(), followed.events[0].kind.name());
        }
        let followed = follow(&white, "1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. e3 *");
        assert!(followed.events.is_empty() && followed.ends_inside);
        assert_eq!((followed.outcome(), followed.first_leave()), ("followed", None));
        let black = repertoire(LINES, Color::Black);
        assert_eq!(events(&black, "1. d4 f5 *"), [event("deviation", 1, "f5")]);
        assert_eq!(events(&black, "1. d4 Nf6 2. Nf3 *"), [event("reply", 2, "Nf3")]);
        assert_eq!(events(&black, "1. d4 d5 2. c4 e6 3. Nc3 Nf6 *"), [event("dead end", 5, "Nf6")]);
    }

    #[test]
    fn returns_by_transposition_are_events() {
        let white = repertoire(LINES, Color::White);
        assert_eq!(
            events(&white, "1. c4 Nf6 2. d4 e6 3. Nf3 Bb4 4. Nc3 *"),
            [event("deviation", 0, "c4"), event("return", 2, "d4"), event("deviation", 4, "Nf3")]
        );
        let followed = follow(&white, "1. d4 e6 2. c4 Nf6 3. Nc3 Bb4 4. e3 b6 *");
        let kinds: Vec<&str> = followed.events.iter().map(|event| event.kind.name()).collect();
        assert_eq!(kinds, ["reply", "return", "end"]);
        assert_eq!((followed.outcome(), followed.events[1].ply), ("reply", 3));
        // No line contains 3... Nf6 after 1... d5 2. c4 e6 3. Nc3, so the game leaves the
        // repertoire.
        assert_eq!(events(&white, "1. d4 d5 2. c4 e6 3. Nc3 Nf6 *"), [event("end", 5, "Nf6")]);
    }

    #[test]
    fn move_between_lines_is_a_deviation_only_for_the_player() {
        let lines = "1. d4 e6 2. c4 *\n\n1. c4 e6 2. Nf3 *\n\n1. d4 Nf6 2. c4 e6 3. Nc3 *\n";
        let white = repertoire(lines, Color::White);
        // After 1. c4 e6, 2. d4 is not in the repertoire, but it leads to a position in the first
        // chapter.
        let game = "1. c4 e6 2. d4 Nf6 3. Nc3 *";
        assert_eq!(events(&white, game), [event("deviation", 2, "d4"), event("return", 2, "d4")]);
        // After 1. d4 e6 2. c4, no line contains 2... Nf6, but it leads to a position in the third
        // chapter.
        let followed = follow(&white, "1. d4 e6 2. c4 Nf6 3. Nc3 *");
        assert!(followed.events.is_empty() && followed.ends_inside);
        let black = repertoire("1. d4 Nf6 *\n\n1. c4 e6 2. d4 Nf6 *\n", Color::Black);
        assert_eq!(
            events(&black, "1. d4 Nf6 2. c4 e6 *"),
            [event("end", 2, "c4"), event("return", 3, "e6")]
        );
    }

    #[test]
    fn redundant_lines_do_not_matter() {
        let twice = format!("{LINES}\n1. c4 e6 2. d4 Nf6 3. Nc3 Bb4 *\n");
        let white = repertoire(&twice, Color::White);
        let game = "1. c4 e6 2. d4 Nf6 3. Nc3 Bb4 4. Qc2 *";
        assert_eq!(events(&white, game), [event("deviation", 6, "Qc2")]);
    }

    #[test]
    fn games_from_other_positions_may_enter_the_repertoire() {
        let game = "[FEN \"rnbqkbnr/pppppppp/8/8/2P5/8/PP1PPPPP/RNBQKBNR b KQkq - 0 1\"]\n\n1... Nf6 2. d4 g6 *";
        let white = repertoire(LINES, Color::White);
        assert_eq!(events(&white, game), [event("entry", 1, "d4")]);
        assert_eq!(follow(&white, game).outcome(), "followed");
        let other = "[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e4 *";
        assert_eq!(follow(&white, other).outcome(), "not met");
        assert!(!follow(&white, other).is_met);
        assert!(events(&white, "1. d4 -- 2. e4 *").is_empty());
    }

    #[test]
    fn books_are_followed_like_their_lines() {
        let input = [PgnInput::Text("lines".to_owned(), LINES.as_bytes().into())];
        let options = BuildOptions::of_repertoire();
        let (book, _) = build_in_memory(&input, &options, "lines").expect("a book");
        let white = Repertoire::of_book(&book, Color::White, &[Position::start()]);
        let game = "1. c4 Nf6 2. d4 e6 3. Nf3 Bb4 4. Nc3 *";
        assert_eq!(events(&white, game), events(&repertoire(LINES, Color::White), game));
    }

    #[test]
    fn games_leave_books_without_a_side() {
        let input = [PgnInput::Text("games".to_owned(), LINES.as_bytes().into())];
        let options = BuildOptions::of_repertoire();
        let (book, _) = build_in_memory(&input, &options, "games").expect("a book");
        let events = |text: &str| -> Vec<(&'static str, usize)> {
            let (game, _) = read_games(text.as_bytes()).next().expect("a game").expect("readable");
            let moves: Vec<Move> = game.moves.iter().map(|played| played.mv).collect();
            let followed = follow_book(&book, &game.start, &moves);
            followed.events.iter().map(|event| (event.kind.name(), event.ply)).collect()
        };
        assert_eq!(events("1. d4 Nf6 2. c4 e6 *"), []);
        assert_eq!(
            events("1. c4 Nf6 2. d4 e6 3. Nf3 *"),
            [("reply", 0), ("return", 2), ("reply", 4)]
        );
        assert_eq!(events("1. d4 Nf6 2. c4 g6 3. Nc3 Bg7 *"), [("end", 4)]);
    }
}
