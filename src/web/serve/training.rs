//! Repertoire training: its endpoints, and the session shared by all clients.
//!
//! The server trains a single user: all clients share the repertoire, the journal and the current
//! question. The journal is locked from the first training request until the server stops.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use axum::http::{Uri, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Serialize;

use super::api_error::ApiError;
use super::loaded_books::LoadedBooks;
use super::query::Query;
use super::repertoire::{RepertoireFile, only_local};
use super::request::blocking;
use crate::chess::notation::{NamedMove, ScoreAnswer};
use crate::chess::position::{Color, Move, Position};
use crate::chess::score::Score;
use crate::games::pgn::Variation;
use crate::games::repertoire::{
    GapKind, Grade, Hint, Judgement, MoveFacts, Question, ReplyFacts, Time, Training,
    TrainingOptions, Verdict,
};
use crate::support::clock::since_epoch;
use crate::support::files::JournalError;

/// How the repertoire is trained.
#[derive(Debug)]
pub(crate) struct TrainingPlan {
    pub(crate) journal: PathBuf,
    pub(crate) min_probability: f64,
}

#[derive(Debug)]
struct Trainer {
    plan: Option<(Arc<RepertoireFile>, TrainingPlan)>,
    loaded: Arc<LoadedBooks>,
    session: Mutex<Option<Session>>,
    /// The number of sessions opened since the server started.
    sessions: AtomicU64,
}

#[derive(Debug)]
struct Session {
    training: Training,
    /// The version of the repertoire's file.
    version: String,
    /// The number of the most recent question. Numbers are unique across sessions.
    number: u64,
}

/// Returns the training endpoints. If there is no plan, they respond that there is no repertoire to
/// train.
pub(crate) fn router<S>(
    plan: Option<(Arc<RepertoireFile>, TrainingPlan)>,
    loaded: Arc<LoadedBooks>,
) -> Router<S> {
    let (session, sessions) = (Mutex::new(None), AtomicU64::new(0));
    let trainer = Arc::new(Trainer { plan, loaded, session, sessions });
    // These endpoints change the journal.
    let changing = Router::new()
        .route("/training/next", post(next))
        .route("/training/hint", post(hint))
        .route("/training/answer", post(answer))
        .layer(middleware::from_fn(only_local));
    Router::new()
        .route("/training", get(show))
        .route("/training/additions", get(additions))
        .merge(changing)
        .with_state(trainer)
}

type Shared = State<Arc<Trainer>>;

async fn show(State(trainer): Shared, uri: Uri) -> Result<Json<TrainingAnswer>, ApiError> {
    Query::of(&uri)?.finish()?;
    on_session(trainer, |session| Ok(session.state())).await.map(Json)
}

async fn next(State(trainer): Shared, uri: Uri) -> Result<Json<TrainingAnswer>, ApiError> {
    let mut query = Query::of(&uri)?;
    let is_skipped = query.flag("skip")?.unwrap_or(false);
    query.finish()?;
    let ask = move |session: &mut Session| {
        if is_skipped {
            session.training.skip();
        }
        session.number += 1;
        session.training.ask(now());
        Ok(session.state())
    };
    on_session(trainer, ask).await.map(Json)
}

async fn hint(State(trainer): Shared, uri: Uri) -> Result<Json<HintAnswer>, ApiError> {
    let number = numbered(Query::of(&uri)?)?;
    let hint = move |session: &mut Session| {
        let position = session.question(number)?.position;
        let named = |mv| NamedMove::new(&position, mv);
        Ok(match session.training.hint() {
            Some(Hint::Piece(piece)) => {
                HintAnswer { piece: Some(piece.to_string(Color::White)), mv: None }
            }
            Some(Hint::Move(mv)) => HintAnswer { piece: None, mv: Some(named(mv)) },
            None => HintAnswer { piece: None, mv: None },
        })
    };
    on_session(trainer, hint).await.map(Json)
}

