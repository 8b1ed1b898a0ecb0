//! Console windows: events and typed lines.

use std::io;
use std::mem::zeroed;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};

use windows_sys::Win32::Foundation::{FALSE, TRUE};
use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, CTRL_CLOSE_EVENT, ENABLE_VIRTUAL_TERMINAL_PROCESSING,
    GetConsoleMode, GetStdHandle, INPUT_RECORD, KEY_EVENT, PeekConsoleInputW, STD_INPUT_HANDLE,
    STD_OUTPUT_HANDLE, SetConsoleCtrlHandler, SetConsoleMode,
};
use windows_sys::core::BOOL;

use super::super::types::Event;

/// How many pending input events are searched for the Enter key.
const MOST_KEYS: usize = 1024;
const ENTER: u16 = b'\r' as u16;

struct Watcher {
    events: Vec<Event>,
    sender: Sender<Event>,
}

static WATCHERS: Mutex<Vec<Watcher>> = Mutex::new(Vec::new());

/// Replaces the default action for the given `events`: calls `react` from a separate thread
/// whenever one of them occurs. After `Hangup` and `Terminate`, Windows ends the process within a
/// few seconds.
pub(crate) fn on_events(
    events: &[Event],
    react: impl FnMut(Event) + Send + 'static,
) -> io::Result<()> {
    let (sender, occurred) = channel();
    Builder::new().spawn(move || occurred.iter().for_each(react))?;
    let mut watchers = WATCHERS.lock().unwrap_or_else(PoisonError::into_inner);
    watchers.push(Watcher { events: events.to_vec(), sender });
    #[allow(unsafe_code)]
    // The handler is a function, so the pointer is always valid.
    if watchers.len() == 1 && unsafe { SetConsoleCtrlHandler(Some(handle), TRUE) } == 0 {
        watchers.clear();
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Handles a console event. Windows calls this function in a new thread.
#[allow(unsafe_code)]
unsafe extern "system" fn handle(kind: u32) -> BOOL {
    let event = match kind {
        CTRL_C_EVENT | CTRL_BREAK_EVENT => Event::Interrupt,
        CTRL_CLOSE_EVENT => Event::Hangup,
        _ => Event::Terminate,
    };
    let is_watched = {
        let watchers = WATCHERS.lock().unwrap_or_else(PoisonError::into_inner);
        let of_event = watchers.iter().filter(|watcher| watcher.events.contains(&event));
        of_event.filter(|watcher| watcher.sender.send(event).is_ok()).count() > 0
    };
    if !is_watched {
        return FALSE;
    }
    // Do not return after `Hangup` and `Terminate`, because Windows then ends the process at once.
    while event != Event::Interrupt {
        thread::park();
    }
    TRUE
}

/// Always returns true, because Windows cannot test whether writing to standard output would block.
pub(crate) fn output_has_room(_: &io::Stdout) -> bool {
    true
}

/// Makes the console window interpret the escape sequences of colours. Returns false if it cannot,
/// and true if standard output is not a console window.
pub(crate) fn enable_colours() -> bool {
    #[allow(unsafe_code)]
    // The functions accept invalid handles.
    unsafe {
        let output = GetStdHandle(STD_OUTPUT_HANDLE);
        let mut mode = 0;
        GetConsoleMode(output, &mut mode) == 0
            || SetConsoleMode(output, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0
    }
}

/// Returns whether a line has been typed into the console window.
pub(crate) fn input_has_line(_: &io::Stdin) -> bool {
    let mut count = 0;
    #[allow(unsafe_code)]
    // The records consist of integers, so all zeros are a valid value. The array has room for the
    // `MOST_KEYS` records requested.
    let records = unsafe {
        let mut records: [INPUT_RECORD; MOST_KEYS] = zeroed();
        let records_start = (&raw mut records).cast();
        let input = GetStdHandle(STD_INPUT_HANDLE);
        if PeekConsoleInputW(input, records_start, MOST_KEYS as u32, &mut count) == 0 {
            return false;
        }
        records
    };
    records.iter().take(count as usize).any(|record| {
        #[allow(unsafe_code)]
        // The event type determines which field of the union is valid.
        unsafe {
            u32::from(record.EventType) == KEY_EVENT
                && record.Event.KeyEvent.bKeyDown != 0
                && record.Event.KeyEvent.uChar.UnicodeChar == ENTER
        }
    })
}
