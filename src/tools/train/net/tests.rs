use std::path::Path;

use super::adam::AdamW;
use super::example::Example;
use super::gradient::{add_gradient, add_gradient_portably, output, square_errors};
use super::objective::Objective;
use super::parameters::LIMIT;
use super::trainer::EpochLoss;
use super::*;
use crate::chess::position::{Color, Move, Piece, Position};
use crate::engine::eval::nnue::{HIDDEN, PieceSet};
use crate::support::random::Random;
use crate::tools::train::{GameFile, GameSettings, PlayedGame, SearchedMove};

const FEW: usize = 64;

const CURVE: Sigmoid = Sigmoid { scale: 200 };

fn positions(count: usize, seed: u64) -> Vec<Position> {
    const LONGEST_GAME: usize = 120;
    let mut random = Random::new(seed);
    let mut positions = Vec::new();
    while positions.len() < count {
        let mut position = Position::start();
        for _ in 0..LONGEST_GAME {
            let moves: Vec<_> = position.legal_moves().iter().collect();
            let Some(&mv) = moves.get(random.below(moves.len().max(1))) else { break };
            position = position.play(mv);
            if random.below(4) == 0 {
                positions.push(position);
            }
        }
    }
    random.shuffle(&mut positions);
    positions.truncate(count);
    positions
}

/// Returns the material advantage of the side to move, in pawns.
fn material(position: &Position) -> f32 {
    let us = position.side_to_move();
    [(Piece::Pawn, 1.0), (Piece::Knight, 3.0), (Piece::Bishop, 3.0), (Piece::Rook, 5.0)]
        .into_iter()
        .chain([(Piece::Queen, 9.0)])
        .map(|(piece, value)| {
            let count = |color| position.pieces(color, piece).popcnt() as f32;
            value * (count(us) - count(!us))
        })
        .sum()
}

fn examples(count: usize, seed: u64) -> Vec<Example> {
    let target = |position: &Position| CURVE.of_score(100.0 * material(position));
    positions(count, seed).iter().map(|p| Example::new(p, target(p))).collect()
}

fn data() -> Data {
    Data {
        training: examples(1500, 1),
        held_out: examples(200, 2),
        ..Data::none(&selection_of_all())
    }
}

fn settings(threads: usize) -> TrainSettings {
    TrainSettings {
        epochs: 4,
        batch: 128,
        rate: 0.01,
        final_rate: 1e-4,
        decay: 0.01,
        common: 0.5,
        power: 2.0,
        balance: 0.0,
        threads,
        seed: 7,
    }
}

fn large_parameters<const N: usize>(seed: u64) -> Parameters<N> {
    let mut parameters = Parameters::random(seed);
    parameters.as_mut_slice().iter_mut().for_each(|weight| *weight *= 4.0);
    parameters
}

#[test]
fn gradient_matches_finite_differences() {
    const STEP: f32 = 1e-3;
    const STRIDE: usize = 7;
    const UNUSED_STRIDE: usize = 499;
    let mut parameters = large_parameters::<FEW>(3);
    let examples = examples(20, 4);
    let mut gradient = Parameters::zero();
    let objective = Objective::square(CURVE);
    let loss = add_gradient(&parameters, &objective, &[&examples], &mut gradient);
    assert!((loss - square_errors(&parameters, CURVE, &examples)).abs() < 1e-5);
    let (mut compared, mut wrong) = (0, 0);
    for place in 0..Parameters::<FEW>::LEN {
        let slope = gradient.as_slice()[place];
        // Most weights belong to inputs that do not occur in the examples.
        if !place.is_multiple_of(if slope == 0.0 { UNUSED_STRIDE } else { STRIDE }) {
            continue;
        }
        let weight = parameters.as_slice()[place];
        let [above, below] = [weight + STEP, weight - STEP].map(|moved| {
            parameters.as_mut_slice()[place] = moved;
            square_errors(&parameters, CURVE, &examples)
        });
        parameters.as_mut_slice()[place] = weight;
        let difference = (above - below) as f32 / (2.0 * STEP);
        let bound = 2e-3 + 0.02 * slope.abs();
        wrong += usize::from((slope - difference).abs() > bound);
        compared += usize::from(slope.abs() > 5.0 * bound);
    }
    assert!(compared > 50, "only {compared} weights matter");
    // A few finite differences are wrong because a neuron's value crosses 1 within the step.
    assert!(wrong <= compared / 20, "{wrong} wrong, {compared} compared");
}

