//! An engine's process, with line-based input and output that cannot block forever.

use std::collections::VecDeque;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded};

use crate::support::platform::{self, Group, Input, Signal};
use crate::support::threads::refused;
use crate::support::words::visible;

use super::config::EngineConfig;

/// The maximum length of a line in bytes, to limit memory use; longer lines are truncated. It
/// exceeds four times xboard's longest line, because some engines send longer lists of options.
const LONGEST_LINE: u64 = 1 << 16;

/// The number of lines that are read ahead. An engine that writes more lines is blocked.
const READ_AHEAD: usize = 256;

/// The number of recent lines kept for messages about a crash.
const LAST_WORDS: usize = 8;

/// The maximum time spent on writing to an engine that does not read its input.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum time that an engine may take to exit before it is killed.
const QUIT_TIMEOUT: Duration = Duration::from_secs(1);

/// The time to wait for the remaining error output after an engine has exited. The engine's child
/// processes may keep the stream open.
const LAST_WORDS_TIMEOUT: Duration = Duration::from_millis(200);

const REAP_INTERVAL: Duration = Duration::from_millis(2);

/// A line from the engine's standard output, together with its arrival time.
#[derive(Debug, Clone)]
pub struct Line {
    /// The time at which the end of the line was read.
    pub at: Instant,
    /// The text of the line, without the line end.
    pub text: String,
}

#[derive(Debug)]
pub enum Received {
    Line(Line),
    Timeout,
    /// The output is closed. The engine has exited or is about to exit.
    Closed,
}

/// The file in which all messages to and from engines are logged, if any.
pub(crate) type Trace = Option<Arc<Mutex<BufWriter<File>>>>;

/// A running engine. Dropping it kills its process group.
#[derive(Debug)]
pub struct Process {
    child: Child,
    group: Group,
    /// The engine's input, or `None` once it has been closed.
    stdin: Option<Input>,
    lines: Receiver<Line>,
    /// A channel that is closed when the engine's error output is closed.
    errors: Receiver<()>,
    memory: Arc<Memory>,
    pace: Duration,
}

#[derive(Debug)]
struct Memory {
    label: String,
    last_output: Mutex<VecDeque<String>>,
    trace: Trace,
    started: Instant,
}

impl Memory {
    fn trace(&self, mark: &str, text: &str) {
        let Some(trace) = &self.trace else { return };
        let time = self.started.elapsed().as_secs_f64();
        let mut file = trace.lock().unwrap_or_else(PoisonError::into_inner);
        // Errors are ignored because a full disk must not stop a match. Each line is flushed,
        // because a match may be killed, and reader threads may still own the file when it ends.
        let _ = writeln!(file, "{time:9.3} {}{mark} {}", self.label, visible(text))
            .and_then(|()| file.flush());
    }

    fn record_line(&self, line: &str) {
        let mut words = self.last_output.lock().unwrap_or_else(PoisonError::into_inner);
        if words.len() == LAST_WORDS {
            words.pop_front();
        }
        words.push_back(visible(line).into_owned());
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
        let mut command = Command::new(program);
        command
            .args(config.command.iter().skip(1))
            .envs(config.env.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        platform::prepare(&mut command);
        if let Some(dir) = &config.dir {
            command.current_dir(dir);
        }
        let mut child = command.spawn().map_err(|cause| spawn_error(program, &cause))?;
        let other = |cause| spawn_error(program, &cause);
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(other(io::Error::other("no pipes")));
        };
        let prepared = Group::of(&child).and_then(|group| Ok((group, Input::new(stdin)?)));
        let (group, stdin) = prepared.map_err(|error| {
            let _ = child.kill().and_then(|()| child.wait());
            other(error)
        })?;
        let memory = Arc::new(Memory {
            label: config.label(),
            last_output: Mutex::new(VecDeque::new()),
            trace: trace.clone(),
            started: Instant::now(),
        });
        let (sender, lines) = bounded(READ_AHEAD);
        let kept = Arc::clone(&memory);
        let output = Builder::new().spawn(move || read_output(stdout, &kept, &sender));
        let kept = Arc::clone(&memory);
        let (end, errors) = bounded(0);
        let errors_read = Builder::new().spawn(move || read_errors(stderr, &kept, &end));
        if let Err(error) = output.and(errors_read) {
            // Without its reader threads, the process would be useless.
            let _ = child.kill().and_then(|()| child.wait());
            return Err(other(refused(&error)));
        }
        Ok(Process {
            child,
            group,
            stdin: Some(stdin),
            lines,
            errors,
            memory,
            pace: config.pace.unwrap_or_default(),
        })
    }

    pub fn set_pace(&mut self, pace: Duration) {
        self.pace = pace;
    }

