mod two_sided;

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::web::lesson::record::{Bounds, Recorder};
use crate::web::lesson::search::{Algorithm, Search};
use crate::web::lesson::search_record::SearchRecord;
use crate::web::lesson::watch_tree;
use two_sided::search_two_sided;

fn second() -> GameTree {
    let mut tree = GameTree::classic();
    for (name, value) in [("N12", 10), ("N13", 11), ("N14", 11)] {
        tree.set_value(name, value).expect(name);
    }
    tree
}

fn cutoff<'a>(search_record: &'a SearchRecord, name: &str) -> Vec<&'a str> {
    let node = search_record.tree.iter().find(|node| node.name == name).expect(name);
    node.visits.iter().filter_map(|visit| visit.cutoff.as_deref()).collect()
}

#[test]
fn classic_tree_gives_known_results() {
    let tree = GameTree::classic();
    let minimax = watch_tree(&tree, Algorithm::Minimax);
    assert_eq!((minimax.value, minimax.nodes, minimax.cutoffs), (5, 15, 0));
    let alpha_beta = watch_tree(&tree, Algorithm::AlphaBeta);
    assert_eq!((alpha_beta.value, alpha_beta.nodes), (5, 14));
    assert_eq!(alpha_beta.cut(), ["N10"]);
    assert_eq!(cutoff(&alpha_beta, "N4"), ["alpha 6 >= beta 5"]);
    let pvs = watch_tree(&tree, Algorithm::Pvs);
    assert_eq!((pvs.value, pvs.nodes, pvs.researches), (5, 13, 0));
    assert_eq!(pvs.cut(), ["N10", "N12"]);
    assert_eq!(cutoff(&pvs, "N4"), ["alpha 6 >= beta 5"]);
    assert_eq!(cutoff(&pvs, "N5"), ["alpha 9 >= beta 6"]);
    assert_eq!(pvs.line, ["N1", "N3", "N8"]);
}

#[test]
fn second_example_needs_a_research() {
    let pvs = watch_tree(&second(), Algorithm::Pvs);
    assert_eq!((pvs.value, pvs.researches), (10, 1));
    assert!(cutoff(&pvs, "N6").contains(&"alpha 11 >= beta 10"));
    assert_eq!(pvs.cut(), ["N10", "N14"]);
    let again = pvs.tree.iter().find(|node| node.visits.iter().any(|visit| visit.again));
    let again = again.expect("a search was repeated");
    assert_eq!((again.name.as_str(), again.visits.len()), ("N2", 2));
    assert_eq!((again.visits[0].window.as_str(), again.visits[0].null), ("(5, 6)", true));
    assert_eq!((again.visits[1].window.as_str(), again.visits[1].null), ("(5, +∞)", false));
    let n12 = pvs.tree.iter().find(|node| node.name == "N12").expect("N12");
    assert_eq!((n12.visits.len(), n12.visits[0].value), (1, 10));
    assert_eq!(pvs.line, ["N2", "N5", "N12"]);
}

#[test]
fn trees_round_trip() {
    let tree = GameTree::classic();
    assert_eq!(tree.to_string().parse(), Ok(tree));
    let min: GameTree = "a min\n b 1\n c 2\n".parse().expect("a tree");
    assert!(!min.is_max(0) && min.is_max(1));
    assert_eq!(min.to_string().parse(), Ok(min));
}

#[test]
fn invalid_tree_is_rejected_with_its_line_number() {
    for (text, line, words) in [
        ("", 1, "no node"),
        ("# nothing\n\n", 2, "no node"),
        ("a\n", 1, "neither children nor a value"),
        ("a\n  b 1\n  c\n", 3, "c has neither"),
        ("a\nb 2\n", 2, "second root"),
        ("  a 1\n", 1, "the root is indented"),
        ("a\n    b 1\n  c 2\n", 3, "align"),
        ("a\n\tb 1\n", 2, "blanks"),
        ("a\n  b one\n", 2, "`one` is no whole number"),
        ("a\n  b 99999999999\n", 2, "no whole number"),
        ("a\n  b 10001\n", 2, "within"),
        ("a\n  b max\n", 2, "only the root"),
        ("a\n  b 1 2\n", 2, "`2` is too much"),
        ("a\n  b 1\n    c 2\n", 3, "leaf of value 1"),
        ("a\n  b 1\n  b 2\n", 3, "line 2 already"),
    ] {
        let error = text.parse::<GameTree>().expect_err(text);
        assert_eq!(error.line, line, "{text:?}: {error}");
        assert!(error.fault.contains(words), "{text:?}: {error}");
    }
    let deep: String = (0..200).map(|level| format!("{:level$}n{level}\n", "")).collect();
    assert!(deep.parse::<GameTree>().expect_err("too deep").fault.contains("levels"));
}

