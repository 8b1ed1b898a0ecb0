//! Rejects options that would have no effect, such as `--junit` in a match.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, Error, FromArgMatches};

/// The options that have an effect together with `--check`.
const OF_CHECK: &[&str] = &[
    "check", "junit", "trace", "force", "patience", "margin", "proto", "option", "pace", "dir",
    "env", "init", "verbose",
];

/// The options that have an effect together with `--aggregate`.
const OF_AGGREGATE: &[&str] = &["shared", "aggregate", "json", "force", "verbose"];

/// Options that have an effect only together with another one: the option, and those of which it
/// requires at least one.
const REQUIRED: &[(&str, &[&str])] = &[
    ("junit", &["check"]),
    ("worker", &["shared"]),
    ("aggregate", &["shared"]),
    ("resume", &["pgn", "state", "shared"]),
    ("pgn-fields", &["pgn"]),
    ("site", &["pgn"]),
    ("alpha", &["sprt"]),
    ("beta", &["sprt"]),
    ("elo-model", &["sprt"]),
    ("origin", &["listen"]),
    ("opening-order", &["openings"]),
    ("opening-start", &["openings"]),
    ("opening-plies", &["openings"]),
    ("seed", &["openings"]),
];

/// Checks the combination of options on the command line. It adds no options of its own.
///
/// clap's attribute `requires` is not sufficient: clap ignores it if the required option conflicts
/// with an option that is present.
#[derive(Debug)]
pub(super) struct Given;

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given: Vec<String> = given(matches);
        let fail = |message: String| Err(Error::raw(ErrorKind::ArgumentConflict, message));
        let has = |name: &str| given.iter().any(|other| other == name);
        for (mode, allowed) in [("check", OF_CHECK), ("aggregate", OF_AGGREGATE)] {
            let useless = given.iter().find(|name| !allowed.contains(&name.as_str()));
            if let Some(name) = useless.filter(|_| has(mode)) {
                return fail(format!("--{name} has no effect with --{mode}"));
            }
        }
        for (name, others) in REQUIRED {
            if has(name) && !others.iter().any(|other| has(other)) {
                let others: Vec<String> = others.iter().map(|name| format!("--{name}")).collect();
                return fail(format!("--{name} has no effect without {}", others.join(" or ")));
            }
        }
        for (suffix, command) in [("1", "first"), ("2", "second")] {
            let own = given.iter().find(|name| name.ends_with(suffix));
            if let Some(name) = own.filter(|_| !has(command)) {
                return fail(format!("--{name} has no effect without -{suffix}"));
            }
        }
        Ok(Given)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        Self::from_arg_matches(matches).map(drop)
    }
}

impl clap::Args for Given {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

/// Returns the long names of the options on the command line.
fn given(matches: &ArgMatches) -> Vec<String> {
    // clap also lists its groups of options, which have the names of types.
    let is_option = |name: &str| name.starts_with(|first: char| first.is_ascii_lowercase());
    let is_given = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    let names = matches.ids().map(clap::Id::as_str);
    names
        .filter(|name| is_option(name) && is_given(name))
        // The option `--force` has the id `allowed`.
        .map(|name| if name == "allowed" { "force".to_owned() } else { name.replace('_', "-") })
        .collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use crate::cli::Cli;
    use crate::cli::usage::describe;

    use super::*;

    fn parse(options: &str) -> Result<(), String> {
        let words = ["tabia", "autoplay"].into_iter().chain(options.split(' '));
        let matches = Cli::command().try_get_matches_from(words).map_err(|error| describe(&error));
        Cli::from_arg_matches(&matches?).map(drop).map_err(|error| describe(&error))
    }

    #[test]
    fn options_without_effect_are_rejected() {
        for (options, message) in [
            ("-1 a -2 b --junit x.xml", "--junit has no effect without --check"),
            ("-1 a -2 b -n 2 --worker 1/2", "--worker has no effect without --shared"),
            ("--aggregate", "--aggregate has no effect without --shared"),
            ("--check a -n 2", "--games has no effect with --check"),
            ("--check a --tc 1+1", "--tc has no effect with --check"),
            ("--check a --pgn-fields all", "--pgn-fields has no effect with --check"),
            ("--shared d --aggregate --tc 1+1", "--tc has no effect with --aggregate"),
            ("-1 a -2 b --resume", "--resume has no effect without --pgn or --state or --shared"),
            ("-1 a -2 b --alpha 0.05", "--alpha has no effect without --sprt"),
            ("-1 a -2 b --seed 1", "--seed has no effect without --openings"),
            ("--engines x.toml --tc2 1+1", "--tc2 has no effect without -2"),
        ] {
            assert_eq!(parse(options), Err(message.to_owned()), "{options}");
        }
    }

    #[test]
    fn every_name_is_that_of_an_option() {
        let command = Cli::command();
        let command = command.find_subcommand("autoplay").expect("the command");
        let is_known = |name: &&str| {
            command.get_arguments().any(|option| option.get_long() == Some(name))
                || ["verbose", "listen", "origin"].contains(name)
        };
        let pairs = REQUIRED.iter().flat_map(|(name, others)| [&[*name], *others].concat());
        for name in pairs.chain(OF_CHECK.iter().chain(OF_AGGREGATE).copied()) {
            assert!(is_known(&name), "{name}");
        }
        for option in command.get_arguments() {
            let id = option.get_id().as_str().replace('_', "-");
            assert!(
                option
                    .get_long()
                    .is_none_or(|long| long == id || ["help", "allowed"].contains(&&*id)),
                "{id}"
            );
        }
        assert_eq!(parse("--check a --margin 100 --option x=1 --junit x.xml --proto uci"), Ok(()));
        assert_eq!(parse("-1 a -2 b --sprt 0,5 --alpha 0.05 --tc2 1+1"), Ok(()));
    }
}
