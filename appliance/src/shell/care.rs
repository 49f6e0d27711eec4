//! What comes before a reboot: draining, and the mark of a reset.

use super::files::write_private;
use super::gridbay;
use super::places::Places;
use crate::data::reset::{MARKER, WORDS};
use crate::node::{Failure, NodeStatus};
use std::fs;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Between two looks whether leases are over.
const LOOK: Duration = Duration::from_secs(1);

/// How draining ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drained {
    /// No lease runs.
    Empty,
    /// Time was up; so many units are leased and jobs run.
    Late(u32, u32),
    /// There is no node to drain.
    NoNode(Failure),
}

/// Has the node take no new leases until the next boot, or tells why there is none.
pub fn begin_drain(places: &Places) -> io::Result<Result<(), Failure>> {
    fs::create_dir_all(&places.run)?;
    fs::write(places.drain_marker(), "")?;
    Ok(gridbay::drain(places))
}

/// Drains the node, and waits for its leases to end.
pub fn drain(places: &Places, most: Duration) -> io::Result<Drained> {
    if let Err(failure) = begin_drain(places)? {
        return Ok(Drained::NoNode(failure));
    }
    let began = Instant::now();
    let mut left = (0, 0);
    loop {
        match gridbay::ask::<NodeStatus>(places, &["node", "status"]) {
            None if gridbay::unit(places).active != "active" => {
                return Ok(Drained::NoNode(Failure::own("it has ended", "")));
            }
            None => {}
            Some(node) if node.units_leased == 0 && node.jobs_hosted == 0 => {
                return Ok(Drained::Empty);
            }
            Some(node) => left = (node.units_leased, node.jobs_hosted),
        }
        if began.elapsed() >= most {
            return Ok(Drained::Late(left.0, left.1));
        }
        sleep(LOOK.min(most));
    }
}

/// Marks the appliance for erasing at the next boot.
pub fn reset(places: &Places) -> io::Result<()> {
    write_private(&places.state().join(MARKER), WORDS, None)
}
