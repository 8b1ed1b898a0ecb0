//! Tuning options by games.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::support::{PROGRAM, fake_engine as fake, tabia};

fn arguments<'a>(engine: &'a str, param: &'a str, out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let base = ["tune", engine, "--param", param, "-o", out, "--nodes", "1", "--openings"];
    base.into_iter()
        .chain(["embedded", "--opening-plies", "6"])
        .chain(more.iter().copied())
        .collect()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn iterations(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).expect("a journal");
    let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).skip(1);
    let json = lines.map(|line| line.split_once(' ').expect("a checksum").1);
    json.map(|json| serde_json::from_str(json).expect("JSON")).collect()
}

#[test]
fn tuning_finds_the_best_value() {
    let dir = tempfile::tempdir().expect("a folder");
    let engine = fake("xboard best=30");
    let more = ["-n", "60", "--pairs", "2", "-j", "3", "--svg", "way.svg", "--every", "20"];
    let output = tabia(&arguments(&engine, "Level,8,0,40,1,0.4", "t", &more), dir.path());
    let text = stdout(&output);
    assert!(output.status.success(), "{text}{}", stderr(&output));
    let last = iterations(&dir.path().join("t")).pop().expect("iterations");
    let level = last["values"]["Level"].as_f64().expect("a number");
    assert!((28.0..=32.0).contains(&level), "{level}");
    assert!(
        text.contains("iteration 20 of 60: +") && text.contains(" games/hour; Level "),
        "{text}"
    );
    assert!(text.contains(&format!("--option1 'Level={}'", level.round())), "{text}");
    assert!(text.contains(&format!("\nLevel,{level},0,40,1,0.4\n")), "{text}");
    let svg = std::fs::read_to_string(dir.path().join("way.svg")).expect("a picture");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    assert!(svg.contains("Tuning: 60 of 60 iterations"), "{svg}");
    for element in ["g", "text", "style", "title"] {
        let [opened, closed] = [format!("<{element}"), format!("</{element}>")];
        let opened = svg.split(&opened).skip(1).filter(|rest| rest.starts_with([' ', '>']));
        assert_eq!(opened.count(), svg.matches(&closed).count(), "{element}");
    }
}

#[test]
fn killed_tuning_resumes_to_the_same_path() {
    let dir = tempfile::tempdir().expect("a folder");
    // The moves of the engine depend on its option `Level`. It moves slowly, so that there is time
    // to kill the tuning run.
    let engine = fake("uci fault=late late_ms=20 at=2");
    let plan = |out, jobs| {
        let more = ["-n", "12", "--pairs", "2", "--max-moves", "40", "-j", jobs];
        arguments(&engine, "Level,20,0,40,6,0.9", out, &more)
    };
    let whole = tabia(&plan("whole", "2"), dir.path());
    assert!(whole.status.success(), "{}", stderr(&whole));
    let mut command = Command::new(PROGRAM);
    let command = command.args(plan("cut", "2")).current_dir(dir.path()).stdout(Stdio::null());
    let mut killed = command.spawn().expect("it starts");
    let cut = dir.path().join("cut");
    while !cut.exists() || iterations(&cut).len() < 3 {
        std::thread::sleep(Duration::from_millis(2));
        assert!(killed.try_wait().expect("a child").is_none(), "it ended too early");
    }
    killed.kill().expect("killed");
    killed.wait().expect("reaped");
    assert!(iterations(&cut).len() < 12);
    let resumed = tabia(&plan("cut", "1"), dir.path());
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    let all = iterations(&cut);
    assert_eq!(iterations(&dir.path().join("whole")), all);
    assert!(all.iter().any(|iteration| iteration["score"] != 0), "{all:?}");
    let again = tabia(&plan("cut", "1"), dir.path());
    assert!(again.status.success() && stdout(&again).contains("iteration 12 of 12"), "{again:?}");
    let other = arguments(&engine, "Level,20,0,40,5,0.9", "cut", &["-n", "12", "--pairs", "2"]);
    let refused = tabia(&other, dir.path());
    assert!(stderr(&refused).contains("begun with other settings"), "{refused:?}");
    assert_eq!(iterations(&cut), all, "nothing is lost");
}

