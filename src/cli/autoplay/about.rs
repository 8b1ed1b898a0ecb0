//! Collects the contents of a match report, except for the results.

use std::path::{Component, Path, PathBuf};

use super::Args;
use crate::cli::args::cores;
use crate::cli::date::now;
use crate::support::platform;
use crate::support::words::number_of;
use crate::tools::autoplay::results::About;
use crate::tools::autoplay::schedule::{Format, Schedule};

pub(super) fn about(args: &Args, schedule: &Schedule) -> About {
    let format = match schedule.format {
        _ if schedule.engines == 2 => "",
        Format::RoundRobin => ", round robin",
        Format::Gauntlet => ", the first engine against all others",
        Format::Swiss { rounds } => {
            &format!(", Swiss tournament of {}", number_of(rounds as u64, "round"))
        }
        Format::Knockout => ", knockout",
    };
    let games = format!(
        "{} for each two engines, {} at a time{format}",
        schedule.games,
        args.concurrency.count()
    );
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut facts = vec![("Games", games)];
    facts.extend(args.openings.describe());
    facts.push(("Command", shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()));
    facts.push(("Machine", machine()));
    facts.push(("Started", format!("{} (UTC), Tabia {}", now(), env!("CARGO_PKG_VERSION"))));
    About { facts, games: None }
}

fn machine() -> String {
    let model = platform::cpu_model().unwrap_or(std::env::consts::ARCH.to_owned());
    let count = cores();
    let unit = if count == 1 { "core" } else { "cores" };
    format!("{model}, {count} {unit}, {}", std::env::consts::OS)
}

/// Returns the path of `file` relative to `folder`. Returns `None` if either does not exist, or if
/// `file` is not a regular file.
pub(super) fn relative_path(folder: &Path, file: &Path) -> Option<PathBuf> {
    let (folder, file) = (folder.canonicalize().ok()?, file.canonicalize().ok()?);
    if !file.is_file() {
        return None;
    }
    let common = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    Some(up.chain(file.components().skip(common)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_path_goes_up_and_down() {
        let dir = tempfile::tempdir().expect("a folder");
        let [report, games] = ["a/report", "b"].map(|name| dir.path().join(name));
        for folder in [&report, &games] {
            std::fs::create_dir_all(folder).expect("a folder");
        }
        for (file, wanted) in [
            (games.join("x y.pgn"), "../../b/x y.pgn"),
            (report.join("x.pgn"), "x.pgn"),
            (dir.path().join("x.pgn"), "../../x.pgn"),
        ] {
            std::fs::write(&file, "").expect("written");
            assert_eq!(relative_path(&report, &file), Some(wanted.into()));
        }
        assert_eq!(relative_path(&report, &report.join("missing")), None);
        assert_eq!(relative_path(&report, Path::new("/dev/null")), None);
    }
}
