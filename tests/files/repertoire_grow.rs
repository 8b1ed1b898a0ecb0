//! Tests of `tabia repertoire grow`, which creates repertoires from books and fills gaps in
//! repertoires.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tabia::book::{Book, BookValue, BuildOptions, Names, build_in_memory};
use tabia::pgn::PgnInput;
use tabia::position::{Color, Move, Position};
use tabia::repertoire::{GrowOptions, Growth, Repertoire, Search, Searched, Style};
use tempfile::TempDir;

use crate::support::run_line;

/// The moves from which random games are made. They lead to many transpositions.
const WHITE: &str = "d4 c4 Nf3 Nc3 g3 Bg2 e3 O-O b3 e4 Bd3 a3";
const BLACK: &str = "d5 e6 Nf6 c6 Nbd7 Be7 g6 Bg7 O-O b6 d6 c5";
const PLIES: usize = 14;

fn input(text: &str) -> [PgnInput; 1] {
    [PgnInput::Text("text".to_owned(), text.as_bytes().into())]
}

fn book(text: &str) -> Book {
    let options = BuildOptions { undecided: true, ..BuildOptions::default() };
    build_in_memory(&input(text), &options, "games").expect("a book").0
}

/// Returns one game for each list of choices. A choice selects a legal move; small numbers select
/// moves near the start of `WHITE` and `BLACK`.
fn random_games(games: &[Vec<u8>]) -> String {
    let mut text = String::new();
    for (number, choices) in games.iter().enumerate() {
        let mut position = Position::start();
        for (ply, &choice) in choices.iter().enumerate() {
            let list = if ply % 2 == 0 { WHITE } else { BLACK };
            let legal = list.split(' ').filter_map(|san| position.parse_move(san).ok());
            let legal: Vec<Move> = legal.collect();
            let Some(&mv) =
                legal.get(usize::from(choice) * usize::from(choice) / 40 % legal.len().max(1))
            else {
                break;
            };
            text += &format!("{} ", position.san(mv));
            position = position.play(mv);
        }
        text += ["1-0\n\n", "0-1\n\n", "1/2-1/2\n\n"][number % 3];
    }
    text
}

/// Computes scores for all positions of the book by minimax. Positions from which no move was
/// played get arbitrary scores.
fn score(book: &Book, position: &Position, scores: &mut BTreeMap<u64, i32>) -> i32 {
    if let Some(&score) = scores.get(&position.key()) {
        return score;
    }
    let moves = book.moves(position);
    // Skip unplayed moves, which could lead back to earlier positions and form cycles.
    let played = moves.iter().filter(|found| !found.played.is_empty());
    let after = played.map(|found| -score(book, &position.play(found.mv), scores));
    let found = after.max().unwrap_or((position.key() % 120) as i32 - 60);
    scores.insert(position.key(), found);
    found
}

fn analysed(book: &Book) -> Book {
    let mut scores = BTreeMap::new();
    score(book, &Position::start(), &mut scores);
    let value = |(&key, &score): (&u64, &i32)| BookValue {
        key,
        score,
        best: None,
        outside: None,
        own: None,
        depth: 10,
        own_depth: 10,
        nodes: 1000,
    };
    let values: Vec<BookValue> = scores.iter().map(value).collect();
    let bytes = book.write_with_values(&values, Vec::new()).expect("written");
    Book::from_bytes(bytes, "analysed").expect("a book")
}

fn options(style: Style, min_probability: f64) -> GrowOptions {
    GrowOptions { style, min_probability, max_loss: 30, max_ply: 40 }
}

fn grown(book: &Book, side: Color, options: &GrowOptions) -> (Repertoire, Growth) {
    let mut repertoire = Repertoire::new(side);
    let growth = repertoire.grow(book, options, None);
    (repertoire, growth)
}

