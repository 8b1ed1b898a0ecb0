//! The questions, each with the rule it rests on.

use std::time::{Duration, Instant};

use super::talk::{PATIENCE, Talk};
use super::{Finding, Probe};
use crate::protocols::cecp::Reply;
use crate::tools::autoplay::process::Signal;

/// All questions, in the order in which they are asked.
pub(crate) const PROBES: &[Probe] = &[
    Probe { name: "features", run: features },
    Probe { name: "accepted and rejected", run: acknowledgements },
    Probe { name: "ping", run: ping },
    Probe { name: "ping before the turn", run: ping_before_the_turn },
    Probe { name: "ping while thinking", run: ping_while_thinking },
    Probe { name: "move now", run: move_now },
    Probe { name: "time for a move", run: move_time },
    Probe { name: "time on the clock", run: clock },
    Probe { name: "thinking output", run: thinking_output },
    Probe { name: "illegal move", run: illegal_move },
    Probe { name: "unknown command", run: unknown_command },
    Probe { name: "setboard with nonsense", run: setboard_garbage },
    Probe { name: "undo and remove", run: taking_back },
    Probe { name: "result of a finished game", run: result_claim },
    Probe { name: "interrupt signal", run: interrupt_signal },
    Probe { name: "termination signal", run: termination_signal },
    Probe { name: "end of input", run: end_of_input },
    Probe { name: "end of input while thinking", run: end_while_thinking },
    Probe { name: "quit", run: quit },
];

/// How long an engine may take to end.
const END_PATIENCE: Duration = Duration::from_secs(2);

/// Seconds given for a move that is to be cut short.
const LONG_THINK: &str = "st 30";

/// So much later than asked for may a move come, on a busy machine.
const LATENESS: Duration = Duration::from_millis(500);

fn is_move(reply: &Reply) -> bool {
    matches!(reply, Reply::Move(_))
}

fn is_complaint(reply: &Reply) -> bool {
    matches!(reply, Reply::Error { .. } | Reply::IllegalMove { .. })
}

fn features(talk: &mut Talk) -> Vec<Finding> {
    let mut findings = Vec::new();
    match talk.done_after {
        None => findings.push(talk.finding(
            "",
            "a feature line with done=1 ends the features; without it the GUI waits in vain",
        )),
        Some(time) if time > Duration::from_secs(1) && !talk.asked_for_time => {
            let came = format!("done=1 after {:.1} s, and no done=0 before", time.as_secs_f64());
            let rule = "features come at once; who needs more than a moment says done=0 first";
            findings.push(talk.finding(came, rule));
        }
        Some(_) => {}
    }
    if !talk.features.contains_key("myname") {
        findings.push(talk.finding("no myname", "the engine tells its name by feature myname"));
    }
    findings
}

fn acknowledgements(talk: &mut Talk) -> Vec<Finding> {
    talk.say_all(&["accepted setboard", "rejected nonesuch"]);
    let heard = talk.settle(1);
    match heard {
        Some(heard) if !heard.iter().any(is_complaint) => Vec::new(),
        _ => vec![talk.finding("", "accepted and rejected are never an error")],
    }
}

fn ping(talk: &mut Talk) -> Vec<Finding> {
    const RULE: &str = "ping N is answered by one pong N, once all before it is done";
    if !talk.has("ping", false) {
        let rule = "an engine should support ping: without it moves and commands can cross";
        return vec![talk.finding("feature ping is not 1", rule)];
    }
    talk.say("new");
    talk.say("ping 7");
    if talk.hear(PATIENCE, |reply| *reply == Reply::Pong(7)).is_none() {
        return vec![talk.finding("no pong 7", RULE)];
    }
    let more = talk.listen();
    match more.contains(&Reply::Pong(7)) {
        true => vec![talk.finding("pong 7 | pong 7", RULE)],
        false => Vec::new(),
    }
}

/// How often the question is asked: an engine may answer by chance in the right order.
const ROUNDS: u64 = 3;

fn ping_before_the_turn(talk: &mut Talk) -> Vec<Finding> {
    const RULE: &str = "a ping that comes before go is answered before the move: xboard drops a \
                        move that comes while it waits for the pong, and the game hangs";
    if !talk.has("ping", false) {
        return Vec::new();
    }
    for number in 1..=ROUNDS {
        // What `new` takes must not be over before the rest comes.
        talk.say_together(&["new", "st 1", &format!("ping {number}"), "go"]);
        match talk.hear(PATIENCE, |reply| is_move(reply) || *reply == Reply::Pong(number)) {
            Some(Reply::Pong(_)) => {}
            Some(_) => return vec![talk.finding(format!("a move before pong {number}"), RULE)],
            None => return vec![talk.finding(format!("no pong {number}"), RULE)],
        }
        if talk.hear(Duration::from_secs(10), is_move).is_none() {
            return vec![talk.finding("no move within 10 s", "go is answered by a move")];
        }
    }
    Vec::new()
}

