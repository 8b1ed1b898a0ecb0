//! The positions of a repertoire, and the chapters that contain them.

use crate::chess::position::{Color, KeyMap, Move, Position};
use crate::games::book::Book;
use crate::games::pgn::{PgnGame, TreeMove};

/// The prepared opening moves of one side and the opponent's replies, by position.
#[derive(Debug, Clone)]
pub struct Repertoire {
    /// The side whose moves are prepared.
    pub side: Color,
    /// The games of the PGN input, in order; empty if the repertoire was read from a book.
    pub chapters: Vec<Chapter>,
    /// Remarks on the parts of the input that could not be used, in the order of the input.
    pub remarks: Vec<Remark>,
    /// The book from which the repertoire was read, if any.
    pub book: Option<Book>,
    nodes: Vec<Node>,
    index: KeyMap<u32>,
    /// The nodes at which chapters start, without duplicates.
    starts: Vec<u32>,
}

/// A game in a repertoire, with its variations.
#[derive(Debug, Clone)]
pub struct Chapter {
    /// The name of the input, as given.
    pub file: String,
    /// The 1-based number of the game in its input.
    pub number: u64,
    /// The game as it was read.
    pub game: PgnGame,
    /// All moves of the main line and the variations, in movetext order.
    pub steps: Vec<Step>,
}

/// A move in a chapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The index of the previous move in the line; `None` at the start of the chapter.
    pub parent: Option<u32>,
    /// The move.
    pub mv: Move,
    /// The key of the position before the move.
    pub before: u64,
    /// The key of the position after the move.
    pub after: u64,
    /// Whether the move is part of the repertoire. Null moves and the moves that follow them are
    /// not.
    pub counts: bool,
}

/// The location of a move: indices into [`Repertoire::chapters`] and [`Chapter::steps`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The chapter.
    pub chapter: u32,
    /// The move.
    pub step: u32,
}

/// A position in a repertoire.
#[derive(Debug, Clone)]
pub struct Node {
    /// The position. Its move number is taken from the first line in the input that reaches it.
    pub position: Position,
    /// The moves in this position, in text order, or by frequency if they were read from a book.
    pub moves: Vec<KnownMove>,
    /// The comments on the position without duplicates, in text order. Arrows and marked squares
    /// are included as `[%cal …]` and `[%csl …]`.
    pub comments: Vec<String>,
}

/// A move in a position, for either side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownMove {
    /// The move, which is legal.
    pub mv: Move,
    /// How often the move is chosen, relative to the other moves in the position. If the repertoire
    /// was read from a book of games, this is the number of games with the move, which can be 0 for
    /// an opponent's move that merely leads to a position in the book. Otherwise, it is 1, even if
    /// several chapters contain the move.
    pub weight: u64,
    /// The numeric annotation glyphs that the move has anywhere in the repertoire, without
    /// duplicates.
    pub nags: Vec<u8>,
    /// The places in the chapters where the move occurs, in text order.
    pub places: Vec<Place>,
}

/// A remark on a part of the input that could not be added to the repertoire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The name of the input.
    pub file: String,
    /// The 1-based number of the game in its input.
    pub number: u64,
    /// The kind of remark.
    pub kind: RemarkKind,
    /// The details, such as an illegal move and the position before it.
    pub text: String,
    /// Whether the whole game is missing from [`Repertoire::chapters`].
    pub is_left_out: bool,
}

/// The kinds of remarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemarkKind {
    /// Reading a line of a game stopped at an error. The other lines of the game were read.
    Fault,
    /// A null move. The chapter keeps the moves after it, but they are not part of the repertoire.
    NullMove,
    /// A game of a chess variant.
    Variant,
}

impl RemarkKind {
    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            RemarkKind::Fault => "fault",
            RemarkKind::NullMove => "null move",
            RemarkKind::Variant => "variant",
        }
    }
}

impl Chapter {
    /// Returns the chapter's name: the `ChapterName` tag or, failing that, the players, the event
    /// or the chapter's number.
    pub fn name(&self) -> String {
        let tag = |name| self.game.tag(name).filter(|value| !value.is_empty() && *value != "?");
        let players = || match (tag("White"), tag("Black")) {
            (Some(white), Some(black)) => Some(format!("{white} - {black}")),
            (name, None) | (None, name) => name.map(str::to_owned),
        };
        let name = tag("ChapterName").map(str::to_owned).or_else(players);
        name.or_else(|| tag("Event").map(str::to_owned))
            .unwrap_or_else(|| format!("chapter {}", self.number))
    }
}

impl Repertoire {
    /// Creates an empty repertoire.
    pub fn new(side: Color) -> Self {
        Repertoire {
            side,
            chapters: Vec::new(),
            remarks: Vec::new(),
            book: None,
            nodes: Vec::new(),
            index: KeyMap::default(),
            starts: Vec::new(),
        }
    }

