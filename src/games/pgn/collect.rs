//! Builds complete games, including variations, from PGN text.

use std::io::{self, Read};
use std::ops::ControlFlow;

use super::game::{PgnGame, Unread, Variation};
use super::parser::Parser;
use super::scan::{self, line_sign};
use super::state::ReaderState;
use super::tags::text;
use super::tree::OpeningCache;
use super::visitor::{GamePly, VariationText, Visitor};
use super::{Fault, FaultReason, GameEnd, GameStatus, Reader, Tags};
use crate::chess::position::Position;

/// The maximum nesting depth of variations. It limits recursion. Studies rarely exceed a depth of
/// ten.
const MAX_NESTING: usize = 100;

/// Reads all games in an input. Each game comes with a [`GameEnd`], which contains any error.
///
/// Games of chess variants are returned without moves. Text between games is skipped.
pub fn read_games<R: Read>(input: R) -> impl Iterator<Item = io::Result<(PgnGame, GameEnd)>> {
    let mut reader = Reader::new(input);
    std::iter::from_fn(move || {
        loop {
            let mut collector = Collector::new(Position::start());
            match reader.read_game(&mut collector).transpose()? {
                Ok(end) if end.status == GameStatus::Text => {}
                end => {
                    let game = collector.game;
                    return Some(end.map(|end| (PgnGame { result: end.result, ..game }, end)));
                }
            }
        }
    })
}

pub(crate) struct Collector {
    pub(super) game: PgnGame,
    /// The number of moves replayed so far and the position after them. Later positions are
    /// computed from here, so that no move is replayed twice.
    place: (usize, Position),
}

impl Collector {
    pub(crate) fn new(start: Position) -> Self {
        Collector { game: PgnGame::new(start), place: (0, start) }
    }

    pub(crate) fn game(&self) -> &PgnGame {
        &self.game
    }

    /// Returns the position after the first `end` moves of the game. `end` must not decrease
    /// between calls.
    fn position_after(&mut self, end: usize) -> Position {
        let (begin, position) = &mut self.place;
        for played in &self.game.moves[*begin..end] {
            *position = position.try_play(played.mv).unwrap_or(*position);
        }
        *begin = end;
        *position
    }
}

impl Visitor for Collector {
    fn begin(&mut self, tags: &Tags, start: &Position) -> ControlFlow<()> {
        self.game.start = *start;
        self.place = (0, *start);
        self.game.tags =
            tags.iter().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        ControlFlow::Continue(())
    }

    fn played(&mut self, ply: &GamePly) -> ControlFlow<()> {
        self.game.moves.push(ply.mv.into());
        ControlFlow::Continue(())
    }

    fn comment(&mut self, comment: &[u8]) {
        let target = match self.game.moves.last_mut() {
            Some(mv) => &mut mv.comment,
            None => &mut self.game.comment,
        };
        if !target.is_empty() {
            target.push(' ');
        }
        target.push_str(text(comment).trim());
    }

    fn nag(&mut self, nag: u8) {
        if let Some(mv) = self.game.moves.last_mut() {
            mv.nags.push(nag);
        }
    }

    fn variation(&mut self, movetext: &VariationText<'_>) {
        let before_last = self.position_after(self.game.moves.len().saturating_sub(1));
        let variation = movetext.read(&before_last);
        if let Some(mv) = self.game.moves.last_mut()
            && variation != Variation::default()
        {
            mv.variations.push(variation);
        }
    }

    fn unread(&mut self, fault: &Fault, movetext: &VariationText<'_>) {
        let position = self.position_after(self.game.moves.len());
        let fault = Fault { line: 0, ..fault.clone() };
        self.game.unread = Some(Box::new(movetext.unread(fault, &position)));
    }

    fn end(&mut self, _end: &GameEnd) {}
}

impl<'a> VariationText<'a> {
    /// Reads the moves of the variation. `start` is the position before the move that the variation
    /// replaces.
    pub(crate) fn read(&self, start: &Position) -> Variation {
        if self.depth >= MAX_NESTING {
            let unread = self.unread(Fault::of(FaultReason::Nesting), start);
            return Variation { unread: Some(Box::new(unread)), ..Variation::default() };
        }
        let mut state =
            ReaderState::new(OpeningCache::default(), self.language, line_sign(self.text));
        state.begin_at(start);
        let mut visitor = Collector::new(*start);
        let mut parser = Parser {
            text: self.text,
            at: 0,
            state: &mut state,
            visitor: &mut visitor,
            number: None,
            at_end: false,
            depth: self.depth + 1,
        };
        // Results and empty lines do not end a variation, so continue reading after them.
        let mut fault = None;
        while let ControlFlow::Break(status) = parser.movetext() {
            if let GameStatus::Broken(found) = status {
                fault = Some((*found, parser.at));
                break;
            }
        }
        let unread = fault.map(|(fault, at)| {
            let rest = VariationText { text: &self.text[at..], depth: self.depth + 1, ..*self };
            Box::new(rest.unread(fault, &visitor.position_after(visitor.game.moves.len())))
        });
        let (comment, moves) = (visitor.game.comment, visitor.game.moves);
        Variation { comment, moves, unread }
    }

