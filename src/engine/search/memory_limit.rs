//! Checks how much memory is available before it is used, because the operating system kills a
//! process that uses too much.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use crate::support::platform;

/// Stack size of a search thread, in bytes. It is sufficient for a recursion of a few hundred
/// plies, each with a move list.
pub(crate) const STACK_SIZE: usize = 32 << 20;

/// Address space, in bytes, that each thread reserves in addition to its stack: a glibc heap
/// (`HEAP_MAX_SIZE`), which remains reserved after the thread has ended.
pub(super) const THREAD_HEAP: usize = 64 << 20;

/// Memory, in bytes, that is kept free for small allocations during a search.
const SPARE: usize = 16 << 20;

/// Whether `bytes` bytes can be allocated while leaving [`SPARE`] bytes free.
///
/// The test allocates the memory without touching it, so it detects a limit on the address space
/// but not a shortage of physical memory.
pub(super) fn has_room(bytes: usize) -> bool {
    let mut room: Vec<u8> = Vec::new();
    let given = bytes.checked_add(SPARE).is_some_and(|all| room.try_reserve_exact(all).is_ok());
    // Prevents the compiler from removing the unused allocation.
    black_box(&room);
    given
}

/// Whether `bytes` bytes can be allocated and filled without forcing other programs out of memory
/// or exceeding the limit of the control group.
pub(super) fn can_fill(bytes: usize) -> bool {
    has_room(bytes) && available().is_none_or(|available| bytes <= available)
}

/// Returns the machine's memory in bytes, or the limit of the process's control group if that is
/// lower. Returns `None` if the operating system does not report it.
pub(crate) fn total_memory() -> Option<usize> {
    let groups = memory_groups(Path::new("/"));
    let limits = groups.iter().map(|group| group.limit);
    limits.chain(platform::total_memory()).min()
}

/// Returns the number of bytes that this process can allocate without forcing other programs out of
/// memory or exceeding the limit of its control group. Returns `None` if the number is unknown.
fn available() -> Option<usize> {
    let groups = memory_groups(Path::new("/"));
    let left = groups.iter().map(|group| group.limit.saturating_sub(group.used));
    left.chain(platform::available_memory()).min()
}

#[derive(Debug, PartialEq, Eq)]
struct MemoryGroup {
    limit: usize,
    /// Memory in use, in bytes, excluding cached files that the kernel can drop.
    used: usize,
}

/// Where to read the memory figures of a control group: the file with the limit, the file with the
/// usage, and the key in `memory.stat` for the cached files that the kernel drops first.
type GroupFiles = [&'static str; 3];
const VERSION_1: GroupFiles =
    ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "];
const VERSION_2: GroupFiles = ["memory.max", "memory.current", "inactive_file "];

/// Returns the control groups that limit this process's memory. The system's files are read below
/// `root`, which is `/` except in tests. See <https://docs.kernel.org/admin-guide/cgroup-v2.html>.
fn memory_groups(root: &Path) -> Vec<MemoryGroup> {
    let own = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mut groups = Vec::new();
    for line in own.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next().unwrap_or_default(), fields.next());
        let (folder, files) = match controllers {
            "" => ("sys/fs/cgroup", VERSION_2),
            names if names.split(',').any(|name| name == "memory") => {
                ("sys/fs/cgroup/memory", VERSION_1)
            }
            _ => continue,
        };
        let path = Path::new(path.unwrap_or_default().trim_start_matches('/'));
        // Each parent group has its own limit. Groups that do not exist are skipped; in a
        // container, even the process's own group may not exist.
        groups.extend(
            path.ancestors()
                .filter_map(|group| memory_group(&root.join(folder).join(group), files)),
        );
    }
    groups
}

fn memory_group(folder: &Path, [limit, used, cached]: GroupFiles) -> Option<MemoryGroup> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let number = |name| read(name)?.trim().parse::<usize>().ok();
    let cached = || {
        let table = read("memory.stat")?;
        table.lines().find_map(|line| line.strip_prefix(cached))?.trim().parse::<usize>().ok()
    };
    let used = number(used).unwrap_or(0).saturating_sub(cached().unwrap_or(0));
    Some(MemoryGroup { limit: number(limit)?, used })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cgroup_limits_are_read() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        };
        assert_eq!(memory_groups(root.path()), []);
        write("proc/self/cgroup", "0::/user/job\n");
        write("sys/fs/cgroup/user/job/memory.max", "max\n");
        write("sys/fs/cgroup/user/memory.max", "5000\n");
        write("sys/fs/cgroup/user/memory.current", "3000\n");
        write("sys/fs/cgroup/user/memory.stat", "anon 1\nactive_file 7\ninactive_file 1200\n");
        assert_eq!(memory_groups(root.path()), [MemoryGroup { limit: 5000, used: 1800 }]);
        write("proc/self/cgroup", "5:cpu,memory:/box\n3:pids:/box\n");
        write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "800\n");
        assert_eq!(memory_groups(root.path()), [MemoryGroup { limit: 800, used: 0 }]);
    }

    #[test]
    fn impossible_sizes_have_no_room() {
        assert!(has_room(1 << 20));
        assert!(!has_room(usize::MAX) && !has_room(isize::MAX as usize));
        if cfg!(target_os = "linux") {
            assert!(available().is_some_and(|bytes| bytes > 1 << 20));
        }
    }
}
