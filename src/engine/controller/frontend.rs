//! The main loop, which passes input and background events to a frontend.
//!
//! The thread that has read a line, or that has found a move, passes it to the frontend itself
//! unless another thread is using the frontend. On a busy machine, each further thread that has to
//! wait for a processor core would cost time on the engine's clock.

use std::io;
use std::sync::{Arc, Mutex, Weak};
use std::thread;

use crossbeam::channel::{Receiver, Select, Sender, TryRecvError, bounded};

use super::lines::Input;
use super::queue::{Handler, Queue};
use super::worker::BackgroundEvent;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Continue,
    Quit,
}

/// A user interface, which is either a protocol or the console. Nothing else writes to standard
/// output while it runs.
pub(crate) trait Frontend: Send {
    /// Handles a line of input or the end of the input. Fails if the output cannot be written.
    fn input(&mut self, input: Input) -> io::Result<Flow>;

    /// Handles an event from the search or another background thread.
    fn handle_background_event(&mut self, background_event: BackgroundEvent) -> io::Result<()>;

    fn background_events(&self) -> Queue<BackgroundEvent>;
}

/// A frontend that several threads use, one at a time.
struct SharedFrontend {
    state: Mutex<State>,
    /// Wakes the main loop, which then checks whether the frontend has ended.
    wake: Sender<()>,
}

struct State {
    /// `None` after the main loop has ended.
    frontend: Option<Box<dyn Frontend>>,
    inputs: Receiver<Input>,
    events: Receiver<BackgroundEvent>,
    end: Option<io::Result<()>>,
}

impl SharedFrontend {
    fn new(
        frontend: Box<dyn Frontend>,
        inputs: &Queue<Input>,
        events: &Queue<BackgroundEvent>,
        wake: Sender<()>,
    ) -> Self {
        let state = State {
            frontend: Some(frontend),
            inputs: inputs.messages.clone(),
            events: events.messages.clone(),
            end: None,
        };
        SharedFrontend { state: Mutex::new(state), wake }
    }

    fn try_handle<T>(&self, message: T, handle: fn(&mut State, T)) -> Result<(), T> {
        let Ok(mut state) = self.state.try_lock() else { return Err(message) };
        let _wake = WakeOnPanic(self);
        handle(&mut state, message);
        if state.end.is_some() {
            self.wake_main_loop();
        }
        Ok(())
    }

    /// Returns a handler that passes messages to `handle` as long as the frontend runs.
    fn handler<T: 'static>(self: &Arc<Self>, handle: fn(&mut State, T)) -> Handler<T> {
        let shared: Weak<Self> = Arc::downgrade(self);
        Box::new(move |message| match shared.upgrade() {
            Some(shared) => shared.try_handle(message, handle),
            None => Err(message),
        })
    }

    fn wake_main_loop(&self) {
        // If the channel is full, the main loop wakes anyway.
        let _ = self.wake.try_send(());
    }
}

/// Wakes the main loop if the frontend panics, so that the program ends.
struct WakeOnPanic<'a>(&'a SharedFrontend);

impl Drop for WakeOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.wake_main_loop();
        }
    }
}

impl State {
    /// Returns the frontend unless it has ended.
    fn running(&mut self) -> Option<&mut Box<dyn Frontend>> {
        self.frontend.as_mut().filter(|_| self.end.is_none())
    }

    /// Handles all messages in the queues, then `input`.
    fn handle_next_input(&mut self, input: Input) {
        self.handle_waiting();
        self.handle_input(input);
    }

    /// Handles all events in the queue, then `event`. Does not handle input: it waits for another
    /// thread, because the search thread calls this function, and at the end of the input the
    /// frontend waits for the search.
    fn handle_next_event(&mut self, event: BackgroundEvent) {
        while let Ok(earlier) = self.events.try_recv() {
            self.handle_event(earlier);
        }
        self.handle_event(event);
    }

    /// Handles all messages in the queues.
    fn handle_waiting(&mut self) {
        while self.end.is_none() {
            let input = match self.inputs.try_recv() {
                Err(TryRecvError::Disconnected) => Some(Input::End),
                input => input.ok(),
            };
            // The frontend holds a sender for this channel, so the channel never closes.
            let event = self.events.try_recv().ok();
            if input.is_none() && event.is_none() {
                return;
            }
            event.into_iter().for_each(|event| self.handle_event(event));
            input.into_iter().for_each(|input| self.handle_input(input));
        }
    }

    fn handle_input(&mut self, input: Input) {
        if let Some(frontend) = self.running() {
            self.end = match frontend.input(input) {
                Ok(Flow::Continue) => None,
                Ok(Flow::Quit) => Some(Ok(())),
                Err(error) => Some(Err(error)),
            };
        }
    }

    fn handle_event(&mut self, event: BackgroundEvent) {
        if let Some(frontend) = self.running() {
            self.end = frontend.handle_background_event(event).err().map(Err);
        }
    }
}