async fn answer(State(trainer): Shared, uri: Uri) -> Result<Json<JudgementAnswer>, ApiError> {
    let mut query = Query::of(&uri)?;
    let text = query.text("move").unwrap_or_default();
    let number = numbered(query)?;
    let judge = move |session: &mut Session| {
        let position = session.question(number)?.position;
        let mv = position.parse_move(&text);
        let mv = mv.map_err(|error| ApiError::bad_request(format!("move={text:?}: {error}")))?;
        let judged = session.training.answer(mv, now(), None);
        let judged = judged.map_err(|error| {
            ApiError::unavailable(format!("the answer was not stored: {}", error.fault))
        })?;
        let gone = || ApiError::conflict("the question is no longer open");
        let judged = judged.ok_or_else(gone)?;
        Ok(JudgementAnswer::new(&position, &judged, session.state()))
    };
    on_session(trainer, judge).await.map(Json)
}

async fn additions(State(trainer): Shared, uri: Uri) -> Result<Response, ApiError> {
    Query::of(&uri)?.finish()?;
    let text = on_session(trainer, |session| {
        Ok(session.training.additions().iter().map(|game| format!("{game}\n")).collect::<String>())
    });
    Ok(([(header::CONTENT_TYPE, "application/x-chess-pgn")], text.await?).into_response())
}

fn numbered(mut query: Query) -> Result<u64, ApiError> {
    let number = query.number("question", (1, u64::MAX))?;
    query.finish()?;
    number.ok_or_else(|| ApiError::bad_request("the parameter question is missing"))
}

/// Calls a function with the session on a thread for blocking work. The first request opens the
/// session, and the first request after a change to the repertoire opens a new one.
async fn on_session<T: Send + 'static>(
    trainer: Arc<Trainer>,
    call: impl FnOnce(&mut Session) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let call = move || {
        let mut session = trainer.session.lock().unwrap_or_else(PoisonError::into_inner);
        if session.as_ref().is_none_or(|session| trainer.is_outdated(session)) {
            // Drop the old session first to release its lock on the journal.
            *session = None;
            *session = Some(trainer.open()?);
        }
        session.as_mut().map_or_else(|| Err(ApiError::unavailable("try again")), call)
    };
    blocking(call).await?
}

fn now() -> Time {
    since_epoch().as_secs()
}

impl Trainer {
    fn is_outdated(&self, session: &Session) -> bool {
        self.plan.as_ref().is_some_and(|(file, _)| file.current().version != session.version)
    }

    fn open(&self) -> Result<Session, ApiError> {
        let none = "there is no repertoire to train: serve one with --repertoire and --side";
        let (file, plan) = self.plan.as_ref().ok_or_else(|| ApiError::not_found(none))?;
        let (snapshot, content) = (file.current(), self.loaded.content()?);
        let options = TrainingOptions { min_probability: plan.min_probability, seed: now() };
        let (repertoire, book) = (snapshot.repertoire.clone(), content.book.clone());
        let training = Training::open(repertoire, book, &options, Some(&plan.journal));
        // Use only the cause, because the full message contains the folder, which is not disclosed
        // to clients.
        let failed = |error: JournalError| {
            ApiError::conflict(format!("the training journal cannot be used: {}", error.fault))
        };
        let number = self.sessions.fetch_add(1, Ordering::Relaxed) << u32::BITS;
        Ok(Session {
            training: training.map_err(failed)?,
            version: snapshot.version.clone(),
            number,
        })
    }
}

impl Session {
    /// Returns the open question.
    ///
    /// # Errors
    ///
    /// Fails if the number of the open question is not `number`.
    fn question(&self, number: u64) -> Result<&Question, ApiError> {
        let open = self.training.question().filter(|_| number == self.number);
        open.ok_or_else(|| {
            ApiError::conflict("the question is no longer open: ask for the next one")
        })
    }

