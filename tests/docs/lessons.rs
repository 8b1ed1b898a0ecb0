//! Tests the output of the `tabia lesson` commands.

use std::path::Path;

use serde_json::Value;

use crate::support;

fn tabia(arguments: &[&str], folder: &Path) -> String {
    let output = support::tabia(arguments, folder);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(arguments: &[&str], folder: &Path) -> Value {
    serde_json::from_str(&tabia(arguments, folder)).expect("JSON")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

#[test]
fn tree_is_written_in_every_format() {
    let folder = folder();
    let arguments = ["lesson", "tree", "--json", "--svg", "t.svg", "--html", "t.html"];
    let all = json(&arguments, folder.path());
    let nodes: Vec<u64> = all["searches"]
        .as_array()
        .expect("searches")
        .iter()
        .map(|search| search["nodes"].as_u64().expect("a count"))
        .collect();
    assert_eq!(nodes, [15, 14, 13]);
    for (algorithm, nodes) in ["minimax", "alpha-beta", "pvs"].into_iter().zip(nodes) {
        let picture = folder.path().join(format!("t-{algorithm}.svg"));
        let picture = std::fs::read_to_string(picture).expect(algorithm);
        assert_eq!(picture.matches("data-visits=\"1\"").count() as u64, nodes, "{algorithm}");
    }
    let page = std::fs::read_to_string(folder.path().join("t.html")).expect("a page");
    assert!(
        page.contains("\"methods\":[\"minimax\",\"alpha-beta\",\"pvs\"]"),
        "the page searches itself"
    );
    assert!(page.contains("N0 max\\n  N1\\n    N3\\n      N7 3\\n"), "the tree is in the page");
}

#[test]
fn own_tree_file_is_read() {
    let folder = folder();
    std::fs::write(folder.path().join("own.tree"), "a min\n  b 3\n  c -2\n").expect("written");
    let all = json(&["lesson", "tree", "own.tree", "--json", "-a", "pvs"], folder.path());
    assert_eq!(all["searches"][0]["value"], -2);
    let printed = tabia(&["lesson", "tree", "own.tree", "--print"], folder.path());
    assert_eq!(printed, "a min\n  b 3\n  c -2\n");
}

#[test]
fn forest_is_searched_by_every_method_and_reproducible() {
    let folder = folder();
    let forest =
        ["lesson", "forest", "-n", "3", "--seed", "18446744073709551614", "--threads", "2"];
    let lines = tabia(&[&forest[..], &["--json"]].concat(), folder.path());
    assert_eq!(tabia(&[&forest[..], &["--json"]].concat(), folder.path()), lines);
    let trees: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let seeds: Vec<u64> = trees.iter().map(|tree| tree["seed"].as_u64().expect("a seed")).collect();
    assert_eq!(seeds, [u64::MAX - 1, u64::MAX, 0], "seeds wrap around");
    for tree in &trees {
        let searches = tree["searches"].as_array().expect("searches");
        assert_eq!(searches.len(), 9);
        assert!(searches.iter().all(|search| search["value"] == tree["timelines"][0]["value"]));
    }
    let huge = support::tabia(&["lesson", "forest", "--depth", "40"], folder.path());
    let errors = String::from_utf8_lossy(&huge.stderr);
    assert!(!huge.status.success() && errors.contains("take less depth"), "{errors}");
}

#[test]
fn exercises_are_printed_with_key_and_sheet() {
    let folder = folder();
    let seed = ["lesson", "exercise", "--seed", "9", "-n", "5"];
    let all = json(&[&seed[..], &["--json"]].concat(), folder.path());
    let (asked, key) =
        (tabia(&seed, folder.path()), tabia(&[&seed[..], &["--key"]].concat(), folder.path()));
    assert_eq!(tabia(&[&seed[..], &["--sheet", "s.html"]].concat(), folder.path()), "");
    let sheet = std::fs::read_to_string(folder.path().join("s.html")).expect("a sheet");
    assert_eq!(key.lines().count(), 5);
    for exercise in all.as_array().expect("exercises") {
        assert!(asked.contains(exercise["question"].as_str().expect("a question")));
        assert!(asked.contains(exercise["tree"].as_str().expect("a tree")));
        assert!(key.contains(exercise["reason"].as_str().expect("a reason")));
        assert!(sheet.contains(exercise["question"].as_str().expect("a question")));
    }
}

#[test]
fn trace_counts_match_the_picture() {
    let folder = folder();
    let fen = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1";
    let arguments = [
        "lesson", "trace", "--fen", fen, "-d", "2", "-w", "0", "--plies", "9", "--visits", "99999",
        "--json", "--svg", "t.svg",
    ];
    let all = json(&arguments, folder.path());
    let search = &all["searches"][0];
    let picture = std::fs::read_to_string(folder.path().join("t.svg")).expect("a picture");
    let visits: u64 = picture
        .split("data-visits=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().expect("a value").parse::<u64>().expect("a number"))
        .sum();
    assert_eq!(search["nodes"], visits);
    assert_eq!(search["cutoffs"], picture.matches("<g class=\"cutoff\">").count());
    assert_eq!(search["hidden"], 0);
    assert_eq!(search["line"][0], "Rd8#");
    let news = all["news"].as_array().expect("an event");
    assert!(news.iter().any(|one| one["new"] == "Rd8#" && one["score"] == 31_999), "{news:?}");
}

#[test]
fn book_ends_the_example_search_early() {
    let all = json(&["lesson", "book", "--json", "--modes", "off,stop,first"], folder().path());
    let [off, stop, first] = all["searches"].as_array().expect("searches").as_slice() else {
        panic!("three searches")
    };
    assert_eq!([&off["best"], &stop["best"]], ["Qxd5", "Qxd5"]);
    // Both moves lead into the book, so the best move depends on which one the search tries first.
    let expected = [("Qxd5", "Qxd5 Ke1 Nf6"), ("Nf6", "Nf6 Ke1")];
    assert!(
        expected.iter().any(|line| first["best"] == line.0 && first["ends_in_book"] == line.1),
        "{first}"
    );
    assert_eq!(off["depth"], 12);
    assert_eq!(stop["ends_in_book"], "Qxd5 Ke1 Nf6");
    let nodes = |search: &Value| search["nodes"].as_u64().expect("a count");
    assert!(nodes(stop) < nodes(off) && nodes(first) <= nodes(stop));
}
