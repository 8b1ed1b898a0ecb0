//! Tests the files that examples/packaging writes.

#[path = "../../examples/packaging/share.rs"]
mod share;

use std::collections::BTreeSet;
use std::path::Path;

fn file(place: &str) -> String {
    let mut files = share::files().expect("texts");
    String::from_utf8(files.remove(place).expect(place)).expect("UTF-8")
}

/// The plugin file must have the same lines as Debian's `gnuchess.eng`: file type, command line and
/// variants.
#[test]
fn the_plugin_file_has_the_form_of_xboards_own() {
    assert_eq!(file("games/plugins/xboard/tabia.eng"), "plugin spec 0.0\ntabia -x\nchess\n");
}

#[test]
fn completions_offer_commands_and_options() {
    for place in [
        "bash-completion/completions/tabia",
        "fish/vendor_completions.d/tabia.fish",
        "zsh/site-functions/_tabia",
    ] {
        let script = file(place);
        for word in ["tabia", "autoplay", "bookpvs"] {
            assert!(script.contains(word), "{place}: {word}");
        }
    }
}

/// The newest release must come first, because software centres show the releases in this order.
#[test]
fn the_metadata_lists_the_releases_of_the_changelog() {
    let text = file("metainfo/invalid.packages.tabia.metainfo.xml");
    let newest = text.lines().find(|line| line.contains("<release ")).expect("a release");
    assert!(newest.contains(&format!("version=\"{}\"", env!("CARGO_PKG_VERSION"))), "{newest}");
    assert!(text.contains("version=\"0.1.0\" date=\"2026-11-21\""), "{text}");
}

/// Returns the files of Tabia's manual pages to which a page refers, as in `tabia-book(6)`. The
/// names may be in bold.
fn named_in(page: &str) -> BTreeSet<String> {
    let text = page.replace("\\fB", "").replace("\\fR", "").replace('\\', "");
    let words = text.split_whitespace().filter_map(|word| word.split_once("(6)"));
    let ours = words.filter(|(name, _)| name.starts_with("tabia"));
    ours.map(|(name, _)| format!("man/man6/{name}.6")).collect()
}

#[test]
fn every_man_page_that_is_named_is_written() {
    let files = share::files().expect("texts");
    let pages = files.iter().filter(|(place, _)| place.starts_with("man/"));
    let (mut written, mut named) = (BTreeSet::new(), BTreeSet::new());
    for (place, text) in pages {
        let text = std::str::from_utf8(text).expect("UTF-8");
        assert!(text.contains(".SH EXAMPLES"), "{place}: {text}");
        written.insert(place.clone());
        named.extend(named_in(text));
    }
    assert!(written.contains("man/man6/tabia-book-build.6"), "{written:?}");
    assert_eq!(written, named);
}

/// cargo-deb takes the package's version from Cargo.toml, and Debian requires a changelog whose
/// newest entry has the same version.
#[test]
fn the_packages_changelog_is_that_of_this_version() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/packaging/changelog");
    let changelog = std::fs::read_to_string(path).expect("the changelog");
    let newest = format!("tabia ({}-1) ", env!("CARGO_PKG_VERSION"));
    assert!(changelog.starts_with(&newest), "the first line should begin with {newest}");
}

fn main_page() -> String {
    file("man/man6/tabia.6").replace("\\-", "-")
}

#[test]
fn the_main_page_has_its_sections() {
    let page = main_page();
    let sections: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
    let wanted = [
        "NAME",
        "SYNOPSIS",
        "DESCRIPTION",
        "OPTIONS",
        "SUBCOMMANDS",
        "ENVIRONMENT",
        "FILES",
        "EXAMPLES",
        "\"SEE ALSO\"",
    ];
    assert_eq!(sections, wanted);
}

/// The manual page must list every environment variable that the sources read. In a source file
/// that reads the environment, every quoted string in capitals counts as the name of a variable.
/// Code for Windows is excluded, because Windows has no manual pages.
#[test]
fn the_main_page_names_every_variable_that_is_read() {
    let mut read = BTreeSet::new();
    let files = super::files_below("src", "rs").into_iter();
    for file in files.filter(|file| !file.starts_with("src/support/platform/windows")) {
        let text = super::read(&file);
        let text = text.split("#[cfg(test)]").next().expect("a beginning").to_owned();
        if text.contains("env::var") {
            read.extend(names_of_variables(&text));
        }
        if text.contains("env::temp_dir") {
            read.insert("TMPDIR".to_owned());
        }
    }
    assert!(read.contains("RUST_LOG") && read.contains("NO_COLOR"), "{read:?}");
    let page = main_page();
    let environment = page.split(".SH ENVIRONMENT").nth(1).expect("a section");
    let environment = environment.split(".SH ").next().expect("its end");
    for name in read {
        assert!(environment.contains(&format!("\\fB{name}\\fR")), "{name}: {environment}");
    }
}

/// Returns all quoted strings of at least four characters that consist only of capitals and
/// underscores.
fn names_of_variables(text: &str) -> BTreeSet<String> {
    let quoted = text.split('"').skip(1).step_by(2);
    let is_name = |word: &&str| {
        word.len() >= 4 && word.chars().all(|sign| sign.is_ascii_uppercase() || sign == '_')
    };
    quoted.filter(is_name).map(str::to_owned).collect()
}
