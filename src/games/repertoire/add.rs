//! Adds lines to a repertoire and to the PGN text that it was read from.

use std::ops::Range;

use thiserror::Error;

use super::graph::{Chapter, Place, Repertoire};
use crate::chess::position::{Game, Move, Position};
use crate::games::pgn::{
    Collector, Fault, GameStatus, OpeningCache, PgnGame, PgnInput, PgnMove, TextReader, Variation,
    language_of,
};
use crate::support::words::one_line;

const NEW_CHAPTER: &str = "Repertoire";

/// The reason why a line cannot be added.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AddError {
    /// The line has no moves, or contains a null move.
    #[error("the line has no move to add, or a null move")]
    NoMove,
    /// The repertoire was not read from this text.
    #[error("the text is not that of the repertoire")]
    OtherText,
    /// The chapter to change contains an error. Rewriting the chapter would lose the text after the
    /// error.
    #[error("chapter {0} has a fault: {1}; correct it first")]
    Faulty(u64, Fault),
    /// The changed text would be read as a different repertoire than intended, for example because
    /// other chapters use the piece letters of another language.
    #[error(
        "the changed text would not read the same; `tabia repertoire build` with an output that \
         ends in .pgn writes a file that can be changed"
    )]
    Unreadable,
}

/// The result of [`Repertoire::add_line`].
#[derive(Debug)]
pub struct Addition {
    /// The complete text after the addition. It differs from the old text only in the chapter that
    /// contains the new line.
    pub text: String,
    /// The repertoire, read from the new text.
    pub repertoire: Repertoire,
    /// The number of new moves, which is 0 if only a comment was added.
    pub moves: usize,
}

struct Extent {
    place: Range<usize>,
    status: GameStatus,
}

struct Change {
    /// The index of the chapter to change; `None` to add a new one.
    chapter: Option<usize>,
    game: PgnGame,
    moves: usize,
}

impl Repertoire {
    /// Adds to the repertoire the moves of `line` that it lacks, and a comment on the last position
    /// of the line. `name` and `text` are the name and the text of the input from which the
    /// repertoire was read. Returns `None` if there is nothing to add.
    ///
    /// The moves are added after the line's last position that is in the repertoire, even if the
    /// repertoire reaches that position via a different move order. If there is no such position,
    /// the moves form a new chapter. A comment on a known position is appended to its existing
    /// comment.
    ///
    /// # Errors
    /// If the line has no move or contains a null move, or if the text cannot be changed without
    /// losing other content.
    pub fn add_line(
        &self,
        (name, text): (&str, &str),
        line: &Game,
        comment: &str,
    ) -> Result<Option<Addition>, AddError> {
        let Some(change) = self.change(line, comment)? else { return Ok(None) };
        let text = self.changed_text(text, &change)?;
        let input = PgnInput::Text(name.to_owned(), text.as_bytes().into());
        let repertoire = Repertoire::read(&[input], self.side).map_err(|_| AddError::Unreadable)?;
        match self.is_before(&repertoire, &change) && repertoire.missing_moves(line) == 0 {
            true => Ok(Some(Addition { text, repertoire, moves: change.moves })),
            false => Err(AddError::Unreadable),
        }
    }

    /// Returns how many moves of a line [`Repertoire::add_line`] would add. This is 0 if the
    /// repertoire contains the last move of the line; otherwise, it is the number of moves after
    /// the last position of the line that is in the repertoire.
    pub fn missing_moves(&self, line: &Game) -> usize {
        let moves = line.moves();
        let before = line.positions().get(..moves.len()).unwrap_or_default();
        let last = before.last().and_then(|position| self.node(position));
        if last.is_some_and(|node| node.moves.iter().any(|known| Some(&known.mv) == moves.last())) {
            return 0;
        }
        let known = before.iter().rposition(|position| self.node(position).is_some());
        moves.len() - known.unwrap_or(0)
    }

