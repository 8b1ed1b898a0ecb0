//! Finds the move orders by which games in a book reach a position, going back one ply at a time.
//!
//! A book counts positions and moves, not lines. The counts for the last move are exact, because
//! every game in which it was played reached the position. However, a game that reached an earlier
//! position may have continued differently, so the fractions of games are estimates. They assume
//! that the choice of a move does not depend on how the position was reached.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use serde::Serialize;

use crate::chess::notation::NamedMove;
use crate::chess::position::{Move, Position};
use crate::games::book::format::counts::Counts;
use crate::games::book::lookup::Book;
use crate::games::book::lookup::names::{NamedOpening, Names};

/// The maximum number of plies to go back. It equals the default depth of a book.
const MAX_PLIES: usize = 40;
/// The maximum number of positions kept per ply. They are the ones through which the most games
/// passed.
const MAX_WIDTH: usize = 6;
/// A position is omitted if less than this fraction of the games passed through it.
const MIN_SHARE: f64 = 0.02;
/// The maximum number of complete move orders in a response.
const MAX_ORDERS: usize = 8;
/// The maximum number of partial move orders extended while looking for complete ones.
const MAX_STEPS: usize = 2000;

/// A move by which games reached a position, and the position before that move.
#[derive(Debug, Clone)]
pub(crate) struct Arrival {
    pub(crate) before: Position,
    pub(crate) mv: Move,
    pub(crate) played: Counts,
}

/// Returns the moves by which games in the book reach a position, most frequent first.
pub(crate) fn arrivals(book: &Book, position: &Position) -> Vec<Arrival> {
    let has_pawns = |pawn_key| book.may_hold_pawns(pawn_key);
    let found = position.predecessors(has_pawns, |key| book.reached_by_key(key).is_some());
    let arrival = |(before, mv): (Position, Move)| {
        let played = book.played(&before, mv);
        (!played.is_empty()).then_some(Arrival { before, mv, played })
    };
    let mut arrivals: Vec<Arrival> = found.into_iter().filter_map(arrival).collect();
    arrivals
        .sort_by_key(|arrival| (Reverse(arrival.played.games()), arrival.before.key(), arrival.mv));
    arrivals
}

#[derive(Debug, Serialize)]
struct PathPosition {
    /// The distance from this position to the requested position, in plies.
    plies: usize,
    fen: String,
    opening: Option<NamedOpening>,
    reached: Counts,
    /// The estimated fraction of the games with the requested position that passed through this
    /// position, from 0 to 1.
    share: f64,
}

#[derive(Debug, Serialize)]
struct PathMove {
    /// The index in `positions` of the position before the move.
    from: usize,
    to: usize,
    #[serde(flatten)]
    mv: NamedMove,
    played: Counts,
    share: f64,
}

/// A complete move order.
#[derive(Debug, Serialize)]
pub(crate) struct MoveOrder {
    /// The first position: the start position, or a position that no move in the book leads to.
    pub(crate) fen: String,
    pub(crate) moves: Vec<NamedMove>,
    /// The estimated fraction of the games with the requested position that used this move order,
    /// from 0 to 1.
    pub(crate) share: f64,
}

/// The move orders that lead to a position.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MoveOrders {
    fen: String,
    self_play: bool,
    positions: Vec<PathPosition>,
    moves: Vec<PathMove>,
    /// The complete move orders, most frequent first.
    pub(crate) orders: Vec<MoveOrder>,
}

#[derive(Debug)]
struct Node {
    position: Position,
    plies: usize,
    share: f64,
    edges: Vec<usize>,
    /// Whether this is the start position, or a position that no move in the book leads to.
    is_origin: bool,
}

#[derive(Debug)]
struct Edge {
    from: usize,
    to: usize,
    mv: Move,
    played: Counts,
    /// Of the games that reached `to`, the fraction that arrived by this move, from 0 to 1.
    weight: f64,
}

#[derive(Debug, Default)]
struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

/// Returns the move orders by which games in a book reached a position.
pub(crate) fn move_orders(book: &Book, names: &Names, position: &Position) -> MoveOrders {
    let graph = Graph::before(book, position);
    let path_position = |node: &Node| PathPosition {
        plies: node.plies,
        fen: node.position.fen(),
        opening: names.get(&node.position).cloned(),
        reached: book.reached(&node.position).unwrap_or_default(),
        share: rounded(node.share),
    };
    let path_move = |edge: &Edge| PathMove {
        from: edge.from,
        to: edge.to,
        mv: NamedMove::new(&graph.nodes[edge.from].position, edge.mv),
        played: edge.played,
        share: rounded(edge.weight * graph.nodes[edge.to].share),
    };
    MoveOrders {
        fen: position.fen(),
        self_play: book.counts_self_play(position),
        positions: graph.nodes.iter().map(path_position).collect(),
        moves: graph.edges.iter().map(path_move).collect(),
        orders: graph.orders(),
    }
}

/// Rounds a fraction of games to four decimals. More would suggest a precision that the estimates
/// do not have.
fn rounded(share: f64) -> f64 {
    (share * 1e4).round() / 1e4
}

impl Graph {
    /// Builds the graph of the positions that precede `position`, going back until too few games
    /// pass through them.
    fn before(book: &Book, position: &Position) -> Self {
        let mut graph = Graph::default();
        graph.nodes.push(Node {
            position: *position,
            plies: 0,
            share: 1.0,
            edges: Vec::new(),
            is_origin: false,
        });
        let mut last = vec![0];
        for plies in 1..=MAX_PLIES {
            last = graph.ply_before(book, &last, plies);
            if last.is_empty() {
                break;
            }
        }
        graph
    }

