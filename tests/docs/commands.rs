//! Checks the commands in the pages: they parse, quick ones run, and quoted output is up to date.
//!
//! - Every `tabia` command in a ```` ```sh ```` block must parse, even as an argument of another
//!   command (`xboard -fcp "tabia -x"`). Quick commands that need no other program are run in a
//!   temporary folder, in the order of the page, and must succeed. Missing input files are created
//!   according to their extensions.
//! - A ```` ```console ```` block begins with `$ tabia …` and must match the command's output
//!   except for times; `…` stands for any text. With `console varies`, numbers may differ, and
//!   lines that begin with a number are skipped. If `TABIA_UPDATE_DOCS` is set, the pages are
//!   updated instead.
//! - With `no-run` after `sh` or `console`, commands are only parsed.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::{pages, read, root};
use crate::support::{PROGRAM, shared_data};

/// Commands that run for minutes or until they are stopped.
const LONG: [&str; 5] = ["autoplay", "bench", "serve", "train", "tune"];
/// Options that are followed by the name of an output file.
const OUTPUTS: [&str; 4] = ["-o", "--html", "--log", "--svg"];
/// The node limit of each search. It replaces the limit quoted in the page, to save time.
const NODES: &str = "100";
/// The game `lucky.pgn` used in the guides. Its last move is illegal.
const LUCKY: &str = "[Event \"A\"]\n[White \"Anna\"]\n[Black \"Bert\"]\n[Result \"1-0\"]\n\n\
                     1. e4 e5 2. Nf3 Nf6 3. Nxe5 Nxe4 4. Ke3 1-0\n";

struct Block {
    info: Vec<String>,
    text: String,
}

impl Block {
    fn is(&self, word: &str) -> bool {
        self.info.iter().any(|one| one == word)
    }

    /// The command lines, each with the output quoted below it.
    fn commands(&self) -> Vec<(String, String)> {
        if self.is("sh") {
            let text = self.text.replace("\\\n", " ");
            return text.lines().map(|line| (line.to_owned(), String::new())).collect();
        }
        let mut commands: Vec<(String, String)> = Vec::new();
        for line in self.text.lines() {
            match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(command), _) => commands.push((command.to_owned(), String::new())),
                (None, Some((_, quoted))) => *quoted += &format!("{line}\n"),
                (None, None) => {}
            }
        }
        commands
    }
}

fn blocks(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some((indent, info)) = line.split_once("```") else { continue };
        if indent.trim().is_empty() {
            let inside = lines.by_ref().take_while(|line| line.trim() != "```");
            let inside =
                inside.map(|line| format!("{}\n", line.strip_prefix(indent).unwrap_or("")));
            let info = info.split_whitespace().map(str::to_owned).collect();
            found.push(Block { info, text: inside.collect() });
        }
    }
    found
}

#[derive(Debug, PartialEq)]
struct Call {
    arguments: Vec<String>,
    /// Whether the line runs `tabia` directly, not as an argument of another program.
    is_direct: bool,
}

impl Call {
    /// Returns true if the command can be run by the test: it is run directly, finishes quickly,
    /// and names no file outside the test's folder.
    fn is_quick(&self) -> bool {
        let is_long = self.arguments.first().is_some_and(|word| LONG.contains(&word.as_str()));
        self.is_direct && !is_long && !self.arguments.iter().any(|word| word.starts_with('/'))
    }
}

fn calls(line: &str) -> Vec<Call> {
    // Programs in `target/tune` are skipped, because that build has commands that the usual build
    // lacks.
    let is_tabia = |word: &str| {
        word == "tabia" || word.ends_with("/tabia") && !word.starts_with("target/tune/")
    };
    let words = shlex::split(line).unwrap_or_else(|| panic!("quotation marks: {line}"));
    let mut calls = Vec::new();
    for part in words.split(|word| ["|", "&&", ";", ">"].contains(&word.as_str())) {
        let (is_direct, arguments) = match part {
            [cargo, run, release, rest @ ..]
                if [cargo, run, release] == ["cargo", "run", "--release"] =>
            {
                (true, rest.strip_prefix(&["--".to_owned()]).unwrap_or(rest))
            }
            [program, arguments @ ..] if is_tabia(program) => (true, arguments),
            [sudo, program, arguments @ ..] if sudo == "sudo" && is_tabia(program) => {
                (false, arguments)
            }
            _ => continue,
        };
        calls.push(Call { arguments: arguments.to_vec(), is_direct });
    }
    for word in words {
        let inner = shlex::split(&word).unwrap_or_default();
        if let [program, arguments @ ..] = &inner[..]
            && !arguments.is_empty()
            && is_tabia(program)
        {
            calls.push(Call { arguments: arguments.to_vec(), is_direct: false });
        }
    }
    calls
}

/// Runs Tabia with `folder` as the working directory and the home directory.
fn run(arguments: &[String], folder: &Path) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.env("HOME", folder).env("XDG_DATA_HOME", folder);
    command.output().expect("tabia can be started")
}

