//! Move orders that lead to a position, in Tabia's own format.

use serde::Serialize;

use super::loaded_books::Content;
use crate::chess::notation::NamedMove;
use crate::chess::position::Position;
use crate::games::book::{self, Arrival, Counts, MoveOrders, NamedOpening, arrivals};

#[derive(Debug, Serialize)]
pub(crate) struct ArrivalAnswer {
    #[serde(flatten)]
    mv: NamedMove,
    fen: String,
    opening: Option<NamedOpening>,
    played: Counts,
}

pub(crate) fn arrival_answers(content: &Content, position: &Position) -> Vec<ArrivalAnswer> {
    let answer = |arrival: Arrival| ArrivalAnswer {
        mv: NamedMove::new(&arrival.before, arrival.mv),
        fen: arrival.before.fen(),
        opening: content.names.get(&arrival.before).cloned(),
        played: arrival.played,
    };
    arrivals(&content.book, position).into_iter().map(answer).collect()
}

pub(crate) fn find(content: &Content, position: &Position) -> MoveOrders {
    book::move_orders(&content.book, &content.names, position)
}