    fn change(&self, line: &Game, comment: &str) -> Result<Option<Change>, AddError> {
        let moves = line.moves();
        let (Some(&last), false) = (moves.last(), moves.iter().any(|mv| mv.is_null())) else {
            return Err(AddError::NoMove);
        };
        let missing = self.missing_moves(line);
        if missing == 0 {
            let node = self.node(&line.positions()[moves.len() - 1]);
            let known = node.and_then(|node| node.moves.iter().find(|known| known.mv == last));
            let place = known.and_then(|known| known.places.first());
            return place.map_or(Ok(None), |place| self.commented(*place, comment));
        }
        let (old, new) = moves.split_at(moves.len() - missing);
        let new = new_moves(new, comment);
        let Some((chapter, step)) = self.arrival(line.start(), old, &line.positions()[old.len()])
        else {
            let mut game = PgnGame::new(*line.start());
            game.set_tag("Event", NEW_CHAPTER);
            game.moves = new;
            return Ok(Some(Change { chapter: None, game, moves: missing }));
        };
        let mut game = self.sound_game(chapter)?;
        append(&mut game, step, &new).ok_or(AddError::OtherText)?;
        Ok(Some(Change { chapter: Some(chapter), game, moves: missing }))
    }

    fn commented(&self, place: Place, comment: &str) -> Result<Option<Change>, AddError> {
        let chapter = place.chapter as usize;
        let mut game = self.sound_game(chapter)?;
        let (line, at) =
            line_of(&mut game.moves, place.step as usize).ok_or(AddError::OtherText)?;
        let old = &mut line[at].comment;
        let [known, new] = [&*old, comment].map(|text| format!(" {} ", words(text)));
        if comment.is_empty() || known.contains(&new) {
            return Ok(None);
        }
        if !old.is_empty() {
            old.push(' ');
        }
        old.push_str(comment);
        Ok(Some(Change { chapter: Some(chapter), game, moves: 0 }))
    }

    /// Returns a copy of a chapter's game, to be changed. Fails if part of the game could not be
    /// read.
    fn sound_game(&self, chapter: usize) -> Result<PgnGame, AddError> {
        let Chapter { number, game, .. } = &self.chapters[chapter];
        match game.unread().next() {
            Some(unread) => Err(AddError::Faulty(*number, unread.fault.clone())),
            None => Ok(game.clone()),
        }
    }

    /// Returns a chapter that contains a position, and the index of the move that leads to the
    /// position. The index is `None` if the position is the start of the chapter. Prefers a chapter
    /// that reaches the position from `start` via `moves`.
    fn arrival(
        &self,
        start: &Position,
        moves: &[Move],
        position: &Position,
    ) -> Option<(usize, Option<usize>)> {
        let key = position.key();
        let mut first = None;
        for (number, chapter) in self.chapters.iter().enumerate() {
            let is_same_start = chapter.game.start.key() == start.key();
            if chapter.game.start.key() == key {
                if is_same_start && moves.is_empty() {
                    return Some((number, None));
                }
                first = first.or(Some((number, None)));
            }
            for (step, found) in chapter.steps.iter().enumerate() {
                if !found.counts || found.after != key {
                    continue;
                }
                let place = Place { chapter: number as u32, step: step as u32 };
                if is_same_start && self.line(place) == moves {
                    return Some((number, Some(step)));
                }
                first = first.or(Some((number, Some(step))));
            }
        }
        first
    }

    fn changed_text(&self, text: &str, change: &Change) -> Result<String, AddError> {
        let mut written = change.game.to_string();
        let is_windows = text.contains("\r\n");
        if is_windows {
            written = written.replace('\n', "\r\n");
        }
        let Some(chapter) = change.chapter else {
            let newline = if is_windows { "\r\n" } else { "\n" };
            let old = text.trim_end();
            let between = if old.is_empty() { String::new() } else { newline.repeat(2) };
            return Ok(format!("{old}{between}{written}"));
        };
        let number = self.chapters[chapter].number;
        let extents = extents(text);
        let index = usize::try_from(number).map_err(|_| AddError::OtherText)?.checked_sub(1);
        let extent = index.and_then(|index| extents.get(index)).ok_or(AddError::OtherText)?;
        if let GameStatus::Broken(fault) = &extent.status {
            return Err(AddError::Faulty(number, (**fault).clone()));
        }
        let Range { start, end } = extent.place;
        Ok([&text[..start], written.trim_end(), &text[end..]].concat())
    }

