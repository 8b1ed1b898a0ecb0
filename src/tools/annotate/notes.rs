//! Writes the results of a study into a game as comments, glyphs and variations.

use super::judge::{Judgement, Limits, Player, Verdict, judge};
use super::study::Study;
use crate::chess::notation;
use crate::chess::position::{Color, Position};
use crate::chess::score::{Score, mate_distance};
use crate::games::book::{Book, BookMove, Names, names_player};
use crate::games::pgn::{PgnGame, PgnMove};
use crate::games::repertoire::{Event, EventKind, GapKind, Repertoire, follow_book};
use crate::support::words::{counted, grouped};

/// The prefix by which Tabia is recognised among a game's annotators. Its own annotations can be
/// replaced.
const ANNOTATOR: &str = "Tabia ";
const ANNOTATORS: &str = "; ";
/// The first words of Tabia's sentences about moves, used to recognise them when an annotated game
/// is annotated again.
const SIGNS: [&str; 14] = [
    "Inaccuracy: ",
    "Mistake: ",
    "Blunder: ",
    "Misses mate in ",
    "Allows mate in ",
    "Only move: the next best is worth ",
    "Leaves the book, wh",
    RETURNS,
    "Deviates from the repertoire, which has ",
    "The opponent leaves the repertoire, which has ",
    REPERTOIRE_ENDS,
    REPERTOIRE_HAS_NO_MOVE,
    RETURNS_TO_REPERTOIRE,
    REACHES_REPERTOIRE,
];
const RETURNS: &str = "Returns to the book by transposition.";
const REPERTOIRE_ENDS: &str = "The repertoire ends before this move.";
const REPERTOIRE_HAS_NO_MOVE: &str = "The repertoire has no move here.";
const RETURNS_TO_REPERTOIRE: &str = "Returns to the repertoire by transposition.";
const REACHES_REPERTOIRE: &str = "Reaches the repertoire.";
/// If Tabia's comment contains one of these phrases, Tabia added a better line as the move's first
/// variation.
const BETTER: [&str; 2] = [" was better.", "Misses mate in "];
/// The beginning of Tabia's comment on the whole game.
pub(super) const SUMMARY: &str = "White: ";
/// The text between the summaries of the two players in Tabia's comment on the whole game.
pub(super) const ENDS_SUMMARY: &str = ". Black: ";
/// The maximum length of a better line shown as a variation, in plies. Lines that end in mate have
/// no limit.
const LINE: usize = 10;
/// The maximum number of book moves listed in the comment where a game leaves the book. The most
/// frequent moves come first.
const BOOK_MOVES: usize = 3;
const ONLY_MOVE: u8 = 7;
/// The numeric annotation glyphs (NAGs) that assess a move, such as `!` and `??`.
const JUDGEMENTS: std::ops::RangeInclusive<u8> = 1..=7;

pub(crate) struct Background<'a> {
    pub book: &'a Book,
    pub names: &'a Names,
    /// The repertoire with which the games are compared.
    pub repertoire: Option<&'a Repertoire>,
    /// Parts of the names of the repertoire's player, in lower case. Games in which the player has
    /// the other side are not compared with the repertoire. If empty, all games are compared.
    pub players: &'a [String],
    pub limits: Limits,
    /// A description of the search effort, for the `Annotator` tag.
    pub effort: String,
}

pub(crate) struct Annotated {
    pub pgn: PgnGame,
    pub players: [Player; 2],
}

/// Writes the results of a study into its game. Replaces all evaluations and verdicts, and
/// everything written by an earlier run of Tabia. All other comments, variations and glyphs are
/// kept.
pub(crate) fn annotate(game: &PgnGame, study: &Study, background: &Background<'_>) -> Annotated {
    let mut pgn = game.clone();
    clear(&mut pgn);
    let judgements = judge(study, &background.limits);
    let mut events = book_events(study, background.book);
    events.extend(repertoire_events(game, study, background));
    for (ply, judged) in judgements.iter().enumerate() {
        let of_move = events.iter().filter(|(at, _)| *at == ply).map(|(_, text)| text.as_str());
        let of_move = of_move.collect::<Vec<&str>>().join(" ");
        note(&mut pgn.moves[ply], study, ply, judged, &of_move);
    }
    let players = [Color::White, Color::Black].map(|side| Player::of(side, &judgements));
    let summary =
        format!("{SUMMARY}{}{ENDS_SUMMARY}{}.", describe(&players[0]), describe(&players[1]));
    pgn.comment = joined([pgn.comment.as_str(), &summary]);
    if let Some(opening) = background.names.of_game(&study.game) {
        for (tag, value) in [("ECO", &opening.eco), ("Opening", &opening.name)] {
            if pgn.tag(tag).is_none_or(|old| old.is_empty() || old == "?") {
                pgn.set_tag(tag, value);
            }
        }
    }
    let version = env!("CARGO_PKG_VERSION");
    let mut names: Vec<String> =
        annotators(&pgn).filter(|name| !is_ours(name)).map(str::to_owned).collect();
    names.push(format!("{ANNOTATOR}{version}, {}", background.effort));
    pgn.set_tag("Annotator", names.join(ANNOTATORS));
    Annotated { pgn, players }
}

