//! An engine's process, with line-based input and output. No operation blocks indefinitely.

use std::collections::VecDeque;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, PipeWriter, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, RecvTimeoutError, bounded};

use crate::support::files::open_output;
use crate::support::platform::{self, Group, Input, Signal};
use crate::support::threads::refused;
use crate::support::words::visible;

use super::config::EngineConfig;
pub(crate) use super::reader::Line;
use super::reader::{forward_output, read_errors};

/// The maximum number of unprocessed lines of engine output. If there are more, the engine blocks
/// when it writes.
const READ_AHEAD: usize = 1024;

/// The number of most recent lines of standard output and of standard error that are kept for crash
/// messages.
const LAST_WORDS: usize = 8;

/// The maximum number of error output lines kept in memory before an engine's first game, when
/// there is no file for them yet.
const EARLY_ERRORS: usize = 256;

/// The stack size of the reader threads in bytes. It is small because each engine has two reader
/// threads.
const READER_STACK: usize = 1 << 18;

/// The maximum time spent on writing to an engine that does not read its input.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum time that an engine may take to exit before it is killed.
const QUIT_TIMEOUT: Duration = Duration::from_secs(1);

/// How long to wait for the remaining error output of an engine that has exited. Normally it
/// arrives at once; only a heavily loaded machine needs this long.
const LAST_WORDS_TIMEOUT: Duration = Duration::from_secs(10);

/// Written to the pipe for an engine's standard error after the engine has exited, to mark the end
/// of its error output. The pipe itself may stay open, because child processes of the engine may
/// still hold it.
const END_OF_ERRORS: &str = "\0end of the error output\0";

const REAP_INTERVAL: Duration = Duration::from_millis(2);

#[derive(Debug)]
pub enum Received {
    Line(Line),
    Timeout,
    /// The engine's output is closed, so the engine has exited or is about to exit.
    Closed,
}

/// The file to which all communication with the engines is logged, or `None` if it is not logged.
pub(crate) type Trace = Option<Arc<Mutex<BufWriter<File>>>>;

/// A running engine. Dropping it kills its process group.
#[derive(Debug)]
pub struct Process {
    child: Child,
    group: Group,
    /// The engine's input, or `None` once it has been closed.
    stdin: Option<Input>,
    lines: Receiver<Line>,
    /// The write end of the pipe for the engine's standard error. It is kept to write
    /// [`END_OF_ERRORS`] after the engine has exited.
    error_output: PipeWriter,
    /// Receives a message for each [`END_OF_ERRORS`] that has been read.
    errors_read: Receiver<()>,
    memory: Arc<Memory>,
    pace: Duration,
    sent_at: Instant,
}

/// An engine's most recent output lines, and the files to which its output is logged.
#[derive(Debug)]
struct Memory {
    label: String,
    last_output: Mutex<VecDeque<String>>,
    last_errors: Mutex<VecDeque<String>>,
    error_file: Mutex<ErrorFile>,
    trace: Trace,
    started: Instant,
}

/// The file to which an engine's error output is written during a game.
#[derive(Debug, Default)]
struct ErrorFile {
    /// The path of the file, which is created when there is error output. `None` before the first
    /// game.
    path: Option<PathBuf>,
    file: Option<File>,
    /// Error output before the first game.
    early: Vec<String>,
}

impl ErrorFile {
    fn write(&mut self, line: String) {
        let Some(path) = &self.path else {
            if self.early.len() < EARLY_ERRORS {
                self.early.push(line);
            }
            return;
        };
        if self.file.is_none() {
            self.file = open_output(path, true).ok();
        }
        // Ignore errors: a full disk must not stop a match.
        let _ = self.file.as_mut().map(|file| writeln!(file, "{line}"));
    }

