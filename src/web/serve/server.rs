//! Accepts connections, limits their number, and shuts down gracefully.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use hyper_util::service::TowerToHyperService;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};
use tower::service_fn;

use super::analysis_store::KeepError;
use super::limits::{GRACE, MAX_CONNECTIONS, MAX_REQUEST_HEAD, MAX_REQUEST_HEADERS, SearchLimits};
use super::loaded_books::LoadedBooks;
use super::origin_check::OriginCheck;
use super::repertoire::RepertoireFile;
use super::request::ClientAddress;
use super::routes::{AppState, router};
use super::training::{self, TrainingPlan};
use super::write_timeout::WriteTimeoutStream;
use crate::support::files::describe;
use crate::support::threads;

#[derive(Debug, Error)]
pub(crate) enum ServeError {
    #[error("cannot listen on {0}: {1} (--listen names another port or address)")]
    Address(SocketAddr, String),
    #[error(transparent)]
    Book(#[from] KeepError),
    #[error("cannot serve: {0}")]
    System(#[from] io::Error),
}

#[derive(Debug, Clone)]
pub(crate) struct Stopper(watch::Sender<bool>);

impl Stopper {
    pub(crate) fn new() -> Self {
        Stopper(watch::Sender::new(false))
    }

    pub(crate) fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Returns a receiver whose value becomes true when the server should stop.
    pub(crate) fn closing(&self) -> watch::Receiver<bool> {
        self.0.subscribe()
    }
}

#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) address: SocketAddr,
    /// Origins whose pages may use costly endpoints, in addition to the server's own page.
    pub(crate) origins: Vec<String>,
    /// The time limit for clients (see [`CLIENT_SECONDS`](super::limits::CLIENT_SECONDS)).
    pub(crate) client_timeout: Duration,
    pub(crate) repertoire: Option<RepertoireFile>,
    /// How the repertoire is trained.
    pub(crate) training: Option<TrainingPlan>,
    pub(crate) search_limits: SearchLimits,
}

/// Opens books and serves them until stopped. Calls `on_ready` with the server's address once it is
/// listening, and `on_open` once all books are open.
pub(crate) fn serve(
    loaded: LoadedBooks,
    Settings { address, origins, client_timeout, repertoire, training, search_limits }: Settings,
    stopper: &Stopper,
    on_ready: impl FnOnce(SocketAddr),
    on_open: impl FnOnce() + Send + 'static,
) -> Result<(), ServeError> {
    let runtime = runtime()?;
    let closing = stopper.closing();
    let done = runtime.block_on(async {
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(|error| ServeError::Address(address, describe(&error)))?;
        let loaded = Arc::new(loaded);
        let repertoire = repertoire.map(Arc::new);
        let training = repertoire.clone().zip(training);
        let state = AppState::new(Arc::clone(&loaded), repertoire, search_limits, closing.clone());
        let state = Arc::new(state);
        // Start the thread that opens the books before reporting the address, so that the address
        // is not reported if the thread cannot be started. The thread opens the books only after
        // the report.
        let (begin, reported) = std::sync::mpsc::channel();
        let training = training::router(training, Arc::clone(&loaded));
        let opened = open(loaded, reported, on_open)?;
        on_ready(listener.local_addr()?);
        drop(begin);
        let origin_check = OriginCheck::new(origins, address.ip().is_loopback());
        let router = router(Arc::clone(&state), training, origin_check, client_timeout);
        tokio::select! {
            fault = opened => Err(fault.into()),
            () = accept_all(listener, router, client_timeout, closing) => Ok(()),
        }
        .inspect(|()| state.close())
    });
    // Wait no longer than `GRACE` for the threads that read games, because they may take a while to
    // notice that the server is stopping.
    runtime.shutdown_timeout(GRACE);
    done
}

/// Creates the async runtime. It has one worker thread per core, or fewer if the operating system
/// limits the number of threads. Two threads are reserved: one to open the books and one for
/// blocking requests.
fn runtime() -> io::Result<tokio::runtime::Runtime> {
    const OTHERS: usize = 2;
    let cores = threads::cores();
    let workers = threads::available(cores + OTHERS)?.saturating_sub(OTHERS);
    if workers == 0 {
        return Err(threads::refused(&io::ErrorKind::WouldBlock.into()));
    }
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    // Start the thread for blocking requests now and never let it end, because the operating system
    // might not allow another thread later.
    let runtime = builder.worker_threads(workers).thread_keep_alive(Duration::MAX).enable_all();
    let runtime = runtime.build()?;
    runtime.spawn_blocking(|| ());
    Ok(runtime)
}

/// Opens the books on a separate thread, once the sender of `reported` has been dropped. The
/// returned future resolves only if the books cannot be opened.
fn open(
    loaded: Arc<LoadedBooks>,
    reported: std::sync::mpsc::Receiver<()>,
    on_open: impl FnOnce() + Send + 'static,
) -> io::Result<impl Future<Output = KeepError>> {
    let (sender, receiver) = oneshot::channel();
    thread::Builder::new().name("opening".to_owned()).spawn(move || {
        // Blocks until the sender is dropped, which makes `recv` return an error.
        let _ = reported.recv();
        match loaded.open() {
            Ok(()) => on_open(),
            Err(error) => {
                let _ = sender.send(error);
            }
        }
    })?;
    Ok(async {
        match receiver.await {
            Ok(fault) => fault,
            Err(_) => std::future::pending().await,
        }
    })
}

/// Accepts connections until the server stops, and then gives open connections [`GRACE`] to finish.
pub(crate) async fn accept_all(
    listener: TcpListener,
    router: Router,
    client_timeout: Duration,
    mut closing: watch::Receiver<bool>,
) {
    /// The pause after a failure to accept a connection, for example because the process has run
    /// out of file descriptors.
    const PAUSE: Duration = Duration::from_millis(100);
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let next = async {
            let permit = Arc::clone(&room).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            next = next => next,
            _ = closing.wait_for(|&is_closing| is_closing) => break,
        };
        match (permit, accepted) {
            (Ok(permit), Ok((stream, client_address))) => {
                // Nagle's algorithm has no benefit, because responses are written in one piece.
                let _ = stream.set_nodelay(true);
                let stream = WriteTimeoutStream::new(stream, client_timeout);
                let connection = connection(stream, client_address, router.clone(), client_timeout);
                let connection = graceful.watch(connection);
                tokio::spawn(async move {
                    let _permit: OwnedSemaphorePermit = permit;
                    if let Err(error) = connection.await {
                        log::debug!("{client_address}: {error}");
                    }
                });
            }
            (_, Err(error)) => {
                log::warn!("a connection was not accepted: {error}");
                tokio::time::sleep(PAUSE).await;
            }
            (Err(_), _) => break,
        }
    }
    drop(listener);
    let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
}

fn connection(
    stream: WriteTimeoutStream,
    client_address: SocketAddr,
    router: Router,
    client_timeout: Duration,
) -> impl GracefulConnection<Error = hyper::Error> {
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ClientAddress(client_address));
        let answering = tower::ServiceExt::oneshot(router.clone(), request);
        async move { Ok::<_, Infallible>(answering.await.unwrap_or_else(|never| match never {})) }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(client_timeout)
        .max_headers(MAX_REQUEST_HEADERS)
        .max_buf_size(MAX_REQUEST_HEAD)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service))
}
