//! The implementation for Linux and other Unix systems.

use std::fs::{self, File, FileType, Metadata, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, getrlimit, kill_process, kill_process_group, setrlimit,
};
use tempfile::TempPath;

#[cfg(feature = "cli")]
use super::types::Event;
use super::types::{FileId, Signal};

/// The mode of a new file, before the umask is applied.
#[cfg(target_os = "linux")]
const NEW_FILE_MODE: u32 = 0o666;
/// The mode of a new folder, before the umask is applied.
#[cfg(feature = "parquet")]
const NEW_FOLDER_MODE: u32 = 0o777;
/// The signals that kill a program when it crashes: SIGABRT and SIGSEGV.
const CRASHES: [i32; 2] = [6, 11];
/// Whether [`signal`] has an effect.
pub(crate) const HAS_SIGNALS: bool = true;

/// Replaces the default action for the given `events`: calls `react` from a separate thread
/// whenever one of them occurs.
#[cfg(feature = "cli")]
pub(crate) fn on_events(
    events: &[Event],
    mut react: impl FnMut(Event) + Send + 'static,
) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    let number = |event: &Event| match event {
        Event::Interrupt => SIGINT,
        Event::Terminate => SIGTERM,
        Event::Hangup => SIGHUP,
    };
    let mut signals = signal_hook::iterator::Signals::new(events.iter().map(number))?;
    std::thread::Builder::new().spawn(move || {
        signals.forever().for_each(|signal| match signal {
            SIGINT => react(Event::Interrupt),
            SIGTERM => react(Event::Terminate),
            _ => react(Event::Hangup),
        });
    })?;
    Ok(())
}

/// Returns true if writing to standard output would not block. It would block if the output is a
/// full pipe that no program is reading.
#[cfg(feature = "cli")]
pub(crate) fn output_has_room(output: &io::Stdout) -> bool {
    let mut wanted = [PollFd::new(output, PollFlags::OUT)];
    // If polling fails, the output is broken or does not support polling. In both cases, writing
    // does not block.
    poll(&mut wanted, Some(&Timespec::default())).map_or(true, |ready| ready > 0)
}

/// Returns true, because terminals always interpret the escape sequences of colours.
#[cfg(feature = "cli")]
pub(crate) fn enable_colours() -> bool {
    true
}

/// Returns whether a line can be read from the terminal without waiting.
#[cfg(feature = "cli")]
pub(crate) fn input_has_line(input: &io::Stdin) -> bool {
    let mut terminal = [PollFd::new(input, PollFlags::IN)];
    poll(&mut terminal, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// Allows this process and its children to open `count` files at the same time. Raises the soft
/// limit if necessary. Fails with the hard limit if that is too low.
pub(crate) fn allow_open_files(count: u64) -> Result<(), u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let is_enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= count);
    if is_enough(current) {
        return Ok(());
    }
    if !is_enough(maximum) {
        return Err(maximum.unwrap_or(count));
    }
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(count), maximum });
    raised.map_err(|_| current.unwrap_or(count))
}

/// Returns the identity of an open file.
pub(crate) fn file_id(file: &File) -> Option<FileId> {
    file.metadata().ok().as_ref().map(id)
}

/// Returns the identity of the file with this name, or `None` if there is none.
pub(crate) fn path_id(path: &Path) -> Option<FileId> {
    path.metadata().ok().as_ref().map(id)
}

/// Like [`path_id`], for a file whose metadata has already been read.
pub(crate) fn known_id(_: &Path, metadata: &Metadata) -> Option<FileId> {
    Some(id(metadata))
}

/// Returns the identity of the file that standard input is redirected from, or `None` if it is not
/// a regular file.
pub(crate) fn stdin_id() -> Option<FileId> {
    regular_id(Path::new("/dev/stdin"))
}

/// Returns the identity of the file that standard output is redirected to, or `None` if it is not a
/// regular file.
pub(crate) fn stdout_id() -> Option<FileId> {
    regular_id(Path::new("/dev/stdout"))
}

