//! Checks the sources against the rules in ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{files_below, read, root};

/// No function may have more than `LONGEST_FUNCTION` lines, and 95% of the functions must have
/// fewer than `LONG_FUNCTION` lines.
const LONGEST_FUNCTION: usize = 100;
const LONG_FUNCTION: usize = 45;
const LONGEST_FILE: usize = 600;
const PRINTING: [&str; 1] = ["cli"];

struct Source {
    path: PathBuf,
    module: String,
    text: String,
}

impl Source {
    fn code(&self) -> String {
        let lines = self.text.lines().filter(|line| !line.trim_start().starts_with("//"));
        lines.collect::<Vec<_>>().join("\n")
    }
}

#[test]
fn declared_modules_match_the_table() {
    let table = table();
    let mut declared = Vec::new();
    // Skip `fuzz`, whose source is in the folder of the fuzz targets rather than in `src`.
    for area in declared_in("src/lib.rs").into_iter().filter(|name| name != "fuzz") {
        // If the table has rows for modules of an area, it must list all of them. Otherwise the row
        // of the area stands for all its modules.
        if table.iter().any(|name| name.starts_with(&format!("{area}::"))) {
            let modules = declared_in(&format!("src/{area}/mod.rs"));
            declared.extend(modules.into_iter().map(|name| format!("{area}::{name}")));
        }
        declared.push(area);
    }
    let mut listed = table;
    declared.sort_unstable();
    listed.sort_unstable();
    assert_eq!(declared, listed, "the areas' modules and the table in ARCHITECTURE.md differ");
}

#[test]
fn modules_of_an_area_follow_its_row_in_the_table() {
    let mut area = String::new();
    for name in table() {
        match name.split_once("::") {
            Some((of, _)) => assert_eq!(of, area, "{name} is not below the row of its area"),
            None => area = name,
        }
    }
}

#[test]
fn modules_use_only_modules_above_them() {
    let table = table();
    let faults = order_faults(&table, &sources(&["src"]));
    assert!(faults.is_empty(), "against the order in ARCHITECTURE.md:\n{}", faults.join("\n"));
}

#[test]
fn order_check_finds_violations() {
    let table = ["low", "low::one", "low::two", "high", "high::three"].map(str::to_owned);
    let faults = |path: &str, text: &str| {
        let path = PathBuf::from(path);
        let source = Source { module: module_of(&path), path, text: text.to_owned() };
        order_faults(&table, &[source])
    };
    let none = Vec::<String>::new();
    assert_eq!(faults("src/high/three/a.rs", "use crate::low::{one::One, two};\n"), none);
    assert_eq!(faults("src/low/two.rs", "use crate::low::{one::One, two::Two};\n"), none);
    let file = "src/low/one/mod.rs";
    assert_eq!(faults(file, "use crate::low::two;\n"), [format!("{file} uses low::two")]);
    assert_eq!(
        faults(file, "fn f() { crate::high::three::g() }\n"),
        [format!("{file} uses high"), format!("{file} uses high::three")]
    );
    // Importing an item that is re-exported at the crate root does not bypass the check.
    let file = "src/high/three/a.rs";
    assert_eq!(faults(file, "use crate::one::One;\n"), [format!("{file} uses one")]);
    assert_eq!(faults("src/low/new/a.rs", ""), ["src/low/new/a.rs is in no module of the table"]);
}

#[test]
fn files_of_a_folder_have_no_cyclic_uses() {
    let mut faults = Vec::new();
    for (folder, uses) in uses_within_folders(&sources(&["src"])) {
        let mut open: Vec<&String> = uses.keys().collect();
        // Repeatedly remove a file that uses no other remaining file, because it cannot be in a
        // cycle. The files that remain at the end are in a cycle or use files in one.
        while let Some(free) = open
            .iter()
            .position(|name| !uses[*name].iter().any(|used| used != *name && open.contains(&used)))
        {
            open.remove(free);
        }
        if !open.is_empty() {
            faults.push(format!("{}: {open:?}", folder.display()));
        }
    }
    assert!(faults.is_empty(), "files (or folders) in circles:\n{}", faults.join("\n"));
}

