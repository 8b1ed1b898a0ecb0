//! Compares the cost and playing strength of two ways to search a late move again. If a null-window
//! search at reduced depth exceeds alpha at a PV node, both the full depth and the full window must
//! be restored. [`ResearchOrder`] determines which is restored first.
//!
//! ```
//! use tabia::position::Position;
//! use tabia::search::{Control, ResearchOrder};
//! use tabia::suite::research::nodes;
//!
//! for order in ResearchOrder::ALL {
//!     assert!(nodes(order, &[Position::start()], 4, &Control::new()).is_some());
//! }
//! ```

use std::path::Path;
use std::time::Duration;

use crate::chess::position::{Game, Position};
use crate::chess::score::Depth;
use crate::engine::search::{Config, Control, Limits, ResearchOrder, Searcher};
use crate::tools::autoplay::config::{EngineConfig, Protocol};
use crate::tools::autoplay::openings::Opening;
use crate::tools::autoplay::play::{Conditions, Interrupt};
use crate::tools::autoplay::player::StartError;
use crate::tools::autoplay::referee::Rules;
use crate::tools::autoplay::schedule::{Format, Schedule};
use crate::tools::autoplay::stats::Tally;
use crate::tools::autoplay::tournament::{Progress, Standings, Tournament};

/// The size of the transposition table in MiB. This is enough for the short searches in a lesson.
const MEMORY_MB: usize = 16;
/// The time after which an engine that produces no output is considered hung.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The number of moves after which a game is adjudicated as a draw.
const MAX_MOVES: u32 = 150;

/// Counts the nodes needed to search all `positions` to `depth` with the given re-search order.
/// Uses one thread, and starts each search with empty tables. Returns `None` if `control` stops the
/// search.
pub fn nodes(
    order: ResearchOrder,
    positions: &[Position],
    depth: Depth,
    control: &Control,
) -> Option<u64> {
    let config = Config { memory_mb: MEMORY_MB, research_order: order, ..Config::default() };
    let mut searcher = Searcher::new(config);
    let mut sum = 0;
    for &position in positions {
        searcher.new_game();
        let game = Game::new(position);
        sum += searcher.search_without_events(&game, &Limits::depth(depth), control).nodes;
    }
    (!control.is_stopped()).then_some(sum)
}

/// A match between two re-search orders, with a fixed number of nodes per move.
#[derive(Debug, Clone)]
pub struct Match {
    /// The number of games in the match. Each starting position is used for two games.
    pub games: usize,
    /// The number of nodes per move.
    pub nodes: u64,
    /// The number of games played simultaneously.
    pub concurrency: usize,
}

impl Match {
    /// Plays a match between two copies of `program`, which must be Tabia. Each copy uses one of
    /// the `orders`. After each game, calls `on_game` with the results so far, from the first
    /// copy's point of view.
    ///
    /// # Errors
    /// If the program cannot be started.
    pub fn play(
        &self,
        program: &Path,
        orders: [ResearchOrder; 2],
        openings: &[Position],
        interrupt: &Interrupt,
        on_game: &mut dyn FnMut(&Tally),
    ) -> Result<Tally, StartError> {
        let schedule = Schedule {
            engines: 2,
            format: Format::RoundRobin,
            games: self.games,
            openings: openings.len(),
            reversed: true,
        };
        let tournament = Tournament {
            engines: orders.map(|order| self.engine(program, order)).to_vec(),
            openings: openings.iter().copied().map(Opening::from).collect(),
            conditions: Conditions {
                rules: Rules { max_moves: Some(MAX_MOVES), ..Rules::default() },
                tablebases: None,
                timeout: TIMEOUT,
            },
            concurrency: self.concurrency,
            cores: Vec::new(),
            trace: None,
            date: "????.??.??".to_owned(),
            pause: Duration::ZERO,
            error_output: None,
        };
        let (mut standings, mut tally) = (Standings::default(), Tally::default());
        tournament.run(&schedule.slots(), interrupt, |progress| {
            if let Progress::Finished { slot, record, .. } = progress {
                standings.add(slot, &record.verdict);
                tally = standings.tallies.values().next().cloned().unwrap_or_default();
                on_game(&tally);
            }
            true
        })?;
        Ok(tally)
    }

    fn engine(&self, program: &Path, order: ResearchOrder) -> EngineConfig {
        EngineConfig {
            name: order.name().to_owned(),
            command: vec![program.display().to_string(), "--uci".to_owned()],
            protocol: Protocol::Uci,
            options: vec![
                ("ResearchOrder".to_owned(), order.name().to_owned()),
                ("OwnBook".to_owned(), "false".to_owned()),
                ("Hash".to_owned(), MEMORY_MB.to_string()),
            ],
            limits: crate::tools::autoplay::clock::MoveLimits {
                nodes: Some(self.nodes),
                ..crate::tools::autoplay::clock::MoveLimits::default()
            },
            margin: TIMEOUT,
            ..EngineConfig::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::suite::positions::positions;

    #[test]
    fn both_orders_are_searched_and_can_be_stopped() {
        let few: Vec<Position> = positions().into_iter().step_by(12).collect();
        let control = Control::new();
        let counts = ResearchOrder::ALL.map(|order| nodes(order, &few, 6, &control));
        assert!(counts.iter().all(|count| count.is_some_and(|count| count > 1_000)), "{counts:?}");
        assert_ne!(counts[0], counts[1], "the orders do not differ");
        control.stop();
        assert_eq!(nodes(ResearchOrder::DepthFirst, &few, 6, &control), None);
    }

    #[test]
    fn order_names_match_the_setting() {
        let mut settings = crate::engine::controller::Settings::default();
        let row = crate::engine::controller::Setting::find("ResearchOrder").expect("a setting");
        for order in ResearchOrder::ALL {
            assert_eq!(row.change(&mut settings, order.name()), Ok(()));
            assert_eq!(settings.search.research_order, order);
        }
    }
}
