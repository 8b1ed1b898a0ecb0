//! `tabia book find`: finds the games that reached a position.

use std::collections::HashSet;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;

use super::open;
use crate::chess::position::Position;
use crate::cli::args::GameFolders;
use crate::cli::output::{self, errln};
use crate::cli::place::PositionArgs;
use crate::games::pgn::{GameEnd, GamePly, GameStatus, Language, PgnInput, Reader, Tags, Visitor};
use crate::support::files::Cannot;
use crate::support::words::{counted, visible};

/// Find the games that reached a position, by any order of moves
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// PGN files or folders, or a book whose games are searched
    #[arg(required = true, value_name = "BOOK|PGN")]
    sources: Vec<PathBuf>,
    #[command(flatten)]
    place: PositionArgs,
    #[command(flatten)]
    games: GameFolders,
    /// Language of the piece letters (de, fr, es …; default: that of each file)
    #[arg(long, value_name = "CODE")]
    language: Option<Language>,
    /// Maximum number of games to list, highest rated first
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

struct Hit {
    input: String,
    game: u64,
    ply: usize,
    /// The sum of both players' ratings, or 0 if unknown.
    elo: u32,
    label: String,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let game = args.place.game()?;
    let mut hits = Vec::new();
    for input in inputs(args)? {
        let text = input.open(&Arc::default()).cannot("read", input.name())?;
        let reader = Reader::new(text).in_language(args.language);
        search(reader, &input.name(), game.position().key(), &mut hits)?;
    }
    hits.sort_by_key(|hit| std::cmp::Reverse(hit.elo));
    let mut out = BufWriter::new(output::stdout());
    for hit in hits.iter().take(args.limit) {
        writeln!(
            out,
            "{}: game {}, ply {}: {}",
            visible(&hit.input),
            hit.game,
            hit.ply,
            visible(&hit.label)
        )?;
    }
    let number = hits.len() as u64;
    let reach = if number == 1 { "reaches" } else { "reach" };
    writeln!(out, "{} {reach} {}", counted(number, "game"), game.position().fen())?;
    out.flush()?;
    Ok(if hits.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn inputs(args: &Args) -> anyhow::Result<Vec<PgnInput>> {
    let mut paths = Vec::new();
    for source in &args.sources {
        if source.extension().is_none_or(|extension| extension != "tbk") {
            paths.push(source.clone());
            continue;
        }
        let book = open(source)?;
        let files = book.sources()?;
        if files.is_empty() {
            let made_from = book.manifest()?.made_from;
            bail!("{} was not made of games, but of {made_from}", source.display());
        }
        let mut here = Vec::new();
        for file in &files {
            match book.places(file, &args.games.folders).into_iter().find(|path| path.exists()) {
                Some(path) => here.push(path),
                None => errln!(
                    "cannot find {} (read when {} was built)",
                    visible(&file.path),
                    source.display()
                ),
            }
        }
        if here.is_empty() {
            bail!("found no games of {}: name their folder with --games FOLDER", source.display());
        }
        paths.extend(here);
    }
    // Read each file only once, even if several of the books, or several parts of a merged book,
    // were built from it.
    let mut seen = HashSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    Ok(PgnInput::from_paths(&paths)?)
}

fn search(
    mut reader: Reader<impl std::io::Read>,
    name: &str,
    key: u64,
    hits: &mut Vec<Hit>,
) -> anyhow::Result<()> {
    let mut finder = GameFinder { key, ply: 0, found: None, tags: (String::new(), 0) };
    let mut game = 0;
    while let Some(end) = reader.read_game(&mut finder)? {
        game += u64::from(end.status != GameStatus::Text);
        if let Some(ply) = finder.found.take() {
            let (label, elo) = std::mem::take(&mut finder.tags);
            hits.push(Hit { input: name.to_owned(), game, ply, elo, label });
        }
    }
    Ok(())
}

struct GameFinder {
    key: u64,
    ply: usize,
    found: Option<usize>,
    tags: (String, u32),
}

impl Visitor for GameFinder {
    fn begin(&mut self, tags: &Tags, start: &Position) -> ControlFlow<()> {
        let tag = |name| tags.get(name).unwrap_or_default();
        let elo = |name| tag(name).trim().parse::<u32>().unwrap_or(0);
        self.tags = (
            format!(
                "{} - {}, {} {}, {}",
                tag("White"),
                tag("Black"),
                tag("Event"),
                tag("Date"),
                tag("Result")
            ),
            elo("WhiteElo").saturating_add(elo("BlackElo")),
        );
        self.ply = 0;
        self.found = (start.key() == self.key).then_some(0);
        ControlFlow::Continue(())
    }

    fn played(&mut self, ply: &GamePly) -> ControlFlow<()> {
        self.ply += 1;
        if ply.key == self.key {
            self.found = Some(self.ply);
        }
        if self.found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn end(&mut self, _end: &GameEnd) {}
}
