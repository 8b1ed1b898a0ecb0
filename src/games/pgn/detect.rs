//! Detects the language of the piece letters in PGN text, such as German `S` for a knight.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use super::language::Language;
use super::scan::wide_words;
use super::text_reader::TextReader;
use super::tree::OpeningCache;
use super::visitor::{GamePly, Visitor};
use super::{GameEnd, GameStatus, Tags};
use crate::chess::position::Position;

/// If a game has at least this many plies that are legal with English letters, the language is
/// assumed to be English.
const ENOUGH: usize = 16;
const SAMPLE: usize = 48;

/// Returns the language of the piece letters in `text`.
///
/// The result is English unless all of these conditions hold: moves in the first games contain
/// piece letters that English does not use, more of these games can be read in another language
/// than in English, and no third language fits equally well but gives different moves.
pub(crate) fn language_of(text: &[u8]) -> Language {
    if !is_foreign(text) {
        return Language::ENGLISH;
    }
    let mut trials: Vec<(PlyCounter, Language)> =
        Language::all().map(|language| (count_playable_plies(text, language), language)).collect();
    let rank = |trial: &PlyCounter| Reverse((trial.whole, trial.plies));
    // The sort is stable, so English stays first if other languages fit equally well.
    trials.sort_by_key(|(trial, _)| rank(trial));
    let (best, language) = &trials[0];
    let doubtful =
        |(other, _): &(PlyCounter, _)| rank(other) == rank(best) && other.keys != best.keys;
    let more_are_whole = trials
        .iter()
        .all(|(trial, language)| *language != Language::ENGLISH || trial.whole < best.whole);
    if more_are_whole && !trials[1..].iter().any(doubtful) { *language } else { Language::ENGLISH }
}

fn is_foreign(text: &[u8]) -> bool {
    let mut reader = TextReader::new(text, 1, OpeningCache::default(), Language::ENGLISH);
    let mut trial = PlyCounter { limit: ENOUGH, ..PlyCounter::default() };
    for _ in 0..SAMPLE {
        let begin = reader.place();
        let Some(end) = reader.read_game(&mut trial) else { return false };
        if matches!(end.status, GameStatus::Broken(_) | GameStatus::Text) {
            let words = text[begin..reader.place()].split(|byte| !is_of_word(*byte));
            if words.into_iter().flat_map(wide_words).any(has_foreign_letter) {
                return true;
            }
        } else if end.plies >= ENOUGH {
            return false;
        }
    }
    false
}

/// Returns true if a byte can be part of a move: a letter of any alphabet, a digit, or a symbol
/// such as `+`.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b':' | b'=' | b'+' | b'#' | 0x80..)
}

/// Returns true if a word looks like a move with a piece letter that English does not use.
fn has_foreign_letter(word: &[u8]) -> bool {
    let is_move = |language: Language| {
        let english = language.translate(word);
        english.is_some_and(|english| crate::chess::position::is_loose_san(&english))
    };
    !is_move(Language::ENGLISH) && Language::all().any(is_move)
}

fn count_playable_plies(text: &[u8], language: Language) -> PlyCounter {
    let mut reader = TextReader::new(text, 1, OpeningCache::default(), language);
    let mut trial = PlyCounter { limit: usize::MAX, ..PlyCounter::default() };
    for _ in 0..SAMPLE {
        let Some(end) = reader.read_game(&mut trial) else { break };
        trial.whole += usize::from(end.status == GameStatus::Read && end.plies > 0);
    }
    trial
}

#[derive(Debug, Default)]
struct PlyCounter {
    limit: usize,
    whole: usize,
    plies: usize,
    keys: u64,
    game: usize,
}

impl Visitor for PlyCounter {
    fn wants_tag(&self, _: &[u8]) -> bool {
        false
    }

    fn begin(&mut self, _: &Tags, _: &Position) -> ControlFlow<()> {
        self.game = 0;
        ControlFlow::Continue(())
    }

    fn played(&mut self, ply: &GamePly) -> ControlFlow<()> {
        self.game += 1;
        self.plies += 1;
        self.keys = self.keys.rotate_left(1) ^ ply.key;
        if self.game < self.limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn end(&mut self, _: &GameEnd) {}
}
