//! What `tabia generate` writes for packages.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::tabia;

fn generate(arguments: &[&str]) -> String {
    let output = tabia(&[&["generate"], arguments].concat(), Path::new("."));
    assert!(output.status.success() && output.stderr.is_empty(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// As Debian's `gnuchess.eng` has it: the kind of file, the command line and the variants.
#[test]
fn the_plugin_file_has_the_form_of_xboards_own() {
    let plugin = generate(&["plugin"]);
    assert_eq!(plugin.lines().collect::<Vec<_>>(), ["plugin spec 0.0", "tabia -x", "chess"]);
    assert!(plugin.ends_with('\n'));
}

#[test]
fn there_are_completions_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = generate(&["completions", shell]);
        for word in ["tabia", "autoplay", "bookpvs"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

/// The pages that a page names: words such as `tabia-book(6)`, hyphens escaped or not.
fn named_in(page: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(page).expect("a page").replace('\\', "");
    let words = text.split_whitespace().filter_map(|word| word.strip_suffix("(6)"));
    words.map(|name| format!("{name}.6")).collect()
}

#[test]
fn every_man_page_that_is_named_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = folder.path().join("man6");
    assert_eq!(generate(&["man", pages.to_str().expect("UTF-8")]), "");
    let entries =
        std::fs::read_dir(&pages).expect("the folder").map(|entry| entry.expect("a file"));
    let written: BTreeSet<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let named: BTreeSet<String> =
        written.iter().flat_map(|name| named_in(&pages.join(name))).collect();
    for name in ["tabia-book.6", "tabia-book-build.6", "tabia-autoplay.6"] {
        assert!(named.contains(name), "{name}: {named:?}");
    }
    let main = BTreeSet::from(["tabia.6".to_owned()]);
    assert_eq!(written, &named | &main);
    let page = std::fs::read_to_string(pages.join("tabia.6")).expect("the page");
    assert_eq!(generate(&["man"]), page);
    assert!(page.contains(".TH tabia 6"), "{page}");
}