    /// Whether `after` differs from this repertoire only by `change`.
    fn is_before(&self, after: &Repertoire, change: &Change) -> bool {
        let olds = self.chapters.iter().map(|chapter| &chapter.game).enumerate();
        let wanted =
            olds.map(|(at, old)| if change.chapter == Some(at) { &change.game } else { old });
        let new = change.chapter.is_none().then_some(&change.game);
        let wanted: Vec<&PgnGame> = wanted.chain(new).collect();
        wanted.len() == after.chapters.len()
            && self.remarks.len() == after.remarks.len()
            && wanted.iter().zip(&after.chapters).all(|(game, found)| is_same(game, &found.game))
    }
}

fn new_moves(moves: &[Move], comment: &str) -> Vec<PgnMove> {
    let mut moves: Vec<PgnMove> = moves.iter().map(|&mv| mv.into()).collect();
    if let Some(last) = moves.last_mut() {
        comment.clone_into(&mut last.comment);
    }
    moves
}

/// Adds moves after move `step` of a game, or at its start if `step` is `None`. If the line ends
/// there, the moves continue it; otherwise, they become the last variation that replaces the next
/// move. Returns `None` if there is no move `step`.
fn append(game: &mut PgnGame, step: Option<usize>, moves: &[PgnMove]) -> Option<()> {
    let (line, at) = match step {
        Some(step) => line_of(&mut game.moves, step).map(|(line, at)| (line, at + 1))?,
        None => (&mut game.moves, 0),
    };
    match line.get_mut(at) {
        Some(next) => {
            next.variations.push(Variation { moves: moves.to_vec(), ..Variation::default() });
        }
        None => line.extend_from_slice(moves),
    }
    Some(())
}

/// Returns the line (main line or variation) that contains a move, and the move's index in that
/// line. `step` is the index of the move in the order of [`PgnGame::visit_tree`]. The game must
/// have been read completely.
fn line_of(moves: &mut Vec<PgnMove>, step: usize) -> Option<(&mut Vec<PgnMove>, usize)> {
    let mut path = Vec::new();
    let at = path_to(moves, step, &mut 0, &mut path)?;
    let line = path.into_iter().try_fold(moves, |line, (at, variation)| {
        Some(&mut line.get_mut(at)?.variations.get_mut(variation)?.moves)
    })?;
    Some((line, at))
}

/// Returns the index of move `step` in its line, and pushes the variations that lead to that line
/// onto `path`. Each variation is given by the index of the move that it replaces and its index
/// among the variations of that move.
fn path_to(
    moves: &[PgnMove],
    step: usize,
    next: &mut usize,
    path: &mut Vec<(usize, usize)>,
) -> Option<usize> {
    for (at, played) in moves.iter().enumerate() {
        if *next == step {
            return Some(at);
        }
        *next += 1;
        for (number, variation) in played.variations.iter().enumerate() {
            path.push((at, number));
            if let Some(found) = path_to(&variation.moves, step, next, path) {
                return Some(found);
            }
            path.pop();
        }
    }
    None
}

/// Returns the location of each game in `text`, excluding the blank lines and other text around it.
fn extents(text: &str) -> Vec<Extent> {
    let bytes = text.as_bytes();
    let mut reader = TextReader::new(bytes, 1, OpeningCache::default(), language_of(bytes));
    let mut extents = Vec::new();
    loop {
        let begin = reader.place();
        let mut collector = Collector::new(Position::start());
        let Some(end) = reader.read_game(&mut collector) else { return extents };
        if end.status == GameStatus::Text {
            continue;
        }
        let game = &text[begin..reader.place()];
        let whole =
            game.trim_start_matches(|letter: char| letter == '\u{feff}' || letter.is_whitespace());
        let has_tags = !collector.game().tags.is_empty() && !whole.starts_with('[');
        let first_tag = if has_tags { whole.find("\n[").map_or(0, |at| at + 1) } else { 0 };
        let start = begin + game.len() - whole.len() + first_tag;
        let place = start..begin + game.trim_end().len();
        extents.push(Extent { place, status: end.status });
    }
}

