//! Texel's tuning method: weights that predict the results of games best.
//!
//! The score of a quiet position, put through a logistic curve, should be the expected result of
//! the game. The mean square of the difference is made small by gradient descent on all weights at
//! once. Source: <https://www.chessprogramming.org/Texel%27s_Tuning_Method>; the gradient, with
//! its treatment of the nonlinear terms, follows from A. Grant, "Evaluation & Tuning in Chess
//! Engines" (2020).

mod adam;
mod data;
mod model;
mod normal;
mod run;

pub use data::Data;
pub use model::{Model, Values};
pub use normal::normalised;
pub use run::{Outcome, Progress, Settings, source_file, tune};

/// Does a part of the work in each thread.
fn in_parallel<I: Sync, O: Send>(
    items: &[I],
    threads: usize,
    work: impl Fn(&[I]) -> O + Sync,
) -> Vec<O> {
    let size = items.len().div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        let work = &work;
        let handles: Vec<_> =
            items.chunks(size).map(|part| scope.spawn(move || work(part))).collect();
        handles.into_iter().map(|handle| handle.join().expect("a worker panicked")).collect()
    })
}
