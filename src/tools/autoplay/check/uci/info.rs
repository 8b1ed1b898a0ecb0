//! Checks the `info` lines that an engine sends during a search.

use std::collections::BTreeMap;

use crate::chess::position::{Move, Position};
use crate::protocols::uci::{Info, Reply};

/// The largest plausible evaluation. Larger values are usually mate scores or infinities that
/// should not be sent as centipawns.
const MAX_CENTIPAWNS: u64 = 30_000;

/// The largest plausible number of moves to mate. All known mates are shorter.
const MAX_MATE: u64 = 1_000;

const MAX_PERMILLE: u64 = 1_000;

/// The words that start a part of an `info` line.
const KEYWORDS: [&str; 18] = [
    "depth",
    "seldepth",
    "time",
    "nodes",
    "pv",
    "multipv",
    "score",
    "currmove",
    "currmovenumber",
    "hashfull",
    "nps",
    "tbhits",
    "sbhits",
    "cpuload",
    "string",
    "refutation",
    "currline",
    "wdl",
];

const COUNT: &str = "in info, depth, seldepth, time, nodes, nps, multipv, currmovenumber, \
    hashfull, tbhits, sbhits and cpuload must be followed by a whole number";
const FROM_ONE: &str = "multipv and currmovenumber count from 1";
const PERMILLE: &str = "hashfull and cpuload are in permille, so at most 1000";
const SELDEPTH: &str = "a line with seldepth must have depth too";
const SCORE: &str = "score must be followed by cp or mate and a whole number";
const CENTIPAWNS: &str = "score cp must be an evaluation in centipawns, within 30000; a mate is \
    reported as score mate";
const MATE: &str = "score mate must be a number of moves, not 0 while there are legal moves";
const CURRMOVE: &str = "currmove must be a legal move in coordinates";
const WDL: &str = "wdl must be followed by three whole numbers whose sum is 1000";
const LINE: &str =
    "pv must have at least one move, and each must be legal after the moves before it";
const MATE_LINE: &str = "score mate N counts moves, so a line that mates has 2N-1 plies, or 2N if \
    N is negative, and no line is longer";
const DEPTH: &str = "depth must not decrease during a search";
const RANKS: &str = "with MultiPV the lines must be numbered from 1 without gaps, up to the value \
    of the option or the number of legal moves";
const SAME: &str = "lines of one depth must begin with different moves";

/// A line and the rule that it violates.
pub(super) type Fault = (String, &'static str);

/// Parses a move in coordinate notation. Returns `None` unless it is legal in `position`.
pub(super) fn legal(position: &Position, text: &str) -> Option<Move> {
    let mv = text.parse::<Move>().ok()?;
    (position.is_legal(mv) && mv.to_string() == text).then_some(mv)
}

/// Returns the moves of the principal variation in an `info` line, if there is one.
fn variation(line: &str) -> Option<Vec<&str>> {
    let mut words = line.split_whitespace().take_while(|&word| word != "string");
    words.find(|&word| word == "pv")?;
    Some(words.take_while(|word| !KEYWORDS.contains(word)).collect())
}

fn info(line: &str) -> Option<Info> {
    match Reply::from(line) {
        Reply::Info(info) => Some(*info),
        _ => None,
    }
}

/// Returns the number of moves to mate, if the line contains a mate score that is not a bound.
fn exact_mate(line: &str) -> Option<i64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|&word| word == "mate")?;
    let is_bound = |word: &&str| word.ends_with("bound");
    words.get(at + 1)?.parse().ok().filter(|_| !words.iter().any(is_bound))
}

/// Returns each rule that is violated by at least one of the lines, together with the first line
/// that violates it. `position` is the root of the search.
pub(super) fn faults(lines: &[String], position: &Position) -> Vec<Fault> {
    let mut found: Vec<Fault> = Vec::new();
    let mut depths = BTreeMap::new();
    for line in lines {
        let mut rules = syntax(line, position);
        if let Some(moves) = variation(line) {
            let end = moves.iter().try_fold(*position, |position, text| {
                legal(&position, text).map(|mv| position.play(mv))
            });
            match end.filter(|_| !moves.is_empty()) {
                None => rules.push(LINE),
                Some(end) if contradicts_mate(line, moves.len(), &end) => rules.push(MATE_LINE),
                Some(_) => {}
            }
            if let Some((depth, rank)) =
                info(line).and_then(|info| Some((info.depth?, info.multi_pv)))
                && depths.insert(rank.unwrap_or(1), depth).is_some_and(|before| before > depth)
            {
                rules.push(DEPTH);
            }
        }
        add(&mut found, line, rules);
    }
    found
}

