//! Tests that every response counts each game once, under the same id and from one book only. The
//! responses are compared with a simple count of the games.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;
use tabia::position::{Move, Position};

use super::Server;

const RESULTS: [&str; 3] = ["1-0", "1/2-1/2", "0-1"];
/// Moves back and forth, which make up most of each generated game, so that positions are repeated
/// often.
const SHUFFLES: [&str; 8] = ["Nf3", "Ng1", "Nf6", "Ng8", "Nc3", "Nb1", "Nc6", "Nb8"];

#[derive(Debug)]
struct Game {
    line: Vec<(Position, Move)>,
    end: Position,
    result: usize,
    month: u8,
    player: usize,
}

type Drawn = (Vec<u8>, usize, u8, usize);

fn any_games() -> impl Strategy<Value = Vec<Drawn>> {
    vec((vec(any::<u8>(), 1..14), 0..RESULTS.len(), 1_u8..4, 0_usize..2), 1..25)
}

fn game((choices, result, month, player): &Drawn) -> Game {
    let (mut position, mut line) = (Position::start(), Vec::new());
    for &choice in choices {
        let shuffles: Vec<Move> =
            SHUFFLES.iter().filter_map(|san| position.parse_move(san).ok()).collect();
        let all: Vec<Move> = position.legal_moves().iter().collect();
        let from = if choice % 8 == 0 || shuffles.is_empty() { &all } else { &shuffles };
        let Some(&mv) = from.get(usize::from(choice / 8) % from.len().max(1)) else { break };
        line.push((position, mv));
        position = position.play(mv);
    }
    Game { line, end: position, result: *result, month: *month, player: *player }
}

fn pgn(games: &[Game]) -> String {
    let mut text = String::new();
    for (number, game) in games.iter().enumerate() {
        text += &format!(
            "[White \"P{}\"]\n[Black \"Q\"]\n[Round \"{number}\"]\n[Date \"2020.{:02}.01\"]\n\n",
            game.player, game.month
        );
        for (ply, (position, mv)) in game.line.iter().enumerate() {
            if ply % 2 == 0 {
                text += &format!("{}. ", ply / 2 + 1);
            }
            text += &format!("{} ", position.san(*mv));
        }
        text += &format!("{}\n\n", RESULTS[game.result]);
    }
    text
}

type Results = [u64; 3];

/// The expected counts for a position, obtained by replaying the games one by one.
#[derive(Debug, Default)]
struct Expected {
    reached: Results,
    /// The results of the games that continued from the position with any move: in total, by month,
    /// and by move.
    played: Results,
    months: BTreeMap<u8, Results>,
    by_move: BTreeMap<String, Results>,
    /// The results of player P0's games, by the move that the game played last from the position.
    of_player: BTreeMap<String, Results>,
    has_ends: bool,
    has_repeats: bool,
}

fn expected_at(position: &Position, games: &[Game]) -> Expected {
    let mut expected = Expected::default();
    for game in games {
        let moves: Vec<Move> = game
            .line
            .iter()
            .filter_map(|(at, mv)| (at.key() == position.key()).then_some(*mv))
            .collect();
        let ends_here = game.end.key() == position.key();
        if moves.is_empty() && !ends_here {
            continue;
        }
        expected.reached[game.result] += 1;
        let Some(last) = moves.last() else {
            expected.has_ends = true;
            continue;
        };
        let distinct: BTreeSet<String> = moves.iter().map(Move::to_string).collect();
        expected.has_repeats |= distinct.len() > 1;
        expected.played[game.result] += 1;
        expected.months.entry(game.month).or_default()[game.result] += 1;
        for mv in distinct {
            expected.by_move.entry(mv).or_default()[game.result] += 1;
        }
        if game.player == 0 {
            expected.of_player.entry(last.to_string()).or_default()[game.result] += 1;
        }
    }
    expected
}

fn results(value: &Value) -> Results {
    ["white", "draws", "black"].map(|name| value[name].as_u64().expect("a number"))
}

fn by_move(answer: &Value) -> BTreeMap<String, Results> {
    let moves = answer["moves"].as_array().expect("moves").iter();
    moves.map(|mv| (mv["uci"].as_str().expect("a move").to_owned(), results(mv))).collect()
}

