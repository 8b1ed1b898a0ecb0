//! Memory for the transposition table.

use std::ops::Deref;
#[cfg(not(feature = "loom"))]
use std::sync::atomic::AtomicU64;

#[cfg(feature = "loom")]
use loom::sync::atomic::AtomicU64;

pub(super) const ENTRIES_PER_CLUSTER: usize = 4;

/// A table entry and its check word. Both are zero in an empty slot.
#[derive(Default)]
pub(super) struct TableSlot {
    pub(super) check: AtomicU64,
    pub(super) data: AtomicU64,
}

#[derive(Default)]
#[repr(align(64))]
pub(super) struct Cluster {
    pub(super) slots: [TableSlot; ENTRIES_PER_CLUSTER],
}

#[cfg(not(feature = "loom"))]
const _: () = assert!(size_of::<Cluster>() == 64);

/// Clusters, initially empty. Their memory is committed only when it is used.
pub(super) struct Clusters(Memory);

#[cfg(all(target_os = "linux", not(feature = "loom")))]
mod memory {
    use std::ptr::{NonNull, null_mut};
    use std::slice;

    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

    use super::Cluster;
    use crate::support::huge_pages;

    /// A private anonymous mapping. Its pages read as zero and are committed on the first write.
    pub(super) struct Memory {
        start: NonNull<Cluster>,
        count: usize,
    }

    // This value owns the mapping exclusively, and clusters consist of atomics.
    #[allow(unsafe_code)]
    unsafe impl Send for Memory {}
    #[allow(unsafe_code)]
    unsafe impl Sync for Memory {}

    impl Memory {
        /// Maps memory for at least one cluster. Returns `None` if the operating system refuses.
        #[allow(unsafe_code)]
        pub(super) fn new(count: usize) -> Option<Self> {
            let bytes = count.checked_mul(size_of::<Cluster>())?;
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            // A new mapping does not overlap memory that is already in use.
            let mapped =
                unsafe { mmap_anonymous(null_mut(), bytes, protection, MapFlags::PRIVATE) };
            let start = NonNull::new(mapped.ok()?.cast::<Cluster>())?;
            // Pages are aligned more strictly than a cluster, and the slice covers the mapping.
            huge_pages::request::<Cluster>(unsafe {
                slice::from_raw_parts_mut(start.as_ptr().cast(), count)
            });
            Some(Memory { start, count })
        }

        #[inline(always)]
        #[allow(unsafe_code)]
        pub(super) fn clusters(&self) -> &[Cluster] {
            // Zero bytes are empty clusters, and the mapping lives as long as `self`.
            unsafe { slice::from_raw_parts(self.start.as_ptr(), self.count) }
        }

        /// Returns all pages to the operating system. The pages then read as zero.
        #[allow(unsafe_code)]
        pub(super) fn clear(&mut self) {
            let bytes = self.count * size_of::<Cluster>();
            // The exclusive borrow guarantees that no other thread reads the clusters.
            let cleared =
                unsafe { madvise(self.start.as_ptr().cast(), bytes, Advice::LinuxDontNeed) };
            if cleared.is_err() {
                let clusters =
                    unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.count) };
                clusters.fill_with(Cluster::default);
            }
        }
    }

    impl Drop for Memory {
        #[allow(unsafe_code)]
        fn drop(&mut self) {
            // `new` mapped this many bytes, and they are no longer in use.
            let _ =
                unsafe { munmap(self.start.as_ptr().cast(), self.count * size_of::<Cluster>()) };
        }
    }
}

#[cfg(not(all(target_os = "linux", not(feature = "loom"))))]
mod memory {
    use super::Cluster;

    pub(super) struct Memory(Vec<Cluster>);

    impl Memory {
        pub(super) fn new(count: usize) -> Option<Self> {
            let mut clusters = Vec::new();
            clusters.try_reserve_exact(count).ok()?;
            clusters.resize_with(count, Cluster::default);
            Some(Memory(clusters))
        }

        pub(super) fn clusters(&self) -> &[Cluster] {
            &self.0
        }

        pub(super) fn clear(&mut self) {
            self.0.fill_with(Cluster::default);
        }
    }
}

use memory::Memory;

impl Clusters {
    pub(super) fn new(count: usize) -> Option<Self> {
        Memory::new(count.max(1)).map(Clusters)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Deref for Clusters {
    type Target = [Cluster];

    #[inline(always)]
    fn deref(&self) -> &[Cluster] {
        self.0.clusters()
    }
}