#[test]
fn cycle_check_finds_cycles() {
    let source = |path: &str, text: &str| Source {
        path: PathBuf::from(path),
        module: String::new(),
        text: text.to_owned(),
    };
    let sources = [
        source("src/a/one.rs", "use super::{Thing, two::{Two, Deux}, three};\n"),
        source("src/a/two.rs", "use super::three::Three;\n// super::one\n"),
        source("src/a/three/mod.rs", "use crate::a::one::One;\n"),
        source("src/a/three/four.rs", "use crate::{b, a::two};\nuse super::one;\n"),
    ];
    let uses = uses_within_folders(&sources);
    let of = |folder: &str, name: &str| -> Vec<&str> {
        uses[Path::new(folder)][name].iter().map(String::as_str).collect()
    };
    assert_eq!(of("src/a", "one"), ["three", "two"]);
    assert_eq!(of("src/a", "two"), ["three"]);
    assert_eq!(of("src/a", "three"), ["one", "two"]);
    assert_eq!(of("src/a/three", "four"), Vec::<&str>::new());
}

#[test]
fn only_the_outermost_modules_print() {
    const WAYS_OUT: [&str; 6] =
        ["println!", "eprintln!", "print!(", "stdout()", "stderr()", "dbg!"];
    let mut faults = Vec::new();
    for source in sources(&["src"]) {
        if PRINTING.contains(&source.module.as_str()) {
            continue;
        }
        let code = source.code();
        for way in WAYS_OUT.iter().filter(|way| code.contains(**way)) {
            faults.push(format!("{}: {way}", source.path.display()));
        }
    }
    assert!(faults.is_empty(), "modules that must not print:\n{}", faults.join("\n"));
}

#[test]
fn printing_macros_that_can_panic_are_not_used() {
    // `println!` and `print!` panic if standard output is closed or full.
    let unguarded = |source: &Source| {
        let code = source.code();
        code.contains("println!") || code.contains("print!(")
    };
    let faults: Vec<_> =
        sources(&["src"]).into_iter().filter(unguarded).map(|source| source.path).collect();
    assert!(faults.is_empty(), "use outln! and errln! of cli::output: {faults:?}");
}

#[test]
fn there_is_no_global_mutable_state() {
    const CHANGEABLE: [&str; 7] =
        ["static mut ", "thread_local!", "Atomic", "Cell<", "Lock<", "Mutex<", "Lazy"];
    // Statics that are allowed: constants that are initialised on first use, and state that console
    // handlers and job objects on Windows require.
    const CONSTANTS: [&str; 5] = [
        "EMBEDDED: LazyLock<Arc<Network>>",
        "EMBEDDED_BOOK: LazyLock<Book>",
        "DISTANCES: OnceLock<",
        "WATCHERS: Mutex<",
        "OWN_JOB: OnceLock<",
    ];
    let mut faults = Vec::new();
    for source in sources(&["src"]) {
        let code = source.code();
        let globals = code.lines().filter(|line| {
            let item =
                line.trim_start().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
            item.starts_with("static ") || item.starts_with("thread_local!")
        });
        let globals =
            globals.filter(|line| CONSTANTS.iter().all(|constant| !line.contains(constant)));
        for global in globals.filter(|line| CHANGEABLE.iter().any(|word| line.contains(word))) {
            faults.push(format!("{}: {global}", source.path.display()));
        }
    }
    assert!(faults.is_empty(), "state outside any owner:\n{}", faults.join("\n"));
}

#[test]
fn functions_and_files_are_short() {
    let sources = sources(&["src", "tests", "benches", "examples"]);
    let mut functions: Vec<(usize, String)> = sources.iter().flat_map(function_lengths).collect();
    functions.sort_unstable();
    let (longest, name) = functions.last().expect("there are functions");
    assert!(*longest <= LONGEST_FUNCTION, "{name} has {longest} lines");
    let (long, name) = &functions[functions.len() * 95 / 100];
    assert!(*long < LONG_FUNCTION, "more than 5% of the functions are longer than {name}: {long}");
    for source in &sources {
        let lines = source.text.lines().count();
        assert!(lines < LONGEST_FILE, "{} has {lines} lines", source.path.display());
    }
}

