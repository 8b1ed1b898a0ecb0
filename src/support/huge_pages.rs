//! Large pages for large memory that is looked into here and there.

use std::mem::MaybeUninit;

/// Asks the system to back memory that nobody has touched yet by pages of two megabytes in place
/// of four kilobytes: nearly every look into a large table or book has to find its page first. With
/// tables of 64 and 256 MB searches take 5% to 10% less time so (docs/strength.md).
#[cfg(target_os = "linux")]
pub(crate) fn request<T>(memory: &mut [MaybeUninit<T>]) {
    use rustix::mm::{Advice, madvise};

    const HUGE_PAGE: usize = 2 << 20;
    let start = memory.as_mut_ptr().cast::<u8>();
    let before = start.align_offset(HUGE_PAGE);
    let length = size_of_val(memory).saturating_sub(before) / HUGE_PAGE * HUGE_PAGE;
    if length == 0 {
        return;
    }
    #[allow(unsafe_code)]
    // Whole pages within `memory`, and advice that leaves alone what they hold.
    let advised = unsafe { madvise(start.add(before).cast(), length, Advice::LinuxHugepage) };
    if let Err(error) = advised {
        log::debug!("no huge pages: {error}");
    }
}

/// Elsewhere the system decides.
#[cfg(not(target_os = "linux"))]
pub(crate) fn request<T>(_: &mut [MaybeUninit<T>]) {}
