//! The cheapest perfect matching of a complete graph.
//!
//! Edmonds' blossom algorithm (<https://doi.org/10.6028/jres.069B.013>) in its primal-dual form,
//! with time proportional to the third power of the number of nodes (Galil 1986,
//! <https://doi.org/10.1145/6462.6502>). It finds the heaviest matching; weights are a large number
//! minus the costs, so that the heaviest matching is perfect and the cheapest.
//!
//! A tree grows from each unmatched node, along edges without slack: edges whose weight equals the
//! sum of the labels of their ends. A cycle of odd length in a tree is contracted to a blossom,
//! which then acts as a node. An edge between two trees completes an alternating path, along which
//! the matching grows by one edge. If there is no edge without slack, the labels change.

use std::collections::VecDeque;
use std::mem::swap;

/// Returns the partner of each of `nodes` nodes, so that the sum of the costs is the lowest. Sums of
/// costs are compared item by item. `cost` is called with the lower index first.
///
/// # Panics
/// If `nodes` is odd.
pub(super) fn cheapest_matching<const N: usize>(
    nodes: usize,
    cost: impl Fn(usize, usize) -> [i64; N],
) -> Vec<usize> {
    assert!(nodes.is_multiple_of(2), "an odd number of nodes has no perfect matching");
    let pairs = || (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| (a, b)));
    let mut largest = [0; N];
    for (a, b) in pairs() {
        largest
            .iter_mut()
            .zip(cost(a, b))
            .for_each(|(largest, cost)| *largest = cost.max(*largest));
    }
    // Each item is multiplied so that the sum of all lower ones cannot outweigh it.
    let total = |costs: [i64; N]| {
        let items = costs.into_iter().zip(largest);
        items.fold(0_i128, |sum, (cost, largest)| {
            sum * (i128::from(largest) * nodes as i128 + 1) + i128::from(cost)
        })
    };
    let base = (total(largest) + 1) * (nodes as i128 + 1);
    let mut graph = Graph::new(nodes);
    for (a, b) in pairs() {
        graph.set_weight(a + 1, b + 1, base - total(cost(a, b)));
    }
    graph.solve();
    (1..=nodes).map(|node| graph.partner[node] - 1).collect()
}

/// The place of a node in the trees that grow from unmatched nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The node is in no tree.
    Outside,
    /// The distance from the root is even.
    Even,
    /// The distance from the root is odd.
    Odd,
}

/// An edge between two nodes of the original graph. The weight is 0 if there is none.
#[derive(Debug, Clone, Copy, Default)]
struct Edge {
    from: usize,
    to: usize,
    weight: i128,
}

/// The graph and the state of the algorithm. Nodes are counted from 1; 0 means that there is none.
/// The blossoms follow the `nodes` original nodes.
struct Graph {
    nodes: usize,
    /// The highest number of a node or blossom in use.
    last: usize,
    /// The edges between nodes or blossoms; those of blossoms have the least slack.
    edges: Vec<Vec<Edge>>,
    labels: Vec<i128>,
    /// The node at the other end of the matching's edge.
    partner: Vec<usize>,
    /// The end, in a tree, of the edge with the least slack to each node.
    nearest: Vec<usize>,
    /// The outermost blossom that contains each node; 0 if a blossom is not in use.
    outer: Vec<usize>,
    parent: Vec<usize>,
    place: Vec<Place>,
    /// The nodes of each blossom along its cycle, beginning with its base.
    cycle: Vec<Vec<usize>>,
    /// For each blossom and original node, the node of the cycle that contains it.
    part: Vec<Vec<usize>>,
    /// The number of the search for a common ancestor that visited each node last.
    visited: Vec<usize>,
    searches: usize,
    /// The even nodes whose edges have not been examined.
    queue: VecDeque<usize>,
}

impl Graph {
    fn new(nodes: usize) -> Self {
        let size = nodes + nodes / 2 + 1;
        let ends = |from: usize| (0..size).map(move |to| Edge { from, to, weight: 0 });
        let part = |own: usize| (0..=nodes).map(move |node| if node == own { node } else { 0 });
        Graph {
            nodes,
            last: nodes,
            edges: (0..size).map(|from| ends(from).collect()).collect(),
            labels: vec![0; size],
            partner: vec![0; size],
            nearest: vec![0; size],
            outer: (0..size).map(|node| if node <= nodes { node } else { 0 }).collect(),
            parent: vec![0; size],
            place: vec![Place::Outside; size],
            cycle: vec![Vec::new(); size],
            part: (0..size).map(|own| part(own).collect()).collect(),
            visited: vec![0; size],
            searches: 0,
            queue: VecDeque::new(),
        }
    }

