//! Formats the findings of a repertoire check as text, as PGN and as flash cards.

use std::fmt::Write as _;

use super::findings::{
    AnswerRow, Findings, GapRow, PlaceRow, PositionRow, ScoredMove, TranspositionRow,
};
use crate::chess::position::Position;
use crate::cli::output::outln;
use crate::games::pgn::{PgnGame, PgnMove};
use crate::support::words::{counted, percent, visible};

pub(super) fn print(
    findings: &Findings,
    limit: usize,
    min_probability: f64,
) -> std::io::Result<()> {
    let Findings { shares, gaps, conflicts, redundant, dead_ends, losing, low_scores, .. } =
        findings;
    let chapters = match findings.chapters {
        0 => String::new(),
        chapters => format!("{}, ", counted(chapters as u64, "chapter")),
    };
    let positions = counted(findings.positions as u64, "position");
    outln!("Repertoire for {}: {chapters}{positions}", findings.side)?;
    outln!("Opponents play as in {}", visible(&findings.reference))?;
    let shares = shares.iter().map(|row| format!("{} after {} plies", share(row.share), row.plies));
    let shares: Vec<String> = shares.collect();
    outln!("Games still in the repertoire: {}", shares.join(", "))?;

    let least = share(min_probability);
    heading("Gaps", gaps.len(), &format!("in {least} of games or more, without an answer"))?;
    rows(gaps, limit, |gap| {
        let mut about = format!("{}, {}", gap.kind, counted(gap.games, "game"));
        gap.opening.iter().for_each(|name| about += &format!("; {name}"));
        gap.answer.iter().for_each(|answer| about += &format!("; {}", describe(answer)));
        if !gap.ways_back.is_empty() {
            about += &format!("; leads back: {}", gap.ways_back.join(", "));
        }
        outln!("{}\n         {about}", row(&gap.at))
    })?;

    heading("Conflicts", conflicts.len(), "positions with several moves")?;
    rows(conflicts, limit, |conflict| {
        let moves: Vec<String> = conflict
            .moves
            .iter()
            .map(|known| {
                let chapters: Vec<&str> =
                    known.places.iter().map(|place| place.chapter.as_str()).collect();
                let (from, more) = (chapters.first(), chapters.len().saturating_sub(1));
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                from.map_or(known.san.clone(), |from| {
                    format!("{} ({}{more})", known.san, visible(from))
                })
            })
            .collect();
        outln!("{}\n         {}", row(&conflict.at), moves.join(", "))
    })?;

    heading("Redundant lines", redundant.len(), "every move is in an earlier line")?;
    rows(redundant, limit, |line| {
        let moves = counted(line.moves as u64, "move");
        outln!(
            "  {}\n         {moves} from there on, as in {}",
            place(&line.at),
            place(&line.covered_by)
        )
    })?;

    heading("Dead ends", dead_ends.len(), "lines that end without an answer")?;
    rows(dead_ends, limit, |at| outln!("{}", row(at)))?;

    heading("Losing moves", losing.len(), "moves that lose more than the margin")?;
    rows(losing, limit, |lost| {
        let better = lost.best.as_ref().map_or_else(String::new, |best| format!(" against {best}"));
        let source =
            if lost.source == "value" { "by the values of the book" } else { "by a search" };
        outln!(
            "{}\n         {} loses {} centipawns{better}, {source}",
            row(&lost.at),
            lost.san,
            lost.loss
        )
    })?;

    heading("Low scores", low_scores.len(), "moves that score worse than the other moves")?;
    rows(low_scores, limit, |low| {
        let best =
            low.best.as_ref().map_or_else(String::new, |best| format!("; best: {}", scored(best)));
        let (most, usual) = (percent(low.at_most), percent(low.usual));
        outln!(
            "{}\n         {}, at most {most}; the other moves: {usual}{best}",
            row(&low.at),
            scored(&low.own)
        )
    })?;

    print_transpositions(&findings.transpositions, limit)
}

fn print_transpositions(found: &[TranspositionRow], limit: usize) -> std::io::Result<()> {
    heading("Transpositions", found.len(), "positions that chapters reach by different moves")?;
    rows(found, limit, |transposition| {
        outln!("{}", row(&transposition.at))?;
        rows(&transposition.arrivals, limit, |arrival| {
            let next = match &arrival.moves[..] {
                [] => "the chapter ends there".to_owned(),
                moves => format!("then {}", moves.join(", ")),
            };
            outln!("         {}; {next}", place(&arrival.at))
        })
    })
}

