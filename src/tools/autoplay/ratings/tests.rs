use std::collections::BTreeMap;

use super::super::rounds::Rounds;
use super::super::schedule::{Format, Schedule};
use super::*;
use crate::games::pgn::PgnInput;
use crate::support::random::Random;

/// Returns games between two players who alternate colours. `half_points` contains the first
/// player's score in each game, in half-points (0, 1 or 2).
fn games(players: [usize; 2], half_points: &[u8]) -> Vec<RatedGame> {
    let [first, second] = players;
    let game = |(number, &points): (usize, &u8)| match number % 2 {
        0 => RatedGame { players, half_points: points, pair: None },
        _ => RatedGame { players: [second, first], half_points: 2 - points, pair: None },
    };
    half_points.iter().enumerate().map(game).collect()
}

fn elos(players: usize, found: &Ratings) -> Vec<f64> {
    let mut elos = vec![f64::NAN; players];
    found.rows.iter().for_each(|row| elos[row.player] = row.elo);
    elos
}

/// The example from <https://github.com/Disservin/fastchess/issues/1007>: pairwise scores of 75%,
/// 75% and 90% are explained exactly by two equal rating differences, so the ratings must not
/// depend on the number of games in each pairing.
#[test]
fn ratings_reproduce_consistent_scores() {
    let won = |wins: usize, draws: usize, losses: usize| {
        [vec![2; wins], vec![1; draws], vec![0; losses]].concat()
    };
    let mut all = games([0, 1], &won(100, 100, 0));
    all.extend(games([1, 2], &won(60, 0, 20)));
    all.extend(games([0, 2], &won(90, 0, 10)));
    let found = ratings(3, &all, &[]);
    for (elo, expected) in elos(3, &found).iter().zip([190.85, 0.0, -190.85]) {
        assert!((elo - expected).abs() < 0.01, "{elo}");
    }
}

#[test]
fn anchors_fix_or_pull_ratings() {
    let all = [games([0, 1], &[2, 2, 1, 1, 0, 2]), games([1, 2], &[2, 0, 2, 1, 2, 2])].concat();
    let free = elos(3, &ratings(3, &all, &[]));
    assert!(free.iter().sum::<f64>().abs() < 1e-6);
    let anchor = |player, elo, deviation| Anchor { player, elo, deviation };
    let fixed = ratings(3, &all, &[anchor(1, 2500.0, 0.0)]);
    for (elo, free_elo) in elos(3, &fixed).iter().zip(&free) {
        assert!((elo - free_elo - 2500.0 + free[1]).abs() < 1e-6, "{elo}");
    }
    assert_eq!(fixed.rows.iter().find(|row| row.player == 1).and_then(|row| row.error), None);
    let anchors = |deviation| [anchor(1, 2500.0, 0.0), anchor(2, 2500.0, deviation)];
    let difference = |deviation| elos(3, &ratings(3, &all, &anchors(deviation)))[2] - 2500.0;
    assert!(difference(0.0).abs() < 1e-9);
    assert!((difference(1e5) - free[2] + free[1]).abs() < 0.1);
    let between = difference(100.0);
    assert!(between < -10.0 && between > free[2] - free[1], "{between}");
}

#[test]
fn players_without_finite_rating_are_listed() {
    let all = [
        games([0, 1], &[2, 0, 1]),
        games([2, 0], &[2, 2]),
        games([3, 2], &[1, 1]),
        games([1, 4], &[2]),
    ]
    .concat();
    let found = ratings(6, &all, &[]);
    let rated: Vec<usize> = found.rows.iter().map(|row| row.player).collect();
    assert_eq!((rated.len(), &found.unrated[..]), (2, &[2, 3, 4, 5][..]));
    let anchor = Anchor { player: 2, elo: 100.0, deviation: 50.0 };
    assert_eq!(ratings(6, &all, &[anchor]).unrated, [1, 0, 4, 5]);
    let both = [anchor, Anchor { player: 0, elo: 0.0, deviation: 0.0 }];
    assert_eq!(ratings(6, &all, &both).unrated, [4, 5]);
    assert_eq!(ratings(2, &[], &[]).rows.len(), 0);
    assert_eq!(ratings(0, &[], &[]).rows.len(), 0);
}

#[test]
fn decisive_results_alone_give_no_ratings() {
    let all = [games([0, 1], &[0]), games([0, 2], &[2]), games([1, 2], &[2])].concat();
    let found = ratings(3, &all, &[]);
    assert_eq!((found.rows.len(), &found.unrated[..]), (0, &[1, 0, 2][..]));
    let anchor = Anchor { player: 2, elo: 100.0, deviation: 0.0 };
    let found = ratings(3, &all, &[anchor]);
    assert_eq!((found.rows.len(), &found.unrated[..]), (1, &[1, 0][..]));
}

#[test]
fn extreme_results_have_finite_ratings() {
    let all =
        [games([0, 1], &[1]), games([0, 1], &[2; 999]), games([1, 2], &[1, 0, 0, 0])].concat();
    let found = ratings(3, &all, &[]);
    assert!(found.rows.iter().all(|row| row.elo.is_finite()));
    // White always wins.
    let found = ratings(2, &games([0, 1], &[2, 0].repeat(50)), &[]);
    assert!(found.rows[0].elo.abs() < 1e-6 && found.white_advantage.value > 200.0);
    // All games are draws, so there is no variation from which the error could be estimated.
    let found = ratings(2, &games([0, 1], &[1; 50]), &[]);
    assert_eq!((found.rows[0].error, found.rows[0].superiority), (None, None));
}

