//! Helpers for integration tests: running the program as a child process, and access to external
//! data.

// Each test program uses only some of the helpers in this module.
#![allow(dead_code)]

pub mod terminal;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A timeout that expires only if the program or a test hangs, even on a busy machine.
pub const TIMEOUT: Duration = Duration::from_secs(600);

/// The path of the program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_tabia");

/// Runs the program to completion in `folder`, with empty standard input.
pub fn tabia(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.output().expect("tabia can be started")
}

/// Runs a command line in a folder, and returns its exit status, standard output and standard
/// error.
pub fn run_line(line: &str, folder: &Path) -> (Option<i32>, String, String) {
    let arguments = shlex::split(line).expect("closed quotes");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = tabia(&arguments, folder);
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Runs a command line that must succeed, and returns its standard output.
pub fn run_line_ok(line: &str, folder: &Path) -> String {
    let (status, printed, errors) = run_line(line, folder);
    assert_eq!(status, Some(0), "{line}: {printed}{errors}");
    printed
}

/// The maximum number of cases that [`concurrently`] runs at the same time. It is larger than the
/// number of cores, because most cases only wait.
const CONCURRENT: usize = 16;

/// Runs `test` for all cases, up to [`CONCURRENT`] of them at the same time. Intended for tests that
/// mostly wait for a timeout.
///
/// # Panics
/// If `test` panics for any case.
pub fn concurrently<T, Cases>(cases: Cases, test: impl Fn(T) + Sync)
where
    Cases: IntoIterator<Item = T>,
    Cases::IntoIter: Send,
{
    let queue = Mutex::new(cases.into_iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        for _ in 0..CONCURRENT {
            scope.spawn(|| std::iter::from_fn(next).for_each(&test));
        }
    });
}

/// Returns the path of a program in `examples`. `cargo test` builds these programs too.
pub fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    let target = test.ancestors().nth(2).expect("target/PROFILE/deps/test");
    let path = target.join("examples").join(name);
    assert!(path.exists(), "`cargo test --test NAME` needs `cargo build --examples` first");
    path
}

/// Returns the command line of a scripted engine (`examples/fake_engine.rs`) with the given script.
pub fn fake_engine(script: &str) -> String {
    format!("'{}' {script}", example("fake_engine").display())
}

/// Returns the path of a file or folder in the shared test data, which is not part of the project.
/// The data is in `$TABIA_DATA` if this variable is set, and in `../shared/data` otherwise.
///
/// If the file or folder is absent, prints a message and returns `None`, or panics if
/// `TABIA_REQUIRE_DATA` is set.
pub fn shared_data(path: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let folder = std::env::var_os("TABIA_DATA").map_or(beside, PathBuf::from);
    let full = folder.join(path);
    if full.exists() {
        return Some(full);
    }
    let missing = format!("no shared test data at {}", full.display());
    assert!(std::env::var_os("TABIA_REQUIRE_DATA").is_none(), "{missing}");
    // Write to standard error directly, because the test runner hides the output of `eprintln!` if
    // the test passes.
    writeln!(std::io::stderr(), "SKIPPED: {missing}").expect("stderr is open");
    None
}

/// Reports that a test is skipped because a program is missing, or panics if `TABIA_REQUIRE_TOOLS`
/// is set.
pub fn skip_without(program: &str) {
    let missing = format!("{program} cannot be used");
    assert!(std::env::var_os("TABIA_REQUIRE_TOOLS").is_none(), "{missing}");
    writeln!(std::io::stderr(), "SKIPPED: {missing}").expect("stderr is open");
}

/// A running engine.
pub struct Engine {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
    /// All output read so far.
    pub received: Vec<String>,
}

impl Engine {
    /// Starts the program.
    pub fn start(arguments: &[&str]) -> Self {
        Self::run(Command::new(PROGRAM).args(arguments))
    }

    /// Starts the program with its address space limited to this many kibibytes.
    pub fn start_with_limited_memory(kibibytes: u32, arguments: &[&str]) -> Self {
        let script = format!(r#"ulimit -v {kibibytes} && exec "$0" "$@""#);
        let mut shell = Command::new("sh");
        Self::run(shell.arg("-c").arg(script).arg(PROGRAM).args(arguments))
    }

    fn run(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the engine starts");
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        let mut stderr = child.stderr.take().expect("piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).expect("UTF-8 on stderr");
            text
        });
        let stdin = child.stdin.take();
        Engine { child, stdin, lines, stderr: Some(stderr), received: Vec::new() }
    }

    /// Sends lines.
    pub fn send(&mut self, lines: &str) {
        self.send_bytes(format!("{lines}\n").as_bytes());
    }

    /// Sends raw bytes to the engine. If the engine has exited, they are silently discarded.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("the input is still open");
        let _ = stdin.write_all(bytes).and_then(|()| stdin.flush());
    }

    /// Returns the next line.
    pub fn line(&mut self) -> String {
        let received = &self.received;
        let line = self.lines.recv_timeout(TIMEOUT);
        let line = line.unwrap_or_else(|error| panic!("{error} after {received:#?}"));
        self.received.push(line.clone());
        line
    }

    /// Returns the lines that have arrived but have not been read yet, without waiting.
    pub fn pending(&mut self) -> Vec<String> {
        let lines: Vec<String> = self.lines.try_iter().collect();
        self.received.extend_from_slice(&lines);
        lines
    }

    /// Returns the lines up to the end of the output.
    pub fn rest(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(TIMEOUT) {
            lines.push(line);
        }
        self.received.extend_from_slice(&lines);
        lines
    }

    /// Returns the lines up to and including the first for which `wanted` returns true.
    pub fn until(&mut self, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let mut lines = Vec::new();
        let begin = Instant::now();
        loop {
            assert!(
                begin.elapsed() < TIMEOUT,
                "the expected line did not arrive: {:#?}",
                self.received
            );
            lines.push(self.line());
            if lines.last().is_some_and(|line| wanted(line)) {
                return lines;
            }
        }
    }

    /// Returns the lines up to and including the first that begins with `start`.
    pub fn until_start(&mut self, start: &str) -> Vec<String> {
        self.until(|line| line.starts_with(start))
    }

    /// Sends a `ping`, and returns the lines that arrive before its `pong`.
    pub fn sync(&mut self) -> Vec<String> {
        let number = self.received.len();
        self.send(&format!("ping {number}"));
        let pong = format!("pong {number}");
        let mut lines = self.until(|line| line == pong);
        lines.pop();
        lines
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to the engine. `name` is an option of the command `kill`, such as `-TERM`.
    #[cfg(unix)]
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.id().to_string()]).status();
        assert!(status.expect("kill can be started").success());
    }

    /// Closes the input.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    /// Waits for the engine to exit, without sending it a command.
    pub fn wait(&mut self) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("the status of the child") {
                return status;
            }
            assert!(begin.elapsed() < TIMEOUT, "the engine does not exit");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Sends `quit`, waits for the engine to exit, and returns what it has written to standard
    /// error.
    pub fn quit(&mut self) -> String {
        self.send("quit");
        assert!(self.wait().success());
        self.rest();
        self.stderr.take().expect("called once").join().expect("stderr is read")
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
