//! Tests of partial counts in Parquet files: `tabia book count` and `book pack`.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::support;

fn tabia(arguments: &str, folder: &Path) -> (bool, String) {
    let arguments: Vec<&str> = ["book"].into_iter().chain(arguments.split(' ')).collect();
    let output = support::tabia(&arguments, folder);
    let printed = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(printed).expect("UTF-8"))
}

/// Creates two PGN files. They contain games that are counted, a game without a result, and a game
/// with an illegal move.
fn folder_of_games() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let games = "1. e4 e5 2. Nf3 Nc6 1-0\n\n1. d4 d5 2. c4 e6 0-1\n\n1. e4 c5 *\n\n";
    let more = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. c4 1/2-1/2\n\n1. e4 e5 2. Ke5 0-1\n\n";
    fs::write(folder.path().join("a.pgn"), games).expect("writable");
    fs::write(folder.path().join("b.pgn"), more).expect("writable");
    folder
}

#[cfg(not(feature = "parquet"))]
#[test]
fn missing_parquet_feature_is_explained() {
    let folder = folder_of_games();
    for arguments in ["count a.pgn --parquet counts", "pack counts -o out.tbk"] {
        let (ok, printed) = tabia(arguments, folder.path());
        assert!(!ok && printed.contains("--features parquet"), "{printed}");
    }
    fs::write(folder.path().join("games.parquet"), "PAR1").expect("writable");
    let (ok, printed) = tabia("build games.parquet -o out.tbk", folder.path());
    assert!(!ok && printed.contains("--features parquet"), "{printed}");
}

#[cfg(feature = "parquet")]
mod with_parquet {
    use super::*;

    fn run_ok(arguments: &str, folder: &Path) -> String {
        let (ok, printed) = tabia(arguments, folder);
        assert!(ok, "{arguments}: {printed}");
        printed
    }

    fn run_err(arguments: &str, folder: &Path, because: &str) {
        let (ok, printed) = tabia(arguments, folder);
        assert!(!ok && printed.contains(because), "{arguments}: {printed}");
    }

    #[test]
    fn packed_counts_equal_a_build() {
        let folder = folder_of_games();
        let folder = folder.path();
        for (counting, packing) in [
            ("", ""),
            (" --undecided --max-ply 3 --files 1", " --memory 1M"),
            (" --side black --files 256 --threads 3", " --min-games 2 --min-score 40"),
        ] {
            fs::create_dir(folder.join("all")).expect("writable");
            run_ok(&format!("count a.pgn --parquet all/a{counting}"), folder);
            run_ok(&format!("count b.pgn --parquet all/b{counting}"), folder);
            run_ok(&format!("pack all -o packed.tbk{packing}"), folder);
            let options = format!("{counting}{packing}")
                .replace(" --files 256", "")
                .replace(" --files 1", "");
            run_ok(&format!("build a.pgn b.pgn -o built.tbk{options}"), folder);
            let read = |name: &str| fs::read(folder.join(name)).expect("readable");
            assert!(read("built.tbk") == read("packed.tbk"), "{options}");
            // The book is the same if one of the two sets of counts has facets.
            fs::remove_dir_all(folder.join("all/a")).expect("a folder");
            run_ok(&format!("count a.pgn --parquet all/a --facets{counting}"), folder);
            run_ok(&format!("pack all -o packed.tbk{packing} --force"), folder);
            assert!(read("built.tbk") == read("packed.tbk"), "{options}");
            fs::remove_dir_all(folder.join("all")).expect("a folder");
        }
    }

    #[test]
    fn incomplete_counts_are_rejected() {
        let folder = folder_of_games();
        let folder = folder.path();
        run_ok("count a.pgn --parquet a", folder);
        run_err("count a.pgn --parquet a", folder, "a exists already; choose another folder");
        run_ok("count b.pgn --parquet b --max-ply 3", folder);
        run_err("pack a b -o out.tbk", folder, "counted in different ways");
        fs::remove_dir_all(folder.join("b")).expect("a folder");
        run_ok("count b.pgn --parquet b", folder);
        fs::rename(folder.join("b/manifest.json"), folder.join("kept.json")).expect("there");
        run_err("pack b -o out.tbk", folder, "b: there is no manifest.json");
        run_err("pack a b -o out.tbk", folder, "missing or present twice");
        fs::rename(folder.join("kept.json"), folder.join("b/manifest-of-b.json")).expect("there");
        run_ok("pack a b -o out.tbk", folder);
        fs::write(folder.join("b/part-003.parquet"), "PAR1 and no more").expect("writable");
        run_err("pack a b -o out.tbk --force", folder, "b/part-003.parquet");
        run_err("pack nowhere -o out.tbk --force", folder, "nowhere: it does not exist");
        run_err("build b/part-000.parquet -o games.tbk", folder, "movetext");
        run_err("count a.pgn --parquet c --strict --files 3", folder, "expected 1, 2, 4");
        assert!(!folder.join("c").exists());
    }

    /// Damage to a file of counts either causes an error or does not affect the book.
    #[test]
    fn damaged_counts_never_give_a_different_book() {
        let folder = folder_of_games();
        let folder = folder.path();
        run_ok("count a.pgn b.pgn --parquet counts --files 2", folder);
        run_ok("pack counts -o whole.tbk", folder);
        let whole = fs::read(folder.join("whole.tbk")).expect("a book");
        let files = ["manifest.json", "part-000.parquet", "part-001.parquet"];
        let mut refused = 0;
        for name in files {
            let path = folder.join("counts").join(name);
            let sound = fs::read(&path).expect("there");
            // Damage a single byte, at about 150 evenly spaced places in each file.
            for at in (0..sound.len()).step_by(sound.len().div_ceil(150)) {
                let mut changed = sound.clone();
                changed[at] ^= 1 << (at % 8);
                fs::write(&path, &changed).expect("writable");
                let (ok, printed) = tabia("pack counts -o out.tbk -q", folder);
                assert!(!printed.contains("panicked"), "{name}, byte {at}: {printed}");
                match ok {
                    true => assert!(
                        fs::read(folder.join("out.tbk")).expect("a book") == whole,
                        "{name}, byte {at}"
                    ),
                    false => refused += 1,
                }
            }
            fs::write(&path, &sound[..sound.len() / 2]).expect("writable");
            assert!(!tabia("pack counts -o out.tbk -q", folder).0, "{name}");
            fs::write(&path, sound).expect("writable");
        }
        assert!(refused > 150, "{refused}");
    }
}
