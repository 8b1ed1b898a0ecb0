//! Tests of books with facets: filtering a book must give the same results as a book of the
//! filtered games.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use tabia::book::{
    Book, BuildOptions, FacetFilter, GameFilter, RatingGroup, Selection, Speed, build_in_memory,
};
use tabia::pgn::PgnInput;
use tabia::position::{Color, Position};

use crate::support::shared_data;

/// Lines that transpose into each other, and lines that repeat a position and then leave it with
/// different moves.
const LINES: [&str; 7] = [
    "e4 e5 Nf3 Nc6 Bb5",
    "Nf3 Nc6 e4 e5 Bc4",
    "d4 d5 c4",
    "c4 d5 d4",
    "Nf3 Nf6 Ng1 Ng8 e4 e5",
    "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8 d4",
    "e4",
];
const RESULTS: [&str; 4] = ["1-0", "0-1", "1/2-1/2", "*"];
const CLOCKS: [&str; 6] = ["60", "180+2", "900+10", "40/7200", "-", "?"];

/// A generated game: indices of its line and result, both ratings, the date, and the index of its
/// time control.
type Drawn = (usize, usize, Option<u16>, Option<u16>, Option<(u16, u8, u8)>, Option<usize>);

fn any_game() -> impl Strategy<Value = Drawn> {
    let rating = || option::weighted(0.8, 900_u16..2700);
    let date = option::weighted(0.9, (2010_u16..2013, 0_u8..13, 0_u8..32));
    (0..LINES.len(), 0..RESULTS.len(), rating(), rating(), date, option::of(0..CLOCKS.len()))
}

fn pgn(games: &[Drawn]) -> String {
    let mut text = String::new();
    for (number, (line, result, white, black, date, clock)) in games.iter().enumerate() {
        let mut tag = |name: &str, value: String| text += &format!("[{name} \"{value}\"]\n");
        tag("Event", "E".to_owned());
        tag("White", format!("W{}", number % 5));
        tag("Black", format!("B{}", number % 3));
        tag("Round", number.to_string());
        white.iter().for_each(|rating| tag("WhiteElo", rating.to_string()));
        black.iter().for_each(|rating| tag("BlackElo", rating.to_string()));
        if let Some((year, month, day)) = date {
            let part = |part: &u8| if *part == 0 { "??".to_owned() } else { format!("{part:02}") };
            tag("Date", format!("{year}.{}.{}", part(month), part(day)));
        }
        clock.iter().for_each(|&clock| tag("TimeControl", CLOCKS[clock].to_owned()));
        let result = RESULTS[*result];
        text += &format!("[Result \"{result}\"]\n\n{} {result}\n\n", LINES[*line]);
    }
    text
}

fn any_filter() -> impl Strategy<Value = FacetFilter> {
    let ratings = vec(prop::sample::select(RatingGroup::BOUNDS.to_vec()), 0..4);
    let speeds = vec(prop::sample::select(Speed::ALL.to_vec()), 0..3);
    let date = || option::of((2010_u16..2013, 1_u8..13, 1_u8..32));
    (ratings, speeds, date(), date()).prop_map(|(ratings, speeds, since, until)| {
        let day = |(year, month, day)| format!("{year}.{month}.{day}").parse().expect("a date");
        FacetFilter {
            ratings: ratings.into_iter().map(RatingGroup::of).collect(),
            speeds,
            since: since.map(day),
            until: until.map(day),
        }
    })
}

/// Builds a book with facets from the games that pass the filter, or returns `None` if there are
/// none.
fn build(text: &str, facets: FacetFilter, options: &BuildOptions) -> Option<Book> {
    build_filtered(text, GameFilter { facets, ..GameFilter::default() }, options)
}

fn build_filtered(text: &str, filter: GameFilter, options: &BuildOptions) -> Option<Book> {
    let options = BuildOptions { filter, facets: true, undecided: true, ..options.clone() };
    let input = PgnInput::Text("games".to_owned(), text.as_bytes().into());
    build_in_memory(&[input], &options, "book").ok().map(|(book, _)| book)
}