fn moves(repertoire: &Repertoire) -> BTreeSet<(u64, Move)> {
    let moves = repertoire.nodes().flat_map(|node| {
        let key = node.position.key();
        node.moves.iter().map(move |known| (key, known.mv))
    });
    moves.collect()
}

fn written(repertoire: &Repertoire, book: &Book) -> String {
    let new = repertoire.new_chapters(book, &Names::embedded());
    let known = repertoire.chapters.iter().map(|chapter| &chapter.game);
    known.chain(&new).map(|game| format!("{game}\n")).collect()
}

/// Checks that the text contains the moves of the repertoire, that the line named in each `see …`
/// comment leads to the same position, and that no line is repeated.
fn check_text(text: &str, repertoire: &Repertoire) -> Result<(), TestCaseError> {
    let read = Repertoire::read(&input(text), repertoire.side).expect("readable");
    prop_assert_eq!(moves(&read), moves(repertoire));
    prop_assert_eq!(read.redundant_lines().len(), 0);
    let mut names = BTreeSet::new();
    for chapter in &read.chapters {
        prop_assert!(names.insert(chapter.name()), "{}", chapter.name());
        let mut wrong = Vec::new();
        chapter.game.visit_tree(|at| {
            let Some(line) = at.played.comment.strip_prefix("see ") else { return };
            let is_move = |word: &&str| !word.ends_with('.');
            let line = line.split_whitespace().filter(is_move);
            let end = line.fold(Position::start(), |position, san| {
                position.play(position.parse_move(san).expect(san))
            });
            if end.key() != at.before.play(at.played.mv).key() {
                wrong.push(at.played.comment.clone());
            }
        });
        prop_assert!(wrong.is_empty(), "{wrong:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn every_frequent_position_is_answered_once(
        games in prop::collection::vec(prop::collection::vec(0_u8..21, PLIES), 20..120),
        is_white in any::<bool>(),
        style in prop::sample::select(Style::ALL.to_vec()),
        min_probability in prop::sample::select(vec![0.0, 0.004, 0.03]),
    ) {
        let side = if is_white { Color::White } else { Color::Black };
        let counted = book(&random_games(&games));
        let book = if style == Style::BestValue { analysed(&counted) } else { counted };
        let options = options(style, min_probability);
        let (repertoire, growth) = grown(&book, side, &options);
        let forecast = repertoire.forecast(&book, options.max_ply - 1);
        for gap in forecast.gaps(&repertoire, &book, min_probability) {
            let moves = book.moves(&gap.position);
            prop_assert!(moves.iter().all(|found| found.played.is_empty()));
            prop_assert!(growth.unanswered.iter().any(|open| open.position == gap.position));
        }
        let own = repertoire.nodes().filter(|node| repertoire.is_own_turn(&node.position));
        for node in own {
            let position = &node.position;
            prop_assert_eq!(node.moves.len(), 1);
            prop_assert!(forecast.probability(position) >= min_probability);
            let mv = node.moves[0].mv;
            let played = book.moves(position);
            let games = |mv| played.iter().find(|found| found.mv == mv).map_or(0, |found| found.played.games());
            match style {
                Style::MostPlayed => prop_assert!(played.iter().all(|found| found.played.games() <= games(mv))),
                Style::BestValue => {
                    let values = played.iter().filter_map(|found| book.value_of_move(position, found.mv));
                    prop_assert_eq!(book.value_of_move(position, mv), values.max());
                }
                Style::BestScore | Style::FewestPositions => {}
            }
        }
        check_text(&written(&repertoire, &book), &repertoire)?;
    }

    #[test]
    fn answers_lose_little(
        games in prop::collection::vec(prop::collection::vec(0_u8..21, PLIES), 20..60),
        style in prop::sample::select(Style::ALL.to_vec()),
        max_loss in prop::sample::select(vec![0, 15, 30]),
    ) {
        let book = analysed(&book(&random_games(&games)));
        let options = GrowOptions { max_loss, ..options(style, 0.01) };
        let (repertoire, growth) = grown(&book, Color::White, &options);
        prop_assert!(growth.answered > 3);
        for node in repertoire.nodes().filter(|node| repertoire.is_own_turn(&node.position)) {
            let best = book.value(&node.position).expect("analysed").score;
            let value = book.value_of_move(&node.position, node.moves[0].mv).expect("analysed");
            prop_assert!(best - value <= max_loss, "{} to {}", best, value);
        }
    }

    #[test]
    fn known_moves_are_kept(
        games in prop::collection::vec(prop::collection::vec(0_u8..21, PLIES), 20..60),
        others in prop::collection::vec(prop::collection::vec(0_u8..21, PLIES), 10),
    ) {
        let book = book(&random_games(&games));
        // A repertoire whose lines are other random games.
        let known = random_games(&others).replace("1/2-1/2", "*").replace("1-0", "*").replace("0-1", "*");
        let mut repertoire = Repertoire::read(&input(&known), Color::Black).expect("readable");
        let before = moves(&repertoire);
        let options = options(Style::MostPlayed, 0.004);
        repertoire.grow(&book, &options, None);
        let after = moves(&repertoire);
        prop_assert!(after.is_superset(&before));
        let gaps = repertoire.forecast(&book, options.max_ply - 1).gaps(&repertoire, &book, 0.004);
        prop_assert!(gaps.iter().all(|gap| book.moves(&gap.position).is_empty()));
        for node in repertoire.nodes().filter(|node| repertoire.is_own_turn(&node.position)) {
            let key = node.position.key();
            let old = before.iter().filter(|(at, _)| *at == key).count();
            let is_kept = node.moves.len() == old || old == 0 && node.moves.len() == 1;
            prop_assert!(is_kept, "an answered position keeps its moves");
        }
        let text = written(&repertoire, &book);
        let read = Repertoire::read(&input(&text), Color::Black).expect("readable");
        prop_assert_eq!(moves(&read), after);
        // The chapters, when read back, give the same probabilities, and growing the repertoire
        // again adds nothing.
        let probabilities = |of: &Repertoire| -> Vec<f64> {
            let forecast = of.forecast(&book, options.max_ply);
            repertoire.nodes().map(|node| forecast.probability(&node.position)).collect()
        };
        let pairs = probabilities(&repertoire).into_iter().zip(probabilities(&read));
        prop_assert!(pairs.into_iter().all(|(one, other)| (one - other).abs() < 1e-9));
        let mut again = read;
        let growth = again.grow(&book, &options, None);
        prop_assert_eq!(growth.answered, 0);
    }
}

/// Returns PGN text in which each game is repeated the given number of times.
fn repeated(games: &[(&str, usize)]) -> String {
    games.iter().map(|(moves, number)| format!("{moves} 1/2-1/2\n\n").repeat(*number)).collect()
}

fn answer(repertoire: &Repertoire, line: &str) -> String {
    let position = line.split_whitespace().fold(Position::start(), |position, san| {
        position.play(position.parse_move(san).expect(san))
    });
    let node = repertoire.node(&position).expect(line);
    position.san(node.moves[0].mv)
}

#[test]
fn fewest_positions_prefers_transpositions() {
    let book = book(&repeated(&[
        ("1. d4 Nf6 2. c4 e6 3. Nc3 d5 4. Bg5", 40),
        ("1. d4 d5 2. Nf3 Nf6", 6),
        ("1. d4 d5 2. Nf3 e6", 6),
        ("1. d4 d5 2. Nf3 c5", 6),
        ("1. d4 d5 2. c4 e6 3. Nc3 Nf6 4. Bg5", 12),
    ]));
    let style = |style| grown(&book, Color::White, &options(style, 0.01)).0;
    assert_eq!(answer(&style(Style::MostPlayed), "d4 d5"), "Nf3");
    let fewest = style(Style::FewestPositions);
    assert_eq!(answer(&fewest, "d4 d5"), "c4");
    assert_eq!(answer(&fewest, "d4 d5 c4 e6 Nc3 Nf6"), "Bg5");
    let text = written(&fewest, &book);
    assert_eq!(text.matches("Bg5").count(), 1, "{text}");
    assert!(text.contains("{see 1. d4 Nf6 2. c4 e6 3. Nc3 d5}"), "{text}");
}

#[test]
fn searches_judge_what_the_book_has_not_analysed() {
    let book = book(&repeated(&[("1. f3 e5 2. g4", 5), ("1. e4 e5 2. Nf3", 3), ("1. e4 e5", 1)]));
    // A search that scores d4 as 40 centipawns, e4 as 20, and all other moves as -50.
    let mut search = |position: &Position, only: Vec<Move>| {
        let value = |mv: Move| match position.san(mv).as_str() {
            "d4" => 40,
            "e4" => 20,
            _ => -50,
        };
        let legal: Vec<Move> = position.legal_moves().iter().collect();
        let from = if only.is_empty() { legal } else { only };
        let best = from.into_iter().max_by_key(|&mv| value(mv));
        Searched { score: best.map_or(0, value), line: best.into_iter().collect() }
    };
    let first = |style, max_loss, search: Option<&mut Search<'_>>| {
        let mut repertoire = Repertoire::new(Color::White);
        let options = GrowOptions { max_loss, ..options(style, 0.01) };
        let growth = repertoire.grow(&book, &options, search);
        (answer(&repertoire, ""), growth.unanswered.len())
    };
    assert_eq!(first(Style::MostPlayed, 30, None).0, "f3");
    assert_eq!(first(Style::MostPlayed, 30, Some(&mut search)).0, "e4");
    assert_eq!(first(Style::MostPlayed, 90, Some(&mut search)).0, "f3");
    assert_eq!(first(Style::MostPlayed, 10, Some(&mut search)).0, "d4", "the best one");
    assert_eq!(first(Style::BestValue, 30, Some(&mut search)), ("d4".to_owned(), 0));
}

