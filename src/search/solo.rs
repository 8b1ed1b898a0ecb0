//! A searcher that needs no thread of its own.

use crossbeam::channel::unbounded;

use super::control::Control;
use super::limits::Limits;
use super::report::SearchResult;
use super::worker::{Audience, Equipment, Job, Memory, Told, Worker};
use crate::eval::Evaluation;
use crate::position::Game;

/// Searches in the calling thread, whose stack must have [`super::STACK_SIZE`] bytes.
///
/// It finds what a [`super::Searcher`] with one thread finds. Searches of some hundred nodes take a
/// fifth less time so, because no thread has to be woken.
pub struct SoloSearcher {
    equipment: Equipment,
    memory: Memory,
}

impl SoloSearcher {
    /// A searcher with an empty table of at most `memory_mb` megabytes.
    pub fn new(memory_mb: usize, evaluation: Evaluation) -> Self {
        let equipment = Equipment { evaluation, ..Equipment::new(memory_mb) };
        SoloSearcher { equipment, memory: Memory::new() }
    }

    /// Forgets all that was learnt from earlier searches.
    pub fn new_game(&mut self) {
        self.equipment.forget();
    }

    /// Searches the current position of `game` until a limit is reached.
    pub fn search(&mut self, game: &Game, limits: &Limits) -> SearchResult {
        self.equipment.table.new_search();
        // Nobody listens: the result is returned.
        let audience = Audience { told: Told::Result, messages: unbounded().0 };
        let job = Job::new(game, limits, &Control::new(), self.equipment.clone(), 1, audience);
        Worker::new(0, &job, &mut self.memory).think()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Options, STACK_SIZE, Searcher};

    #[test]
    fn it_finds_what_a_searcher_with_one_thread_finds() {
        const NODES: u64 = 3_000;
        let play = |mut search: Box<dyn FnMut(&Game) -> SearchResult>| {
            let mut game = Game::default();
            let results = (0..6).map(|_| {
                let result = search(&game);
                let _ = game.play(result.best.expect("a move"));
                (result.best, result.score, result.nodes)
            });
            results.collect::<Vec<_>>()
        };
        let solo = std::thread::Builder::new().stack_size(STACK_SIZE).spawn(move || {
            let limits = Limits::nodes(NODES);
            let mut solo = SoloSearcher::new(1, Evaluation::default());
            play(Box::new(move |game| solo.search(game, &limits)))
        });
        let limits = Limits::nodes(NODES);
        let mut searcher = Searcher::new(Options { memory_mb: 1, threads: 1 });
        let expected =
            play(Box::new(move |game| searcher.search_silently(game, &limits, &Control::new())));
        assert_eq!(solo.expect("a thread").join().expect("no panic"), expected);
    }
}