/// Panics if the arguments cannot be parsed. `--help` is appended so that the command is not run.
fn parse(arguments: &[String], place: &str) {
    let output = run(&[arguments, &["--help".to_owned()]].concat(), root());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{place}: {errors}");
}

fn inputs(arguments: &[String]) -> Vec<&str> {
    let mut inputs = Vec::new();
    let mut previous = "";
    for word in arguments {
        // A file name may be followed by `:` and a weight, or by `,` and a selection of the file's
        // games.
        let name = word.split([':', ',']).next().unwrap_or(word);
        let is_file =
            [".pgn", ".zst", ".tbk", ".bin", ".epd", "/"].iter().any(|end| name.ends_with(end));
        if is_file && !OUTPUTS.contains(&previous) {
            inputs.push(name);
        }
        previous = word;
    }
    inputs
}

/// Creates a small input file of the kind that its name suggests.
fn make(name: &str, folder: &Path) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("in the folder")).expect("writable");
    let must = |line: &str| {
        let Some(call) = calls(line).pop() else { panic!("{line}") };
        let output = run(&call.arguments, folder);
        assert!(output.status.success(), "{line}: {output:?}");
    };
    let games = games(name);
    match name.rsplit(['.', '/']).next() {
        Some("") => {
            fs::create_dir_all(&path).expect("writable");
            fs::write(path.join("some.pgn"), games)
        }
        Some("pgn") => fs::write(path, games),
        Some("zst") => fs::write(path, zstd::encode_all(games.as_bytes(), 1).expect("memory")),
        Some("epd") => {
            fs::write(path, format!("{} am f3;\n", tabia::position::Position::start().epd()))
        }
        Some("bin") => {
            make("for-polyglot.tbk", folder);
            must(&format!("tabia book export for-polyglot.tbk -o {name}"));
            Ok(())
        }
        _ => {
            fs::write(folder.join("for-book.pgn"), games).expect("writable");
            must(&format!("tabia book build --facets for-book.pgn -o {name}"));
            Ok(())
        }
    }
    .expect("writable");
}

/// Returns games with the openings, players and game id mentioned in the pages. Both players play
/// both colours.
fn games(event: &str) -> String {
    let openings = [
        "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 6. Be3 e5",
        "1. d4 Nf6 2. c4 e6 3. Nc3 d5",
        "1. c4 Nf6 2. d4 e6 3. Nc3 Bb4",
        "1. e4 e5 2. Nf3 Nc6",
    ];
    let players = ["Carlsen, Magnus", "Smith, John"];
    let mut games = String::new();
    for (number, moves) in openings.iter().chain(&openings).enumerate() {
        let (white, black) = (players[number / 4], players[1 - number / 4]);
        let (site, result) = (["xxaroeMP", "xxaroeMQ"][number.min(1)], ["1-0", "0-1"][number % 2]);
        games += &format!(
            "[Event \"{event} {number}\"]\n[Site \"https://lichess.org/{site}\"]\n\
             [Date \"2024.01.0{}\"]\n[White \"{white}\"]\n[Black \"{black}\"]\n\
             [Result \"{result}\"]\n[WhiteElo \"2800\"]\n[BlackElo \"2600\"]\n\
             [TimeControl \"5400+30\"]\n\n{moves} {result}\n\n",
            number + 1
        );
    }
    games
}

fn must_work(arguments: &[String], folder: &Path, place: &str) {
    for name in inputs(arguments).into_iter().filter(|name| !folder.join(name).exists()) {
        make(name, folder);
    }
    let mut arguments = arguments.to_vec();
    if let Some(at) = arguments.iter().position(|word| word == "--nodes") {
        NODES.clone_into(&mut arguments[at + 1]);
    } else if arguments.first().is_some_and(|word| word == "annotate") {
        arguments.extend(["--nodes", NODES].map(str::to_owned));
    }
    let output = run(&arguments, folder);
    let errors = String::from_utf8_lossy(&output.stderr);
    // Commands that find something do not fail: `book diff` ends with status 1 and no error
    // message, and `repertoire check` with status 4.
    let status = output.status.code();
    let has_findings = status == Some(4) || status == Some(1) && errors.trim().is_empty();
    assert!(output.status.success() || has_findings, "{place}: {}\n{errors}", output.status);
}

#[test]
fn the_commands_of_the_pages_work() {
    let (mut parsed, mut done) = (0, 0);
    for page in pages::paths() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for block in blocks(&read(&page)) {
            // The commands in docs/measurements are only parsed, because they need large inputs.
            let is_run =
                block.is("sh") && !block.is("no-run") && !page.starts_with("docs/measurements");
            for (line, _) in block.commands() {
                for call in calls(&line) {
                    let place = format!("{}: {line}", page.display());
                    parse(&call.arguments, &place);
                    parsed += 1;
                    if is_run && call.is_quick() {
                        must_work(&call.arguments, folder.path(), &place);
                        done += 1;
                    }
                }
            }
        }
    }
    assert!(parsed > 100 && done > 40, "{parsed} commands parsed, {done} run");
}

