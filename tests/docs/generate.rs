//! What `tabia generate` writes for packages.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::tabia;

fn generate(arguments: &[&str]) -> String {
    let output = tabia(&[&["generate"], arguments].concat(), Path::new("."));
    assert!(output.status.success() && output.stderr.is_empty(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The format of Debian's `gnuchess.eng`: file type, command line and variants.
#[test]
fn plugin_file_has_the_xboard_format() {
    let plugin = generate(&["plugin"]);
    assert_eq!(plugin.lines().collect::<Vec<_>>(), ["plugin spec 0.0", "tabia -x", "chess"]);
    assert!(plugin.ends_with('\n'));
}

/// Every file is written to its standard place; files of another kind are not replaced.
#[test]
fn package_files_are_written_to_their_places() {
    let folder = tempfile::tempdir().expect("a folder");
    let share = folder.path().to_str().expect("UTF-8");
    assert_eq!(generate(&["share", share]), "");
    let read = |place: &str| std::fs::read_to_string(folder.path().join(place)).expect(place);
    assert_eq!(read("games/plugins/xboard/tabia.eng"), generate(&["plugin"]));
    assert_eq!(read("applications/tabia.desktop"), generate(&["desktop"]));
    assert_eq!(read("bash-completion/completions/tabia"), generate(&["completions", "bash"]));
    assert_eq!(read("fish/vendor_completions.d/tabia.fish"), generate(&["completions", "fish"]));
    assert_eq!(read("zsh/site-functions/_tabia"), generate(&["completions", "zsh"]));
    assert_eq!(read("man/man6/tabia.6"), generate(&["man"]));
    assert_eq!(generate(&["share", share]), "", "its own files are replaced");

    let entry = folder.path().join("applications/tabia.desktop");
    std::fs::write(&entry, "[Desktop Entry]\nName=Another\n").expect("a file");
    let refused = tabia(&["generate", "share", share], Path::new("."));
    assert!(!refused.status.success());
    let reported = String::from_utf8(refused.stderr).expect("UTF-8");
    assert!(reported.contains("tabia.desktop") && reported.lines().count() == 1, "{reported}");
    assert!(read("applications/tabia.desktop").contains("Another"));
}

#[test]
fn completions_exist_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = generate(&["completions", shell]);
        for word in ["tabia", "autoplay", "bookpvs"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

/// Returns Tabia's pages that a page names, such as `tabia-book(6)`, also in bold or with escaped
/// hyphens.
fn pages_named_in(page: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(page).expect("a page");
    let text = text.replace("\\fB", "").replace("\\fR", "").replace('\\', "");
    let words = text.split_whitespace().filter_map(|word| word.split_once("(6)"));
    let ours = words.filter(|(name, _)| name.starts_with("tabia"));
    ours.map(|(name, _)| format!("{name}.6")).collect()
}

#[test]
fn every_referenced_man_page_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = folder.path().join("man6");
    assert_eq!(generate(&["man", pages.to_str().expect("UTF-8")]), "");
    let entries =
        std::fs::read_dir(&pages).expect("the folder").map(|entry| entry.expect("a file"));
    let written: BTreeSet<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let named: BTreeSet<String> =
        written.iter().flat_map(|name| pages_named_in(&pages.join(name))).collect();
    for name in ["tabia-book.6", "tabia-book-build.6", "tabia-autoplay.6"] {
        assert!(named.contains(name), "{name}: {named:?}");
    }
    assert_eq!(written, named);
    let page = std::fs::read_to_string(pages.join("tabia.6")).expect("the page");
    assert_eq!(generate(&["man"]), page);
    assert!(page.contains(".TH tabia 6 "), "{page}");
}

/// cargo-deb takes the version from Cargo.toml; Debian's changelog repeats it.
#[test]
fn package_changelog_matches_the_version() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/packaging/changelog");
    let changelog = std::fs::read_to_string(path).expect("the changelog");
    let newest = format!("tabia ({}-1) ", env!("CARGO_PKG_VERSION"));
    assert!(changelog.starts_with(&newest), "the first line should begin with {newest}");
}

/// The page of `tabia` itself, with plain hyphens.
fn main_page() -> String {
    generate(&["man"]).replace("\\-", "-")
}

/// The page has the usual sections in the usual order.
#[test]
fn main_man_page_has_the_usual_sections() {
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

/// The page lists every environment variable that the sources read. In files that call `env::var`,
/// strings in capitals count as names of variables.
#[test]
fn main_man_page_lists_every_environment_variable() {
    let mut read = BTreeSet::new();
    for file in super::files_below("src", "rs") {
        let text = super::read(&file);
        let text = text.split("#[cfg(test)]").next().expect("a beginning").to_owned();
        if text.contains("env::var") {
            read.extend(variable_names(&text));
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

/// Texts of capitals and underscores, of at least four letters.
fn variable_names(text: &str) -> BTreeSet<String> {
    let quoted = text.split('"').skip(1).step_by(2);
    let is_name = |word: &&str| {
        word.len() >= 4 && word.chars().all(|sign| sign.is_ascii_uppercase() || sign == '_')
    };
    quoted.filter(is_name).map(str::to_owned).collect()
}
