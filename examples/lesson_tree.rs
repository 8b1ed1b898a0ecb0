//! Searches a small game tree with minimax, alpha-beta and PVS, and prints every step: `cargo run
//! --release --example lesson_tree [FILE]`

use tabia::lesson::search::Algorithm;
use tabia::lesson::tree::GameTree;
use tabia::lesson::watch_tree;

fn main() -> anyhow::Result<()> {
    let tree: GameTree = match std::env::args().nth(1) {
        Some(path) => std::fs::read_to_string(path)?.parse()?,
        None => GameTree::classic(),
    };
    for algorithm in Algorithm::ALL {
        println!("{}", watch_tree(&tree, algorithm).text());
    }
    Ok(())
}
