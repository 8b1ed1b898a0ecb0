//! Finds the players whose maximum-likelihood ratings are finite.

use std::collections::BTreeSet;

use super::{Anchor, RatedGame};

/// Returns the largest group in which every player took at least half a point from every other,
/// directly or through a chain of players. The maximum-likelihood ratings are finite only within
/// such a group (Ford 1957, <https://doi.org/10.2307/2308513>). If there are anchors, all anchored
/// players are treated as a single player, and the group that contains them is returned. Without
/// anchors, a group of one player is not returned, because there is nothing to compare it with.
pub(super) fn comparable(
    players: usize,
    games: &[RatedGame],
    anchors: &[Anchor],
) -> BTreeSet<usize> {
    // The last node connects the anchors.
    let hub = players;
    let (mut beaten, mut beaten_by) =
        (vec![BTreeSet::new(); hub + 1], vec![BTreeSet::new(); hub + 1]);
    let mut add = |winner: usize, loser: usize| {
        beaten[winner].insert(loser);
        beaten_by[loser].insert(winner);
    };
    for game in games {
        let [white, black] = game.players;
        if game.half_points > 0 {
            add(white, black);
        }
        if game.half_points < 2 {
            add(black, white);
        }
    }
    for anchor in anchors {
        add(hub, anchor.player);
        add(anchor.player, hub);
    }
    let group = |player| -> BTreeSet<usize> {
        let (below, above) = (reached(player, &beaten), reached(player, &beaten_by));
        below.intersection(&above).copied().filter(|&player| player != hub).collect()
    };
    if !anchors.is_empty() {
        return group(hub);
    }
    let (mut left, mut largest): (BTreeSet<usize>, _) = ((0..players).collect(), BTreeSet::new());
    while let Some(player) = left.pop_first() {
        let group = group(player);
        left.retain(|player| !group.contains(player));
        if group.len() > largest.len() {
            largest = group;
        }
    }
    if largest.len() > 1 { largest } else { BTreeSet::new() }
}

/// Returns all nodes reachable from `start`, including `start` itself.
fn reached(start: usize, edges: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let (mut found, mut open) = (BTreeSet::from([start]), vec![start]);
    while let Some(node) = open.pop() {
        open.extend(edges[node].iter().copied().filter(|&next| found.insert(next)));
    }
    found
}
