//! Verifies a book: its checksums, and the consistency of its parts, which checksums cannot prove.

use std::ops::ControlFlow;

use super::Book;
use crate::games::book::facets::Games;
use crate::games::book::format::bucket::{BUCKET_BYTES, Bucket, TableMaker};
use crate::games::book::format::counts::Counts;
use crate::games::book::format::entry::BookEntry;
use crate::games::book::format::entry::RawEntry;
use crate::games::book::format::error::BookError;
use crate::games::book::format::lists::{ListIndex, Lists, SideBySide};

pub(super) fn verify(book: &Book) -> Result<(), BookError> {
    book.image.check_sums(&book.name)?;
    check_entries(book)?;
    check_pawns(book)?;
    check_values(book)?;
    check_facets(book)
}

fn damaged(book: &Book, part: &'static str) -> BookError {
    BookError::Damaged { name: book.name().to_owned(), part }
}

/// Checks that the entries can be decoded and are sorted, and that they match the bucket table and
/// the totals in the header.
fn check_entries(book: &Book) -> Result<(), BookError> {
    let (entries, header) = (book.image.entries(), book.image.header());
    let mut rows = book.image.buckets().chunks_exact(BUCKET_BYTES as usize);
    let mut compare = |bucket: Bucket| match rows.next() == Some(&bucket.to_bytes()[..]) {
        true => Ok(()),
        false => Err(damaged(book, "buckets")),
    };
    let mut table = TableMaker::new(header.bucket_bits);
    let (mut positions, mut moves, mut last) = (0, 0, None);
    let (mut rest, mut entry) = (entries, BookEntry::default());
    while !rest.is_empty() {
        let raw = RawEntry::split(rest).ok_or_else(|| damaged(book, "entries"))?;
        let is_sound = entry.decode_raw(&raw).is_some() && last.is_none_or(|last| last < raw.key);
        if !is_sound {
            return Err(damaged(book, "entries"));
        }
        table.add(raw.key, (entries.len() - rest.len()) as u64, &mut compare)?;
        positions += 1;
        moves += entry.moves.len() as u64;
        (last, rest) = (Some(raw.key), raw.rest);
    }
    table.finish(entries.len() as u64, compare)?;
    match (positions, moves) == (header.positions, header.moves) {
        true => Ok(()),
        false => Err(damaged(book, "header")),
    }
}

