use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::*;
use crate::chess::position::{Color, Move, Piece, Position};
use crate::games::book::{Book, BookValue, BuildOptions, build_in_memory};
use crate::games::pgn::PgnInput;
use crate::games::repertoire::{GapKind, Repertoire, Search, Searched};

const DAY: Time = 86_400;
const NOW: Time = 1_700_000_000;

const LINES: &str = "1. d4 Nf6 (1... d5 2. c4) (1... f5 2. Bg5) 2. c4 e6 (2... g6 3. Nc3) 3. Nc3 *\n\n\
                     1. c4 e6 2. d4 *\n";

const GAMES: [(&str, &str, usize); 6] = [
    ("1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. e3", "1-0", 12),
    ("1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. Qc2", "1/2-1/2", 8),
    ("1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. f3", "0-1", 20),
    ("1. d4 Nf6 2. c4 g6 3. Nc3 d5", "1/2-1/2", 10),
    ("1. d4 d5 2. c4 e6", "1-0", 25),
    ("1. d4 d5 2. Nf3 Nf6", "0-1", 5),
];

fn input(text: &str) -> [PgnInput; 1] {
    [PgnInput::Text("text".to_owned(), text.as_bytes().into())]
}

fn games() -> Book {
    let game = |(moves, result, number): (&str, &str, usize)| {
        format!("[Result \"{result}\"]\n\n{moves} {result}\n\n").repeat(number)
    };
    let text = GAMES.map(game).concat();
    build_in_memory(&input(&text), &BuildOptions::default(), "games").expect("a book").0
}

fn white() -> Repertoire {
    Repertoire::read(&input(LINES), Color::White).expect("readable")
}

const OPTIONS: TrainingOptions = TrainingOptions { min_probability: 0.01, seed: 1 };

fn training(options: TrainingOptions) -> Training {
    Training::open(white(), games(), &options, None).expect("no file")
}

fn after(moves: &str) -> Position {
    moves.split(' ').filter(|san| !san.is_empty()).fold(Position::start(), |position, san| {
        position.play(position.parse_move(san).expect(san))
    })
}

fn ask_for(training: &mut Training, moves: &str, now: Time) {
    for _ in 0..2000 {
        let question = training.ask(now).expect("a question");
        if question.position.key() == after(moves).key() {
            return;
        }
    }
    panic!("{moves:?} is never asked");
}

fn answer(training: &mut Training, san: &str, now: Time) -> Judgement {
    let position = training.question().expect("a question").position;
    let mv = position.parse_move(san).expect(san);
    training.answer(mv, now, None).expect("no file").expect("a judgement")
}

fn judged(training: &mut Training, moves: &str, san: &str) -> Judgement {
    ask_for(training, moves, NOW);
    answer(training, san, NOW)
}

#[test]
fn answers_are_judged_by_the_repertoire() {
    let mut training = training(OPTIONS);
    let right = judged(&mut training, "d4 Nf6", "c4");
    assert_eq!((right.verdict, right.grade), (Verdict::Right, Some(Grade::Good)));
    assert_eq!((right.played.games, right.expected.len()), (50, 1));
    let wrong = judged(&mut training, "d4 d5", "Nf3");
    assert_eq!(
        (wrong.verdict, wrong.grade, wrong.reply),
        (Verdict::Wrong, Some(Grade::Again), None)
    );
    let (played, expected) = (wrong.played, wrong.expected[0].clone());
    assert_eq!((played.games, played.score), (5, 0.0));
    let reply = played.reply.expect("a reply");
    assert_eq!((reply.is_best, reply.share), (false, 1.0));
    assert_eq!(after("d4 d5 Nf3").san(reply.mv), "Nf6");
    assert_eq!((expected.games, expected.score), (25, 1.0));
    assert_eq!(training.tally(), Tally { answers: 2, right: 1, wrong: 1 });
}

#[test]
fn a_move_that_leads_back_is_no_mistake() {
    let lines = "1. d4 e6 2. c4 *\n\n1. c4 e6 2. Nf3 *\n";
    let repertoire = Repertoire::read(&input(lines), Color::White).expect("readable");
    let mut training = Training::open(repertoire, games(), &OPTIONS, None).expect("no file");
    let found = judged(&mut training, "c4 e6", "d4");
    assert_eq!((found.verdict, found.grade), (Verdict::Transposes, Some(Grade::Hard)));
    assert_eq!(training.tally(), Tally { answers: 1, right: 0, wrong: 0 });
}

