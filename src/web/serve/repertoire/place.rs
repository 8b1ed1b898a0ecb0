//! `/repertoire`: the repertoire's data for a position.

use std::collections::{BTreeSet, VecDeque};

use serde::Serialize;

use super::file::{RepertoireFile, Snapshot};
use super::shapes;
use crate::chess::notation::{self, NamedMove};
use crate::chess::position::{Game, KeyMap, Move, Position};
use crate::games::repertoire::{KnownMove, Repertoire};

/// Maximum number of moves in a response's move tree. If there are more, those furthest from the
/// position are omitted.
const MAX_TREE: usize = 400;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RepertoireAnswer {
    file: String,
    side: String,
    version: String,
    /// Why the file cannot be read, if the answer is that of an earlier version.
    fault: Option<String>,
    chapters: usize,
    positions: usize,
    /// Whether the repertoire's side is to move.
    own_turn: bool,
    /// Whether the repertoire contains the position.
    known: bool,
    /// The number of moves at the end of the requested line that are not in the repertoire.
    missing: usize,
    comments: Vec<String>,
    /// Arrows and marked squares, such as `Ge2e4` and `Rd4`.
    shapes: Vec<String>,
    moves: Vec<RepertoireMove>,
    tree: Vec<TreeMove>,
    /// Whether moves were omitted from the tree because there are too many.
    truncated: bool,
}