#[test]
fn all_kernels_give_identical_gradients() {
    let parameters = large_parameters::<HIDDEN>(5);
    let examples = examples(50, 6);
    let (first, second) = examples.split_at(20);
    let mut gradients = [Parameters::zero(), Parameters::zero()];
    let blocks = [first, second];
    let objective = Objective::new(CURVE, 2.5, 0.5, &examples);
    let portable = add_gradient_portably(&parameters, &objective, &blocks, &mut gradients[0]);
    let detected = add_gradient(&parameters, &objective, &blocks, &mut gradients[1]);
    assert_eq!(portable.to_bits(), detected.to_bits());
    assert!(gradients[0] == gradients[1]);
}

#[test]
fn network_learns_material() {
    // With this many examples, kings occur in every king bucket.
    let data = Data { training: examples(20_000, 1), ..data() };
    let mut trainer: Trainer<FEW> = Trainer::new(settings(2), &data);
    let before = trainer.held_out_loss();
    let mut steps = 0;
    while let Some(progress) = trainer.step() {
        steps += 1;
        assert_eq!(progress.steps, steps);
    }
    assert_eq!(steps, trainer.all_steps());
    let losses = trainer.history();
    assert_eq!(losses.len(), 4);
    assert_eq!(losses[3].held_out, trainer.held_out_loss());
    assert!(losses[3].held_out < 0.5 * before, "{before} -> {losses:?}");
    let expected = |fen: &str| {
        let position = Position::from_fen(fen).expect(fen);
        CURVE.expected(output(trainer.parameters(), &Example::new(&position, 0.0)))
    };
    let ahead = expected("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    let behind = expected("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1");
    assert!(ahead > 0.6 && behind < 0.4, "{ahead} {behind}");
}

#[test]
fn training_is_deterministic_for_each_thread_count() {
    let data = data();
    for threads in [1, 3] {
        let [one, other] = [(); 2].map(|()| {
            let mut trainer: Trainer<FEW> = Trainer::new(settings(threads), &data);
            while trainer.step().is_some() {}
            trainer
        });
        assert!(one.state == other.state);
    }
}

#[test]
fn resumed_training_equals_uninterrupted_training() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("net.checkpoint");
    let data = data();
    let mut whole: Trainer<FEW> = Trainer::new(settings(1), &data);
    while whole.step().is_some() {}
    // Interrupt training once in the middle of an epoch and once at the end of an epoch.
    for pause in [16, 22] {
        let mut first: Trainer<FEW> = Trainer::new(settings(1), &data);
        (0..pause).for_each(|_| assert!(first.step().is_some()));
        first.save(&path).expect("written");
        let mut second: Trainer<FEW> =
            Trainer::resume(settings(1), &data, &path).expect("a checkpoint");
        while second.step().is_some() {}
        assert!(second.state == whole.state);
    }
}