fn clear(pgn: &mut PgnGame) {
    // Drop the movetext from the first error onwards, so that the annotated game ends there.
    pgn.unread = None;
    let ours = annotators(pgn).any(is_ours);
    if ours {
        pgn.comment = before_ours(&unwrapped(&pgn.comment), &[SUMMARY]).to_owned();
    }
    for mv in &mut pgn.moves {
        mv.nags.retain(|nag| !JUDGEMENTS.contains(nag));
        if ours {
            mv.comment = unwrapped(&mv.comment);
        }
        let text = if ours { before_ours(&mv.comment, &SIGNS) } else { &mv.comment };
        let comment_text = &mv.comment[text.len()..];
        if BETTER.iter().any(|sign| comment_text.contains(sign)) && !mv.variations.is_empty() {
            mv.variations.remove(0);
        }
        mv.comment = without_evaluation(text);
    }
}

/// Replaces line breaks in a comment with spaces, because a sentence may be wrapped across lines.
fn unwrapped(comment: &str) -> String {
    comment.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn annotators(pgn: &PgnGame) -> impl Iterator<Item = &str> {
    let all = pgn.tag("Annotator").unwrap_or_default().split(ANNOTATORS);
    all.filter(|name| !name.is_empty() && *name != "?")
}

fn is_ours(annotator: &str) -> bool {
    annotator.starts_with(ANNOTATOR)
}

/// Returns the part of a comment before Tabia's first sentence. Tabia's sentences always come last.
fn before_ours<'a>(text: &'a str, signs: &[&str]) -> &'a str {
    let is_begin = |at: usize| at == 0 || text.as_bytes()[at - 1].is_ascii_whitespace();
    let places = signs.iter().flat_map(|sign| text.match_indices(sign).map(|(at, _)| at));
    let first = places.filter(|&at| is_begin(at)).min();
    text[..first.unwrap_or(text.len())].trim_end()
}

/// Removes `[%eval …]` from a comment, and moves other commands such as `[%clk …]` to its
/// beginning.
pub(super) fn without_evaluation(comment: &str) -> String {
    let (mut commands, mut text) = (Vec::new(), String::new());
    let mut left = comment;
    while let Some((before, command)) = left.split_once("[%") {
        let (command, after) = command.split_once(']').unwrap_or((command, ""));
        text.push_str(before);
        commands.extend((!command.starts_with("eval")).then(|| format!("[%{command}]")));
        left = after;
    }
    text.push_str(left);
    joined([&commands.join(" "), text.trim()])
}

fn joined<const N: usize>(texts: [&str; N]) -> String {
    let texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    texts.join(" ")
}

fn note(mv: &mut PgnMove, study: &Study, ply: usize, judged: &Judgement, events: &str) {
    mv.nags.extend(judged.verdict.map(Verdict::nag));
    mv.nags.extend(judged.only.then_some(ONLY_MOVE));
    let position = study.position(ply);
    let is_over = study.found[ply + 1].is_none();
    let eval = if is_over { String::new() } else { format!("[%eval {}]", eval(judged.white())) };
    let verdict = comment_text(judged, position, study.second[ply]);
    mv.comment = joined([&eval, &mv.comment, &verdict, events]);
    let better = study.found[ply].as_ref().filter(|found| found.line.first() != Some(&judged.mv));
    if let Some(found) = better
        && (judged.verdict.is_some() || judged.missed_mate.is_some())
    {
        let whole = mate_distance(found.score).is_some();
        let plies = if whole { found.line.len() } else { found.line.len().min(LINE) };
        mv.variations.insert(0, found.line[..plies].iter().copied().collect());
    }
}

/// Formats a score from White's point of view for `[%eval]`: in pawns, or as `#` followed by the
/// number of moves to mate.
fn eval(score: Score) -> String {
    match mate_distance(score) {
        Some(moves) => format!("#{moves}"),
        None => format!("{:.2}", f64::from(score) / 100.0),
    }
}

