//! Extracts the important moments of a game: the moves with a verdict or an important comment.

use super::judge::Verdict;
use super::notes::without_evaluation;
use crate::games::pgn::{PgnGame, PgnMove, Variation};

/// Phrases that make a comment important. A move with such a comment is listed even without a
/// verdict.
const SENTENCES: [&str; 4] =
    ["Misses mate in ", "Allows mate in ", "Leaves the book, ", "Returns to the book "];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moment {
    /// The move with its number and glyph, such as `12... Nxd4??`.
    pub played: String,
    pub words: String,
    pub better: Option<String>,
}

pub(crate) fn moments(game: &PgnGame) -> Vec<Moment> {
    let mut position = game.start;
    let mut moments = Vec::new();
    for played in &game.moves {
        let verdict = verdict(played);
        let words = without_evaluation(&played.comment.replace('\n', " "));
        if verdict.is_some() || is_commented(&words) {
            let sign = verdict.map_or("", Verdict::sign);
            moments.push(Moment {
                played: Variation::from_iter([played.mv]).movetext(&position) + sign,
                words,
                better: played
                    .variations
                    .first()
                    .filter(|_| verdict.is_some())
                    .map(|better| better.movetext(&position)),
            });
        }
        position = position.try_play(played.mv).unwrap_or(position);
    }
    moments
}

fn verdict(played: &PgnMove) -> Option<Verdict> {
    Verdict::ALL.into_iter().find(|verdict| played.nags.contains(&verdict.nag()))
}

pub(super) fn is_commented(comment: &str) -> bool {
    SENTENCES.iter().any(|sentence| comment.contains(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::pgn::read_games;

    #[test]
    fn moments_collect_symbols_comments_and_variations() {
        let text = "1. f3 $6 {[%eval -0.8] Inaccuracy: 52% before} (1. e4 e5) e5 {[%eval -0.7]} \
            2. g4 $4 {Allows mate\nin 1.} Qh4# $7 {Misses mate in 3.} 0-1\n";
        let (game, _) = read_games(text.as_bytes()).next().expect("a game").expect("read");
        let reported: Vec<_> = moments(&game)
            .into_iter()
            .map(|moment| (moment.played, moment.words, moment.better))
            .collect();
        let moment = |played: &str, words: &str, better: Option<&str>| {
            (played.to_owned(), words.to_owned(), better.map(str::to_owned))
        };
        let expected = [
            moment("1. f3?!", "Inaccuracy: 52% before", Some("1. e4 e5")),
            moment("2. g4??", "Allows mate in 1.", None),
            moment("2... Qh4#", "Misses mate in 3.", None),
        ];
        assert_eq!(reported, expected);
    }
}
