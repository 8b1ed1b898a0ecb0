//! Tests that traces of the engine's search agree with the search itself.

use tabia::position::{Game, Position};
use tabia::search::observe::NodeEnd;
use tabia::search::trace::{Bounds, Trace, Visit, trace};
use tabia::search::{Config, Control, Limits, SearchResult, Searcher};
use tabia::suite::positions::positions;

const BOUNDS: Bounds = Bounds { plies: 3, min_depth: 0, branch: Vec::new(), visits: 10_000 };

fn traced(position: &Position, depth: i32, threads: usize) -> (SearchResult, Trace) {
    let config = Config { memory_mb: 4, threads, cores: Some(threads), ..Config::default() };
    let mut searcher = Searcher::new(config);
    let (game, limits) = (Game::new(*position), Limits::depth(depth));
    trace(&mut searcher, &game, &limits, &Control::new(), BOUNDS, &mut |_| {})
}

#[test]
fn sums_of_visits_match_the_search_counters() {
    for position in positions().iter().take(20) {
        let (result, trace) = traced(position, 9, 1);
        assert_eq!(trace.sums.counters(), trace.counters, "{position}");
        assert_eq!(trace.counters.nodes, result.nodes, "{position}");
        let sums = &trace.sums;
        assert!(sums.cutoffs > 0 && sums.deeper > 0 && sums.open > 0, "{position}");
        let visits: u64 = sums.ends.values().sum();
        let roots = trace.visits.iter().filter(|visit| visit.ply == 0).count() as u64;
        assert_eq!(visits, sums.nodes + roots, "{position}");
    }
}

#[test]
fn tracing_does_not_change_the_search() {
    for position in positions().iter().step_by(15) {
        let (watched, _) = traced(position, 9, 1);
        let config = Config { memory_mb: 4, ..Config::default() };
        let game = Game::new(*position);
        let unwatched =
            Searcher::new(config).search_without_events(&game, &Limits::depth(9), &Control::new());
        assert_eq!(
            (watched.best, watched.score, watched.nodes),
            (unwatched.best, unwatched.score, unwatched.nodes)
        );
    }
}

#[test]
fn every_node_is_counted_below_a_root_move() {
    for threads in [1, 3] {
        let (result, trace) = traced(&positions()[4], 10, threads);
        assert_eq!(trace.sums.counters(), trace.counters, "{threads} threads");
        assert_eq!(trace.sums.nodes, result.nodes);
        let at_ply = |ply| trace.visits.iter().filter(move |visit: &&Visit| visit.ply == ply);
        let root: u64 = at_ply(0).map(|visit| visit.nodes).sum();
        let is_move =
            |visit: &&Visit| visit.parent.is_some_and(|above| trace.visits[above].ply == 0);
        let moves: u64 = at_ply(1).filter(is_move).map(|visit| visit.nodes).sum();
        assert_eq!((root, moves), (result.nodes, result.nodes), "{threads} threads");
        let last = trace.visits.iter().map(|visit| visit.iteration).max();
        assert!(at_ply(2).count() > 50 && at_ply(2).all(|visit| Some(visit.iteration) == last));
        for (index, visit) in trace.visits.iter().enumerate().filter(|(_, visit)| visit.ply > 0) {
            let parent = &trace.visits[visit.parent.expect("a visit above")];
            assert!(visit.parent < Some(index) && parent.nodes >= visit.nodes);
            assert!(parent.ply == visit.ply || parent.ply + 1 == visit.ply);
        }
    }
}

#[test]
fn recorded_visits_are_bounded() {
    let position = Position::start();
    let config = Config { memory_mb: 4, ..Config::default() };
    let mut searcher = Searcher::new(config);
    // Trace the branch of the principal variation, because the search visits it despite pruning.
    let (found, _) = traced(&position, 8, 1);
    let [best, reply] = [found.best, found.ponder].map(|mv| mv.expect("a line"));
    let names = [position.san(best), position.play(best).san(reply)];
    let bounds = Bounds { plies: 4, min_depth: 1, branch: vec![best, reply], visits: 30 };
    let game = Game::new(position);
    let (_, trace) =
        trace(&mut searcher, &game, &Limits::depth(8), &Control::new(), bounds, &mut |_| {});
    let deep: Vec<&Visit> = trace.visits.iter().filter(|visit| visit.ply > 1).collect();
    assert!(!deep.is_empty() && deep.len() <= 30);
    for visit in deep {
        assert!(visit.depth >= 1 && visit.ply <= 4);
        let mut above = Some(visit);
        let moves: Vec<&str> = std::iter::from_fn(|| {
            let visit = above?;
            above = visit.parent.map(|parent| &trace.visits[parent]);
            Some(visit)
        })
        .filter_map(|visit| visit.mv.as_deref())
        .collect();
        assert_eq!(moves[moves.len() - 2..], [&names[1], &names[0]], "{moves:?}");
    }
}

#[test]
fn position_without_moves_has_an_empty_trace() {
    let mated = Position::from_fen("R5k1/5ppp/8/8/8/8/8/K7 b - - 0 1").expect("a position");
    let (result, trace) = traced(&mated, 3, 1);
    assert_eq!((result.best, trace.visits.len()), (None, 0));
    let (_, trace) = traced(&positions()[0], 5, 1);
    assert!(trace.sums.ends[&NodeEnd::Moves] > 0 && trace.sums.ends[&NodeEnd::StandPat] > 0);
}