#[test]
fn mismatched_checkpoints_are_rejected() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("net.checkpoint");
    let data = data();
    let resume = |settings: TrainSettings, path: &Path| {
        Trainer::<FEW>::resume(settings, &data, path).err().expect("refused").to_string()
    };
    assert!(resume(settings(1), &path).contains("net.checkpoint: it does not exist"));
    Trainer::<FEW>::new(settings(1), &data).save(&path).expect("written");
    let other = TrainSettings { seed: 8, ..settings(1) };
    assert!(
        resume(other, &path).contains("it was \"seed 7\", and is \"seed 8\" now"),
        "{}",
        resume(settings(1), &path)
    );
    let selection = Selection { lambda: 0.5, ..selection_of_all() };
    let others = Data { selection, ..data.clone() };
    let error = Trainer::<FEW>::resume(settings(1), &others, &path).err().expect("refused");
    assert!(error.to_string().contains("lambda 0.5, few men 0"), "{error}");
    let mut bytes = std::fs::read(&path).expect("written");
    bytes.pop();
    std::fs::write(&path, &bytes).expect("written");
    assert!(resume(settings(1), &path).contains("it is damaged"));
    std::fs::write(&path, "[Event \"?\"]\n").expect("written");
    assert!(resume(settings(1), &path).contains("of another kind or version"));
    std::fs::write(&path, "tabia checkpoint 2; hidden 8\n").expect("written");
    assert!(resume(settings(1), &path).contains("\"tabia checkpoint 2; hidden 8\""));
}

#[test]
fn example_has_the_network_inputs_of_its_position() {
    let parameters = large_parameters::<HIDDEN>(8);
    let network = parameters.quantised(&[]).expect("weights in bounds");
    for position in positions(100, 9) {
        let example = Example::new(&position, 0.5);
        let pieces = PieceSet::of(&position);
        let us = position.side_to_move();
        assert_eq!(example.bucket(), pieces.bucket());
        let expected = network.evaluate(&pieces, us);
        assert_eq!(network.evaluate(&example.board(), Color::White), expected, "{position}");
    }
}

#[test]
fn colour_flipped_positions_give_equal_examples() {
    let [white, black] = [
        "r1bqk2r/pppp1ppp/2n2n2/4p3/1bB1P3/2N2N2/PPPP1PPP/R1BQ1RK1 b kq - 0 1",
        "r1bq1rk1/pppp1ppp/2n2n2/1Bb1p3/4P3/2N2N2/PPPP1PPP/R1BQK2R w KQ - 0 1",
    ]
    .map(|fen| Example::new(&Position::from_fen(fen).expect(fen), 0.5));
    assert!(white == black);
}

#[test]
fn quantisation_error_is_small() {
    let parameters = large_parameters::<HIDDEN>(10);
    let examples = examples(500, 11);
    let network = parameters.quantised(&examples).expect("weights in bounds");
    let error = parameters.quantisation_error(&network, CURVE, &examples);
    // Rounding 512 output weights to multiples of 1/256 would cause an error with a standard
    // deviation of 10 centipawns if all neurons had the value 1, but most values are smaller.
    assert!(error.mean > 0.0 && error.mean < 5.0 && error.max < 20.0, "{error:?}");
    let exact = square_errors(&parameters, CURVE, &examples) / 500.0;
    assert!((error.loss - exact).abs() < 0.03 * exact, "{error:?}, not {exact}");
}

#[test]
fn network_round_trips_through_parameters() {
    let network = large_parameters::<HIDDEN>(12).quantised(&[]).expect("weights in bounds");
    let weights = Parameters::from(&network);
    assert!(weights.quantised(&[]).expect("weights in bounds") == network);
    let (data, few) = (data(), TrainSettings { epochs: 1, rate: 1e-3, ..settings(2) });
    let mut trainer = Trainer::beginning_with(weights.clone(), few, &data);
    assert!(*trainer.parameters() == weights);
    let before = trainer.held_out_loss();
    while trainer.step().is_some() {}
    assert!(trainer.held_out_loss() < before);
}