    /// Iterates over all positions of the repertoire, in the order in which its lines first reach
    /// them.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter()
    }

    /// Returns the node for a position, or `None` if the repertoire does not contain the position.
    pub fn node(&self, position: &Position) -> Option<&Node> {
        self.node_of_key(position.key())
    }

    /// Returns the node of the position with this Zobrist key, or `None` if the repertoire does not
    /// contain the position.
    pub fn node_of_key(&self, key: u64) -> Option<&Node> {
        self.index.get(&key).map(|&place| &self.nodes[place as usize])
    }

    /// Returns the number of positions.
    pub fn positions(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if the repertoire's side is to move in this position and the repertoire
    /// contains a move for it.
    pub fn answers(&self, position: &Position) -> bool {
        self.is_own_turn(position) && self.node(position).is_some_and(|node| !node.moves.is_empty())
    }

    /// Returns true if it is the repertoire's side to move in this position.
    pub fn is_own_turn(&self, position: &Position) -> bool {
        position.side_to_move() == self.side
    }

    /// Iterates over the start positions of the repertoire's lines. If the standard start position
    /// is one of them, returns only that one, because normal games begin there.
    pub fn starts(&self) -> impl Iterator<Item = &Node> {
        let usual = self.index.get(&Position::start().key());
        let usual = usual.filter(|place| self.starts.contains(place));
        let starts = usual.map_or(&self.starts[..], std::slice::from_ref);
        starts.iter().map(|&place| &self.nodes[place as usize])
    }

    pub(super) fn all_starts(&self) -> impl Iterator<Item = &Node> {
        self.starts.iter().map(|&place| &self.nodes[place as usize])
    }

    /// Iterates over the positions in which the repertoire contains more than one move for its own
    /// side.
    pub fn conflicts(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| self.is_own_turn(&node.position) && node.moves.len() > 1)
    }

    /// Returns the chapter of a place.
    pub fn chapter(&self, place: Place) -> &Chapter {
        &self.chapters[place.chapter as usize]
    }

    /// Returns the moves from the start of the chapter up to and including the move at a place.
    pub fn line(&self, place: Place) -> Vec<Move> {
        let steps = &self.chapter(place).steps;
        let mut line = Vec::new();
        let mut next = Some(place.step);
        while let Some(step) = next.map(|step| &steps[step as usize]) {
            line.push(step.mv);
            next = step.parent;
        }
        line.reverse();
        line
    }

    pub(super) fn add_start(&mut self, position: &Position) {
        let place = self.place(position);
        if !self.starts.contains(&place) {
            self.starts.push(place);
        }
    }

    pub(super) fn add_chapter(&mut self, file: &str, number: u64, game: PgnGame) {
        let chapter = self.chapters.len() as u32;
        self.add_start(&game.start);
        let mut steps: Vec<Step> = Vec::new();
        game.visit_tree(|at| {
            let parent = at.parent.map(|parent| parent as u32);
            let follows_null = at.parent.is_some_and(|parent| !steps[parent].counts);
            let after = at.before.try_play(at.played.mv).unwrap_or(*at.before);
            let step = Step {
                parent,
                mv: at.played.mv,
                before: at.before.key(),
                after: after.key(),
                counts: !follows_null && !at.played.mv.is_null(),
            };
            if step.counts {
                let place = Place { chapter, step: steps.len() as u32 };
                self.add_move(at, &after, place);
            } else if !follows_null {
                let (file, text) = (file.to_owned(), format!("in {}", at.before.fen()));
                let kind = RemarkKind::NullMove;
                self.remarks.push(Remark { file, number, kind, text, is_left_out: false });
            }
            steps.push(step);
        });
        let comment = game.comment.clone();
        self.add_comment(&game.start, &comment);
        self.chapters.push(Chapter { file: file.to_owned(), number, game, steps });
    }

    fn add_move(&mut self, at: &TreeMove<'_>, after: &Position, place: Place) {
        let added = self.known_move(at.before, at.played.mv);
        added.weight = 1;
        added.places.push(place);
        for nag in &at.played.nags {
            if !added.nags.contains(nag) {
                added.nags.push(*nag);
            }
        }
        self.add_comment(after, at.comment_before);
        self.add_comment(after, &at.played.comment);
    }

    /// Returns the entry for a move in a position. Adds the move and the position if they are
    /// missing.
    pub(super) fn known_move(&mut self, position: &Position, mv: Move) -> &mut KnownMove {
        let place = self.place(position) as usize;
        let moves = &mut self.nodes[place].moves;
        let known = moves.iter().position(|own| own.mv == mv);
        let at = known.unwrap_or_else(|| {
            moves.push(KnownMove { mv, weight: 0, nags: Vec::new(), places: Vec::new() });
            moves.len() - 1
        });
        &mut moves[at]
    }

    fn add_comment(&mut self, position: &Position, comment: &str) {
        let place = self.place(position) as usize;
        let comments = &mut self.nodes[place].comments;
        if !comment.is_empty() && !comments.iter().any(|known| known == comment) {
            comments.push(comment.to_owned());
        }
    }

    /// Returns the index of the node for a position. Adds the node if it is missing.
    pub(super) fn place(&mut self, position: &Position) -> u32 {
        let next = self.nodes.len() as u32;
        let place = *self.index.entry(position.key()).or_insert(next);
        if place == next {
            let (position, moves, comments) = (*position, Vec::new(), Vec::new());
            self.nodes.push(Node { position, moves, comments });
        }
        place
    }
}
