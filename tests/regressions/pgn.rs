//! Games in PGN files.

use std::fs;
use std::path::Path;
use std::process::Output;

use tabia::pgn::{GameEnd, GameResult, GameStatus, PgnGame, read_games};
use tabia::position::Position;
use tempfile::TempDir;

use crate::support::{Engine, tabia};

/// The example game as in the original `dumb.pgn`: without tags, and on two lines.
const DUMB: &str = "1. e4 Nc6 2. Ke2 d5 3. Ke1 Nf6 4. exd5 Qxd5 5. Ke2 Qe4#\n\
                    {computer wins as black} 0-1\n";

pub(super) fn read(text: &str) -> Vec<(PgnGame, GameEnd)> {
    read_games(text.as_bytes()).collect::<Result<_, _>>().expect("memory can be read")
}

pub(super) fn moves(game: &PgnGame) -> String {
    let mut position = game.start;
    let mut words = Vec::new();
    for played in &game.moves {
        words.push(position.san(played.mv));
        position = position.try_play(played.mv).expect("legal");
    }
    words.join(" ")
}

pub(super) fn lines(text: &str) -> (Vec<String>, Option<String>) {
    let games = read(text);
    let fault = games.iter().find_map(|(_, end)| match &end.status {
        GameStatus::Broken(fault) => Some(fault.to_string()),
        _ => None,
    });
    (games.iter().map(|(game, _)| moves(game)).collect(), fault)
}

pub(super) fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

pub(super) fn printed(output: &Output) -> String {
    let all = [&output.stderr[..], &output.stdout].concat();
    String::from_utf8(all).expect("UTF-8")
}

/// Builds a book from a file with the given name and content. Returns whether this succeeded, and
/// the output.
pub(super) fn build(name: &str, bytes: &[u8], arguments: &[&str]) -> (bool, String) {
    let folder = folder();
    fs::write(folder.path().join(name), bytes).expect("writable");
    let all = [&["book", "build", name, "-o", "out.tbk"], arguments].concat();
    let output = tabia(&all, folder.path());
    (output.status.success(), printed(&output))
}

#[test]
fn movetext_without_tags_is_a_book() {
    let folder = folder();
    let book = folder.path().join("dumb.pgn");
    for text in [DUMB.to_owned(), DUMB.replace('\n', " "), DUMB.trim_end().to_owned()] {
        fs::write(&book, text).expect("writable");
        let mut engine = Engine::start(&["-x", "-b", book.to_str().expect("UTF-8")]);
        engine.send("xboard\nprotover 2\nnew\nforce\nusermove e2e4\nusermove b8c6\nbk");
        let printed = engine.sync().join("\n");
        assert!(printed.contains("Ke2"), "the book does not contain the game: {printed}");
        engine.quit();
    }
}

#[test]
fn players_and_result_of_movetext_without_tags() {
    let games = read(DUMB);
    let [(game, end)] = &games[..] else { panic!("{games:?}") };
    assert_eq!(
        (&end.status, game.result, game.tag("White")),
        (&GameStatus::Read, GameResult::Black, None)
    );
    assert_eq!(moves(game), "e4 Nc6 Ke2 d5 Ke1 Nf6 exd5 Qxd5 Ke2 Qe4#");
    // One game per line, with and without move numbers and results.
    let (lines, fault) = lines("1. e4 e5 1-0\n1. d4 d5 0-1\n\nc4 e5 *\n\n1. Nf3\n1. g3 d5\n");
    assert_eq!(lines, ["e4 e5", "d4 d5", "c4 e5", "Nf3", "g3 d5"]);
    assert_eq!(fault, None);
}