    fn state(&self) -> TrainingAnswer {
        let (tally, now) = (self.training.tally(), now());
        let progress = self.training.progress(now);
        let additions = self.training.additions().into_iter().map(|game| {
            game.moves.iter().map(|played| played.mv).collect::<Variation>().movetext(&game.start)
        });
        TrainingAnswer {
            side: if self.training.repertoire().side == Color::White { "white" } else { "black" },
            reference: self.training.book().name().to_owned(),
            new: progress.new,
            due: progress.due,
            learnt: progress.learnt,
            next_due: progress.next_due.map(|time| time - now),
            answers: tally.answers,
            right: tally.right,
            wrong: tally.wrong,
            additions: additions.collect(),
            question: self.training.question().map(|question| self.question_answer(question)),
        }
    }

    fn question_answer(&self, question: &Question) -> QuestionAnswer {
        let position = &question.position;
        let legal = position.legal_moves();
        QuestionAnswer {
            number: self.number,
            fen: position.fen(),
            check: position.in_check(),
            start: question.line.start.fen(),
            line: NamedMove::line(&question.line.start, &question.line.moves),
            legal: legal.iter().map(|mv| NamedMove::new(position, mv)).collect(),
            probability: question.probability,
            ends: question.gap.map(GapKind::name),
            repeated: question.is_repeated,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct TrainingAnswer {
    side: &'static str,
    reference: String,
    new: usize,
    due: usize,
    learnt: usize,
    /// The number of seconds until the next position is due.
    next_due: Option<Time>,
    answers: usize,
    right: usize,
    wrong: usize,
    additions: Vec<String>,
    question: Option<QuestionAnswer>,
}

#[derive(Debug, Serialize)]
struct QuestionAnswer {
    number: u64,
    fen: String,
    check: bool,
    start: String,
    line: Vec<NamedMove>,
    legal: Vec<NamedMove>,
    probability: f64,
    ends: Option<&'static str>,
    repeated: bool,
}

#[derive(Debug, Serialize)]
struct HintAnswer {
    piece: Option<String>,
    #[serde(rename = "move")]
    mv: Option<NamedMove>,
}

#[derive(Debug, Serialize)]
struct JudgementAnswer {
    verdict: Verdict,
    grade: Option<Grade>,
    loss: Option<Score>,
    /// The position after the move.
    fen: String,
    played: FactsAnswer,
    expected: Vec<FactsAnswer>,
    reply: Option<NamedMove>,
    training: TrainingAnswer,
}

#[derive(Debug, Serialize)]
struct FactsAnswer {
    #[serde(flatten)]
    mv: NamedMove,
    games: u64,
    /// The player's points per game.
    score: f64,
    value: Option<ScoreAnswer>,
    reply: Option<ReplyAnswer>,
}

#[derive(Debug, Serialize)]
struct ReplyAnswer {
    #[serde(flatten)]
    mv: NamedMove,
    best: bool,
    share: f64,
}

impl JudgementAnswer {
    fn new(position: &Position, judged: &Judgement, training: TrainingAnswer) -> Self {
        let after = position.play(judged.played.mv);
        let facts = |facts: &MoveFacts| FactsAnswer::new(position, facts);
        JudgementAnswer {
            verdict: judged.verdict,
            grade: judged.grade,
            loss: judged.loss,
            fen: after.fen(),
            played: facts(&judged.played),
            expected: judged.expected.iter().map(facts).collect(),
            reply: judged.reply.map(|mv: Move| NamedMove::new(&after, mv)),
            training,
        }
    }
}

impl FactsAnswer {
    fn new(position: &Position, facts: &MoveFacts) -> Self {
        let after = position.play(facts.mv);
        let reply = |reply: ReplyFacts| ReplyAnswer {
            mv: NamedMove::new(&after, reply.mv),
            best: reply.is_best,
            share: reply.share,
        };
        FactsAnswer {
            mv: NamedMove::new(position, facts.mv),
            games: facts.games,
            score: facts.score,
            value: facts.value.map(ScoreAnswer::from),
            reply: facts.reply.map(reply),
        }
    }
}