#[test]
fn positions_without_games_are_reported() {
    let book = book(&repeated(&[("1. e4 e5", 1), ("1. e4 c5 2. Nf3 d6 3. d4", 3)]));
    let (repertoire, growth) = grown(&book, Color::White, &options(Style::MostPlayed, 0.001));
    assert_eq!(growth.answered, 3);
    let open: Vec<f64> = growth.unanswered.iter().map(|gap| gap.probability).collect();
    assert_eq!(open, [0.25]);
    let short = GrowOptions { max_ply: 2, ..options(Style::MostPlayed, 0.001) };
    let (short, _) = grown(&book, Color::White, &short);
    assert_eq!((short.positions(), repertoire.positions()), (2, 6));
}

#[test]
fn shares_hold_for_games_that_are_not_in_the_book() {
    let book =
        book(&repeated(&[("1. e4 e5 2. Nf3", 8), ("1. e4 c5 2. Nf3", 1), ("1. e4 d6 2. d4", 1)]));
    let share = |repertoire: &Repertoire| repertoire.forecast(&book, 10).shares(repertoire, &book);
    let (repertoire, _) = grown(&book, Color::White, &options(Style::MostPlayed, 0.001));
    // The two replies played in only one game would be unknown without it.
    assert!((share(&repertoire).after(2) - 0.8).abs() < 1e-12);
    // The reply 1...e5 has exactly as many games as a repertoire with this threshold needs. Of its
    // 8 games, 8 · 8^7 e^-8 / 7! · (1 - 8/10) are the expected excess.
    let (repertoire, _) = grown(&book, Color::White, &options(Style::MostPlayed, 0.75));
    // The other replies have one game each, and would be known with 8.
    let others = 2.0 * (-1.0_f64).exp() / 5040.0 * 0.9;
    let excess = 8.0 * 8.0_f64.powi(7) * (-8.0_f64).exp() / 5040.0 * 0.2 + others;
    let found = share(&repertoire).after(2);
    assert!((found - (8.0 - excess) / 10.0).abs() < 1e-12, "{found}");
    // A repertoire with a reply that the book lacks does not come from the book.
    let text =
        "1. e4 c5 (1... e5 2. Nf3) (1... d6 2. d4) (1... a6 2. d4) (1... a5 2. d4) 2. Nf3 *\n";
    let other = Repertoire::read(&input(text), Color::White).expect("readable");
    assert!((share(&other).after(2) - 1.0).abs() < 1e-12);
}