#[test]
fn weights_are_limited_to_the_integer_range() {
    let mut parameters = Parameters::<HIDDEN>::zero();
    let mut adam = AdamW::new(Parameters::<HIDDEN>::LEN, 0);
    let uphill = vec![-1.0; Parameters::<HIDDEN>::LEN];
    let stride = adam::Stride { step: 1, rate: 9.0, decay: 0.0, scale: 1.0, common: 0.0 };
    adam.step(parameters.as_mut_slice(), &[&uphill], stride);
    assert_eq!(parameters.as_slice()[0], LIMIT);
    assert!(parameters.quantised(&[]).is_err());
    parameters.clip_outputs();
    assert!(parameters.quantised(&[]).is_ok());
}

/// Returns a test game, 1. e4 e5 2. Nf3 Nc6, won by White. All moves have a score of `number`
/// centipawns, except the last one, which has 9000. The third move is marked as noisy.
fn game(number: i16) -> PlayedGame {
    let played = |(ply, text): (i16, &str)| SearchedMove {
        mv: text.parse::<Move>().expect("a move"),
        score: if ply == 3 { 9000 } else { number },
        noisy: ply == 2,
    };
    let moves = (0..).zip(["e2e4", "e7e5", "g1f3", "b8c6"]).map(played).collect();
    PlayedGame { half_points: 2, moves, ..PlayedGame::default() }
}

#[test]
fn examples_are_quiet_and_undecided_positions() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.games");
    let (mut file, _) = GameFile::open(&path, &GameSettings::default()).expect("a new file");
    (0..10).for_each(|number| file.append(&game(100 * number)).expect("written"));
    let selection = Selection {
        curve: CURVE,
        result_share: 0.25,
        lambda: 0.0,
        lambda_few: 0.0,
        limit: 3000,
        skip_plies: 0,
        hold_out_every: 5,
    };
    let read = |selection: &Selection| {
        Data::read(std::slice::from_ref(&path), selection, 2, 1, |_| ()).expect("games")
    };
    let data = read(&selection);
    assert_eq!((data.games, data.positions), (10, 40));
    assert_eq!((data.training.len(), data.held_out.len()), (16, 4));
    // The first held-out game is the fifth one, which White wins with scores of 400 centipawns. The
    // second target is from Black's point of view.
    let expected = 0.75 * CURVE.of_score(400.0) + 0.25;
    let targets: Vec<f32> = data.held_out[..2].iter().map(|example| example.target).collect();
    assert!((targets[0] - expected).abs() < 1e-6 && (targets[1] - 1.0 + expected).abs() < 1e-6);
    assert_eq!(read(&Selection { skip_plies: 1, ..selection.clone() }).training.len(), 8);
    // In the first held-out game, the four moves have scores of 400, 400, 400 and 9000 centipawns,
    // and White wins. The last score and the result count as wins for White.
    let ahead = Selection { result_share: 0.0, lambda: 0.5, lambda_few: 1.0, ..selection };
    let expected = (0.5 + 0.25 + 0.125) * CURVE.of_score(400.0) + 0.0625 + 0.0625;
    assert!((read(&ahead).held_out[0].target - expected).abs() < 1e-6);
    let mut broken = game(0);
    broken.moves.swap(0, 1);
    file.append(&broken).expect("written");
    let error = Data::read(&[path], &selection_of_all(), 1, 1, |_| ()).expect_err("illegal");
    assert!(error.to_string().ends_with("a.games: game 11: a move is illegal"), "{error}");
}

