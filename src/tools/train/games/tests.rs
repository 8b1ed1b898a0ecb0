//! Tests of the plain and packed file formats.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use super::plain::{MAGIC, encode};
use super::*;
use crate::support::random::Random;
use crate::tools::train::{GameSettings, SelfPlay};

fn settings() -> GameSettings {
    GameSettings { nodes: 40, ..GameSettings::default() }
}

fn games(count: u64) -> Vec<PlayedGame> {
    let mut player = SelfPlay::new(settings());
    (0..count).map(|number| player.play(number)).collect()
}

fn read(path: &Path) -> Vec<PlayedGame> {
    let mut reader = GameReader::open(path).expect("a file of games");
    std::iter::from_fn(|| reader.read_game().expect("whole games")).collect()
}

#[test]
fn games_round_trip_in_at_most_four_bytes_per_position() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.games");
    let games = games(3);
    let (mut file, held) = GameFile::open(&path, &settings()).expect("a new file");
    assert_eq!(held, 0);
    games.iter().for_each(|game| file.append(game).expect("written"));
    assert_eq!(read(&path), games);
    let positions: usize = games.iter().map(|game| game.moves.len()).sum();
    let bytes = path.metadata().expect("a file").len() as usize;
    assert!(bytes < 4 * positions + 3 * 40 + 200, "{bytes} for {positions}");
}

#[test]
fn games_keep_their_start_position() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.games");
    let games: Vec<PlayedGame> = (0..9).map(any_game).collect();
    assert!(games.iter().any(|game| game.start.is_some()));
    let (mut file, _) = GameFile::open(&path, &settings()).expect("a new file");
    games.iter().for_each(|game| file.append(game).expect("written"));
    drop(file);
    assert_eq!(read(&path), games);
    let (_, held) = GameFile::open(&path, &settings()).expect("the file");
    assert_eq!(held, 9);
    let no_position = PlayedGame { start: Some("8/8/8 w".into()), ..games[0].clone() };
    assert!(!no_position.replay(|_, _| ()));
    assert!(model::pack(&[no_position]).is_none());
}

#[test]
fn truncated_file_is_continued_without_losing_games() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.games");
    let games = games(3);
    let (mut file, _) = GameFile::open(&path, &settings()).expect("a new file");
    file.append(&games[0]).expect("written");
    let torn = &encode(&games[1])[..31];
    drop(file);
    let mut torn_file = OpenOptions::new().append(true).open(&path).expect("the file");
    torn_file.write_all(torn).expect("written");
    let (mut file, held) = GameFile::open(&path, &settings()).expect("a torn file");
    assert_eq!(held, 1);
    games[1..].iter().for_each(|game| file.append(game).expect("written"));
    assert_eq!(read(&path), games);
}

#[test]
fn foreign_damaged_and_mismatched_files_have_different_errors() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.games");
    std::fs::write(&path, "[Event \"?\"]\n").expect("written");
    assert!(GameReader::open(&path).is_err_and(|error| error == foreign(&path)));
    let mut bytes = format!("{MAGIC}{}\n", settings()).into_bytes();
    bytes.extend([1, 1, 0, 0, 0, 0x70]); // a promotion to nothing
    std::fs::write(&path, bytes).expect("written");
    let error = GameReader::open(&path).expect("a file").read_game().expect_err("damaged");
    assert!(error.to_string().ends_with("a.games: game 1: a word is not a move"), "{error}");
    let other = GameSettings { nodes: 41, ..settings() };
    let error = GameFile::open(&path, &other).map(drop).expect_err("other settings").to_string();
    assert!(error.contains("it was \"40 nodes\", and is \"41 nodes\" now"), "{error}");
}

/// Packs `parts`, each given as its settings and games, into a file. Returns the size of the file
/// in bytes.
fn packed(path: &Path, parts: &[(&str, &[PlayedGame])], threads: usize) -> u64 {
    let mut packer = Packer::new(Vec::new(), threads);
    for (settings, games) in parts {
        for game in *games {
            packer.add(settings, game.clone()).expect("memory");
        }
    }
    let (bytes, reported) = packer.finish().expect("memory");
    assert_eq!(bytes.len() as u64, reported);
    std::fs::write(path, bytes).expect("written");
    reported
}

/// Returns a game with random moves, scores and `noisy` flags. It may have no moves after the
/// opening.
fn any_game(seed: u64) -> PlayedGame {
    let mut random = Random::new(seed);
    let mut game = PlayedGame { half_points: random.below(3) as u8, ..PlayedGame::default() };
    if seed.is_multiple_of(3) {
        let fen = ["8/8/4k3/8/2p5/8/B3K3/8 b - - 5 60", "r3k2r/8/8/8/8/8/8/R3K2R w Kq - 0 1"];
        game.start = Some(fen[random.below(2)].into());
    }
    let mut position = game.start().expect("a position");
    let (opening, moves) = (random.below(30), random.below(300));
    for ply in 0..opening + moves {
        let legal: Vec<Move> = position.legal_moves().iter().collect();
        if legal.is_empty() {
            break;
        }
        let mv = legal[random.below(legal.len())];
        position = position.play(mv);
        if ply < opening {
            game.opening.push(mv);
        } else {
            let score = random.next_u64() as i16 >> random.below(15);
            game.moves.push(SearchedMove { mv, score, noisy: random.below(3) == 0 });
        }
    }
    game
}