/// Simulates a game with Davidson's model (1970), in which draws are most likely between equal
/// players. Returns White's half points (0, 1 or 2).
fn play(random: &mut Random, difference: f64) -> u8 {
    let (white, draw) =
        ((difference / ELO_SCALE).exp(), 1.5 * (difference / ELO_SCALE / 2.0).exp());
    let roll = random.fraction() * (1.0 + white + draw);
    if roll < white { 2 } else { u8::from(roll < white + draw) }
}

/// The standard deviation of White's advantage across openings, in Elo.
const OPENING_DEVIATION: f64 = 120.0;

fn opening(random: &mut Random) -> f64 {
    let sum: f64 = (0..12).map(|_| random.fraction()).sum();
    40.0 + OPENING_DEVIATION * (sum - 6.0)
}

/// Simulates a tournament of game pairs. Both games of a pair start from the same opening, which
/// gives White the same advantage.
fn tournament(random: &mut Random, elos: &[f64], pairs: usize, format: Format) -> Vec<RatedGame> {
    let (engines, games) = (elos.len(), 2 * pairs);
    let schedule = Schedule { engines, format, games, openings: 1, reversed: true };
    let mut rounds = Rounds::new(schedule, vec![true; engines]);
    let (mut games, mut advantages) = (Vec::new(), BTreeMap::new());
    while rounds.pair_next().is_some() {
        for slot in rounds.remaining() {
            let [white, black] = slot.colors;
            let advantage = advantages.entry(slot.pair).or_insert_with(|| opening(random));
            let half_points = play(random, elos[white] - elos[black] + *advantage);
            rounds.add_result(slot.number, half_points);
            games.push(RatedGame { players: slot.colors, half_points, pair: Some(slot.pair) });
        }
    }
    games
}

#[test]
fn intervals_contain_the_true_rating_in_95_percent() {
    const TOURNAMENTS: u64 = 1000;
    let truth = [110.0, 40.0, 0.0, -30.0, -120.0];
    for (format, pairs) in
        [(Format::RoundRobin, 20), (Format::Gauntlet, 60), (Format::Swiss { rounds: 4 }, 30)]
    {
        // The simulated draws and opening advantages change the expected scores, so the estimates
        // do not converge to `truth`. Use ratings estimated from many games as the expected values.
        let many = tournament(&mut Random::new(99), &truth, 20_000, format);
        let expected = elos(truth.len(), &ratings(truth.len(), &many, &[]));
        let (mut inside, mut all) = (0.0, 0.0);
        for seed in 0..TOURNAMENTS {
            let games = tournament(&mut Random::new(seed), &truth, pairs, format);
            let found = ratings(truth.len(), &games, &[]);
            for row in &found.rows {
                let error = row.error.expect("enough games");
                inside += f64::from((row.elo - expected[row.player]).abs() <= error);
                all += 1.0;
            }
            let superior = found.rows.iter().filter_map(|row| row.superiority);
            assert!(superior.clone().count() == 4 && superior.clone().all(|los| los > 0.499));
        }
        let share = inside / all;
        assert!((0.93..=0.97).contains(&share), "{format:?}: {share}");
    }
}

fn read(text: &str) -> PgnResults {
    let mut results = PgnResults::default();
    results.read(&PgnInput::Text("text".to_owned(), text.as_bytes().into())).expect("readable");
    results
}

fn pgn(white: &str, black: &str, round: &str, result: &str) -> String {
    format!(
        "[White \"{white}\"]\n[Black \"{black}\"]\n[Round \"{round}\"]\n[Result \"{result}\"]\n\n1. e4 {result}\n\n"
    )
}

#[test]
fn pgn_games_of_a_round_are_pairs() {
    let text = [
        pgn("a", "b", "1.1", "1-0"),
        pgn("a", "c", "1", "0-1"),
        pgn("b", "a", "1.2", "1/2-1/2"),
        pgn("a", "b", "2", "0-1"),
        pgn("a", "b", "2", "0-1"),
        pgn("c", "a", "?", "1-0"),
        pgn("a", "?", "3", "1-0"),
        pgn("a", "b", "3", "*"),
    ]
    .concat();
    let found = read(&(text + "[White \"c\"]\n[Black \"a\"]\n\n1. e4 e5 1-0\n"));
    assert_eq!((&found.names[..], found.skipped), (&["a", "b", "c"].map(str::to_owned)[..], 2));
    let pairs: Vec<Option<usize>> = found.games.iter().map(|game| game.pair).collect();
    assert_eq!(pairs, [Some(0), None, Some(0), None, None, None, None]);
    let points: Vec<u8> = found.games.iter().map(|game| game.half_points).collect();
    assert_eq!(points, [2, 0, 1, 0, 0, 2, 2]);
}

#[test]
fn players_with_few_games_are_removed() {
    let text = [
        pgn("x", "a", "?", "1-0"),
        pgn("a", "b", "?", "1-0"),
        pgn("b", "a", "?", "1-0"),
        pgn("c", "b", "?", "1-0"),
    ]
    .concat();
    let mut found = read(&text);
    found.keep_players_with(2);
    assert_eq!(found.names, ["a", "b"]);
    let players: Vec<[usize; 2]> = found.games.iter().map(|game| game.players).collect();
    assert_eq!(players, [[0, 1], [1, 0]]);
}