#[test]
fn both_sides_get_their_values_before_each_game() {
    let dir = tempfile::tempdir().expect("a folder");
    for (protocol, words) in
        [("uci", "< setoption name Level value "), ("xboard", "< option Level=")]
    {
        let engine = fake(protocol);
        let (out, trace) = (format!("{protocol}.t"), format!("{protocol}.trace"));
        let more = ["-n", "3", "--pairs", "2", "-j", "1", "--trace", &trace, "--max-moves", "8"];
        let output = tabia(&arguments(&engine, "level,20.4,0,40,3,0.1", &out, &more), dir.path());
        assert!(output.status.success(), "{}", stderr(&output));
        let trace = std::fs::read_to_string(dir.path().join(trace)).expect("a trace");
        let values = |sign: &str| -> Vec<i32> {
            let begin = format!("{sign}{words}");
            let values = trace.lines().filter_map(|line| line.split_once(&begin));
            values.map(|(_, value)| value.trim().parse().expect("a whole number")).collect()
        };
        let (plus, minus) = (values("+"), values("-"));
        assert_eq!([plus.len(), minus.len()], [12, 12], "{protocol}: {trace}");
        for (plus, minus) in plus.iter().zip(&minus) {
            // The perturbation falls from 3.6 at the start of the run to 3 at its end.
            assert!((6..=8).contains(&(plus - minus).abs()), "{protocol}: {plus} {minus}");
            assert!((40..=42).contains(&(plus + minus)), "{protocol}: {plus} {minus}");
        }
    }
}

#[test]
fn tuning_a_real_engine_is_reproducible_in_both_protocols() {
    let dir = tempfile::tempdir().expect("a folder");
    for (protocol, engine, name) in
        [("xboard", "-x --no-book", "Elo"), ("uci", "--uci --no-book", "UCI_Elo")]
    {
        let engine = format!("{PROGRAM} {engine} --memory 1 --elo 1000");
        let param = format!("{name},1000,800,2000,200,0.5");
        let outs = ["1", "2"].map(|jobs| {
            let out = format!("{protocol}-{jobs}");
            let more = ["-n", "3", "--pairs", "2", "-j", jobs, "--max-moves", "30"];
            let options = ["--proto", protocol, "--resign", "2,300", "--option", "Seed=1"];
            let more = [&more[..], &options].concat();
            let mut arguments = arguments(&engine, &param, &out, &more);
            let nodes = arguments.iter().position(|word| *word == "--nodes").expect("there");
            arguments[nodes + 1] = "1000";
            let output = tabia(&arguments, dir.path());
            assert!(output.status.success(), "{protocol}: {}", stderr(&output));
            iterations(&dir.path().join(out))
        });
        assert_eq!(outs[0], outs[1], "{protocol}");
        let level = outs[0][2]["values"][name].as_f64().expect("a number");
        assert!(level > 1000.0, "{protocol}: the stronger wins: {:?}", outs[0]);
    }
}

