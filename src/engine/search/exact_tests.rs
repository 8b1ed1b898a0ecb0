//! Tests for searches that are stopped at arbitrary points.

use proptest::prelude::*;

use super::tests::{config, game};
use super::*;
use crate::chess::position::{Game, Move};
use crate::support::random::Random;

fn random_game(start: &str, plies: usize, seed: u64) -> Game {
    let mut random = Random::new(seed);
    let mut game = game(start);
    for _ in 0..plies {
        let moves: Vec<Move> = game.position().legal_moves().iter().collect();
        let Some(&mv) = moves.get(random.below(moves.len().max(1))) else { break };
        game.play(mv).expect("legal");
    }
    game
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Checks that a stopped search returns an exact score: the score of the last report, or the
    /// score of the first move of the next iteration.
    #[test]
    fn result_of_a_stopped_search_is_never_a_bound(
        start in prop::sample::select(vec![
            "8/8/8/3k4/8/8/P7/R3K3 w - - 0 1",
            "8/8/4k3/8/8/3QK3/8/8 w - - 0 1",
            "r1bqk1nr/pppp1ppp/2n5/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4",
        ]),
        (plies, seed) in (0_usize..12, any::<u64>()),
        (nodes, multi_pv) in (300_u64..6_000, 1_usize..3),
    ) {
        let game = random_game(start, plies, seed);
        prop_assume!(!game.position().has_no_moves());
        let limits = Limits { multi_pv, ..Limits::nodes(nodes) };
        let (result, reports) = search_and_collect(&game, &limits);
        let last = reports.last().map(|report| report.score);
        let whole = Limits { multi_pv, ..Limits::depth(result.depth + 1) };
        let (_, reports) = search_and_collect(&game, &whole);
        let mut next = reports.iter().filter(|report| report.depth == result.depth + 1);
        let next = next.next().map(|report| (report.score, report.pv[0]));
        // If the first move of the next iteration was not reported, its score is unknown.
        prop_assume!(next.is_none_or(|(_, mv)| Some(mv) == result.best));
        let scores = [last, next.map(|(score, _)| score)];
        prop_assert!(scores.contains(&Some(result.score)), "{} of {scores:?}", result.score);
    }
}

fn search_and_collect(game: &Game, limits: &Limits) -> (SearchResult, Vec<Report>) {
    let mut reports = Vec::new();
    let mut searcher = Searcher::new(config(1, 1));
    let result = searcher.search(game, limits, &Control::new(), &mut |event| {
        if let SearchEvent::Iteration(report) | SearchEvent::NewBest(report) = event
            && (report.multi_pv, report.bound) == (1, Bound::Exact)
        {
            reports.push(report.clone());
        }
    });
    (result, reports)
}
