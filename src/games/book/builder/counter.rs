//! Converts games to records.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hasher};
use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use super::records::{CountedGame, OfGame, PositionRecord, Visit};
use super::store::{Disk, Store};
use super::{Admission, BuildOptions, GameFilter, surname_letters};
use crate::chess::position::{Color, Move, Position};
#[cfg(feature = "parquet")]
use crate::games::book::facets::GameFacets;
use crate::games::book::facets::GameLog;
use crate::games::book::format::pawn_filter::PawnSet;
use crate::games::pgn::{
    Collector, Fault, GameEnd, GamePly, GameResult, PgnGame, Tags, VariationText, Visitor,
};

/// Minimum number of plies between two occurrences of a position: each side must make two moves.
const SHORTEST_CYCLE: u16 = 4;

/// The multiplier for hashing a game: 2^64 divided by the golden ratio, rounded to an odd number.
const COURSE_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Number of positions at the start of a game that are likely to occur in other games too. The
/// front cache stores only these, because later positions would displace them.
const COMMON_POSITIONS: usize = 20;

pub(super) struct Shared<'a> {
    pub options: &'a BuildOptions,
    /// Whether tags must be read, because the filter, duplicate detection or the facets need them.
    reads_tags: bool,
    reads_few_tags: bool,
    /// The hashes of the games counted so far, if duplicates are skipped.
    pub(super) games: Option<Mutex<HashSet<u64>>>,
    pub(super) disk: Arc<Disk>,
    /// The hash function used by all threads. It gives the same hashes in every run of the program,
    /// because a resumed build reuses stored hashes.
    hashing: BuildHasherDefault<DefaultHasher>,
}

impl<'a> Shared<'a> {
    pub(super) fn new(options: &'a BuildOptions) -> Self {
        let reads_any = options.unique || options.filter != GameFilter::default();
        Shared {
            options,
            reads_few_tags: !reads_any,
            reads_tags: reads_any || options.facets,
            games: options.unique.then(Mutex::default),
            hashing: BuildHasherDefault::default(),
            disk: Arc::new(Disk::new(options.checkpoints.as_ref().and_then(|kept| kept.disk))),
        }
    }
}

pub(super) struct GameCounter<'a, R> {
    shared: &'a Shared<'a>,
    store: Store<R>,
    log: Option<GameLog>,
    line: Vec<Visit>,
    /// The moves of the current game, including variations. `None` if variations are not counted.
    tree: Option<Collector>,
    /// Whether the current game has variations that are not counted.
    skips_variations: bool,
    pawns: PawnSet,
    #[cfg(feature = "parquet")]
    facets: GameFacets,
    players: u64,
    /// A hash of all positions of the current game so far, including positions that are not
    /// counted.
    course: u64,
    /// Whether the last game that passed the filter was counted and, if not, the reason.
    verdict: Admission,
    /// The most recently read game, if it is counted and its records have not been created yet.
    counted: Option<CountedGame>,
}

impl<'a, R: PositionRecord> GameCounter<'a, R> {
    pub(super) fn new(shared: &'a Shared<'a>, store: Store<R>) -> Self {
        let line = Vec::with_capacity(shared.options.max_ply as usize + 1);
        GameCounter {
            shared,
            store,
            log: (R::OF_GAME == OfGame::Number).then(GameLog::default),
            line,
            tree: None,
            skips_variations: false,
            pawns: PawnSet::new(),
            #[cfg(feature = "parquet")]
            facets: GameFacets::default(),
            players: 0,
            course: 0,
            verdict: Admission::Counted,
            counted: None,
        }
    }

    pub(super) fn verdict(&self) -> Admission {
        self.verdict
    }

    /// Returns the start of the last game if it was counted with its variations and did not begin
    /// at the standard start position.
    pub(super) fn unusual_start(&self) -> Option<&Position> {
        let start = &self.tree.as_ref()?.game().start;
        let is_counted = self.verdict == Admission::Counted;
        (is_counted && start.key() != Position::start().key()).then_some(start)
    }

    /// Returns whether the last game has variations that are not counted, and clears the flag.
    pub(super) fn take_skipped_variations(&mut self) -> bool {
        std::mem::take(&mut self.skips_variations)
    }

    pub(super) fn spill_if_needed(&mut self) -> io::Result<()> {
        self.store.spill_if_needed(self.log.as_ref().map_or(0, GameLog::memory))
    }