#[test]
fn function_lengths_are_measured_correctly() {
    let text = "impl A {\n    fn one(&self) -> u8 {\n        1\n    }\n\n    fn declared(\n        &self,\n    ) -> u8;\n\n    pub(super) fn two(\n        &self,\n    ) -> u8 {\n        2\n    }\n}\nfn short() {}\n";
    let source =
        Source { path: PathBuf::from("a.rs"), module: String::new(), text: text.to_owned() };
    let lengths: Vec<usize> =
        function_lengths(&source).into_iter().map(|(lines, _)| lines).collect();
    assert_eq!(lengths, [3, 5, 1]);
}

fn declared_in(file: &str) -> Vec<String> {
    let text = read(Path::new(file));
    let names = text.lines().filter_map(|line| {
        let line = line.strip_prefix("pub ").or(line.strip_prefix("pub(crate) ")).unwrap_or(line);
        line.strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned)
    });
    names.collect()
}

/// Returns the areas and modules in the order of the module table in ARCHITECTURE.md. Their names
/// are in backquotes in its first column.
fn table() -> Vec<String> {
    let text = read(Path::new("ARCHITECTURE.md"));
    let begin = text.find("## Modules").expect("a section on modules");
    let rows = text[begin..].lines().skip_while(|line| !line.starts_with('|'));
    let rows = rows.take_while(|line| line.starts_with('|'));
    let modules: Vec<String> = rows
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |"))
        .map(|(module, _)| module.to_owned())
        .collect();
    assert!(!modules.is_empty(), "no module table in ARCHITECTURE.md");
    modules
}

fn order_faults(table: &[String], sources: &[Source]) -> Vec<String> {
    let rank = |module: &str| table.iter().position(|name| name == module);
    let mut faults = Vec::new();
    for source in sources {
        let path = source.path.display();
        let Some(own) = rank(&source.module) else {
            if !source.path.ends_with("lib.rs") && !source.path.ends_with("main.rs") {
                faults.push(format!("{path} is in no module of the table"));
            }
            continue;
        };
        for used in used_after("crate::", Path::new("src"), &source.code()) {
            let module = module_of(&used);
            let area = module.split("::").next().unwrap_or_default();
            let used = rank(&module).map(|rank| (rank, &*module));
            let used = used.or_else(|| rank(area).map(|rank| (rank, area)));
            if used.is_none_or(|(rank, _)| rank > own) {
                let fault = format!("{path} uses {}", used.map_or(area, |(_, name)| name));
                if faults.last() != Some(&fault) {
                    faults.push(fault);
                }
            }
        }
    }
    faults
}

/// Returns the module to which a file belongs, such as `games::pgn`. All files of the area `cli`
/// belong to the same module.
fn module_of(path: &Path) -> String {
    let names = own_path(path);
    let mut names = names.iter().skip(1).map(|name| name.to_string_lossy());
    let area = names.next().unwrap_or_default();
    match names.next() {
        Some(module) if !PRINTING.contains(&&*area) => format!("{area}::{module}"),
        _ => area.into_owned(),
    }
}

type Uses = BTreeMap<String, BTreeSet<String>>;

/// For each folder, returns its files and subfolders, each with the siblings that it uses. Uses in
/// unit tests are ignored.
fn uses_within_folders(sources: &[Source]) -> BTreeMap<PathBuf, Uses> {
    let mut folders: BTreeMap<PathBuf, Uses> = BTreeMap::new();
    for source in sources {
        for path in source.path.ancestors().filter(|path| path.parent().is_some()) {
            let (Some(folder), Some(name)) = (path.parent(), path.file_stem()) else { continue };
            let name = name.to_string_lossy().into_owned();
            if !["mod", "lib", "main", "tests", "src"].contains(&name.as_str()) {
                folders.entry(folder.to_owned()).or_default().entry(name).or_default();
            }
        }
    }
    for source in sources.iter().filter(|source| !source.path.ends_with("tests.rs")) {
        let code = source.code();
        let code = code.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for used in used_paths(&own_path(&source.path), code) {
            note_use(&mut folders, &own_path(&source.path), &used);
        }
    }
    folders
}