    fn set_weight(&mut self, a: usize, b: usize, weight: i128) {
        self.edges[a][b].weight = weight;
        self.edges[b][a].weight = weight;
    }

    fn solve(&mut self) {
        let weights = self.edges.iter().flatten().map(|edge| edge.weight);
        let heaviest = weights.max().unwrap_or(0);
        self.labels[1..=self.nodes].fill(heaviest);
        while self.grow_matching() {}
    }

    /// Returns twice the slack of an edge.
    fn slack(&self, edge: Edge) -> i128 {
        self.labels[edge.from] + self.labels[edge.to] - 2 * self.edges[edge.from][edge.to].weight
    }

    fn note_slack(&mut self, from: usize, node: usize) {
        let known = self.nearest[node];
        if known == 0 || self.slack(self.edges[from][node]) < self.slack(self.edges[known][node]) {
            self.nearest[node] = from;
        }
    }

    fn find_nearest(&mut self, node: usize) {
        self.nearest[node] = 0;
        for from in 1..=self.nodes {
            let is_near = self.edges[from][node].weight > 0
                && self.outer[from] != node
                && self.place[self.outer[from]] == Place::Even;
            if is_near {
                self.note_slack(from, node);
            }
        }
    }

    fn enqueue(&mut self, node: usize) {
        if node <= self.nodes {
            self.queue.push_back(node);
        } else {
            for index in 0..self.cycle[node].len() {
                self.enqueue(self.cycle[node][index]);
            }
        }
    }

    fn set_outer(&mut self, node: usize, outer: usize) {
        self.outer[node] = outer;
        if node > self.nodes {
            for index in 0..self.cycle[node].len() {
                self.set_outer(self.cycle[node][index], outer);
            }
        }
    }

    /// Returns the index of a node in the cycle of a blossom, in the direction in which it is even.
    fn even_index(&mut self, blossom: usize, node: usize) -> usize {
        let cycle = &mut self.cycle[blossom];
        let index = cycle.iter().position(|&other| other == node).unwrap_or(0);
        if index.is_multiple_of(2) {
            return index;
        }
        cycle[1..].reverse();
        cycle.len() - index
    }

    /// Matches two nodes, and the nodes inside the first one accordingly.
    fn match_nodes(&mut self, node: usize, other: usize) {
        let edge = self.edges[node][other];
        self.partner[node] = edge.to;
        if node <= self.nodes {
            return;
        }
        let base = self.part[node][edge.from];
        let index = self.even_index(node, base);
        for step in 0..index {
            self.match_nodes(self.cycle[node][step], self.cycle[node][step ^ 1]);
        }
        self.match_nodes(base, other);
        self.cycle[node].rotate_left(index);
    }

    /// Exchanges matched and unmatched edges from a node to the root of its tree.
    fn augment(&mut self, mut node: usize, mut other: usize) {
        loop {
            let next = self.outer[self.partner[node]];
            self.match_nodes(node, other);
            if next == 0 {
                return;
            }
            let ancestor = self.outer[self.parent[next]];
            self.match_nodes(next, ancestor);
            (node, other) = (ancestor, next);
        }
    }

    /// Returns the lowest common ancestor of two nodes, or 0 if they are in different trees.
    fn common_ancestor(&mut self, mut a: usize, mut b: usize) -> usize {
        self.searches += 1;
        while a != 0 || b != 0 {
            if a != 0 {
                if self.visited[a] == self.searches {
                    return a;
                }
                self.visited[a] = self.searches;
                a = self.outer[self.partner[a]];
                if a != 0 {
                    a = self.outer[self.parent[a]];
                }
            }
            swap(&mut a, &mut b);
        }
        0
    }

    /// Adds the path from a node to its ancestor, without the ancestor, to a cycle.
    fn add_path(&mut self, cycle: &mut Vec<usize>, mut node: usize, ancestor: usize) {
        while node != ancestor {
            let odd = self.outer[self.partner[node]];
            cycle.extend([node, odd]);
            self.enqueue(odd);
            node = self.outer[self.parent[odd]];
        }
    }

