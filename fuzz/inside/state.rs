//! Resumes a match from arbitrary text, which consists of a state file, a NUL and a PGN file. The
//! state must either be rejected or allow the match to resume. If the match resumes, the PGN file
//! must still contain its old games, and must end with the complete last game even if that game was
//! truncated. It must be possible to create a report, and resuming again must change nothing.

use std::fs;
use std::path::Path;

use crate::tools::autoplay::config::EngineConfig;
use crate::tools::autoplay::games::GameText;
use crate::tools::autoplay::match_record::{MatchRecord, Places};
use crate::tools::autoplay::pgn_style::PgnStyle;
use crate::tools::autoplay::report::{self, About, Contents};
use crate::tools::autoplay::rounds::Rounds;
use crate::tools::autoplay::schedule::{Format, Schedule};
use crate::tools::autoplay::state::{Entry, FinishedGame, open_state};
use crate::tools::autoplay::stats::{EloModel, Sprt};
use crate::tools::autoplay::verdict::Termination;

const SETTINGS: &str = "engine 1: a\nengine 2: b";

const SCHEDULE: Schedule =
    Schedule { engines: 2, format: Format::RoundRobin, games: 4, openings: 1, reversed: true };

const SPRT: Sprt =
    Sprt { elo0: 0.0, elo1: 5.0, alpha: 0.05, beta: 0.05, model: EloModel::Normalized };

const PGN: &str = "[Event \"x\"]\n[White \"b\"]\n[Black \"a\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n";
const FOREIGN: &str = "[Event \"y\"]\n\n1. e4 *\n\n";

fn game(number: usize, at: usize) -> FinishedGame {
    FinishedGame {
        number,
        names: ["b".to_owned(), "a".to_owned()],
        result: "0-1".to_owned(),
        termination: Termination::Checkmate,
        detail: "Black mates".to_owned(),
        fen: None,
        opening_plies: 1,
        moves: ["f2f3", "e7e5", "g2g4", "d8h4"].map(str::to_owned).to_vec(),
        scores: vec![Some(-12), None, Some(29_999)],
        seconds: vec![0.5, 0.25, 0.0],
        remarks: Vec::new(),
        pgn: Some(GameText { at: at as u64, text: PGN.to_owned() }),
    }
}

/// Returns an input that consists of a state file with these games, a NUL, and the PGN file.
fn seed_input(folder: &Path, games: &[FinishedGame], pgn: &str) -> Vec<u8> {
    let path = folder.join("seed");
    let _ = fs::remove_file(&path);
    let (mut state, _) = open_state(&path, SETTINGS, false).expect("a folder");
    let round = Rounds::new(SCHEDULE, vec![true; 2]).pair_next().expect("a round");
    state.append(&Entry::Round(round)).expect("a folder");
    for game in games {
        state.append(&Entry::Game(Box::new(game.clone()))).expect("a folder");
    }
    [&*fs::read(&path).expect("a state"), b"\0", pgn.as_bytes()].concat()
}

/// Seed inputs, created in a folder.
pub fn seeds(folder: &Path) -> Vec<(&'static str, Vec<u8>)> {
    let fen = Some("4k3/8/8/8/8/8/8/4K2R w K - 0 1".to_owned());
    let castled = FinishedGame { fen, moves: vec!["e1g1".to_owned()], pgn: None, ..game(2, 0) };
    let torn = [FOREIGN, &PGN[..20]].concat();
    let followed = [FOREIGN, &PGN[..20], "\n", FOREIGN].concat();
    vec![
        ("begun", seed_input(folder, &[], FOREIGN)),
        ("whole", seed_input(folder, &[castled, game(1, FOREIGN.len())], &[FOREIGN, PGN].concat())),
        ("torn", seed_input(folder, &[game(2, FOREIGN.len())], &torn)),
        ("followed", seed_input(folder, &[game(3, 0)], &followed)),
    ]
}

/// Returns true if `after` is the result of removing at most one piece from `before`, and this
/// piece is a prefix of `text`. White space at the end of the piece is ignored.
fn lacks_only_a_prefix(before: &[u8], after: &[u8], text: &[u8]) -> bool {
    let Some(taken) = before.len().checked_sub(after.len()) else { return false };
    let is_prefix = |at: usize| {
        let (piece, rest) = before[at..].split_at(taken);
        after[..at] == before[..at]
            && after[at..] == *rest
            && text.starts_with(piece.trim_ascii_end())
    };
    (0..=after.len()).any(is_prefix)
}

/// Compares the PGN file with its content before the match was resumed. The only permitted change
/// is that the last game in the state (`last`) was completed or added.
fn check_pgn(before: &[u8], path: &Path, last: &GameText) {
    let after = fs::read(path).expect("the file");
    let text = last.text.trim_start().as_bytes();
    if after == before || text.is_empty() {
        assert_eq!(after, before);
        return;
    }
    let kept = after.strip_suffix(text).expect("the last game at the end");
    // The last game may be separated from the text before it by an empty line.
    let mut separators =
        ["", "\n", "\n\n"].iter().filter_map(|end| kept.strip_suffix(end.as_bytes()));
    assert!(
        separators.any(|kept| lacks_only_a_prefix(before, kept, text)),
        "{:?}\nremains of\n{:?}\nwith {last:?}",
        String::from_utf8_lossy(&after),
        String::from_utf8_lossy(before)
    );
}

/// Writes the state file and the PGN file to the folder, resumes the match, and checks the result.
pub fn run(folder: &Path, bytes: &[u8]) {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let (text, before) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    let (state, pgn) = (folder.join("state"), folder.join("games.pgn"));
    fs::write(&state, text).expect("a folder");
    fs::write(&pgn, before).expect("a folder");
    // Get the PGN of the last game from the state, because the match record opened below does not
    // contain it.
    let last = match open_state(&state, SETTINGS, true) {
        Ok((_, mut stored)) => stored.games.pop().and_then(|game| game.pgn),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert_eq!(fs::read(&state).expect("the file"), text, "a rejected file is unchanged");
            return;
        }
    };
    let places = Places {
        pgn: Some(pgn.clone()),
        state: Some(state),
        resume: true,
        keep: true,
        epd: None,
        style: PgnStyle::default(),
    };
    let open = || {
        let match_record = MatchRecord::open(&places, SCHEDULE, &[], SETTINGS).ok()?;
        Some((match_record.games, match_record.standings, match_record.rounds.remaining()))
    };
    // Games without a round are rejected.
    let Some((games, standings, left)) = open() else { return };
    match &last {
        Some(last) => check_pgn(before, &pgn, last),
        None => assert_eq!(fs::read(&pgn).expect("the file"), before),
    }
    let once = fs::read(&pgn).expect("the file");
    let (again, _, still_left) = open().expect("the same state");
    assert_eq!((again, still_left), (games.clone(), left));
    assert_eq!(fs::read(&pgn).expect("the file"), once, "a second time changes nothing");
    let names = ["a".to_owned(), "b".to_owned()];
    let contents = Contents {
        event: "fuzz",
        engines: &[EngineConfig::default(), EngineConfig::default()],
        names: &names,
        about: &About::default(),
        standings: &standings,
        games: &games,
        sprt: Some(&SPRT),
    };
    if let Ok(page) = report::page(&contents) {
        assert!(page.ends_with("</html>\n"), "{page}");
    }
}