#[test]
fn a_reply_that_no_game_played_is_not_the_most_common_one() {
    let text = "1. c4 e6 2. d4 Nf6 3. Nc3 1-0\n";
    let book = build_in_memory(&input(text), &BuildOptions::default(), "games").expect("a book").0;
    let repertoire = Repertoire::read(&input("1. d4 Nf6 2. Nf3 *\n"), Color::White);
    let repertoire = repertoire.expect("readable");
    // 2... e6 transposes into a position of the book's only game, but it was never played in the
    // position after 1. d4 Nf6 2. c4.
    assert_eq!(book.moves(&after("d4 Nf6 c4")).len(), 1);
    let mut training = Training::open(repertoire, book, &OPTIONS, None).expect("no file");
    let found = judged(&mut training, "d4 Nf6", "c4");
    assert_eq!((found.played.games, found.played.reply), (0, None));
}

#[test]
fn hints_lower_the_grade() {
    for (hints, grade) in [(0, Grade::Good), (1, Grade::Hard), (2, Grade::Again), (3, Grade::Again)]
    {
        let mut training = training(OPTIONS);
        ask_for(&mut training, "d4 d5", NOW);
        for hint in 1..=hints {
            let expected = match hint {
                1 => Hint::Piece(Piece::Pawn),
                _ => Hint::Move("c2c4".parse().expect("a move")),
            };
            assert_eq!(training.hint(), Some(expected));
        }
        let found = answer(&mut training, "c4", NOW);
        assert_eq!((found.verdict, found.grade), (Verdict::Right, Some(grade)), "{hints} hints");
    }
}

#[test]
fn where_the_repertoire_ends_good_moves_are_accepted() {
    let end = "d4 Nf6 c4 e6 Nc3 Bb4";
    for (san, verdict, grade) in [
        ("e3", Verdict::Good, Some(Grade::Good)),
        ("f3", Verdict::Weak, Some(Grade::Again)),
        ("a3", Verdict::Unknown, None),
    ] {
        let mut training = training(OPTIONS);
        ask_for(&mut training, end, NOW);
        assert_eq!(training.question().expect("open").gap, Some(GapKind::End));
        let found = answer(&mut training, san, NOW);
        assert_eq!((found.verdict, found.grade), (verdict, grade), "{san}");
        let expected: Vec<String> =
            found.expected.iter().map(|facts| after(end).san(facts.mv)).collect();
        assert_eq!(expected, ["e3"], "the others score clearly worse");
        let additions = training.additions();
        assert_eq!(additions.len(), usize::from(verdict == Verdict::Good));
        if let [game] = &additions[..] {
            assert_eq!(game.moves.len(), 7);
            assert!(game.to_string().contains("4. e3"), "{game}");
            let both = format!("{LINES}\n{game}");
            let both = Repertoire::read(&input(&both), Color::White).expect("readable");
            assert!(both.answers(&after(end)));
        }
    }
}

#[test]
fn searches_judge_moves_without_values() {
    let e3: Move = "e2e3".parse().expect("a move");
    for (loss, verdict) in [(30, Verdict::Good), (31, Verdict::Weak)] {
        let mut training = training(OPTIONS);
        ask_for(&mut training, "d4 Nf6 c4 e6 Nc3 Bb4", NOW);
        let castles: Move = "e8g8".parse().expect("a move");
        let mut search = |_: &Position, moves: Vec<Move>| match moves[..] {
            [] => Searched { score: 20, line: vec![e3, castles] },
            [mv, ..] => Searched { score: 20 - loss, line: vec![mv, castles, e3] },
        };
        let search: &mut Search<'_> = &mut search;
        let mv = "a2a3".parse().expect("a move");
        let found = training.answer(mv, NOW, Some(search)).expect("no file").expect("judged");
        assert_eq!((found.verdict, found.loss), (verdict, Some(loss)));
        let (best, played) = (&found.expected[0], &found.played);
        assert_eq!((best.mv, best.value, &best.line[..]), (e3, Some(20), &[castles][..]));
        assert_eq!((played.value, &played.line[..]), (Some(20 - loss), &[castles, e3][..]));
    }
}

