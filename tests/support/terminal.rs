//! Runs the program in a pseudo-terminal, for tests of behaviour specific to terminals.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::TIMEOUT;

/// `tabia` in a pseudo-terminal.
pub struct Terminal {
    /// The program.
    pub child: Child,
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    shown: String,
    all: String,
}

impl Terminal {
    /// Starts `tabia`, which saves its games in the folder `data`.
    pub fn start(data: &Path) -> Self {
        Self::start_with(&[], "dumb", data)
    }

    /// Starts `tabia` with arguments in a terminal whose `TERM` variable is `kind`.
    pub fn start_with(arguments: &[&str], kind: &str, data: &Path) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).expect("a pseudo-terminal");
        grantpt(&master).expect("granted");
        unlockpt(&master).expect("unlocked");
        let name = ptsname(&master, Vec::new()).expect("a name");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(name, flags, Mode::empty()).expect("the other end");
        let end = || Stdio::from(slave.try_clone().expect("the same terminal"));
        let child = Command::new(super::PROGRAM)
            .args(arguments)
            .env("XDG_DATA_HOME", data)
            .env("TERM", kind)
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .expect("started");
        let keyboard = File::from(master);
        let mut output = keyboard.try_clone().expect("the same terminal");
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Terminal { child, keyboard, screen, shown: String::new(), all: String::new() }
    }

    /// Types a line without waiting for a prompt.
    pub fn enter(&mut self, line: &str) {
        writeln!(self.keyboard, "{line}").expect("typed");
    }

    /// Presses keys, such as Ctrl-C (`\u{3}`).
    pub fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("typed");
    }

    /// Types lines, waiting for a prompt before each.
    pub fn answer(&mut self, lines: &[&str]) {
        for line in lines {
            self.wait_for("): ");
            self.enter(line);
        }
    }

    /// Waits until `text` is shown, and discards the output up to its end.
    pub fn wait_for(&mut self, text: &str) {
        let begin = Instant::now();
        loop {
            if let Some(at) = self.shown.find(text) {
                self.shown.drain(..at + text.len());
                return;
            }
            let left = TIMEOUT.saturating_sub(begin.elapsed());
            let bytes = self.screen.recv_timeout(left);
            let bytes = bytes.unwrap_or_else(|_| panic!("no {text:?} in {}", self.shown));
            self.take(&bytes);
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        self.shown.push_str(&text);
        self.all.push_str(&text);
    }

    /// Returns all output, once the program has ended.
    pub fn everything(&mut self) -> &str {
        while let Ok(bytes) = self.screen.recv_timeout(TIMEOUT) {
            self.take(&bytes);
        }
        &self.all
    }

    /// Waits until the program exits.
    pub fn wait_for_end(&mut self) -> ExitStatus {
        let begin = Instant::now();
        while begin.elapsed() < TIMEOUT {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        panic!("the program does not exit: {}", self.shown);
    }
}