fn comment_text(judged: &Judgement, position: &Position, second: Option<Score>) -> String {
    let mut words = Vec::new();
    if let Some(verdict) = judged.verdict {
        let percent = |score| format!("{:.0}%", 100.0 * super::expected(score));
        let better = judged.best.filter(|&best| best != judged.mv);
        let better =
            better.map_or_else(String::new, |best| format!("; {} was better", position.san(best)));
        words.push(format!(
            "{}: {} before, {} now{better}.",
            verdict.name(),
            percent(judged.before),
            percent(judged.after)
        ));
    }
    words.extend(judged.missed_mate.map(|moves| format!("Misses mate in {moves}.")));
    words.extend(judged.allowed_mate.map(|moves| format!("Allows mate in {moves}.")));
    if let Some(second) = second.filter(|_| judged.only) {
        words.push(format!("Only move: the next best is worth {}.", notation::score(second)));
    }
    words.join(" ")
}

/// Formats a book move with the results of the games that reached the position after it. If some of
/// these games reached it via a different move, also shows how many games played the book move.
fn describe_move(book: &Book, position: &Position, book_move: &BookMove) -> String {
    let BookMove { mv, played, reached } = book_move;
    let results = reached.describe(position.side_to_move());
    let described = match played.games() {
        weight if book.holds_weights() => format!("weight {}", grouped(weight)),
        games if games == reached.games() => results,
        games => format!("played in {}; reached: {results}", counted(games, "game")),
    };
    format!("{} ({described})", position.san(*mv))
}

fn book_events(study: &Study, book: &Book) -> Vec<(usize, String)> {
    let followed = follow_book(book, study.position(0), study.game.moves());
    let event = |event: &Event| match event.kind {
        EventKind::Entry => None,
        EventKind::Return => Some((event.ply, RETURNS.to_owned())),
        EventKind::Deviation | EventKind::Gap(_) => {
            Some((event.ply, departure(&event.position, book)))
        }
    };
    followed.events.iter().filter_map(event).collect()
}

/// Compares the game with the repertoire, like `tabia repertoire report`.
fn repertoire_events(
    game: &PgnGame,
    study: &Study,
    background: &Background<'_>,
) -> Vec<(usize, String)> {
    let Some(repertoire) = background.repertoire else { return Vec::new() };
    let player = game.tag(if repertoire.side == Color::White { "White" } else { "Black" });
    let players = background.players;
    if !players.is_empty() && !names_player(players, player.unwrap_or_default()) {
        return Vec::new();
    }
    let followed = repertoire.follow(study.position(0), study.game.moves());
    let event = |event: &Event| (event.ply, repertoire_event(event, repertoire, background.book));
    followed.events.iter().map(event).collect()
}

fn repertoire_event(event: &Event, repertoire: &Repertoire, book: &Book) -> String {
    let position = &event.position;
    let in_book = book.moves(position);
    let known = repertoire.node(position).into_iter().flat_map(|node| &node.moves);
    let describe = |mv| match in_book.iter().find(|found| found.mv == mv) {
        Some(found) if !found.played.is_empty() => describe_move(book, position, found),
        _ => position.san(mv),
    };
    let known = known.map(|known| describe(known.mv)).collect::<Vec<String>>().join(" or ");
    match event.kind {
        EventKind::Deviation => format!("Deviates from the repertoire, which has {known}."),
        EventKind::Gap(GapKind::Reply) => {
            format!("The opponent leaves the repertoire, which has {known}.")
        }
        EventKind::Gap(GapKind::End) => REPERTOIRE_ENDS.to_owned(),
        EventKind::Gap(GapKind::DeadEnd) => REPERTOIRE_HAS_NO_MOVE.to_owned(),
        EventKind::Return => RETURNS_TO_REPERTOIRE.to_owned(),
        EventKind::Entry => REACHES_REPERTOIRE.to_owned(),
    }
}

fn departure(position: &Position, book: &Book) -> String {
    let mut moves = book.moves(position);
    moves.retain(|known| !known.played.is_empty());
    moves.sort_by_key(|known| std::cmp::Reverse(known.played.games()));
    let reported: Vec<String> =
        moves.iter().take(BOOK_MOVES).map(|known| describe_move(book, position, known)).collect();
    let games = if book.counts_self_play(position) { "self-play games" } else { "games" };
    let what = match reported.is_empty() {
        true => "which ends here".to_owned(),
        false => format!("whose {games} continued with {}", reported.join(", ")),
    };
    format!("Leaves the book, {what}.")
}

pub(crate) fn describe(player: &Player) -> String {
    let Player { called: [inaccuracies, mistakes, blunders], accuracy, average_loss } = player;
    let (Some(accuracy), Some(loss)) = (accuracy, average_loss) else {
        return "no moves".to_owned();
    };
    let plural = |count: usize, one: &str, many: &str| {
        format!("{count} {}", if count == 1 { one } else { many })
    };
    format!(
        "{}, {}, {}, accuracy {accuracy:.0}%, {loss:.0} centipawns lost per move",
        plural(*inaccuracies, "inaccuracy", "inaccuracies"),
        plural(*mistakes, "mistake", "mistakes"),
        plural(*blunders, "blunder", "blunders"),
    )
}
