//! Frames in both directions that outlive the connection which carries them.
//!
//! 1. Each side numbers the frames that it sends, and keeps them until the other one says that it
//!    has dealt with them ([`Kind::Ack`]).
//! 2. When a connection is cut, the next one begins with how many frames each side got. The sender
//!    goes on behind these: none is lost, none comes twice.
//! 3. What is kept is bounded ([`WINDOW`]): whoever sends more waits, and with it the program whose
//!    output that is.
//! 4. A side without news says so now and then; one from which nothing comes is cut off.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::thread::start;
use super::wire::{FRAME, Kind, Wire, frame, read_frame, write_frame};

/// Bytes that one side may have sent beyond what the other one dealt with.
const WINDOW: usize = 1 << 20;
/// A frame weighs so many bytes beside its own, so that many small ones are bounded as well.
const WEIGHT: usize = 64;
/// Time without news after which a side says that it is there.
const BEAT: Duration = Duration::from_secs(5);
/// Time without a word after which a connection counts as cut.
const SILENCE: Duration = Duration::from_secs(20);

/// Time for the last word of a side that is done.
const PART: Duration = Duration::from_secs(2);

/// A frame without its head.
pub(super) type Frame = (Kind, Vec<u8>);

/// A place for the next connection.
pub(super) struct Offer {
    turn: u64,
    /// Frames that came, for the one who sends them.
    pub(super) received: u64,
}

/// One side.
pub(super) struct Link {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Frames that were not dealt with yet, ready to be written, and the number of the first.
    out: VecDeque<Arc<[u8]>>,
    first: u64,
    out_bytes: usize,
    /// Frames that came, and how many in all; how many were taken, and dealt with.
    inbox: VecDeque<Frame>,
    inbox_bytes: usize,
    received: u64,
    taken: u64,
    handled: u64,
    /// Counts connections: what belongs to an earlier one has no say.
    turn: u64,
    cut: Option<Box<dyn Fn() + Send>>,
    /// When the last connection went.
    since: Instant,
    /// Nothing more is sent or taken.
    closed: bool,
}

impl State {
    fn next(&self) -> u64 {
        self.first + self.out.len() as u64
    }

    /// Ends the connection.
    fn leave(&mut self) {
        self.turn += 1;
        if let Some(cut) = self.cut.take() {
            self.since = Instant::now();
            cut();
        }
    }

    /// Forgets what was dealt with. False if that was never sent.
    fn forget(&mut self, below: u64) -> bool {
        if below > self.next() {
            return false;
        }
        while self.first < below
            && let Some(frame) = self.out.pop_front()
        {
            self.first += 1;
            self.out_bytes -= frame.len() + WEIGHT;
        }
        true
    }
}

