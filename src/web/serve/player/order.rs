//! The parameters of a request for a player's games.

use super::names::{Comparison, WantedName};
use crate::chess::position::{Color, Game};
use crate::games::book::FacetFilter;
use crate::support::words::named_values;
use crate::web::serve::api_error::ApiError;
use crate::web::serve::explorer::{at_most, moves, standard_chess};
use crate::web::serve::facets::{self, Dates};
use crate::web::serve::limits::MAX_MOVES;
use crate::web::serve::query::Query;

const RECENT_GAMES: u64 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Casual,
    Rated,
}

named_values! { pub(super) Mode, "mode": Casual = "casual", Rated = "rated" }

impl Mode {
    /// Derives the mode from an event name as written by Lichess. Games that are not marked as
    /// casual count as rated.
    pub(super) fn of_event(event: &str) -> Self {
        if event.to_lowercase().starts_with("casual") { Mode::Casual } else { Mode::Rated }
    }
}

#[derive(Debug)]
pub(crate) struct PlayerOrder {
    pub(super) player: WantedName,
    /// If set, only games against players whose names contain this text are included.
    pub(super) opponent: Option<WantedName>,
    /// The player's colour, or `None` to include games with both colours.
    pub(super) color: Option<Color>,
    pub(super) game: Game,
    pub(super) filter: FacetFilter,
    /// The modes to include. If empty, games of both modes are included.
    pub(super) modes: Vec<Mode>,
    pub(super) moves: usize,
    pub(super) recent_games: usize,
}

impl PlayerOrder {
    pub(crate) fn of(mut query: Query) -> Result<Self, ApiError> {
        standard_chess(&mut query)?;
        let what = "complete, spelling or part";
        let comparison = query.read("match", what)?.unwrap_or_default();
        let player = WantedName::read(&mut query, "player", comparison)?
            .ok_or_else(|| ApiError::bad_request("player: expected a name"))?;
        let opponent = WantedName::read(&mut query, "opponent", Comparison::Part)?;
        let color = match query.text("color").as_deref() {
            Some("white") => Some(Color::White),
            Some("black") => Some(Color::Black),
            // Only Tabia accepts this value. Lichess requires one of the others.
            Some("both") => None,
            _ => return Err(ApiError::bad_request("color: expected white, black or both")),
        };
        let game = query.game()?;
        let speeds = query.list("speeds", "a speed (ultraBullet, … correspondence)")?;
        Ok(PlayerOrder {
            player,
            opponent,
            color,
            game,
            filter: facets::read_dates(&mut query, Dates::Months, Vec::new(), speeds)?,
            modes: query.list("modes", "a mode (casual, rated)")?,
            moves: moves(&mut query, MAX_MOVES as u64)?,
            recent_games: at_most(&mut query, "recentGames", RECENT_GAMES)?,
        })
    }
}