fn ping_while_thinking(talk: &mut Talk) -> Vec<Finding> {
    const RULE: &str = "a ping that comes while the engine thinks is answered after its move";
    if !talk.has("ping", false) {
        return Vec::new();
    }
    talk.say_all(&["new", "st 1", "go", "ping 3"]);
    let is_either = |reply: &Reply| is_move(reply) || *reply == Reply::Pong(3);
    match talk.hear(PATIENCE, is_either) {
        Some(Reply::Move(_)) => {}
        Some(_) => return vec![talk.finding("pong 3 before the move", RULE)],
        None => return vec![talk.finding("", "go is answered by a move")],
    }
    match talk.hear(PATIENCE, |reply| *reply == Reply::Pong(3)) {
        Some(_) => Vec::new(),
        None => vec![talk.finding("a move, and no pong 3", RULE)],
    }
}

fn move_now(talk: &mut Talk) -> Vec<Finding> {
    talk.say_all(&["new", LONG_THINK, "go"]);
    if talk.hear(Duration::from_millis(300), is_move).is_some() {
        // A book move: there was nothing to hurry.
        return Vec::new();
    }
    talk.say("?");
    match talk.hear(PATIENCE, is_move) {
        Some(_) => Vec::new(),
        None => vec![talk.finding("no move within 3 s", "? makes the engine move at once")],
    }
}

/// Measures a move from `go`; `None` if none comes.
fn time_to_move(talk: &mut Talk, setup: &[&str]) -> Option<Duration> {
    talk.say_all(setup);
    let start = Instant::now();
    talk.say("go");
    talk.hear(Duration::from_secs(10), is_move).map(|_| start.elapsed())
}

fn move_time(talk: &mut Talk) -> Vec<Finding> {
    let used = time_to_move(talk, &["new", "easy", "st 1"]);
    timely(talk, used, Duration::from_secs(1), "st N: no move takes longer than N seconds")
}

fn clock(talk: &mut Talk) -> Vec<Finding> {
    let setup = ["new", "easy", "level 0 0:02 0", "time 200", "otim 200"];
    let used = time_to_move(talk, &setup);
    timely(talk, used, Duration::from_secs(2), "the move comes before the clock has run down")
}

fn timely(
    talk: &Talk,
    used: Option<Duration>,
    allowed: Duration,
    rule: &'static str,
) -> Vec<Finding> {
    match used {
        Some(used) if used <= allowed + LATENESS => Vec::new(),
        Some(used) => vec![talk.finding(format!("a move after {:.2} s", used.as_secs_f64()), rule)],
        None => vec![talk.finding("no move within 10 s", rule)],
    }
}

/// A quiet middle game that no book knows, so that the engine has to think.
const MIDDLE_GAME: &str =
    "setboard r2q1rk1/1b2bppp/p1n1pn2/1p1p4/3P1B2/P1NBPN1P/1P3PP1/R2Q1RK1 w - - 2 13";

fn thinking_output(talk: &mut Talk) -> Vec<Finding> {
    const RULE: &str =
        "after post, thinking comes as PLY SCORE TIME NODES PV, time in centiseconds";
    if !talk.has("setboard", false) {
        return Vec::new();
    }
    talk.say_all(&["new", "force", MIDDLE_GAME, "post", "st 1"]);
    let start = Instant::now();
    talk.say("go");
    let mut longest = None;
    let stop = |reply: &Reply| is_move(reply) || matches!(reply, Reply::Thinking(_));
    while let Some(Reply::Thinking(thinking)) = talk.hear(Duration::from_secs(10), stop) {
        longest = longest.max(Some(thinking.elapsed));
    }
    let real = start.elapsed();
    match longest {
        None => vec![talk.finding("no line of thinking before the move", RULE)],
        Some(told) if told > 2 * real + LATENESS => {
            let came =
                format!("a time of {:.2} s after {:.2} s", told.as_secs_f64(), real.as_secs_f64());
            vec![talk.finding(came, RULE)]
        }
        Some(_) => Vec::new(),
    }
}

fn illegal_move(talk: &mut Talk) -> Vec<Finding> {
    talk.say_all(&["new", "force"]);
    talk.make_move("e2e5");
    let heard = talk.settle(1);
    let refused =
        |reply: &Reply| matches!(reply, Reply::IllegalMove { text, .. } if text.contains("e2e5"));
    match heard {
        Some(heard) if heard.iter().any(refused) => Vec::new(),
        _ => vec![talk.finding("", "an illegal move is answered by \"Illegal move: MOVE\"")],
    }
}

fn unknown_command(talk: &mut Talk) -> Vec<Finding> {
    const RULE: &str = "what is no command and no move is answered by \"Error (TYPE): COMMAND\"";
    talk.say_all(&["new", "xyzzy 12"]);
    let Some(heard) = talk.settle(1) else {
        let came = match talk.is_alive() {
            true => "no answer any more".to_owned(),
            false => format!("the engine {}", talk.process.obituary()),
        };
        return vec![talk.finding(came, "an unknown command must not end the engine")];
    };
    let is_error = |reply: &Reply| matches!(reply, Reply::Error { .. });
    match heard.iter().any(is_error) {
        true => Vec::new(),
        false => vec![talk.finding(shown(&heard), RULE)],
    }
}

