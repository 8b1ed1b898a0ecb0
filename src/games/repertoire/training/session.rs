//! A training session: chooses the next question and records the answers.

use std::collections::VecDeque;
use std::path::Path;

use super::fsrs::{Grade, Memory, Time};
use super::journal::{Answer, Verdict, open};
use super::judge::{MoveFacts, facts, good_moves, prepared, rule};
use crate::chess::position::{KeyMap, Move, Piece, Position};
use crate::chess::score::Score;
use crate::games::book::Book;
use crate::games::pgn::{PgnGame, PgnMove, Variation};
use crate::games::repertoire::{FORECAST_PLIES, GapKind, Line, Repertoire, Search};
use crate::support::files::{Journal, JournalError};
use crate::support::random::Random;

/// The probability assigned to repertoire positions that do not occur in the reference book. It is
/// tiny, so that these positions are asked last.
const UNREACHED: f64 = 1e-6;
/// How many of the latest questions are not repeated unless no other position is due. Chosen by
/// hand.
const RECENT: usize = 3;

/// How [`Training`] chooses positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainingOptions {
    /// A position in which the repertoire has no move is asked only if it is at least this likely
    /// to occur. See [`Gap::probability`](crate::games::repertoire::Gap::probability).
    pub min_probability: f64,
    /// The seed of the random choices.
    pub seed: u64,
}

/// A training session. It asks for the player's moves in the repertoire, and in common positions
/// where the repertoire ends.
///
/// A position is due if it was never asked, if the last answer was wrong, or if the probability
/// that the player remembers it has dropped to 90% or less. Each due position is drawn with a
/// probability proportional to its probability in the next game, multiplied by the probability that
/// the player has forgotten the answer. All results depend only on the arguments, never on the
/// system clock.
#[derive(Debug)]
pub struct Training {
    repertoire: Repertoire,
    book: Book,
    cards: Vec<Card>,
    index: KeyMap<usize>,
    journal: Option<Journal<Answer>>,
    /// Good moves that the player found in positions where the repertoire ends. Only the latest
    /// move is kept for each position.
    accepted: Vec<(Position, Move)>,
    random: Random,
    question: Option<Question>,
    /// The next question, as an index in `cards` and the line leading to it. Set only if the
    /// opponent's reply to the last correct answer led to a due position.
    next: Option<(usize, Line)>,
    recent: VecDeque<usize>,
    tally: Tally,
}

#[derive(Debug)]
struct Card {
    position: Position,
    line: Line,
    probability: f64,
    gap: Option<GapKind>,
    memory: Option<Memory>,
    /// Whether to skip the position for the rest of this session.
    is_passed: bool,
}

/// A question: which move to play in a position.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The position in which to find a move. It is the last position of `line`.
    pub position: Position,
    /// The moves that led to the position: those played in this session if the question continues
    /// the previous one, or otherwise the most common line.
    pub line: Line,
    /// The expected number of times that the position occurs in a game.
    pub probability: f64,
    /// Why the repertoire has no move in this position; `None` if it has one.
    pub gap: Option<GapKind>,
    /// Whether the player's last answer in this position was wrong.
    pub is_repeated: bool,
    /// The number of hints given.
    pub hints: usize,
    card: usize,
}

/// A hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// The piece to move. After this hint, a correct answer is graded as remembered with help.
    Piece(Piece),
    /// The whole move. After this hint, even a correct answer is graded as forgotten.
    Move(Move),
}

/// The verdict on an answer, with the reasons for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The result.
    pub verdict: Verdict,
    /// How well the player remembered the move; `None` if the answer does not show it.
    pub grade: Option<Grade>,
    /// How much worse the move is than the best move, in centipawns; `None` if there were neither
    /// engine values nor a search to compare the two.
    pub loss: Option<Score>,
    /// What the reference book contains about the move played.
    pub played: MoveFacts,
    /// What the reference book contains about each of the repertoire's moves or, where the
    /// repertoire ends, about a few good moves.
    pub expected: Vec<MoveFacts>,
    /// The opponent's reply, if it leads to a due position, which is then the next question.
    pub reply: Option<Move>,
}

