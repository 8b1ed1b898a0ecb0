//! Writes a repertoire as games with variations. If several lines lead to a position, its
//! continuation is written only once.

use super::graph::{KnownMove, Node, Repertoire};
use super::lines::Lines;
use crate::chess::position::{KeyMap, Move, Position};
use crate::games::book::{Book, Names};
use crate::games::pgn::{PgnGame, PgnMove, Variation};

/// A chapter with more moves than this is split. This many moves fill about two pages. The value
/// was not tuned.
const CHAPTER_MOVES: usize = 150;
/// When a chapter is split, a branch becomes its own chapter if it has more moves than this.
const BRANCH_MOVES: usize = CHAPTER_MOVES / 4;
const NAMED_MOVES: usize = 4;

impl Repertoire {
    /// Returns the moves that are not in [`Repertoire::chapters`], as games with variations. The
    /// continuation of each position is written only once, in the most probable line to the
    /// position. Other lines to the position end with a comment `see …`. A long chapter is split by
    /// its first moves. Chapters are named after their openings.
    pub fn new_chapters(&self, book: &Book, names: &Names) -> Vec<PgnGame> {
        let lines = self.lines(book);
        let mut tree = Tree { repertoire: self, lines, names, branches: KeyMap::default() };
        for node in self.nodes() {
            let branches = tree.branches_of(node, book);
            tree.branches.insert(node.position.key(), branches);
        }
        let mut chapters = Vec::new();
        for key in tree.lines.starts.clone() {
            tree.measure(key);
            tree.divide(&mut Vec::new(), key, &mut chapters);
        }
        chapters
    }
}

/// The moves of a repertoire as a tree. If several lines lead to a position, the moves after it are
/// contained only in the most probable of these lines.
struct Tree<'a> {
    repertoire: &'a Repertoire,
    lines: Lines,
    names: &'a Names,
    /// The branches of each position, by position key, in the order in which they are written.
    branches: KeyMap<Vec<Branch>>,
}

#[derive(Debug, Clone, Copy)]
struct Branch {
    mv: Move,
    after: u64,
    /// Whether the most probable line to the position `after` ends with this move. If several lines
    /// reach that position, its continuation is written only in the most probable one.
    is_line: bool,
    is_new: bool,
    /// The number of moves to write from this move on; 0 if all of them are already in existing
    /// chapters.
    moves: usize,
}

