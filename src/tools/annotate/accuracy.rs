//! Converts scores to expected points in games between humans, and computes the accuracy of moves.

use crate::chess::score::Score;

/// The scale, in centipawns, of the logistic curve from score to expected result: each additional
/// `SCALE` centipawns multiply the odds of winning by e. Lichess fitted its reciprocal, 0.00368208,
/// to games between humans rated about 2300 (<https://lichess.org/page/accuracy>). In engine games,
/// the curve is steeper.
const SCALE: f64 = 1.0 / 0.003_682_08;
/// The cap on all scores, including mate scores, in centipawns. Lichess uses the same cap. It
/// ensures that a move loses no expected points if the position was clearly winning and still is.
const LARGEST: Score = 1_000;

/// The constants A, B and C of the formula for a move's accuracy in percent, `A exp(-B loss) - C`.
/// Here, `loss` is how much the move lowers the winning chances, in percentage points. Source:
/// <https://lichess.org/page/accuracy>.
const ACCURACY: (f64, f64, f64) = (103.1668, 0.043_54, 3.1669);

/// The minimum and maximum weight of a move in a game's mean accuracy. The weight is the standard
/// deviation of the expected points, in percent, in a window of plies that ends with the move.
/// Source: Lichess, `AccuracyPercent`.
const WEIGHTS: (f64, f64) = (0.5, 12.0);
/// The minimum and maximum size, in plies, of the window used for [`WEIGHTS`]. Within these limits,
/// its size is a tenth of the game's length.
const WINDOW: (usize, usize) = (2, 8);

pub(crate) fn expected(score: Score) -> f64 {
    let score = f64::from(score.clamp(-LARGEST, LARGEST));
    1.0 / (1.0 + (-score / SCALE).exp())
}

pub(super) fn of_move(loss: f64) -> f64 {
    let (scale, slope, below) = ACCURACY;
    (scale * (-slope * 100.0 * loss).exp() - below).clamp(0.0, 100.0)
}

/// Returns the accuracy of one side's moves, in percent. It is the average of a weighted mean, in
/// which moves count more while the expected points are changing a lot, and the harmonic mean,
/// which a few bad moves can lower considerably.
///
/// `white` contains White's expected points before each ply and at the end. `moves` contains the
/// index and the accuracy of each of that side's plies.
pub(super) fn of_game(white: &[f64], moves: &[(usize, f64)]) -> Option<f64> {
    if moves.is_empty() {
        return None;
    }
    let window = (white.len() / 10).clamp(WINDOW.0, WINDOW.1);
    let weight = |ply: usize| {
        let from = ply.saturating_sub(window - 1);
        (100.0 * deviation(&white[from..=ply.min(white.len() - 1)])).clamp(WEIGHTS.0, WEIGHTS.1)
    };
    let (mut sum, mut weights, mut reciprocals) = (0.0, 0.0, 0.0);
    for &(ply, accuracy) in moves {
        let weight = weight(ply + 1);
        sum += weight * accuracy;
        weights += weight;
        // Without this minimum, a single move with zero accuracy would make the harmonic mean zero.
        reciprocals += 1.0 / accuracy.max(1.0);
    }
    Some((sum / weights + moves.len() as f64 / reciprocals) / 2.0)
}

fn deviation(numbers: &[f64]) -> f64 {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    (numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::score::mate_in;

    #[test]
    fn expected_points_match_the_published_curve() {
        // The points are calculated by hand from Lichess's formula, 50 + 50 (2 / (1 +
        // exp(-0.00368208 cp)) - 1) percent.
        for (score, points) in [(0, 0.5), (100, 0.5910), (-300, 0.2489), (5_000, 0.9754)] {
            assert!((expected(score) - points).abs() < 1e-4, "{score}: {}", expected(score));
        }
        assert_eq!(expected(mate_in(3)), expected(1_000), "all won positions count alike");
        assert_eq!(expected(-mate_in(3)), expected(-1_000));
    }

    #[test]
    fn accuracy_is_100_without_losses_and_weights_turning_points() {
        assert!(of_move(0.0) > 99.9 && of_move(1.0) < 1e-9);
        assert!((of_move(0.10) - 63.6).abs() < 0.2, "{}", of_move(0.10));
        let even = [0.5; 11];
        let perfect: Vec<(usize, f64)> = (0..10).step_by(2).map(|ply| (ply, 100.0)).collect();
        assert_eq!(of_game(&even, &perfect), Some(100.0));
        assert_eq!(of_game(&even, &[]), None);
        let with_mistake_at = |at: usize| {
            let mut moves = perfect.clone();
            moves[at].1 = 40.0;
            moves
        };
        let in_even_game = of_game(&even, &with_mistake_at(2)).expect("moves");
        assert!((70.0..90.0).contains(&in_even_game), "{in_even_game}");
        // A mistake has more weight if the expected points change at that time.
        let mut turned = even;
        turned[5..].fill(0.2);
        assert!(of_game(&turned, &with_mistake_at(2)).expect("moves") < in_even_game);
    }
}
