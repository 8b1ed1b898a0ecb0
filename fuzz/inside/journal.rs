//! Opens arbitrary lines as the journal of an annotation, a tuning run or an analysis. The file
//! must be either accepted, or rejected and left unchanged. Reopening an accepted file must give
//! the same records and change nothing, and an appended record must be readable.
//!
//! The first byte selects the kind of journal. The first line after it is replaced by a valid
//! header, and a correct checksum is added to each later line. Lines that begin with a tab are
//! written without the tab and are otherwise unchanged.

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::games::book::{Book, BookValue};
use crate::support::files::{Journal, Kind};
use crate::tools::autoplay::spsa::{Plan, Tuner, open_tuning_journal};
use crate::tools::suite::analysis::open_journal;

static KIND: Kind = Kind { magic: "tabia fuzz 1; ", name: "the journal" };
const OWNER: &str = "settings";
const TUNING: &str = "tabia tuning 2; settings";

/// The number of kinds of journals.
const KINDS: u8 = 3;

fn head(kind: u8, book: &Book) -> String {
    match kind {
        0 => format!("{}{OWNER}", KIND.magic),
        1 => TUNING.to_owned(),
        _ => format!("tabia analysis 2; book {:08x}", book.entries_checksum()),
    }
}

/// Returns the content of the journal file that an input describes.
fn journal_of(head: &str, lines: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    for (number, line) in lines.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        match line.strip_prefix(b"\t") {
            Some(line) => file.extend_from_slice(line),
            None if number == 0 => file.extend_from_slice(format!("{head}\n").as_bytes()),
            None => {
                file.extend_from_slice(format!("{:08x} ", crc32fast::hash(text)).as_bytes());
                file.extend_from_slice(line);
            }
        }
    }
    file
}

/// Seed inputs.
pub fn seeds() -> Vec<(&'static str, String)> {
    let row: Vec<String> = (0..20).map(|number| number.to_string()).collect();
    let games = r#"{"wins":1,"draws":2,"losses":3,"void_pairs":0}"#;
    let iteration = |number| {
        format!(r#"{{"number":{number},"score":-2,"games":{games},"values":{{"a":0.125}}}}"#)
    };
    vec![
        (
            "annotations",
            "\x00\n[0,\"1. e4 *\\n\"]\n[7,\"x\"]\n\tdeadbeef [1,\"y\"]\n[2,".to_owned(),
        ),
        ("tuning", format!("\x01\n{}\n{}\n{}\n", iteration(1), iteration(3), iteration(2))),
        ("analysis", format!("\x02\n[{}]\n", row.join(","))),
        ("foreign", "\x00\ttabia fuzz 2; settings\n".to_owned()),
    ]
}

/// Writes the journal to a file in the folder, opens it, and checks the result.
pub fn run(folder: &Path, bytes: &[u8]) {
    let Some((&kind, lines)) = bytes.split_first() else { return };
    let (kind, book) = (kind % KINDS, Book::embedded());
    let path = folder.join("journal");
    let file = journal_of(&head(kind, &book), lines);
    fs::write(&path, &file).expect("a folder");
    match kind {
        0 => use_journal(&path, &file),
        1 => use_tuning(&path, &file),
        _ => {
            let open = || open_journal(&path, &book).map(|(_, values)| values).ok();
            let values: Option<Vec<BookValue>> = open();
            assert_eq!(open(), values);
            check_rejected(&path, &file, values.is_none());
        }
    }
}

fn check_rejected(path: &Path, file: &[u8], is_rejected: bool) {
    assert!(!is_rejected || fs::read(path).expect("the file") == file, "a rejected file changed");
}

fn use_journal(path: &Path, file: &[u8]) {
    type Record = (u64, String);
    let Some((mut journal, records)) = open::<Record>(path) else {
        check_rejected(path, file, true);
        return;
    };
    for (record, place) in &records {
        assert_eq!(journal.read_at(*place).expect("a record"), *record);
    }
    drop(journal);
    let once = fs::read(path).expect("the file");
    let (mut journal, again) = open::<Record>(path).expect("the same journal");
    assert_eq!(again, records);
    assert!(fs::read(path).expect("the file") == once, "a second time changes nothing");
    let record = (u64::MAX, "the last\nof all".to_owned());
    let place = journal.append(&record).expect("a folder");
    drop(journal);
    let (_, mut now) = open::<Record>(path).expect("the same journal");
    assert_eq!(now.pop(), Some((record, place)));
    assert_eq!(now, records);
}

type Opened<R> = (Journal<R>, Vec<(R, u64)>);

fn open<R: Serialize + DeserializeOwned>(path: &Path) -> Option<Opened<R>> {
    let mut records = Vec::new();
    let journal = Journal::open(path, &KIND, OWNER, |record, place| records.push((record, place)));
    journal.ok().map(|journal| (journal, records))
}

fn use_tuning(path: &Path, file: &[u8]) {
    let open = || {
        let parameters = vec!["a,0.1,0,1,0.07,0.3".parse().expect("a parameter")];
        let mut tuner = Tuner::new(parameters, Plan { iterations: 40, pairs: 2, seed: 5 });
        let (_, tally) = open_tuning_journal(path, false, OWNER, &mut tuner).ok()?;
        assert!(tuner.values().iter().all(|value| (0.0..=1.0).contains(value)), "{tuner:?}");
        Some((tuner.values().to_vec(), tuner.iteration(), tally))
    };
    let once = open();
    assert_eq!(open(), once);
    check_rejected(path, file, once.is_none());
}
