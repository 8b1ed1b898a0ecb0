//! The tests of the UCI protocol, each with the rule that it checks.

use std::time::Duration;

use super::super::endings::{
    end_of_input, end_while_thinking, quit, quit_while_thinking, termination_signal,
};
use super::super::{Finding, Probe, SILENCE};
use super::options::{Declaration, Kind, UNIQUE};
use super::positions::{
    CHECKMATE, MATE_IN_TWO, MATES, MIDDLE_GAME, ONE_MOVE, ORDINARY, PROMOTION, SPECIAL, STALEMATE,
    START, WEAK_MOVES, long_game,
};
use super::{Conversation, Declarations, Search, Setup, info, is_best_move, is_search_output};
use crate::chess::score::mate_distance;
use crate::engine::search::Bound;
use crate::protocols::uci::Reply;

/// All tests, in the order in which they run.
pub(in crate::tools::autoplay::check) const PROBES: &[Probe<Declarations>] = &[
    Probe { name: "handshake", run: handshake },
    Probe { name: "option declarations", run: declarations },
    Probe { name: "isready", run: is_ready },
    Probe { name: "isready while thinking", run: ready_while_thinking },
    Probe { name: "new game", run: new_game },
    Probe { name: "valid option values", run: valid_values },
    Probe { name: "invalid option values", run: invalid_values },
    Probe { name: "positions", run: ordinary_positions },
    Probe { name: "special moves", run: special_moves },
    Probe { name: "long game", run: long_move_list },
    Probe { name: "checkmate and stalemate", run: finished_games },
    Probe { name: "go depth", run: go_depth },
    Probe { name: "go nodes", run: go_nodes },
    Probe { name: "go movetime", run: go_movetime },
    Probe { name: "go with clocks", run: go_clocks },
    Probe { name: "go searchmoves", run: go_searchmoves },
    Probe { name: "go mate", run: go_mate },
    Probe { name: "go infinite", run: go_infinite },
    Probe { name: "stop", run: stop },
    Probe { name: "stop without a search", run: idle_stop },
    Probe { name: "search information", run: search_information },
    Probe { name: "mate distance", run: mate_distances },
    Probe { name: "ponder", run: ponder },
    Probe { name: "MultiPV", run: multi_pv },
    Probe { name: "white space", run: white_space },
    Probe { name: "unknown commands", run: unknown_commands },
    Probe { name: "invalid positions", run: invalid_positions },
    Probe { name: "termination signal", run: termination_signal },
    Probe { name: "end of input", run: end_of_input },
    Probe { name: "end of input while thinking", run: end_while_thinking },
    Probe { name: "quit", run: quit },
    Probe { name: "quit while thinking", run: quit_while_thinking },
];

fn handshake(engine: &mut Conversation) -> Result<(), Finding> {
    if !engine.handshake.is_complete {
        let rule = "uci must be answered by id, the options and uciok";
        return Err(engine.missing("uciok", rule));
    }
    if !engine.handshake.has_name {
        engine.report("no id name", "the engine must send its name as \"id name NAME\"");
    }
    if !engine.handshake.has_author {
        engine.report("no id author", "the engine must send its author as \"id author NAME\"");
    }
    engine.ready().map(drop)
}

/// Returns the engine's correctly declared options.
fn options(engine: &Conversation) -> Vec<Declaration> {
    let lines = engine.handshake.options.iter();
    lines.filter_map(|line| Declaration::parse(line).ok()).collect()
}

/// Looks for a suitable option called `name` in any combination of upper and lower case. Returns
/// its name as spelled by the engine.
fn option_name(
    engine: &Conversation,
    name: &str,
    is_suitable: fn(&Declaration) -> bool,
) -> Option<String> {
    let is_wanted =
        |option: &Declaration| option.name.eq_ignore_ascii_case(name) && is_suitable(option);
    options(engine).into_iter().find(is_wanted).map(|option| option.name)
}