#[test]
fn lambda_can_differ_for_positions_with_few_pieces() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.games");
    // There are ten pieces until the first capture. Black wins, although the score of every search
    // is +100 centipawns for White.
    let start = Some("4k3/pppp4/8/8/1p6/P7/1PP5/4K3 w - - 0 1".into());
    let played = |text: &str| SearchedMove {
        mv: text.parse::<Move>().expect("a move"),
        score: 100,
        noisy: false,
    };
    let moves = ["e1e2", "b4a3", "b2a3", "e8e7"].map(played).to_vec();
    let game = PlayedGame { start, moves, ..PlayedGame::default() };
    // The file contains the same game twice: the first is used for training, the second is held
    // out.
    let (mut file, _) = GameFile::open(&path, &GameSettings::default()).expect("a new file");
    (0..2).for_each(|_| file.append(&game).expect("written"));
    let selection = Selection { lambda: 0.5, lambda_few: 0.75, ..selection_of_all() };
    let data = Data::read(&[path], &selection, 1, 1, |_| ()).expect("games");
    let pawn = CURVE.of_score(100.0);
    // The expected results before the fourth, third and second moves, from White's point of view.
    // There are 10 pieces at first, 9 after the first capture, and 8 after the second.
    let fourth = 0.25 * pawn;
    let third = 0.25 * pawn + 0.75 * fourth;
    let second = 0.5 * pawn + 0.5 * third;
    let expected = [0.5 * pawn + 0.5 * second, 1.0 - second, third, 1.0 - fourth];
    let targets: Vec<f32> = data.held_out.iter().map(|example| example.target).collect();
    assert_eq!(targets.len(), 4);
    for (target, expected) in targets.iter().zip(expected) {
        assert!((target - expected).abs() < 1e-6, "{targets:?}, not {expected:?}");
    }
}

fn selection_of_all() -> Selection {
    Selection {
        curve: CURVE,
        result_share: 0.0,
        lambda: 0.0,
        lambda_few: 0.0,
        limit: i16::MAX,
        skip_plies: 0,
        hold_out_every: 2,
    }
}

#[test]
fn plot_shows_every_epoch() {
    let history: Vec<EpochLoss> = (1..=30)
        .map(|epoch| EpochLoss {
            training: 0.005 + 0.01 / f64::from(epoch),
            held_out: 0.006 + 0.01 / f64::from(epoch),
        })
        .collect();
    let svg = plot(&history);
    let curves: Vec<&str> = svg.lines().filter(|line| line.contains("<polyline")).collect();
    assert_eq!(curves.len(), 2);
    assert!(curves.iter().all(|curve| curve.matches(',').count() == 30));
    assert!(svg.contains(">0.006<") && svg.contains(">0.016<") && !svg.contains("NaN"), "{svg}");
    for short in [&history[..0], &history[..1]] {
        assert!(!plot(short).contains("NaN") && !plot(short).contains("inf"));
    }
}

#[test]
fn exported_examples_follow_a_line_with_their_numbers() {
    let mut data = data();
    data.held_out.truncate(2);
    let mut bytes = Vec::new();
    data.export(&mut bytes).expect("written to memory");
    let end = bytes.iter().position(|&byte| byte == b'\n').expect("a line");
    let line = std::str::from_utf8(&bytes[..end]).expect("text");
    let start = "tabia examples 1; training 1500; held out 2; scale 200; result ";
    assert!(line.starts_with(start), "{line}");
    let records = bytes[end + 1..].as_chunks::<32>().0;
    assert_eq!(records.len(), 1502);
    assert_eq!(records[1501], data.held_out[1].to_bytes());
}

#[test]
fn exported_example_lists_pieces_from_the_point_of_view_of_the_side_to_move() {
    // Black is to move, so the board is flipped: Black's king is then on g1, and White's on b8.
    let position = Position::from_fen("6k1/8/8/8/8/8/P7/1K6 b - - 0 1").expect("a position");
    let bytes = Example::new(&position, 0.25).to_bytes();
    assert_eq!(bytes[..8], (1_u64 << 6 | 1 << 48 | 1 << 57).to_le_bytes());
    // Each piece takes four bits. The side to move's king comes first, followed by the enemy's pawn
    // and king.
    assert_eq!(bytes[8..24], [5 | 8 << 4, 5 | 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[24..28], 0.25_f32.to_le_bytes());
    // The king on g1 is mirrored to b1. Both kings are in the first king bucket.
    assert_eq!(bytes[28..], [1, 0, 0, 0]);
}
