//! Parses the lines that engines print.

use std::time::Duration;

use super::{AUDIENCES, Extras, Feature, FeatureValue, Reply, Status, Thinking};
use crate::engine::search::Bound;

pub(super) fn reply(line: &str) -> Reply {
    let line = line.trim_end();
    if line.is_empty() {
        return Reply::BookEnd;
    }
    if let Some(text) = line.strip_prefix('#') {
        return Reply::Comment(text.trim_start().to_owned());
    }
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    by_first_word(word, rest.trim_start())
        .or_else(|| by_content(line))
        .unwrap_or_else(|| Reply::Other(line.to_owned()))
}

fn by_first_word(word: &str, rest: &str) -> Option<Reply> {
    let text = || rest.to_owned();
    Some(match word {
        "feature" => Reply::Features(features(rest)),
        "move" => Reply::Move(text()),
        "pong" => Reply::Pong(rest.parse().ok()?),
        "Hint:" => Reply::Hint(text()),
        "resign" => Reply::Resign,
        "stat01:" => Reply::Status(status(rest)?),
        "1-0" | "0-1" | "1/2-1/2" => {
            let comment = rest.trim_start_matches('{').trim_end_matches('}');
            Reply::Result { result: word.to_owned(), comment: comment.to_owned() }
        }
        "Error" => {
            let (kind, command) = remark(rest)?;
            Reply::Error { kind: kind.unwrap_or_default(), command }
        }
        _ => {
            let audience = AUDIENCES.iter().find(|row| row.1 == word)?.0;
            Reply::Tell { audience, text: text() }
        }
    })
}

fn by_content(line: &str) -> Option<Reply> {
    let lower = line.strip_prefix("Illegal move").or_else(|| line.strip_prefix("illegal move"));
    if let Some(rest) = lower {
        let (reason, text) = remark(rest.trim_start()).unwrap_or_default();
        return Some(Reply::IllegalMove { reason, text });
    }
    if line.contains("offer") && line.contains("draw") {
        return Some(Reply::OfferDraw);
    }
    if let Some(thinking) = thinking(line) {
        return Some(Reply::Thinking(thinking));
    }
    if let Some(text) = line.strip_prefix([' ', '\t']) {
        return Some(Reply::BookLine(text.to_owned()));
    }
    numbered_move(line)
}

/// Parses a move in gnuchessx's format, `NUMBER ... MOVE`.
fn numbered_move(line: &str) -> Option<Reply> {
    let mut words = line.split_whitespace();
    let number = words.next()?.trim_end_matches('.');
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let dots = words.next()? == "...";
    let mv = words.next()?;
    (digits && dots).then(|| Reply::Move(mv.to_owned()))
}

/// Parses `(REASON): TEXT`, the end of an error message. The reason and the colon are optional.
fn remark(rest: &str) -> Option<(Option<String>, String)> {
    let (reason, rest) = match rest.strip_prefix('(') {
        Some(inner) => inner.split_once(')').map(|(a, b)| (Some(a.to_owned()), b))?,
        None => (None, rest),
    };
    let text = rest.trim_start().trim_start_matches(':').trim_start();
    Some((reason, text.to_owned()))
}

/// Parses the `NAME=VALUE` pairs of a `feature` line. Values may be in quotation marks. Stops at
/// the first text that is not such a pair.
fn features(mut rest: &str) -> Vec<Feature> {
    let mut features = Vec::new();
    while let Some((name, value)) = rest.trim_start().split_once('=') {
        let quoted = value.strip_prefix('"');
        let (text, tail) = match quoted {
            Some(inner) => inner.split_once('"').unwrap_or((inner, "")),
            None => value.split_once(char::is_whitespace).unwrap_or((value, "")),
        };
        let value = match text.parse() {
            Ok(number) if quoted.is_none() => FeatureValue::Number(number),
            _ => FeatureValue::Text(text.to_owned()),
        };
        features.push(Feature { name: name.to_owned(), value });
        rest = tail;
    }
    features
}

fn status(rest: &str) -> Option<Status> {
    let mut words = rest.split_whitespace();
    Some(Status {
        elapsed: from_centiseconds(words.next()?.parse().ok()?),
        nodes: words.next()?.parse().ok()?,
        depth: words.next()?.parse().ok()?,
        moves_left: words.next()?.parse().ok()?,
        moves: words.next()?.parse().ok()?,
        current: words.next().map(str::to_owned),
    })
}

fn from_centiseconds(time: u64) -> Duration {
    Duration::from_millis(time.saturating_mul(10))
}

/// Parses a line of thinking output, `ply score time nodes [numbers TAB] line`. The time is in
/// centiseconds, or in seconds if the ply is followed by a mark such as `.`, as in GNU Chess.
fn thinking(line: &str) -> Option<Thinking> {
    let line = line.trim_start();
    let (ply, rest) = next_word(line)?;
    let bare = ply.trim_end_matches(['.', '+', '-', '&', '*']);
    let marked = bare.len() < ply.len();
    let depth = bare.parse().ok()?;
    let (score, rest) = next_word(rest)?;
    let (time, rest) = next_word(rest)?;
    let (nodes, rest) = next_word(rest).unwrap_or(("", ""));
    let time: u64 = time.parse().ok()?;
    let elapsed = if marked { Duration::from_secs(time) } else { from_centiseconds(time) };
    let (extras, text) = extras(rest);
    let (text, bound) = bound(text);
    Some(Thinking {
        depth,
        score: score.parse().ok()?,
        elapsed,
        nodes: nodes.parse().ok()?,
        extras,
        bound,
        line: text.to_owned(),
    })
}

fn next_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(' ');
    let end = text.find([' ', '\t']).unwrap_or(text.len());
    (end > 0).then(|| (&text[..end], &text[end..]))
}

/// Parses the numbers before a tab: the last is the number of tablebase hits, and the selective
/// depth and the speed may precede it. Also returns the rest of the line.
fn extras(rest: &str) -> (Option<Extras>, &str) {
    let plain = (None, rest.trim_start());
    let Some((numbers, text)) = rest.split_once('\t') else { return plain };
    let parsed: Result<Vec<u64>, _> = numbers.split_whitespace().map(str::parse).collect();
    let Ok(numbers) = parsed else { return plain };
    let Some((&tablebase_hits, others)) = numbers.split_last() else { return plain };
    let selective_depth = others.first().map_or(0, |&depth| depth.min(u64::from(u32::MAX)));
    let speed = others.get(1).copied().unwrap_or(0);
    let selective_depth = selective_depth as u32;
    (Some(Extras { selective_depth, speed, tablebase_hits }), text.trim_start())
}

fn bound(text: &str) -> (&str, Bound) {
    let text = text.trim_end();
    if let Some(text) = text.strip_suffix('?') {
        (text.trim_end(), Bound::Upper)
    } else if let Some(text) = text.strip_suffix('!') {
        (text.trim_end(), Bound::Lower)
    } else {
        (text, Bound::Exact)
    }
}
