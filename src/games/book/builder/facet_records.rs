//! Records that count games by position, move and facets. They are written as rows of partial
//! counts.

use super::records::{CountedGame, OfGame, PositionRecord, RESULTS, Visit};
use super::rows::{FacetKind, PartialRow, RowFacets, RowRecord};
use crate::chess::position::{Color, Move};
use crate::games::book::facets::{GameFacets, GameId, GameTags, RatingGroup, Speed};
use crate::games::pgn::GameDate;
use crate::games::pgn::GameResult;

/// Counts the games that reached a position, continued with the same move (or with none), and have
/// the same facets and result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FacetRecord {
    key: u64,
    /// A bit field. From the highest bit: whether the position is repeated, move (15 bits, 0 for
    /// none), whether Black is to move, rating group (4 bits, 0 for none), speed (3), month (21),
    /// result (2), number of games (8), number of games in which the player to move has a rating
    /// (8).
    kind: u64,
    /// The latest game, encoded so that later games compare as greater: the day of the month in the
    /// upper bits, and the game's id in the lower bits.
    latest: u64,
    pawns: u32,
    ratings: u32,
}

const RECORD_BYTES: usize = 32;
const _: () = assert!(size_of::<FacetRecord>() == RECORD_BYTES);

const COUNT_BITS: u32 = 8;
const MAX_GAMES: u64 = (1 << COUNT_BITS) - 1;
/// Bit positions of the fields in `kind`.
const GAMES_SHIFT: u32 = COUNT_BITS;
const RESULT_SHIFT: u32 = GAMES_SHIFT + COUNT_BITS;
const MONTH_SHIFT: u32 = RESULT_SHIFT + 2;
const SPEED_SHIFT: u32 = MONTH_SHIFT + GameDate::MONTH_BITS;
const GROUP_SHIFT: u32 = SPEED_SHIFT + 3;
const BLACK_SHIFT: u32 = GROUP_SHIFT + 4;
const MOVE_SHIFT: u32 = BLACK_SHIFT + 1;
const AGAIN_SHIFT: u32 = MOVE_SHIFT + 15;
const _: () = assert!(AGAIN_SHIFT < u64::BITS);

impl FacetRecord {
    fn bits(&self, shift: u32, bits: u32) -> u64 {
        self.kind >> shift & ((1 << bits) - 1)
    }

    fn games(&self) -> u64 {
        self.bits(GAMES_SHIFT, COUNT_BITS)
    }

    fn alike(&self) -> u64 {
        self.kind >> RESULT_SHIFT
    }

    fn facets(&self) -> RowFacets {
        let bound = self.bits(GROUP_SHIFT, 4).checked_sub(1);
        let group = bound.and_then(|number| RatingGroup::BOUNDS.get(number as usize));
        let (month, day) =
            (self.bits(MONTH_SHIFT, GameDate::MONTH_BITS), self.latest >> GameId::BITS);
        let id = GameId::from_number(self.latest & ((1 << GameId::BITS) - 1));
        RowFacets {
            kind: FacetKind {
                group: group.map(|&bound| RatingGroup::of(bound)),
                speed: Speed::ALL[self.bits(SPEED_SHIFT, 3) as usize],
                month: GameDate::of_month(month as u32, 0),
            },
            ratings: (self.ratings.into(), self.bits(0, COUNT_BITS)),
            latest: (GameDate::of_month(month as u32, day as u32), id),
        }
    }
}

fn group_number(game_tags: GameTags) -> u64 {
    let bound = game_tags.mean_rating().map(|rating| RatingGroup::of(rating).lower_bound());
    let place = RatingGroup::BOUNDS.iter().position(|&other| Some(other) == bound);
    place.map_or(0, |place| place as u64 + 1)
}

impl PositionRecord for FacetRecord {
    const EMPTY: Self = FacetRecord { key: 0, kind: 0, latest: 0, pawns: 0, ratings: 0 };
    const JOINS: bool = true;
    const OF_GAME: OfGame = OfGame::Facets;
    const BYTES: usize = RECORD_BYTES;
    type Bytes = [u8; RECORD_BYTES];

    fn of(visit: &Visit, game: &CountedGame) -> Self {
        let GameFacets { game_tags, id } = game.facets;
        let (month, day) = game_tags.date().split();
        let rating = game_tags.rating(visit.side);
        let kind = u64::from(visit.again) << AGAIN_SHIFT
            | u64::from(visit.mv.map_or(0, Move::to_polyglot)) << MOVE_SHIFT
            | u64::from(visit.side == Color::Black) << BLACK_SHIFT
            | group_number(game_tags) << GROUP_SHIFT
            | (game_tags.speed() as u64) << SPEED_SHIFT
            | u64::from(month) << MONTH_SHIFT
            | (game.result as u64) << RESULT_SHIFT
            | 1 << GAMES_SHIFT
            | u64::from(rating.is_some());
        FacetRecord {
            key: visit.key,
            kind,
            latest: u64::from(day) << GameId::BITS | id.map_or(0, GameId::number),
            pawns: (visit.pawn_key >> u32::BITS) as u32,
            ratings: rating.unwrap_or(0).into(),
        }
    }

    #[inline]
    fn key(&self) -> u64 {
        self.key
    }

    #[inline]
    fn rank(&self) -> u128 {
        u128::from(self.key) << u64::BITS | u128::from(self.kind)
    }

