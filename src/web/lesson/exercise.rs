//! Exercises: questions about searches of random trees, with answers and explanations.
//!
//! ```
//! use tabia::lesson::exercise::exercises;
//!
//! let drawn = exercises(7, 3);
//! assert_eq!(drawn.len(), 3);
//! assert!(drawn.iter().all(|exercise| !exercise.answers.is_empty()));
//! ```

use serde::Serialize;

use super::search::Algorithm;
use super::search_record::{Node, RecordedEventKind, SearchRecord};
use super::tree::{GameTree, Growth};
use super::watch_tree;
use crate::support::random::Random;

/// The depth and branching factor of each kind of tree. All of them are small enough to be searched
/// by hand.
const SHAPES: [(usize, usize); 2] = [(3, 2), (2, 3)];
/// The maximum absolute value of a leaf. It is less than 10, so that all values have one digit.
const SPREAD: i32 = 9;
const ALGORITHMS: [Algorithm; 2] = [Algorithm::AlphaBeta, Algorithm::Pvs];
/// The ordinals used in questions about repeated visits. No node in these trees is visited more
/// than four times.
const TIMES: [&str; 4] = ["first", "second", "third", "fourth"];

/// The kind of question in an exercise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Question {
    /// Which node is cut off next.
    Cut,
    /// The value of alpha or beta when a node is visited.
    Bound,
    /// How many leaves are visited.
    Leaves,
}

/// A question with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exercise {
    /// The 1-based number of the exercise.
    pub number: usize,
    /// The kind of question.
    pub kind: Question,
    /// The tree in the format of tree files.
    pub tree: String,
    /// The algorithm that searches the tree.
    pub algorithm: String,
    /// The text of the question.
    pub question: String,
    /// The accepted answers. Any one of them is correct.
    pub answers: Vec<String>,
    /// The explanation of the answer.
    pub reason: String,
}

/// Returns `count` exercises generated from `seed`. They cycle through the three kinds of
/// questions.
pub fn exercises(seed: u64, count: usize) -> Vec<Exercise> {
    let mut random = Random::new(seed);
    (1..=count).map(|number| draw(&mut random, number)).collect()
}

fn draw(random: &mut Random, number: usize) -> Exercise {
    let kind = [Question::Cut, Question::Bound, Question::Leaves][(number - 1) % 3];
    loop {
        let (depth, branching) = SHAPES[random.below(SHAPES.len())];
        let seed = random.next_u64();
        let growth = Growth { seed, depth, branching, spread: SPREAD, ..Growth::SMALL };
        let algorithm = ALGORITHMS[random.below(ALGORITHMS.len())];
        let Ok(tree) = growth.tree() else { continue };
        let search_record = watch_tree(&tree, algorithm);
        let asked = match kind {
            Question::Cut => ask_cut(random, &search_record),
            Question::Bound => ask_bound(random, &search_record),
            Question::Leaves => Some(ask_leaves(&tree, &search_record)),
        };
        if let Some((question, answers, reason)) = asked {
            let name = display_name(algorithm);
            let question = format!("{name} searches this tree from left to right. {question}");
            let (tree, algorithm) = (tree.to_string(), search_record.algorithm);
            return Exercise { number, kind, tree, algorithm, question, answers, reason };
        }
    }
}

fn display_name(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Minimax => "Minimax",
        Algorithm::AlphaBeta => "Alpha-beta",
        Algorithm::Pvs => "PVS",
    }
}

type Asked = (String, Vec<String>, String);

fn ask_cut(random: &mut Random, search_record: &SearchRecord) -> Option<Asked> {
    let cutoffs: Vec<_> =
        search_record.steps.iter().filter(|step| step.kind == RecordedEventKind::Cutoff).collect();
    if cutoffs.is_empty() {
        return None;
    }
    let asked = random.below(cutoffs.len());
    let cut = |at: usize| {
        let node = &search_record.tree[cutoffs[at].node];
        (&node.name, &node.visits[cutoffs[at].visit].cut)
    };
    let before: Vec<String> = (0..asked)
        .map(|at| {
            let (name, cut) = cut(at);
            format!("{} at {name}", cut.join(" and "))
        })
        .collect();
    let question = match before.as_slice() {
        [] => "Which node does it cut off first?".to_owned(),
        before => {
            format!("So far it has cut off {}. Which node does it cut off next?", before.join(", "))
        }
    };
    Some((question, cut(asked).1.clone(), cutoffs[asked].text.clone()))
}

