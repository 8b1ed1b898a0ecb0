//! Compares players' names, and completes partial names from the names in the books.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::letters::{PlainName, letters};
use crate::games::book::{Book, surname_letters};
use crate::support::words::named_values;
use crate::web::serve::api_error::ApiError;
use crate::web::serve::limits::{MAX_COMPLETIONS, MAX_PLAYER_NAME};
use crate::web::serve::query::Query;

/// Which parts of two names must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Comparison {
    /// The whole name, ignoring case, as on Lichess.
    #[default]
    Complete,
    /// The surname and the initial of the first name, so that different spellings match.
    Spelling,
    /// The requested name may occur anywhere in the other name, ignoring case, diacritics, spaces
    /// and punctuation. The first name may come first.
    Part,
}

named_values! { pub(super) Comparison, "comparison of names":
    Complete = "complete",
    Spelling = "spelling",
    Part = "part",
}

/// A requested name, normalised for comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WantedName {
    comparison: Comparison,
    text: String,
}

impl WantedName {
    pub(super) fn new(comparison: Comparison, name: &str) -> Self {
        let text = match comparison {
            Comparison::Complete => name.trim().to_lowercase(),
            Comparison::Spelling => spelling_key(name),
            Comparison::Part => letters(name),
        };
        WantedName { comparison, text }
    }

    /// Reads a player's name from the query parameter `name`. Returns `None` if the parameter is
    /// absent or blank.
    pub(super) fn read(
        query: &mut Query,
        name: &str,
        comparison: Comparison,
    ) -> Result<Option<Self>, ApiError> {
        let text = query.text(name).unwrap_or_default();
        if text.trim().is_empty() {
            return Ok(None);
        }
        let wanted = WantedName::new(comparison, &text);
        if wanted.text.is_empty() || text.trim().len() > MAX_PLAYER_NAME {
            return Err(ApiError::bad_request(format!(
                "{name}: expected a name of 1 to {MAX_PLAYER_NAME} bytes with a letter or a digit"
            )));
        }
        Ok(Some(wanted))
    }

    /// Returns whether this name matches the name in a game's `White` or `Black` tag.
    pub(super) fn is(&self, name: &str) -> bool {
        match self.comparison {
            Comparison::Part => PlainName::new(name).contains(&self.text),
            comparison => WantedName::new(comparison, name).text == self.text,
        }
    }
}

/// Returns a key that is the same for all spellings of a name. It consists of the ASCII letters of
/// the surname without diacritics (as compared when looking for duplicate games) and the initial of
/// the first name. If a name has no comma, like most account names, or its surname is in another
/// script, the key consists of all letters and digits of the name.
fn spelling_key(name: &str) -> String {
    match name.split_once(',') {
        Some((surname, given)) if surname_letters(letters(surname).as_bytes()).next().is_some() => {
            let surname: String =
                surname_letters(letters(surname).as_bytes()).map(char::from).collect();
            let initial = letters(given).chars().next();
            surname + "," + &initial.map_or_else(String::new, String::from)
        }
        _ => letters(name),
    }
}

/// A player in the books.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct KnownPlayer {
    /// The most common spelling.
    name: String,
    spellings: usize,
    games: u64,
}

/// The players of all games listed in the books with all spellings of their names, sorted by number
/// of games, highest first.
#[derive(Debug)]
pub(crate) struct PlayerNames(Vec<(Vec<PlainName>, KnownPlayer)>);

#[derive(Debug, Serialize)]
pub(crate) struct Completions {
    players: Vec<KnownPlayer>,
}

impl PlayerNames {
    pub(crate) fn of(book: &Book) -> Self {
        Self::join(book.player_names())
    }

    /// Combines the spellings of each name.
    fn join(names: Vec<(String, u64)>) -> Self {
        let mut by_key: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        for (name, games) in names.into_iter().filter(|(name, _)| !letters(name).is_empty()) {
            *by_key.entry(spelling_key(&name)).or_default().entry(name).or_default() += games;
        }
        let player = |spellings: BTreeMap<String, u64>| {
            let games = spellings.values().sum();
            let plain: Vec<PlainName> = spellings.keys().map(|name| PlainName::new(name)).collect();
            let (name, _) = spellings.into_iter().max_by_key(|&(_, games)| games)?;
            let spellings = plain.len();
            Some((plain, KnownPlayer { name, spellings, games }))
        };
        let mut players: Vec<_> = by_key.into_values().filter_map(player).collect();
        players.sort_by_key(|(_, player)| Reverse(player.games));
        PlayerNames(players)
    }

