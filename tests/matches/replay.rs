//! Games are reproducible: in a second run, at a different concurrency, and in real xboard.
//!
//! The two engines are deterministic: Tabia with one thread and a fixed number of nodes per move.
//! `TABIA_REPLAY_GAMES` sets the number of games (even). The last test needs xboard and Xvfb, so it
//! runs only on request:
//!
//! ```sh
//! TABIA_REPLAY_GAMES=200 cargo test --release --test matches replay:: -- --include-ignored
//! ```

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tabia::pgn::{GameStatus, PgnGame, read_games};

use crate::support::PROGRAM;

const GAMES: usize = 8;

/// The node limit per move of each engine. The limits are low to make games fast, and different so
/// that the engines play differently.
const NODES: [u64; 2] = [300, 450];

/// The memory size that xboard sends by default. The match runner must send the same, because it
/// affects the engine's moves.
const MEMORY: &str = "memory=64";

fn games() -> usize {
    let asked = std::env::var("TABIA_REPLAY_GAMES").ok();
    let games = asked.map_or(GAMES, |text| text.parse().expect("TABIA_REPLAY_GAMES is a number"));
    assert!(games > 0 && games.is_multiple_of(2), "openings are played in pairs of games");
    games
}

fn engine() -> String {
    format!("{PROGRAM} -x --no-book --cores 1")
}

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay").join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("removed");
    }
    std::fs::create_dir_all(&path).expect("created");
    path
}

/// Runs a command, and checks that it exits with one of the given codes.
fn run(command: &mut Command, codes: &[i32]) -> Output {
    let output = command.output().expect("it starts");
    let code = output.status.code().expect("it ends by itself");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let printed = [text(&output.stdout), text(&output.stderr)].concat();
    assert!(codes.contains(&code), "{command:?} ended with {code}:\n{printed}");
    output
}

fn read(path: &Path) -> Vec<PgnGame> {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let games = read_games(file).map(|game| {
        let (game, end) = game.expect("readable");
        assert_eq!(end.status, GameStatus::Read, "{}", path.display());
        game
    });
    games.collect()
}

/// Plays the match with `tabia autoplay`. Returns the games in the order of the schedule.
fn autoplay(folder: &Path, concurrency: usize) -> Vec<PgnGame> {
    let pgn = folder.join("autoplay.pgn");
    let [first, second] = NODES.map(|nodes| nodes.to_string());
    let (games, concurrency) = (games().to_string(), concurrency.to_string());
    let mut command = Command::new(PROGRAM);
    command
        .args(["autoplay", "-1", &engine(), "-2", &engine(), "--proto1", "xboard"])
        .args(["--proto2", "xboard", "--nodes1", &first, "--nodes2", &second, "--option", MEMORY])
        .args(["--openings", "embedded", "--games", &games, "--concurrency", &concurrency])
        .arg("--pgn")
        .arg(&pgn);
    run(&mut command, &[0, 3, 4]);
    let mut games = read(&pgn);
    games.sort_by_key(|game| {
        let round = game.tag("Round").expect("a round");
        let (round, game) = round.split_once('.').expect("ROUND.GAME");
        (round.parse::<u32>().expect("a number"), game.parse::<u32>().expect("a number"))
    });
    games
}

fn opening_plies(game: &PgnGame) -> usize {
    game.moves.iter().take_while(|mv| mv.comment == "book").count()
}

/// Plays the same match in xboard, with the openings taken from `games`.
fn xboard(folder: &Path, games: &[PgnGame]) -> Vec<PgnGame> {
    let openings = folder.join("openings.pgn");
    let mut file = File::create(&openings).expect("created");
    for game in games.iter().step_by(2) {
        let mut opening = PgnGame::new(game.start);
        opening.moves = game.moves[..opening_plies(game)].to_vec();
        writeln!(file, "{opening}").expect("written");
    }
    let out = folder.join("xboard");
    let [first, second] = NODES;
    let mut command = Command::new("tests/tools/xboard-match");
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["--first", &engine(), "--second", &engine()])
        .args(["--nodes", &format!("{first},{second}"), "--games", &games.len().to_string()])
        .arg("--openings")
        .arg(&openings)
        .arg("--out")
        .arg(&out);
    run(&mut command, &[0]);
    read(&out.join("games.pgn"))
}

/// Returns the reason why a game ended, derived from the comment that the match runner, the engine
/// or xboard added to the last move.
fn end(game: &PgnGame) -> &'static str {
    const KINDS: [(&str, &str); 5] = [
        ("stalemate", "stalemate"),
        ("mates", "checkmate"),
        ("repetition", "repetition"),
        ("material", "insufficient material"),
        ("fifty-move", "fifty moves"),
    ];
    let comment = &game.moves.last().expect("a move").comment;
    let lower = comment.to_lowercase();
    let kind = KINDS.iter().find(|(word, _)| lower.contains(word));
    kind.unwrap_or_else(|| panic!("unknown end of a game: {comment}")).1
}

/// Compares two matches. Panics at the first difference in a move, a result or the reason why a
/// game ended.
fn compare(one: &[PgnGame], other: &[PgnGame], what: &str) {
    for (index, (one, other)) in one.iter().zip(other).enumerate() {
        let number = index + 1;
        let moves = |game: &PgnGame| game.moves.iter().map(|mv| mv.mv).collect::<Vec<_>>();
        let (ours, theirs) = (moves(one), moves(other));
        let same = ours.iter().zip(&theirs).take_while(|(ours, theirs)| ours == theirs).count();
        assert_eq!(
            (ours.get(same), theirs.get(same)),
            (None, None),
            "{what}: game {number} differs from ply {} on:\n{one}\n{other}",
            same + 1
        );
        assert_eq!(one.result, other.result, "{what}: game {number}:\n{one}\n{other}");
        assert_eq!(end(one), end(other), "{what}: game {number}:\n{one}\n{other}");
    }
    assert_eq!(one.len(), other.len(), "{what}: the number of games");
    assert_eq!(one.len(), games(), "{what}: games are missing");
}

fn show(games: &[PgnGame], what: &str) {
    let mut ends = std::collections::BTreeMap::<_, usize>::new();
    for game in games {
        *ends.entry((game.result.token(), end(game))).or_default() += 1;
    }
    let plies: usize = games.iter().map(|game| game.moves.len()).sum();
    println!("{what}: {} games, {plies} plies, {ends:?}", games.len());
}

#[test]
fn games_with_fixed_nodes_do_not_depend_on_concurrency() {
    let folders = ["first", "second", "at_once"].map(folder);
    let first = autoplay(&folders[0], 1);
    show(&first, "match runner");
    compare(&first, &autoplay(&folders[1], 1), "second run");
    compare(&first, &autoplay(&folders[2], 2), "two games at a time");
}

#[test]
#[ignore = "needs xboard and Xvfb"]
fn xboard_plays_the_same_games() {
    let folder = folder("in_xboard");
    let ours = autoplay(&folder, 2);
    show(&ours, "match runner");
    compare(&ours, &xboard(&folder, &ours), "xboard");
}