    /// Adds the positions one ply before those in `last`, and returns their indices.
    fn ply_before(&mut self, book: &Book, last: &[usize], plies: usize) -> Vec<usize> {
        let mut found: Vec<(usize, Arrival, f64)> = Vec::new();
        let mut shares: HashMap<u64, f64> = HashMap::new();
        let start = Position::start().key();
        for &to in last {
            if self.nodes[to].position.key() == start {
                continue;
            }
            let arrivals = arrivals(book, &self.nodes[to].position);
            self.nodes[to].is_origin = arrivals.is_empty();
            let all: u64 = arrivals.iter().map(|arrival| arrival.played.games()).sum();
            for arrival in arrivals {
                let weight = arrival.played.games() as f64 / all as f64;
                let share = shares.entry(arrival.before.key()).or_default();
                *share += weight * self.nodes[to].share;
                found.push((to, arrival, weight));
            }
        }
        let mut kept: Vec<(u64, f64)> =
            shares.into_iter().filter(|&(_, share)| share >= MIN_SHARE).collect();
        kept.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        kept.truncate(MAX_WIDTH);
        let first = self.nodes.len();
        for (to, arrival, weight) in found {
            let key = arrival.before.key();
            let Some(place) = kept.iter().position(|&(other, _)| other == key) else { continue };
            let from = self.node(first, arrival.before, plies, kept[place].1);
            self.nodes[to].edges.push(self.edges.len());
            self.edges.push(Edge { from, to, mv: arrival.mv, played: arrival.played, weight });
        }
        (first..self.nodes.len()).collect()
    }

    /// Returns the index of a position in `nodes[first..]`, adding a node if there is none.
    fn node(&mut self, first: usize, position: Position, plies: usize, share: f64) -> usize {
        let known =
            self.nodes[first..].iter().position(|node| node.position.key() == position.key());
        known.map_or_else(
            || {
                let is_origin = position.key() == Position::start().key();
                self.nodes.push(Node { position, plies, share, edges: Vec::new(), is_origin });
                self.nodes.len() - 1
            },
            |at| first + at,
        )
    }

    /// Returns up to [`MAX_ORDERS`] complete move orders, most frequent first.
    fn orders(&self) -> Vec<MoveOrder> {
        let mut orders = Vec::new();
        // Floating-point numbers do not implement `Ord`, which the heap requires, so fractions of
        // games are stored as integers relative to `WHOLE`.
        const WHOLE: f64 = (1_u64 << 52) as f64;
        let mut open = BinaryHeap::from([((WHOLE as u64), Reverse(0_usize), Vec::<usize>::new())]);
        for _ in 0..MAX_STEPS {
            let Some((share, Reverse(at), way)) = open.pop() else { break };
            let node = &self.nodes[at];
            if node.edges.is_empty() {
                // If the node is not an origin, the graph was cut off here, so the beginning of the
                // move order is unknown.
                if node.is_origin && !way.is_empty() {
                    let moves: Vec<Move> =
                        way.iter().rev().map(|&edge| self.edges[edge].mv).collect();
                    let moves = NamedMove::line(&node.position, &moves);
                    let share = rounded(share as f64 / WHOLE);
                    orders.push(MoveOrder { fen: node.position.fen(), moves, share });
                }
                if orders.len() == MAX_ORDERS {
                    break;
                }
            }
            for &edge in &node.edges {
                let mut longer = way.clone();
                longer.push(edge);
                let share = (share as f64 * self.edges[edge].weight) as u64;
                open.push((share, Reverse(self.edges[edge].from), longer));
            }
        }
        orders
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::book::{BuildOptions, build_in_memory};
    use crate::games::pgn::PgnInput;

    fn book() -> Book {
        let games = "1. d4 Nf6 2. c4 e6 1-0\n\n1. c4 e6 2. d4 Nf6 0-1\n\n1. c4 Nf6 2. d4 e6 1/2-1/2\n\n1. c4 Nf6 2. d4 g6 1-0\n";
        let games = PgnInput::Text("games".to_owned(), games.as_bytes().into());
        build_in_memory(&[games], &BuildOptions::default(), "games").expect("a book").0
    }

    fn after(moves: &str) -> Position {
        moves.split(' ').fold(Position::start(), |position, san| {
            position.play(position.parse_move(san).expect(san))
        })
    }

    #[test]
    fn arrivals_list_every_last_move() {
        let book = book();
        let found = arrivals(&book, &after("d4 Nf6 c4 e6"));
        let reported: Vec<(String, Counts)> =
            found.iter().map(|arrival| (arrival.before.san(arrival.mv), arrival.played)).collect();
        assert_eq!(
            reported,
            [("e6".to_owned(), Counts::new(1, 1, 0)), ("Nf6".to_owned(), Counts::new(0, 0, 1))]
        );
        assert!(arrivals(&book, &Position::start()).is_empty());
    }

    #[test]
    fn move_orders_start_at_the_root_and_shares_sum_to_one() {
        let position = after("d4 Nf6 c4 e6");
        let move_orders = move_orders(&book(), &Names::default(), &position);
        let all: f64 = move_orders.orders.iter().map(|order| order.share).sum();
        assert!((all - 1.0).abs() < 0.01, "{move_orders:?}");
        assert_eq!(move_orders.orders.len(), 3);
        for order in &move_orders.orders {
            let end = order.moves.iter().try_fold(Position::start(), |position, mv| {
                position.parse_move(&mv.san).map(|mv| position.play(mv))
            });
            assert_eq!(end.expect("legal").key(), position.key());
        }
        assert!(move_orders.positions.iter().skip(1).all(|at| at.share <= 1.0 && at.plies >= 1));
    }
}