#[test]
fn packed_games_round_trip() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.games");
    let games: Vec<PlayedGame> = (0..60).map(any_game).collect();
    packed(&path, &[("one", &games[..20]), ("two", &games[20..])], 2);
    assert_eq!(read(&path), games);
    let mut reader = GameReader::open(&path).expect("a file of games");
    assert_eq!(reader.settings(), "one");
    let block = reader.read_block().expect("whole").expect("a block");
    let (first, some) = block.unpack();
    assert_eq!((first, some.as_deref()), (1, Some(&games[..20])));
    let block = reader.read_block().expect("whole").expect("a block");
    let (first, some) = block.unpack();
    assert_eq!((first, some.as_deref()), (21, Some(&games[20..])));
    assert_eq!((reader.settings(), reader.games()), ("two", 60));
    assert!(reader.read_block().expect("the end").is_none());
}

#[test]
fn packed_file_is_half_as_large_and_independent_of_threads() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.games");
    let games = games(40);
    let plain: u64 = games.iter().map(plain::size).sum();
    let bytes = packed(&path, &[("one", &games)], 1);
    assert!(bytes * 2 < plain, "{bytes} of {plain}");
    let one = std::fs::read(&path).expect("the file");
    packed(&path, &[("one", &games)], 3);
    assert!(std::fs::read(&path).expect("the file") == one);
}

#[test]
fn packed_block_format_is_stable() {
    // Existing files must remain readable, so the packed bytes may change only with a new format
    // version.
    let games: Vec<PlayedGame> = (100..140).map(any_game).collect();
    let bytes = model::pack(&games).expect("legal games");
    assert_eq!((bytes.len(), crc32fast::hash(&bytes)), (13284, 3751765405));
}

#[test]
fn damage_affects_only_its_block() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.games");
    let games: Vec<PlayedGame> = (0..30).map(any_game).collect();
    let parts = [("one", &games[..10]), ("two", &games[10..20]), ("three", &games[20..])];
    packed(&path, &parts, 1);
    let whole = std::fs::read(&path).expect("the file");
    let blocks: Vec<usize> =
        (0..whole.len()).filter(|&at| whole[at..].starts_with(b"GBLK")).collect();
    assert_eq!(blocks.len(), 3);
    let kept: Vec<PlayedGame> = [&games[..10], &games[20..]].concat();
    let (begin, end) = (blocks[1], blocks[2] - "tabia games 2; three\n".len());
    let cut = |range: std::ops::Range<usize>| [&whole[..range.start], &whole[range.end..]].concat();
    let changed = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        bytes
    };
    let damages = [
        (changed(begin), 0),
        (changed(begin + 9), 0),
        (changed(begin + 22), 0),
        (changed(begin + 24), 10),
        (changed(end - 1), 10),
        (cut(begin + 30..begin + 40), 10),
        (cut(begin..begin + 5), 0),
    ];
    for (number, (bytes, lost)) in damages.into_iter().enumerate() {
        std::fs::write(&path, bytes).expect("written");
        let mut reader = GameReader::open(&path).expect("a file of games");
        let found: Vec<PlayedGame> =
            std::iter::from_fn(|| reader.read_game().expect("whole games")).collect();
        assert!(found == kept, "{number}: {} games", found.len());
        assert_eq!((reader.lost(), reader.settings()), (lost, "three"), "{number}");
    }
    std::fs::write(&path, &whole[..whole.len() - 3]).expect("written");
    assert_eq!(read(&path), games[..20]);
}

#[test]
fn unpacking_arbitrary_bytes_gives_legal_games_or_none() {
    let mut random = Random::new(3);
    for round in 0..200 {
        let bytes: Vec<u8> = (0..random.below(400)).map(|_| random.next_u64() as u8).collect();
        if let Some(games) = model::unpack(&bytes, 1 + round % 5, random.below(200)) {
            assert!(games.iter().all(|game| game.replay(|_, _| ())));
        }
    }
}

#[test]
fn interrupted_packed_file_is_continued() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.games");
    let games: Vec<PlayedGame> = (0..12).map(any_game).collect();
    let (mut file, parts) = PackedFile::open(&path).expect("a new file");
    assert_eq!(parts, []);
    file.begin("one").expect("written");
    file.append(&games[..5]).expect("written");
    assert!(PackedFile::open(&path).is_err(), "the file is locked");
    drop(file);
    let whole = std::fs::read(&path).expect("the file");
    let part = PackedPart { settings: "one".to_owned(), games: 5 };
    for torn in [1, 23, 24, 40] {
        let mut bytes = whole.clone();
        bytes.extend(&whole["tabia games 2; one\n".len()..][..torn]);
        std::fs::write(&path, bytes).expect("written");
        let (_, parts) = PackedFile::open(&path).expect("a torn file");
        assert_eq!(parts, std::slice::from_ref(&part));
        assert!(std::fs::read(&path).expect("the file") == whole, "{torn}");
    }
    let (mut file, _) = PackedFile::open(&path).expect("a file");
    file.append(&games[5..]).expect("written");
    file.begin("two").expect("written");
    drop(file);
    assert_eq!(read(&path), games);
    let mut bytes = std::fs::read(&path).expect("the file");
    bytes[60] ^= 1;
    std::fs::write(&path, &bytes).expect("written");
    let error = PackedFile::open(&path).err().expect("damaged").to_string();
    assert!(error.ends_with("a.games: game 1: its block is damaged, and others follow"), "{error}");
    assert!(std::fs::read(&path).expect("the file") == bytes, "the file is unchanged");
    std::fs::write(&path, "[Event \"?\"]\n").expect("written");
    assert!(PackedFile::open(&path).is_err_and(|error| error == foreign(&path)));
    let other = dir.path().join("b.games");
    let (mut file, _) = GameFile::open(&other, &settings()).expect("new");
    file.append(&games[0]).expect("written");
    drop(file);
    assert!(PackedFile::open(&other).is_err_and(|error| error == foreign(&other)));
}