    /// Finishes the game that was read last. `text` is the text of the game, which starts at byte
    /// `offset` of the input.
    #[inline]
    pub(super) fn finish_game(&mut self, input: usize, offset: u64, text: &[u8]) {
        if let Some(log) = &mut self.log {
            let before = text.len() - text.trim_ascii_start().len();
            log.locate(input as u32, offset + before as u64, text.trim_ascii());
        }
        // There is nothing to record if the filter rejected the game or if the game is not counted
        // for another reason.
        let Some(game) = self.counted.take() else { return };
        #[cfg(feature = "parquet")]
        let game = match R::OF_GAME {
            OfGame::Facets => CountedGame { facets: self.facets.named(text.trim_ascii()), ..game },
            OfGame::Result | OfGame::Number => game,
        };
        self.record(&game);
    }

    fn record(&mut self, game: &CountedGame) {
        // Insert all pawn structures in one pass, so that the processor can overlap the frequent
        // cache misses.
        let structures = self.line.chunk_by(|a, b| a.pawn_key == b.pawn_key);
        structures.for_each(|alike| self.pawns.insert(alike[0].pawn_key));
        for (index, visit) in self.line.iter().enumerate() {
            // Visits collected from a game tree contain no duplicate moves.
            let is_line = self.tree.is_none();
            if visit.again && is_line && !is_new_move(visit, &self.line[..index]) {
                continue;
            }
            let record = R::of(visit, game);
            if index < COMMON_POSITIONS {
                self.store.push_common(record);
            } else {
                self.store.push(record);
            }
        }
    }

    pub(super) fn into_parts(self) -> (Store<R>, PawnSet, Option<GameLog>) {
        (self.store, self.pawns, self.log)
    }

    #[inline]
    fn visit(&mut self, (key, pawn_key): (u64, u64), side: Color, clock: u16) {
        let again = clock >= SHORTEST_CYCLE && self.has_occurred(key, usize::from(clock));
        self.line.push(Visit { key, pawn_key, side, mv: None, again });
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.line.len() > self.shared.options.max_ply as usize
    }

    fn has_occurred(&self, key: u64, plies: usize) -> bool {
        let cycle = usize::from(SHORTEST_CYCLE);
        let same_side = self.line.iter().rev().take(plies).skip(cycle - 1).step_by(2);
        same_side.clone().any(|step| step.key == key)
    }

    /// Decides whether to count a game. Also returns the game's hash if duplicate games are
    /// skipped.
    fn judge(&self, end: &GameEnd) -> (Admission, Option<u64>) {
        if end.plies == 0 {
            return (Admission::Empty, None);
        }
        if end.result == GameResult::Undecided && !self.shared.options.undecided {
            return (Admission::Undecided, None);
        }
        let Some(games) = &self.shared.games else { return (Admission::Counted, None) };
        let course = self.hash_course(end.result);
        let is_new = games.lock().unwrap_or_else(PoisonError::into_inner).insert(course);
        (if is_new { Admission::Counted } else { Admission::Duplicate }, Some(course))
    }

    fn hash_course(&self, result: GameResult) -> u64 {
        let mut hasher = self.shared.hashing.build_hasher();
        hasher.write_u64(self.players);
        hasher.write_u8(result as u8);
        hasher.write_u64(self.course);
        hasher.finish()
    }

    fn enter(&mut self, result: GameResult, course: Option<u64>) -> u32 {
        self.log.as_mut().map_or(0, |log| log.count(result, course))
    }

    /// Returns a hash of the players' surnames and the year of the game. Different spellings of the
    /// names usually produce the same hash.
    fn hash_players(&self, tags: &Tags) -> u64 {
        let mut hasher = self.shared.hashing.build_hasher();
        for name in ["White", "Black"] {
            let letters = surname_letters(tags.raw(name).unwrap_or_default());
            letters.for_each(|byte| hasher.write_u8(byte));
            hasher.write_u8(0);
        }
        hasher.write(tags.raw("Date").unwrap_or_default().get(..4).unwrap_or_default());
        hasher.finish()
    }
}

