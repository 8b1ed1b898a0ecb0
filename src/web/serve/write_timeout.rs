//! Write timeouts for connections, and replacements for hyper's responses to invalid requests.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use super::limits::{MAX_REQUEST_HEAD, MAX_REQUEST_HEADERS};

/// A connection that fails if the client does not read the data sent to it within a time limit.
/// Also converts hyper's own error responses, which have no body, to the format of
/// [`ApiError`](super::api_error::ApiError).
pub(super) struct WriteTimeoutStream {
    stream: TcpStream,
    limit: Duration,
    /// A timer, and the number of bytes that the client must read before the timer expires. Once
    /// the client has read them, a new timer starts for the bytes still pending.
    waiting: Option<(Pin<Box<Sleep>>, usize)>,
    /// The response that replaces hyper's error response, and the number of its bytes already
    /// written.
    api_error: Option<(Vec<u8>, usize)>,
}

impl WriteTimeoutStream {
    pub(super) fn new(stream: TcpStream, limit: Duration) -> Self {
        WriteTimeoutStream { stream, limit, waiting: None, api_error: None }
    }

    /// Writes as many of the bytes as the connection accepts, and returns their number. Fails if
    /// the client does not read them in time.
    fn write_in_time(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = match Pin::new(&mut self.stream).poll_write(context, bytes) {
            Poll::Ready(Ok(written)) => written,
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => 0,
        };
        if written == bytes.len() {
            self.waiting = None;
            return Poll::Ready(Ok(written));
        }
        let unread = bytes.len() - written;
        let waiting = self.waiting.take();
        let waiting = waiting.map(|(timer, left)| (timer, left.saturating_sub(written)));
        let waiting = waiting.filter(|&(_, left)| left > 0);
        let (mut timer, left) = waiting.unwrap_or_else(|| (Box::pin(sleep(self.limit)), unread));
        let is_over = timer.as_mut().poll(context).is_ready();
        self.waiting = Some((timer, left));
        match written {
            _ if is_over => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            0 => Poll::Pending,
            _ => Poll::Ready(Ok(written)),
        }
    }
}

impl AsyncRead for WriteTimeoutStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for WriteTimeoutStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let api_error = self.api_error.take().or_else(|| refusal_for(bytes).map(|text| (text, 0)));
        let Some((text, mut written)) = api_error else {
            return self.write_in_time(context, bytes);
        };
        while written < text.len() {
            match self.write_in_time(context, &text[written..]) {
                Poll::Ready(more) => written += more?,
                Poll::Pending => {
                    self.api_error = Some((text, written));
                    return Poll::Pending;
                }
            }
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Returns the replacement for hyper's response to an invalid request. Returns `None` for Tabia's
/// own responses, whose errors always have a body.
fn refusal_for(answer: &[u8]) -> Option<Vec<u8>> {
    let is_refusal = answer.starts_with(b"HTTP/1.1 4") || answer.starts_with(b"HTTP/1.0 4");
    let head = std::str::from_utf8(answer).ok().filter(|_| is_refusal)?;
    let line = head.lines().next().filter(|_| head.contains("\r\ncontent-length: 0\r\n"))?;
    let why = match line.split(' ').nth(1)? {
        "400" => "this is no HTTP request".to_owned(),
        "414" | "431" => format!(
            "the request is too large: its address and headers may have {MAX_REQUEST_HEAD} bytes and \
             {MAX_REQUEST_HEADERS} headers"
        ),
        _ => return None,
    };
    let body = serde_json::json!({ "error": why }).to_string();
    let length = body.len();
    Some(
        format!(
            "{line}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\naccess-control-allow-origin: *\r\n\r\n{body}"
        )
        .into_bytes(),
    )
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn only_error_responses_without_a_body_are_replaced() {
        let refused = refusal_for(b"HTTP/1.1 431 Too Large\r\ncontent-length: 0\r\n\r\n");
        let refused = String::from_utf8(refused.expect("a refusal")).expect("text");
        assert!(refused.starts_with("HTTP/1.1 431 ") && refused.contains("32768"), "{refused}");
        for other in [
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}",
            "{\"HTTP/1.1 431\"}",
            "",
        ] {
            assert_eq!(refusal_for(other.as_bytes()), None, "{other}");
        }
    }

    async fn connection(limit: Duration) -> (WriteTimeoutStream, std::net::TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let client = std::net::TcpStream::connect(listener.local_addr().expect("bound"));
        let (accepted, _) = listener.accept().await.expect("accepted");
        (WriteTimeoutStream::new(accepted, limit), client.expect("connected"))
    }

    async fn write(stream: &mut WriteTimeoutStream, bytes: &[u8]) -> io::Result<usize> {
        std::future::poll_fn(|context| Pin::new(&mut *stream).poll_write(context, bytes)).await
    }

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(test);
    }

    #[test]
    fn writing_to_a_stalled_client_times_out() {
        run(async {
            let (mut stream, _client) = connection(Duration::from_millis(50)).await;
            let fault = loop {
                if let Err(fault) = write(&mut stream, &[0; 1 << 16]).await {
                    break fault;
                }
            };
            assert_eq!(fault.kind(), io::ErrorKind::TimedOut);
        });
    }

    #[test]
    fn slow_reading_client_gets_everything() {
        run(async {
            const ALL: usize = 64 << 20;
            let (mut stream, mut client) = connection(Duration::from_secs(30)).await;
            let reading = std::thread::spawn(move || {
                let mut all = vec![0; ALL];
                client.read_exact(&mut all).map_err(|error| error.kind())
            });
            let mut written = 0;
            while written < ALL {
                let rest = (ALL - written).min(1 << 20);
                written += write(&mut stream, &vec![0; rest]).await.expect("read in time");
            }
            assert_eq!(reading.join().expect("no panic"), Ok(()));
        });
    }
}
