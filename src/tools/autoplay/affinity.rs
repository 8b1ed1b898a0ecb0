//! Binds games to processor cores, so that simultaneous games do not slow each other down.
//!
//! ```
//! use tabia::autoplay::affinity::Cores;
//!
//! // The cores for each of the simultaneous games, if there are enough.
//! if let Ok(cores) = Cores::deal(1) {
//!     assert_eq!(cores.len(), 1);
//! }
//! ```

use std::io;

use crate::support::files::describe;
use crate::support::platform::{bind_to_cores, usable_cores};

/// The processor cores reserved for one game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cores(Vec<usize>);

impl Cores {
    /// Divides the available cores equally among `games` simultaneous games. Any remaining cores
    /// are not used.
    ///
    /// # Errors
    /// If there are fewer cores than games, or if the operating system cannot bind threads to
    /// cores.
    pub fn deal(games: usize) -> io::Result<Vec<Cores>> {
        let usable = usable_cores().map_err(|error| refused(&error))?;
        let each = usable.len() / games.max(1);
        if each == 0 {
            let cores = usable.len();
            return Err(io::Error::other(format!(
                "cannot bind {games} games at a time to processor cores: there are only {cores}; \
                 play fewer at a time"
            )));
        }
        // Try binding once now, so that an error is reported before the match rather than in every
        // game.
        Cores(usable.clone()).try_bind()?;
        Ok(usable.chunks_exact(each).take(games).map(|cores| Cores(cores.to_vec())).collect())
    }

    /// Binds the calling thread to these cores, together with all threads and processes that it
    /// starts later.
    pub fn bind(&self) {
        // Binding succeeded in `deal`. If a core has been taken offline since then, the match
        // continues without binding.
        let _ = self.try_bind();
    }

    fn try_bind(&self) -> io::Result<()> {
        bind_to_cores(&self.0).map_err(|error| refused(&error))
    }
}

fn refused(reason: &io::Error) -> io::Error {
    io::Error::other(format!("cannot bind games to processor cores: {}", describe(reason)))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn every_game_gets_its_own_cores() {
        let all = usable_cores().expect("Linux");
        let shares = Cores::deal(all.len()).expect("one each");
        assert_eq!(shares, all.iter().map(|&core| Cores(vec![core])).collect::<Vec<_>>());
        assert_eq!(Cores::deal(1).expect("all"), [Cores(all.clone())]);
        let error = Cores::deal(all.len() + 1).expect_err("too many");
        assert!(error.to_string().contains("there are only"), "{error}");
    }

    #[test]
    fn child_processes_inherit_the_affinity() {
        let share = Cores(vec![usable_cores().expect("Linux")[0]]);
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
