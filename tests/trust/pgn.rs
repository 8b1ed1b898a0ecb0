//! Games in files: points 1, 7, 9 and 17.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Output;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use tabia::pgn::{Fate, GameEnd, GamePly, GameResult, PgnGame, Reader, Tags, Visitor, read_games};
use tabia::position::Position;
use tempfile::TempDir;

use crate::support::{Engine, tabia};

/// The game of the first `dumb.pgn`, as it was published: no tags, and two lines.
const DUMB: &str = "1. e4 Nc6 2. Ke2 d5 3. Ke1 Nf6 4. exd5 Qxd5 5. Ke2 Qe4#\n\
                    {computer wins as black} 0-1\n";

/// Games with how their reading ended.
fn read(text: &str) -> Vec<(PgnGame, GameEnd)> {
    read_games(text.as_bytes()).collect::<Result<_, _>>().expect("memory can be read")
}

/// The moves of a game in SAN.
fn moves(game: &PgnGame) -> String {
    let mut position = game.start;
    let mut words = Vec::new();
    for played in &game.moves {
        words.push(position.san(played.mv));
        position = position.try_play(played.mv).expect("legal");
    }
    words.join(" ")
}

/// The moves of all games, and why the first stopped that did.
fn lines(text: &str) -> (Vec<String>, Option<String>) {
    let games = read(text);
    let fault = games.iter().find_map(|(_, end)| match &end.fate {
        Fate::Broken(fault) => Some(fault.to_string()),
        _ => None,
    });
    (games.iter().map(|(game, _)| moves(game)).collect(), fault)
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// What the program says, on both channels.
fn said(output: &Output) -> String {
    let all = [&output.stderr[..], &output.stdout].concat();
    String::from_utf8(all).expect("UTF-8")
}

/// Builds a book of bytes in a file, with further arguments; what is said comes back.
fn build(name: &str, bytes: &[u8], arguments: &[&str]) -> (bool, String) {
    let folder = folder();
    fs::write(folder.path().join(name), bytes).expect("writable");
    let all = [&["book", "build", name, "-o", "out.tbk"], arguments].concat();
    let output = tabia(&all, folder.path());
    (output.status.success(), said(&output))
}

#[test]
fn trust_01_movetext_without_tags_is_a_book() {
    let folder = folder();
    let book = folder.path().join("dumb.pgn");
    for text in [DUMB.to_owned(), DUMB.replace('\n', " "), DUMB.trim_end().to_owned()] {
        fs::write(&book, text).expect("writable");
        let mut engine = Engine::start(&["-x", "-b", book.to_str().expect("UTF-8")]);
        engine.send("xboard\nprotover 2\nnew\nforce\nusermove e2e4\nusermove b8c6\nbk");
        let said = engine.sync().join("\n");
        assert!(said.contains("Ke2"), "the book does not know the game: {said}");
        engine.quit();
    }
}

#[test]
fn trust_01_players_and_result_of_movetext_without_tags() {
    let games = read(DUMB);
    let [(game, end)] = &games[..] else { panic!("{games:?}") };
    assert_eq!((&end.fate, game.result, game.tag("White")), (&Fate::Read, GameResult::Black, None));
    assert_eq!(moves(game), "e4 Nc6 Ke2 d5 Ke1 Nf6 exd5 Qxd5 Ke2 Qe4#");
    // One game a line, with and without numbers and results.
    let (lines, fault) = lines("1. e4 e5 1-0\n1. d4 d5 0-1\n\nc4 e5 *\n\n1. Nf3\n1. g3 d5\n");
    assert_eq!(lines, ["e4 e5", "d4 d5", "c4 e5", "Nf3", "g3 d5"]);
    assert_eq!(fault, None);
}

#[test]
fn trust_01_what_an_empty_line_tore_off_its_game_is_joined_to_it() {
    let tail =
        "Nc6 3. Bb5 a6\n\n4. Ba4\n \n{a remark}\n\n4... Nf6 (4... b5\n\n5. Bb3) 5. O-O\n\n1-0";
    for newline in ["\n", "\r\n", "\r"] {
        for (head, plies) in [("[Event \"?\"]\n\n", 9), ("", 9)] {
            let torn = format!("{head}1. e4 e5 2. Nf3\n\n{tail}\n\n[Event \"2\"]\n\n1. c4 *\n");
            let games = read(&torn.replace('\n', newline));
            let all: Vec<_> = games.iter().map(|(game, end)| (game.moves.len(), end)).collect();
            assert_eq!((all.len(), all[0].0, all[1].0), (2, plies, 1), "{all:?}");
            assert_eq!(all[0].1.result, GameResult::White, "{all:?}");
            assert!(all.iter().all(|(_, end)| end.fate == Fate::Read), "{all:?}");
        }
    }
    // Another game begins after the empty line, and prose belongs to none.
    let (lines, fault) = lines("1. e4 e5\n\n1. d4 d5\n\nA fine game.\n\n1. c4 c5\n\n7. Kh1 Kg8\n");
    assert_eq!((lines, fault), (["e4 e5", "d4 d5", "c4 c5"].map(str::to_owned).to_vec(), None));
    // A game with a fault is one all the same.
    let (lines, fault) = self::lines("1. d4 d5 *\n\n1. e4 e4 2. Nf3 *\n");
    assert_eq!(lines, ["d4 d5", "e4"]);
    assert!(fault.is_some_and(|fault| fault.contains("line 3: illegal move e4")));
}

#[test]
fn trust_01_prose_is_no_game() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in ["README.md", "ARCHITECTURE.md", "Cargo.toml", "src/main.rs"] {
        let text = fs::read_to_string(root.join(name)).expect(name);
        let games = read(&text);
        assert!(games.is_empty(), "{name}: {games:?}");
        let (made, said) = build("text.pgn", text.as_bytes(), &[]);
        assert!(!made && said.contains("no game"), "{name}: {said}");
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
fn trust_07_what_leaves_no_doubt_is_read() {
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
        // The second castling is White's again: it must be refused, and named.
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
fn trust_07_any_other_token_ends_its_game_with_a_fault_that_names_it() {
    for token in ["Xf3", "Sf3", "e4-e5-e6", "Ke9", "foo", "---", "Nf", "[%clk", "e.f", "ef"] {
        let text =
            format!("[Event \"1\"]\n\n1. e4 e5\n2. {token} Nc6 1-0\n\n[Event \"2\"]\n\n1. c4 *\n");
        let (lines, fault) = lines(&text);
        assert_eq!(lines, ["e4 e5", "c4"], "{token}");
        let fault = fault.expect(token);
        let named = token.trim_end_matches(".f");
        assert!(fault.starts_with("line 4: ") && fault.contains(named), "{token}: {fault}");
    }
    let (made, said) = build("g.pgn", b"[Result \"1-0\"]\n\n1. e4 e5\n2. Sf3 Nc6 1-0\n", &[]);
    assert!(made && said.contains("g.pgn: game 1, line 4: cannot understand Sf3"), "{said}");
    let (made, said) = build("g.pgn", b"[Result \"1-0\"]\n\n1. Zf3 Nc6 1-0\n", &["--strict"]);
    assert!(!made && said.contains("Zf3"), "{said}");
}

/// The same game in the letters of many languages.
const NAJDORF: &str = "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 6. Bg5 e6 7. f4 Be7 \
                       8. Qf3 Qc7 9. O-O-O Nbd7 10. g4 b5 11. Bxf6 Nxf6 12. Kb1 Rb8 13. Rg1";

#[test]
fn trust_07_letters_of_other_languages_are_found_out_for_a_file() {
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
        let spell = |sign: char| match "KQRBN".find(sign) {
            Some(index) => letters[index].clone(),
            None => sign.to_string(),
        };
        let game: String = NAJDORF.chars().map(spell).collect();
        let file = format!("[Event \"1\"]\n[Result \"1-0\"]\n\n{game} 1-0\n\n{game} 1-0\n");
        let (found, fault) = lines(&file);
        assert_eq!(fault, None, "{code}: {game}");
        assert_eq!(found, [english[0].clone(), english[0].clone()], "{code}");
        for arguments in [&[][..], &["--language", code]] {
            let (made, said) = build("g.pgn", file.as_bytes(), arguments);
            let told = letters.join(" ");
            assert!(made && said.contains(&told) && said.contains("2 counted"), "{code}: {said}");
            assert!(!said.contains("broken"), "{code}: {said}");
        }
    }
    let (made, said) = build("g.pgn", b"1. e4 *\n", &["--language", "xx"]);
    assert!(!made && said.contains("de"), "{said}");
    // A language that is told holds, whatever the file looks like.
    let text = format!("[Result \"1-0\"]\n\n{NAJDORF} 1-0\n");
    let (_, said) = build("g.pgn", text.as_bytes(), &["--language", "de"]);
    assert!(said.contains("cannot understand Nf3"), "{said}");
}

#[test]
fn trust_09_unique_compares_whole_games() {
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
    let (made, said) = build("g.pgn", games.concat().as_bytes(), &["--unique", "--max-ply", "4"]);
    assert!(made && said.contains("3 counted") && said.contains("1 duplicate"), "{said}");
}

#[test]
fn trust_09_utf_16_is_read() {
    let text = format!("[Event \"Çeşme – Ž\"]\n[Result \"0-1\"]\n\n{DUMB}").replace('\n', "\r\n");
    for big_endian in [false, true] {
        for mark in ["\u{feff}", ""] {
            let units: Vec<u16> = format!("{mark}{text}").encode_utf16().collect();
            let bytes =
                |unit: &u16| if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() };
            let bytes: Vec<u8> = units.iter().flat_map(bytes).collect();
            let (made, said) = build("g.pgn", &bytes, &[]);
            assert!(made && said.contains("1 counted: +0 =0 -1"), "{said}");
            assert!(!said.contains("broken") && !said.contains("skipped"), "{said}");
        }
    }
}

#[test]
fn trust_09_other_packings_are_named() {
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
            let said = said(&output);
            assert!(!output.status.success(), "{arguments:?}: {said}");
            assert!(words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
        }
    }
}