#[test]
fn movetext_split_by_empty_lines_is_joined() {
    let tail =
        "Nc6 3. Bb5 a6\n\n4. Ba4\n \n{a remark}\n\n4... Nf6 (4... b5\n\n5. Bb3) 5. O-O\n\n1-0";
    for newline in ["\n", "\r\n", "\r"] {
        for (head, plies) in [("[Event \"?\"]\n\n", 9), ("", 9)] {
            let torn = format!("{head}1. e4 e5 2. Nf3\n\n{tail}\n\n[Event \"2\"]\n\n1. c4 *\n");
            let games = read(&torn.replace('\n', newline));
            let all: Vec<_> = games.iter().map(|(game, end)| (game.moves.len(), end)).collect();
            assert_eq!((all.len(), all[0].0, all[1].0), (2, plies, 1), "{all:?}");
            assert_eq!(all[0].1.result, GameResult::White, "{all:?}");
            assert!(all.iter().all(|(_, end)| end.status == GameStatus::Read), "{all:?}");
        }
    }
    // Empty lines separate the three games. Prose and moves that cannot be played from the start
    // position are not part of any game.
    let (lines, fault) = lines("1. e4 e5\n\n1. d4 d5\n\nA fine game.\n\n1. c4 c5\n\n7. Kh1 Kg8\n");
    assert_eq!((lines, fault), (["e4 e5", "d4 d5", "c4 c5"].map(str::to_owned).to_vec(), None));
    // A game with an illegal move is returned with the moves before it.
    let (lines, fault) = self::lines("1. d4 d5 *\n\n1. e4 e4 2. Nf3 *\n");
    assert_eq!(lines, ["d4 d5", "e4"]);
    assert!(fault.is_some_and(|fault| fault.contains("line 3: illegal move e4")));
}

#[test]
fn prose_is_not_a_game() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in ["README.md", "ARCHITECTURE.md", "Cargo.toml", "src/main.rs"] {
        let text = fs::read_to_string(root.join(name)).expect(name);
        let games = read(&text);
        assert!(games.is_empty(), "{name}: {games:?}");
        let (made, printed) = build("text.pgn", text.as_bytes(), &[]);
        assert!(!made && printed.contains("no game"), "{name}: {printed}");
    }
    for text in [
        "<html><body><p>1. e4 e5</p></body></html>\n",
        "e4 is best by test.\n",
        "1. Install it\n2. Start it\n",
        "1. e4 is best by test.\n",
        "1-0\n",
        "[1] see below\n",
        "{\"moves\": \"e4 e5\"}",
    ] {
        assert!(read(text).is_empty(), "{text}: {:?}", read(text));
    }
}

#[test]
fn unambiguous_loose_notation_is_accepted() {
    for (text, moves) in [
        ("1. e2-e4 e7-e5 2. Ng1-f3 Nb8-c6 3. Bf1-b5", "e4 e5 Nf3 Nc6 Bb5"),
        ("1. e2e4 e7e5 2. g1f3 b8c6", "e4 e5 Nf3 Nc6"),
        ("1. ♘f3 ♞f6 2. c4 ♟e5", "Nf3 Nf6 c4 e5"),
        ("1.e4 d5 2.ed5 Qd5 3.Nc3 Q:d4", "e4 d5 exd5 Qxd5 Nc3 Qd4"),
        ("1. e4 Nf6 2. e5 d5 3. exd6e.p. Nc6 4. d:c7", "e4 Nf6 e5 d5 exd6 Nc6 dxc7"),
        ("1. e4 Nf6 2. e5 d5 3. exd6 e.p. Nc6", "e4 Nf6 e5 d5 exd6 Nc6"),
        ("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. 0-0 Nf6", "e4 e5 Nf3 Nc6 Bc4 Bc5 O-O Nf6"),
        ("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O–O Nf6 5. o-o", "e4 e5 Nf3 Nc6 Bc4 Bc5 O-O Nf6"),
        (
            "1. e4 $14 e5 +- 2. Nf3 = Nc6 N 3. Bb5 ± a6!? 4. Ba4 (4. Bx c) b5",
            "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 b5",
        ),
        ("1 e4 e5 2Nf3 Nc6 3…", "e4 e5 Nf3 Nc6"),
    ] {
        let (lines, fault) = lines(&format!("[Event \"?\"]\n\n{text} *\n"));
        // In the text that ends with `o-o`, White castles a second time. The error must quote this
        // move.
        let expected = text.ends_with("o-o").then_some("o-o");
        assert_eq!((lines.len(), lines[0].as_str()), (1, moves), "{text}: {fault:?}");
        match (expected, fault) {
            (None, None) => {}
            (Some(token), Some(fault)) => assert!(fault.contains(token), "{text}: {fault}"),
            (_, fault) => panic!("{text}: {fault:?}"),
        }
    }
    let promotion =
        |moves: &str| lines(&format!("[FEN \"1n5k/P7/8/8/8/8/8/4K3 w - - 0 1\"]\n\n{moves} *\n"));
    for text in ["1. a8Q Kg7", "1. a8(Q) Kg7", "1. a7-a8=Q Kg7", "1. a8/Q Kg7", "1. a8=q Kg7"] {
        assert_eq!(promotion(text), (vec!["a8=Q Kg7".to_owned()], None), "{text}");
    }
}