impl Tree<'_> {
    fn branches_of(&self, node: &Node, book: &Book) -> Vec<Branch> {
        let (key, known) = (node.position.key(), &node.moves);
        let find = |mv: Move| known.iter().find(|known: &&KnownMove| known.mv == mv);
        let mut choices = self.repertoire.all_choices(node, book);
        choices.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let branch = |known: &KnownMove| {
            let after = node.position.play(known.mv).key();
            let is_line = self.lines.ends_with(key, known.mv, after);
            Branch { mv: known.mv, after, is_line, is_new: known.places.is_empty(), moves: 0 }
        };
        let choices = choices.into_iter().filter_map(|(mv, _)| find(mv));
        let mut branches: Vec<Branch> = choices.map(branch).collect();
        branches.sort_by_key(|branch| !branch.is_line);
        branches
    }

    /// Counts the moves to write for each branch below a position. Returns the total for the
    /// position.
    fn measure(&mut self, key: u64) -> usize {
        let mut branches = self.branches.remove(&key).unwrap_or_default();
        for branch in &mut branches {
            let below = if branch.is_line { self.measure(branch.after) } else { 0 };
            branch.moves = if branch.is_new || below > 0 { 1 + below } else { 0 };
        }
        let moves = branches.iter().map(|branch| branch.moves).sum();
        self.branches.insert(key, branches);
        moves
    }

    fn open(&self, key: u64) -> Vec<Branch> {
        let branches = self.branches.get(&key).into_iter().flatten();
        branches.copied().filter(|branch| branch.moves > 0).collect()
    }

    fn divide(&self, path: &mut Vec<Move>, key: u64, chapters: &mut Vec<PgnGame>) {
        let branches = self.open(key);
        let moves: usize = branches.iter().map(|branch| branch.moves).sum();
        if moves == 0 {
            return;
        }
        if moves <= CHAPTER_MOVES {
            chapters.push(self.chapter(path, key, &branches, false));
            return;
        }
        let (mut rest, mut of_rest) = (Vec::new(), 0);
        for branch in branches {
            if branch.moves > BRANCH_MOVES {
                path.push(branch.mv);
                self.divide(path, branch.after, chapters);
                path.pop();
                continue;
            }
            if of_rest + branch.moves > CHAPTER_MOVES {
                chapters.push(self.chapter(path, key, &rest, true));
                (rest, of_rest) = (Vec::new(), 0);
            }
            of_rest += branch.moves;
            rest.push(branch);
        }
        if !rest.is_empty() {
            chapters.push(self.chapter(path, key, &rest, true));
        }
    }

    fn chapter(&self, path: &[Move], key: u64, branches: &[Branch], is_part: bool) -> PgnGame {
        let (start, _) = self.lines.line(self.repertoire, key);
        let mut game = PgnGame::new(start);
        game.moves = path.iter().map(|&mv| PgnMove::from(mv)).collect();
        let replay = game.replay();
        game.moves.extend(self.moves(branches.to_vec()));
        let opening = self.names.of_game(&replay);
        let mut name = opening.map_or_else(String::new, |opening| format!("{}: ", opening.name));
        name += &text(&start, path);
        if is_part {
            let sans = branches.iter().map(|branch| replay.position().san(branch.mv));
            let mut sans: Vec<String> = sans.take(NAMED_MOVES).collect();
            if branches.len() > NAMED_MOVES {
                sans.push("…".to_owned());
            }
            name += &format!(" ({})", sans.join(", "));
        }
        if name.is_empty() {
            name += "Repertoire";
        }
        game.set_tag("Event", name.trim());
        game.set_tag("ChapterName", name.trim());
        if let Some(opening) = opening {
            game.set_tag("ECO", opening.eco.clone());
            game.set_tag("Opening", opening.name.clone());
        }
        game
    }

    /// Converts the branches of a position to moves, with the first branch as the main line and the
    /// others as variations.
    fn moves(&self, mut branches: Vec<Branch>) -> Vec<PgnMove> {
        let mut moves = Vec::new();
        while let Some((first, others)) = branches.split_first() {
            let mut main = self.played(first);
            let variation = |branch: &Branch| {
                let mut moves = vec![self.played(branch)];
                if branch.is_line {
                    moves.extend(self.moves(self.open(branch.after)));
                }
                Variation { moves, ..Variation::default() }
            };
            main.variations = others.iter().map(variation).collect();
            moves.push(main);
            branches = if first.is_line { self.open(first.after) } else { Vec::new() };
        }
        moves
    }

    /// Returns the move of a branch. If its continuation is written in a different line, adds a
    /// comment `see …` that names this line.
    fn played(&self, branch: &Branch) -> PgnMove {
        let next = self.repertoire.node_of_key(branch.after);
        let known = next.and_then(|node| node.moves.iter().find(|known| !known.places.is_empty()));
        let comment = match known {
            _ if branch.is_line && branch.moves > 1 => String::new(),
            // The continuation is in a chapter of the input. Such chapters keep their names, so the
            // comment can refer to the chapter by name.
            Some(known) => {
                let place = known.places[0];
                let mut line = self.repertoire.line(place);
                line.pop();
                let chapter = self.repertoire.chapter(place);
                format!("see {}: {}", chapter.name(), text(&chapter.game.start, &line))
            }
            None if branch.is_line => String::new(),
            None => {
                let (start, line) = self.lines.line(self.repertoire, branch.after);
                format!("see {}", text(&start, &line))
            }
        };
        PgnMove { comment, ..PgnMove::from(branch.mv) }
    }
}

fn text(start: &Position, moves: &[Move]) -> String {
    moves.iter().copied().collect::<Variation>().movetext(start)
}