/// Replies as they came, for people.
fn shown(replies: &[Reply]) -> String {
    match replies {
        [] => "nothing".to_owned(),
        replies => replies.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | "),
    }
}

fn setboard_garbage(talk: &mut Talk) -> Vec<Finding> {
    const RULE: &str = "a position that cannot be set up is answered by \"tellusererror Illegal position\", and \
         the engine goes on";
    if !talk.has("setboard", false) {
        return Vec::new();
    }
    talk.say_all(&["new", "force", "setboard 9/8/zz w - -"]);
    match talk.settle(1) {
        None => vec![talk.finding("no answer any more", RULE)],
        Some(heard) => {
            let told = heard
                .iter()
                .any(|reply| matches!(reply, Reply::Tell { .. }) || is_complaint(reply));
            if told { Vec::new() } else { vec![talk.finding(shown(&heard), RULE)] }
        }
    }
}

fn taking_back(talk: &mut Talk) -> Vec<Finding> {
    const RULE: &str = "undo takes back one ply, remove two, and the moves can be made again";
    talk.say_all(&["new", "force"]);
    let mut findings = Vec::new();
    for (number, command, again) in [(1, "undo", "e7e5"), (2, "remove", "e2e4")] {
        talk.say_all(&["new", "force"]);
        talk.make_move("e2e4");
        talk.make_move("e7e5");
        talk.say(command);
        talk.make_move(again);
        match talk.settle(number) {
            Some(heard) if !heard.iter().any(is_complaint) => {}
            _ => findings.push(talk.finding("", RULE)),
        }
    }
    findings
}

fn result_claim(talk: &mut Talk) -> Vec<Finding> {
    const RULE: &str = "the engine tells the result once the game is over, as \"1-0 {White mates}\", and not before";
    if !talk.has("setboard", false) {
        return Vec::new();
    }
    talk.say_all(&["new", "force", "setboard 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", "sd 4", "go"]);
    let wanted = |reply: &Reply| is_move(reply) || matches!(reply, Reply::Result { .. });
    match talk.hear(Duration::from_secs(10), wanted) {
        Some(Reply::Move(_)) => {}
        Some(_) => return vec![talk.finding("a result before the move", RULE)],
        None => return vec![talk.finding("no move", "go is answered by a move")],
    }
    match talk.hear(PATIENCE, |reply| matches!(reply, Reply::Result { .. })) {
        Some(Reply::Result { result, .. }) if result == "1-0" => Vec::new(),
        Some(reply) => vec![talk.finding(reply.to_string(), RULE)],
        None => vec![talk.finding("no result after the mate", RULE)],
    }
}

fn interrupt_signal(talk: &mut Talk) -> Vec<Finding> {
    if talk.has("sigint", true) {
        // The engine wants the signal, and what it then does depends on its state.
        return Vec::new();
    }
    talk.say("new");
    talk.process.signal(Signal::INT);
    match talk.settle(1) {
        Some(_) => Vec::new(),
        None => {
            let rule = "sigint=0 keeps GUIs from sending it; a Ctrl-C in their terminal still \
                        reaches the engine, which should live on";
            vec![talk.finding("SIGINT was sent: no answer any more", rule)]
        }
    }
}

fn termination_signal(talk: &mut Talk) -> Vec<Finding> {
    talk.say("new");
    talk.process.signal(Signal::TERM);
    ends(talk, "SIGTERM was sent", "SIGTERM ends the engine")
}

fn end_of_input(talk: &mut Talk) -> Vec<Finding> {
    talk.say("new");
    talk.process.close_input();
    ends(talk, "the input was closed", "the end of input ends the engine, since the GUI is gone")
}

fn end_while_thinking(talk: &mut Talk) -> Vec<Finding> {
    talk.say_all(&["new", LONG_THINK, "go"]);
    talk.process.close_input();
    ends(talk, "the input was closed", "the end of input ends the engine in mid-search, too")
}

fn quit(talk: &mut Talk) -> Vec<Finding> {
    talk.say_all(&["new", "quit"]);
    ends(talk, "", "quit ends the engine at once")
}

/// Whether the engine ends in time, and of its own accord.
fn ends(talk: &mut Talk, what: &str, rule: &'static str) -> Vec<Finding> {
    /// Signals by which programs that break down end: SIGABRT and SIGSEGV.
    const BREAKDOWNS: [i32; 2] = [6, 11];
    let deadline = Instant::now() + END_PATIENCE;
    let Some(status) = talk.process.wait(deadline) else {
        let came = format!("{what}: still running after {:.0} s", END_PATIENCE.as_secs_f64());
        return vec![talk.finding(came.trim_start_matches(": "), rule)];
    };
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    match signal.filter(|signal| BREAKDOWNS.contains(signal)) {
        Some(_) => {
            let came = format!("{what}: the engine {}", talk.process.obituary());
            vec![talk.finding(came.trim_start_matches(": "), rule)]
        }
        None => Vec::new(),
    }
}
