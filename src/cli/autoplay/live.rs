//! Parses the arguments for the live page of a match, and starts and stops its server.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;

use super::reporter::Reporter;
use crate::cli::serve::{parse_address, warn_of_public};
use crate::support::files::describe;
use crate::tools::autoplay::results::Results;
use crate::tools::autoplay::tournament::{Progress, Tournament};
use crate::web::live::{LiveMatch, LiveServer, LiveSettings};
use crate::web::serve::parse_origin;

/// The address of the live page, and the origins whose pages may read it.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Live page")]
pub(super) struct Live {
    /// Serve a page with the games in progress on this port, address or ADDRESS:PORT
    #[arg(long, value_name = "ADDR", hide_short_help = true, conflicts_with_all = ["check", "aggregate"], value_parser = parse_address)]
    listen: Option<SocketAddr>,
    /// Allow web pages of this origin to read the live page; may be repeated
    #[arg(long, value_name = "ORIGIN", hide_short_help = true, value_parser = parse_origin)]
    origin: Vec<String>,
}

/// The live page of a match that is being played.
pub(super) struct LivePage {
    live: Arc<LiveMatch>,
    /// The server runs until this field is dropped.
    _server: LiveServer,
}

impl Live {
    /// Binds a listener for the live page to the address given by `--listen`. Returns `None` if the
    /// option is not set.
    pub(super) fn listen(&self) -> anyhow::Result<Option<TcpListener>> {
        let Some(address) = self.listen else { return Ok(None) };
        TcpListener::bind(address).map(Some).map_err(|error| {
            let reason = describe(&error);
            anyhow::anyhow!(
                "cannot listen on {address}: {reason} (--listen names another port or address)"
            )
        })
    }

    /// Starts serving the page and prints its address.
    pub(super) fn start(
        &self,
        listener: Option<TcpListener>,
        results: &Results,
        pgn: Option<&Path>,
        reporter: &mut Reporter,
    ) -> anyhow::Result<Option<LivePage>> {
        let Some(listener) = listener else { return Ok(None) };
        let pgn = pgn.filter(|path| path.is_file()).map(Path::to_owned);
        let live = Arc::new(LiveMatch::new(results, pgn.is_some()));
        let settings = LiveSettings { origins: self.origin.clone(), pgn };
        let address = listener.local_addr().context("--listen")?;
        warn_of_public(address);
        let server = LiveServer::start(listener, settings, Arc::clone(&live));
        let page = LivePage { live, _server: server.context("--listen")? };
        reporter.note(&format!("Live page: http://{address}/"), true);
        Ok(Some(page))
    }
}

impl LivePage {
    pub(super) fn observe(&self, results: &Results, tournament: &Tournament, progress: &Progress) {
        self.live.observe(results, tournament, progress);
    }

    /// Shows the end of the match on the page and stops the server.
    pub(super) fn close(self, results: &Results, is_interrupted: bool) {
        let reason = match is_interrupted {
            true => "The match was interrupted.",
            false if results.is_decided() => "The match is over: the test is decided.",
            false => "The match is over.",
        };
        self.live.finish(Some(results), reason);
    }
}
