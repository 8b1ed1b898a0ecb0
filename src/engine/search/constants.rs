//! Tunable constants of the search, each with its range and tuning step.
//!
//! A macro turns each row of the table into a `const fn`. With the `tune` feature, each row becomes
//! an option in both protocols, whose value is read at run time. `tabia tune` changes these options
//! (docs/guides/tune.md). The values are global, because in `Config` each would need a field, a
//! default and a setting that users do not need.
//!
//! Scores are in centipawns, depths are in plies, and `lmr_…` values are in units of 1/1024 of a
//! ply. docs/measurements/strength-search-steps.md describes how the values were found.

/// Passes the table of constants to a macro. Each row has the form `name = value in least ..= most,
/// step;`, where `step` is the size of the changes at the end of a tuning run.
macro_rules! with_constants {
    ($make:ident) => {
        $make! {
            // Reverse futility pruning: maximum depth, margin by which the evaluation must exceed
            // beta per ply of depth, and reduction of this margin if the evaluation is improving.
            reverse_futility_depth = 8 in 4..=14, 1;
            reverse_futility_margin = 80 in 30..=160, 8;
            improving_discount = 65 in 0..=160, 10;

            null_move_reduction = 4 in 2..=7, 1;
            // Null move pruning: the depth per extra ply of reduction, in tenths of a ply.
            null_move_depth_share = 40 in 20..=80, 4;
            null_move_eval_step = 200 in 80..=400, 20;
            null_move_eval_max = 3 in 1..=6, 1;
            // Null move pruning requires the static evaluation to exceed beta by this margin at
            // depth 0. Per ply of depth, the margin decreases by the second value.
            null_move_slack = 120 in 0..=300, 20;
            null_move_slack_per_ply = 20 in 0..=40, 3;

            probcut_margin = 170 in 80..=320, 15;

            futility_depth = 8 in 5..=14, 1;
            futility_base = 90 in 20..=200, 12;
            futility_margin = 75 in 30..=160, 8;

            // Late move pruning: the number of quiet moves tried at depth 0, in tenths; the
            // increase in this number per squared ply of depth, in hundredths; and the maximum
            // depth.
            late_moves_base = 30 in 10..=80, 5;
            late_moves_step = 100 in 40..=200, 10;
            late_moves_depth = 8 in 5..=14, 1;

            quiet_see_depth = 9 in 5..=14, 1;
            quiet_see_margin = 22 in 10..=60, 4;
            forcing_see_depth = 7 in 4..=12, 1;
            forcing_see_margin = 95 in 40..=180, 10;

            history_pruning_depth = 4 in 2..=9, 1;
            history_pruning_margin = 3_500 in 1_000..=8_000, 400;

            singular_depth = 6 in 4..=10, 1;
            // Singular extensions: the table move is singular if every other move is worse by at
            // least this margin. The margin is per ply of depth, in tenths of a centipawn.
            singular_margin = 14 in 6..=50, 3;
            double_extension_margin = 20 in 0..=60, 5;

            // Late move reductions: the constant part, and the divisor of the product log(depth) *
            // log(move number).
            lmr_base = 973 in 300..=1_600, 80;
            lmr_divisor = 138 in 80..=240, 8;
            lmr_not_improving = 1_024 in 0..=2_048, 120;
            lmr_cut = 2_048 in 512..=3_584, 180;
            lmr_pv = 1_024 in 0..=2_560, 150;
            lmr_check = 1_024 in 0..=2_048, 150;
            lmr_in_check = 1_024 in 0..=2_048, 150;
            // Smaller late move reduction if the opponent's last move improved the evaluation for the
            // side to move.
            lmr_gain = 512 in 0..=1_536, 100;
            // Additional late move reduction if many nodes at the next ply (children of this node
            // and of its siblings) have failed high.
            lmr_cutoffs = 1_024 in 0..=2_048, 150;
            // A node reached by a reduced move is reduced by one more ply if the move improved the
            // evaluation for the side to move by more than this margin.
            hindsight_margin = 60 in 10..=200, 12;
            // History score at which a move is reduced by one ply less than a move with score 0.
            lmr_history = 9_000 in 4_000..=20_000, 800;

            // Weights of the correction histories, one for each source, in 1/256 of a centipawn per
            // unit of the stored correction, whose absolute value is at most 1024.
            correction_pawns = 11 in 0..=24, 2;
            correction_pieces = 11 in 0..=24, 2;
            correction_moves = 7 in 0..=24, 2;
            correction_step = 32 in 8..=96, 6;

            aspiration_width = 14 in 6..=40, 3;
            delta_margin = 180 in 60..=320, 20;
            // Maximum number of moves that the quiescence search tries if the side to move is not
            // in check. Recaptures and promotions are tried even beyond this number.
            quiescence_moves = 3 in 1..=8, 1;
            // Number of moves after which the quiescence search no longer tries quiet evasions, if
            // one of the moves does not lose by force.
            quiescence_evasions = 3 in 1..=8, 1;

            history_bonus = 160 in 60..=360, 20;
            history_bonus_max = 1_700 in 600..=3_600, 180;
            history_malus = 160 in 60..=360, 20;
            history_malus_max = 1_400 in 600..=3_600, 180;
            // History update for a quiet move, based on the change in static evaluation: bonus per
            // centipawn gained by the side that moved, maximum bonus, and maximum penalty.
            evaluation_history = 10 in 0..=30, 2;
            evaluation_history_max = 300 in 60..=900, 40;
            evaluation_history_min = 150 in 60..=900, 40;

            // Ordering of quiet moves. The first constant is the bonus for giving check. Each of
            // the others applies to a kind of piece, both as a bonus for leaving a square attacked
            // by a less valuable piece and as a penalty for moving to such a square.
            order_check = 10_000 in 0..=24_000, 1_000;
            order_threat_minor = 8_000 in 0..=24_000, 1_000;
            order_threat_rook = 12_000 in 0..=30_000, 1_200;
            order_threat_queen = 20_000 in 0..=40_000, 1_800;
        }
    };
}
#[cfg(feature = "tune")]
pub(crate) use with_constants;