fn add(found: &mut Vec<Fault>, line: &str, rules: Vec<&'static str>) {
    for rule in rules {
        if found.iter().all(|&(_, known)| known != rule) {
            found.push((line.to_owned(), rule));
        }
    }
}

/// Returns whether the mate score in `line` contradicts its principal variation, which is `plies`
/// plies long and leads to the position `end`.
fn contradicts_mate(line: &str, plies: usize, end: &Position) -> bool {
    let Some(moves) = exact_mate(line) else { return false };
    let distance = moves.unsigned_abs().saturating_mul(2) - u64::from(moves > 0);
    let is_mate = end.in_check() && end.has_no_moves();
    let plies = plies as u64;
    plies > distance || is_mate != (plies == distance)
}

/// Returns the rules that individual parts of a line violate.
fn syntax(line: &str, position: &Position) -> Vec<&'static str> {
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    let mut rules = Vec::new();
    let mut rest = words.as_slice();
    while let [word, tail @ ..] = rest {
        rest = tail;
        let count = tail.first().and_then(|value| value.parse::<u64>().ok());
        let rule = match *word {
            "string" => break,
            "depth" | "time" | "nodes" | "nps" | "tbhits" | "sbhits" | "seldepth" | "multipv"
            | "currmovenumber" | "hashfull" | "cpuload"
                if count.is_none() =>
            {
                Some(COUNT)
            }
            "multipv" | "currmovenumber" if count == Some(0) => Some(FROM_ONE),
            "hashfull" | "cpuload" if count > Some(MAX_PERMILLE) => Some(PERMILLE),
            "seldepth" if !words.contains(&"depth") => Some(SELDEPTH),
            "score" => score(tail, position),
            "currmove" => {
                let mv = tail.first().and_then(|text| legal(position, text));
                mv.is_none().then_some(CURRMOVE)
            }
            "wdl" => {
                let chances =
                    tail.iter().take(3).map(|chance| chance.parse::<u32>().map(u64::from).ok());
                let sum = chances.sum::<Option<u64>>();
                (tail.len() < 3 || sum != Some(MAX_PERMILLE)).then_some(WDL)
            }
            _ => None,
        };
        rules.extend(rule);
    }
    rules
}

fn score(words: &[&str], position: &Position) -> Option<&'static str> {
    let value = |words: &[&str]| words.get(1).and_then(|value| value.parse::<i64>().ok());
    match (words.first(), value(words)) {
        (Some(&"cp"), Some(value)) => (value.unsigned_abs() > MAX_CENTIPAWNS).then_some(CENTIPAWNS),
        (Some(&"mate"), Some(value)) => {
            let is_wrong =
                value.unsigned_abs() > MAX_MATE || (value == 0 && !position.has_no_moves());
            is_wrong.then_some(MATE)
        }
        _ => Some(SCORE),
    }
}

