//! Tests of PGN as written by other programs: comments that quote games, unusual white space,
//! glyphs, null moves, and tags that contradict the moves.

use std::fs;
use std::ops::ControlFlow;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use tabia::pgn::{
    GameEnd, GamePly, GameResult, GameStatus, PgnGame, PgnMove, Reader, Tags, Variation, Visitor,
    read_games,
};
use tabia::position::{Move, Position};

use super::pgn::{NAJDORF, build, folder, lines, moves, printed, read};
use crate::support::tabia;

/// Text that a PGN reader could misinterpret if it occurs in a comment.
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

/// Generates a comment from these texts, including its braces. There is no opening brace after a
/// quoted game, because it could just as well be the start of a comment in the next game of the
/// file.
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

/// Generates a game whose comments quote other games.
fn game_that_quotes() -> impl Strategy<Value = String> {
    vec(quoting_comment(), 5).prop_map(|printed| {
        let [first, second, third, fourth, fifth] = printed.try_into().expect("five comments");
        format!(
            "[Event \"real\"]\n[Result \"1-0\"]\n\n{first} 1. e4 {second} e5 (1... c5 {third}) \
             2. Nf3 {fourth} Nc6 1-0 {fifth}\n\n"
        )
    })
}

proptest! {
    #[test]
    fn game_quoted_in_a_comment_is_not_counted(
        games in vec(game_that_quotes(), 1..4),
        newline in select(&["\n", "\r\n"][..]),
    ) {
        let text = games.concat().replace("\r\n", "\n").replace('\n', newline);
        let (lines, fault) = lines(&text);
        prop_assert_eq!(fault, None, "{}", &text);
        prop_assert_eq!(&lines, &vec!["e4 e5 Nf3 Nc6"; games.len()], "{}", &text);
        // Quoted games are not counted either if reading stops at a ply limit before them.
        let ends = first_plies(&text, 1);
        let plies: Vec<(usize, GameStatus)> = ends.into_iter().map(|end| (end.plies, end.status)).collect();
        prop_assert_eq!(plies, vec![(1, GameStatus::Read); games.len()], "{}", &text);
    }
}

/// A visitor that reads at most `limit` plies of each game.
struct FirstPlies {
    limit: usize,
    left: usize,
}

impl Visitor for FirstPlies {
    fn begin(&mut self, _: &Tags, _: &Position) -> ControlFlow<()> {
        self.left = self.limit;
        ControlFlow::Continue(())
    }