/// The answers in a session, counted by result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of answers.
    pub answers: usize,
    /// The number of answers without hints that were in the repertoire or, where it ends, good.
    pub right: usize,
    /// The number of answers graded as forgotten: wrong or weak moves, and correct moves played
    /// only after a hint had revealed them.
    pub wrong: usize,
}

/// The number of positions in each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The number of positions that were never asked.
    pub new: usize,
    /// The number of positions that were asked before and are due again.
    pub due: usize,
    /// The number of positions that were asked before and are not due yet.
    pub learnt: usize,
    /// The earliest time at which a learnt position becomes due.
    pub next_due: Option<Time>,
}

impl Training {
    /// Starts a session, and restores the player's progress from the journal. Without a journal,
    /// answers are not stored. The opponent's moves are drawn at random, weighted by their
    /// frequency in the reference book.
    ///
    /// # Errors
    /// If the journal cannot be read or created, belongs to the other side, or is in use.
    pub fn open(
        repertoire: Repertoire,
        book: Book,
        options: &TrainingOptions,
        journal: Option<&Path>,
    ) -> Result<Self, JournalError> {
        let cards = cards(&repertoire, &book, options.min_probability);
        let index = cards.iter().enumerate().map(|(at, card)| (card.position.key(), at)).collect();
        let mut training = Training {
            repertoire,
            book,
            cards,
            index,
            journal: None,
            accepted: Vec::new(),
            random: Random::new(options.seed),
            question: None,
            next: None,
            recent: VecDeque::new(),
            tally: Tally::default(),
        };
        if let Some(path) = journal {
            let side = training.repertoire.side;
            training.journal = Some(open(path, side, |answer| training.learn(&answer))?);
        }
        Ok(training)
    }

    /// Returns the repertoire.
    pub fn repertoire(&self) -> &Repertoire {
        &self.repertoire
    }

    /// Returns the reference book.
    pub fn book(&self) -> &Book {
        &self.book
    }

    /// Returns the counts of answers in this session.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Returns the open question, if any.
    pub fn question(&self) -> Option<&Question> {
        self.question.as_ref()
    }

    /// Returns the state of all positions.
    pub fn progress(&self, now: Time) -> Progress {
        let known = self.cards.iter().filter_map(|card| card.memory);
        let later = known.clone().filter(|memory| memory.due() > now);
        let (asked, learnt) = (known.count(), later.clone().count());
        let next_due = later.map(|memory| memory.due()).min();
        Progress { new: self.cards.len() - asked, due: asked - learnt, learnt, next_due }
    }

    /// Asks the next question, replacing the current one if it is unanswered. Returns `None` if no
    /// position is due.
    pub fn ask(&mut self, now: Time) -> Option<&Question> {
        let next = self.next.take().or_else(|| self.draw(now));
        self.question = next.map(|(card, line)| {
            let Card { probability, gap, memory, .. } = self.cards[card];
            let position = line.moves.iter().fold(line.start, |at, &mv| at.play(mv));
            let is_repeated = memory.is_some_and(|memory| memory.grade == Grade::Again);
            Question { position, line, probability, gap, is_repeated, hints: 0, card }
        });
        if let Some(question) = &self.question {
            self.recent.push_back(question.card);
            if self.recent.len() > RECENT {
                self.recent.pop_front();
            }
        }
        self.question.as_ref()
    }

    /// Gives a hint about the current question: first the piece to move, then the whole move.
    /// Returns `None` if there is no question, or no known answer to show.
    pub fn hint(&mut self) -> Option<Hint> {
        let question = self.question.as_mut()?;
        let position = &question.position;
        let moves = match question.gap {
            None => prepared(&self.repertoire, position),
            Some(_) => good_moves(&self.repertoire, &self.book, position),
        };
        let mv = *moves.first()?;
        question.hints += 1;
        match question.hints {
            1 => position.piece_on(mv.from()).map(Hint::Piece),
            _ => Some(Hint::Move(mv)),
        }
    }