#[test]
fn only_leaves_can_be_changed() {
    let mut tree = GameTree::classic();
    assert!(tree.set_value("N99", 1).expect_err("no node").contains("no node N99"));
    assert!(tree.set_value("N1", 1).expect_err("inner").contains("no leaf"));
    assert!(tree.set_value("N7", 10_001).expect_err("large").contains("within"));
    assert_eq!(tree, GameTree::classic());
}

/// Generates random trees with a small range of leaf values, so that several moves often have the
/// same value.
fn trees() -> impl Strategy<Value = GameTree> {
    #[derive(Debug, Clone)]
    enum TreeShape {
        Leaf(Score),
        Inner(Vec<TreeShape>),
    }
    fn build(tree: &mut GameTree, parent: Option<NodeId>, shape: &TreeShape) {
        let node = tree.push(format!("N{}", tree.len()), parent);
        match shape {
            TreeShape::Leaf(value) => tree.nodes[node].value = Some(*value),
            TreeShape::Inner(children) => {
                children.iter().for_each(|child| build(tree, Some(node), child));
            }
        }
    }
    let leaf = (-12..=12).prop_map(TreeShape::Leaf);
    let shape = leaf.prop_recursive(5, 200, 4, |inner| {
        prop::collection::vec(inner, 1..=4).prop_map(TreeShape::Inner)
    });
    (shape, any::<bool>()).prop_map(|(shape, max_begins)| {
        let mut tree = GameTree { nodes: Vec::new(), max_begins };
        build(&mut tree, None, &shape);
        tree
    })
}

fn visited(search_record: &SearchRecord) -> BTreeSet<&str> {
    let visited = search_record.tree.iter().filter(|node| !node.visits.is_empty());
    visited.map(|node| node.name.as_str()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn all_algorithms_find_the_minimax_value(tree in trees()) {
        let minimax = search_two_sided(&tree, Algorithm::Minimax, &mut ());
        for algorithm in Algorithm::ALL {
            let search_record = watch_tree(&tree, algorithm);
            prop_assert_eq!(search_record.value, minimax, "{}", algorithm);
            prop_assert_eq!(search_record.tree.len(), tree.len());
            let mut value = 0;
            for node in search_record.line.iter().map(|name| (0..tree.len()).find(|&id| tree.node_name(id) == name)) {
                value = node.expect("nodes of the tree");
            }
            prop_assert_eq!(tree.leaf_value(value), Some(minimax), "the line leads to the value");
        }
    }

    #[test]
    fn negamax_and_two_sided_forms_take_the_same_steps(tree in trees()) {
        for algorithm in Algorithm::ALL {
            let (mut one, mut two) = (Recorder::new(Bounds::NONE), Recorder::new(Bounds::NONE));
            let mut game = tree.clone();
            Search::new(&mut game, &mut one, &[]).run(algorithm, &0, Depth::MAX, Window::FULL);
            search_two_sided(&tree, algorithm, &mut two);
            prop_assert_eq!(&one.visits, &two.visits, "{}", algorithm);
            prop_assert_eq!(&one.steps, &two.steps, "{}", algorithm);
        }
    }

    #[test]
    fn cutoffs_never_change_the_value(tree in trees()) {
        let minimax = watch_tree(&tree, Algorithm::Minimax);
        prop_assert_eq!(minimax.nodes, tree.len() as u64);
        let alpha_beta = watch_tree(&tree, Algorithm::AlphaBeta);
        prop_assert!(alpha_beta.nodes <= minimax.nodes);
        for algorithm in [Algorithm::AlphaBeta, Algorithm::Pvs] {
            let search_record = watch_tree(&tree, algorithm);
            prop_assert_eq!(visited(&search_record).len() + search_record.cut().len(), tree.len());
        }
        let pvs = watch_tree(&tree, Algorithm::Pvs);
        prop_assert!(visited(&pvs).is_subset(&visited(&alpha_beta)), "PVS visits what alpha-beta does");
    }

    #[test]
    fn arbitrary_text_does_not_panic(text in "( {0,4}[ab#\\t0-9-]{0,3} ?[a0-9-]{0,6}\n){0,6}") {
        let _ = text.parse::<GameTree>();
    }
}