impl Link {
    pub(super) fn new() -> Arc<Link> {
        let state = State {
            out: VecDeque::new(),
            first: 0,
            out_bytes: 0,
            inbox: VecDeque::new(),
            inbox_bytes: 0,
            received: 0,
            taken: 0,
            handled: 0,
            turn: 0,
            cut: None,
            since: Instant::now(),
            closed: false,
        };
        Arc::new(Link {
            state: Mutex::new(state),
            changed: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let woken = self.changed.wait(state);
        woken.unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a frame, once there is room. False if the link is closed.
    pub(super) fn send(&self, kind: Kind, bytes: &[u8]) -> bool {
        let mut state = self.lock();
        while state.out_bytes >= WINDOW && !state.closed {
            state = self.wait(state);
        }
        if state.closed {
            return false;
        }
        let frame: Arc<[u8]> = frame(kind, bytes).into();
        state.out_bytes += frame.len() + WEIGHT;
        state.out.push_back(frame);
        self.changed.notify_all();
        true
    }

    /// The next frame; whoever asks has dealt with the one before. `None` if the link is closed.
    pub(super) fn take(&self) -> Option<Frame> {
        let mut state = self.lock();
        if state.handled != state.taken {
            state.handled = state.taken;
            self.changed.notify_all();
        }
        loop {
            if let Some(frame) = state.inbox.pop_front() {
                state.taken += 1;
                state.inbox_bytes -= frame.1.len() + WEIGHT;
                return Some(frame);
            }
            if state.closed {
                return None;
            }
            state = self.wait(state);
        }
    }

    /// Cuts the connection, if there is one, and makes room for the next.
    pub(super) fn offer(&self) -> Offer {
        let mut state = self.lock();
        state.leave();
        self.changed.notify_all();
        Offer {
            turn: state.turn,
            received: state.received,
        }
    }

    /// How long there has been no connection.
    pub(super) fn alone(&self) -> Option<Duration> {
        let state = self.lock();
        state.cut.is_none().then(|| state.since.elapsed())
    }

    /// Waits until all that was sent has been dealt with, the link is closed, or it took too long.
    pub(super) fn drain(&self, most: Duration) {
        let (mut state, begin) = (self.lock(), Instant::now());
        while !state.out.is_empty() && !state.closed && begin.elapsed() < most {
            let woken = self.changed.wait_timeout(state, BEAT);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Ends it. A connection still says how far its frames were dealt with.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.handled = state.taken;
        state.closed = true;
        drop(state);
        self.changed.notify_all();
    }

    /// The same, and waits a while until the other side was told.
    pub(super) fn part(&self) {
        self.close();
        let (mut state, begin) = (self.lock(), Instant::now());
        while state.cut.is_some() && begin.elapsed() < PART {
            let woken = self.changed.wait_timeout(state, PART);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Takes a connection. `theirs` is how many frames the other side has.
    fn attach(&self, connection: &impl Wire, offer: &Offer, theirs: u64) -> io::Result<()> {
        let again = connection.again()?;
        let mut state = self.lock();
        if state.turn != offer.turn {
            return Err(io::Error::other("another connection came meanwhile"));
        }
        if theirs < state.first || !state.forget(theirs) {
            return Err(io::Error::other("it has frames that nobody sent"));
        }
        state.cut = Some(Box::new(move || again.cut()));
        Ok(())
    }

    /// Carries frames over a connection until it is cut. `urgent` sees each frame as it comes,
    /// before its turn. What follows a frame that breaks the protocol is not read.
    pub(super) fn carry<C: Wire>(
        self: &Arc<Self>,
        connection: C,
        offer: &Offer,
        theirs: u64,
        urgent: impl Fn(&Frame),
    ) -> io::Result<()> {
        connection.bound(Some(SILENCE), Some(SILENCE))?;
        self.attach(&connection, offer, theirs)?;
        let turn = offer.turn;
        let (link, to) = (Arc::clone(self), connection.again());
        let writer = to.and_then(|to| {
            start(move || {
                let end = to.again();
                let _cut = link.write(to, turn, theirs);
                let _cut = end.map(|end| end.cut());
            })
        });
        let read = match &writer {
            Ok(_) => self.read(connection, turn, urgent),
            Err(error) => Err(error.kind().into()),
        };
        let mut state = self.lock();
        if state.turn == turn {
            state.leave();
        }
        drop(state);
        self.changed.notify_all();
        let _ended = writer.map(JoinHandle::join);
        read
    }

    fn read<C: Wire>(&self, mut from: C, turn: u64, urgent: impl Fn(&Frame)) -> io::Result<()> {
        loop {
            let frame = read_frame(&mut from)?;
            let mut state = self.lock();
            if state.turn != turn {
                return Ok(());
            }
            if frame.0 == Kind::Ack {
                let count = frame.1.try_into().map_err(|_| io::ErrorKind::InvalidData)?;
                if !state.forget(u64::from_be_bytes(count)) {
                    return Err(io::ErrorKind::InvalidData.into());
                }
            } else {
                let bytes = state.inbox_bytes + frame.1.len() + WEIGHT;
                if bytes > WINDOW + FRAME + 2 * WEIGHT {
                    // It does not count as received: it comes again.
                    return Err(io::Error::other("more than was asked for"));
                }
                state.received += 1;
                state.inbox_bytes = bytes;
                urgent(&frame);
                state.inbox.push_back(frame);
            }
            self.changed.notify_all();
        }
    }

    fn write(&self, mut to: impl Write, turn: u64, theirs: u64) -> io::Result<()> {
        let (mut cursor, mut told) = (theirs, None);
        while let Some(news) = self.news(turn, cursor, told) {
            match news {
                News::Handled(count) => {
                    write_frame(&mut to, Kind::Ack, &count.to_be_bytes())?;
                    told = Some(count);
                }
                News::Frame(frame) => {
                    to.write_all(&frame)?;
                    cursor += 1;
                }
            }
        }
        Ok(())
    }

    /// What to write next; `None` if the connection is over.
    fn news(&self, turn: u64, cursor: u64, told: Option<u64>) -> Option<News> {
        let (mut state, begin) = (self.lock(), Instant::now());
        loop {
            if state.turn != turn || state.first > cursor {
                return None;
            }
            if told != Some(state.handled) || begin.elapsed() >= BEAT {
                return Some(News::Handled(state.handled));
            }
            let at = usize::try_from(cursor - state.first).unwrap_or(usize::MAX);
            if let Some(frame) = state.out.get(at) {
                return Some(News::Frame(Arc::clone(frame)));
            }
            if state.closed {
                return None;
            }
            let woken = self.changed.wait_timeout(state, BEAT);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// What a connection has to carry.
enum News {
    /// So many frames were dealt with.
    Handled(u64),
    /// A frame, as it is written.
    Frame(Arc<[u8]>),
}

#[cfg(test)]
mod tests;
