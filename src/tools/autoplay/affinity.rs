//! Binds games to processor cores, so that concurrent games do not disturb each other.

use thiserror::Error;

#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The processor cores of one game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cores(Vec<usize>);

/// Why games cannot be bound to cores.
#[derive(Debug, Error)]
pub enum AffinityError {
    /// The platform does not support binding, or Tabia does not implement it there.
    #[error("cannot bind games to processor cores: Tabia supports this only on Linux")]
    Unsupported,
    /// There are fewer cores than games.
    #[error(
        "cannot bind {games} games at a time to processor cores: there are only {cores}; play \
         fewer at a time"
    )]
    TooFew {
        /// Concurrent games.
        games: usize,
        /// Cores that the runner may use.
        cores: usize,
    },
    /// The system refused.
    #[error("cannot bind games to processor cores: {0}")]
    Refused(#[from] std::io::Error),
}

impl Cores {
    /// Divides the available cores among `games` games, the same number for each.
    ///
    /// Cores left over stay unused.
    ///
    /// # Errors
    /// If there are fewer cores than games, or the system cannot bind threads to cores.
    pub fn deal(games: usize) -> Result<Vec<Cores>, AffinityError> {
        let usable = usable()?;
        let each = usable.len() / games.max(1);
        if each == 0 {
            return Err(AffinityError::TooFew { games, cores: usable.len() });
        }
        // Fail now rather than in every game.
        Cores(usable.clone()).try_bind()?;
        Ok(usable.chunks_exact(each).take(games).map(|cores| Cores(cores.to_vec())).collect())
    }

    /// Binds the calling thread, and all threads and processes that it starts later.
    pub fn bind(&self) {
        // It worked in `deal`. If a core has been switched off since, the match continues unbound.
        let _ = self.try_bind();
    }

    #[cfg(target_os = "linux")]
    fn try_bind(&self) -> Result<(), AffinityError> {
        let mut set = CpuSet::new();
        self.0.iter().for_each(|&core| set.set(core));
        sched_setaffinity(None, &set).map_err(|error| AffinityError::Refused(error.into()))
    }

    #[cfg(not(target_os = "linux"))]
    fn try_bind(&self) -> Result<(), AffinityError> {
        Err(AffinityError::Unsupported)
    }
}

#[cfg(target_os = "linux")]
fn usable() -> Result<Vec<usize>, AffinityError> {
    let set = sched_getaffinity(None).map_err(|error| AffinityError::Refused(error.into()))?;
    Ok((0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect())
}

#[cfg(not(target_os = "linux"))]
fn usable() -> Result<Vec<usize>, AffinityError> {
    Err(AffinityError::Unsupported)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn every_game_gets_cores_of_its_own() {
        let all = usable().expect("Linux");
        let shares = Cores::deal(all.len()).expect("one each");
        assert_eq!(shares, all.iter().map(|&core| Cores(vec![core])).collect::<Vec<_>>());
        assert_eq!(Cores::deal(1).expect("all"), [Cores(all.clone())]);
        let error = Cores::deal(all.len() + 1).expect_err("too many");
        assert!(matches!(error, AffinityError::TooFew { .. }), "{error}");
    }

    #[test]
    fn what_a_bound_thread_starts_is_bound() {
        let share = Cores(vec![usable().expect("Linux")[0]]);
        let seen = std::thread::spawn({
            let share = share.clone();
            move || {
                share.bind();
                let shell = std::process::Command::new("sh")
                    .args(["-c", "grep Cpus_allowed_list /proc/self/status"])
                    .output();
                String::from_utf8(shell.expect("a shell").stdout).expect("text")
            }
        });
        let seen = seen.join().expect("no panic");
        assert_eq!(seen.split_whitespace().last(), Some(share.0[0].to_string().as_str()));
    }
}