/// Checks that, in every position of `whole`, the filtered results equal those of `part`, a book
/// built from only the games that pass the filter.
fn check_filter(
    whole: &Book,
    part: Option<&Book>,
    filter: &FacetFilter,
) -> Result<(), TestCaseError> {
    let everything = FacetFilter::default();
    for at in whole.walk(&Position::start(), u32::MAX) {
        let found = whole.explore(&at.position, filter);
        let expected = part.map(|part| part.explore(&at.position, &everything));
        prop_assert_eq!(&found, &expected.unwrap_or_default());
        let filtered = whole.filtered(&at.position, filter).expect("sound");
        let part_moves = part.map_or(Vec::new(), |part| part.moves(&at.position));
        prop_assert_eq!(filtered.moves(&at.position), part_moves);
        let reached = part.and_then(|part| part.reached(&at.position));
        prop_assert_eq!(filtered.reached(&at.position), reached);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn selection_equals_a_book_of_the_selected_games(
        games in vec(any_game(), 1..60),
        facets in prop_oneof![Just(FacetFilter::default()), any_filter()],
        player in option::of(0..6_usize),
        side in option::of(prop::sample::select(vec![Color::White, Color::Black])),
        max_ply in 1_u32..8,
    ) {
        let text = pgn(&games).replace("\"W", "\"Player ").replace("\"B", "\"Player ");
        let options = BuildOptions { max_ply, ..BuildOptions::default() };
        let whole = build(&text, FacetFilter::default(), &options).expect("games");
        let players: Vec<String> = player.iter().map(|number| format!("player {number}")).collect();
        let selection = Selection { facets: facets.clone(), players: players.clone(), side };
        let selected = selection.of_book(&whole).expect("sound");
        let filter = GameFilter { facets, players, side, ..GameFilter::default() };
        let part = build_filtered(&text, filter, &options);
        selected.verify().map_err(|error| TestCaseError::fail(error.to_string()))?;
        let entries = |book: &Book| book.entries().collect::<Vec<_>>();
        prop_assert_eq!(entries(&selected), part.as_ref().map(entries).unwrap_or_default());
        prop_assert_eq!(selected.facet_games(), part.as_ref().map_or(0, Book::facet_games));
        if let Some(part) = part {
            prop_assert_eq!(selected.manifest().expect("sound").games, part.manifest().expect("sound").games);
            check_filter(&selected, Some(&part), &FacetFilter::default())?;
        }
    }

    #[test]
    fn filter_equals_a_book_of_the_filtered_games(
        games in vec(any_game(), 1..60),
        filter in any_filter(),
        max_ply in 1_u32..8,
    ) {
        let text = pgn(&games);
        let options = BuildOptions { max_ply, ..BuildOptions::default() };
        let whole = build(&text, FacetFilter::default(), &options).expect("games");
        whole.verify().map_err(|error| TestCaseError::fail(error.to_string()))?;
        let part = build(&text, filter.clone(), &options);
        check_filter(&whole, part.as_ref(), &filter)?;
        check_filter(&whole, Some(&whole), &FacetFilter::default())?;
    }

    #[test]
    fn facets_do_not_change_the_rest_of_the_book(
        games in vec(any_game(), 1..30),
        min_games in 1_u64..4,
    ) {
        let text = pgn(&games);
        let input = || PgnInput::Text("games".to_owned(), text.as_bytes().into());
        let options = BuildOptions { min_games, undecided: true, ..BuildOptions::default() };
        let (plain, _) = build_in_memory(&[input()], &options, "plain").expect("games");
        let with = BuildOptions { facets: true, ..options };
        let (with, _) = build_in_memory(&[input()], &with, "with").expect("games");
        prop_assert!(plain.entries().eq(with.entries()));
        prop_assert!(!plain.has_facets() && with.has_facets());
        prop_assert_eq!(plain.manifest().expect("sound"), with.manifest().expect("sound"));
        with.verify().map_err(|error| TestCaseError::fail(error.to_string()))?;
    }
}

#[test]
fn filter_of_real_games_equals_a_filtered_build() {
    let Some(path) = shared_data("pgn/small") else { return };
    let mut text = Vec::new();
    for name in ["lichess_db_100k.pgn", "twic1599_1000k.pgn"] {
        text.extend(std::fs::read(path.join(name)).expect("readable"));
    }
    let text = String::from_utf8_lossy(&text);
    let options = BuildOptions { max_ply: 12, ..BuildOptions::default() };
    let whole = build(&text, FacetFilter::default(), &options).expect("games");
    whole.verify().expect("sound");
    let group = |bounds: &[u16]| bounds.iter().map(|&bound| RatingGroup::of(bound)).collect();
    let day = |text: &str| Some(text.parse().expect("a date"));
    for filter in [
        FacetFilter { ratings: group(&[1400, 1600, 2500]), ..FacetFilter::default() },
        FacetFilter { speeds: vec![Speed::Blitz, Speed::Rapid], ..FacetFilter::default() },
        FacetFilter { since: day("2010"), until: day("2025.05.31"), ..FacetFilter::default() },
    ] {
        let part = build(&text, filter.clone(), &options).expect("some pass");
        let games = part.manifest().expect("sound").games.total();
        assert!(games > 20 && games < whole.manifest().expect("sound").games.total(), "{games}");
        check_filter(&whole, Some(&part), &filter).expect("the same");
    }
}