/// Runs a frontend until it quits or its output cannot be written.
pub(crate) fn run(frontend: Box<dyn Frontend>, inputs: &Queue<Input>) -> io::Result<()> {
    let events = frontend.background_events();
    let (wake, woken) = bounded(1);
    let shared = Arc::new(SharedFrontend::new(frontend, inputs, &events, wake));
    inputs.handle_directly(shared.handler(State::handle_next_input));
    events.handle_directly(shared.handler(State::handle_next_event));
    let mut select = Select::new();
    select.recv(&inputs.messages);
    select.recv(&events.messages);
    select.recv(&woken);
    loop {
        let mut state = shared.state.lock().expect("the frontend did not panic on another thread");
        state.handle_waiting();
        if let Some(end) = state.end.take() {
            // Another thread may still hold the state. The program must not exit before the frontend
            // is dropped, because dropping it writes the learned results.
            state.frontend = None;
            return end;
        }
        drop(state);
        select.ready();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread::ThreadId;

    use crossbeam::channel::unbounded;

    use super::super::lines;
    use super::super::queue::{DirectSender, queue};
    use super::*;

    /// A frontend that reports the thread by which it is used.
    struct Recorder {
        events: Queue<BackgroundEvent>,
        seen: Sender<(String, ThreadId)>,
        /// While this channel is open and empty, the command `wait` does not end.
        gate: Receiver<()>,
    }

    impl Recorder {
        fn note(&self, what: &str) {
            let _ = self.seen.send((what.to_owned(), thread::current().id()));
        }
    }

    impl Drop for Recorder {
        fn drop(&mut self) {
            self.note("dropped");
        }
    }

    impl Frontend for Recorder {
        fn input(&mut self, input: Input) -> io::Result<Flow> {
            let Input::Line(line) = input else { return Ok(Flow::Quit) };
            self.note(&line);
            match line.as_str() {
                "wait" => drop(self.gate.recv()),
                "panic" => panic!("as requested"),
                "quit" => return Ok(Flow::Quit),
                _ => {}
            }
            Ok(Flow::Continue)
        }

        fn handle_background_event(&mut self, event: BackgroundEvent) -> io::Result<()> {
            self.note(&format!("{event:?}"));
            Ok(())
        }

        fn background_events(&self) -> Queue<BackgroundEvent> {
            self.events.clone()
        }
    }

    /// A recorder that runs on another thread.
    struct Running {
        direct: DirectSender<Input>,
        queued: Sender<Input>,
        search: DirectSender<BackgroundEvent>,
        seen: Seen,
        gate: Sender<()>,
        /// Receives whether the main loop ended without a panic.
        ended: Receiver<bool>,
    }

    type Seen = Receiver<(String, ThreadId)>;

    fn recorder() -> (Recorder, DirectSender<BackgroundEvent>, Seen, Sender<()>) {
        let (event_sender, events) = unbounded();
        let (search, events) = queue(event_sender, events);
        let (seen_sender, seen) = unbounded();
        let (gate, closed) = unbounded();
        (Recorder { events, seen: seen_sender, gate: closed }, search, seen, gate)
    }

    fn start() -> Running {
        let (queued, direct, inputs) = lines::inputs();
        let (recorder, search, seen, gate) = recorder();
        let (end_sender, ended) = unbounded();
        thread::spawn(move || {
            let run = AssertUnwindSafe(move || run(Box::new(recorder), &inputs));
            let _ = end_sender.send(catch_unwind(run).is_ok());
        });
        let running = Running { direct, queued, search, seen, gate, ended };
        // The main loop handles a queued line only after it has set the handlers.
        running.queued.send(line("first")).expect("a queue");
        running.next();
        running
    }

    impl Running {
        fn next(&self) -> (String, ThreadId) {
            self.seen.recv().expect("a message")
        }
    }

    fn line(text: &str) -> Input {
        Input::Line(text.to_owned())
    }

    #[test]
    fn idle_frontend_is_used_by_the_sending_thread() {
        let running = start();
        let own = thread::current().id();
        // The main loop may still be using the frontend for the first line.
        while running.direct.send(line("direct")).is_ok() && running.next().1 != own {}
        while running.search.send(BackgroundEvent::Settled).is_ok() && running.next().1 != own {}
        running.direct.send(line("quit")).expect("a queue");
        assert_eq!(running.next().0, "quit");
        assert!(running.ended.recv().expect("an end"));
        let dropped = running.seen.try_recv().map(|(what, _)| what);
        assert_eq!(dropped.as_deref(), Ok("dropped"), "dropped before the main loop ends");
        assert!(running.direct.send(line("late")).is_err(), "the frontend has ended");
    }

    #[test]
    fn messages_to_a_busy_frontend_wait_in_order() {
        let running = start();
        running.queued.send(line("wait")).expect("a queue");
        assert_eq!(running.next().0, "wait");
        for text in ["one", "two"] {
            running.direct.send(line(text)).expect("a queue");
        }
        running.search.send(BackgroundEvent::Settled).expect("a queue");
        assert!(running.seen.is_empty(), "the frontend is busy");
        drop(running.gate);
        let mut seen: Vec<String> =
            (0..3).map(|_| running.seen.recv().expect("a line").0).collect();
        seen.retain(|text| text != "Settled");
        assert_eq!(seen, ["one", "two"]);
    }

    /// If the search thread handled the end of the input, it would wait for its own search.
    #[test]
    fn search_thread_handles_events_but_no_input() {
        let (queued, _, inputs) = lines::inputs();
        let (recorder, search, seen, _gate) = recorder();
        let (wake, _woken) = bounded(1);
        let events = recorder.background_events();
        let shared = Arc::new(SharedFrontend::new(Box::new(recorder), &inputs, &events, wake));
        events.handle_directly(shared.handler(State::handle_next_event));
        queued.send(Input::End).expect("a queue");
        search.send(BackgroundEvent::Settled).expect("a queue");
        assert_eq!(seen.recv().expect("an event").0, "Settled");
        assert_eq!(inputs.messages.len(), 1, "the end of the input waits for another thread");
        assert!(shared.state.lock().expect("no panic").end.is_none());
    }

    #[test]
    fn panic_on_another_thread_ends_the_main_loop() {
        let running = start();
        // The main loop may still be using the frontend; then it panics itself.
        let _ = catch_unwind(AssertUnwindSafe(|| running.direct.send(line("panic"))));
        assert!(!running.ended.recv().expect("an end"));
    }
}
