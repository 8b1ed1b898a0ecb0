//! Checks the links, anchors and lengths of the documentation pages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::{files_below, read, root};

const MAX_LINE: usize = 110;
const MAX_WORDS: usize = 1_500;
const MAX_README_WORDS: usize = 900;
const MAX_ARCHITECTURE_WORDS: usize = 2_000;

pub(super) fn paths() -> BTreeSet<PathBuf> {
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    let below = ["docs", "books", "tests"].into_iter().flat_map(|name| files_below(name, "md"));
    top.into_iter().map(PathBuf::from).chain(below).collect()
}

fn pages() -> BTreeMap<PathBuf, String> {
    paths().into_iter().map(|path| (path.clone(), without_blocks(&read(&path)))).collect()
}

/// Replaces the fenced blocks of a page with empty lines.
fn without_blocks(text: &str) -> String {
    let mut is_block = false;
    let mut kept = String::new();
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        if !is_block && !is_fence {
            kept.push_str(line);
        }
        kept.push('\n');
        is_block ^= is_fence;
    }
    kept
}

/// Returns the anchors that GitHub generates for the headings of a page.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| -> String {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = |sign: &char| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_');
        heading.chars().filter(kept).map(|sign| if sign == ' ' { '-' } else { sign }).collect()
    };
    headings.map(anchor).collect()
}

fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).collect()
}

fn resolved(page: &Path, link: &str) -> PathBuf {
    if link.is_empty() {
        return page.to_owned();
    }
    let mut path = PathBuf::new();
    for part in page.parent().unwrap_or(Path::new("")).join(link).components() {
        match part {
            Component::ParentDir => assert!(path.pop(), "{} leaves the repository", page.display()),
            part => path.push(part),
        }
    }
    path
}

#[test]
fn links_lead_to_files_and_headings() {
    let pages = pages();
    let mut checked = 0;
    for (page, text) in &pages {
        for link in links(text) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = resolved(page, file);
            assert!(root().join(&target).exists(), "{}: no file {link}", page.display());
            let headings = pages.get(&target).map(|text| anchors(text)).unwrap_or_default();
            assert!(
                anchor.is_empty() || headings.contains(anchor),
                "{}: no heading {link}",
                page.display()
            );
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked} links found");
}

#[test]
fn every_page_is_linked() {
    let pages = pages();
    let targets = |(page, text): (&PathBuf, &String)| -> Vec<PathBuf> {
        let files = links(text).into_iter().filter_map(|link| link.split('#').next());
        files.map(|file| resolved(page, file)).collect()
    };
    let linked: BTreeSet<PathBuf> = pages.iter().flat_map(targets).collect();
    for page in pages.keys().filter(|page| page.starts_with("docs")) {
        assert!(linked.contains(page), "no page links to {}", page.display());
    }
}

#[test]
fn pages_and_lines_are_short() {
    for (page, text) in pages() {
        let words = text.split_whitespace().count();
        let limit = match page.to_str() {
            Some("README.md") => MAX_README_WORDS,
            Some("ARCHITECTURE.md") => MAX_ARCHITECTURE_WORDS,
            Some("CHANGELOG.md" | "docs/lessons.md") => usize::MAX,
            _ => MAX_WORDS,
        };
        assert!(words <= limit, "{}: {words} words, {limit} at most", page.display());
        for (line, number) in text.lines().zip(1..) {
            let is_short = line.chars().count() <= MAX_LINE || page.starts_with("tests");
            assert!(is_short, "{}: line {number} is longer than {MAX_LINE}", page.display());
        }
    }
}

#[test]
fn links_and_anchors_are_extracted() {
    let text = without_blocks("# A `B` c-d\n[x](y.md#z) and [w](../v.md)\n```\n[no](no.md)\n```\n");
    assert_eq!(links(&text), ["y.md#z", "../v.md"]);
    assert_eq!(anchors(&text), BTreeSet::from(["a-b-c-d".to_owned()]));
    assert_eq!(resolved(Path::new("docs/a/b.md"), "../v.md"), Path::new("docs/v.md"));
}