    /// Returns the rest of a line as text, because its first token is an error in `position`. If
    /// the error is an illegal move, also reads the variations that replace this move.
    fn unread(&self, fault: Fault, position: &Position) -> Unread {
        let movetext = in_one_line(&text(self.text));
        let variations = fault.san.iter().flat_map(|_| self.variations_of_first());
        let variations = variations.map(|variation| variation.read(position)).collect();
        Unread { fault, movetext, variations }
    }

    fn variations_of_first(&self) -> Vec<VariationText<'a>> {
        let (text, mut found) = (self.text, Vec::new());
        let mut at = scan::chunk_end(text, 0);
        loop {
            at = scan::skip_blanks(text, at).0;
            let after = match text.get(at) {
                Some(b'(') => scan::variation_end(text, at),
                Some(b'{') => scan::comment(text, at).map(|(_, after)| after),
                Some(b';') => Some(scan::line_end(text, at)),
                Some(b'!' | b'?' | b'$') => Some(scan::whole_word_end(text, at + 1)),
                _ => None,
            };
            let Some(after) = after else { return found };
            if text[at] == b'(' {
                found.push(VariationText { text: &text[at + 1..after - 1], ..*self });
            }
            at = after;
        }
    }
}

/// Joins movetext into one line. Comments that begin with `;` and run to the end of a line are
/// converted to comments in braces.
fn in_one_line(movetext: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut left = movetext;
    while let Some(at) = left.find(['{', ';']) {
        let (before, comment) = left.split_at(at);
        words.extend(before.split_whitespace().map(kept_word));
        let end = if comment.starts_with('{') { '}' } else { '\n' };
        let (text, after) = comment[1..].split_once(end).unwrap_or((&comment[1..], ""));
        let text: Vec<&str> = text.split_whitespace().collect();
        words.push(format!("{{{}}}", text.join(" ").replace('}', ")")));
        left = after;
    }
    words.extend(left.split_whitespace().map(kept_word));
    words.join(" ")
}

