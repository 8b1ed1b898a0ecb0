//! What the search needs to know of the settings, and the search as a backend.

use crate::book::Book;
use crate::eval::Evaluation;
use crate::position::Game;
use crate::search::{
    BookSearch, Control, Event, Limits, Options, ResearchOrder, SearchResult, Searcher,
};

use crate::tablebase::Tables;

use super::worker::{Backend, MakeBackend};

/// The settings that concern the search.
#[derive(Clone)]
pub struct Setup {
    /// What the transposition table may take, in mebibytes.
    pub memory: usize,
    /// Threads that search.
    pub threads: usize,
    /// What judges positions.
    pub evaluation: Evaluation,
    /// The endgame tables that the search asks.
    pub endgames: Option<Tables>,
    /// The book that the tree is compared with.
    pub book: Book,
    /// What a position of the book does to the search.
    pub book_search: BookSearch,
    /// How a reduced move that turns out better is searched again.
    pub research_order: ResearchOrder,
}

/// The real search. It is made with the first setup, so that no table is allocated in vain.
#[derive(Default)]
struct Real {
    searcher: Option<Searcher>,
    /// What was last asked for. The system may give less, which is told once.
    asked: Options,
    endgames: Option<Tables>,
}

impl Real {
    fn searcher(&mut self) -> &mut Searcher {
        self.searcher.get_or_insert_with(|| Searcher::new(Options::default()))
    }
}

impl Backend for Real {
    fn configure(&mut self, setup: &Setup) {
        let options = Options { memory_mb: setup.memory, threads: setup.threads };
        let searcher = self.searcher.get_or_insert_with(|| {
            self.asked = options;
            Searcher::new(options)
        });
        if self.asked.threads != options.threads {
            searcher.set_threads(options.threads);
        }
        if self.asked.memory_mb != options.memory_mb {
            searcher.set_memory(options.memory_mb);
        }
        self.asked = options;
        searcher.set_evaluation(setup.evaluation.clone());
        searcher.set_research_order(setup.research_order);
        self.endgames = setup.endgames.clone();
        searcher.set_endgames(self.endgames.clone());
        searcher.set_book(Some(setup.book.clone()), setup.book_search);
    }

    fn new_game(&mut self) {
        self.searcher().new_game();
    }

    fn take_faults(&mut self) -> Vec<String> {
        let faults = self.searcher.iter_mut().flat_map(Searcher::take_faults);
        let faults = faults.map(|fault| fault.to_string());
        faults.chain(self.endgames.iter().flat_map(Tables::take_damage)).collect()
    }

    fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        control: &Control,
        tell: &mut dyn FnMut(&Event),
    ) -> SearchResult {
        self.searcher().search(game, limits, control, tell)
    }
}

/// Makes the real search.
pub fn searcher() -> MakeBackend {
    Box::new(|| Box::<Real>::default())
}