fn regular_id(path: &Path) -> Option<FileId> {
    path.metadata().ok().filter(Metadata::is_file).as_ref().map(id)
}

fn id(metadata: &Metadata) -> FileId {
    FileId { volume: metadata.dev(), number: metadata.ino() }
}

/// Returns whether a file and a folder are on the same file system.
pub(crate) fn is_on_volume_of(file: &File, folder: &Path) -> io::Result<bool> {
    Ok(file.metadata()?.dev() == folder.metadata()?.dev())
}

/// Makes opening a file return immediately, even if it is a pipe that no other program has opened.
pub(crate) fn set_nonblocking(options: &mut OpenOptions) {
    options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
}

/// Reverses [`set_nonblocking`] for an open file. After this, writing to a pipe waits for a slow
/// reader.
pub(crate) fn set_blocking(file: &File) -> io::Result<()> {
    Ok(fcntl_setfl(file, fcntl_getfl(file)? - OFlags::NONBLOCK)?)
}

/// Opens a file for appending, and creates it if necessary. Fails if the file is a named pipe that
/// no program reads.
pub(crate) fn open_appending(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    set_nonblocking(options.create(true).append(true));
    let file = options.open(path).map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::NXIO) => io::Error::other("it is a pipe without a reader"),
        _ => error,
    })?;
    set_blocking(&file)?;
    Ok(file)
}

/// Whether opening, reading or writing this type of file may have to wait for another program.
pub(crate) fn may_wait(kind: FileType) -> bool {
    kind.is_fifo() || kind.is_socket()
}

/// Returns whether the operating system reserves this name for a device. Always false on Unix,
/// where devices are files.
pub(crate) fn is_device(_: &Path) -> bool {
    false
}

/// Fills the buffer with the bytes starting at `offset`.
pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(buffer, offset)
}

/// Sets the length of a file that is open for writing or appending.
pub(crate) fn set_len(file: &File, length: u64) -> io::Result<()> {
    file.set_len(length)
}

/// Gives a complete file its final name, atomically replacing any existing file at `target`.
pub(crate) fn replace(path: TempPath, target: &Path) -> io::Result<()> {
    Ok(path.persist(target)?)
}

/// Renames a file, atomically replacing any existing file at `to`.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Creates a file without a name. Returns `None` if the file system does not support such files.
#[cfg(target_os = "linux")]
pub(crate) fn unnamed_file(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, open};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    open(folder, flags, Mode::from_raw_mode(NEW_FILE_MODE)).ok().map(File::from)
}

