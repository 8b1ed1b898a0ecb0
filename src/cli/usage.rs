//! Error messages for invalid command-line arguments, each of which points to the help.

use std::error::Error;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::process::ExitCode;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use thiserror::Error;

use super::Cli;
use super::output::{self, errln, outln};
use super::suggestion::did_you_mean;
use crate::protocols::cecp::{Audience, Reply};

/// Commands that exist only in builds with the feature of the same name.
const OPTIONAL_COMMANDS: [&str; 3] = ["lesson", "serve", "train"];

const STATUS: u8 = 2;

/// An error for arguments that are well formed but invalid. It has the same exit status as an error
/// for arguments that cannot be parsed.
#[derive(Debug, Error)]
#[error("{0}")]
pub(super) struct UsageError(String);

pub(super) fn wrong(why: impl Into<String>) -> UsageError {
    UsageError(why.into())
}

pub(super) fn of_arguments(error: impl Into<anyhow::Error>) -> anyhow::Error {
    wrong(format!("{:#}", error.into())).into()
}

pub(super) fn not_understood(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        return refuse(&describe(error));
    }
    let printed = error.print().map_err(output::marked);
    output::exit_code(printed.map(|()| ExitCode::SUCCESS).map_err(Into::into))
}

/// Prints one line that explains the error in the arguments and refers to the help. Returns the
/// exit status.
pub(super) fn refuse(fault: &str) -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let fault = fault.trim_end_matches('.');
    let end = if fault.ends_with('?') { "" } else { "." };
    let text =
        format!("tabia: {fault}{end} For more information, try '{} --help'.", command(&arguments));
    // Report the error in the xboard protocol, because xboard would otherwise wait forever for the
    // engine's features.
    if is_for_xboard(&arguments) {
        let report = Reply::Tell { audience: Audience::UserError, text: text.clone() };
        // Ignore a failure to print the message, because the exit status still reports the error.
        let _ = outln!("{report}");
    }
    errln!("{text}");
    ExitCode::from(STATUS)
}

fn is_for_xboard(arguments: &[OsString]) -> bool {
    arguments.iter().any(|argument| argument == "-x" || argument == "--xboard")
}

fn command(arguments: &[OsString]) -> String {
    let mut command = Cli::command();
    let mut name = command.get_name().to_owned();
    for argument in arguments {
        let Some(part) = argument.to_str().and_then(|name| command.find_subcommand(name)) else {
            break;
        };
        name = format!("{name} {}", part.get_name());
        command = part.clone();
    }
    name
}

pub(super) fn describe(error: &clap::Error) -> String {
    let text = error.to_string();
    // For this error, clap prints the entire help. Only its usage line is needed, to show where the
    // command is missing.
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let usage = text.lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap_or_default();
        return format!("a command is missing: {usage}");
    }
    let fault = text.split("\n\nUsage:").next().unwrap_or_default();
    let fault = fault.split("\n\nFor more").next().unwrap_or_default();
    let fault = fault.trim_start_matches("error:");
    let parts =
        fault.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    // Drop clap's suggestions, which are often too dissimilar, such as `book` for `foo`.
    let parts = parts.filter(|part| !(part.starts_with("tip: ") && part.contains("similar")));
    let fault = parts.collect::<Vec<_>>().join("; ") + &suggestion(error);
    match error.source().and_then(|source| Some((source.to_string(), describe_number(source)?))) {
        Some((jargon, words)) => fault.replace(&jargon, words),
        None => fault,
    }
}

/// Suggests similar words for a mistyped one, or the feature that provides a missing command.
/// Returns an empty string if there is nothing to suggest.
fn suggestion(error: &clap::Error) -> String {
    let (wrong, known) = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand)
        }
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        ErrorKind::InvalidValue => (ContextKind::InvalidValue, ContextKind::SuggestedValue),
        _ => return String::new(),
    };
    let names = match error.get(known) {
        Some(ContextValue::String(name)) => vec![name.clone()],
        Some(ContextValue::Strings(names)) => names.clone(),
        _ => Vec::new(),
    };
    match error.get(wrong) {
        Some(ContextValue::String(word))
            if error.kind() == ErrorKind::InvalidSubcommand
                && OPTIONAL_COMMANDS.contains(&word.as_str()) =>
        {
            format!(
                ": this program was built without it; build it with `cargo build --release --features {word}`"
            )
        }
        // Compare the names without their leading dashes. In the suggestion, keep the dashes as
        // typed.
        Some(ContextValue::String(word)) => {
            let name = |name: &str| name.trim_start_matches('-').to_owned();
            let dashes = &word[..word.len() - name(word).len()];
            let hint = did_you_mean(&name(word), names.iter().map(|found| name(found)));
            hint.replacen('`', &format!("`{dashes}"), 1)
        }
        _ => String::new(),
    }
}

fn describe_number(error: &(dyn Error + 'static)) -> Option<&'static str> {
    if error.is::<ParseFloatError>() {
        return Some("expected a number");
    }
    Some(match error.downcast_ref::<ParseIntError>()?.kind() {
        IntErrorKind::PosOverflow => "this number is too large",
        IntErrorKind::NegOverflow => "this number is too small",
        _ => "expected a whole number",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(feature = "train"))]
    #[test]
    fn a_command_that_the_build_lacks_is_named_with_its_feature() {
        let error = Cli::command().try_get_matches_from(["tabia", "train", "games"]);
        let text = describe(&error.expect_err("no such command"));
        assert!(text.ends_with("`cargo build --release --features train`"), "{text}");
    }

    #[test]
    fn usage_names_the_full_subcommand_path() {
        let command = |words: &str| {
            command(&words.split_whitespace().map(OsString::from).collect::<Vec<_>>())
        };
        assert_eq!(command("book build x.pgn -o y"), "tabia book build");
        assert_eq!(command("book --nonsense build"), "tabia book");
        assert_eq!(command("-x book"), "tabia");
        assert_eq!(command("nonsense"), "tabia");
    }
}