    /// Returns the players with a spelling that contains the query parameter `part`. Names that
    /// begin with it come first. An empty `part` matches every name; one that consists only of
    /// punctuation matches none.
    pub(crate) fn complete(&self, mut query: Query) -> Result<Completions, ApiError> {
        let text = query.text("part").unwrap_or_default();
        query.finish()?;
        let part = letters(&text);
        if part.is_empty() && !text.trim().is_empty() {
            return Ok(Completions { players: Vec::new() });
        }
        let begins = |names: &[PlainName]| names.iter().any(|name| name.begins_with(&part));
        let contains = |names: &[PlainName]| names.iter().any(|name| name.contains(&part));
        let first = self.0.iter().filter(|(names, _)| begins(names));
        let others = self.0.iter().filter(|(names, _)| contains(names) && !begins(names));
        let found = first.chain(others).take(MAX_COMPLETIONS);
        let players = found.map(|(_, player)| player.clone()).collect();
        Ok(Completions { players })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_in_three_ways() {
        use Comparison::{Complete, Part, Spelling};
        for (comparison, wanted, name, is_it) in [
            (Complete, " carlsen, magnus", "Carlsen, Magnus", true),
            (Complete, "Carlsen", "Carlsen, Magnus", false),
            (Spelling, "Carlsen,M", "Carlsen, Magnus", true),
            (Spelling, "Carlsen, M.", "CARLSEN,  magnus (NOR)", true),
            (Spelling, "Carlsen, Magnus", "Carlsen, Pontus", false),
            (Spelling, "Carlsen, Magnus", "Carlsen", false),
            (Spelling, "Van der Wiel, J", "vanderwiel,John", true),
            (Spelling, "player1", "Player1", true),
            (Spelling, "player1", "player2", false),
            (Spelling, "Иванов, А", "Петров, А", false),
            (Spelling, "Иванов, А", "Иванов,А", true),
            (Part, "carls", "Carlsen, Magnus", true),
            (Part, "Carlsen,M", "Carlsen, Magnus", true),
            (Part, "LSEN", "Nielsen, Peter", true),
            (Part, "Nilsen", "Nielsen, Peter", false),
            (Part, "Magnus Carlsen", "Carlsen, Magnus", true),
            (Part, "magnus c", "Carlsen,Magnus", true),
            (Part, "Carlsen, Magnus", "Magnus Carlsen", true),
            (Part, "Van der Wiel, J", "John van der Wiel", true),
            (Part, "John van der Wiel", "Van der Wiel, John", true),
            (Part, "Susan", "Andersson, Jesus", false),
            (Part, "Polgár", "Polgar, Judit", true),
            (Part, "Polgar", "Polgár, Zsófia", true),
            (Spelling, "Polgár, J", "Polgar, Judit", true),
            (Spelling, "Polgar, Ádám", "Polgár, A", true),
        ] {
            assert_eq!(WantedName::new(comparison, wanted).is(name), is_it, "{wanted} {name}");
        }
    }

    #[test]
    fn completions_join_spellings_and_begin_with_frequent_players() {
        let names = [
            ("Carlsen,M", 3),
            ("Carlsen, Magnus", 5),
            ("Carlsen, Anna", 9),
            ("?", 50),
            ("McCarl, X", 100),
            ("Beta", 1),
            ("Carlsen,M", 1),
            ("Carlsén, M. Ø. E.", 1),
        ];
        let names = PlayerNames::join(names.map(|(name, games)| (name.to_owned(), games)).into());
        let complete = |query: &str| {
            let query = Query::of(&format!("/players?{query}").parse().expect("an address"));
            let found = names.complete(query.expect("a query"))?.players;
            Ok::<_, ApiError>(
                found
                    .into_iter()
                    .map(|player| (player.name, player.spellings, player.games))
                    .collect::<Vec<_>>(),
            )
        };
        let row = |name: &str, spellings: usize, games: u64| (name.to_owned(), spellings, games);
        assert_eq!(
            complete("part=carl").expect("found"),
            [row("Carlsen, Magnus", 3, 10), row("Carlsen, Anna", 1, 9), row("McCarl, X", 1, 100)]
        );
        assert_eq!(complete("part=Carlsen,M").expect("found"), [row("Carlsen, Magnus", 3, 10)]);
        // Every spelling is compared, not only the most common one.
        assert_eq!(
            complete("part=M%C3%A5gnus+Carlsen").expect("found"),
            [row("Carlsen, Magnus", 3, 10)]
        );
        assert_eq!(
            complete("part=C%C3%A4rlsen,+Mag").expect("found"),
            [row("Carlsen, Magnus", 3, 10)]
        );
        assert_eq!(
            complete("part=Carlsen,+M.+O.+E").expect("found"),
            [row("Carlsen, Magnus", 3, 10)]
        );
        assert!(complete("part=nobody").expect("found").is_empty());
        assert!(complete("part=%3F").expect("found").is_empty());
        assert!(complete("name=carl").is_err());
    }
}