fn ask_bound(random: &mut Random, search_record: &SearchRecord) -> Option<Asked> {
    let mut bounds = Vec::new();
    for (at, step) in search_record.steps.iter().enumerate() {
        if matches!(step.kind, RecordedEventKind::Enter | RecordedEventKind::Leaf) {
            let visit = &search_record.tree[step.node].visits[step.visit];
            bounds.extend(visit.alpha.map(|alpha| (at, "alpha", alpha)));
            bounds.extend(visit.beta.map(|beta| (at, "beta", beta)));
        }
    }
    if bounds.is_empty() {
        return None;
    }
    let (at, which, bound) = bounds[random.below(bounds.len())];
    let step = &search_record.steps[at];
    let node = &search_record.tree[step.node];
    let time = match node.visits.len() {
        1 => String::new(),
        _ => format!(" for the {} time", TIMES[step.visit.min(TIMES.len() - 1)]),
    };
    let question = format!("It comes to {}{time}. What is {which} there?", node.name);
    let raised = search_record.steps[..at].iter().rev().find(|raise| {
        let name = &search_record.tree[raise.node].name;
        raise.kind == RecordedEventKind::Raise
            && raise.text.starts_with(&format!("{name}: {which} = {bound} by "))
            && is_above(&search_record.tree, raise.node, step.node)
    });
    let reason = match raised {
        Some(raise) => format!("{}; so {}", raise.text, step.text),
        None => format!("{}: a null window is one wide", step.text),
    };
    Some((question, vec![bound.to_string()], reason))
}

fn is_above(tree: &[Node], above: usize, node: usize) -> bool {
    std::iter::successors(tree[node].parent, |&at| tree[at].parent).any(|at| at == above)
}

fn ask_leaves(tree: &GameTree, search_record: &SearchRecord) -> Asked {
    let question = "How many leaves does it visit? One that it visits again counts once.";
    let is_leaf = |node: &&Node| {
        (0..tree.len()).any(|id| tree.node_name(id) == node.name && tree.leaf_value(id).is_some())
    };
    let leaves: Vec<&Node> = search_record.tree.iter().filter(is_leaf).collect();
    let names = |visited: bool| {
        let some = leaves.iter().filter(|leaf| leaf.kind.is_some() == visited);
        some.map(|leaf| leaf.name.as_str()).collect::<Vec<_>>()
    };
    let (visited, never) = (names(true), names(false));
    let reason = match never.is_empty() {
        true => format!("visited: {}", visited.join(" ")),
        false => format!("visited: {}; never: {}", visited.join(" "), never.join(" ")),
    };
    (question.to_owned(), vec![visited.len().to_string()], reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exercises_depend_on_the_seed_and_alternate_kinds() {
        let all = exercises(3, 60);
        assert_eq!(exercises(3, 60), all);
        assert_eq!(exercises(3, 4), all[..4], "a longer list begins with the same exercises");
        assert_ne!(exercises(4, 4), all[..4]);
        for (index, exercise) in all.iter().enumerate() {
            assert_eq!(exercise.number, index + 1);
            let kinds = [Question::Cut, Question::Bound, Question::Leaves];
            assert_eq!(exercise.kind, kinds[index % 3]);
        }
    }

    #[test]
    fn answers_match_the_search() {
        for exercise in exercises(1, 300) {
            let tree: GameTree = exercise.tree.parse().expect("a tree");
            let search_record =
                watch_tree(&tree, exercise.algorithm.parse().expect("an algorithm"));
            let text = search_record.text();
            match exercise.kind {
                Question::Cut => {
                    assert!(text.contains(&exercise.reason), "{exercise:?}");
                    assert!(exercise.reason.ends_with(&exercise.answers.join(" ")));
                }
                Question::Bound => {
                    let bound = &exercise.answers[0];
                    let window = exercise.reason.rsplit_once('(').expect("a window").1;
                    let window = window.split_once(')').expect("a window").0;
                    assert!(window.split(", ").any(|word| word == bound), "{exercise:?}");
                }
                Question::Leaves => {
                    let never = search_record.cut().into_iter().filter(|name| {
                        let id = (0..tree.len()).find(|&id| tree.node_name(id) == *name);
                        tree.leaf_value(id.expect("a node")).is_some()
                    });
                    let leaves = (0..tree.len()).filter(|&id| tree.leaf_value(id).is_some());
                    let visited = leaves.count() - never.count();
                    assert_eq!(exercise.answers, [visited.to_string()], "{exercise:?}");
                }
            }
        }
    }
}