#[test]
fn values_of_the_book_judge_moves_and_name_refutations() {
    let end = "d4 Nf6 c4 e6 Nc3 Bb4";
    let value = |moves: &str, score, best: &str| {
        let position = after(moves);
        let best = position.parse_move(best).ok();
        let scored = best.map(|mv| (mv, score));
        let key = position.key();
        BookValue {
            key,
            score,
            best,
            outside: scored,
            own: scored,
            depth: 9,
            own_depth: 9,
            nodes: 9,
        }
    };
    let mut values = [
        value(end, 30, "Qc2"),
        value(&format!("{end} e3"), 45, "Bxc3"),
        value(&format!("{end} f3"), -28, "d5"),
    ];
    values.sort_by_key(|value| value.key);
    let book = games().with_values(&values).expect("values");
    for (san, verdict, loss) in [("e3", Verdict::Weak, 75), ("f3", Verdict::Good, 2)] {
        let mut training = Training::open(white(), book.clone(), &OPTIONS, None).expect("no file");
        ask_for(&mut training, end, NOW);
        let found = answer(&mut training, san, NOW);
        assert_eq!((found.verdict, found.loss), (verdict, Some(loss)), "{san}");
        assert!(found.played.reply.is_some_and(|reply| reply.is_best));
        assert_eq!(found.expected[0].mv, "d1c2".parse().expect("a move"));
    }
}

#[test]
fn positions_are_drawn_by_probability() {
    let (repertoire, book) = (white(), games());
    let forecast = repertoire.forecast(&book, 80);
    let mut drawn: HashMap<u64, (Position, usize)> = HashMap::new();
    const TIMES: u64 = 1500;
    for seed in 0..TIMES {
        let options = TrainingOptions { seed, ..OPTIONS };
        let mut training =
            Training::open(repertoire.clone(), book.clone(), &options, None).expect("no file");
        let position = training.ask(NOW).expect("a question").position;
        drawn.entry(position.key()).or_insert((position, 0)).1 += 1;
    }
    let total: f64 = drawn.values().map(|(position, _)| forecast.probability(position)).sum();
    assert!(total > 2.0, "{total}");
    for (position, times) in drawn.values() {
        let expected = forecast.probability(position) / total;
        let found = *times as f64 / TIMES as f64;
        let error = 5.0 * (expected / TIMES as f64).sqrt();
        assert!((found - expected).abs() < error, "{}: {found} {expected}", position.fen());
    }
}

#[test]
fn mistakes_are_repeated_after_other_questions_and_right_answers_later() {
    let mut training = training(OPTIONS);
    judged(&mut training, "d4 d5", "Nf3");
    let mistake = after("d4 d5").key();
    let next: Vec<u64> =
        (0..3).map(|_| training.ask(NOW).expect("a question").position.key()).collect();
    assert!(!next[..2].contains(&mistake));
    ask_for(&mut training, "d4 d5", NOW);
    assert!(training.question().is_some_and(|question| question.is_repeated));
    answer(&mut training, "c4", NOW);
    let before = training.progress(NOW);
    assert_eq!((before.due, before.learnt), (0, 1));
    let due = before.next_due.expect("a time");
    assert!(due > NOW && due < NOW + DAY, "a position that was a mistake returns on the same day");
    assert_eq!(training.progress(due).due, 1);
}

#[test]
fn right_answers_are_followed_by_replies_of_the_book() {
    let mut replies = HashSet::new();
    for seed in 0..40 {
        let mut training = training(TrainingOptions { seed, ..OPTIONS });
        let found = judged(&mut training, "d4 Nf6", "c4");
        // `reply` is `None` if the drawn move leads to a recently asked position.
        let Some(reply) = found.reply else { continue };
        let position = training.ask(NOW).expect("a question");
        assert_eq!(position.line.moves.last(), Some(&reply));
        assert_eq!(position.position.key(), after("d4 Nf6 c4").play(reply).key());
        replies.insert(after("d4 Nf6 c4").san(reply));
    }
    assert_eq!(replies, HashSet::from(["e6".to_owned(), "g6".to_owned()]));
}

#[test]
fn skipped_positions_are_not_asked_again_and_not_stored() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("x.training");
    let mut training = Training::open(white(), games(), &OPTIONS, Some(&path)).expect("a journal");
    let mut asked = HashSet::new();
    while let Some(question) = training.ask(NOW) {
        assert!(asked.insert(question.position.key()));
        training.skip();
    }
    assert_eq!(asked.len(), training.progress(NOW).new);
    assert_eq!(std::fs::read_to_string(&path).expect("there").lines().count(), 1);
    let other = Repertoire::read(&input(LINES), Color::Black).expect("readable");
    drop(training);
    let error = Training::open(other, games(), &OPTIONS, Some(&path)).expect_err("another side");
    assert!(error.to_string().contains("side white"), "{error}");
}