    #[inline]
    fn slot(&self, bits: u32) -> usize {
        // Mix the move and the facets into the hash. Otherwise, all moves from a position would
        // share one slot.
        let mixed = self.key ^ self.alike().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (u64::BITS - bits)) as usize
    }

    #[inline]
    fn join(&mut self, other: &Self) -> bool {
        let alike = self.key == other.key && self.alike() == other.alike();
        let fits = alike && self.games() + other.games() <= MAX_GAMES;
        if fits {
            self.kind += other.bits(0, RESULT_SHIFT);
            self.latest = self.latest.max(other.latest);
            self.ratings += other.ratings;
        }
        fits
    }

    fn renumber(&mut self, _numbers: &[u32]) -> bool {
        true
    }

    fn to_bytes(self) -> [u8; RECORD_BYTES] {
        let words = [self.key, self.kind, self.latest, join(self.pawns, self.ratings)];
        let mut bytes = [0; RECORD_BYTES];
        for (slot, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *slot = word.to_le_bytes();
        }
        bytes
    }

    fn read_all(bytes: &[u8], records: &mut Vec<Self>) {
        let read = |bytes: &[u8; RECORD_BYTES]| {
            let mut words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
            let [key, kind, latest, last] = [(); 4].map(|()| words.next().unwrap_or_default());
            FacetRecord {
                key,
                kind,
                latest,
                pawns: (last >> u32::BITS) as u32,
                ratings: last as u32,
            }
        };
        records.extend(bytes.as_chunks().0.iter().map(read));
    }
}

fn join(high: u32, low: u32) -> u64 {
    u64::from(high) << u32::BITS | u64::from(low)
}

impl RowRecord for FacetRecord {
    fn is_of_row(&self, other: &Self) -> bool {
        (self.key, self.kind >> MONTH_SHIFT) == (other.key, other.kind >> MONTH_SHIFT)
    }

    fn row(&self) -> PartialRow {
        let mut games = [0; 4];
        let result: GameResult = RESULTS[self.bits(RESULT_SHIFT, 2) as usize];
        games[result as usize] = self.games();
        PartialRow {
            key: self.key,
            pawns: self.pawns,
            side: if self.bits(BLACK_SHIFT, 1) == 1 { Color::Black } else { Color::White },
            mv: Move::from_polyglot(self.bits(MOVE_SHIFT, 15) as u16),
            again: self.bits(AGAIN_SHIFT, 1) == 1,
            games,
            facets: Some(self.facets()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::book::builder::{BuildOptions, Counted, Monitor, count};
    use crate::games::pgn::PgnInput;
    use crate::support::random::Random;

    fn game(day: u64, id: u64, [white, black]: [&str; 2]) -> String {
        format!(
            "[Site \"https://lichess.org/{}\"]\n[UTCDate \"2024.05.{day:02}\"]\n[WhiteElo \"{white}\"]\n\
             [BlackElo \"{black}\"]\n[TimeControl \"180+2\"]\n\n1. e4 e5 1/2-1/2\n\n",
            GameId::from_number(id)
        )
    }

    fn rows_of_black(games: &[String]) -> Vec<PartialRow> {
        let input = PgnInput::Text("games".to_owned(), games.concat().into_bytes().into());
        let options = BuildOptions { facets: true, threads: 2, ..BuildOptions::default() };
        let counted = count(&[input], &options, &Monitor::default()).expect("games");
        let mut rows = Vec::new();
        for part in 0..Counted::PARTS {
            let take = |row: &PartialRow| {
                rows.extend((row.side == Color::Black).then_some(*row));
                Ok(())
            };
            counted.rows(part, take).expect("in memory");
        }
        rows
    }

    #[test]
    fn row_has_the_facets_of_its_game() {
        let rows = rows_of_black(&[game(17, 61, ["2000", "1801"])]);
        let [row] = rows[..] else { panic!("{rows:?}") };
        assert_eq!((row.mv, row.again), (Some("e7e5".parse().expect("a move")), false));
        assert_eq!(row.games, [0, 1, 0, 0]);
        let facets = row.facets.expect("facets");
        let FacetKind { group, speed, month } = facets.kind;
        assert_eq!(group.map(RatingGroup::lower_bound), Some(1800));
        assert_eq!((speed, month.in_digits()), (Speed::Blitz, Some(20_240_500)));
        assert_eq!(facets.ratings, (1801, 1));
        let (day, game) = facets.latest;
        assert_eq!((day.in_digits(), game.to_string()), (Some(20_240_517), "0000000z".to_owned()));
    }

    #[test]
    fn missing_tags_give_unknown_facets() {
        let rows = rows_of_black(&["1. e4 e5 1-0\n\n".to_owned()]);
        let facets = rows[0].facets.expect("facets");
        assert_eq!((facets.kind.group, facets.kind.speed), (None, Speed::Classical));
        assert_eq!((facets.kind.month, facets.ratings), (GameDate::UNKNOWN, (0, 0)));
        assert_eq!(facets.latest, (GameDate::UNKNOWN, GameId::of_text(b"1. e4 e5 1-0")));
    }

    #[test]
    fn sums_and_latest_game_do_not_depend_on_order() {
        let rated = |id: u64| if id.is_multiple_of(2) { "1850" } else { "" };
        let mut games: Vec<_> =
            (0..700).map(|id| game(1 + id % 9, id, ["1900", rated(id)])).collect();
        let mut random = Random::new(3);
        for _ in 0..4 {
            random.shuffle(&mut games);
            let rows = rows_of_black(&games);
            let [row] = rows[..] else { panic!("{rows:?}") };
            assert_eq!(row.games, [0, 700, 0, 0]);
            let facets = row.facets.expect("facets");
            assert_eq!(facets.ratings, (350 * 1850, 350));
            // The latest game is the one with the greatest id among those played on the 9th.
            assert_eq!(facets.latest.0.in_digits(), Some(20_240_509));
            assert_eq!(facets.latest.1, GameId::from_number(76 * 9 + 8));
        }
    }
}