    /// Skips the current question. Its position is not asked again in this session.
    pub fn skip(&mut self) {
        if let Some(question) = self.question.take() {
            self.cards[question.card].is_passed = true;
        }
    }

    /// Answers the current question. Returns `None` if there is no question or `mv` is illegal.
    /// Otherwise, the answer is synced to disk before this method returns.
    ///
    /// # Errors
    /// If the journal cannot be written. The question stays open if the answer was not even
    /// appended.
    pub fn answer(
        &mut self,
        mv: Move,
        now: Time,
        search: Option<&mut Search<'_>>,
    ) -> Result<Option<Judgement>, JournalError> {
        let legal = |question: &&Question| question.position.is_legal(mv);
        let Some(question) = self.question.as_ref().filter(legal).cloned() else {
            return Ok(None);
        };
        let position = &question.position;
        let ruling = rule(&self.repertoire, &self.book, position, mv, search);
        let verdict = ruling.verdict;
        let grade = grade(verdict, question.hints);
        let (fen, text) = (position.fen(), mv.to_string());
        let answer = Answer { fen, mv: text, time: now, verdict, grade };
        let mut synced = Ok(());
        if let Some(journal) = &mut self.journal {
            journal.append(&answer)?;
            synced = journal.sync();
        }
        self.question = None;
        self.learn(&answer);
        self.count(verdict, grade);
        self.cards[question.card].is_passed = grade.is_none();
        synced?;
        let facts = |mv: &Move| facts(&self.book, position, *mv, &ruling.searched);
        let (played, expected) = (facts(&mv), ruling.expected.iter().map(facts).collect());
        let reply = match verdict {
            Verdict::Right | Verdict::Transposes => self.reply(&question, mv, now),
            _ => None,
        };
        Ok(Some(Judgement { verdict, grade, loss: ruling.loss, played, expected, reply }))
    }

    /// Returns the player's good answers in positions where the repertoire still has no move. Each
    /// is returned as a game: the line to the position, followed by the answer.
    pub fn additions(&self) -> Vec<PgnGame> {
        let open = |(position, _): &&(Position, Move)| !self.repertoire.answers(position);
        let game = |(position, mv): &(Position, Move)| {
            let card = self.index.get(&position.key()).map(|&at| &self.cards[at]);
            let line = card.map(|card| &card.line);
            let start = line.map_or(*position, |line| line.start);
            let moves = line.map_or(&[][..], |line| &line.moves);
            let moves: Vec<Move> = moves.iter().chain([mv]).copied().collect();
            let mut game = PgnGame::new(start);
            let name = moves.iter().copied().collect::<Variation>().movetext(&start);
            game.moves = moves.into_iter().map(PgnMove::from).collect();
            game.set_tag("Event", name.clone());
            game.set_tag("ChapterName", name);
            game
        };
        self.accepted.iter().filter(open).map(game).collect()
    }

    /// Updates the player's memory and the accepted moves with an answer, which was either just
    /// given or read from the journal.
    fn learn(&mut self, answer: &Answer) {
        let Some((position, mv)) = answer.played() else { return };
        if answer.verdict == Verdict::Good {
            self.accepted.retain(|(other, _)| other.key() != position.key());
            self.accepted.push((position, mv));
        }
        let card = self.index.get(&position.key()).map(|&at| &mut self.cards[at]);
        if let (Some(card), Some(grade)) = (card, answer.grade) {
            let memory = card.memory.map(|memory| memory.next(grade, answer.time));
            card.memory = Some(memory.unwrap_or_else(|| Memory::first(grade, answer.time)));
        }
    }