#[test]
fn trust_09_quotes_within_a_tag_stay_in_it() {
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
fn trust_09_lines_may_end_with_cr_alone() {
    let text =
        "[Event \"1\"]\n[Result \"1-0\"]\n\n1. e4 ; a remark\n% not read\ne5 1-0\n\n".repeat(9_000);
    let bad = "[Event \"2\"]\n[Result \"0-1\"]\n\n1. e4 e5\n2. Ke3 0-1\n";
    let (made, said) = build("g.pgn", format!("{text}{bad}").replace('\n', "\r").as_bytes(), &[]);
    assert!(made && said.contains("9,001 counted: +9000 =0 -1"), "{said}");
    // Also where the plies that count end long before the game.
    let long = format!("[Event \"1\"]\n[Result \"1-0\"]\n\n{NAJDORF} 1-0\n\n").repeat(5);
    let long = long.replace('\n', "\r");
    let (_, few) = build("g.pgn", long.as_bytes(), &["--max-ply", "3"]);
    assert!(few.contains("5 counted: +5"), "{few}");
    // The line is that of the file, although it was read in pieces.
    assert!(said.contains("game 9001, line 63005: illegal move Ke3"), "{said}");
}

#[test]
fn trust_09_an_open_brace_or_parenthesis_costs_its_own_game() {
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
fn trust_09_names_may_be_in_any_encoding() {
    let bytes = b"[White \"M\xfcller\"]\n[Black \"\xd0\xa2\xd0\xb0\xd0\xbb\xd1\x8c\"]\n\n1. e4 {sch\xf6n} e5 *\n";
    let (game, end) = read_games(&bytes[..]).next().expect("a game").expect("readable");
    assert_eq!((game.tag("White"), game.tag("Black")), (Some("Müller"), Some("Таль")));
    assert_eq!((moves(&game).as_str(), end.fate), ("e4 e5", Fate::Read));
    assert_eq!(game.moves[0].comment, "schön");
}

#[test]
fn trust_17_whatever_a_name_or_comment_holds_it_stays_in_its_place() {
    let nasty = "a\n[White \"b\"]\r\n\n1. d4 \\ \" } { ; % \u{1b}[31m \0 \u{2028} ] x";
    let mut game = PgnGame::new(Position::start());
    for name in ["Event", "White", "Annotator", "a]\n[b"] {
        game.set_tag(name, nasty);
    }
    game.comment = nasty.to_owned();
    for text in ["e4", "e5"] {
        let position =
            game.moves.iter().fold(game.start, |position, played| position.play(played.mv));
        game.moves.push(position.parse_move(text).expect(text).into());
    }
    game.moves[0].comment = format!("{}{nasty}", "long ".repeat(20));
    let text = format!("{game}\n{game}\n");
    let controls: Vec<char> =
        text.chars().filter(|sign| sign.is_control() && *sign != '\n').collect();
    assert!(controls.is_empty(), "{controls:?}");
    let again = read(&text);
    assert_eq!(again.len(), 2, "{text}");
    for (read, end) in again {
        assert_eq!((end.fate, moves(&read).as_str()), (Fate::Read, "e4 e5"), "{text}");
        assert_eq!(read.tag("White").map(|name| name.contains("[White \"b\"]")), Some(true));
        assert_eq!(read.tags.len(), "seven of the roster".len().min(7) + 2, "{:?}", read.tags);
    }
}

#[test]
fn trust_17_what_files_say_is_printed_harmlessly() {
    let hostile = "[White \"\u{1b}[2J\u{7}x\"]\n[Event \"\u{9b}31m\"]\n[Result \"1-0\"]\n\n1. e4 e5\u{1b}[31m 1-0\n";
    let folder = folder();
    fs::write(folder.path().join("g.pgn"), hostile).expect("writable");
    for arguments in [
        &["book", "build", "g.pgn", "-o", "out.tbk"][..],
        &["book", "find", "g.pgn", "--moves", "e4"],
    ] {
        let said = said(&tabia(arguments, folder.path()));
        let is_control = |sign: &char| sign.is_control() && *sign != '\n';
        assert_eq!(said.chars().filter(is_control).count(), 0, "{said:?}");
        assert!(said.contains("\\u{1b}"), "{said}");
    }
}

/// Characters and pieces of text that readers may take for something else within a comment.
const IN_COMMENTS: [&str; 14] = [
    "[Event \"quoted\"]\n[Result \"0-1\"]\n\n1. d4 d5 0-1",
    "[White \"quoted\"]",
    "1. c4 e5 1/2-1/2",
    "1-0",
    "*",
    "\n",
    "\n\n",
    "\r\n\r\n",
    "; to the end of the line",
    "(",
    ")",
    "% not an escape",
    "{",
    "and words",
];

/// A comment of such pieces, closed. A brace opens in it only before the first quoted game: after
/// that, it could as well open a comment of the next game of the file.
fn quoting_comment() -> impl Strategy<Value = String> {
    vec(select(&IN_COMMENTS[..]), 0..6).prop_map(|mut pieces| {
        let game = pieces.iter().position(|piece| piece.starts_with(['[', '1']));
        let mut index = 0;
        pieces.retain(|piece| {
            index += 1;
            *piece != "{" || game.is_none_or(|game| index <= game)
        });
        format!("{{{}}}", pieces.join("\n"))
    })
}

/// A game whose comments quote others, and the moves of its main line.
fn game_that_quotes() -> impl Strategy<Value = String> {
    vec(quoting_comment(), 5).prop_map(|said| {
        let [first, second, third, fourth, fifth] = said.try_into().expect("five comments");
        format!(
            "[Event \"real\"]\n[Result \"1-0\"]\n\n{first} 1. e4 {second} e5 (1... c5 {third}) \
             2. Nf3 {fourth} Nc6 1-0 {fifth}\n\n"
        )
    })
}

proptest! {
    #[test]
    fn a_game_quoted_in_a_comment_is_none_of_the_file(
        games in vec(game_that_quotes(), 1..4),
        newline in select(&["\n", "\r\n"][..]),
    ) {
        let text = games.concat().replace("\r\n", "\n").replace('\n', newline);
        let (lines, fault) = lines(&text);
        prop_assert_eq!(fault, None, "{}", &text);
        prop_assert_eq!(&lines, &vec!["e4 e5 Nf3 Nc6"; games.len()], "{}", &text);
        // So it is where the moves that count end before.
        let mut reader = Reader::new(text.as_bytes());
        let mut plies = Vec::new();
        while let Some(end) = reader.read_game(&mut FirstPly).expect("memory can be read") {
            plies.push((end.plies, end.fate));
        }
        prop_assert_eq!(plies, vec![(1, Fate::Read); games.len()], "{}", &text);
    }
}

/// Takes the first ply of each game.
struct FirstPly;

impl Visitor for FirstPly {
    fn begin(&mut self, _: &Tags, _: &Position) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn played(&mut self, _: &GamePly) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn end(&mut self, _: &GameEnd) {}
}

#[test]
fn a_comment_longer_than_a_block_is_not_cut_at_the_games_that_it_quotes() {
    let quoted = "[Event \"quoted\"]\n[Result \"0-1\"]\n\n1. d4 d5 0-1\n\n".repeat(10_000);
    let real = |comment: &str| {
        format!("[Event \"real\"]\n[Result \"1-0\"]\n\n1. e4 {{{comment}}} e5 1-0\n\n")
    };
    let text = [real("a"), real(&quoted), real("b")].concat();
    let (made, said) = build("g.pgn", text.as_bytes(), &[]);
    assert!(made && said.contains("3 counted: +3 =0 -0"), "{said}");
    let (lines, fault) = lines(&text);
    assert_eq!((lines, fault), (vec!["e4 e5".to_owned(); 3], None));
}

#[test]
fn recovery_from_what_is_not_closed_leaves_closed_comments_whole() {
    let quote = "{see\n\n[Event \"quoted\"]\n[Result \"0-1\"]\n\n1. d4 d5 0-1\n\n}";
    let next = format!("[Event \"next\"]\n[Result \"1-0\"]\n\n1. c4 {quote} e5 1-0\n\n");
    for (open, word) in [("(2. d4 d5", "parenthesis"), ("{ no end", "brace")] {
        let broken = match word {
            "brace" => format!("1. e4 e5 {open} 2. Nf3 1-0"),
            _ => format!("1. e4 e5 {open} {quote} 2. Nf3 1-0"),
        };
        let plain = "[Event \"plain\"]\n\n1. Nf3 {a} d5 1-0\n\n";
        let text = format!("[Event \"broken\"]\n\n{broken}\n\n{plain}{next}{next}");
        let (lines, fault) = lines(&text);
        assert_eq!(lines, ["e4 e5", "Nf3 d5", "c4 e5", "c4 e5"], "{text}");
        assert!(fault.as_ref().is_some_and(|fault| fault.contains(word)), "{fault:?}");
    }
    // Nor does text between games, in which a comment quotes one.
    let (lines, fault) = lines(&format!("{next}About a game:\n{quote}\n\n{next}"));
    assert_eq!((lines, fault), (vec!["c4 e5".to_owned(); 2], None));
}

/// White space of every kind that texts have between words.
const SPACES: [&str; 16] = [
    " ", "\t", "\u{a0}", "\u{1680}", "\u{2002}", "\u{2003}", "\u{2007}", "\u{2009}", "\u{200a}",
    "\u{200b}", "\u{200d}", "\u{202f}", "\u{205f}", "\u{2060}", "\u{3000}", "\u{feff}",
];

/// Games with tags and without, with all that can stand in movetext.
const SPACED: [&str; 3] = [
    "[Event \"1\"]\n[Result \"1-0\"]\n\n1. e4 $1 e5 {a remark} 2. Nf3 (2. d4 d5) Nc6 +- 3. Bb5! a6 1-0\n\n",
    "[ White \"A B\" ]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n[Variant \"From Position\"]\n \n1. e4 Kd7 2 e5 Ke6 ; to the end\n 1/2-1/2 {after it}\n \n",
    "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 0-1\n\n",
];

proptest! {
    #[test]
    fn any_white_space_parts_words(
        game in select(&SPACED[..]),
        spaces in vec(vec(select(&SPACES[..]), 1..3), 64),
    ) {
        let mut spaces = spaces.iter().cycle();
        let spaced: String = game
            .chars()
            .map(|sign| match sign {
                ' ' => spaces.next().expect("endless").concat(),
                sign => sign.to_string(),
            })
            .collect();
        let plain = read(&format!("{game}{game}"));
        let found = read(&format!("{spaced}{spaced}"));
        prop_assert_eq!(found.len(), 2, "{}", &spaced);
        for ((game, end), (expected, expected_end)) in found.iter().zip(&plain) {
            prop_assert_eq!(&end.fate, &Fate::Read, "{}", &spaced);
            prop_assert_eq!(end, expected_end, "{}", &spaced);
            prop_assert_eq!((game.start, moves(game)), (expected.start, moves(expected)));
            let nags = |game: &PgnGame| game.moves.iter().map(|mv| mv.nags.clone()).collect::<Vec<_>>();
            prop_assert_eq!(nags(game), nags(expected), "{}", &spaced);
            prop_assert_eq!(game.tags.len(), expected.tags.len(), "{}", &spaced);
        }
    }

    #[test]
    fn any_white_space_parts_the_fields_of_a_position(spaces in vec(select(&SPACES[..]), 5)) {
        let fields = ["4k3/8/8/8/8/8/4P3/4K3", "w", "-", "-", "3", "9"];
        let mut fen = fields[0].to_owned();
        for (space, field) in spaces.iter().zip(&fields[1..]) {
            fen += space;
            fen += field;
        }
        prop_assert_eq!(Position::from_fen(&fen).ok(), Position::from_fen(&fields.join(" ")).ok());
    }
}

#[test]
fn the_no_break_space_of_latin_1_parts_words() {
    let bytes = b"1.\xa0e4\xa0e5\xa02.\xa0Nf3 Nc6\xa01-0\n";
    let (game, end) = read_games(&bytes[..]).next().expect("a game").expect("readable");
    assert_eq!((moves(&game).as_str(), end.result), ("e4 e5 Nf3 Nc6", GameResult::White));
}

#[test]
fn letters_of_other_languages_are_found_between_any_white_space() {
    let game: String = NAJDORF
        .chars()
        .map(|sign| match sign {
            'N' => 'S',
            'B' => 'L',
            'R' => 'T',
            'Q' => 'D',
            ' ' => '\u{a0}',
            sign => sign,
        })
        .collect();
    let (found, fault) = lines(&format!("[Event \"1\"]\n\n{game}\u{a0}1-0\n"));
    assert_eq!((found, fault), (lines(&format!("{NAJDORF} 1-0\n")).0, None));
}

#[test]
fn glyphs_are_numbers_of_their_move() {
    for (glyph, number) in [
        ("‼", 3),
        ("⁉", 5),
        ("⁈", 6),
        ("⁇", 4),
        ("⁉\u{fe0f}", 5),
        ("❗️", 1),
        ("！", 1),
        ("±", 16),
        ("⩲", 14),
        ("∞", 13),
        ("□", 7),
    ] {
        for blank in ["", " ", "\u{a0}"] {
            for head in ["[Event \"1\"]\n\n", ""] {
                let text = format!("{head}1. e4{blank}{glyph} e5 2. Nf3+{blank}{glyph}⊕ Nc6 1-0\n");
                let games = read(&text);
                let [(game, end)] = &games[..] else { panic!("{text}: {games:?}") };
                assert_eq!((&end.fate, moves(game).as_str()), (&Fate::Read, "e4 e5 Nf3 Nc6"));
                let nags: Vec<&[u8]> = game.moves.iter().map(|mv| &mv.nags[..]).collect();
                assert_eq!(nags, [&[number][..], &[], &[number, 138], &[]], "{text}");
            }
        }
    }
    let (game, _) = &read("[Event \"1\"]\n\n1. e4 +- e5 = 2. Nf3 N Nc6 ep *\n")[0];
    let nags: Vec<&[u8]> = game.moves.iter().map(|mv| &mv.nags[..]).collect();
    assert_eq!(nags, [&[18][..], &[10], &[146], &[]]);
}

#[test]
fn null_moves_stay_in_their_game() {
    for null in ["--", "Z0", "z0", "@@@@", "0000", "null", "pass", "<>"] {
        for head in ["[Event \"1\"]\n[Result \"1-0\"]\n\n", ""] {
            let text = format!("{head}1. e4 {null} 2. d4 e5 3. {null} exd4 1-0\n\n1. c4 *\n");
            let games = read(&text);
            assert_eq!(games.len(), 2, "{text}: {games:?}");
            let (game, end) = &games[0];
            assert_eq!((&end.fate, end.plies, game.result), (&Fate::Read, 6, GameResult::White));
            let words: Vec<String> = game.moves.iter().map(|mv| mv.mv.to_string()).collect();
            assert_eq!(words, ["e2e4", "0000", "d2d4", "e7e5", "0000", "e5d4"], "{text}");
            let written = game.to_string();
            assert!(written.contains("1. e4 -- 2. d4 e5 3. -- exd4 1-0"), "{written}");
            assert_eq!(read(&written)[0].0.moves, game.moves);
        }
    }
    // In check nobody can pass.
    let (lines, fault) = lines("[Event \"1\"]\n\n1. e4 f5 2. Qh5+ -- 3. a3 *\n\n1. c4 *\n");
    assert_eq!(lines, ["e4 f5 Qh5+", "c4"]);
    assert!(fault.is_some_and(|fault| fault.contains("line 3: null move --")));
}

#[test]
fn a_book_skips_only_the_null_move() {
    let folder = folder();
    let text = "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 -- 3. Bc4 Nc6 1-0\n";
    fs::write(folder.path().join("g.pgn"), text).expect("writable");
    let built = tabia(&["book", "build", "g.pgn", "-o", "b.tbk"], folder.path());
    assert!(built.status.success(), "{}", said(&built));
    let show = |fen: &str| said(&tabia(&["book", "show", "b.tbk", "--fen", fen], folder.path()));
    let before = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2";
    let after = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3";
    assert!(!show(before).contains("--"), "{}", show(before));
    assert!(show(after).contains("Bc4"), "{}", show(after));
}

#[test]
fn annotate_keeps_what_comes_after_a_null_move() {
    let folder = folder();
    let text = "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 -- 3. Nxe5 Nc6 4. Nxc6 dxc6 1-0\n";
    fs::write(folder.path().join("g.pgn"), text).expect("writable");
    let made = tabia(&["annotate", "g.pgn", "-o", "out.pgn", "--nodes", "500"], folder.path());
    assert!(made.status.success(), "{}", said(&made));
    let written = fs::read_to_string(folder.path().join("out.pgn")).expect("written");
    let (game, end) = &read(&written)[0];
    assert_eq!((&end.fate, moves(game).as_str()), (&Fate::Read, "e4 e5 Nf3 -- Nxe5 Nc6 Nxc6 dxc6"));
    assert_eq!(game.moves[3].nags, [0_u8; 0], "a null move is not judged: {written}");
}

#[test]
fn unknown_values_of_tags_are_none() {
    for value in ["", "?", "-", " ", " ? ", "Standard", "\u{a0}Chess "] {
        let tags = format!("[Variant \"{value}\"]\n[Result \"1-0\"]\n");
        let fen = if value.contains(char::is_alphabetic) { "?" } else { value };
        for tags in [tags.clone(), format!("{tags}[FEN \"{fen}\"]\n")] {
            let games = read(&format!("{tags}\n1. e4 e5 1-0\n"));
            let [(game, end)] = &games[..] else { panic!("{tags}: {games:?}") };
            assert_eq!((&end.fate, moves(game).as_str()), (&Fate::Read, "e4 e5"), "{tags}");
        }
    }
    let (_, end) = &read("[Variant \"Atomic\"]\n\n1. e4 *\n")[0];
    assert_eq!(end.fate, Fate::Variant);
}

#[test]
fn a_result_tag_that_contradicts_the_moves_is_reported() {
    let game = |tag: &str, token: &str| {
        format!("[Event \"x\"]\n[Result \"{tag}\"]\n\n1. e4 e5\n2. Nf3 {token} {{resigns}}\n\n")
    };
    let games = [
        game("1-0", "0-1"),
        game("0-1", "0-1"),
        game("1/2-1/2", "1-0"),
        game("1-0", "*"),
        game("*", "0-1"),
        game("1/2-1/2", "½-½"),
    ];
    let text = games.concat().replace(" {resigns}", "");
    for arguments in [&[][..], &["--max-ply", "1"]] {
        let (made, said) = build("g.pgn", text.as_bytes(), arguments);
        assert!(made && said.contains("6 counted: +2 =2 -2"), "{said}");
        assert!(said.contains("2 with another result"), "{said}");
        assert!(
            said.contains("g.pgn: game 1, line 5: ") && said.contains("game 3, line 17: "),
            "{said}"
        );
        assert!(!said.contains("broken"), "{said}");
    }
    let found = read(&games.concat());
    let contradictory: Vec<bool> =
        found.iter().map(|(_, end)| end.contradiction.is_some()).collect();
    assert_eq!(contradictory, [true, false, true, false, false, false]);
    assert_eq!(found[0].1.result, GameResult::White, "the tag counts");
}