#[test]
fn unknown_token_ends_its_game_with_a_fault_naming_it() {
    for token in ["Xf3", "Sf3", "e4-e5-e6", "Ke9", "foo", "---", "Nf", "[%clk", "e.f", "ef"] {
        let text =
            format!("[Event \"1\"]\n\n1. e4 e5\n2. {token} Nc6 1-0\n\n[Event \"2\"]\n\n1. c4 *\n");
        let (lines, fault) = lines(&text);
        assert_eq!(lines, ["e4 e5", "c4"], "{token}");
        let fault = fault.expect(token);
        let named = token.trim_end_matches(".f");
        assert!(fault.starts_with("line 4: ") && fault.contains(named), "{token}: {fault}");
    }
    let (made, printed) = build("g.pgn", b"[Result \"1-0\"]\n\n1. e4 e5\n2. Sf3 Nc6 1-0\n", &[]);
    assert!(made && printed.contains("g.pgn: game 1, line 4: cannot understand Sf3"), "{printed}");
    let (made, printed) = build("g.pgn", b"[Result \"1-0\"]\n\n1. Zf3 Nc6 1-0\n", &["--strict"]);
    assert!(!made && printed.contains("Zf3"), "{printed}");
}

/// The game that the tests translate to the piece letters of other languages.
pub(super) const NAJDORF: &str = "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 6. Bg5 e6 7. f4 Be7 \
                       8. Qf3 Qc7 9. O-O-O Nbd7 10. g4 b5 11. Bxf6 Nxf6 12. Kb1 Rb8 13. Rg1";

#[test]
fn language_of_piece_letters_is_detected_per_file() {
    let english = lines(&format!("{NAJDORF} *\n")).0;
    for (code, letters) in [
        ("de", "KDTLS"),
        ("fr", "RDTFC"),
        ("es", "RDTAC"),
        ("it", "RDTAC"),
        ("pt", "RDTBC"),
        ("nl", "KDTLP"),
        ("pl", "KHWGS"),
        ("cs", "KDVSJ"),
        ("hu", "KVBFH"),
        ("ro", "RDTNC"),
        ("sv", "KDTLS"),
        ("da", "KDTLS"),
        ("no", "KDTLS"),
        ("fi", "KDTLR"),
        ("et", "KLVOR"),
        ("ru", "кФЛСК"),
    ] {
        let letters: Vec<String> = letters
            .chars()
            .map(|sign| if sign == 'к' { "Кр".to_owned() } else { sign.to_string() })
            .collect();
        let translate = |sign: char| match "KQRBN".find(sign) {
            Some(index) => letters[index].clone(),
            None => sign.to_string(),
        };
        let game: String = NAJDORF.chars().map(translate).collect();
        let file = format!("[Event \"1\"]\n[Result \"1-0\"]\n\n{game} 1-0\n\n{game} 1-0\n");
        let (found, fault) = lines(&file);
        assert_eq!(fault, None, "{code}: {game}");
        assert_eq!(found, [english[0].clone(), english[0].clone()], "{code}");
        for arguments in [&[][..], &["--language", code]] {
            let (made, printed) = build("g.pgn", file.as_bytes(), arguments);
            let reported = letters.join(" ");
            assert!(
                made && printed.contains(&reported) && printed.contains("2 counted"),
                "{code}: {printed}"
            );
            assert!(!printed.contains("broken"), "{code}: {printed}");
        }
    }
    let (made, printed) = build("g.pgn", b"1. e4 *\n", &["--language", "xx"]);
    assert!(!made && printed.contains("de"), "{printed}");
    // A language given with `--language` is used even if the file's content suggests another one.
    let text = format!("[Result \"1-0\"]\n\n{NAJDORF} 1-0\n");
    let (_, printed) = build("g.pgn", text.as_bytes(), &["--language", "de"]);
    assert!(printed.contains("cannot understand Nf3"), "{printed}");
}

