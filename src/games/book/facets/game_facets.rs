//! The facets of a single game, used to count games without listing them.

use super::game_tags::GameTags;
use super::games::GameId;
use crate::games::pgn::Tags;

#[derive(Debug, Clone, Copy, Default)]
pub(in crate::games::book) struct GameFacets {
    pub game_tags: GameTags,
    /// The id of the game. If the tags contain no id, this is `None` until the game's text has been
    /// read.
    pub id: Option<GameId>,
}

impl GameFacets {
    pub(in crate::games::book) fn of(tags: &Tags) -> Self {
        GameFacets { game_tags: GameTags::of(tags), id: tags.raw("Site").and_then(GameId::of_site) }
    }

    /// Returns a copy whose id is derived from the text, unless the tags contain an id.
    pub(in crate::games::book) fn named(&self, text: &[u8]) -> Self {
        GameFacets { id: self.id.or_else(|| Some(GameId::of_text(text))), ..*self }
    }
}
