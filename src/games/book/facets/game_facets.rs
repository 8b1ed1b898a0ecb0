//! The facets of a single game, such as date, ratings and speed, by which games are counted.

use super::game_tags::GameTags;
use super::games::GameId;
use crate::games::pgn::Tags;

#[derive(Debug, Clone, Copy, Default)]
pub(in crate::games::book) struct GameFacets {
    pub game_tags: GameTags,
    /// The id of the game. If the tags contain no id, it is derived from the game's text, and is
    /// `None` until the text has been read.
    pub id: Option<GameId>,
}

impl GameFacets {
    pub(in crate::games::book) fn of(tags: &Tags) -> Self {
        GameFacets { game_tags: GameTags::of(tags), id: tags.raw("Site").and_then(GameId::of_site) }
    }

    /// Returns a copy with an id: the one from the tags or, if they contain none, one derived from
    /// the game's text.
    pub(in crate::games::book) fn named(&self, text: &[u8]) -> Self {
        GameFacets { id: self.id.or_else(|| Some(GameId::of_text(text))), ..*self }
    }
}
