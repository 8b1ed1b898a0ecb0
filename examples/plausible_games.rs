//! Generates millions of plausible games for benchmarking programs that process games: `cargo run
//! --release --example plausible_games NUMBER [SEED] > games.pgn`
//!
//! The games are not good chess, but they look like those published by Lichess, including clock
//! times. They begin with moves from the embedded book and continue with random moves that favour
//! captures, promotions and central squares. As in real games, the first moves are often the same,
//! but later positions are new. The same seed gives the same games.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::thread;

use tabia::book::Book;
use tabia::position::{Color, Move, Piece, Position};

/// The number of games that a thread generates at a time.
const BATCH: u64 = 1_000;
/// A game that does not end in mate or stalemate has `MIN_PLIES` plies plus a random number below
/// `MORE_PLIES`.
const MIN_PLIES: u64 = 30;
const MORE_PLIES: u64 = 100;
/// The maximum number of plies played from the book.
const BOOK_PLIES: u64 = 16;
/// At each move, there is a one in `LEAVES_BOOK` chance of leaving the book early.
const LEAVES_BOOK: u64 = 12;
/// Time controls: the base time and the increment per move, in seconds.
const CONTROLS: [(u64, u64); 6] = [(60, 0), (120, 1), (180, 0), (180, 2), (600, 0), (900, 10)];

fn main() -> anyhow::Result<()> {
    let number = |place: usize| std::env::args().nth(place).map(|text| text.parse::<u64>());
    let games = number(1).transpose()?.unwrap_or(BATCH);
    let seed = number(2).transpose()?.unwrap_or(1);
    let threads = thread::available_parallelism()?.get() as u64;
    let book = Book::embedded();
    let mut output = io::stdout().lock();
    let mut first = 0;
    while first < games {
        let batches: Vec<u64> = (0..threads).map(|thread| first + thread * BATCH).collect();
        let make = |begin: u64| games_from(begin..(begin + BATCH).min(games), seed, &book);
        let texts = thread::scope(|scope| {
            let making: Vec<_> =
                batches.iter().map(|&begin| scope.spawn(move || make(begin))).collect();
            making.into_iter().map(thread::ScopedJoinHandle::join).collect::<Vec<_>>()
        });
        for text in texts {
            let text = text.map_err(|_| anyhow::anyhow!("a thread panicked"))?;
            match output.write_all(text.as_bytes()) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                written => written?,
            }
        }
        first += threads * BATCH;
    }
    Ok(())
}

fn games_from(numbers: std::ops::Range<u64>, seed: u64, book: &Book) -> String {
    let mut text = String::new();
    for number in numbers {
        let mut random = Random(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ number << 20);
        let (moves, result) = play(&mut random, book);
        push_tags(number, result, &mut random, &mut text);
        text.push_str(&moves);
        let _ = write!(text, "{result}\n\n");
    }
    text
}

/// A random number generator, SplitMix64 (<https://prng.di.unimi.it/splitmix64.c>).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(mixed ^ mixed >> 31) * u128::from(bound)) >> 64) as u64
    }
}

fn push_tags(number: u64, result: &str, random: &mut Random, text: &mut String) {
    let (base, increment) = CONTROLS[random.below(CONTROLS.len() as u64) as usize];
    let rating = 800 + random.below(800) + random.below(1000);
    let (month, day) = (1 + random.below(12), 1 + random.below(28));
    let _ = write!(
        text,
        "[Event \"Rated game\"]\n[Site \"https://example.org/{number}\"]\n[White \"player{}\"]\n\
         [Black \"player{}\"]\n[Result \"{result}\"]\n[UTCDate \"{}.{month:02}.{day:02}\"]\n\
         [WhiteElo \"{rating}\"]\n[BlackElo \"{}\"]\n[TimeControl \"{base}+{increment}\"]\n\n",
        random.below(100_000),
        random.below(100_000),
        2014 + random.below(10),
        rating - 50 + random.below(100),
    );
}

fn play(random: &mut Random, book: &Book) -> (String, &'static str) {
    let plies = MIN_PLIES + random.below(MORE_PLIES);
    let mut position = Position::start();
    let mut text = String::with_capacity(4 << 10);
    let mut in_book = true;
    let mut clock = 180;
    for ply in 0..plies {
        in_book = in_book && ply < BOOK_PLIES && random.below(LEAVES_BOOK) > 0;
        let from_book = if in_book { book_move(&position, random, book) } else { None };
        in_book = from_book.is_some();
        let Some(mv) = from_book.or_else(|| walk(&position, random)) else {
            let winner = !position.side_to_move();
            return (text, if position.in_check() { won_by(winner) } else { "1/2-1/2" });
        };
        let number = position.fullmove_number();
        let dots = if position.side_to_move() == Color::White { "." } else { "..." };
        clock -= random.below(clock / 40 + 2).min(clock);
        let (minutes, seconds) = (clock / 60, clock % 60);
        let san = position.san(mv);
        let _ = write!(text, "{number}{dots} {san} {{ [%clk 0:{minutes:02}:{seconds:02}] }} ");
        position = position.play(mv);
    }
    let results = ["1-0", "1-0", "1-0", "1-0", "0-1", "0-1", "0-1", "0-1", "1/2-1/2"];
    (text, results[random.below(results.len() as u64) as usize])
}

fn won_by(winner: Color) -> &'static str {
    if winner == Color::White { "1-0" } else { "0-1" }
}

fn book_move(position: &Position, random: &mut Random, book: &Book) -> Option<Move> {
    let moves = book.moves(position);
    let weights = moves.iter().map(|found| (found.mv, found.played.games()));
    pick(weights, random)
}

/// Chooses a random move, favouring captures, promotions and central squares.
fn walk(position: &Position, random: &mut Random) -> Option<Move> {
    let moves = position.legal_moves();
    pick(moves.iter().map(|mv| (mv, weight(position, mv))), random)
}

fn weight(position: &Position, mv: Move) -> u64 {
    let taken = match position.piece_on(mv.to()) {
        None => 0,
        Some(Piece::Pawn) => 20,
        Some(Piece::Knight | Piece::Bishop) => 60,
        Some(_) => 120,
    };
    let promoted = if mv.promotion() == Some(Piece::Queen) { 200 } else { 0 };
    let edge = |index: usize| index.min(7 - index) as u64;
    let centre = edge(mv.to().get_file().to_index()) + edge(mv.to().get_rank().to_index());
    let king = position.piece_on(mv.from()) == Some(Piece::King);
    1 + taken + promoted + if king { 0 } else { 3 * centre }
}

fn pick(weighted: impl Iterator<Item = (Move, u64)>, random: &mut Random) -> Option<Move> {
    let mut sums: Vec<(Move, u64)> = Vec::with_capacity(64);
    let mut sum = 0;
    for (mv, weight) in weighted {
        sum += weight;
        sums.push((mv, sum));
    }
    let drawn = if sum == 0 { return None } else { random.below(sum) };
    sums.get(sums.partition_point(|&(_, sum)| sum <= drawn)).map(|&(mv, _)| mv)
}
