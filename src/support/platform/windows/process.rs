//! Child processes.

use std::ffi::c_void;
use std::io::{self, Write};
use std::mem::zeroed;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus};
use std::ptr::null;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::{HANDLE, WAIT_OBJECT_0};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation,
    SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, GetCurrentProcess, WaitForSingleObject,
};

use super::super::types::Signal;

/// Whether [`signal`] has an effect.
pub(crate) const HAS_SIGNALS: bool = false;
/// The lowest exit code that means a crash. For example, an access violation has the code
/// 0xC0000005.
const FIRST_CRASH: u32 = 0xC000_0000;
/// The exit code of a program that was ended by Ctrl-C, which is not a crash.
const CONTROL_C_EXIT: u32 = 0xC000_013A;
/// The exit code given to processes that [`Group::kill`] ends.
const KILLED: u32 = 1;

/// Makes the command start in its own process group, so that Ctrl-C in the console does not affect
/// it. After the first call, all processes started by the current process are killed when it ends.
pub(crate) fn prepare(command: &mut Command) {
    static OWN_JOB: OnceLock<Option<Job>> = OnceLock::new();
    #[allow(unsafe_code)]
    // The function always succeeds and returns a constant.
    let own_process = || unsafe { GetCurrentProcess() };
    // Put the current process itself in a job. Otherwise, an engine would survive if this process
    // were killed after starting the engine but before assigning it to a job.
    OWN_JOB.get_or_init(|| Job::with(own_process()).ok());
    command.creation_flags(CREATE_NEW_PROCESS_GROUP);
}

/// A job object. When the last handle to it is closed, its processes are killed.
#[derive(Debug)]
struct Job(OwnedHandle);

impl Job {
    #[allow(unsafe_code)]
    fn with(process: HANDLE) -> io::Result<Self> {
        let checked = |result| if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
        // The call returns a new handle or null.
        let handle = unsafe { CreateJobObjectW(null(), null()) };
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        // The handle has no other owner. The structure consists of integers, so all zeros are a
        // valid value.
        let (job, mut limits) = unsafe {
            let limits: JOBOBJECT_EXTENDED_LIMIT_INFORMATION = zeroed();
            (Job(OwnedHandle::from_raw_handle(handle)), limits)
        };
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        // The structure has the type and size that the call expects, and both handles are valid.
        unsafe {
            checked(SetInformationJobObject(
                job.0.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast::<c_void>(),
                size_of_val(&limits) as u32,
            ))?;
            checked(AssignProcessToJobObject(job.0.as_raw_handle(), process))?;
        }
        Ok(job)
    }
}

/// A process and all its descendants.
#[derive(Debug)]
pub(crate) struct Group(Option<Job>);

impl Group {
    /// Creates the group of a child.
    pub(crate) fn of(child: &Child) -> io::Result<Self> {
        match Job::with(child.as_raw_handle()) {
            Err(_) if has_exited(child) => Ok(Group(None)),
            job => job.map(Some).map(Group),
        }
    }

    /// Kills all processes in the group, even if the child itself has already exited.
    pub(crate) fn kill(&self) {
        if let Some(job) = &self.0 {
            #[allow(unsafe_code)]
            // The handle is valid. A failure is harmless.
            let _ = unsafe { TerminateJobObject(job.0.as_raw_handle(), KILLED) };
        }
    }
}

fn has_exited(child: &Child) -> bool {
    #[allow(unsafe_code)]
    // The child's handle is valid, and the call returns immediately.
    unsafe {
        WaitForSingleObject(child.as_raw_handle(), 0) == WAIT_OBJECT_0
    }
}

/// Does nothing, because Windows has no signals.
pub(crate) fn signal(_: &Child, _: Signal) {}

/// Describes how a process ended, such as `ended with code 3`.
pub(crate) fn describe_exit(status: ExitStatus) -> String {
    match status.code() {
        Some(code) if has_crashed(status) => format!("crashed with code {code:#X}"),
        Some(code) => format!("ended with code {code}"),
        None => "ended".to_owned(),
    }
}

/// Returns whether the process crashed.
pub(crate) fn has_crashed(status: ExitStatus) -> bool {
    let code = status.code().unwrap_or_default().cast_unsigned();
    code >= FIRST_CRASH && code != CONTROL_C_EXIT
}

/// The standard input of a child process. Writing to it fails if the child does not read the data
/// in time.
#[derive(Debug)]
pub(crate) struct Input {
    /// Sends text to a thread that writes it to the child process. A separate thread is necessary
    /// because writing to a pipe cannot time out on Windows. The thread ends when this field is
    /// dropped.
    texts: Sender<Vec<u8>>,
    results: Receiver<io::Result<()>>,
    /// The number of texts sent to the thread for which it has not yet returned a result.
    unfinished: usize,
}

impl Input {
    pub(crate) fn new(mut stdin: ChildStdin) -> io::Result<Self> {
        let (texts, to_write) = channel::<Vec<u8>>();
        let (written, results) = channel();
        Builder::new().spawn(move || {
            for text in to_write {
                if written.send(stdin.write_all(&text)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Input { texts, results, unfinished: 0 })
    }

    /// Writes all bytes. Fails with `TimedOut` if the child does not read them within `timeout`.
    pub(crate) fn write_all(&mut self, bytes: &[u8], timeout: Duration) -> io::Result<()> {
        let deadline = Instant::now() + timeout;
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.texts.send(bytes.to_vec()).map_err(|_| closed())?;
        self.unfinished += 1;
        while self.unfinished > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.results.recv_timeout(left) {
                Ok(result) => {
                    self.unfinished -= 1;
                    result?;
                }
                Err(RecvTimeoutError::Timeout) => return Err(io::ErrorKind::TimedOut.into()),
                Err(RecvTimeoutError::Disconnected) => return Err(closed()),
            }
        }
        Ok(())
    }
}