    fn played(&mut self, _: &GamePly) -> ControlFlow<()> {
        self.left -= 1;
        if self.left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn end(&mut self, _: &GameEnd) {}
}

#[test]
fn long_comment_quoting_games_is_not_split() {
    let quoted = "[Event \"quoted\"]\n[Result \"0-1\"]\n\n1. d4 d5 0-1\n\n".repeat(10_000);
    let real = |comment: &str| {
        format!("[Event \"real\"]\n[Result \"1-0\"]\n\n1. e4 {{{comment}}} e5 1-0\n\n")
    };
    let text = [real("a"), real(&quoted), real("b")].concat();
    let (made, printed) = build("g.pgn", text.as_bytes(), &[]);
    assert!(
        made && printed.contains("3 counted: 3 won by White, 0 drawn, 0 won by Black"),
        "{printed}"
    );
    let (lines, fault) = lines(&text);
    assert_eq!((lines, fault), (vec!["e4 e5".to_owned(); 3], None));
}

#[test]
fn recovery_after_unclosed_text_keeps_later_comments_intact() {
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
    // A game quoted in a comment is not counted either if the comment is in text between games.
    let (lines, fault) = lines(&format!("{next}About a game:\n{quote}\n\n{next}"));
    assert_eq!((lines, fault), (vec!["c4 e5".to_owned(); 2], None));
}

const ODD: [&str; 32] = [
    "hello",
    "Zz9",
    "Nf9",
    "e9",
    "--",
    "Z0",
    "0-0",
    "O-O-O-O",
    "e8=Q",
    "Pe4",
    "e2e4",
    "Nf3x",
    "N",
    "1-0",
    "½-½",
    "*",
    "12.",
    "7",
    "…",
    "‼",
    "\u{a0}",
    "(",
    ")",
    "{",
    "}",
    "(1. d4 {)} d5)",
    "\n\n",
    "; end\n",
    "\n% out\n",
    "$3",
    "$999",
    "\n\n[Event \"next\"]\n[Site \"?\"]\n\n1. d4 d5 1-0\n\n",
];

const RESULTS: [&str; 4] = ["1-0", "0-1", "1/2-1/2", "*"];

/// Generates a game as programs write it: random legal moves with comments, glyphs and variations,
/// and a result that may contradict the `Result` tag.
fn plain_game() -> impl Strategy<Value = String> {
    let ply = (any::<prop::sample::Index>(), 0_usize..20);
    (vec(ply, 0..40), select(&RESULTS[..]), select(&RESULTS[..])).prop_map(
        |(plies, tag, result)| {
            let mut position = Position::start();
            let mut game = PgnGame::new(position);
            game.set_tag("White", r#"A "B" \ C"#);
            game.result = GameResult::from_token(result.as_bytes()).expect("a result");
            for (choice, extra) in plies {
                let legal: Vec<Move> = position.legal_moves().iter().collect();
                if legal.is_empty() {
                    break;
                }
                let mut played = PgnMove::from(*choice.get(&legal));
                match extra {
                    0 => played.comment = "[%clk 0:01:00] a (remark".to_owned(),
                    1 => played.nags = vec![1, 14],
                    2 => {
                        let better = position.legal_moves().iter().take(1).collect::<Variation>();
                        let comment = "a ) b".to_owned();
                        played.variations = vec![Variation { comment, ..better }; 2];
                    }
                    _ => {}
                }
                position = position.play(played.mv);
                game.moves.push(played);
            }
            let old = format!("[Result \"{result}\"]");
            game.to_string().replace(&old, &format!("[Result \"{tag}\"]")) + "\n"
        },
    )
}

/// A glyph without a number, which is invalid and has no meaning.
const MARK: &str = "$x ";

fn first_plies(text: &str, limit: usize) -> Vec<GameEnd> {
    let mut reader = Reader::new(text.as_bytes());
    let mut visitor = FirstPlies { limit, left: limit };
    let next = || reader.read_game(&mut visitor).expect("memory can be read");
    std::iter::from_fn(next).collect()
}

proptest! {
    #[test]
    fn all_readers_read_the_same_games(
        games in vec(plain_game(), 1..4),
        odd in vec((any::<prop::sample::Index>(), select(&ODD[..])), 0..4),
        newline in select(&["\n", "\r\n"][..]),
        limit in 1_usize..20,
    ) {
        let mut text = games.concat();
        for (place, word) in odd {
            let blanks: Vec<usize> = text.match_indices(' ').map(|(at, _)| at).collect();
            text.insert_str(blanks[place.index(blanks.len())], &format!(" {word}"));
        }
        let plain = text.replace('\n', newline);
        // Insert the invalid glyph at the start of each game. `pgn-reader` would skip it, so
        // Tabia's tolerant parser takes over and reads the whole game.
        let mut tolerant = plain.clone();
        for result in RESULTS {
            let tag = format!("[Result \"{result}\"]{newline}{newline}");
            tolerant = tolerant.replace(&tag, &format!("{tag}{MARK}"));
        }
        let found = format!("{:?}", read(&tolerant)).replace(MARK, "");
        prop_assert_eq!(format!("{:?}", read(&plain)), found, "{}", &plain);
        prop_assert_eq!(first_plies(&plain, limit), first_plies(&tolerant, limit), "{}", &plain);
    }
}

const SPACES: [&str; 16] = [
    " ", "\t", "\u{a0}", "\u{1680}", "\u{2002}", "\u{2003}", "\u{2007}", "\u{2009}", "\u{200a}",
    "\u{200b}", "\u{200d}", "\u{202f}", "\u{205f}", "\u{2060}", "\u{3000}", "\u{feff}",
];

/// Games with and without tags that contain all kinds of movetext elements.
const SPACED: [&str; 3] = [
    "[Event \"1\"]\n[Result \"1-0\"]\n\n1. e4 $1 e5 {a remark} 2. Nf3 (2. d4 d5) Nc6 +- 3. Bb5! a6 1-0\n\n",
    "[ White \"A B\" ]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n[Variant \"From Position\"]\n \n1. e4 Kd7 2 e5 Ke6 ; to the end\n 1/2-1/2 {after it}\n \n",
    "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 0-1\n\n",
];

proptest! {
    #[test]
    fn any_white_space_separates_words(
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
            prop_assert_eq!(&end.status, &GameStatus::Read, "{}", &spaced);
            prop_assert_eq!(end, expected_end, "{}", &spaced);
            prop_assert_eq!((game.start, moves(game)), (expected.start, moves(expected)));
            let nags = |game: &PgnGame| game.moves.iter().map(|mv| mv.nags.clone()).collect::<Vec<_>>();
            prop_assert_eq!(nags(game), nags(expected), "{}", &spaced);
            prop_assert_eq!(game.tags.len(), expected.tags.len(), "{}", &spaced);
        }
    }

    #[test]
    fn any_white_space_separates_fen_fields(spaces in vec(select(&SPACES[..]), 5)) {
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
fn latin_1_no_break_space_separates_words() {
    let bytes = b"1.\xa0e4\xa0e5\xa02.\xa0Nf3 Nc6\xa01-0\n";
    let (game, end) = read_games(&bytes[..]).next().expect("a game").expect("readable");
    assert_eq!((moves(&game).as_str(), end.result), ("e4 e5 Nf3 Nc6", GameResult::White));
}

#[test]
fn language_is_detected_with_any_white_space() {
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
fn glyphs_are_read_as_nags() {
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
                assert_eq!(
                    (&end.status, moves(game).as_str()),
                    (&GameStatus::Read, "e4 e5 Nf3 Nc6")
                );
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
fn null_moves_are_kept_in_the_game() {
    for null in ["--", "Z0", "z0", "@@@@", "0000", "null", "pass", "<>"] {
        for head in ["[Event \"1\"]\n[Result \"1-0\"]\n\n", ""] {
            let text = format!("{head}1. e4 {null} 2. d4 e5 3. {null} exd4 1-0\n\n1. c4 *\n");
            let games = read(&text);
            assert_eq!(games.len(), 2, "{text}: {games:?}");
            let (game, end) = &games[0];
            assert_eq!(
                (&end.status, end.plies, game.result),
                (&GameStatus::Read, 6, GameResult::White)
            );
            let words: Vec<String> = game.moves.iter().map(|mv| mv.mv.to_string()).collect();
            assert_eq!(words, ["e2e4", "0000", "d2d4", "e7e5", "0000", "e5d4"], "{text}");
            let written = game.to_string();
            assert!(written.contains("1. e4 -- 2. d4 e5 3. -- exd4 1-0"), "{written}");
            assert_eq!(read(&written)[0].0.moves, game.moves);
        }
    }
    // A null move is illegal if the side to move is in check.
    let (lines, fault) = lines("[Event \"1\"]\n\n1. e4 f5 2. Qh5+ -- 3. a3 *\n\n1. c4 *\n");
    assert_eq!(lines, ["e4 f5 Qh5+", "c4"]);
    assert!(fault.is_some_and(|fault| fault.contains("line 3: null move --")));
}

#[test]
fn book_skips_only_the_null_move() {
    let folder = folder();
    let text = "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 -- 3. Bc4 Nc6 1-0\n";
    fs::write(folder.path().join("g.pgn"), text).expect("writable");
    let built = tabia(&["book", "build", "g.pgn", "-o", "b.tbk"], folder.path());
    assert!(built.status.success(), "{}", printed(&built));
    let show = |fen: &str| printed(&tabia(&["book", "show", "b.tbk", "--fen", fen], folder.path()));
    let before = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2";
    let after = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3";
    assert!(!show(before).contains("--"), "{}", show(before));
    assert!(show(after).contains("Bc4"), "{}", show(after));
}

#[test]
fn annotate_keeps_moves_after_a_null_move() {
    let folder = folder();
    let text = "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 -- 3. Nxe5 Nc6 4. Nxc6 dxc6 1-0\n";
    fs::write(folder.path().join("g.pgn"), text).expect("writable");
    let made = tabia(&["annotate", "g.pgn", "-o", "out.pgn", "--nodes", "500"], folder.path());
    assert!(made.status.success(), "{}", printed(&made));
    let written = fs::read_to_string(folder.path().join("out.pgn")).expect("written");
    let (game, end) = &read(&written)[0];
    assert_eq!(
        (&end.status, moves(game).as_str()),
        (&GameStatus::Read, "e4 e5 Nf3 -- Nxe5 Nc6 Nxc6 dxc6")
    );
    assert_eq!(game.moves[3].nags, [0_u8; 0], "a null move is not judged: {written}");
}

#[test]
fn placeholder_tag_values_are_treated_as_missing() {
    for value in ["", "?", "-", " ", " ? ", "Standard", "\u{a0}Chess "] {
        let tags = format!("[Variant \"{value}\"]\n[Result \"1-0\"]\n");
        let fen = if value.contains(char::is_alphabetic) { "?" } else { value };
        for tags in [tags.clone(), format!("{tags}[FEN \"{fen}\"]\n")] {
            let games = read(&format!("{tags}\n1. e4 e5 1-0\n"));
            let [(game, end)] = &games[..] else { panic!("{tags}: {games:?}") };
            assert_eq!((&end.status, moves(game).as_str()), (&GameStatus::Read, "e4 e5"), "{tags}");
        }
    }
    let (_, end) = &read("[Variant \"Atomic\"]\n\n1. e4 *\n")[0];
    assert_eq!(end.status, GameStatus::Variant);
}

#[test]
fn contradictory_result_tag_is_reported() {
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
        let (made, printed) = build("g.pgn", text.as_bytes(), arguments);
        assert!(
            made && printed.contains("6 counted: 2 won by White, 2 drawn, 2 won by Black"),
            "{printed}"
        );
        assert!(printed.contains("2 with another result"), "{printed}");
        assert!(
            printed.contains("g.pgn: game 1, line 5: ") && printed.contains("game 3, line 17: "),
            "{printed}"
        );
        assert!(!printed.contains("broken"), "{printed}");
    }
    let found = read(&games.concat());
    let contradictory: Vec<bool> =
        found.iter().map(|(_, end)| end.contradiction.is_some()).collect();
    assert_eq!(contradictory, [true, false, true, false, false, false]);
    assert_eq!(found[0].1.result, GameResult::White, "the tag takes precedence");
}