/// Gives an unnamed file a name. Fails if a file with this name exists.
#[cfg(target_os = "linux")]
pub(crate) fn link_unnamed(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let here = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, &here, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// Locks a file exclusively. Fails without waiting if another process has locked it.
pub(crate) fn try_lock(file: &File) -> Result<(), TryLockError> {
    file.try_lock()
}

/// Releases a lock taken by [`try_lock`].
pub(crate) fn unlock(file: &File) -> io::Result<()> {
    file.unlock()
}

/// Opens and locks a file or folder that may have been left behind by a killed program. Returns
/// `None` if a running program is still using it.
pub(crate) fn claim(path: &Path) -> Option<File> {
    let mut options = OpenOptions::new();
    set_nonblocking(options.read(true));
    let file = options.open(path).ok()?;
    file.try_lock().is_ok().then_some(file)
}

/// Locks a folder. The lock is held until the result is dropped.
#[cfg(feature = "parquet")]
pub(crate) fn lock_folder(path: &Path) -> io::Result<File> {
    let lock = File::open(path)?;
    // Ignore errors: where locking fails, other programs cannot lock the folder either, so they do
    // not remove it.
    let _ = lock.try_lock();
    Ok(lock)
}

/// Returns the permissions of a new folder, before the umask is applied.
#[cfg(feature = "parquet")]
pub(crate) fn new_folder_permissions() -> Option<fs::Permissions> {
    Some(std::os::unix::fs::PermissionsExt::from_mode(NEW_FOLDER_MODE))
}

/// Syncs a folder that was locked by [`lock_folder`], renames it, and releases the lock.
#[cfg(feature = "parquet")]
pub(crate) fn rename_folder(from: &Path, to: &Path, lock: File) -> io::Result<()> {
    File::open(from)?.sync_all()?;
    fs::rename(from, to)?;
    drop(lock);
    Ok(())
}

/// Makes the command start in a process group of its own, so that Ctrl-C in the terminal does not
/// reach it.
pub(crate) fn prepare(command: &mut Command) {
    command.process_group(0);
}

/// A process and all its descendants.
#[derive(Debug)]
pub(crate) struct Group(Option<Pid>);

impl Group {
    /// Returns the group of a child whose command was passed to [`prepare`].
    pub(crate) fn of(child: &Child) -> io::Result<Self> {
        Ok(Group(pid(child)))
    }

    /// Kills all processes in the group, even if the child itself has already exited.
    pub(crate) fn kill(&self) {
        if let Some(group) = self.0 {
            // This fails if no process is left, which is harmless.
            let _ = kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Sends a signal to a child.
pub(crate) fn signal(child: &Child, signal: Signal) {
    let signal = match signal {
        Signal::Interrupt => rustix::process::Signal::INT,
        Signal::Terminate => rustix::process::Signal::TERM,
    };
    if let Some(id) = pid(child) {
        // This fails if the process has exited, which is detected elsewhere.
        let _ = kill_process(id, signal);
    }
}

/// Describes how a process ended, such as `ended with code 3`.
pub(crate) fn describe_exit(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

/// Returns whether the process crashed.
pub(crate) fn has_crashed(status: ExitStatus) -> bool {
    status.signal().is_some_and(|signal| CRASHES.contains(&signal))
}

/// The standard input of a child process. Writing to it fails if the child does not read the data
/// in time.
#[derive(Debug)]
pub(crate) struct Input(ChildStdin);

impl Input {
    pub(crate) fn new(stdin: ChildStdin) -> io::Result<Self> {
        fcntl_setfl(&stdin, fcntl_getfl(&stdin)? | OFlags::NONBLOCK)?;
        Ok(Input(stdin))
    }

    /// Writes all bytes. Fails with `TimedOut` if the child does not read them within `timeout`.
    pub(crate) fn write_all(&mut self, mut bytes: &[u8], timeout: Duration) -> io::Result<()> {
        let deadline = Instant::now() + timeout;
        while !bytes.is_empty() {
            match self.0.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.wait_writable(deadline)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn wait_writable(&self, deadline: Instant) -> io::Result<()> {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&self.0, PollFlags::OUT)], Some(&timeout)) {
            Ok(0) => Err(io::ErrorKind::TimedOut.into()),
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns the processor cores that this thread may use.
#[cfg(target_os = "linux")]
pub(crate) fn usable_cores() -> io::Result<Vec<usize>> {
    use rustix::thread::{CpuSet, sched_getaffinity};
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect())
}

/// Sets the nice value of the calling thread. Does nothing if permission is denied.
#[cfg(target_os = "linux")]
pub(crate) fn raise_priority(nice: i32) {
    let _ = rustix::process::setpriority_process(None, nice);
}

/// Binds the calling thread, and all threads and processes that it starts later, to these cores.
#[cfg(target_os = "linux")]
pub(crate) fn bind_to_cores(cores: &[usize]) -> io::Result<()> {
    use rustix::thread::{CpuSet, sched_setaffinity};
    let mut set = CpuSet::new();
    cores.iter().for_each(|&core| set.set(core));
    Ok(sched_setaffinity(None, &set)?)
}

/// Returns the machine's total memory in bytes, or `None` if it is unknown.
pub(crate) fn total_memory() -> Option<usize> {
    memory_info("MemTotal:")
}

/// Returns how much memory programs can allocate without swapping, in bytes.
pub(crate) fn available_memory() -> Option<usize> {
    memory_info("MemAvailable:")
}

fn memory_info(name: &str) -> Option<usize> {
    let table = fs::read_to_string("/proc/meminfo").ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: usize = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Returns the free space in bytes on the disk that contains a folder.
#[cfg(feature = "cli")]
pub(crate) fn free_space(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail * found.f_frsize)
}

/// Returns the name of the processor.
#[cfg(feature = "cli")]
pub(crate) fn cpu_model() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let (_, model) =
        info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'))?;
    Some(model.trim().to_owned())
}

/// Splits a command line into words as a shell does. Returns `None` if a quote is not closed.
pub(crate) fn split_words(text: &str) -> Option<Vec<String>> {
    shlex::split(text)
}

/// Returns the folder for a user's data files, as the XDG Base Directory Specification defines it.
#[cfg(feature = "cli")]
pub(crate) fn data_folder() -> Option<std::path::PathBuf> {
    let set = |name| {
        std::env::var_os(name).filter(|value| !value.is_empty()).map(std::path::PathBuf::from)
    };
    set("XDG_DATA_HOME").or_else(|| Some(set("HOME")?.join(".local/share")))
}

#[cfg(all(target_os = "linux", not(feature = "loom")))]
pub(crate) use memory::Mapping;

#[cfg(all(target_os = "linux", not(feature = "loom")))]
mod memory {
    use std::ptr::{NonNull, null_mut};

    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

    /// Memory private to this process. Its pages read as zero and use physical memory only after
    /// the first write.
    pub(crate) struct Mapping {
        start: NonNull<u8>,
        bytes: usize,
    }

    // This value owns the mapping exclusively.
    #[allow(unsafe_code)]
    unsafe impl Send for Mapping {}
    #[allow(unsafe_code)]
    unsafe impl Sync for Mapping {}

    #[allow(unsafe_code)]
    impl Mapping {
        /// Maps `bytes` bytes of memory. `bytes` must not be 0. Returns `None` on failure.
        pub(crate) fn new(bytes: usize) -> Option<Self> {
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            // A new mapping does not overlap memory that is already in use.
            let mapped =
                unsafe { mmap_anonymous(null_mut(), bytes, protection, MapFlags::PRIVATE) };
            Some(Mapping { start: NonNull::new(mapped.ok()?.cast())?, bytes })
        }

        /// Returns the address of the first byte, which is page-aligned.
        #[inline(always)]
        pub(crate) fn start(&self) -> NonNull<u8> {
            self.start
        }

        /// Sets all bytes to zero by returning the pages to the operating system. Returns true if
        /// this succeeded.
        pub(crate) fn clear(&mut self) -> bool {
            let start = self.start.as_ptr().cast();
            // The exclusive borrow guarantees that no other thread accesses the memory.
            unsafe { madvise(start, self.bytes, Advice::LinuxDontNeed) }.is_ok()
        }

        /// Commits all pages now instead of when they are first written. Does nothing before Linux
        /// 5.14.
        pub(crate) fn populate(&mut self) {
            let start = self.start.as_ptr().cast();
            // The advice does not change the content of the memory.
            let _ = unsafe { madvise(start, self.bytes, Advice::LinuxPopulateWrite) };
        }
    }

    impl Drop for Mapping {
        #[allow(unsafe_code)]
        fn drop(&mut self) {
            // `new` mapped this many bytes, and no reference to them is left.
            let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
        }
    }
}

/// Requests huge pages for a range, which must consist of whole huge pages.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub(crate) fn advise_huge_pages(memory: &mut [std::mem::MaybeUninit<u8>]) -> io::Result<()> {
    use rustix::mm::{Advice, madvise};
    // The advice does not change the content of the memory.
    Ok(unsafe { madvise(memory.as_mut_ptr().cast(), memory.len(), Advice::LinuxHugepage) }?)
}
