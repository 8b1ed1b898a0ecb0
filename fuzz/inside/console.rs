//! Runs the console with very short searches, so that many inputs can be tested.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::chess::position::Game;
use crate::cli::type_in;
use crate::engine::controller::{Backend, Engine, Settings};
use crate::engine::search::{Config, Control, Limits, SearchEvent, SearchResult, Searcher};
use crate::games::book::Book;

/// The maximum number of nodes per search. A few hundred nodes are enough to choose a move.
const NODES: u64 = 400;

/// Searches like the engine, but with one thread, few nodes and little memory.
struct ShortSearch(Searcher);

/// Returns the configuration, changed to use little memory and a single thread.
fn small_config(config: Config) -> Config {
    Config { memory_mb: 1, threads: 1, ..config }
}

impl Backend for ShortSearch {
    fn configure(&mut self, config: Config) {
        self.0.configure(small_config(config));
    }

    fn new_game(&mut self) {
        self.0.new_game();
    }

    fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        control: &Control,
        report: &mut (dyn FnMut(&SearchEvent) + Send),
    ) -> SearchResult {
        let nodes = Some(limits.nodes.unwrap_or(NODES).min(NODES));
        self.0.search(game, &Limits { nodes, ..limits.clone() }, control, report)
    }
}

/// Output of the console.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn engine() -> Engine {
    let short_search = Box::new(|config| {
        Box::new(ShortSearch(Searcher::new(small_config(config)))) as Box<dyn Backend>
    });
    Engine::new(short_search, Settings::default(), Book::embedded()).expect("no files")
}

/// Types `lines` into the console and returns its output. The console saves games to `kept`.
pub fn show(lines: impl Iterator<Item = String> + Send + 'static, kept: PathBuf) -> String {
    let screen = Screen::default();
    type_in(engine(), Box::new(screen.clone()), kept, lines).expect("written");
    String::from_utf8(screen.0.lock().expect("no panic").clone()).expect("text")
}