    pub fn lines(&self) -> &Receiver<Line> {
        &self.lines
    }

    /// Sends one line to the engine. The error states whether the engine does not read its input,
    /// has closed it, or has exited.
    pub fn send(&mut self, line: impl Display) -> io::Result<()> {
        let mut text = line.to_string();
        self.memory.trace("<", &text);
        text.push('\n');
        if let Err(error) = self.write_all(text.as_bytes()) {
            // Whether a write or a read is the first to detect an exit depends on timing.
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
        match &mut self.stdin {
            Some(stdin) => stdin.write_all(bytes, WRITE_TIMEOUT),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Closes the engine's input, as a GUI does when it exits.
    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn signal(&self, signal: Signal) {
        platform::signal(&self.child, signal);
    }

    /// Returns the next line if it arrives before the deadline. A line that arrives later is
    /// dropped, so that a flood of output cannot prolong the wait.
    pub fn receive(&self, deadline: Instant) -> Received {
        match self.lines.recv_deadline(deadline) {
            Ok(line) if line.at <= deadline => Received::Line(line),
            Ok(_) | Err(RecvTimeoutError::Timeout) => Received::Timeout,
            Err(RecvTimeoutError::Disconnected) => Received::Closed,
        }
    }

    /// Returns the last lines from both output streams, in printable form.
    pub fn last_output(&self) -> Vec<String> {
        let words = self.memory.last_output.lock().unwrap_or_else(PoisonError::into_inner);
        words.iter().cloned().collect()
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

    /// Describes how a process that closed its output has ended, such as `ended with code 3`.
    pub fn exit_reason(&mut self) -> String {
        self.exit_status_text().unwrap_or_else(|| "closed its output".to_owned())
    }

    /// Describes how the process ended. Returns `None` if the process is still running.
    fn exit_status_text(&mut self) -> Option<String> {
        let status = self.wait(Instant::now() + QUIT_TIMEOUT)?;
        // The reader thread may not have read the last error output yet.
        let _ = self.errors.recv_timeout(LAST_WORDS_TIMEOUT);
        Some(platform::describe_exit(status))
    }

    /// Sends a last line. Returns `false` if it had to kill the process after a time limit.
    pub fn quit(&mut self, line: &str) -> bool {
        // This fails if the engine has already exited.
        let _ = self.send(line);
        let deadline = Instant::now() + QUIT_TIMEOUT;
        // Keep reading; otherwise the engine might block on a full pipe.
        while let Received::Line(_) = self.receive(deadline) {}
        self.wait(deadline).is_some()
    }
}

impl Drop for Process {
    /// Kills the process group, which may contain child processes even after an exit.
    fn drop(&mut self) {
        self.group.kill();
        // After a kill the wait is short. Without the wait a zombie process would remain.
        let _ = self.child.wait();
    }
}

/// Returns an error of the same kind as `cause` that explains why the program cannot start.
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

/// Reads one line, truncated to [`LONGEST_LINE`] bytes. Returns `None` at the end of the input.
fn read_line(input: &mut impl BufRead, buffer: &mut Vec<u8>) -> Option<String> {
    buffer.clear();
    let count = input.by_ref().take(LONGEST_LINE).read_until(b'\n', buffer).ok()?;
    if count == 0 {
        return None;
    }
    if buffer.last() != Some(&b'\n') {
        skip_line(input);
    }
    let text = String::from_utf8_lossy(buffer);
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}

fn skip_line(input: &mut impl BufRead) {
    while let Ok(chunk) = input.fill_buf() {
        let end = chunk.iter().position(|&byte| byte == b'\n');
        let used = end.map_or(chunk.len(), |end| end + 1);
        if used == 0 {
            return;
        }
        input.consume(used);
        if end.is_some() {
            return;
        }
    }
}

/// Forwards the engine's output until it ends or until the receiver has been dropped.
fn read_output(output: impl Read, memory: &Memory, sender: &Sender<Line>) {
    let mut input = BufReader::new(output);
    let mut buffer = Vec::new();
    while let Some(text) = read_line(&mut input, &mut buffer) {
        let at = Instant::now();
        memory.trace(">", &text);
        memory.record_line(&text);
        if sender.send(Line { at, text }).is_err() {
            return;
        }
    }
}

/// Stores the last lines of error output. Dropping `_end` signals that the stream has ended.
fn read_errors(output: impl Read, memory: &Memory, _end: &Sender<()>) {
    let mut input = BufReader::new(output);
    let mut buffer = Vec::new();
    while let Some(text) = read_line(&mut input, &mut buffer) {
        memory.trace("!", &text);
        memory.record_line(&format!("(stderr) {text}"));
    }
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
}
