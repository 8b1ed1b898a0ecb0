//! Annotates the game on the board in the background.

use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use crossbeam::channel::{Receiver, TryRecvError, unbounded};
use indicatif::ProgressBar;

use super::Console;
use super::files::append;
use super::text::failed;
use crate::cli::work::progress_bar;
use crate::cli::writing::GAMES;
use crate::engine::controller::{BackgroundEvent, Flow};
use crate::engine::search::{BookSearch, Config, STACK_SIZE, Searcher};
use crate::games::book::Names;
use crate::support::files::{FileError, FileKind, Output};
use crate::support::platform::split_words;
use crate::support::words::number_of;
use crate::tools::annotate::work::annotate_one;
use crate::tools::annotate::{
    Annotated, Background, Effort, Limits, Moment, NODES, describe, moments, page,
};
use crate::tools::suite::Switch;

/// Size of the transposition table in mebibytes, the same as the default of `tabia annotate`.
const MEMORY_MB: usize = 16;
/// The column at which comments start. It leaves room for moves such as `100... Nbxd4+??`.
const COLUMN: usize = 16;

pub(super) struct Annotating {
    switch: Switch,
    events: Receiver<AnnotationEvent>,
    bar: ProgressBar,
    target: Option<Target>,
}

enum AnnotationEvent {
    /// The number of positions searched so far, and the total number.
    Positions(usize, usize),
    Done(Box<Annotated>),
}

#[derive(Debug, PartialEq, Eq)]
enum Target {
    /// A PGN file to which the annotated game is appended.
    Games(PathBuf),
    Page(PathBuf),
}

impl Target {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(name);
        let is_page = path.extension().is_some_and(|ending| {
            ["html", "htm"].iter().any(|page| ending.eq_ignore_ascii_case(page))
        });
        if is_page { Target::Page(path) } else { Target::Games(path) }
    }

    fn path(&self) -> &Path {
        let (Target::Games(path) | Target::Page(path)) = self;
        path
    }

    fn check(&self) -> io::Result<()> {
        let output = match self {
            // Accept any existing file, because the game is appended to it.
            Target::Games(path) => Output::new(path, GAMES).force(true),
            Target::Page(path) => Output::new(path, FileKind::HTML),
        };
        // Remove the suggestion of `--force` from the error message, because the console has no
        // such option.
        let words =
            |error: FileError| error.to_string().replace("; to replace it, add --force", "");
        output.check().map_err(|error| failed(words(error)))
    }

    fn write(&self, annotated: &Annotated) -> io::Result<()> {
        match self {
            Target::Games(path) => append(path, &format!("{}\n", annotated.pgn)),
            Target::Page(path) => {
                let text = page(std::slice::from_ref(&annotated.pgn));
                Output::new(path, FileKind::HTML).write(text.as_bytes()).map_err(failed)
            }
        }
    }
}

/// Parses `[FILE] [NODES]` in either order. An argument that is a number is the node limit.
fn parse(arguments: &str) -> io::Result<(Option<Target>, u64)> {
    let words = split_words(arguments).ok_or_else(|| failed("a quotation mark is missing"))?;
    let (mut target, mut nodes) = (None, None);
    for word in words {
        match word.parse::<u64>() {
            Ok(0) => return Err(failed("expected one node a move at least")),
            Ok(number) if nodes.is_none() => nodes = Some(number),
            Err(_) if target.is_none() && !word.is_empty() => target = Some(Target::new(&word)),
            _ => return Err(failed("expected a file (quote a name with blanks) and nodes a move")),
        }
    }
    Ok((target, nodes.unwrap_or(NODES)))
}