    /// Contracts the cycle through two even nodes and their lowest common ancestor.
    fn add_blossom(&mut self, a: usize, ancestor: usize, b: usize) {
        let unused = (self.nodes + 1..=self.last).find(|&blossom| self.outer[blossom] == 0);
        let blossom = unused.unwrap_or(self.last + 1);
        self.last = self.last.max(blossom);
        self.labels[blossom] = 0;
        self.place[blossom] = Place::Even;
        self.partner[blossom] = self.partner[ancestor];
        let mut cycle = vec![ancestor];
        self.add_path(&mut cycle, a, ancestor);
        cycle[1..].reverse();
        self.add_path(&mut cycle, b, ancestor);
        self.cycle[blossom] = cycle;
        self.set_outer(blossom, blossom);
        for node in 1..=self.last {
            self.set_weight(blossom, node, 0);
        }
        self.part[blossom].fill(0);
        for index in 0..self.cycle[blossom].len() {
            let inner = self.cycle[blossom][index];
            for node in 1..=self.last {
                let known = self.edges[blossom][node];
                let is_nearer = self.edges[inner][node].weight > 0
                    && (known.weight == 0
                        || self.slack(self.edges[inner][node]) < self.slack(known));
                if is_nearer {
                    self.edges[blossom][node] = self.edges[inner][node];
                    self.edges[node][blossom] = self.edges[node][inner];
                }
            }
            for node in 1..=self.nodes {
                if self.part[inner][node] != 0 {
                    self.part[blossom][node] = inner;
                }
            }
        }
        self.find_nearest(blossom);
    }

    /// Replaces an odd blossom by the nodes of its cycle.
    fn expand_blossom(&mut self, blossom: usize) {
        let cycle = self.cycle[blossom].clone();
        for &node in &cycle {
            self.set_outer(node, node);
        }
        let entry = self.edges[blossom][self.parent[blossom]].from;
        let entry = self.part[blossom][entry];
        let index = self.even_index(blossom, entry);
        let cycle = self.cycle[blossom].clone();
        // The nodes before the entry stay in the tree, alternately odd and even.
        for step in (0..index).step_by(2) {
            let (odd, even) = (cycle[step], cycle[step + 1]);
            self.parent[odd] = self.edges[even][odd].from;
            self.place[odd] = Place::Odd;
            self.place[even] = Place::Even;
            self.nearest[odd] = 0;
            self.find_nearest(even);
            self.enqueue(even);
        }
        self.place[entry] = Place::Odd;
        self.parent[entry] = self.parent[blossom];
        for &node in &cycle[index + 1..] {
            self.place[node] = Place::Outside;
            self.find_nearest(node);
        }
        self.outer[blossom] = 0;
    }

    /// Uses an edge without slack from an even node. Returns whether the matching has grown.
    fn use_edge(&mut self, edge: Edge) -> bool {
        let (from, to) = (self.outer[edge.from], self.outer[edge.to]);
        match self.place[to] {
            Place::Outside => {
                self.parent[to] = edge.from;
                self.place[to] = Place::Odd;
                let next = self.outer[self.partner[to]];
                self.nearest[to] = 0;
                self.nearest[next] = 0;
                self.place[next] = Place::Even;
                self.enqueue(next);
            }
            Place::Even => {
                let ancestor = self.common_ancestor(from, to);
                if ancestor == 0 {
                    self.augment(from, to);
                    self.augment(to, from);
                    return true;
                }
                self.add_blossom(from, ancestor, to);
            }
            Place::Odd => {}
        }
        false
    }

    fn is_outermost(&self, node: usize) -> bool {
        self.outer[node] == node
    }

