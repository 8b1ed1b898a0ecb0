//! Memory allocated from the operating system.

use std::ptr::{NonNull, null};

use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc, VirtualFree,
};

/// Memory private to this process. Its pages read as zero and use physical memory only after the
/// first write.
pub(crate) struct Mapping(NonNull<u8>);

// This value owns the memory exclusively.
#[allow(unsafe_code)]
unsafe impl Send for Mapping {}
#[allow(unsafe_code)]
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Allocates `bytes` bytes of memory. `bytes` must not be 0. Returns `None` on failure.
    pub(crate) fn new(bytes: usize) -> Option<Self> {
        #[allow(unsafe_code)]
        // New memory does not overlap memory that is already in use.
        let start =
            unsafe { VirtualAlloc(null(), bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) };
        NonNull::new(start.cast()).map(Mapping)
    }

    /// Returns the address of the first byte, which is page-aligned.
    #[inline(always)]
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.0
    }

    /// Does nothing and returns false. Clearing the memory would mean releasing its pages, and
    /// Windows might refuse to commit them again.
    pub(crate) fn clear(&mut self) -> bool {
        false
    }

    /// Does nothing, because [`Mapping::clear`] does not release the pages.
    pub(crate) fn populate(&mut self) {}
}

impl Drop for Mapping {
    fn drop(&mut self) {
        #[allow(unsafe_code)]
        // `new` allocated this memory, and no reference to it is left.
        let _ = unsafe { VirtualFree(self.0.as_ptr().cast(), 0, MEM_RELEASE) };
    }
}