/// Modifies a word of unread movetext so that the movetext stays the same when it is written and
/// read back. Unmodified, a control character would split the word, and an opening bracket at the
/// beginning of a line would begin a tag.
fn kept_word(word: &str) -> String {
    let word = word.replace(char::is_control, "\u{fffd}");
    if word.starts_with('[') { format!(".{word}") } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;
    fn read(text: &str) -> PgnGame {
        read_games(text.as_bytes()).next().expect("a game").expect("readable").0
    }

    fn tree(game: &PgnGame) -> Vec<(Option<usize>, String)> {
        let mut moves = Vec::new();
        game.visit_tree(|at| moves.push((at.parent, at.before.san(at.played.mv))));
        moves
    }

    #[test]
    fn tree_is_visited_in_the_order_of_the_text() {
        let game = read("1. e4 (1. d4 d5 (1... Nf6) 2. c4) 1... c5 (1... e5 2. Nf3) 2. Nc3 *\n");
        let expected = [
            (None, "e4"),
            (None, "d4"),
            (Some(1), "d5"),
            (Some(1), "Nf6"),
            (Some(2), "c4"),
            (Some(0), "c5"),
            (Some(0), "e5"),
            (Some(6), "Nf3"),
            (Some(5), "Nc3"),
        ];
        assert_eq!(tree(&game), expected.map(|(parent, san)| (parent, san.to_owned())));
        assert_eq!(tree(&read(&game.to_string())), tree(&game));
    }

    #[test]
    fn faults_in_variations_lose_nothing_else() {
        let text = "1. e4 (1. d4 Ke4 {why [%cal Ga1a2]} (x) 2. c4) ({only words}) 1... e5 \
                    (1... -- 2. d4 Z0) 2. Nf3 1-0\n";
        let game = read(text);
        assert_eq!(game.moves.len(), 3);
        let faults: Vec<String> = game.unread().map(|rest| rest.fault.to_string()).collect();
        assert_eq!(faults.len(), 2);
        assert!(faults[0].contains("Ke4") && !faults[0].contains("line"), "{faults:?}");
        let written = game.to_string();
        assert!(written.contains("(1. d4 Ke4 {why [%cal Ga1a2]} (x) 2. c4)"), "{written}");
        assert!(written.contains("({only words})"), "{written}");
        assert_eq!(read(&written).moves, game.moves);
    }

    #[test]
    fn variations_around_an_illegal_move_are_read() {
        // The texts contain illegal moves in the main line, in variations and in nested variations,
        // some of them at the start of a line.
        for (text, expected) in [
            (
                "1. e4 (1. d4 d5) e5 2. Nf4 (2. Nf3 Nc6 (2... d6)) (2. d4) Nc6 (2... d5) 3. d4",
                "e4 d4 d5 e5 Nf3 Nc6 d6 d4",
            ),
            ("1. Ke2 $2 {bad} (1. d4 d5) e5 (1... c5)", "d4 d5"),
            (
                "1. e4 (1. Nf5 d5 (1... e6)) (1. d4) e5 (1... Ke7 (1... c5 2. Nf3) 2. Bc4) (1... e6)",
                "e4 d4 e5 c5 Nf3 e6",
            ),
            (
                "1. e4 (1. d4 d5 (1... Ke3 2. c4) (1... Nf6 2. Ke3 (2. c4)) 2. c4) e5",
                "e4 d4 d5 Nf6 c4 c4 e5",
            ),
            ("1. e4 xyz (1... e5 2. Z1 (2. Nf3)) (1... c5)", "e4 e5 Nf3 c5"),
        ] {
            for ending in ["", " *", " 1-0", "\n\n[Event \"next\"]\n\n1. a3 *"] {
                let game = read(&format!("[Event \"?\"]\n\n{text}{ending}\n"));
                let sans: Vec<String> = tree(&game).into_iter().map(|(_, san)| san).collect();
                assert_eq!(sans.join(" "), expected, "{text}{ending}");
                let written = game.to_string();
                let again = read(&written);
                assert_eq!((tree(&again), &again.moves), (tree(&game), &game.moves), "{written}");
                assert_eq!(again.to_string(), written, "{text}{ending}");
                let rest = game.unread.map_or_else(String::new, |rest| rest.movetext);
                assert!(!rest.contains("1-0") && !rest.ends_with('*'), "{rest}");
            }
        }
    }

    #[test]
    fn text_after_an_illegal_move_never_becomes_a_tag_or_move() {
        for (text, sans) in [
            ("1. e4 Ke4 [White \"A\"] 1. d4", "e4"),
            ("1. Ke4 [x] e5 {[%csl Gd4]}", ""),
            ("N\u{6}f3! (f4 e5) 2. d4", "f4 e5"),
            ("1. e4 e\u{1b}5 (c5 2. N\u{7f}f3) 2. d4", "e4 c5"),
            ("1. e4 (1. d4 Ke4 [Event \"B\"] d5) e5 2. Nf3", "e4 d4 e5 Nf3"),
        ] {
            let game = read(&format!("[Event \"?\"]\n\n{text} *\n"));
            let found: Vec<String> = tree(&game).into_iter().map(|(_, san)| san).collect();
            assert_eq!(found.join(" "), sans, "{text}");
            let written = game.to_string();
            let again = read(&written);
            assert_eq!(tree(&again), tree(&game), "{written}");
            assert_eq!(again.to_string(), written, "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_not_read_but_kept() {
        let (depth, mut text) = (5 * MAX_NESTING, String::from("1. e4"));
        (0..depth).for_each(|_| text += " (1. d4");
        text += &")".repeat(depth);
        let game = read(&(text.clone() + " *\n"));
        assert_eq!(game.unread().count(), 1);
        assert_eq!(tree(&game).len(), 1 + MAX_NESTING);
        let written = game.to_string().replace('\n', " ");
        assert!(written.contains(&text), "{written}");
    }

    #[test]
    fn variations_use_the_language_of_the_game() {
        let game =
            read("1. Sf3 Sf6 (1... d5 2. g3 (2. Lb5 c6) Lg4) 2. g3 Lb7 1-0\n\n1. Sf3 Sc6 1-0\n");
        assert_eq!(tree(&game)[2..4], [(Some(0), "d5".to_owned()), (Some(2), "g3".to_owned())]);
    }

    #[test]
    fn long_lists_of_arrows_stay_in_one_line() {
        let arrows = vec!["Ga1a2"; 40].join(", ");
        let game = read(&format!("1. e4 (1. d4 {{[%cal {arrows}] good}}) e5 *\n"));
        assert!(game.to_string().contains(&format!("{{[%cal {arrows}]")), "{game}");
    }

    #[test]
    fn variations_are_preserved() {
        let text = "1. e4 (1. d4 {a (\n b} d5 (1... Nf6 $1) ; to the } end\n 2. c4) e5 (1... c5) \
                    (1... e6!) 2. Nf3 *\n";
        let (game, _) = read_games(text.as_bytes()).next().expect("a game").expect("read");
        let first = "1. d4 {a ( b} 1... d5 {to the ) end} (1... Nf6 $1) 2. c4";
        assert_eq!(game.moves[0].variations[0].movetext(&Position::start()), first);
        let written = game.to_string();
        let words = written.replace('\n', " ");
        let all = format!("1. e4 ({first}) 1... e5 (1... c5) (1... e6 $1) 2. Nf3");
        assert!(words.contains(&all), "{words}");
        let mut games = read_games(written.as_bytes());
        let (again, _) = games.next().expect("a game").expect("read");
        assert_eq!(again.to_string(), written);
        assert!(games.next().is_none() && games.next().is_none(), "the end is final");
    }
}
