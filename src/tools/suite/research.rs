//! Two orders of searching a move again: which is cheaper, and which plays better?
//!
//! A late move is searched with a null window and at reduced depth first. Where that beats alpha
//! at a PV node, both have to be made good: the depth and the window. See
//! [`ResearchOrder`].

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

/// A transposition table large enough for a lesson, in mebibytes.
const MEMORY_MB: usize = 16;
/// An engine that says nothing for so long hangs.
const TIMEOUT: Duration = Duration::from_secs(60);
/// A game that is not over by then is a draw, in moves.
const MAX_MOVES: u32 = 150;

/// The nodes that one order needs for some positions, each searched to `depth` by one thread with
/// an empty table; `None` once `control` says stop.
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

/// A match of the two orders at fixed nodes.
#[derive(Debug, Clone)]
pub struct Match {
    /// Games, two from each position.
    pub games: usize,
    /// Nodes for each move.
    pub nodes: u64,
    /// Games at a time.
    pub concurrency: usize,
}

impl Match {
    /// Plays `program`, which must be Tabia, with the orders `orders` against itself; tells
    /// `on_game` after each game what has come of them so far, from the first one's side.
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
            slots: schedule.slots(),
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
        };
        let (mut standings, mut tally) = (Standings::default(), Tally::default());
        tournament.run(interrupt, |progress| {
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
    fn both_orders_are_searched_and_a_stop_is_noticed() {
        let few: Vec<Position> = positions().into_iter().step_by(12).collect();
        let control = Control::new();
        let counts = ResearchOrder::ALL.map(|order| nodes(order, &few, 6, &control));
        assert!(counts.iter().all(|count| count.is_some_and(|count| count > 1_000)), "{counts:?}");
        assert_ne!(counts[0], counts[1], "the orders do not differ");
        control.stop();
        assert_eq!(nodes(ResearchOrder::DepthFirst, &few, 6, &control), None);
    }

    #[test]
    fn names_are_those_of_the_setting() {
        let mut settings = crate::engine::controller::Settings::default();
        let row = crate::engine::controller::Setting::find("ResearchOrder").expect("a setting");
        for order in ResearchOrder::ALL {
            assert_eq!(row.change(&mut settings, order.name()), Ok(()));
            assert_eq!(settings.search.research_order, order);
        }
    }
}
