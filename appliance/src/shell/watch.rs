//! `gridbay-appliance run`: the loop of looking, deciding, acting and telling.
//!
//! 1. It looks every second, and every five seconds once the node is ready.
//! 2. After an action it looks again at once, since much follows from it.
//! 3. Each change of the status is written; each change of state is one line in the journal. The
//!    last of those lines are in the status, for an owner who reads them from afar.
//! 4. Time is counted from the start of the agent, so that setting the clock moves nothing.

use super::look::Looker;
use super::perform::perform;
use super::places::Places;
use crate::action::Outcome;
use crate::status::{self, LOG_LINES, Status};
use crate::step::{Memory, step};
use std::collections::VecDeque;
use std::fs;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};
use time::OffsetDateTime;

/// Between two looks before the node is ready.
const SOON: Duration = Duration::from_secs(1);
/// Between two looks once it is.
const LATER: Duration = Duration::from_secs(5);
/// After an action.
const AT_ONCE: Duration = Duration::from_millis(200);

/// The loop's state between two turns.
pub struct Watch {
    places: Places,
    looker: Looker,
    memory: Memory,
    outcomes: Vec<Outcome>,
    /// The last status, without the log.
    told: Option<Status>,
    log: VecDeque<String>,
    /// Whether a line has told the node's key.
    key_told: bool,
    began: Instant,
}

impl Watch {
    /// Before the first look.
    pub fn new(places: Places) -> io::Result<Watch> {
        fs::create_dir_all(&places.run)?;
        Ok(Watch {
            looker: Looker::new(&places),
            places,
            memory: Memory::default(),
            outcomes: Vec::new(),
            told: None,
            log: VecDeque::new(),
            key_told: false,
            began: Instant::now(),
        })
    }
    /// One turn; answers how long to wait for the next one, and the line to tell if there is one.
    pub fn turn(&mut self) -> io::Result<(Duration, Option<String>)> {
        let now = self.began.elapsed().as_secs();
        let outcomes = std::mem::take(&mut self.outcomes);
        let seen = self.looker.look(&self.places, now, outcomes);
        let (state, actions, memory) = step(&self.memory, &seen, now);
        let status = Status::new(&state, &seen, memory.notes(), self.looker.version());
        self.memory = memory;
        let mut line = None;
        let mut written = Ok(());
        if self.told.as_ref() != Some(&status) {
            let before = self.told.as_ref().map(Status::line);
            line = Some(status.line()).filter(|line| before.as_ref() != Some(line));
            if !status.node.is_empty() && !self.key_told {
                // A serial line shows no screen, and the owner wants the key.
                self.key_told = true;
                line = line.map(|line| format!("{line}; its node is {}", status.node));
            }
            self.log(line.as_deref());
            let whole = Status {
                log: self.log.iter().cloned().collect(),
                ..status.clone()
            };
            written = whole.write(&self.places.run.join(status::NAME));
        }
        // Actions may take a while, and an update asks what the state before it was.
        self.outcomes = perform(&self.places, actions);
        written?;
        let wait = match status.state == "ready" {
            _ if !self.outcomes.is_empty() => AT_ONCE,
            true => LATER,
            false => SOON,
        };
        self.told = Some(status);
        Ok((wait, line))
    }
    fn log(&mut self, line: Option<&str>) {
        if let Some(line) = line {
            if self.log.len() >= LOG_LINES {
                self.log.pop_front();
            }
            self.log.push_back(dated(SystemTime::now().into(), line));
        }
    }
    /// Turns for ever; `tell` gets each line. A status that cannot be written is told and tried
    /// again.
    pub fn run(mut self, mut tell: impl FnMut(&str)) -> io::Result<()> {
        loop {
            let wait = match self.turn() {
                Ok((wait, line)) => {
                    if let Some(line) = line {
                        tell(&line);
                    }
                    wait
                }
                Err(error) => {
                    tell(&format!("error the status was not written: {error}"));
                    LATER
                }
            };
            sleep(wait);
        }
    }
}

/// A line as the node's own log has them.
fn dated(at: OffsetDateTime, line: &str) -> String {
    let ((year, month, day), (hour, minute, second)) = (at.to_calendar_date(), at.to_hms());
    let month = u8::from(month);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z agent: {line}")
}
