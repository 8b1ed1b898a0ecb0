//! Expected points of human players, and the accuracy of their moves.

use crate::chess::score::Score;

/// Centipawns for a factor of e in the odds in games of people: Lichess fitted 0.00368208 per
/// centipawn to games of players rated about 2300 (<https://lichess.org/page/accuracy>). Between
/// engines a pawn is worth more.
const SCALE: f64 = 1.0 / 0.003_682_08;
/// Cap on scores, mates included (the same source): a won game that stays won costs nothing.
const LARGEST: Score = 1_000;

/// A move's accuracy in percent by the percentage of winning chances it loses:
/// `A exp(-B loss) - C`, with Lichess' constants (the same source).
const ACCURACY: (f64, f64, f64) = (103.1668, 0.043_54, 3.1669);

/// Minimum and maximum weight of a move in the mean of a game. The weight is the standard deviation
/// of a window in percent, after Lichess' `AccuracyPercent` (the same source explains the idea).
const WEIGHTS: (f64, f64) = (0.5, 12.0);
/// Minimum and maximum size of such a window in plies; in between, a tenth of the game.
const WINDOW: (usize, usize) = (2, 8);

/// The expected points, 0 to 1, of a person with this score.
pub(crate) fn expected(score: Score) -> f64 {
    let score = f64::from(score.clamp(-LARGEST, LARGEST));
    1.0 / (1.0 + (-score / SCALE).exp())
}

/// The accuracy, in percent, of a move that loses these expected points.
pub(super) fn of_move(loss: f64) -> f64 {
    let (scale, slope, below) = ACCURACY;
    (scale * (-slope * 100.0 * loss).exp() - below).clamp(0.0, 100.0)
}

/// The accuracy of one side's moves in a game, in percent; `None` without moves. `white` is White's
/// expected points before each ply and at the end; `moves` are the plies of one side, by index,
/// with their accuracy. The result is the mean of two means: one weighted by the volatility of the
/// game around each move, and the harmonic one, which a few bad moves lower most.
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
        // A single accuracy of zero would make the harmonic mean zero.
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
        // 50 + 50 (2 / (1 + exp(-0.00368208 cp)) - 1) percent, computed by hand.
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
        // The same mistake weighs more where it turns the game.
        let mut turned = even;
        turned[5..].fill(0.2);
        assert!(of_game(&turned, &with_mistake_at(2)).expect("moves") < in_even_game);
    }
}