impl<R: PositionRecord> Visitor for GameCounter<'_, R> {
    #[inline]
    fn wants_tag(&self, name: &[u8]) -> bool {
        self.shared.reads_tags && (!self.shared.reads_few_tags || GameLog::wants_tag(name))
    }

    fn begin(&mut self, tags: &Tags, start: &Position) -> ControlFlow<()> {
        self.skips_variations = false;
        if !self.shared.options.filter.passes(tags) {
            return ControlFlow::Break(());
        }
        if self.shared.options.unique {
            self.players = self.hash_players(tags);
            self.course = start.key();
        }
        if let Some(log) = &mut self.log {
            log.begin(tags);
        }
        #[cfg(feature = "parquet")]
        if R::OF_GAME == OfGame::Facets {
            self.facets = GameFacets::of(tags);
        }
        self.line.clear();
        self.tree = self.shared.options.variations.then(|| Collector::new(*start));
        let keys = (start.key(), start.pawn_key());
        self.visit(keys, start.side_to_move(), start.halfmove_clock());
        ControlFlow::Continue(())
    }

    #[inline]
    fn played(&mut self, ply: &GamePly) -> ControlFlow<()> {
        if let Some(tree) = &mut self.tree {
            let _ = tree.played(ply);
        }
        let reads_on = self.shared.options.unique || self.tree.is_some();
        if reads_on {
            // Multiplication by an odd number is reversible, so it loses no information, and it
            // makes the hash depend on the order of the positions.
            self.course = self.course.wrapping_mul(COURSE_FACTOR) ^ ply.key;
            if self.is_full() {
                return ControlFlow::Continue(());
            }
        }
        let Some(step) = self.line.last_mut() else { return ControlFlow::Break(()) };
        let mover = step.side;
        let is_wanted = self.shared.options.side.is_none_or(|wanted| wanted == mover);
        if is_wanted && !ply.mv.is_null() {
            step.mv = Some(ply.mv);
        }
        self.visit((ply.key, ply.pawn_key), !mover, ply.halfmove_clock);
        // The rest of the game is read only for variations and duplicate detection.
        if self.is_full() && !reads_on {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn variation(&mut self, movetext: &VariationText<'_>) {
        match &mut self.tree {
            Some(tree) => tree.variation(movetext),
            None => self.skips_variations = true,
        }
    }

    fn unread(&mut self, fault: &Fault, movetext: &VariationText<'_>) {
        if let Some(tree) = &mut self.tree {
            tree.unread(fault, movetext);
        }
    }

    fn end(&mut self, end: &GameEnd) {
        let (verdict, course) = self.judge(end);
        self.verdict = verdict;
        if let (Admission::Duplicate, Some(log), Some(course)) = (verdict, &mut self.log, course) {
            log.again(end.result, course);
        }
        if verdict != Admission::Counted {
            return;
        }
        if let Some(tree) = &self.tree {
            self.line = tree_visits(tree.game(), self.shared.options);
        }
        let number = self.enter(end.result, course);
        self.counted = Some(CountedGame::new(end.result, number));
    }
}

/// Returns one visit for each distinct position in a game tree, and one for each distinct counted
/// move.
fn tree_visits(game: &PgnGame, options: &BuildOptions) -> Vec<Visit> {
    let visit = |position: &Position, mv: Option<Move>| {
        let (key, pawn_key, side) = (position.key(), position.pawn_key(), position.side_to_move());
        Visit { key, pawn_key, side, mv, again: mv.is_some() }
    };
    let mut seen = HashSet::from([(game.start.key(), None)]);
    let mut visits = vec![visit(&game.start, None)];
    // The number of plies up to and including each move; `None` if the move is not counted.
    let mut plies: Vec<Option<u32>> = Vec::new();
    game.visit_tree(|at| {
        let mv = at.played.mv;
        let before = at.parent.map_or(Some(0), |parent| plies[parent]);
        let before = before.filter(|&ply| ply < options.max_ply && !mv.is_null());
        plies.push(before.map(|ply| ply + 1));
        if before.is_none() {
            return;
        }
        let is_wanted = options.side.is_none_or(|side| side == at.before.side_to_move());
        if is_wanted && seen.insert((at.before.key(), Some(mv))) {
            visits.push(visit(at.before, Some(mv)));
        }
        let after = at.before.play(mv);
        if seen.insert((after.key(), None)) {
            visits.push(visit(&after, None));
        }
    });
    visits
}

/// Whether the game plays this move in this position for the first time. Later repetitions are not
/// counted.
fn is_new_move(step: &Visit, before: &[Visit]) -> bool {
    step.mv.is_some() && !before.iter().any(|other| (other.key, other.mv) == (step.key, step.mv))
}
