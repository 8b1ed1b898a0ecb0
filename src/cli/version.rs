//! The text of `tabia --version`.

use std::fmt::Write;
use std::hint::black_box;
use std::sync::LazyLock;

use crate::engine::eval::kernel_name;

/// All features, and whether this build has them. The feature `loom` is omitted, because it is only
/// for tests.
const FEATURES: [(&str, bool); 8] = [
    ("cli", cfg!(feature = "cli")),
    ("compression", cfg!(feature = "compression")),
    ("lesson", cfg!(feature = "lesson")),
    ("parquet", cfg!(feature = "parquet")),
    ("serve", cfg!(feature = "serve")),
    ("syzygy", cfg!(feature = "syzygy")),
    ("train", cfg!(feature = "train")),
    ("tune", cfg!(feature = "tune")),
];

/// The version number, followed by one line each for the commit, the features, the profile, the
/// compiler, the target and the kernels.
pub(super) static LONG: LazyLock<String> = LazyLock::new(describe);

fn describe() -> String {
    let mut text = env!("CARGO_PKG_VERSION").to_owned();
    let features = FEATURES.iter().filter(|(_, enabled)| *enabled).map(|(name, _)| *name);
    let rows = [
        ("commit", commit().to_owned()),
        ("features", features.collect::<Vec<_>>().join(", ")),
        ("profile", env!("TABIA_PROFILE").to_owned()),
        // `black_box` keeps the text in one piece, so that examples/packaging/notices finds it in
        // the program's file.
        ("compiler", black_box(env!("TABIA_COMPILER")).to_owned()),
        ("target", format!("{}{}", env!("TABIA_TARGET"), baseline())),
        ("kernels", kernels()),
    ];
    for (name, value) in rows {
        // Writing to a string does not fail.
        let _ = write!(text, "\n{:<10}{value}", format!("{name}:"));
    }
    text
}

fn commit() -> &'static str {
    match env!("TABIA_COMMIT") {
        "" => "not recorded",
        commit => commit,
    }
}

/// Returns the x86-64 level that this build requires, as a suffix for the target name. Empty on
/// other architectures.
fn baseline() -> &'static str {
    if !cfg!(target_arch = "x86_64") {
        ""
    } else if cfg!(target_feature = "avx512bw") {
        ", x86-64-v4"
    } else if cfg!(target_feature = "avx2") {
        ", x86-64-v3"
    } else if cfg!(target_feature = "sse4.2") {
        ", x86-64-v2"
    } else {
        ", x86-64-v1"
    }
}

/// Returns the names of the network kernels chosen for this processor.
fn kernels() -> String {
    let network = format!("network {}", kernel_name());
    #[cfg(feature = "train")]
    let network = format!("{network}, training {}", crate::tools::train::net::kernel_name());
    network
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_features_of_cargo_are_listed() {
        let manifest: toml::Table = include_str!("../../Cargo.toml").parse().expect("TOML");
        let declared = manifest["features"].as_table().expect("a table").keys();
        let declared: Vec<_> =
            declared.filter(|name| !["default", "loom"].contains(&name.as_str())).collect();
        let listed: Vec<_> = FEATURES.iter().map(|(name, _)| *name).collect();
        assert_eq!(declared, listed);
    }

    #[test]
    fn the_text_has_one_line_for_each_row() {
        let text = describe();
        let names: Vec<_> =
            text.lines().skip(1).filter_map(|line| line.split(':').next()).collect();
        assert_eq!(names, ["commit", "features", "profile", "compiler", "target", "kernels"]);
        assert_eq!(text.lines().next(), Some(env!("CARGO_PKG_VERSION")));
        assert!(text.contains("cli, compression"), "{text}");
        assert!(!text.lines().any(|line| line.ends_with(": ")), "{text}");
    }
}
