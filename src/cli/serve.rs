//! `tabia serve`: serves books over HTTP to browsers and other programs.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::value_parser;

use super::args::{GameFolders, mebibytes, parse_memory};
use super::book::parse_side;
use super::output::{errln, outln};
use super::repertoire::{END_PROBABILITY, journal_beside, print_remark};
use super::usage::wrong;
use super::work::on_interruption;
use crate::chess::position::Color;
use crate::games::book::EMBEDDED_NAME;
use crate::web::serve::{
    CLIENT_SECONDS, LoadedBooks, RepertoireFile, SearchLimits, Settings, Stopper, TrainingPlan,
    parse_origin, serve,
};

/// The default port, which is also the default of a local Lichess opening explorer.
const PORT: u16 = 9002;

/// Serve an opening explorer and the API of the Lichess explorer
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Books, used in order: .tbk, .bin, PGN, folders of PGN, or `embedded`
    #[arg(value_name = "BOOK", default_value = EMBEDDED_NAME)]
    books: Vec<PathBuf>,
    /// Listen on this port, address or ADDRESS:PORT
    #[arg(long, value_name = "ADDR", default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)), value_parser = parse_address)]
    listen: SocketAddr,
    #[command(flatten)]
    games: GameFolders,
    /// Show a repertoire (a PGN file with variations), add moves to it, and train it at /train
    #[arg(long, value_name = "FILE", requires = "side")]
    repertoire: Vec<PathBuf>,
    /// The side of the repertoire
    #[arg(long, value_parser = parse_side, requires = "repertoire")]
    side: Option<Color>,
    /// Allow web pages of this origin to use the engine; may be repeated
    #[arg(long, value_name = "ORIGIN", value_parser = parse_origin)]
    origin: Vec<String>,
    /// Append results of searches to this file, and show them as values of the first book
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
    #[command(flatten)]
    search: SearchLimitArgs,
    /// Seconds that a client may take to send a request or to read part of a response
    #[arg(long, value_name = "S", hide_short_help = true, default_value_t = CLIENT_SECONDS, value_parser = value_parser!(u64).range(1..=3600))]
    client_timeout: u64,
}

/// Limits on the resources of a search. The defaults are lower if other machines can connect.
#[derive(Debug, clap::Args)]
struct SearchLimitArgs {
    /// Maximum threads per search (default: one per core; 1 if other machines can connect)
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=256))]
    max_threads: Option<u16>,
    /// Maximum lines per search (default: 20; 5 if other machines can connect)
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=218))]
    max_lines: Option<u16>,
    /// Maximum memory for the table of a search (default: 256M; 32M if other machines can connect)
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    max_memory: Option<usize>,
}

impl Args {
    /// Returns the file of the repertoire.
    fn repertoire(&self) -> anyhow::Result<Option<&Path>> {
        match &self.repertoire[..] {
            [] => Ok(None),
            [file] if !file.is_dir() => Ok(Some(file)),
            _ => Err(wrong(
                "--repertoire: the server needs a single PGN file, because it adds moves to it; \
                 `tabia repertoire build FILES --side SIDE -o all.pgn` joins several files"
                    .to_owned(),
            )
            .into()),
        }
    }
}

impl SearchLimitArgs {
    fn limits(&self, address: SocketAddr) -> SearchLimits {
        let default = SearchLimits::new(address.ip().is_loopback());
        SearchLimits {
            threads: self.max_threads.map_or(default.threads, usize::from),
            lines: self.max_lines.map_or(default.lines, usize::from),
            memory_mb: self.max_memory.map_or(default.memory_mb, mebibytes),
        }
    }
}

/// Parses an address, a port, or an address with a port. A missing address means this machine, and
/// a missing port means [`PORT`].
pub(super) fn parse_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(SocketAddr::from((address, PORT)));
    }
    if let Ok(port) = text.trim_start_matches(':').parse() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    let found = text.to_socket_addrs().ok().and_then(|mut found| found.next());
    found.ok_or_else(|| "expected an address such as 127.0.0.1:9002, or a port".to_owned())
}

/// Prints a warning if other machines can reach the address.
pub(super) fn warn_of_public(address: SocketAddr) {
    if !address.ip().is_loopback() {
        errln!(
            "tabia: other machines can connect to {address}. There are no accounts, so everyone who \
             can connect can send requests; use a proxy to restrict access"
        );
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(folder) = args.games.folders.iter().find(|folder| !folder.is_dir()) {
        return Err(wrong(format!("--games {}: there is no such folder", folder.display())).into());
    }
    let path = args.repertoire()?;
    let loaded = LoadedBooks::new(args.books.clone(), args.games.folders.clone());
    // The server opens the books after it has started. Therefore, report missing files and files of
    // a wrong format before it prints its address.
    loaded.check()?;
    let named = path.zip(args.side);
    let repertoire = named.map(|(path, side)| RepertoireFile::open(path, side)).transpose()?;
    repertoire.iter().for_each(|file| file.remarks(print_remark));
    let training = path.map(|path| TrainingPlan {
        journal: journal_beside(path),
        min_probability: END_PROBABILITY,
    });
    let stopper = Stopper::new();
    let stop = stopper.clone();
    on_interruption(move || stop.stop())?;
    let loaded = loaded.keeping(args.keep.clone());
    let mut outcome = Ok(());
    let on_ready = |address: SocketAddr| {
        warn_of_public(address);
        outcome = outln!("http://{address}/");
    };
    let on_open = || errln!("all books are open; Ctrl-C ends");
    let settings = Settings {
        address: args.listen,
        origins: args.origin.clone(),
        client_timeout: Duration::from_secs(args.client_timeout),
        repertoire,
        training,
        search_limits: args.search.limits(args.listen),
    };
    serve(loaded, settings, &stopper, on_ready, on_open)?;
    outcome?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_addresses_are_parsed() {
        for (text, address) in [
            ("8000", "127.0.0.1:8000"),
            (":8000", "127.0.0.1:8000"),
            ("0.0.0.0", "0.0.0.0:9002"),
            ("::1", "[::1]:9002"),
            ("[::1]:80", "[::1]:80"),
            ("192.168.0.1:0", "192.168.0.1:0"),
        ] {
            assert_eq!(parse_address(text).map(|found| found.to_string()).as_deref(), Ok(address));
        }
        assert!(parse_address("nowhere at all").is_err());
    }
}