    /// Adds an edge to the matching. Returns whether there was one to add.
    fn grow_matching(&mut self) -> bool {
        self.place.fill(Place::Outside);
        self.nearest.fill(0);
        self.queue.clear();
        for node in 1..=self.last {
            if self.is_outermost(node) && self.partner[node] == 0 {
                self.parent[node] = 0;
                self.place[node] = Place::Even;
                self.enqueue(node);
            }
        }
        if self.queue.is_empty() {
            return false;
        }
        loop {
            if self.examine_queue() {
                return true;
            }
            self.change_labels();
            self.queue.clear();
            for node in 1..=self.last {
                let near = self.nearest[node];
                let is_reached = self.is_outermost(node)
                    && near != 0
                    && self.outer[near] != node
                    && self.slack(self.edges[near][node]) == 0;
                if is_reached && self.use_edge(self.edges[near][node]) {
                    return true;
                }
            }
            for blossom in self.nodes + 1..=self.last {
                let is_odd = self.is_outermost(blossom) && self.place[blossom] == Place::Odd;
                if is_odd && self.labels[blossom] == 0 {
                    self.expand_blossom(blossom);
                }
            }
        }
    }

    /// Uses all edges without slack of the queued nodes, until the matching has grown.
    fn examine_queue(&mut self) -> bool {
        while let Some(node) = self.queue.pop_front() {
            if self.place[self.outer[node]] == Place::Odd {
                continue;
            }
            for other in 1..=self.nodes {
                let edge = self.edges[node][other];
                if edge.weight == 0 || self.outer[node] == self.outer[other] {
                    continue;
                }
                if self.slack(edge) > 0 {
                    self.note_slack(node, self.outer[other]);
                } else if self.use_edge(edge) {
                    return true;
                }
            }
        }
        false
    }

    /// Changes the labels in the trees by the largest amount that leaves no negative slack.
    fn change_labels(&mut self) {
        let mut change = i128::MAX;
        for node in (1..=self.last).filter(|&node| self.is_outermost(node)) {
            let near = self.nearest[node];
            let slack = (near != 0).then(|| self.slack(self.edges[near][node]));
            let limit = match self.place[node] {
                Place::Odd if node > self.nodes => Some(self.labels[node] / 2),
                Place::Odd => None,
                Place::Outside => slack,
                Place::Even => slack.map(|slack| slack / 2),
            };
            change = change.min(limit.unwrap_or(i128::MAX));
        }
        for node in 1..=self.nodes {
            match self.place[self.outer[node]] {
                Place::Even => self.labels[node] -= change,
                Place::Odd => self.labels[node] += change,
                Place::Outside => {}
            }
        }
        for blossom in self.nodes + 1..=self.last {
            if self.is_outermost(blossom) {
                match self.place[blossom] {
                    Place::Even => self.labels[blossom] += 2 * change,
                    Place::Odd => self.labels[blossom] -= 2 * change,
                    Place::Outside => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the lowest cost of a perfect matching of the nodes in a set, by trying all.
    fn lowest(nodes: &[usize], cost: &dyn Fn(usize, usize) -> [i64; 2]) -> [i64; 2] {
        let [first, rest @ ..] = nodes else { return [0, 0] };
        let with = |&partner: &usize| {
            let others: Vec<usize> = rest.iter().copied().filter(|&node| node != partner).collect();
            let (own, sum) = (cost(*first, partner), lowest(&others, cost));
            [own[0] + sum[0], own[1] + sum[1]]
        };
        rest.iter().map(with).min().expect("an even number of nodes")
    }

    proptest! {
        #[test]
        fn no_perfect_matching_is_cheaper(
            half in 0_usize..=4,
            costs in prop::collection::vec([0_i64..4, 0_i64..9], 64),
        ) {
            let cost = |a: usize, b: usize| costs[8 * a + b];
            let partners = cheapest_matching(2 * half, cost);
            let mut sum = [0, 0];
            for (node, &partner) in partners.iter().enumerate() {
                prop_assert!(partner != node && partners[partner] == node);
                if node < partner {
                    let own = cost(node, partner);
                    sum = [sum[0] + own[0], sum[1] + own[1]];
                }
            }
            let nodes: Vec<usize> = (0..2 * half).collect();
            prop_assert_eq!(sum, lowest(&nodes, &cost));
        }
    }

    #[test]
    fn large_graphs_are_matched() {
        // The only matching without costs joins each node to its mirror image.
        const NODES: usize = 100;
        let cost = |a: usize, b: usize| [i64::from(a + b != NODES - 1), (a * b % 7) as i64];
        let partners = cheapest_matching(NODES, cost);
        assert!(partners.iter().enumerate().all(|(node, &partner)| node + partner == NODES - 1));
    }
}
