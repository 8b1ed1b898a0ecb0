//! Tests of `tabia autoplay --check` with scripted engines (`examples/fake_engine.rs`).

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;

use crate::support::{PROGRAM, concurrently, fake_engine as fake};

/// A timeout in seconds for engines that always answer, even on a slow machine.
const NEVER: &str = "600";

/// The timeout in seconds for engines that do not answer. It is still longer than any answer takes.
const HANGS: &str = "10";

/// A margin in milliseconds that an engine without faults never exceeds, even on a slow machine.
const GENEROUS: [&str; 2] = ["--margin", "600000"];

fn check(engine: &str, patience: &str, more: &[&str]) -> Output {
    let common = ["autoplay", "--check", engine, "--patience", patience, "--pace", "0"];
    Command::new(PROGRAM).args(common).args(more).output().expect("the check starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn findings<'a>(text: &'a str, probe: &str) -> Option<&'a str> {
    let start = text.find(&format!("FOUND {probe}\n"))?;
    let rest = &text[start..];
    let end = rest.match_indices('\n').find(|(at, _)| !rest[at + 1..].starts_with("    "));
    Some(&rest[..end.map_or(rest.len(), |(at, _)| at)])
}

#[test]
fn check_finds_the_faults_of_an_xboard_engine() {
    let output = check(&fake("xboard"), NEVER, &[]);
    let text = stdout(&output);
    for (verdict, probe) in [
        ("ok   ", "features"),
        ("ok   ", "ping"),
        ("ok   ", "quit"),
        ("FOUND", "illegal move"),
        ("FOUND", "unknown command"),
        ("FOUND", "result of a finished game"),
    ] {
        assert!(text.contains(&format!("{verdict} {probe}\n")), "{probe}:\n{text}");
    }
    assert!(text.contains("    sent: new | xyzzy 12 | ping 1\n    came: nothing\n"), "{text}");
    assert_eq!(output.status.code(), Some(4));
}

#[test]
fn correct_uci_engine_has_no_findings() {
    let output = check(&fake("uci options=all"), NEVER, &GENEROUS);
    let text = stdout(&output);
    assert!(!text.contains("FOUND") && !text.contains("skip"), "{text}");
    assert!(text.contains("ok    handshake\n") && text.contains("ok    quit\n"), "{text}");
    assert!(text.contains("    measured: go infinite: bestmove "), "{text}");
    assert_eq!(output.status.code(), Some(0), "{text}");
    let output = check(&fake("uci"), NEVER, &GENEROUS);
    let text = stdout(&output);
    assert!(text.contains("skip  ponder\n    needs: the option Ponder\n"), "{text}");
    assert!(text.contains("skip  MultiPV\n"), "{text}");
    assert_eq!(output.status.code(), Some(0), "{text}");
}

/// For each faulty engine: its script, the test that must find the fault, and part of the rule that
/// must be reported as violated.
static FAULTS: [(&str, &str, &str); 60] = [
    ("fault=no_name", "handshake", "name as \"id name NAME\""),
    ("fault=no_author", "handshake", "author as \"id author NAME\""),
    ("option='name X type slider default 1'", "option declarations", "the type of an option is"),
    ("option='name X'", "option declarations", "an option is declared as"),
    ("option='name X type check default yes'", "option declarations", "of type check needs"),
    ("option='name X type spin default 5 min 0 max 4'", "option declarations", "of type spin"),
    ("option='name X type combo default a var b'", "option declarations", "of type combo"),
    ("option='name X type button default 1'", "option declarations", "of type button"),
    ("option='name X type string'", "option declarations", "of type string"),
    ("option='name Hash type string default 1'", "option declarations", "the type that GUIs"),
    ("option='name X value type button'", "option declarations", "must not contain"),
    ("option='name LEVEL type button'", "option declarations", "must differ"),
    ("fault=ready_stops", "isready while thinking", "and the search goes on"),
    ("fault=dies_on_value", "valid option values", "isready must be answered"),
    ("fault=dies_on_bad_value", "invalid option values", "isready must be answered"),
    ("fault=no_fen", "positions", "bestmove must be a legal move"),
    ("fault=no_castling", "special moves", "bestmove must be a legal move"),
    ("fault=no_promotion", "special moves", "bestmove must be a legal move"),
    ("fault=no_en_passant", "positions", "bestmove must be a legal move"),
    ("fault=short_list", "long game", "bestmove must be a legal move"),
    ("fault=null_mate", "checkmate and stalemate", "must be 0000 or (none)"),
    ("fault=illegal at=1", "go depth", "bestmove must be a legal move"),
    ("fault=crash at=1", "go depth", "every go must be answered"),
    ("fault=deeper", "go depth", "must end at depth N"),
    ("fault=twice", "go depth", "no further bestmove or info"),
    ("fault=talks", "go depth", "no further bestmove or info"),
    ("fault=bad_ponder", "go depth", "move after ponder must be legal"),
    ("ignores=searchmoves", "go searchmoves", "must begin with one of these"),
    ("fault=ends_infinite", "go infinite", "must not end before stop"),
    ("fault=slow_stop", "stop", "within --margin, by default 50 ms"),
    ("fault=exceeds_movetime", "go movetime", "within N ms and --margin"),
    ("fault=exceeds_nodes", "go nodes", "after about N nodes"),
    ("fault=no_info", "go with clocks", "info with a score"),
    ("fault=idle_stop", "stop without a search", "must be ignored"),
    ("fault=no_info", "search information", "info with a score"),
    ("fault=no_info", "search information", "info with depth and pv"),
    ("info='info depth x'", "search information", "followed by a whole number"),
    ("info='info multipv 0'", "search information", "count from 1"),
    ("info='info hashfull 1001'", "search information", "in permille"),
    ("info='info seldepth 3'", "search information", "must have depth too"),
    ("info='info score 12'", "search information", "score must be followed by"),
    ("info='info score cp 32767'", "search information", "within 30000"),
    ("info='info score mate 0'", "search information", "must be a number of moves"),
    ("info='info currmove e2e5'", "search information", "currmove must be"),
    ("info='info wdl 1 2 3'", "search information", "whose sum is 1000"),
    ("info='info pv e2e5'", "search information", "pv must have at least one move"),
    ("info='info depth 0 pv a3a4'", "search information", "depth must not decrease"),
    ("fault=mate_as_cp", "mate distance", "must be reported as score mate"),
    ("fault=mate_in_plies", "mate distance", "a line that mates has 2N-1 plies"),
    ("fault=mate_without_sign", "mate distance", "negative if the engine is mated"),
    ("fault=ends_ponder", "ponder", "must not end before ponderhit or stop"),
    ("fault=one_line", "MultiPV", "numbered from 1 without gaps"),
    ("fault=lines_in_disorder", "MultiPV", "numbered from 1 without gaps"),
    ("fault=same_lines", "MultiPV", "begin with different moves"),
    ("fault=case_sensitive", "MultiPV", "not case-sensitive"),
    ("fault=dies_on_garbage", "unknown commands", "an unknown command must be ignored"),
    ("fault=answers_garbage", "unknown commands", "an unknown command must be ignored"),
    ("fault=dies_on_bad_fen", "invalid positions", "must not end or block the engine"),
    ("fault=aborts", "quit", "quit must end the engine at once"),
    ("fault=aborts", "quit while thinking", "during a search too"),
];

/// Like [`FAULTS`], but for engines that fail to answer or to exit.
static HANGING: [(&str, &str, &str); 16] = [
    ("fault=no_handshake", "handshake", "uci must be answered by id"),
    ("fault=busy", "isready while thinking", "isready during a search"),
    ("fault=deaf_after_new_game", "new game", "isready must be answered"),
    ("fault=silent_mate", "checkmate and stalemate", "every go must be answered"),
    ("ignores=nodes", "go nodes", "every go must be answered"),
    ("ignores=movetime", "go movetime", "every go must be answered"),
    ("ignores=wtime", "go with clocks", "every go must be answered"),
    ("ignores=btime", "go with clocks", "every go must be answered"),
    ("ignores=mate", "go mate", "go mate N must end"),
    ("fault=ignores_stop", "stop", "stop must be answered"),
    ("fault=ignores_ponderhit", "ponder", "after ponderhit"),
    ("fault=strict_space", "white space", "white space between"),
    ("fault=no_exit", "end of input", "the end of input must end the engine, since"),
    ("fault=no_exit", "end of input while thinking", "during a search too"),
    ("fault=no_exit", "quit", "quit must end the engine at once"),
    ("fault=no_exit", "quit while thinking", "quit must end the engine during a search"),
];

#[test]
fn every_uci_fault_is_found() {
    let hanging = HANGING.iter().map(|fault| (fault, HANGS));
    let cases = hanging.chain(FAULTS.iter().map(|fault| (fault, NEVER)));
    let missed = Mutex::new(Vec::new());
    concurrently(cases, |(&(script, probe, rule), patience)| {
        let engine = fake(&format!("uci options=all {script}"));
        let output = check(&engine, patience, &["--proto", "uci"]);
        let text = stdout(&output);
        let is_found = findings(&text, probe).is_some_and(|text| text.contains(rule));
        if !is_found || output.status.code() != Some(4) {
            let what = format!("{script}: {probe}: {rule}:\n{text}");
            missed.lock().expect("no panic").push(what);
        }
    });
    let missed = missed.into_inner().expect("no panic");
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn engine_that_ignores_sigterm_is_found() {
    let engine = format!("sh -c \"trap '' TERM; exec {}\"", fake("uci"));
    let text = stdout(&check(&engine, HANGS, &["--proto", "uci"]));
    let found = findings(&text, "termination signal");
    assert!(found.is_some_and(|text| text.contains("SIGTERM must end the engine")), "{text}");
}

#[test]
fn engine_without_handshake_is_not_tested_further() {
    let dir = tempfile::tempdir().expect("a folder");
    let report = dir.path().join("check.xml").display().to_string();
    let engine = fake("uci fault=no_handshake");
    let output = check(&engine, "1", &["--proto", "uci", "--junit", &report]);
    let text = stdout(&output);
    assert!(text.contains("FOUND handshake\n    sent: uci\n    came: no uciok"), "{text}");
    assert!(text.contains("skip  quit\n    needs: a handshake\n"), "{text}");
    let report = fs::read_to_string(&report).expect("a report");
    let skipped = report.matches("<skipped message=\"needs a handshake\"/>").count();
    assert!(report.contains(&format!("failures=\"1\" errors=\"0\" skipped=\"{skipped}\"")));
    assert_eq!(output.status.code(), Some(4));
}

#[test]
fn junit_report_is_written_for_both_protocols() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("check.xml").display().to_string();
    for (script, failure) in [("xboard", "illegal move"), ("uci fault=no_author", "handshake")] {
        let output = check(&fake(script), NEVER, &["--junit", &path]);
        let report = fs::read_to_string(&path).expect("a report");
        let case = format!("name=\"{failure}\" time=");
        let (_, rest) = report.split_once(&case).expect("the failed test");
        let (case, _) = rest.split_once("</testcase>").expect("its end");
        assert!(case.contains("<failure message=\""), "{case}");
        let tests = report.matches("<testcase ").count();
        assert!(report.contains(&format!("tests=\"{tests}\" ")), "{report}");
        let printed = stdout(&output).lines().filter(|line| !line.starts_with(' ')).count();
        assert_eq!(tests + 1, printed, "each test is in the report");
        assert_eq!(output.status.code(), Some(4));
    }
    fs::write(&path, "my notes").expect("written");
    let output = check(&fake("uci"), NEVER, &["--junit", &path]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert_eq!(fs::read_to_string(Path::new(&path)).expect("the notes"), "my notes");
}

#[test]
fn engine_settings_apply_to_a_check() {
    let dir = tempfile::tempdir().expect("a folder");
    let trace = dir.path().join("trace").display().to_string();
    let more = ["--option", "Level=7", "--init", "hello", "--trace", &trace];
    for (protocol, command) in
        [("uci", "< setoption name Level value 7\n"), ("xboard", "< option Level=7\n")]
    {
        check(&fake(protocol), NEVER, &[&more[..], &["--proto", protocol, "--force"]].concat());
        let traffic = fs::read_to_string(&trace).expect("a trace");
        assert!(traffic.contains(command) && traffic.contains("< hello\n"), "{traffic}");
    }
}