#[cfg(not(feature = "tune"))]
macro_rules! constants {
    ($($name:ident = $value:literal in $least:literal ..= $most:literal, $step:literal;)*) => {
        $(
            #[inline(always)]
            pub(super) const fn $name() -> i32 {
                const { assert!($least <= $value && $value <= $most && $step > 0) };
                $value
            }
        )*
    };
}

#[cfg(feature = "tune")]
macro_rules! constants {
    ($($name:ident = $value:literal in $least:literal ..= $most:literal, $step:literal;)*) => {
        /// Current values of the constants in this process. In a tuning run, each engine has its
        /// own process and therefore its own values.
        #[allow(non_upper_case_globals)]
        pub(crate) mod values {
            use std::sync::atomic::AtomicI32;

            $(pub(crate) static $name: AtomicI32 = AtomicI32::new($value);)*
        }

        $(
            #[inline(always)]
            pub(super) fn $name() -> i32 {
                values::$name.load(std::sync::atomic::Ordering::Relaxed)
            }
        )*

        /// Returns one line per search constant, in the format of `tabia tune --params`.
        pub(crate) fn parameters() -> Vec<String> {
            vec![$(format!(
                "{},{},{},{},{},{}\n",
                stringify!($name), $value, $least, $most, $step, RATE
            )),*]
        }
    };
}

/// Learning rate at the end of a tuning run (`r_end`; see docs/guides/tune.md).
#[cfg(feature = "tune")]
const RATE: f64 = 0.008;

with_constants!(constants);

#[cfg(all(test, feature = "tune"))]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn changed_constant_takes_effect() {
        let before = late_moves_depth();
        values::late_moves_depth.store(before + 1, Relaxed);
        assert_eq!(late_moves_depth(), before + 1);
        values::late_moves_depth.store(before, Relaxed);
    }
}