fn scored(of: &ScoredMove) -> String {
    format!("{} {} ({})", of.san, percent(of.score), counted(of.games, "game"))
}

fn heading(name: &str, number: usize, meaning: &str) -> std::io::Result<()> {
    if number == 0 { Ok(()) } else { outln!("\n{name} ({number}): {meaning}") }
}

fn rows<T>(
    rows: &[T],
    limit: usize,
    print: impl FnMut(&T) -> std::io::Result<()>,
) -> std::io::Result<()> {
    rows.iter().take(limit).try_for_each(print)?;
    match rows.len().saturating_sub(limit) {
        0 => Ok(()),
        more => outln!("  … and {more} more (--limit)"),
    }
}

fn row(at: &PositionRow) -> String {
    match &at.found {
        Some(line) if at.line.is_empty() => {
            let is_usual = line.start.key() == Position::start().key();
            let start = if is_usual { "start of the repertoire" } else { &at.fen };
            format!("{:>7}  {start}", share(at.probability))
        }
        Some(_) => format!("{:>7}  {}", share(at.probability), at.line),
        None => format!("{:>7}  {}", "not met", at.fen),
    }
}

fn place(place: &PlaceRow) -> String {
    let line = if place.line.is_empty() { "start of the chapter" } else { &place.line };
    format!("{}: {line}", visible(&place.chapter))
}

fn describe(answer: &AnswerRow) -> String {
    let AnswerRow { san, source, text, .. } = answer;
    match *source {
        "games" => format!("most played: {san} ({text})"),
        _ => format!("best: {san} ({text})"),
    }
}

fn share(share: f64) -> String {
    let percent = 100.0 * share;
    let decimals = if percent >= 9.95 { 0 } else { 1 + usize::from(percent < 0.95) };
    format!("{percent:.decimals$}%")
}

pub(super) fn study(findings: &Findings) -> String {
    let games = findings.gaps.iter().enumerate().filter_map(|(index, gap)| {
        let line = gap.at.found.as_ref()?;
        let mut game = PgnGame::new(line.start);
        let name = format!("Gap {}: {} of games", index + 1, share(gap.at.probability));
        game.set_tag("Event", name.clone());
        game.set_tag("ChapterName", name);
        gap.opening.iter().for_each(|name| game.set_tag("Opening", name.clone()));
        game.moves = line.moves.iter().map(|&mv| PgnMove::from(mv)).collect();
        let comment = game.moves.last_mut().map_or(&mut game.comment, |last| &mut last.comment);
        *comment = about(gap);
        if let Some(answer) = &gap.answer {
            let comment = describe(answer);
            game.moves.push(PgnMove { comment, ..PgnMove::from(answer.mv) });
        }
        Some(format!("{game}\n"))
    });
    games.collect()
}

fn about(gap: &GapRow) -> String {
    let mut about = format!("No answer: reached in {} of games", share(gap.at.probability));
    if !gap.ways_back.is_empty() {
        about += &format!("; {} leads back to the repertoire", gap.ways_back.join(", "));
    }
    about
}

/// Formats the gaps of a repertoire as flash cards for Anki. Each card contains the position, the
/// line that leads to it, and the proposed move.
pub(super) fn cards(findings: &Findings) -> String {
    let mut text = String::from(CARDS_HEAD);
    for gap in &findings.gaps {
        let answer = gap.answer.as_ref();
        let san = answer.map_or("", |answer| &answer.san);
        let about = answer.map_or_else(String::new, describe);
        let cells = [&gap.at.fen, &gap.at.line, san, &about].map(quoted);
        let _ = writeln!(text, "{},{:.6}", cells.join(","), gap.at.probability);
    }
    text
}

/// The header of the flash-card file, which defines the separator and the columns for Anki.
pub(super) const CARDS_HEAD: &str =
    "#separator:Comma\n#columns:FEN,Line,Answer,About,Probability\n";

fn quoted(cell: &str) -> String {
    format!("\"{}\"", cell.replace('"', "\"\""))
}