/// Checks that all positions reachable from the start position pass the pawn filter. Other
/// positions cannot be checked, because the book contains only their keys, not their pawn
/// structures.
fn check_pawns(book: &Book) -> Result<(), BookError> {
    let mut is_sound = true;
    book.visit(&book.starts(), false, |position, _| {
        is_sound = book.image.may_hold_pawns(position.pawn_key());
        if is_sound { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    if is_sound { Ok(()) } else { Err(damaged(book, "pawn filter")) }
}

/// Checks that the values are sorted by key, because lookups would otherwise miss some of them.
fn check_values(book: &Book) -> Result<(), BookError> {
    let is_sorted = book.values().map(|value| value.key).is_sorted_by(|a, b| a < b);
    if is_sorted { Ok(()) } else { Err(damaged(book, "values")) }
}

/// Checks that the game lists in the facets add up to the counts in the entries. Reads all facets.
fn check_facets(book: &Book) -> Result<(), BookError> {
    let Some(raw) = book.image.facets() else { return Ok(()) };
    let damaged = |part| damaged(book, part);
    let games = Games::parse(raw.games).filter(Games::is_sound);
    let games = games.ok_or_else(|| damaged("games"))?;
    let mut rows = ListIndex::new(raw.list_index).rows().peekable();
    let mut both =
        SideBySide { entries: book.image.entries(), lists: raw.lists, games: games.len() };
    let mut entry = BookEntry::default();
    while !both.entries.is_empty() {
        let start = (raw.lists.len() - both.lists.len()) as u64;
        let lists = both.next(&mut entry).ok_or_else(|| damaged("lists"))?;
        if rows.next_if_eq(&(entry.key, start)).is_none()
            && rows.peek().is_some_and(|&(key, _)| key <= entry.key)
        {
            return Err(damaged("list index"));
        }
        if !agrees(&entry, &lists, &games) {
            return Err(damaged("lists"));
        }
    }
    if !both.lists.is_empty() {
        return Err(damaged("lists"));
    }
    rows.next().map_or(Ok(()), |_| Err(damaged("list index")))
}

fn agrees(entry: &BookEntry, lists: &Lists<'_>, games: &Games<'_>) -> bool {
    let mut played = vec![Counts::default(); entry.moves.len() + 1];
    let mut all = Vec::new();
    let read = lists.read(entry, games.len(), |list, game| {
        all.push(game);
        if let Some(game_tags) = games.game_tags(game) {
            played[list] += Counts::of(game_tags.result(), 1);
        }
    });
    all.sort_unstable();
    all.dedup();
    let results = all.iter().filter_map(|&game| games.game_tags(game));
    let reached: Counts = results.map(|game_tags| Counts::of(game_tags.result(), 1)).sum();
    read.is_some()
        && reached == entry.reached
        && played[1..].iter().eq(entry.moves.iter().map(|(_, counts)| counts))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use std::io::Cursor;

    use super::*;
    use crate::chess::position::Position;
    use crate::games::book::builder::{BuildOptions, build_in_memory};
    use crate::games::book::facets::FacetFilter;
    use crate::games::book::format::header::{HEADER_BYTES, Section, Sections};
    use crate::games::book::merge::combine::{Cut, cut, merge};
    use crate::games::pgn::PgnInput;

    fn book() -> Book {
        let lines = ["1. e4 e5 2. Nf3", "1. Nf3 e5 2. e4", "1. Nf3 Nf6 2. Ng1 Ng8 3. e4", "1. d4"];
        let game = |n: usize| {
            let (year, line) = (2000 + n % 7, lines[n % lines.len()]);
            format!(
                "[Date \"{year}\"]\n[White \"W{n}\"]\n[WhiteElo \"{}\"]\n\n{line} 1-0\n\n",
                1500 + n
            )
        };
        let text: String = (0..300).map(game).collect();
        let games = PgnInput::Text("games".to_owned(), text.into_bytes().into());
        let options = BuildOptions { facets: true, ..BuildOptions::default() };
        build_in_memory(&[games], &options, "book").expect("games").0
    }

    fn damaged(book: &Book, changes: &[(usize, u8)]) -> Book {
        let mut bytes = book.bytes().to_vec();
        let mut header = *book.image.header();
        let begin = header.sections.lists.start as usize;
        changes.iter().for_each(|&(at, byte)| bytes[begin + at] = byte);
        let sum = |section: &mut Section| {
            let part = &bytes[section.start as usize..section.end() as usize];
            section.checksum = crc32fast::hash(part).into();
        };
        let sections = &mut header.sections;
        [&mut sections.lists, &mut sections.list_index, &mut sections.games]
            .into_iter()
            .for_each(sum);
        bytes[..HEADER_BYTES].copy_from_slice(&header.to_bytes());
        Book::from_bytes(bytes, "damaged").expect("the rest is sound")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn damaged_facets_do_not_panic(changes in vec(any::<(prop::sample::Index, u8)>(), 1..6)) {
            let book = book();
            let facets = book.bytes().len() - book.image.header().sections.lists.start as usize;
            let changes: Vec<_> =
                changes.iter().map(|(at, byte)| (at.index(facets), *byte)).collect();
            let book = damaged(&book, &changes);
            let filter = FacetFilter { since: "2003".parse().ok(), ..FacetFilter::default() };
            for at in book.walk(&Position::start(), 4) {
                for game in book.explore(&at.position, &FacetFilter::default()).reached.top {
                    let _ = book.game(game.id);
                }
                let _ = book.filtered(&at.position, &filter);
            }
            let _ = (book.verify(), book.facet_games(), book.game_files());
            let all = Cut { min_games: 2, ..Cut::default() };
            let _ = cut(&book, &all, Cursor::new(Vec::new()));
            let _ = merge(&[(book.clone(), 1.0), (book, 1.0)], Cursor::new(Vec::new()));
        }
    }

    fn changed(
        book: &Book,
        of: fn(&mut Sections) -> &mut Section,
        change: impl Fn(&mut [u8]),
    ) -> Book {
        let (mut bytes, mut header) = (book.bytes().to_vec(), *book.image.header());
        let section = of(&mut header.sections);
        let part = &mut bytes[section.start as usize..section.end() as usize];
        change(part);
        section.checksum = crc32fast::hash(part).into();
        bytes[..HEADER_BYTES].copy_from_slice(&header.to_bytes());
        Book::from_bytes(bytes, "changed").expect("its checksums are right")
    }

    fn wrong_part(book: &Book) -> Option<&'static str> {
        match book.verify() {
            Err(BookError::Damaged { part, .. }) => Some(part),
            _ => None,
        }
    }

    #[test]
    fn verify_detects_a_filter_that_hides_positions() {
        let book = book();
        let bits = book.image.pawn_filter().0.iter().map(|byte| byte.count_ones()).sum::<u32>();
        assert!(bits > 3);
        let filter: fn(&mut Sections) -> &mut Section = |sections| &mut sections.pawn_filter;
        assert_eq!(wrong_part(&changed(&book, filter, |bytes| bytes.fill(0))), Some("pawn filter"));
        // False positives are allowed, so extra bits in the filter are not damage.
        assert_eq!(wrong_part(&changed(&book, filter, |bytes| bytes.fill(0xff))), None);
        // If a bit is missing, the filter rejects at least one position of the book.
        for bit in 0..8 * book.image.pawn_filter().0.len() {
            let was_set = book.image.pawn_filter().0[bit / 8] >> (bit % 8) & 1 == 1;
            let cleared = changed(&book, filter, |bytes| bytes[bit / 8] &= !(1 << (bit % 8)));
            assert_eq!(wrong_part(&cleared), was_set.then_some("pawn filter"), "bit {bit}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn verify_detects_a_table_that_misses_entries(at in any::<prop::sample::Index>(), flip in 1..=255_u8) {
            let flipped = changed(&book(), |sections| &mut sections.buckets, |bytes| {
                bytes[at.index(bytes.len())] ^= flip;
            });
            prop_assert_eq!(wrong_part(&flipped), Some("buckets"));
        }
    }

    #[test]
    fn verify_detects_changed_facets() {
        let book = book();
        book.verify().expect("sound");
        let sections = &book.image.header().sections;
        let [lists, index, games] = [sections.lists, sections.list_index, sections.games]
            .map(|section| (section.start - sections.lists.start) as usize);
        // Each change damages one value: a game number in the first list, a key in the list index,
        // or the year of a game.
        for (at, part) in [(lists + 3, "lists"), (index, "list index"), (games + 16 + 6, "games")] {
            let seen = [0, 0x5a, 0xff].map(|byte| damaged(&book, &[(at, byte)]).verify().err());
            let is_named = |error: &BookError| matches!(error, BookError::Damaged { part: found, .. } if *found == part);
            let named = seen.iter().flatten().filter(|error| is_named(error)).count();
            assert!(named >= 2 || part == "games" && named == 1, "{part}: {seen:?}");
        }
    }
}