#[test]
fn unique_compares_whole_games() {
    let game = |players: &str, end: &str| {
        format!(
            "[White \"{players}\"]\n[Black \"B\"]\n[Date \"2001.01.01\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 {end} 1-0\n\n"
        )
    };
    let games = [
        game("A", "Nc6 3. Bb5 a6"),
        game("A", "Nc6 3. Bb5 Nf6"),
        game("A", "Nc6 3. Bb5 a6"),
        game("C", "Nc6 3. Bb5 a6"),
    ];
    let (made, printed) =
        build("g.pgn", games.concat().as_bytes(), &["--unique", "--max-ply", "4"]);
    assert!(made && printed.contains("3 counted") && printed.contains("1 duplicate"), "{printed}");
}

#[test]
fn utf_16_is_read() {
    let text = format!("[Event \"Çeşme – Ž\"]\n[Result \"0-1\"]\n\n{DUMB}").replace('\n', "\r\n");
    for big_endian in [false, true] {
        for mark in ["\u{feff}", ""] {
            let units: Vec<u16> = format!("{mark}{text}").encode_utf16().collect();
            let bytes =
                |unit: &u16| if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() };
            let bytes: Vec<u8> = units.iter().flat_map(bytes).collect();
            let (made, printed) = build("g.pgn", &bytes, &[]);
            assert!(
                made && printed.contains("1 counted: 0 won by White, 0 drawn, 1 won by Black"),
                "{printed}"
            );
            assert!(!printed.contains("broken") && !printed.contains("skipped"), "{printed}");
        }
    }
}

#[test]
fn unsupported_archives_are_rejected_by_name() {
    for (bytes, words) in [
        (&b"PK\x03\x04\x14\0\0\0\x08\0"[..], ["zip", "unzip"]),
        (b"\xfd7zXZ\0\0\x04", ["xz", "xz -dc"]),
        (b"7z\xbc\xaf\x27\x1c\0\x04", ["7-Zip", "unpack"]),
        (b"Rar!\x1a\x07\0", ["RAR", "unpack"]),
    ] {
        let folder = folder();
        let path = folder.path().join("g.pgn");
        fs::write(&path, bytes).expect("writable");
        for arguments in [
            &["book", "build", "g.pgn", "-o", "out.tbk"][..],
            &["book", "find", "g.pgn", "--moves", "e4"],
            &["book", "show", "g.pgn"],
        ] {
            let output = tabia(arguments, folder.path());
            let printed = printed(&output);
            assert!(!output.status.success(), "{arguments:?}: {printed}");
            assert!(words.iter().all(|word| printed.contains(word)), "{arguments:?}: {printed}");
        }
    }
}

#[test]
fn quotes_within_a_tag_value_are_kept() {
    let text = "[White \"Fred \"The Fish\" X\"]\n[Black \"A \\\"B\\\" C\"] [Round \"1\"]\n\
                [Site \"no end]\n[Annotator \"back\\\"]\n[Result \"1-0\"]\n\n1. e4 e5 1-0\n\n\
                [Event \"2\"]\n[White \"\"\"]\n\n1. d4 *\n";
    let games = read(text);
    let tag = |index: usize, name| games[index].0.tag(name);
    assert_eq!(tag(0, "White"), Some("Fred \"The Fish\" X"));
    assert_eq!((tag(0, "Black"), tag(0, "Round")), (Some("A \"B\" C"), Some("1")));
    assert_eq!((tag(0, "Site"), tag(0, "Result")), (Some("no end"), Some("1-0")));
    assert_eq!((tag(1, "Event"), tag(1, "White")), (Some("2"), Some("\"")));
    assert_eq!(games.iter().map(|(game, _)| moves(game)).collect::<Vec<_>>(), ["e4 e5", "d4"]);
}

#[test]
fn cr_line_endings_are_accepted() {
    let text =
        "[Event \"1\"]\n[Result \"1-0\"]\n\n1. e4 ; a remark\n% not read\ne5 1-0\n\n".repeat(9_000);
    let bad = "[Event \"2\"]\n[Result \"0-1\"]\n\n1. e4 e5\n2. Ke3 0-1\n";
    let (made, printed) =
        build("g.pgn", format!("{text}{bad}").replace('\n', "\r").as_bytes(), &[]);
    assert!(
        made && printed.contains("9,001 counted: 9,000 won by White, 0 drawn, 1 won by Black"),
        "{printed}"
    );
    // CR line endings are also accepted if the ply limit skips most of each game.
    let long = format!("[Event \"1\"]\n[Result \"1-0\"]\n\n{NAJDORF} 1-0\n\n").repeat(5);
    let long = long.replace('\n', "\r");
    let (_, few) = build("g.pgn", long.as_bytes(), &["--max-ply", "3"]);
    assert!(few.contains("5 counted: 5 won"), "{few}");
    // The line number counts from the beginning of the file, although the file is read in chunks.
    assert!(printed.contains("game 9001, line 63005: illegal move Ke3"), "{printed}");
}