fn shape(text: &str) -> String {
    let starts_with_number =
        |line: &&str| line.trim_start().starts_with(|c: char| c.is_ascii_digit());
    let is_number = |c: char| c.is_ascii_digit() || "+-.%x(),;".contains(c);
    let mut shape = String::new();
    for line in text.lines().filter(|line| !starts_with_number(line)) {
        let words = line.split_whitespace().map(|word| match word {
            _ if word.chars().all(is_number) || word.ends_with("inf") => "#",
            // The machine may have a single core.
            "core;" => "cores;",
            _ => word,
        });
        shape += &format!("{}\n", words.collect::<Vec<_>>().join(" "));
    }
    shape
}

fn timeless(text: &str) -> String {
    let progress = |line: &&str| line.contains(" games, ") && line.contains(" games/s");
    let lines = text.lines().filter(|line| !progress(line));
    lines
        .map(|line| format!("{}\n", line.split(" games read in ").next().unwrap_or(line)))
        .collect()
}

/// Returns true if a text matches a pattern in which `…` stands for any text.
fn is_like(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('…');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or("")) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[test]
fn the_pages_quote_what_the_commands_print() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let link = |to: &Path, name: &str| {
        std::os::unix::fs::symlink(to, folder.path().join(name)).expect("writable");
    };
    link(&root().join("books"), "books");
    fs::write(folder.path().join("lucky.pgn"), LUCKY).expect("writable");
    let games = shared_data("pgn/mid_otb");
    if let Some(games) = &games {
        link(games, "mid_otb");
    }
    let mut checked = 0;
    for page in pages::paths() {
        let text = read(&page);
        let mut fresh = text.clone();
        for block in blocks(&text) {
            if !block.is("console") || block.is("no-run") {
                continue;
            }
            for (line, quoted) in block.commands() {
                let [call] = &calls(&line)[..] else { panic!("{}: {line}", page.display()) };
                let is_there = |name: &&str| folder.path().join(name).exists();
                let needs_games =
                    line.contains("mid_otb") || !inputs(&call.arguments).iter().all(is_there);
                if games.is_none() && needs_games {
                    continue;
                }
                let output = run(&call.arguments, folder.path());
                let printed =
                    String::from_utf8([output.stderr, output.stdout].concat()).expect("UTF-8");
                let normal =
                    |text: &str| if block.is("varies") { shape(text) } else { timeless(text) };
                checked += 1;
                if is_like(&normal(&printed), &normal(&quoted)) {
                    continue;
                }
                let is_updated =
                    std::env::var_os("TABIA_UPDATE_DOCS").is_some() && !quoted.contains('…');
                assert!(
                    is_updated,
                    "{} is out of date: {line}\n{quoted}---\n{printed}",
                    page.display()
                );
                fresh = fresh.replacen(&quoted, &printed, 1);
            }
        }
        if fresh != text {
            fs::write(root().join(&page), fresh).expect("writable");
        }
    }
    assert!(checked > 8, "{checked} commands checked");
}

#[test]
fn calls_are_found() {
    let call = |arguments: &str, is_direct| Call {
        arguments: arguments.split_whitespace().map(str::to_owned).collect(),
        is_direct,
    };
    assert_eq!(calls("tabia book show a.tbk  # why"), [call("book show a.tbk", true)]);
    assert_eq!(calls("cargo run --release -- serve"), [call("serve", true)]);
    assert_eq!(calls("sudo tabia generate share x"), [call("generate share x", false)]);
    assert_eq!(calls("xboard -fcp \"tabia -x -b\""), [call("-x -b", false)]);
    assert_eq!(calls("make deb && ./tabia bench | tee x"), [call("bench", true)]);
    let both = calls("tabia autoplay -1 'new/tabia -x'");
    assert_eq!(both[1], call("-x", false));
    assert!(!both[0].is_quick() && call("eval x", true).is_quick());
    assert!(!call("book find a.tbk --games /games", true).is_quick());
    assert_eq!(inputs(&call("merge a.tbk b.tbk:2 -o c.tbk", true).arguments), ["a.tbk", "b.tbk"]);
}

#[test]
fn blocks_and_patterns_are_read() {
    let text = "a\n  ```sh no-run\n  one \\\n    two\n  ```\n```console\n$ x\ny\n$ z\n```\n";
    let [sh, session] = &blocks(text)[..] else { panic!("two blocks") };
    assert!(sh.is("sh") && sh.is("no-run") && !session.is("sh"));
    assert_eq!(sh.commands(), [("one    two".to_owned(), String::new())]);
    let quoted = |command: &str, text: &str| (command.to_owned(), text.to_owned());
    assert_eq!(session.commands(), [quoted("x", "y\n"), quoted("z", "")]);
    assert!(is_like("a\nb\nc\n", "a\n…c\n") && is_like("abc", "abc") && is_like("abc", "a…"));
    assert!(!is_like("abc", "ab") && !is_like("abc", "b…") && !is_like("abc", "a…x…c"));
}