#[test]
fn interrupted_tuning_reports_the_interruption() {
    let dir = tempfile::tempdir().expect("a folder");
    let engine = fake("xboard fault=late late_ms=30 at=2");
    let mut command = Command::new(PROGRAM);
    command.args(arguments(&engine, "Level,20,0,40,6,0.9", "t", &["-n", "1000", "--pairs", "1"]));
    command.current_dir(dir.path()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let journal = dir.path().join("t");
    while !journal.exists() || iterations(&journal).is_empty() {
        std::thread::sleep(Duration::from_millis(2));
        assert!(child.try_wait().expect("a child").is_none(), "it ended too early");
    }
    let id = child.id().cast_signed();
    let id = rustix::process::Pid::from_raw(id).expect("a process");
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("interrupted");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert!(stdout(&output).contains("the same command goes on with it"), "{output:?}");
}

#[test]
fn failed_games_do_not_count() {
    let dir = tempfile::tempdir().expect("a folder");
    for (fault, end) in
        [("crash", "engine ended with code 3"), ("late late_ms=400", "loses on time")]
    {
        // In its third game, each engine crashes or loses on time. It then plays on, after a
        // restart if it crashed.
        let engine = fake(&format!("uci fault={fault} at=3 in=3"));
        let more = ["-n", "4", "--pairs", "1", "-j", "1", "--st", "0.2"];
        let output = tabia(&arguments(&engine, "Level,20,0,40,6,0.1", fault, &more), dir.path());
        let text = stdout(&output);
        assert!(output.status.success(), "{fault}: {text}{}", stderr(&output));
        assert!(text.contains("a pair of games does not count: ") && text.contains(end), "{text}");
        let kept = iterations(&dir.path().join(fault)).pop().expect("iterations");
        let void = kept["games"]["void_pairs"].as_u64().expect("a number");
        let count = |name: &str| kept["games"][name].as_u64().expect("a number");
        assert!((1..4).contains(&void), "{kept}");
        assert_eq!(count("wins") + count("draws") + count("losses"), 2 * (4 - void), "{kept}");
    }
    let illegal_engine = fake("uci fault=illegal at=1");
    let more = ["-n", "50", "--pairs", "1"];
    let output = tabia(&arguments(&illegal_engine, "Level,20,0,40,6,0.1", "h", &more), dir.path());
    let reported = stderr(&output);
    assert!(reported.contains("10 pairs of games in a row do not count"), "{reported}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn invalid_parameters_are_rejected_before_any_game() {
    let dir = tempfile::tempdir().expect("a folder");
    let (uci, xboard) = (fake("uci"), fake("xboard"));
    let tabia_engine = format!("{PROGRAM} -x --no-book");
    for (engine, param, status, part) in [
        (&uci, "Depth,3,0,9,1,0.1", 1, "Fake: has no option \"Depth\" (it has: Clear Hash, Level)"),
        (
            &xboard,
            "Depth,3,0,9,1,0.1",
            1,
            "Fake: has no option \"Depth\" (it has: Clear Hash, Level)",
        ),
        (&uci, "Level,3,0,90,1,0.1", 1, "the option \"Level\" takes 0 to 40, not 0 to 90"),
        (&xboard, "level,3,-2,9,1,0.1", 1, "the option \"level\" takes 0 to 40, not -2 to 9"),
        (&uci, "Level,3,0.5,9,1,0.1", 1, "takes whole numbers; MIN 0.5 and MAX 9 must be whole"),
        (&tabia_engine, "Evaluation,1,0,2,1,0.1", 1, "\"Evaluation\" is not a number"),
        (&uci, "Level,3,0,9,1", 2, "expected NAME,START,MIN,MAX,C_END,R_END"),
        (&uci, "Level,x,0,9,1,0.1", 2, "Level: START is not a number: \"x\""),
    ] {
        let output = tabia(&arguments(engine, param, "t", &[]), dir.path());
        let reported = stderr(&output);
        assert!(reported.contains(part), "{param}: {reported}");
        assert_eq!(output.status.code(), Some(status), "{param}: {reported}");
    }
    let twice = arguments(&uci, "Level,3,0,9,1,0.1", "t", &["--option", "level=3"]);
    let output = tabia(&twice, dir.path());
    assert!(stderr(&output).contains("Level is tuned, and set by --option as well"), "{output:?}");
    let left = std::fs::read_dir(dir.path()).expect("the folder").count();
    assert_eq!(left, 0, "no file is created");
    std::fs::write(dir.path().join("notes"), "mine").expect("written");
    let output = tabia(&arguments(&uci, "Level,3,0,9,1,0.1", "notes", &[]), dir.path());
    assert!(stderr(&output).contains("it exists and is not the journal of a tuning"));
    assert_eq!(std::fs::read(dir.path().join("notes")).expect("still there"), b"mine");
}