fn declarations(engine: &mut Conversation) -> Result<(), Finding> {
    for line in engine.handshake.options.clone() {
        if let Err(rule) = Declaration::parse(&line) {
            engine.report(line, rule);
        }
    }
    let mut names: Vec<String> =
        options(engine).into_iter().map(|option| option.name.to_lowercase()).collect();
    names.sort();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        engine.report(format!("two options with the name {}", pair[0]), UNIQUE);
    }
    Ok(())
}

fn is_ready(engine: &mut Conversation) -> Result<(), Finding> {
    engine.ready()?;
    for command in ["ucinewgame", &START.command(), "debug on", "debug off"] {
        engine.send(command);
        engine.ready()?;
    }
    Ok(())
}

fn ready_while_thinking(engine: &mut Conversation) -> Result<(), Finding> {
    const RULE: &str = "isready during a search must be answered at once, and the search goes on";
    engine.start_search(MIDDLE_GAME, "infinite");
    let lines = engine.ready_by(RULE)?;
    if let Some(line) = lines.into_iter().find(|line| is_best_move(&Reply::from(line.as_str()))) {
        return Err(engine.finding(line, RULE));
    }
    engine.send("stop");
    engine.finish_search(MIDDLE_GAME, STOP).map(drop)
}

fn new_game(engine: &mut Conversation) -> Result<(), Finding> {
    for setup in [START, MIDDLE_GAME] {
        engine.send("ucinewgame");
        engine.ready()?;
        engine.search(setup, "depth 1")?;
    }
    Ok(())
}

fn valid_values(engine: &mut Conversation) -> Result<(), Finding> {
    set_and_search(engine, Declaration::valid_settings)
}

fn invalid_values(engine: &mut Conversation) -> Result<(), Finding> {
    for line in ["setoption name No Such Option value 1", "setoption name", "setoption"] {
        engine.send(line);
        engine.ready()?;
    }
    set_and_search(engine, Declaration::invalid_settings)
}

/// Sets the engine's options to the values in `settings`, and checks that it can still search.
fn set_and_search(
    engine: &mut Conversation,
    settings: fn(&Declaration) -> Vec<String>,
) -> Result<(), Finding> {
    for line in options(engine).iter().flat_map(settings) {
        engine.send(&line);
        engine.ready()?;
    }
    engine.search(MIDDLE_GAME, "depth 1").map(drop)
}

fn ordinary_positions(engine: &mut Conversation) -> Result<(), Finding> {
    for setup in ORDINARY {
        engine.send(&setup.command());
        engine.ready()?;
        engine.search(setup, "depth 1")?;
    }
    Ok(())
}

fn special_moves(engine: &mut Conversation) -> Result<(), Finding> {
    for setup in SPECIAL.into_iter().chain([PROMOTION]) {
        engine.search(setup, "depth 1")?;
    }
    Ok(())
}

fn long_move_list(engine: &mut Conversation) -> Result<(), Finding> {
    engine.search(Setup { fen: "", moves: &long_game() }, "depth 1").map(drop)
}

fn finished_games(engine: &mut Conversation) -> Result<(), Finding> {
    for setup in [CHECKMATE, STALEMATE] {
        engine.search(setup, "depth 1")?;
    }
    Ok(())
}

fn go_depth(engine: &mut Conversation) -> Result<(), Finding> {
    const RULE: &str = "after go depth N the search must end at depth N";
    for limit in [1, 2, 3] {
        let search = engine.search(MIDDLE_GAME, &format!("depth {limit}"))?;
        if let Some(depth) = search.parsed().filter_map(|info| info.depth).max()
            && depth > limit
        {
            engine.report(format!("info depth {depth}"), RULE);
        }
    }
    Ok(())
}

fn go_nodes(engine: &mut Conversation) -> Result<(), Finding> {
    const RULE: &str = "after go nodes N the search must end after about N nodes, at most 2N";
    /// Engines count nodes in steps. This number is larger than the usual steps.
    const LIMIT: u64 = 20_000;
    let search = engine.search(MIDDLE_GAME, &format!("nodes {LIMIT}"))?;
    let nodes = search.parsed().filter_map(|info| info.nodes).max();
    if let Some(nodes) = nodes.filter(|&nodes| nodes > 2 * LIMIT) {
        engine.report(format!("info nodes {nodes}"), RULE);
    }
    let nodes = nodes.map_or("no nodes".to_owned(), |nodes| format!("{nodes} nodes"));
    engine.notes.push(format!("go nodes {LIMIT}: {nodes} reported"));
    Ok(())
}

