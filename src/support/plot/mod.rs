//! Line charts in SVG format.

mod canvas;
mod doublings;
mod panels;

pub(crate) use canvas::COLORS;
pub(crate) use doublings::{Line, Point, doublings};
pub(crate) use panels::{Curve, Panel, Scale, Tile, plot, round_number, tiles};