#[derive(Debug, Serialize)]
struct RepertoireMove {
    #[serde(flatten)]
    mv: NamedMove,
    kind: &'static str,
    /// The number of chapters that contain the move, or 0 if the move merely transposes to a
    /// position in the repertoire.
    chapters: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct TreeMove {
    /// The index of the previous move in the tree, or `None` for moves from the requested position.
    parent: Option<usize>,
    #[serde(flatten)]
    mv: NamedMove,
    own: bool,
    nags: Vec<u8>,
    comment: String,
    /// Whether the continuation is listed elsewhere in the tree, because another line reaches the
    /// same position.
    transposes: bool,
}

impl RepertoireAnswer {
    pub(super) fn new(file: &RepertoireFile, snapshot: &Snapshot, game: &Game) -> Self {
        let repertoire = &snapshot.repertoire;
        let position = game.position();
        let node = repertoire.node(position);
        let (mut comments, mut found_shapes) = (Vec::new(), Vec::new());
        for comment in node.into_iter().flat_map(|node| &node.comments) {
            let (text, of_comment) = shapes::split(comment);
            comments.extend(Some(text).filter(|text| !text.is_empty()));
            found_shapes.extend(of_comment);
        }
        let (tree, truncated) = tree(repertoire, position);
        RepertoireAnswer {
            file: file.name(),
            side: notation::color(repertoire.side).to_lowercase(),
            version: snapshot.version.clone(),
            fault: file.fault(),
            chapters: repertoire.chapters.len(),
            positions: repertoire.positions(),
            own_turn: repertoire.is_own_turn(position),
            known: node.is_some(),
            missing: repertoire.missing_moves(game),
            comments,
            shapes: found_shapes,
            moves: moves(repertoire, position),
            tree,
            truncated,
        }
    }
}

/// Returns the moves that the repertoire contains for a position, in the order in which they appear
/// in its file, followed by other legal moves that lead to positions in the repertoire.
fn moves(repertoire: &Repertoire, position: &Position) -> Vec<RepertoireMove> {
    let known = repertoire.node(position).map_or(&[][..], |node| &node.moves);
    let legal = position.legal_moves();
    let mut moves: Vec<RepertoireMove> = Vec::new();
    for mv in legal.iter() {
        let after = position.play(mv);
        let chapters = known.iter().find(|found| found.mv == mv).map(chapters);
        let is_answered = repertoire.answers(&after) || after.has_no_moves();
        let kind = match (repertoire.is_own_turn(position), chapters) {
            _ if chapters.is_none() && repertoire.node(&after).is_none() => continue,
            (true, Some(_)) => "own",
            (true, None) => "back",
            (false, _) if is_answered => "answered",
            (false, _) => "open",
        };
        moves.push(RepertoireMove {
            mv: NamedMove::new(position, mv),
            kind,
            chapters: chapters.unwrap_or(0),
        });
    }
    let place = |found: &RepertoireMove| {
        let place = known.iter().position(|known| known.mv.uci() == found.mv.uci);
        place.unwrap_or(known.len())
    };
    moves.sort_by_key(place);
    moves
}

/// Returns the number of chapters that contain a move.
fn chapters(known: &KnownMove) -> u64 {
    known.places.iter().map(|place| place.chapter).collect::<BTreeSet<u32>>().len() as u64
}

/// Returns the repertoire's moves from a position onwards in breadth-first order, and whether some
/// were omitted. Each position is expanded only once.
fn tree(repertoire: &Repertoire, position: &Position) -> (Vec<TreeMove>, bool) {
    let mut rows: Vec<TreeMove> = Vec::new();
    let mut open = VecDeque::from([(None, *position)]);
    let mut seen: KeyMap<()> = KeyMap::from_iter([(position.key(), ())]);
    while let Some((parent, position)) = open.pop_front() {
        let known = repertoire.node(&position).into_iter().flat_map(|node| &node.moves);
        for found in known {
            if rows.len() == MAX_TREE {
                return (rows, true);
            }
            let after = position.play(found.mv);
            let transposes = seen.insert(after.key(), ()).is_some();
            if !transposes {
                open.push_back((Some(rows.len()), after));
            }
            rows.push(TreeMove {
                parent,
                mv: NamedMove::new(&position, found.mv),
                own: repertoire.is_own_turn(&position),
                nags: found.nags.clone(),
                comment: comment(repertoire, found.mv, &position),
                transposes,
            });
        }
    }
    (rows, false)
}

fn comment(repertoire: &Repertoire, mv: Move, before: &Position) -> String {
    let node = repertoire.node(&before.play(mv));
    let comments = node.into_iter().flat_map(|node| &node.comments);
    let texts = comments.map(|comment| shapes::split(comment).0);
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Color;
    use crate::games::pgn::PgnInput;

    fn white(text: &str) -> Repertoire {
        let input = PgnInput::Text("text".to_owned(), text.as_bytes().into());
        Repertoire::read(&[input], Color::White).expect("readable")
    }

    fn after(moves: &str) -> Position {
        let play = |at: Position, san: &str| at.play(at.parse_move(san).expect(san));
        moves.split_whitespace().fold(Position::start(), play)
    }

    fn kinds(repertoire: &Repertoire, moves_before: &str) -> Vec<(String, &'static str)> {
        let found = moves(repertoire, &after(moves_before));
        found.into_iter().map(|found| (found.mv.san.to_string(), found.kind)).collect()
    }

    #[test]
    fn moves_have_kinds() {
        let repertoire = white("1. e4 e5 (1... c5) 2. Nf3 Nc6 *\n\n1. Nf3 Nc6 2. e4 *\n");
        let kind = |before, san: &str| {
            kinds(&repertoire, before).into_iter().find(|found| found.0 == san).map(|found| found.1)
        };
        assert_eq!(kind("", "e4"), Some("own"));
        assert_eq!(kind("e4", "e5"), Some("answered"));
        assert_eq!(kind("e4", "c5"), Some("open"));
        assert_eq!(kind("e4", "e6"), None);
        // The repertoire reaches the position after 1. e4 Nc6 2. Nf3 only via 1. Nf3 Nc6 2. e4, in
        // its second chapter.
        assert_eq!(kind("e4 Nc6", "Nf3"), Some("back"));
        assert_eq!(kind("d4", "e5"), None);
    }

    #[test]
    fn tree_continues_each_position_once() {
        let repertoire =
            white("1. d4 Nf6 (1... e6 2. c4 Nf6 3. Nc3) 2. c4 e6 {both [%csl Gd5]} 3. Nc3 *\n");
        let (rows, truncated) = tree(&repertoire, &Position::start());
        let shown: Vec<(Option<usize>, &str, bool)> =
            rows.iter().map(|row| (row.parent, row.mv.san.as_str(), row.transposes)).collect();
        assert_eq!(
            shown,
            [
                (None, "d4", false),
                (Some(0), "Nf6", false),
                (Some(0), "e6", false),
                (Some(1), "c4", false),
                (Some(2), "c4", false),
                (Some(3), "e6", false),
                (Some(4), "Nf6", true),
                (Some(5), "Nc3", false),
            ]
        );
        assert!(!truncated && rows[5].comment == "both" && rows[0].own && !rows[1].own);
    }
}