#[test]
fn unclosed_brace_or_parenthesis_affects_only_its_game() {
    for (open, word) in [("{ no end", "brace"), ("(2. d4 d5", "parenthesis")] {
        for tags in ["[Event \"x\"]\n[Result \"1-0\"]\n\n", ""] {
            let whole = format!("{tags}1. d4 d5 {{a}} 2. c4 (2. Nf3) 1-0\n\n");
            let text = format!("{whole}{tags}1. e4 e5\n{open} 2. Nf3 1-0\n\n{whole}{whole}");
            let (lines, fault) = lines(&text);
            assert_eq!(lines, ["d4 d5 c4", "e4 e5", "d4 d5 c4", "d4 d5 c4"], "{text}");
            let fault = fault.expect("a fault");
            let line = if tags.is_empty() { "line 4:" } else { "line 10:" };
            assert!(fault.starts_with(line) && fault.contains(word), "{fault}");
        }
    }
}

#[test]
fn names_in_latin_1_and_utf_8_are_decoded() {
    let bytes = b"[White \"M\xfcller\"]\n[Black \"\xd0\xa2\xd0\xb0\xd0\xbb\xd1\x8c\"]\n\n1. e4 {sch\xf6n} e5 *\n";
    let (game, end) = read_games(&bytes[..]).next().expect("a game").expect("readable");
    assert_eq!((game.tag("White"), game.tag("Black")), (Some("Müller"), Some("Таль")));
    assert_eq!((moves(&game).as_str(), end.status), ("e4 e5", GameStatus::Read));
    assert_eq!(game.moves[0].comment, "schön");
}

#[test]
fn hostile_tags_and_comments_round_trip() {
    let hostile = "a\n[White \"b\"]\r\n\n1. d4 \\ \" } { ; % \u{1b}[31m \0 \u{2028} ] x";
    let mut game = PgnGame::new(Position::start());
    for name in ["Event", "White", "Annotator", "a]\n[b"] {
        game.set_tag(name, hostile);
    }
    game.comment = hostile.to_owned();
    for text in ["e4", "e5"] {
        let position =
            game.moves.iter().fold(game.start, |position, played| position.play(played.mv));
        game.moves.push(position.parse_move(text).expect(text).into());
    }
    game.moves[0].comment = format!("{}{hostile}", "long ".repeat(20));
    let text = format!("{game}\n{game}\n");
    let controls: Vec<char> =
        text.chars().filter(|sign| sign.is_control() && *sign != '\n').collect();
    assert!(controls.is_empty(), "{controls:?}");
    let again = read(&text);
    assert_eq!(again.len(), 2, "{text}");
    for (read, end) in again {
        assert_eq!((end.status, moves(&read).as_str()), (GameStatus::Read, "e4 e5"), "{text}");
        assert_eq!(read.tag("White").map(|name| name.contains("[White \"b\"]")), Some(true));
        assert_eq!(read.tags.len(), "seven of the roster".len().min(7) + 2, "{:?}", read.tags);
    }
}

#[test]
fn control_characters_of_files_are_escaped() {
    let hostile = "[White \"\u{1b}[2J\u{7}x\"]\n[Event \"\u{9b}31m\"]\n[Result \"1-0\"]\n\n1. e4 e5\u{1b}[31m 1-0\n";
    let folder = folder();
    fs::write(folder.path().join("g.pgn"), hostile).expect("writable");
    for arguments in [
        &["book", "build", "g.pgn", "-o", "out.tbk"][..],
        &["book", "find", "g.pgn", "--moves", "e4"],
    ] {
        let printed = printed(&tabia(arguments, folder.path()));
        let is_control = |sign: &char| sign.is_control() && *sign != '\n';
        assert_eq!(printed.chars().filter(is_control).count(), 0, "{printed:?}");
        assert!(printed.contains("\\u{1b}"), "{printed}");
    }
}
