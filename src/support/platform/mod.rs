//! Functions that differ between operating systems. No other module calls an operating system
//! directly.
//!
//! `unix` contains the functions for Linux and other Unix systems, and `windows` contains those for
//! Windows. `not_linux` contains functions that have an effect only on Linux. All systems have the
//! same functions:
//!
//! | purpose | functions |
//! | --- | --- |
//! | events | `on_events` |
//! | terminal and pipes | `output_has_room`, `input_has_line`, `enable_colours` |
//! | identity of files | `file_id`, `path_id`, `known_id`, `stdin_id`, `stdout_id`, `is_on_volume_of` |
//! | opening files | `set_nonblocking`, `set_blocking`, `open_appending`, `may_wait`, `is_device` |
//! | writing files | `read_exact_at`, `set_len`, `replace`, `rename`, `unnamed_file`, `link_unnamed` |
//! | folders | `lock_folder`, `new_folder_permissions`, `rename_folder` |
//! | locks | `try_lock`, `unlock`, `claim` |
//! | processes | `prepare`, `Group`, `Input`, `signal`, `describe_exit`, `has_crashed` |
//! | scheduling | `usable_cores`, `bind_to_cores`, `raise_priority` |
//! | limits | `allow_open_files` |
//! | machine | `total_memory`, `available_memory`, `free_space`, `cpu_model` |
//! | memory | `Mapping`, `advise_huge_pages` |
//! | conventions | `split_words`, `data_folder` |
//!
//! Locks are advisory on all systems: they exclude other runs of Tabia, but do not prevent other
//! programs from reading a file.

#[cfg(not(target_os = "linux"))]
mod not_linux;
mod types;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(not(target_os = "linux"))]
pub(crate) use not_linux::*;
#[cfg(feature = "cli")]
pub(crate) use types::Event;
pub(crate) use types::{FileId, Signal};
#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;
