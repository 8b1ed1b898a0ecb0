//! The tests of the xboard protocol, each with the rule that it checks.

use std::time::{Duration, Instant};

use super::super::endings::{
    NO_SIGNALS, end_of_input, end_while_thinking, quit, termination_signal,
};
use super::super::{Finding, MIDDLE_GAME, Probe};
use super::{Conversation, Features};
use crate::protocols::cecp::Reply;
use crate::support::platform::{HAS_SIGNALS, Signal};
use crate::tools::autoplay::check::conversation::Handshake;

/// All tests, in the order in which they run.
pub(in crate::tools::autoplay::check) const PROBES: &[Probe<Features>] = &[
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

/// How much a move may exceed its time limit, to allow for a busy machine.
const LATENESS: Duration = Duration::from_millis(500);

const NEEDS_PING: &str = "ping=1";
const NEEDS_SETBOARD: &str = "setboard=1";
const NO_MOVE: &str = "go must be answered by a move";

fn is_move(reply: &Reply) -> bool {
    matches!(reply, Reply::Move(_))
}

fn is_complaint(reply: &Reply) -> bool {
    matches!(reply, Reply::Error { .. } | Reply::IllegalMove { .. })
}

fn features(conversation: &mut Conversation) -> Result<(), Finding> {
    match conversation.handshake.done_after {
        None => {
            let rule = "a feature line with done=1 must end the features, or the GUI keeps waiting";
            conversation.report("", rule);
        }
        Some(time) if time > Duration::from_secs(1) && !conversation.handshake.asked_for_time => {
            let came = format!("done=1 after {:.1} s, and no done=0 before", time.as_secs_f64());
            let rule =
                "features must come at once; an engine that needs longer must send done=0 first";
            conversation.report(came, rule);
        }
        Some(_) => {}
    }
    if !conversation.handshake.declared.contains_key("myname") {
        conversation.report("no myname", "the engine must send its name as feature myname");
    }
    Ok(())
}

fn acknowledgements(conversation: &mut Conversation) -> Result<(), Finding> {
    conversation.send_all(&["accepted setboard", "rejected nonesuch"]);
    let received = conversation.sync(1);
    match received {
        Some(received) if !received.iter().any(is_complaint) => Ok(()),
        _ => Err(conversation.finding("", "accepted and rejected must not be reported as errors")),
    }
}

fn ping(conversation: &mut Conversation) -> Result<(), Finding> {
    const RULE: &str = "ping N must be answered by one pong N, after all earlier commands are done";
    if !conversation.has("ping", false) {
        let rule = "an engine should support ping, since moves and commands can cross without it";
        return Err(conversation.finding("feature ping is not 1", rule));
    }
    conversation.send("new");
    conversation.send("ping 7");
    if conversation.wait_for(|reply| *reply == Reply::Pong(7)).is_none() {
        return Err(conversation.finding("no pong 7", RULE));
    }
    let more = conversation.read_pending();
    match more.contains(&Reply::Pong(7)) {
        true => Err(conversation.finding("pong 7 | pong 7", RULE)),
        false => Ok(()),
    }
}

/// How many times to test that `pong` is sent before the move. An engine may get the order right by
/// chance.
const ROUNDS: u64 = 3;

fn ping_before_the_turn(conversation: &mut Conversation) -> Result<(), Finding> {
    const RULE: &str = "a ping before go must be answered before the move: xboard drops a move \
        that comes while it waits for the pong, and the game hangs";
    if !conversation.has("ping", false) {
        return conversation.skip(NEEDS_PING);
    }
    for number in 1..=ROUNDS {
        // Send all lines together, so that the engine is still processing `new` when the others
        // arrive.
        conversation.send_together(&["new", "st 1", &format!("ping {number}"), "go"]);
        match conversation.wait_for(|reply| is_move(reply) || *reply == Reply::Pong(number)) {
            Some(Reply::Pong(_)) => {}
            Some(_) => {
                return Err(conversation.finding(format!("a move before pong {number}"), RULE));
            }
            None => return Err(conversation.finding(format!("no pong {number}"), RULE)),
        }
        if conversation.wait_for(is_move).is_none() {
            return Err(conversation.missing("move", NO_MOVE));
        }
    }
    Ok(())
}

fn ping_while_thinking(conversation: &mut Conversation) -> Result<(), Finding> {
    const RULE: &str = "a ping while the engine thinks must be answered after its move";
    if !conversation.has("ping", false) {
        return conversation.skip(NEEDS_PING);
    }
    conversation.send_all(&["new", "st 1", "go", "ping 3"]);
    let is_either = |reply: &Reply| is_move(reply) || *reply == Reply::Pong(3);
    match conversation.wait_for(is_either) {
        Some(Reply::Move(_)) => {}
        Some(_) => return Err(conversation.finding("pong 3 before the move", RULE)),
        None => return Err(conversation.finding("", NO_MOVE)),
    }
    match conversation.wait_for(|reply| *reply == Reply::Pong(3)) {
        Some(_) => Ok(()),
        None => Err(conversation.finding("a move, and no pong 3", RULE)),
    }
}

fn move_now(conversation: &mut Conversation) -> Result<(), Finding> {
    conversation.send_all(Features::LONG_SEARCH);
    if conversation.wait_within(Duration::from_millis(300), is_move).is_some() {
        // The engine played a book move, so there is no search to interrupt.
        return Ok(());
    }
    conversation.send("?");
    match conversation.wait_for(is_move) {
        Some(_) => Ok(()),
        None => Err(conversation.missing("move", "? must make the engine move at once")),
    }
}

/// Measures the time from `go` to the engine's move. Returns `None` if no move arrives.
fn time_to_move(conversation: &mut Conversation, setup: &[&str]) -> Option<Duration> {
    conversation.send_all(setup);
    let start = Instant::now();
    conversation.send("go");
    conversation.wait_for(is_move).map(|_| start.elapsed())
}

fn move_time(conversation: &mut Conversation) -> Result<(), Finding> {
    let used = time_to_move(conversation, &["new", "easy", "st 1"]);
    timely(
        conversation,
        used,
        Duration::from_secs(1),
        "after st N no move may take longer than N seconds",
    )
}

fn clock(conversation: &mut Conversation) -> Result<(), Finding> {
    let setup = ["new", "easy", "level 0 0:02 0", "time 200", "otim 200"];
    let used = time_to_move(conversation, &setup);
    timely(
        conversation,
        used,
        Duration::from_secs(2),
        "the move must come before the clock has run out",
    )
}

fn timely(
    conversation: &mut Conversation,
    used: Option<Duration>,
    allowed: Duration,
    rule: &'static str,
) -> Result<(), Finding> {
    match used {
        Some(used) if used <= allowed + LATENESS => Ok(()),
        Some(used) => {
            Err(conversation.finding(format!("a move after {:.2} s", used.as_secs_f64()), rule))
        }
        None => Err(conversation.missing("move", rule)),
    }
}

fn thinking_output(conversation: &mut Conversation) -> Result<(), Finding> {
    const RULE: &str = "after post, thinking must be sent as PLY SCORE TIME NODES PV, with the \
        time in centiseconds";
    if !conversation.has("setboard", false) {
        return conversation.skip(NEEDS_SETBOARD);
    }
    conversation.send_all(&["new", "force", &format!("setboard {MIDDLE_GAME}"), "post", "st 1"]);
    let start = Instant::now();
    conversation.send("go");
    let mut longest = None;
    let stop = |reply: &Reply| is_move(reply) || matches!(reply, Reply::Thinking(_));
    while let Some(Reply::Thinking(thinking)) = conversation.wait_for(stop) {
        longest = longest.max(Some(thinking.elapsed));
    }
    let real = start.elapsed();
    match longest {
        None => Err(conversation.finding("no line of thinking before the move", RULE)),
        Some(reported) if reported > 2 * real + LATENESS => {
            let came = format!(
                "a time of {:.2} s after {:.2} s",
                reported.as_secs_f64(),
                real.as_secs_f64()
            );
            Err(conversation.finding(came, RULE))
        }
        Some(_) => Ok(()),
    }
}

fn illegal_move(conversation: &mut Conversation) -> Result<(), Finding> {
    conversation.send_all(&["new", "force"]);
    conversation.make_move("e2e5");
    let received = conversation.sync(1);
    let refused =
        |reply: &Reply| matches!(reply, Reply::IllegalMove { text, .. } if text.contains("e2e5"));
    match received {
        Some(received) if received.iter().any(refused) => Ok(()),
        _ => {
            Err(conversation
                .finding("", "an illegal move must be answered by \"Illegal move: MOVE\""))
        }
    }
}

fn unknown_command(conversation: &mut Conversation) -> Result<(), Finding> {
    const RULE: &str =
        "a line that is neither a command nor a move must be answered by \"Error (TYPE): COMMAND\"";
    conversation.send_all(&["new", "xyzzy 12"]);
    let Some(received) = conversation.sync(1) else {
        let came = match conversation.is_alive() {
            true => "no more answers".to_owned(),
            false => format!("the engine {}", conversation.process.exit_reason()),
        };
        return Err(conversation.finding(came, "an unknown command must not end the engine"));
    };
    let is_error = |reply: &Reply| matches!(reply, Reply::Error { .. });
    match received.iter().any(is_error) {
        true => Ok(()),
        false => Err(conversation.finding(shown(&received), RULE)),
    }
}

fn shown(replies: &[Reply]) -> String {
    match replies {
        [] => "nothing".to_owned(),
        replies => replies.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | "),
    }
}

fn setboard_garbage(conversation: &mut Conversation) -> Result<(), Finding> {
    const RULE: &str = "an illegal position must be answered by \"tellusererror Illegal \
        position\", and the engine must keep running";
    if !conversation.has("setboard", false) {
        return conversation.skip(NEEDS_SETBOARD);
    }
    conversation.send_all(&["new", "force", "setboard 9/8/zz w - -"]);
    match conversation.sync(1) {
        None => Err(conversation.finding("no more answers", RULE)),
        Some(received) => {
            let reported = received
                .iter()
                .any(|reply| matches!(reply, Reply::Tell { .. }) || is_complaint(reply));
            if reported { Ok(()) } else { Err(conversation.finding(shown(&received), RULE)) }
        }
    }
}

fn taking_back(conversation: &mut Conversation) -> Result<(), Finding> {
    const RULE: &str =
        "undo must take back one ply, remove two, and the moves must be playable again";
    conversation.send_all(&["new", "force"]);
    for (number, command, again) in [(1, "undo", "e7e5"), (2, "remove", "e2e4")] {
        conversation.send_all(&["new", "force"]);
        conversation.make_move("e2e4");
        conversation.make_move("e7e5");
        conversation.send(command);
        conversation.make_move(again);
        match conversation.sync(number) {
            Some(received) if !received.iter().any(is_complaint) => {}
            _ => conversation.report("", RULE),
        }
    }
    Ok(())
}

fn result_claim(conversation: &mut Conversation) -> Result<(), Finding> {
    const RULE: &str = "the engine must send the result when the game is over, as \"1-0 {White \
        mates}\", and not before";
    if !conversation.has("setboard", false) {
        return conversation.skip(NEEDS_SETBOARD);
    }
    conversation.send_all(&[
        "new",
        "force",
        "setboard 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1",
        "sd 4",
        "go",
    ]);
    let wanted = |reply: &Reply| is_move(reply) || matches!(reply, Reply::Result { .. });
    match conversation.wait_for(wanted) {
        Some(Reply::Move(_)) => {}
        Some(_) => return Err(conversation.finding("a result before the move", RULE)),
        None => return Err(conversation.missing("move", NO_MOVE)),
    }
    // Wait for the answer to a ping. The engine must send the result before it.
    let received = conversation.sync(1).unwrap_or_default();
    match received.into_iter().find(|reply| matches!(reply, Reply::Result { .. })) {
        Some(Reply::Result { result, .. }) if result == "1-0" => Ok(()),
        Some(reply) => Err(conversation.finding(reply.to_string(), RULE)),
        None => Err(conversation.finding("no result after the mate", RULE)),
    }
}

fn interrupt_signal(conversation: &mut Conversation) -> Result<(), Finding> {
    if !HAS_SIGNALS {
        return conversation.skip(NO_SIGNALS);
    }
    if conversation.has("sigint", true) {
        // Without `sigint=0`, the engine may be sent SIGINT, and its correct reaction depends on
        // what it is doing. This check therefore cannot be run.
        return conversation.skip("sigint=0");
    }
    conversation.send("new");
    conversation.process.signal(Signal::Interrupt);
    match conversation.sync(1) {
        Some(_) => Ok(()),
        None => {
            let rule = "with sigint=0 GUIs do not send SIGINT, but a Ctrl-C in their terminal \
                still reaches the engine, which should keep running";
            Err(conversation.finding("SIGINT was sent: no more answers", rule))
        }
    }
}