    fn count(&mut self, verdict: Verdict, grade: Option<Grade>) {
        self.tally.answers += 1;
        self.tally.wrong += usize::from(grade == Some(Grade::Again));
        let is_right = matches!(verdict, Verdict::Right | Verdict::Good);
        self.tally.right += usize::from(is_right && grade == Some(Grade::Good));
    }

    /// Draws a due position. A recently asked position is drawn only if no other position is due.
    fn draw(&mut self, now: Time) -> Option<(usize, Line)> {
        let weight = |at: usize| self.cards[at].weight(now);
        let all: Vec<(usize, f64)> = (0..self.cards.len()).map(|at| (at, weight(at))).collect();
        let due = all.iter().filter(|(_, weight)| *weight > 0.0);
        let other: Vec<_> = due.clone().filter(|(at, _)| !self.recent.contains(at)).collect();
        let due: Vec<_> = if other.is_empty() { due.collect() } else { other };
        let total: f64 = due.iter().map(|(_, weight)| weight).sum();
        let mut left = self.random.fraction() * total;
        let drawn = due.iter().find(|(_, weight)| {
            left -= weight;
            left < 0.0
        });
        let &&(at, _) = drawn.or(due.last())?;
        Some((at, self.cards[at].line.clone()))
    }

    /// Draws the opponent's reply with a probability proportional to its number of games in the
    /// book. If the reply leads to a position that is due and was not asked recently, makes this
    /// position the next question and returns the reply.
    fn reply(&mut self, question: &Question, mv: Move, now: Time) -> Option<Move> {
        let after = question.position.play(mv);
        let reply = self.book.draw_move(&after, &mut self.random)?;
        let &card = self.index.get(&after.play(reply).key())?;
        if self.cards[card].weight(now) == 0.0 || self.recent.contains(&card) {
            return None;
        }
        let mut line = question.line.clone();
        line.moves.extend([mv, reply]);
        self.next = Some((card, line));
        Some(reply)
    }
}

impl Card {
    /// Returns the probability that the position occurs in the next game and the player does not
    /// remember the answer, or 0 if the position is not due.
    fn weight(&self, now: Time) -> f64 {
        let forgotten = match self.memory {
            _ if self.is_passed => 0.0,
            None => 1.0,
            Some(memory) if memory.grade == Grade::Again => 1.0,
            Some(memory) if memory.due() <= now => 1.0 - memory.recall(now),
            Some(_) => 0.0,
        };
        self.probability.max(UNREACHED) * forgotten
    }
}

fn grade(verdict: Verdict, hints: usize) -> Option<Grade> {
    match verdict {
        Verdict::Wrong | Verdict::Weak => Some(Grade::Again),
        Verdict::Unknown => None,
        _ if hints > 1 => Some(Grade::Again),
        Verdict::Transposes => Some(Grade::Hard),
        Verdict::Right | Verdict::Good if hints > 0 => Some(Grade::Hard),
        Verdict::Right | Verdict::Good => Some(Grade::Good),
    }
}

/// Returns the positions in which the repertoire has a move, and the common positions in which it
/// has none.
fn cards(repertoire: &Repertoire, book: &Book, min_probability: f64) -> Vec<Card> {
    let forecast = repertoire.forecast(book, FORECAST_PLIES);
    let lines = repertoire.lines(book);
    let answered = repertoire.nodes().filter(|node| repertoire.answers(&node.position));
    let answered = answered.map(|node| {
        let position = node.position;
        let line = forecast.line(&position).unwrap_or_else(|| {
            let (start, moves) = lines.line(repertoire, position.key());
            Line { start, moves, probability: 0.0 }
        });
        (position, line, forecast.probability(&position), None)
    });
    let gaps = forecast.gaps(repertoire, book, min_probability).into_iter();
    let gaps = gaps.map(|gap| (gap.position, gap.line, gap.probability, Some(gap.kind)));
    let card = |(position, line, probability, gap)| {
        let (memory, is_passed) = (None, false);
        Card { position, line, probability, gap, memory, is_passed }
    };
    answered.chain(gaps).map(card).collect()
}