/// How often a time limit is tested at most. The best time counts, because the computer may be
/// busy.
const ATTEMPTS: usize = 5;

fn go_movetime(engine: &mut Conversation) -> Result<(), Finding> {
    const RULE: &str = "after go movetime N, bestmove must arrive within N ms and --margin, in at \
        least one of 5 attempts";
    const LIMIT: Duration = Duration::from_millis(100);
    let limits = format!("movetime {}", LIMIT.as_millis());
    let mut best = Duration::MAX;
    for _ in 0..ATTEMPTS {
        best = best.min(engine.search(MIDDLE_GAME, &limits)?.elapsed);
        if best <= LIMIT + engine.margin {
            break;
        }
    }
    let came = format!("bestmove after {} ms", best.as_millis());
    if best > LIMIT + engine.margin {
        engine.report(&*came, RULE);
    }
    engine.notes.push(format!("go {limits}: {came}"));
    Ok(())
}

const SCORE: &str = "a search must send info with a score before bestmove";

fn go_clocks(engine: &mut Conversation) -> Result<(), Finding> {
    let mut has_scores = true;
    let black = Setup { moves: "f3e5", ..MIDDLE_GAME };
    // A move at once or from a book needs no score.
    for (setup, limits, needs_score) in [
        (MIDDLE_GAME, "wtime 100", true),
        (black, "btime 100", true),
        (MIDDLE_GAME, "wtime 100 winc 100 btime 100 binc 100", true),
        (black, "btime 100 binc 100 wtime 100 winc 100", true),
        (MIDDLE_GAME, "wtime 1000 btime 1000 movestogo 1", true),
        (MIDDLE_GAME, "wtime 1 btime 1", false),
        (START, "wtime 100 btime 100", false),
    ] {
        let search = engine.search(setup, limits)?;
        if needs_score && has_scores && search.parsed().all(|info| info.score.is_none()) {
            engine.report(format!("no score after go {limits}"), SCORE);
            has_scores = false;
        }
        let elapsed = search.elapsed.as_millis();
        engine.notes.push(format!("go {limits}: bestmove after {elapsed} ms"));
    }
    Ok(())
}

fn go_searchmoves(engine: &mut Conversation) -> Result<(), Finding> {
    const RULE: &str = "after go searchmoves, bestmove and pv must begin with one of these moves";
    let limits = format!("depth 2 searchmoves {}", WEAK_MOVES.join(" "));
    let search = engine.search(MIDDLE_GAME, &limits)?;
    let lines = search.parsed().filter_map(|info| info.line);
    let first = |line: String| line.split_whitespace().next().map(str::to_owned);
    let mut moves = lines.filter_map(first).chain([search.best.clone()]);
    if let Some(mv) = moves.find(|mv| !WEAK_MOVES.contains(&mv.as_str())) {
        engine.report(mv, RULE);
    }
    Ok(())
}

fn go_mate(engine: &mut Conversation) -> Result<(), Finding> {
    const RULE: &str = "go mate N must end with bestmove when the mate is found";
    engine.start_search(MATE_IN_TWO, "mate 2");
    engine.finish_search(MATE_IN_TWO, RULE).map(drop)
}

const STOP: &str = "stop must be answered by bestmove";

fn go_infinite(engine: &mut Conversation) -> Result<(), Finding> {
    const RULE: &str = "go infinite must not end before stop, even if nothing is left to search";
    // In a position with a mate in one, an engine soon reaches its maximum depth and has nothing
    // left to search.
    let (_, setup, _) = MATES[0];
    engine.start_search(setup, "infinite");
    if engine.wait_within(SILENCE, is_best_move).is_some() {
        return Err(engine.finding("bestmove before stop", RULE));
    }
    engine.send("stop");
    engine.finish_search(setup, STOP).map(drop)
}

