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

/// The clusters of the transposition table, initially empty. Their memory is committed only when it
/// is used, or when a small table is cleared.
pub(super) struct Clusters(Memory);

#[cfg(all(any(target_os = "linux", windows), not(feature = "loom")))]
mod memory {
    use std::slice;

    use super::Cluster;
    use crate::support::huge_pages;
    use crate::support::platform::Mapping;

    /// Size in bytes up to which the memory of a cleared table is committed again at once, which
    /// takes about 10 ms. Otherwise the first search of a game would have to wait for it.
    const MAX_POPULATED: usize = 64 << 20;

    /// A memory mapping with room for `count` clusters.
    pub(super) struct Memory {
        mapping: Mapping,
        count: usize,
    }

    impl Memory {
        /// Maps memory for `count` clusters, which must not be 0. Returns `None` on failure.
        #[allow(unsafe_code)]
        pub(super) fn new(count: usize) -> Option<Self> {
            let bytes = count.checked_mul(size_of::<Cluster>())?;
            let mapping = Mapping::new(bytes)?;
            // Sound because pages are aligned more strictly than clusters, and the slice covers
            // exactly the mapping.
            huge_pages::request::<Cluster>(unsafe {
                slice::from_raw_parts_mut(mapping.start().as_ptr().cast(), count)
            });
            Some(Memory { mapping, count })
        }

        #[inline(always)]
        #[allow(unsafe_code)]
        pub(super) fn clusters(&self) -> &[Cluster] {
            // Sound because all-zero bytes are valid empty clusters, and the mapping lives as long
            // as `self`.
            unsafe { slice::from_raw_parts(self.mapping.start().as_ptr().cast(), self.count) }
        }

        /// Empties all clusters.
        #[allow(unsafe_code)]
        pub(super) fn clear(&mut self) {
            if self.mapping.clear() {
                if self.count <= MAX_POPULATED / size_of::<Cluster>() {
                    self.mapping.populate();
                }
            } else {
                let start = self.mapping.start().as_ptr().cast::<Cluster>();
                // Sound because the exclusive borrow guarantees that no other thread accesses the
                // clusters.
                let clusters = unsafe { slice::from_raw_parts_mut(start, self.count) };
                clusters.fill_with(Cluster::default);
            }
        }
    }
}

#[cfg(not(all(any(target_os = "linux", windows), not(feature = "loom"))))]
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