fn run(line: &str, folder: &Path) -> (Option<i32>, String) {
    let (status, printed, errors) = run_line(line, folder);
    (status, printed + &errors)
}

#[test]
fn chapters_and_book_are_written() {
    let folder = TempDir::new().expect("a temporary folder");
    let games: Vec<Vec<u8>> = (0..400_u32)
        .map(|game| {
            (0..PLIES as u32).map(|ply| ((game * 7 + ply * 13 + game * ply) % 21) as u8).collect()
        })
        .collect();
    let mine = "[Event \"Mine\"]\n\n1. d4 d5 2. Nc3 {[%csl Gc3] I like it} (2. c4 $5) *\n";
    fs::write(folder.path().join("games.pgn"), random_games(&games)).expect("writable");
    fs::write(folder.path().join("mine.pgn"), mine).expect("writable");
    let line = "repertoire grow --side white --reference games.pgn";
    let (status, printed) = run(&format!("{line} mine.pgn -o r.pgn --book r.tbk"), folder.path());
    assert_eq!(status, Some(0), "{printed}");
    assert!(printed.contains("Games still in the repertoire: "), "{printed}");
    let text = fs::read_to_string(folder.path().join("r.pgn")).expect("written");
    assert!(text.contains("2. Nc3 {[%csl Gc3] I like it} (2. c4 $5)"), "{text}");
    let read = Repertoire::read(&input(&text), Color::White).expect("readable");
    assert!(read.chapters.len() > 1, "{} chapters", read.chapters.len());
    assert!(read.chapters.iter().all(|chapter| chapter.steps.len() < 200));
    let book = Book::open(&folder.path().join("r.tbk")).expect("a book");
    let of_book = Repertoire::of_book(&book, Color::White, &[Position::start()]);
    for node in read.nodes().filter(|node| read.is_own_turn(&node.position)) {
        let stored = of_book.node(&node.position).expect("stored");
        let moves = |node: &tabia::repertoire::Node| -> BTreeSet<Move> {
            node.moves.iter().map(|known| known.mv).collect()
        };
        assert_eq!(moves(stored), moves(node));
    }
    // Input files are never overwritten, and invalid arguments are rejected.
    for (rest, word) in [
        ("mine.pgn -o mine.pgn --force", "mine.pgn"),
        ("-o games.pgn --force", "games.pgn"),
        ("-o v.pgn --style best-value", "--nodes"),
        ("-o v.pgn --style other", "fewest-positions"),
        ("-o v.pgn --min-probability 2", "share"),
    ] {
        let (status, printed) = run(&format!("{line} {rest}"), folder.path());
        assert!(status != Some(0) && printed.contains(word), "{rest}: {printed}");
        assert!(!folder.path().join("v.pgn").exists());
    }
    assert_eq!(fs::read_to_string(folder.path().join("mine.pgn")).expect("kept"), mine);
    let (status, printed) = run("repertoire grow -o v.pgn", folder.path());
    assert!(status == Some(2) && printed.contains("--side"), "{printed}");
    let searched = "--style best-value --nodes 200 --memory 1M --max-ply 3 -o v.pgn";
    let (status, printed) = run(&format!("{line} {searched}"), folder.path());
    assert_eq!(status, Some(0), "{printed}");
}