/// Checks the `multipv` numbers and first moves of the lines reported by a MultiPV search. There
/// should be `expected` lines.
pub(super) fn multi_pv_faults(lines: &[String], expected: u64) -> Vec<Fault> {
    let mut found = Vec::new();
    let mut group: BTreeMap<u64, &str> = BTreeMap::new();
    let (mut last, mut highest) = (0_u64, 0);
    let mut end = "";
    for line in lines {
        let Some(first) = variation(line).and_then(|moves| moves.first().copied()) else {
            continue;
        };
        end = line;
        let rank = info(line).and_then(|info| info.multi_pv).unwrap_or(1);
        if rank == 1 {
            group.clear();
        }
        if rank > expected || rank > last.saturating_add(1) {
            add(&mut found, line, vec![RANKS]);
        }
        if group.iter().any(|(&other, &mv)| other != rank && mv == first) {
            add(&mut found, line, vec![SAME]);
        }
        group.insert(rank, first);
        last = rank;
        highest = highest.max(rank);
    }
    if highest < expected {
        add(&mut found, end, vec![RANKS]);
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rules(lines: &[&str], position: &Position) -> Vec<&'static str> {
        let lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
        faults(&lines, position).into_iter().map(|(_, rule)| rule).collect()
    }

    #[test]
    fn well_formed_lines_have_no_faults() {
        let lines = [
            "info depth 1 seldepth 2 multipv 1 score cp -30000 wdl 100 800 100 nodes 20 nps 0 \
             hashfull 1000 tbhits 0 time 0 pv e2e4 e7e5",
            "info depth 1 currmove e2e4 currmovenumber 1",
            "info depth 2 score cp 31 lowerbound pv g1f3",
            "info string depth x score pv e2e5",
            "info depth 2 score cp 31 pv e2e4 e7e5 string pv e2e5",
            "info nodes 7 unknown 8",
            "info",
        ];
        assert_eq!(rules(&lines, &Position::start()), Vec::<&str>::new());
        let mated = Position::from_fen("7k/R7/8/8/8/8/8/1R5K b - - 0 1").expect("a position");
        let lines = [
            "info depth 3 score mate -1 pv h8g8 b1b8",
            "info depth 3 score mate -4 pv h8g8",
            "info depth 4 score mate -1",
            "info depth 4 score mate -7 upperbound pv h8g8 b1b8",
        ];
        assert_eq!(rules(&lines, &mated), Vec::<&str>::new());
        let over = Position::from_fen("1R4k1/R7/8/8/8/8/8/7K b - - 0 1").expect("a position");
        assert_eq!(rules(&["info depth 0 score mate 0"], &over), Vec::<&str>::new());
    }

    #[test]
    fn each_fault_violates_its_rule() {
        for (line, rule) in [
            ("info depth x", COUNT),
            ("info depth", COUNT),
            ("info nps -5", COUNT),
            ("info time 1.5", COUNT),
            ("info multipv 0", FROM_ONE),
            ("info currmovenumber 0", FROM_ONE),
            ("info hashfull 1001", PERMILLE),
            ("info seldepth 3", SELDEPTH),
            ("info score 12", SCORE),
            ("info score cp 0.12", SCORE),
            ("info score cp", SCORE),
            ("info score cp -32001", CENTIPAWNS),
            ("info score mate 0", MATE),
            ("info score mate 1001", MATE),
            ("info currmove e2e5", CURRMOVE),
            ("info currmove", CURRMOVE),
            ("info wdl 1 2 3", WDL),
            ("info wdl 1000", WDL),
            ("info pv", LINE),
            ("info pv e2e4 e2e4", LINE),
            ("info pv e4", LINE),
            ("info pv e2e4 nodes 5 pv", ""),
            ("info score mate 1 pv e2e4", MATE_LINE),
            ("info score mate 1 pv e2e4 e7e5", MATE_LINE),
        ] {
            let expected: Vec<&str> =
                Some(rule).filter(|rule| !rule.is_empty()).into_iter().collect();
            assert_eq!(rules(&[line], &Position::start()), expected, "{line}");
        }
        let falling = ["info depth 3 pv e2e4", "info depth 1", "info depth 2 pv e2e4"];
        assert_eq!(rules(&falling, &Position::start()), [DEPTH]);
        let twice = ["info depth x", "info nodes x"];
        assert_eq!(rules(&twice, &Position::start()), [COUNT], "one finding for each rule");
    }

    #[test]
    fn mate_scores_count_moves() {
        let mate = Position::from_fen("7k/8/8/8/8/8/R7/1R5K w - - 0 1").expect("a position");
        let line = "pv a2a7 h8g8 b1b8";
        for (distance, is_fault) in [(2, false), (3, true), (1, true), (-2, true)] {
            let found = rules(&[&format!("info score mate {distance} {line}")], &mate);
            assert_eq!(found == [MATE_LINE], is_fault, "{distance}");
        }
    }

    #[test]
    fn multi_pv_numbers_are_checked() {
        let check = |lines: &[&str], expected| -> Vec<&str> {
            let lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
            multi_pv_faults(&lines, expected).into_iter().map(|(_, rule)| rule).collect()
        };
        let one = "info multipv 1 pv e2e4";
        let two = "info multipv 2 pv d2d4";
        let none = Vec::<&str>::new();
        assert_eq!(check(&[one, two, one, two], 2), none);
        assert_eq!(check(&["info pv e2e4"], 1), none);
        assert_eq!(check(&[one, one, two, two, "info multipv 1 pv d2d4"], 2), none);
        assert_eq!(check(&[one], 2), [RANKS]);
        assert_eq!(check(&[], 2), [RANKS]);
        assert_eq!(check(&[two, one, two], 2), [RANKS], "it does not begin with 1");
        assert_eq!(check(&[one, two, "info multipv 3 pv a2a3"], 2), [RANKS], "too many");
        assert_eq!(check(&[one, "info multipv 2 pv e2e4"], 2), [SAME]);
    }

    proptest! {
        #[test]
        fn any_line_can_be_checked(
            words in prop::collection::vec("(info|depth|score|cp|mate|pv|multipv|wdl|e2e4|.{0,5})", 0..12),
            number in any::<i64>(),
        ) {
            let line = format!("info mate {} score mate {number} pv e2e4", words.join(" "));
            let lines = [line, format!("info multipv {} pv e2e4", number.unsigned_abs())];
            let lines = [&lines[..], &lines[..], &[words.join(" ")]].concat();
            faults(&lines, &Position::start());
            multi_pv_faults(&lines, 3);
        }
    }
}