impl Console {
    pub(super) fn annotate(&mut self, arguments: &str) -> io::Result<Flow> {
        if self.annotating.is_some() {
            return Err(failed("I am annotating already; Ctrl-C ends it"));
        }
        let (target, nodes) = parse(arguments)?;
        target.as_ref().map_or(Ok(()), Target::check)?;
        let game = self.pgn();
        if game.moves.is_empty() {
            return Err(failed("there is no move yet"));
        }
        self.engine.stop_analysis();
        let positions = game.moves.len() + 1;
        let (sender, events) = unbounded();
        let (switch, event_sender) = (Switch::default(), self.engine.event_sender());
        let (stop, config) = (switch.clone(), self.annotator());
        let book = self.engine.book().clone();
        let work = move || {
            let effort = Effort::Nodes(nodes);
            let background = Background {
                book: &book,
                names: &Names::embedded(),
                repertoire: None,
                players: &[],
                limits: Limits::default(),
                effort: effort.describe(),
            };
            let mut searcher = Searcher::on_large_stack(config);
            let print_text = |events| {
                // Ignore errors: sending fails only if the console has ended.
                let _ = sender.send(events);
                let _ = event_sender.send(BackgroundEvent::OwnerProgress);
            };
            let mut received = |done, of| print_text(AnnotationEvent::Positions(done, of));
            let done =
                annotate_one(&game, &mut searcher, effort, &background, &stop, &mut received);
            done.into_iter()
                .for_each(|annotated| print_text(AnnotationEvent::Done(Box::new(annotated))));
            drop(sender);
            let _ = event_sender.send(BackgroundEvent::OwnerProgress);
        };
        thread::Builder::new().stack_size(STACK_SIZE).spawn(work).map_err(|error| {
            failed(format!("cannot annotate: {}", crate::support::files::describe(&error)))
        })?;
        let count = number_of(positions as u64, "position");
        self.print_text(&format!("I search the {count} of the game; Ctrl-C ends it."))?;
        let bar = if self.is_terminal {
            progress_bar(positions, "positions")
        } else {
            ProgressBar::hidden()
        };
        self.annotating = Some(Annotating { switch, events, bar, target });
        Ok(Flow::Continue)
    }

    /// Returns the engine's search settings, but with one thread and no book, so that results are
    /// reproducible.
    fn annotator(&self) -> Config {
        Config {
            memory_mb: MEMORY_MB,
            threads: 1,
            book: None,
            book_search: BookSearch::Off,
            ..self.engine.settings().search.clone()
        }
    }

    /// Stops the annotation in progress, if any. Returns true if one was running.
    pub(super) fn stop_annotation(&self) -> bool {
        self.annotating.iter().for_each(|annotating| annotating.switch.stop());
        self.annotating.is_some()
    }

    /// Prints the progress and results of the annotation. Returns true if it has finished.
    pub(super) fn print_annotation_progress(&mut self) -> io::Result<bool> {
        let Some(annotating) = &self.annotating else { return Ok(false) };
        let annotated = loop {
            match annotating.events.try_recv() {
                Ok(AnnotationEvent::Positions(done, of)) => {
                    annotating.bar.set_length(of as u64);
                    annotating.bar.set_position(done as u64);
                }
                Ok(AnnotationEvent::Done(annotated)) => break Some(annotated),
                Err(TryRecvError::Empty) => return Ok(false),
                Err(TryRecvError::Disconnected) => break None,
            }
        };
        let target = self.annotating.take().and_then(|annotating| {
            annotating.bar.finish_and_clear();
            annotating.target
        });
        match annotated {
            None => self.print_text("The annotation was ended; nothing is written.")?,
            Some(annotated) => self.print_annotation_summary(&annotated, target.as_ref())?,
        };
        Ok(true)
    }

    fn print_annotation_summary(
        &mut self,
        annotated: &Annotated,
        target: Option<&Target>,
    ) -> io::Result<Flow> {
        for (side, player) in ["White", "Black"].into_iter().zip(&annotated.players) {
            let name = annotated.pgn.tag(side).filter(|name| !name.is_empty() && *name != "?");
            let name = name.map_or_else(String::new, |name| format!(" ({name})"));
            self.print_text(&format!("{side}{name}: {}.", describe(player)))?;
        }
        let moments = moments(&annotated.pgn);
        if moments.is_empty() {
            self.print_text("No mistakes were found.")?;
        }
        for Moment { played, words, better } in moments {
            let better = better.map_or_else(String::new, |line| format!(" ({line})"));
            self.print_text(&format!("{played:COLUMN$}  {words}{better}"))?;
        }
        let Some(target) = target else { return Ok(Flow::Continue) };
        let name = target.path().display().to_string();
        match target.write(annotated) {
            Ok(()) => self.print_text(&format!("The annotated game is in {name}.")),
            Err(error) => self.print_text(&format!("annotate: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_a_node_count_and_a_file_typed_by_extension() {
        let page = || Some(Target::Page("a b.HTML".into()));
        let games = || Some(Target::Games("x.pgn".into()));
        for (text, wanted) in [
            ("", (None, NODES)),
            ("500", (None, 500)),
            ("x.pgn", (games(), NODES)),
            ("x.pgn 7", (games(), 7)),
            ("7 'a b.HTML'", (page(), 7)),
        ] {
            assert_eq!(parse(text).expect(text), wanted, "{text}");
        }
        for text in ["0", "a b", "1 2", "\"a", "''"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
