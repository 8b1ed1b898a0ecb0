//! Curves over axes, as pictures (SVG).

mod canvas;
mod panels;

pub(crate) use canvas::COLORS;
pub(crate) use panels::{Curve, Panel, Scale, Tile, plot, round_number, tiles};