    fn begin(&mut self, path: PathBuf) {
        (self.path, self.file) = (Some(path), None);
        std::mem::take(&mut self.early).into_iter().for_each(|line| self.write(line));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remember(words: &Mutex<VecDeque<String>>, line: &str) {
    let mut words = lock(words);
    if words.len() == LAST_WORDS {
        words.pop_front();
    }
    words.push_back(visible(line).into_owned());
}

impl Memory {
    fn trace(&self, at: Instant, mark: &str, text: &str) {
        let Some(trace) = &self.trace else { return };
        let time = at.saturating_duration_since(self.started).as_secs_f64();
        let mut file = lock(trace);
        // Ignore errors: a full disk must not stop a match. Flush after every line, because the
        // match may be killed. Even if it ends normally, the writer may not be dropped and flushed,
        // because the reader threads also hold it.
        let _ = writeln!(file, "{time:9.3} {}{mark} {}", self.label, visible(text))
            .and_then(|()| file.flush());
    }

    fn note_error(&self, line: &str) {
        self.trace(Instant::now(), "!", line);
        remember(&self.last_errors, line);
        lock(&self.error_file).write(visible(line).into_owned());
    }
}

impl Process {
    /// Starts the engine in its own process group.
    pub fn spawn(config: &EngineConfig, trace: &Trace) -> io::Result<Self> {
        let program = config.command.first().map_or("", String::as_str);
        if let Some(dir) = config.dir.as_deref().filter(|dir| !dir.is_dir()) {
            let text = format!("cannot start the engine in {dir:?}: there is no such folder");
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        let other = |cause| spawn_error(program, &cause);
        let (errors, error_output) = io::pipe().map_err(other)?;
        let mut command = Command::new(program);
        command
            .args(config.command.iter().skip(1))
            .envs(config.env.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(error_output.try_clone().map_err(other)?);
        platform::prepare(&mut command);
        if let Some(dir) = &config.dir {
            command.current_dir(dir);
        }
        let mut child = command.spawn().map_err(other)?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(other(io::Error::other("no pipes")));
        };
        let prepared = Group::of(&child).and_then(|group| Ok((group, Input::new(stdin)?)));
        let (group, stdin) = prepared.map_err(|error| {
            let _ = child.kill().and_then(|()| child.wait());
            other(error)
        })?;
        let memory = Arc::new(Memory {
            label: config.label(),
            last_output: Mutex::default(),
            last_errors: Mutex::default(),
            error_file: Mutex::default(),
            trace: trace.clone(),
            started: Instant::now(),
        });
        let (sender, lines) = bounded(READ_AHEAD);
        let thread = || Builder::new().stack_size(READER_STACK);
        let output = thread().spawn(move || forward_output(stdout, &sender));
        let kept = Arc::clone(&memory);
        let (end, errors_read) = bounded(1);
        let errors = thread().spawn(move || {
            read_errors(errors, |line| {
                let rest = line.strip_suffix(END_OF_ERRORS);
                if rest != Some("") {
                    kept.note_error(rest.unwrap_or(line));
                }
                if rest.is_some() {
                    // Sending fails if the channel still contains the previous message. A second
                    // message is not needed.
                    let _ = end.try_send(());
                }
            });
        });
        if let Err(error) = output.and(errors) {
            // Without its reader threads, the process is useless.
            let _ = child.kill().and_then(|()| child.wait());
            return Err(other(refused(&error)));
        }
        Ok(Process {
            child,
            group,
            stdin: Some(stdin),
            lines,
            error_output,
            errors_read,
            pace: config.pace.unwrap_or_default(),
            sent_at: memory.started,
            memory,
        })
    }

    pub fn set_pace(&mut self, pace: Duration) {
        self.pace = pace;
    }

    /// Returns the channel of the engine's output lines. The caller must pass each line received
    /// from it to [`Self::note`].
    pub fn lines(&self) -> &Receiver<Line> {
        &self.lines
    }

    /// Writes a line from the engine to the trace, and keeps it for crash messages. The reader
    /// thread does not do this, because it must record arrival times without delay.
    pub fn note(&self, line: &Line) {
        self.memory.trace(line.at, ">", &line.text);
        remember(&self.memory.last_output, &line.text);
    }

    /// Writes all further error output to the file at `path`, beginning with any lines kept from
    /// before the first game. The file is created when the first line is written.
    pub fn store_errors(&self, path: PathBuf) {
        lock(&self.memory.error_file).begin(path);
    }

    /// Returns the time at which the last line was sent. It is measured just before the system
    /// call, because the engine may preempt this thread before the call returns.
    pub fn sent_at(&self) -> Instant {
        self.sent_at
    }

    /// Sends one line to the engine. If this fails, the error distinguishes between an engine that
    /// does not read its input, has closed it, or has exited.
    pub fn send(&mut self, line: impl Display) -> io::Result<()> {
        let mut text = line.to_string();
        self.memory.trace(Instant::now(), "<", &text);
        text.push('\n');
        if let Err(error) = self.write_all(text.as_bytes()) {
            // A failed write may be the first sign that the engine has exited. In this case, report
            // the exit status, as after a failed read.
            let closed = error.kind() == io::ErrorKind::BrokenPipe;
            let end = if closed { self.exit_status_text() } else { None };
            return Err(end.map_or(error, |words| io::Error::new(io::ErrorKind::BrokenPipe, words)));
        }
        if !self.pace.is_zero() {
            thread::sleep(self.pace);
        }
        Ok(())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(stdin) = &mut self.stdin else { return Err(io::ErrorKind::BrokenPipe.into()) };
        self.sent_at = Instant::now();
        stdin.write_all(bytes, WRITE_TIMEOUT)
    }

    /// Closes the engine's input, as a GUI does when it exits.
    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn signal(&self, signal: Signal) {
        platform::signal(&self.child, signal);
    }

    /// Returns the next line if it arrives before the deadline. A line that arrives later is
    /// dropped, so that an engine cannot prolong the wait by flooding the output.
    pub fn receive(&self, deadline: Instant) -> Received {
        let received = self.lines.recv_deadline(deadline);
        received.iter().for_each(|line| self.note(line));
        match received {
            Ok(line) if line.at <= deadline => Received::Line(line),
            Ok(_) | Err(RecvTimeoutError::Timeout) => Received::Timeout,
            Err(RecvTimeoutError::Disconnected) => Received::Closed,
        }
    }

    /// Returns the last lines of standard output and standard error, in printable form. This
    /// consumes all lines of standard output that have not been read yet.
    pub fn last_output(&self) -> Vec<String> {
        self.note_rest();
        let Memory { last_output, last_errors, .. } = &*self.memory;
        let output = lock(last_output).iter().cloned().collect::<Vec<_>>();
        let errors = lock(last_errors);
        output.into_iter().chain(errors.iter().map(|line| format!("(stderr) {line}"))).collect()
    }

    fn note_rest(&self) {
        self.lines.try_iter().for_each(|line| self.note(&line));
    }

    pub fn wait(&mut self, deadline: Instant) -> Option<ExitStatus> {
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < deadline => thread::sleep(REAP_INTERVAL),
                _ => return None,
            }
        }
    }

    /// Describes how the process ended, such as `ended with code 3`. Call this after it has closed
    /// its output.
    pub fn exit_reason(&mut self) -> String {
        self.exit_status_text().unwrap_or_else(|| "closed its output".to_owned())
    }

    /// Waits briefly for the process to exit, and describes how it ended. Returns `None` if it is
    /// still running.
    fn exit_status_text(&mut self) -> Option<String> {
        let status = self.wait(Instant::now() + QUIT_TIMEOUT)?;
        self.await_errors();
        Some(platform::describe_exit(status))
    }

    /// Waits until all error output written by the engine before it exited has been read.
    fn await_errors(&self) {
        let mark = format!("{END_OF_ERRORS}\n");
        if (&self.error_output).write_all(mark.as_bytes()).is_ok() {
            let _ = self.errors_read.recv_timeout(LAST_WORDS_TIMEOUT);
        }
    }

    /// Sends a last line and waits for the process to exit. Returns `false` if it does not exit in
    /// time.
    pub fn quit(&mut self, line: &str) -> bool {
        // Ignore errors: the engine may already have exited.
        let _ = self.send(line);
        let deadline = Instant::now() + QUIT_TIMEOUT;
        // Keep reading; otherwise the engine might block while writing to a full pipe and never
        // exit.
        while let Received::Line(_) = self.receive(deadline) {}
        self.wait(deadline).is_some()
    }
}

impl Drop for Process {
    /// Kills the process group. Even if the engine itself has exited, the group may still contain
    /// its child processes.
    fn drop(&mut self) {
        self.group.kill();
        // Reap the process, which would otherwise remain as a zombie. The wait is short, because
        // the process has just been killed.
        let _ = self.child.wait();
        self.note_rest();
    }
}

/// Returns an error of the same kind as `cause`, with a message that explains why the program could
/// not be started.
fn spawn_error(program: &str, cause: &io::Error) -> io::Error {
    let reason = match cause.kind() {
        io::ErrorKind::NotFound => {
            "there is no such program; give its path, or add its folder to PATH".to_owned()
        }
        io::ErrorKind::PermissionDenied => {
            "it is not executable; if it is a program, run chmod +x".to_owned()
        }
        _ => cause.to_string(),
    };
    io::Error::new(cause.kind(), format!("cannot start \"{program}\": {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_is_written_line_by_line() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let writer = BufWriter::new(file.reopen().expect("the file"));
        let trace: Trace = Some(Arc::new(Mutex::new(writer)));
        let config = EngineConfig { command: vec!["cat".to_owned()], ..EngineConfig::default() };
        let mut process = Process::spawn(&config, &trace).expect("cat");
        process.send("hello").expect("sent");
        let deadline = Instant::now() + WRITE_TIMEOUT;
        assert!(matches!(process.receive(deadline), Received::Line(_)));
        let written = std::fs::read_to_string(file.path()).expect("text");
        let lines: Vec<_> = written.lines().collect();
        assert_eq!(lines.len(), 2, "{written}");
        assert!(lines[0].ends_with("< hello") && lines[1].ends_with("> hello"), "{written}");
    }

    #[test]
    fn last_errors_are_read_although_a_child_process_keeps_the_stream_open() {
        let script = "sleep 600 >&- & printf 'first\\nlast' >&2; exit 3";
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        let config = EngineConfig { command, ..EngineConfig::default() };
        let mut process = Process::spawn(&config, &None).expect("sh");
        process.wait(Instant::now() + Duration::from_secs(600)).expect("it exits");
        for _ in 0..2 {
            assert_eq!(process.exit_reason(), "ended with code 3");
            assert_eq!(process.last_output(), ["(stderr) first", "(stderr) last"]);
        }
    }
}