/// How long a search runs before it is stopped.
const SEARCH_TIME: Duration = Duration::from_millis(200);

fn stop(engine: &mut Conversation) -> Result<(), Finding> {
    const LATE: &str = "stop must be answered by bestmove at once: within --margin, by default \
        50 ms, in at least one of 5 attempts";
    for limits in ["infinite", "depth 99", "movetime 3600000", "wtime 3600000 btime 3600000"] {
        let Some(best) = time_of_stop(engine, limits)? else { continue };
        let came = format!("go {limits}: bestmove {} ms after stop", best.as_millis());
        if best > engine.margin {
            return Err(engine.finding(came, LATE));
        }
        engine.notes.push(came);
    }
    engine.send_together(&[&MIDDLE_GAME.command(), "go infinite", "stop"]);
    engine.finish_search(MIDDLE_GAME, STOP).map(drop)
}

/// Returns the time from `stop` to `bestmove`. If it exceeds the margin, repeats the search and
/// returns the shortest time. Returns `None` if the search ends before `stop`, because it reached
/// one of the engine's own limits.
fn time_of_stop(engine: &mut Conversation, limits: &str) -> Result<Option<Duration>, Finding> {
    let mut best = Duration::MAX;
    for _ in 0..ATTEMPTS {
        engine.start_search(MIDDLE_GAME, limits);
        if engine.wait_within(SEARCH_TIME, is_best_move).is_some() {
            return Ok(None);
        }
        engine.send("stop");
        best = best.min(engine.finish_search(MIDDLE_GAME, STOP)?.elapsed);
        if best <= engine.margin {
            break;
        }
    }
    Ok(Some(best))
}

fn idle_stop(engine: &mut Conversation) -> Result<(), Finding> {
    const RULE: &str = "stop and ponderhit without a search must be ignored";
    engine.send_all(&["stop", "ponderhit"]);
    let mut lines = engine.ready()?;
    engine.search(START, "depth 1")?;
    engine.send_all(&["stop", "ponderhit"]);
    lines.extend(engine.ready()?);
    if let Some(line) = lines.into_iter().find(|line| is_search_output(line)) {
        engine.report(line, RULE);
    }
    Ok(())
}

fn search_information(engine: &mut Conversation) -> Result<(), Finding> {
    const LINE: &str = "a search must send info with depth and pv before bestmove";
    let search = engine.search(MIDDLE_GAME, "depth 3")?;
    if search.parsed().all(|info| info.score.is_none()) {
        engine.report("no score", SCORE);
    }
    if search.parsed().all(|info| info.depth.is_none() || info.line.is_none()) {
        engine.report("no line with depth and pv", LINE);
    }
    Ok(())
}

fn mate_distances(engine: &mut Conversation) -> Result<(), Finding> {
    const RULE: &str = "a mate must be reported as score mate N: N is the number of moves, \
        negative if the engine is mated, and not less than possible";
    /// The smallest centipawn score that amounts to claiming a mate, because no material is worth
    /// that much. Smaller scores are allowed, because an engine may miss the mate due to pruning.
    const CLAIMS_MATE: i32 = 20_000;
    for (distance, setup, depth) in MATES {
        let search = engine.search(setup, &format!("depth {depth}"))?;
        let Some(score) = final_score(&search) else { continue };
        let is_right =
            |claimed: i32| claimed.signum() == distance.signum() && claimed.abs() >= distance.abs();
        match mate_distance(score) {
            Some(claimed) if is_right(claimed) => {}
            Some(claimed) => {
                engine.report(format!("mate {claimed}, but it is mate {distance}"), RULE);
            }
            None if score.abs() >= CLAIMS_MATE => {
                engine.report(format!("cp {score}, but it is mate {distance}"), RULE);
            }
            None => engine.notes.push(format!("mate {distance} is not found at depth {depth}")),
        }
    }
    Ok(())
}

