//! Counts the nodes that each of the two re-search orders needs for the built-in positions:
//! `cargo run --release --example lesson_research [DEPTH]`

use tabia::search::{Control, ResearchOrder};
use tabia::suite::positions::positions;
use tabia::suite::research::nodes;

/// Search depth in plies.
const DEPTH: i32 = 8;

fn main() -> anyhow::Result<()> {
    let depth = std::env::args().nth(1).map_or(Ok(DEPTH), |text| text.parse())?;
    for order in ResearchOrder::ALL {
        let nodes = nodes(order, &positions(), depth, &Control::new());
        println!("{:<12} {} nodes", order.name(), nodes.unwrap_or_default());
    }
    Ok(())
}