fn by_month(answer: &Value) -> BTreeMap<u8, Results> {
    let months = answer["history"].as_array().expect("a history").iter();
    let month = |month: &Value| month["month"].as_str()?.strip_prefix("2020-")?.parse().ok();
    months.map(|found| (month(found).expect("a month"), results(found))).collect()
}

fn ids(games: &Value) -> Vec<&str> {
    games
        .as_array()
        .expect("games")
        .iter()
        .map(|game| game["id"].as_str().expect("an id"))
        .collect()
}

fn check_position(server: &Server, place: &str, expected: &Expected, has_facets: bool) {
    let book = server.get(&format!("/book?{place}")).json();
    assert_eq!(results(&book["reached"]), expected.reached, "/book {place}");
    let is_exact = has_facets || !(expected.has_ends && expected.has_repeats);
    for path in ["masters", "lichess", "lichess/history"] {
        let answer = server.get(&format!("/{path}?{place}&history=true&topGames=4")).json();
        let found = results(&answer);
        match is_exact {
            true => assert_eq!(found, expected.played, "/{path} {place}"),
            false => {
                for (result, &found) in found.iter().enumerate() {
                    let range = expected.played[result]..=expected.reached[result];
                    assert!(range.contains(&found), "/{path} {place}: {found} of {range:?}");
                }
            }
        }
        if path != "lichess/history" {
            assert_eq!(by_move(&answer), expected.by_move, "/{path} {place}");
        }
        if has_facets && path != "masters" {
            assert_eq!(by_month(&answer), expected.months, "/{path} {place}");
            let recent = ids(&answer["recentGames"]);
            let distinct: BTreeSet<&&str> = recent.iter().collect();
            assert_eq!(distinct.len(), recent.len(), "/{path} {place}: {recent:?}");
        }
        if has_facets && path != "masters" {
            let filtered = server.get(&format!("/{path}?{place}&since=2020-02")).json();
            let late = expected.months.range(2..).map(|(_, results)| results);
            let late = late
                .fold([0; 3], |sum: Results, month| std::array::from_fn(|at| sum[at] + month[at]));
            assert_eq!(results(&filtered), late, "/{path} {place} since 2020-02");
        }
    }
    let player = server.get(&format!("/player?player=p0&color=white&{place}")).body;
    let player = player.lines().rfind(|line| !line.is_empty()).expect("a line").to_owned();
    let player: Value = serde_json::from_str(&player).expect("JSON");
    assert_eq!(by_move(&player), expected.of_player, "/player {place}");
    let all = expected.of_player.values();
    let all = all.fold([0; 3], |sum: Results, one| std::array::from_fn(|at| sum[at] + one[at]));
    assert_eq!(results(&player), all, "/player {place}");
}

#[test]
fn every_answer_counts_each_game_once() {
    let mut runner =
        TestRunner::new(Config { cases: 4, failure_persistence: None, ..Config::default() });
    let tested = runner.run(&any_games(), |drawn| {
        let games: Vec<Game> = drawn.iter().map(game).collect();
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("games.pgn"), pgn(&games)).expect("written");
        let built = ["book", "build", "games.pgn", "-o", "plain.tbk"];
        assert!(crate::support::tabia(&built, folder.path()).status.success());
        let mut places: BTreeMap<u64, (Position, String)> = BTreeMap::new();
        for game in &games {
            let mut play = Vec::new();
            for (position, mv) in &game.line {
                places.entry(position.key()).or_insert((*position, play.join(",")));
                play.push(mv.to_string());
            }
            places.entry(game.end.key()).or_insert((game.end, play.join(",")));
        }
        for (book, has_facets) in [("games.pgn", true), ("plain.tbk", false)] {
            let server = Server::start(&[book], folder.path());
            // The positions are sorted by key, so the first forty are an arbitrary sample.
            for (position, play) in places.values().take(40) {
                let expected = expected_at(position, &games);
                check_position(&server, &format!("play={play}"), &expected, has_facets);
            }
        }
        Ok(())
    });
    tested.expect("all counts agree");
}

