//! The messages that a training session prints.

use super::findings::text as line_text;
use crate::chess::notation;
use crate::chess::position::{Move, Piece, Position};
use crate::games::repertoire::{
    GapKind, Judgement, MoveFacts, Progress, Tally, Time, Training, Verdict,
};
use crate::support::words::{counted, percent, visible};

// In seconds.
const MINUTE: Time = 60;
const HOUR: Time = 3600;
const DAY: Time = 86_400;
/// The maximum length of the line that a search expects after a move, in plies.
const LINE: usize = 6;

pub(super) fn introduction(training: &Training, now: Time) -> String {
    let side = notation::color(training.repertoire().side);
    let name = visible(training.book().name());
    let Progress { new, due, learnt, .. } = training.progress(now);
    format!(
        "Training for {side}: {} to repeat, {new} new, {learnt} learnt\nOpponents play as in {name}",
        counted(due as u64, "position")
    )
}

/// Returns a message saying that no position is due. If the time until the next one is known, the
/// message includes it.
pub(super) fn progress(training: &Training, now: Time) -> String {
    match training.progress(now).next_due {
        Some(time) => format!("Nothing is due. The next position is due in {}.", span(time - now)),
        None => "Nothing is due.".to_owned(),
    }
}

pub(super) fn summary(training: &Training, now: Time) -> String {
    let Tally { answers, right, wrong } = training.tally();
    let Progress { new, due, learnt, .. } = training.progress(now);
    let answers = counted(answers as u64, "answer");
    let mut text = format!(
        "{answers}: {right} right, {wrong} wrong. {due} to repeat, {new} new, {learnt} learnt."
    );
    let additions = training.additions();
    if !additions.is_empty() {
        text += "\nGood answers that your repertoire does not have; add these lines to it:";
        for game in additions {
            let moves: Vec<Move> = game.moves.iter().map(|played| played.mv).collect();
            text += &format!("\n  {}", line_text(&game.start, &moves));
        }
    }
    text
}

pub(super) fn judged(
    training: &Training,
    position: &Position,
    gap: Option<GapKind>,
    judgement: &Judgement,
) -> String {
    let Judgement { verdict, played, expected, .. } = judgement;
    let san = position.san(played.mv);
    let names: Vec<String> = expected.iter().map(|facts| position.san(facts.mv)).collect();
    let names = names.join(" or ");
    let mut lines = vec![match verdict {
        Verdict::Right => format!("Right: {san}."),
        Verdict::Transposes => {
            format!("{san} leads back to your repertoire, which has {names} here.")
        }
        Verdict::Wrong => format!("Wrong: your repertoire has {names}, not {san}."),
        Verdict::Good => format!("{san} is a good move. The summary shows how to add it."),
        Verdict::Weak if names.is_empty() => format!("{san} is not good."),
        Verdict::Weak => format!("{san} is not good. Better: {names}."),
        Verdict::Unknown => {
            format!("{san} is not in enough games to judge it; --nodes N searches such moves.")
        }
    }];
    if let Some(loss) = judgement.loss.filter(|&loss| loss > 0) {
        lines[0] += &format!(" It loses {loss} centipawns against the best move.");
    }
    let others =
        expected.iter().filter(|facts| facts.mv != played.mv && *verdict != Verdict::Right);
    lines.extend([played].into_iter().chain(others).map(|facts| describe(position, facts)));
    if gap.is_none() && *verdict == Verdict::Right {
        lines.extend(notes(training, &position.play(played.mv)));
    }
    if let Some(reply) = judgement.reply {
        let after = position.play(played.mv);
        lines.push(format!("Your opponent replies {}.", after.san(reply)));
    }
    lines.join("\n")
}

fn notes(training: &Training, position: &Position) -> Vec<String> {
    let comments = training.repertoire().node(position).map_or(&[][..], |node| &node.comments);
    let texts = comments.iter().map(|comment| without_commands(comment));
    texts.filter(|text| !text.is_empty()).map(|text| format!("  Your note: {text}")).collect()
}

/// Removes embedded commands such as `[%cal Gc4d5]` from a comment.
fn without_commands(comment: &str) -> String {
    let mut parts = comment.split("[%");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once(']').map_or("", |(_, text)| text));
    let text = rest.fold(first, |text, part| text + part);
    visible(text.split_whitespace().collect::<Vec<_>>().join(" ").as_str()).into_owned()
}

fn describe(position: &Position, facts: &MoveFacts) -> String {
    let mut text = match facts.games {
        0 => format!("  {}: no games", position.san(facts.mv)),
        games => {
            let games = counted(games, "game");
            format!("  {}: {} in {games}", position.san(facts.mv), percent(facts.score))
        }
    };
    if let Some(value) = facts.value {
        text += &format!(", value {}", notation::score(value));
    }
    if !facts.line.is_empty() {
        let line = &facts.line[..facts.line.len().min(LINE)];
        text += &format!("; best is {}", line_text(&position.play(facts.mv), line));
    }
    if let Some(reply) = &facts.reply {
        let san = position.play(facts.mv).san(reply.mv);
        text += &match reply.is_best {
            true => format!("; the best reply is {san} ({})", percent(reply.share)),
            false => format!("; the most common reply is {san} ({})", percent(reply.share)),
        };
    }
    text
}

pub(super) fn piece_name(piece: Piece) -> &'static str {
    match piece {
        Piece::Pawn => "pawn",
        Piece::Knight => "knight",
        Piece::Bishop => "bishop",
        Piece::Rook => "rook",
        Piece::Queen => "queen",
        Piece::King => "king",
    }
}

fn span(seconds: Time) -> String {
    match seconds {
        DAY.. => counted(seconds / DAY, "day"),
        HOUR.. => counted(seconds / HOUR, "hour"),
        _ => counted(seconds.div_ceil(MINUTE), "minute"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_shown_without_arrows() {
        for (comment, text) in [
            ("[%csl Rb4] Expect a pin", "Expect a pin"),
            ("A gambit [%cal Gc4d5,Rd5d4]", "A gambit"),
            ("[%cal Gc4d5]", ""),
            ("a [%x] b [%y", "a b"),
            ("a\u{1b}[2J", "a\\u{1b}[2J"),
        ] {
            assert_eq!(without_commands(comment), text);
        }
    }

    #[test]
    fn spans_have_one_unit() {
        for (seconds, text) in
            [(1, "1 minute"), (3599, "60 minutes"), (3600, "1 hour"), (200_000, "2 days")]
        {
            assert_eq!(span(seconds), text);
        }
    }
}
