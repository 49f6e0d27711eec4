//! Looks, waits for keys and draws, until the screen is left.

use super::draw::{Theme, draw};
use super::look::Look;
use super::screen::{Screen, keep_messages};
use super::state::State;
use crate::cli::text;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event};
use std::future::Future;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};

/// Between two looks at the least, however much happens.
const SHORTEST: Duration = Duration::from_millis(300);
/// Between two looks at the most, however little happens.
const LONGEST: Duration = Duration::from_secs(2);
/// After which the thread that reads keys sees that it is to end.
const PAUSE: Duration = Duration::from_millis(100);
/// Keys that wait at the most.
const KEYS: usize = 64;

/// There is no screen to show anything on.
#[derive(Debug, thiserror::Error)]
pub enum NoScreen {
    /// The output goes elsewhere.
    #[error("standard output is no terminal")]
    NoTerminal,
    /// The terminal does not do what it is told.
    #[error("the terminal cannot be used")]
    Terminal(#[from] io::Error),
}

/// A look that failed, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost(pub String);

/// Shown on a screen.
pub trait Source {
    /// How things are now.
    fn look(&mut self) -> impl Future<Output = Result<Look, Lost>>;
    /// Ready when things may have changed; may never be.
    fn changed(&mut self) -> impl Future<Output = ()>;
}

/// Shows a source until its screen is left, by a key or a signal.
///
/// # Errors
/// There is no terminal, or it fails.
pub async fn show(source: impl Source) -> Result<(), NoScreen> {
    if !io::stdout().is_terminal() {
        return Err(NoScreen::NoTerminal);
    }
    let mut end = Ends::new()?;
    keep_messages();
    let screen = Screen::take(io::stdin(), io::stdout())?;
    let keys = Keys::read();
    let shown = follow(source, keys, &mut end).await;
    drop(screen);
    Ok(shown?)
}

/// Signals that end the screen.
struct Ends([Signal; 3]);

impl Ends {
    fn new() -> io::Result<Ends> {
        let asked = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let [a, b, c] = asked.map(signal);
        Ok(Ends([a?, b?, c?]))
    }
    async fn come(&mut self) {
        let [a, b, c] = &mut self.0;
        tokio::select! {
            _ = a.recv() => {}
            _ = b.recv() => {}
            _ = c.recv() => {}
        }
    }
}

async fn follow(source: impl Source, mut keys: Keys, end: &mut Ends) -> io::Result<()> {
    let mut terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
    let theme = Theme {
        colours: std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty()),
    };
    let size = terminal.size()?;
    let mut state = State::new(size.width, size.height);
    let (seen, mut looks) = mpsc::channel(1);
    let mut looking = std::pin::pin!(look_on(source, seen));
    while !state.left {
        terminal.draw(|frame| draw(&state, theme, frame.buffer_mut()))?;
        tokio::select! {
            () = end.come() => break,
            () = &mut looking => break,
            event = keys.events.recv() => match event {
                Some(event) => state.act(&event?),
                None => break,
            },
            Some(look) = looks.recv() => match look {
                Ok(look) => state.saw(look),
                Err(Lost(why)) => state.missed(&why, &now()),
            },
        }
    }
    Ok(())
}

/// Looks again and again: when something has changed, and else every two seconds.
async fn look_on(mut source: impl Source, seen: mpsc::Sender<Result<Look, Lost>>) {
    loop {
        let begun = Instant::now();
        if seen.send(source.look().await).await.is_err() {
            return;
        }
        sleep_until(begun + SHORTEST).await;
        tokio::select! {
            () = source.changed() => {}
            () = sleep(LONGEST.saturating_sub(begun.elapsed())) => {}
        }
    }
}

/// The time of day, UTC.
fn now() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let ms = now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(0));
    let time = text::time(ms);
    time.split(' ').next_back().unwrap_or(&time).to_owned()
}

/// Keys and clicks, read by a thread of their own.
struct Keys {
    events: mpsc::Receiver<io::Result<Event>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Keys {
    fn read() -> Keys {
        let (sender, events) = mpsc::channel(KEYS);
        let over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&over);
        let thread = thread::spawn(move || {
            while !told.load(Ordering::Relaxed) {
                let event = match event::poll(PAUSE) {
                    Ok(false) => continue,
                    Ok(true) => event::read(),
                    Err(error) => Err(error),
                };
                let failed = event.is_err();
                if sender.blocking_send(event).is_err() || failed {
                    return;
                }
            }
        });
        Keys {
            events,
            over,
            thread: Some(thread),
        }
    }
}

impl Drop for Keys {
    /// The terminal is nobody else's before the thread has let go of it.
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.events.close();
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}