#[test]
fn game_has_the_same_id_in_every_list() {
    let (server, _folder) = Server::with_games();
    let of = |path: &str| -> BTreeSet<String> {
        let body = server.get(path).body;
        let answer: Value =
            serde_json::from_str(body.lines().last().expect("a line")).expect("JSON");
        let lists = ["topGames", "recentGames"].map(|name| &answer[name]);
        lists
            .iter()
            .filter(|list| list.is_array())
            .flat_map(|list| ids(list))
            .map(str::to_owned)
            .collect()
    };
    let all = of("/lichess");
    assert_eq!(all.len(), 4);
    assert_eq!((of("/masters"), of("/book")), (all.clone(), all.clone()));
    let player = of("/player?player=beta&color=white");
    assert!(player.len() == 1 && player.is_subset(&all), "{player:?} {all:?}");
    for id in &all {
        for path in ["/game/", "/masters/pgn/", "/master/pgn/"] {
            assert_eq!(server.get(&format!("{path}{id}")).status, 200, "{path}{id}");
        }
    }
}

#[test]
fn first_book_with_the_position_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    let dated = |year: u16, moves: &str| format!("[Date \"{year}.01.01\"]\n\n{moves}\n\n");
    fs::write(folder.path().join("one.pgn"), dated(2001, "1. e4 e5 1-0")).expect("written");
    let two = dated(2002, "1. e4 c5 0-1") + &dated(2003, "1. d4 d5 2. c4 0-1");
    fs::write(folder.path().join("two.pgn"), two).expect("written");
    for (name, facets) in [("one", false), ("two", false), ("one", true), ("two", true)] {
        let input = format!("{name}.pgn");
        let output = format!("{name}-{}.tbk", if facets { "facets" } else { "plain" });
        let mut arguments = vec!["book", "build", &input, "-o", &output];
        arguments.extend(facets.then_some("--facets"));
        assert!(crate::support::tabia(&arguments, folder.path()).status.success());
    }
    for first in ["plain", "facets"] {
        for second in ["plain", "facets"] {
            let books = [format!("one-{first}.tbk"), format!("two-{second}.tbk")];
            let server = Server::start(&[&books[0], &books[1]], folder.path());
            let case = format!("{books:?}");
            for (place, white, black) in
                [("", 1, 0), ("play=e2e4", 1, 0), ("play=d2d4", 0, 1), ("play=d2d4,d7d5", 0, 1)]
            {
                let book = server.get(&format!("/book?{place}")).json();
                assert_eq!(results(&book["reached"]), [white, 0, black], "{case} {place}");
                for path in ["masters", "lichess"] {
                    let answer = server.get(&format!("/{path}?{place}")).json();
                    assert_eq!(results(&answer), [white, 0, black], "{case} /{path} {place}");
                }
            }
            // If there is a filter, only books with facets are used.
            let filtered = server.get("/lichess?since=2002-01");
            match (first, second) {
                ("plain", "plain") => assert_eq!(filtered.status, 409, "{case}"),
                ("plain", _) => assert_eq!(results(&filtered.json()), [0, 0, 2], "{case}"),
                _ => assert_eq!(results(&filtered.json()), [0, 0, 0], "{case}"),
            }
        }
    }
}

#[test]
fn fen_is_repaired_like_lichess_does() {
    let (server, _folder) = Server::with_games();
    let of = |fen: &str| server.get(&format!("/book?fen={}", fen.replace(' ', "+")));
    for (sloppy, meant) in [
        ("8/8/8/3k4/8/8/8/4K3 w KQkq - 0 1", "8/8/8/3k4/8/8/8/4K3 w - - 0 1"),
        (
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq d3 0 1",
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
        ),
        ("4k3/8/8/8/8/8/8/R3K3 w KQ e6", "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"),
        ("4k3/8/8/8/8/8/8/4K3 b", "4k3/8/8/8/8/8/8/4K3 b - - 0 1"),
        ("4k3/8/8/8/8/8/8/4K3", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
    ] {
        let answer = of(sloppy);
        assert_eq!(answer.status, 200, "{sloppy}: {}", answer.body);
        assert_eq!(answer.json()["fen"], meant, "{sloppy}");
        assert_eq!(server.post("/read", sloppy).json()["fen"], meant, "{sloppy}");
    }
    for bad in
        ["8/8/8/3k4/8/8/8/8 w - - 0 1", "4k3/8/8/8/8/8/8/4K3 x", "4k3/8/8/8/8/8/8/4K3 w - - x 1"]
    {
        assert_eq!(of(bad).status, 400, "{bad}");
    }
}
