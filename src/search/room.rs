//! What the system still gives: asked before it is taken, because whoever runs out of memory in
//! between is ended without a word.

use std::hint::black_box;

/// Bytes of stack that a search needs: it recurses some hundred plies deep, each with its moves.
pub(crate) const STACK_SIZE: usize = 32 << 20;

/// Address space that a new thread takes besides its stack: glibc gives it a heap of its own, of
/// `HEAP_MAX_SIZE` bytes, and keeps that when the thread has ended.
pub(super) const THREAD_HEAP: usize = 64 << 20;

/// Kept free for all the small things that a search needs while it runs.
const SPARE: usize = 16 << 20;

/// Whether so many bytes can be had besides what must stay free. They are asked for and given
/// back untouched: limits of the address space show so, the machine's own memory does not.
pub(super) fn has_room(bytes: usize) -> bool {
    let mut room: Vec<u8> = Vec::new();
    let given = bytes.checked_add(SPARE).is_some_and(|all| room.try_reserve_exact(all).is_ok());
    // Otherwise the compiler sees that nobody uses the memory and asks for none.
    black_box(&room);
    given
}

/// Whether so many bytes can be had and filled, too, without pushing other programs out.
pub(super) fn can_fill(bytes: usize) -> bool {
    has_room(bytes) && available().is_none_or(|available| bytes <= available)
}

/// The bytes of memory that programs can still take without others being pushed out, where Linux
/// tells.
fn available() -> Option<usize> {
    let table = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: usize = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_is_not_there() {
        assert!(has_room(1 << 20));
        assert!(!has_room(usize::MAX) && !has_room(isize::MAX as usize));
        if cfg!(target_os = "linux") {
            assert!(available().is_some_and(|bytes| bytes > 1 << 20));
        }
    }
}
