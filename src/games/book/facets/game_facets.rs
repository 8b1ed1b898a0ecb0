//! What is told of a single game where its facets are counted without a list of games.

use super::game_tags::GameTags;
use super::games::GameId;
use crate::games::pgn::Tags;

/// What sets a game apart, and what it is called.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::games::book) struct GameFacets {
    pub game_tags: GameTags,
    /// `None` until the text of a game is known that has none by its tags.
    pub id: Option<GameId>,
}

impl GameFacets {
    /// What the tags say.
    pub(in crate::games::book) fn of(tags: &Tags) -> Self {
        GameFacets { game_tags: GameTags::of(tags), id: tags.raw("Site").and_then(GameId::of_site) }
    }

    /// The same with an id, by the text if the tags have told none.
    pub(in crate::games::book) fn named(&self, text: &[u8]) -> Self {
        GameFacets { id: self.id.or_else(|| Some(GameId::of_text(text))), ..*self }
    }
}
