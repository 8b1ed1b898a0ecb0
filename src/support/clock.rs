//! The system clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Returns the time since 1970-01-01 00:00 UTC.
pub(crate) fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