/// Returns the last score of a search that is not a bound.
fn final_score(search: &Search) -> Option<i32> {
    let scores = search.parsed().filter_map(|info| info.score);
    scores.filter(|&(_, bound)| bound == Bound::Exact).last().map(|(score, _)| score)
}

fn ponder(engine: &mut Conversation) -> Result<(), Finding> {
    const EARLY: &str = "go ponder must not end before ponderhit or stop";
    const HIT: &str = "after ponderhit the engine must move within its time";
    let Some(name) = option_name(engine, "Ponder", |_| true) else {
        return engine.skip("the option Ponder");
    };
    engine.send(&format!("setoption name {name} value true"));
    for (command, rule) in [("ponderhit", HIT), ("stop", STOP)] {
        engine.start_search(MIDDLE_GAME, "ponder wtime 1000 btime 1000");
        if engine.wait_within(SILENCE, is_best_move).is_some() {
            return Err(engine.finding(format!("bestmove before {command}"), EARLY));
        }
        engine.send(command);
        let elapsed = engine.finish_search(MIDDLE_GAME, rule)?.elapsed.as_millis();
        engine.notes.push(format!("bestmove {elapsed} ms after {command}"));
    }
    Ok(())
}

fn multi_pv(engine: &mut Conversation) -> Result<(), Finding> {
    let has_lines = |option: &Declaration| matches!(option.kind, Kind::Spin { max: 3.., .. });
    let Some(name) = option_name(engine, "MultiPV", has_lines) else {
        return engine.skip("the option MultiPV with a limit of at least 3");
    };
    const CASE: &str = "names of options are not case-sensitive";
    let lower = name.to_lowercase();
    for (name, lines, setup, expected, special_rule) in [
        (&name, 3, MIDDLE_GAME, 3, None),
        (&lower, 2, MIDDLE_GAME, 2, Some(CASE)),
        (&name, 3, ONE_MOVE, 1, None),
        (&name, 1, MIDDLE_GAME, 1, None),
    ] {
        engine.send(&format!("setoption name {name} value {lines}"));
        let search = engine.search(setup, "depth 2")?;
        for (line, rule) in info::multi_pv_faults(&search.infos, expected) {
            engine.report(line, special_rule.unwrap_or(rule));
        }
    }
    Ok(())
}

fn white_space(engine: &mut Conversation) -> Result<(), Finding> {
    const RULE: &str = "white space between and after words has no meaning, and a line may end \
        with a carriage return";
    for line in [" isready", "isready  ", "isready\r", "\tisready"] {
        engine.send(line);
        if engine.wait_for(|reply| *reply == Reply::ReadyOk).is_none() {
            return Err(engine.missing("readyok", RULE));
        }
    }
    let setup = Setup { fen: "", moves: "e2e4" };
    engine.send_all(&["position\tstartpos  moves   e2e4 ", "go\tdepth  1"]);
    engine.finish_search(setup, RULE).map(drop)
}

fn unknown_commands(engine: &mut Conversation) -> Result<(), Finding> {
    let long = "x".repeat(5_000);
    for line in
        ["", "  ", "xyzzy 12", "bestmove e2e4", "\u{1}\u{7f}\u{e9}", "register later", &long]
    {
        engine.send(line);
        let lines = engine.ready_by(UNKNOWN)?;
        if let Some(line) = lines.into_iter().find(|line| is_search_output(line)) {
            engine.report(line, UNKNOWN);
        }
    }
    engine.search(START, "depth 1").map(drop)
}

const UNKNOWN: &str = "an unknown command must be ignored";

fn invalid_positions(engine: &mut Conversation) -> Result<(), Finding> {
    const RULE: &str = "an invalid position or move must not end or block the engine";
    for line in [
        "position",
        "position fen",
        "position fen 9/8/zz w - - 0 1",
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "position startpos moves e2e5",
        "position startpos moves xyz",
    ] {
        engine.send(line);
        engine.ready_by(RULE)?;
    }
    engine.search(MIDDLE_GAME, "depth 1").map(drop)
}