/// Returns a comment in the form in which the PGN writer outputs it, with braces replaced and white
/// space collapsed.
fn words(comment: &str) -> String {
    let text = one_line(comment).replace('{', "(").replace('}', ")");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a game is unchanged after it was written (`game`) and read back (`other`). Tags that
/// only `other` has are ignored, because the writer adds missing tags of the standard roster.
fn is_same(game: &PgnGame, other: &PgnGame) -> bool {
    let is_written_from_game = |name: &str| ["Result", "FEN", "SetUp"].contains(&name);
    let has = |(name, value): &(String, String)| {
        is_written_from_game(name)
            || other.tag(name).map(words) == game.tag(name).map(words)
            || value.is_empty()
    };
    let tree = |game: &PgnGame| {
        let mut moves = Vec::new();
        game.visit_tree(|at| {
            let comments = [at.comment_before, &at.played.comment].map(words);
            moves.push((at.parent, at.played.mv, at.played.nags.clone(), comments));
        });
        let unread: Vec<String> = game.unread().map(|rest| words(&rest.movetext)).collect();
        (game.start.key(), game.result, words(&game.comment), moves, unread)
    };
    game.tags.iter().all(has) && tree(game) == tree(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Color;

    const NAME: &str = "rep.pgn";

    fn read(text: &str) -> Repertoire {
        let input = PgnInput::Text(NAME.to_owned(), text.as_bytes().into());
        Repertoire::read(&[input], Color::White).expect("readable")
    }

    fn line_from(start: Position, moves: &str) -> Game {
        let mut game = Game::new(start);
        for san in moves.split_whitespace() {
            let mv = game.position().parse_move(san).expect(san);
            game.play(mv).expect("legal");
        }
        game
    }

    fn line(moves: &str) -> Game {
        line_from(Position::start(), moves)
    }

    fn add(text: &str, moves: &str, comment: &str) -> (String, usize) {
        let added = read(text).add_line((NAME, text), &line(moves), comment);
        let added = added.unwrap_or_else(|error| panic!("{moves}: {error}")).expect(moves);
        (added.text, added.moves)
    }

    const TEXT: &str = "; the lines of a club player\n\n[Event \"Main\"]\n[Annotator \"Ünsal\"]\n\n\
        {before [%csl Gd4]} 1. e4 $1 {best [%cal Ge2e4,Rd2d4]} e5 (1... c5 2. Nf3 d6) 2. Nf3 *\n\n\n\
        [Event \"From a position\"]\n[SetUp \"1\"]\n\
        [FEN \"rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\"]\n\n\
        2. exd5 Qxd5 3. Nc3 *\n";

    #[test]
    fn lines_are_added_where_the_repertoire_ends() {
        let (text, moves) = add(TEXT, "e4 c5 Nf3 d6 d4", "open [%cal Gd4d5]");
        assert_eq!(moves, 1);
        let (other, changed) = (&TEXT[TEXT.find("\n\n\n[").expect("there")..], &text);
        assert!(
            changed.ends_with(other) && changed.starts_with("; the lines of a club player\n\n[")
        );
        let flat = changed.replace('\n', " ");
        assert!(flat.contains("2. Nf3 d6 3. d4 {open [%cal Gd4d5]})"), "{changed}");
        for kept in
            ["Annotator \"Ünsal\"", "{before [%csl Gd4]}", "1. e4 $1 {best [%cal Ge2e4,Rd2d4]}"]
        {
            assert!(flat.contains(kept), "{kept}: {changed}");
        }
        let (text, moves) = add(TEXT, "e4 e6 d4", "");
        assert_eq!(moves, 2);
        assert!(text.replace('\n', " ").contains("(1... e6 2. d4)"), "{text}");
        // The second chapter, which starts from the position after 1. e4 d5, contains the position
        // before 3... Qa5.
        let (text, moves) = add(TEXT, "e4 d5 exd5 Qxd5 Nc3 Qa5", "");
        assert_eq!(moves, 1);
        assert!(text.contains("3. Nc3 Qa5 *"), "{text}");
        let (text, _) = add(TEXT, "d4", "");
        assert!(text.replace('\n', " ").contains("(1. d4)"), "{text}");
    }

    #[test]
    fn lines_elsewhere_become_chapters() {
        let start = Position::from_fen("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1").expect("legal");
        for text in ["", "1. e4 *", "\r\n[Event \"x\"]\r\n\r\n1. e4 *\r\n"] {
            let repertoire = read(text);
            let added = repertoire.add_line((NAME, text), &line_from(start, "e4 Kd7"), "");
            let added = added.expect("added").expect("new");
            assert_eq!(
                (added.moves, added.repertoire.chapters.len()),
                (2, repertoire.chapters.len() + 1)
            );
            assert!(added.text.starts_with(text.trim_end()), "{}", added.text);
            assert_eq!(added.text.contains("\r\n"), text.contains('\r'));
            assert!(!added.text.replace("\r\n", "").contains('\r'));
        }
    }

    #[test]
    fn comments_on_known_moves_are_appended_once() {
        let (text, moves) = add(TEXT, "e4", "mine");
        assert_eq!(moves, 0);
        assert!(text.replace('\n', " ").contains("{best [%cal Ge2e4,Rd2d4] mine}"), "{text}");
        let again = read(&text).add_line((NAME, &text), &line("e4"), "mine");
        assert!(again.expect("fine").is_none());
        let part = read(&text).add_line((NAME, &text), &line("e4"), "min");
        assert!(part.expect("fine").is_some(), "part of a word");
        assert!(read(TEXT).add_line((NAME, TEXT), &line("e4 c5"), "").expect("fine").is_none());
    }

    #[test]
    fn what_would_be_lost_is_not_written() {
        let faulty = "1. e4 e5 2. Nd4 {more} Nc6 *\n";
        let refused = |text: &str, moves: &str| {
            read(text).add_line((NAME, text), &line(moves), "").expect_err(moves)
        };
        assert!(matches!(refused(faulty, "e4 c5"), AddError::Faulty(1, _)));
        assert_eq!(refused(TEXT, ""), AddError::NoMove);
        // Adding c4 is refused, because it would be inserted before the part of the variation that
        // cannot be read.
        let broken = "1. e4 (1. d4 d5 2. Kd4 {why}) e5 *\n";
        assert!(matches!(refused(broken, "d4 d5 c4"), AddError::Faulty(1, _)));
        // The variation that replaces the illegal move can be read, but the chapter still cannot be
        // changed, because it contains an error.
        let alternative = "1. e4 (1. d4 Ke4 (1... d5)) e5 2. Nf3 Nc6 *\n";
        for moves in ["e4 e5 Nf3 Nc6 Bb5", "d4 d5 c4", "e4 c5"] {
            assert!(matches!(refused(alternative, moves), AddError::Faulty(1, _)), "{moves}");
        }
        let commented = read(alternative).add_line((NAME, alternative), &line("e4 e5"), "why");
        assert!(matches!(commented, Err(AddError::Faulty(1, _))), "{commented:?}");
        // The changed chapter would be written with English piece letters, but the other chapters
        // use German ones.
        let german = "1. Sf3 Sf6 2. Sc3 Sc6 3. Tb1 e5 *\n\n".repeat(3);
        assert_eq!(refused(&german, "Nf3 d5 d4"), AddError::Unreadable);
        let other = read(TEXT).add_line((NAME, ""), &line("e4 e6"), "");
        assert_eq!(other.expect_err("another text"), AddError::OtherText);
    }

    proptest::proptest! {
        /// Adding a random line to a text with variations keeps all moves that the text contained.
        #[test]
        fn additions_change_nothing_else(seeds in proptest::collection::vec(0_usize..1000, 1..12)) {
            let mut game = Game::new(Position::start());
            for seed in seeds {
                let legal = game.position().legal_moves();
                let Some(mv) = legal.iter().nth(seed % legal.iter().count().max(1)) else { break };
                game.play(mv).expect("legal");
            }
            let repertoire = read(TEXT);
            let added = repertoire.add_line((NAME, TEXT), &game, "why").expect("no fault");
            if let Some(added) = added {
                let node = added.repertoire.node(game.position()).expect("added");
                proptest::prop_assert!(node.comments.iter().any(|text| text.contains("why")));
                for node in repertoire.nodes() {
                    let found = added.repertoire.node(&node.position).expect("kept");
                    let has = |mv| found.moves.iter().any(|other| other.mv == mv);
                    proptest::prop_assert!(node.moves.iter().all(|known| has(known.mv)));
                }
            }
        }
    }
}