/// Returns the module of a file as a path: both `src/a/b.rs` and `src/a/b/mod.rs` become `src/a/b`.
fn own_path(file: &Path) -> PathBuf {
    if file.ends_with("mod.rs") { file.with_file_name("") } else { file.with_extension("") }
        .components()
        .collect()
}

/// Returns the paths of the modules that a module's code refers to. All paths start at `src`.
fn used_paths(own: &Path, code: &str) -> Vec<PathBuf> {
    let above = own.parent().map(|above| used_after("super::", above, code));
    let mut found = above.unwrap_or_default();
    found.extend(used_after("crate::", Path::new("src"), code));
    found
}

/// Returns the paths that follow each occurrence of `word` (such as `crate::`) in the code. `base`
/// is the folder to which `word` refers.
fn used_after(word: &str, base: &Path, code: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for rest in code.split(word).skip(1) {
        let end = rest.find(';').unwrap_or(rest.len());
        paths_of(base, &rest[..end], &mut found);
    }
    found
}

fn paths_of(base: &Path, text: &str, found: &mut Vec<PathBuf>) {
    if let Some(list) = text.strip_prefix('{') {
        let (mut depth, mut begin) = (0, 0);
        for (at, letter) in list.char_indices() {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            if depth < 0 || depth == 0 && letter == ',' {
                paths_of(base, list[begin..at].trim_start(), found);
                begin = at + 1;
            }
            if depth < 0 {
                break;
            }
        }
        return;
    }
    let name = first_name(text);
    if name.is_empty() || name.starts_with(|letter: char| letter.is_uppercase()) {
        return;
    }
    let path = base.join(name);
    found.push(path.clone());
    if let Some(rest) = text[name.len()..].strip_prefix("::") {
        paths_of(&path, rest, found);
    }
}

/// Records that the module `own` uses the module `used`. The use is recorded in the deepest folder
/// that contains both, between the two entries of that folder that contain them.
fn note_use(folders: &mut BTreeMap<PathBuf, Uses>, own: &Path, used: &Path) {
    let common: PathBuf =
        own.iter().zip(used).take_while(|(one, other)| one == other).map(|(one, _)| one).collect();
    let part = |path: &Path| {
        let name = path.strip_prefix(&common).ok()?.iter().next()?;
        Some(name.to_string_lossy().into_owned())
    };
    let (Some(uses), Some(own), Some(used)) = (folders.get_mut(&common), part(own), part(used))
    else {
        return;
    };
    if uses.contains_key(&used)
        && let Some(uses) = uses.get_mut(&own)
    {
        uses.insert(used);
    }
}

fn first_name(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    &text[..end.unwrap_or(text.len())]
}

/// Returns the length and place of every function in a file. The code must be formatted, because a
/// function is taken to end at the first closing brace with the same indentation as its `fn` line.
fn function_lengths(source: &Source) -> Vec<(usize, String)> {
    let lines: Vec<&str> = source.text.lines().collect();
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate().filter(|(_, line)| is_function_start(line)) {
        let indent = line.len() - line.trim_start().len();
        let aligned = |line: &&str| line.len() - line.trim_start().len() == indent;
        let length = if line.ends_with('}') || line.ends_with(';') {
            1
        } else {
            let rest = lines[number + 1..].iter();
            let ends = |line: &&str| aligned(line) && (line.trim() == "}" || line.ends_with(';'));
            2 + rest.take_while(|line| !ends(line)).count()
        };
        let declared_only = lines[number + length - 1].ends_with(';');
        if !declared_only {
            found.push((length, format!("{}:{}", source.path.display(), number + 1)));
        }
    }
    found
}

fn is_function_start(line: &str) -> bool {
    let words = line.trim_start();
    words.starts_with("fn ")
        || (words.starts_with("pub") || words.starts_with("const") || words.starts_with("unsafe"))
            && words.split('(').any(|part| part.contains(" fn "))
}

fn sources(folders: &[&str]) -> Vec<Source> {
    let present = folders.iter().filter(|folder| root().join(folder).exists());
    let files = present.flat_map(|folder| files_below(folder, "rs"));
    files.map(|path| Source { text: read(&path), module: module_of(&path), path }).collect()
}