#[test]
fn damaged_answers_in_the_journal_are_ignored() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("x.training");
    let line = |json: &str| format!("{:08x} {json}\n", crc32fast::hash(json.as_bytes()));
    let start = Position::start().fen();
    let json = |fen: &str, mv: &str| {
        format!(r#"{{"fen":"{fen}","move":"{mv}","time":{NOW},"verdict":"right","grade":"good"}}"#)
    };
    let lines =
        [json("8/8/8 w", "d2d4"), json(&start, "d2d5"), json(&start, "?"), json(&start, "d2d4")];
    let text: String = lines.iter().map(|json| line(json)).collect();
    std::fs::write(&path, format!("tabia training 1; side white\n{text}")).expect("written");
    let training = Training::open(white(), games(), &OPTIONS, Some(&path)).expect("a journal");
    assert_eq!(training.progress(NOW).learnt, 1);
}

/// A random sequence of a player's actions. Each consists of a delay in seconds and an answer, or
/// `None` to skip the question. An answer is a flag and the index of a legal move. If the flag is
/// set and the repertoire has a move, that move is played instead.
fn player() -> impl Strategy<Value = Vec<(u64, Option<(bool, usize)>)>> {
    let action = prop::option::weighted(0.9, (any::<bool>(), 0..40_usize));
    prop::collection::vec((0..5 * DAY, action), 1..60)
}

fn play(training: &mut Training, actions: &[(u64, Option<(bool, usize)>)]) -> Vec<String> {
    let (mut now, mut log) = (NOW, Vec::new());
    for &(seconds, action) in actions {
        now += seconds;
        let Some(question) = training.ask(now).cloned() else {
            log.push(format!("nothing due, next {:?}", training.progress(now).next_due));
            continue;
        };
        log.push(question.position.fen());
        let Some((is_known, choice)) = action else {
            training.skip();
            continue;
        };
        let moves = question.position.legal_moves();
        let known = training.repertoire().node(&question.position);
        let known = known.and_then(|node| Some(node.moves.first()?.mv)).filter(|_| is_known);
        let legal: Vec<Move> = moves.iter().collect();
        let mv = known.unwrap_or(legal[choice % legal.len()]);
        let found = training.answer(mv, now, None).expect("written").expect("judged");
        log.push(format!("{mv} {:?} {:?}", found.verdict, found.reply));
    }
    log.push(format!("{:?} {:?}", training.tally(), training.progress(now)));
    log
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn sessions_depend_only_on_seed_clock_and_answers(actions in player(), seed in any::<u64>()) {
        let options = TrainingOptions { seed, ..OPTIONS };
        let [one, other] = [0, 1].map(|_| play(&mut training(options), &actions));
        prop_assert_eq!(one, other);
    }

    #[test]
    fn journals_restore_the_progress(actions in player(), seed in any::<u64>()) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x.training");
        let open = || {
            let options = TrainingOptions { seed, ..OPTIONS };
            Training::open(white(), games(), &options, Some(&path)).expect("a journal")
        };
        let mut training = open();
        play(&mut training, &actions);
        let texts = |training: &Training| -> Vec<String> {
            training.additions().iter().map(ToString::to_string).collect()
        };
        let times = [NOW, NOW + 30 * DAY, NOW + 3000 * DAY];
        let before = (times.map(|now| training.progress(now)), texts(&training));
        let answers = training.tally().answers;
        drop(training);
        let lines = std::fs::read_to_string(&path).expect("there").lines().count();
        prop_assert_eq!(lines, answers + 1);
        let training = open();
        prop_assert_eq!((times.map(|now| training.progress(now)), texts(&training)), before);
    }

    #[test]
    fn only_due_positions_are_asked(actions in player(), seed in any::<u64>()) {
        let mut training = training(TrainingOptions { seed, ..OPTIONS });
        let mut now = NOW;
        for (seconds, action) in actions {
            now += seconds;
            let before = training.progress(now);
            let Some(question) = training.ask(now).cloned() else {
                continue;
            };
            prop_assert!(before.new + before.due > 0);
            let moves: Vec<Move> = question.position.legal_moves().iter().collect();
            let Some((_, choice)) = action else { continue };
            let mv = moves[choice % moves.len()];
            let found = training.answer(mv, now, None).expect("no file").expect("judged");
            let after = training.progress(now);
            prop_assert_eq!(after.new + after.due + after.learnt, before.new + before.due + before.learnt);
            match found.grade {
                Some(Grade::Again) => prop_assert_eq!(after.learnt, before.learnt),
                Some(_) => prop_assert_eq!(after.learnt, before.learnt + 1),
                None => prop_assert_eq!(after, before),
            }
        }
    }
}
