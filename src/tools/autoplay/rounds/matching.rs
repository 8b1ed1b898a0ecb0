//! Minimum-cost perfect matching of a complete graph.

use integer_blossom::min_weight_perfect_matching;

/// Returns each node's partner in a perfect matching with the lowest total cost. Costs have several
/// components, which are added up separately and compared lexicographically. `cost` is called with
/// the lower index first.
///
/// # Panics
/// If `nodes` is odd.
pub(super) fn cheapest_matching<const N: usize>(
    nodes: usize,
    cost: impl Fn(usize, usize) -> [i64; N],
) -> Vec<usize> {
    let pairs = || (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| (a, b)));
    let mut largest = [0; N];
    for (a, b) in pairs() {
        let costs = largest.iter_mut().zip(cost(a, b));
        costs.for_each(|(largest, cost)| *largest = cost.max(*largest));
    }
    // Combine the components into one number: each component is scaled so that it outweighs any
    // possible sum of the less important ones.
    let total = |costs: [i64; N]| {
        let items = costs.into_iter().zip(largest);
        items.fold(0_i128, |sum, (cost, largest)| {
            sum * (i128::from(largest) * nodes as i128 + 1) + i128::from(cost)
        })
    };
    let mut totals = vec![0; nodes * nodes];
    for (a, b) in pairs() {
        totals[a * nodes + b] = total(cost(a, b));
        totals[b * nodes + a] = totals[a * nodes + b];
    }
    min_weight_perfect_matching(&totals, nodes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the lowest cost of a perfect matching of these nodes, found by trying all matchings.
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
        // The first component of the total cost is zero only if each node is paired with its mirror
        // image.
        const NODES: usize = 100;
        let cost = |a: usize, b: usize| [i64::from(a + b != NODES - 1), (a * b % 7) as i64];
        let partners = cheapest_matching(NODES, cost);
        assert!(partners.iter().enumerate().all(|(node, &partner)| node + partner == NODES - 1));
    }
}
