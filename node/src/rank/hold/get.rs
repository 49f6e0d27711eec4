//! Files that this rank sends.

use std::io;
use std::net::TcpStream;
use std::time::Duration;

use super::put::{inside, tell};
use crate::rank::files::{self, Entry};
use crate::rank::order::{Answer, Get, Refusal, Why};
use crate::rank::wire::{Kind, Wire, write_frame, write_line};

/// Time in which the receiver takes something.
const SILENCE: Duration = Duration::from_secs(60);
/// Words about what is left out, at the most.
const LEFT_OUT: usize = 16;

/// Sends files, behind what is there after a cut.
pub(super) fn send(order: &Get, connection: TcpStream) -> Result<io::Result<()>, Refusal> {
    let (mut entries, mut left): (Vec<Entry>, Vec<String>) = (Vec::new(), Vec::new());
    for path in &order.paths {
        let place = inside(path)?;
        let here = std::env::current_dir().map_err(|e| Refusal::failed(&e))?;
        let name = place.file_name().and_then(|name| name.to_str());
        let name = name.filter(|_| place != here).unwrap_or_default();
        let (found, without) = files::list(&place, name).map_err(|e| {
            let why = format!("{path}: {e}");
            match e.kind() {
                io::ErrorKind::NotFound => Refusal::new(Why::NotFound, why),
                _ => Refusal::new(Why::Failed, why),
            }
        })?;
        entries.extend(found);
        left.extend(without);
    }
    let after = order.after.as_ref();
    let whole = after.map_or(0, |mark| mark.items);
    let part = after.and_then(|mark| Some((mark.item.as_ref()?, mark.bytes)));
    let begin = || {
        connection.bound(Some(SILENCE), Some(SILENCE))?;
        write_line(&connection, &Answer::Sending)?;
        for line in left.iter().take(LEFT_OUT).filter(|_| after.is_none()) {
            write_frame(
                &connection,
                Kind::Stderr,
                format!("left out: {line}").as_bytes(),
            )?;
        }
        Ok(())
    };
    if let Err(cut) = begin() {
        return Ok(Err(cut));
    }
    match files::send(&connection, &entries, whole, part, |_, _| ()) {
        Ok(()) => Ok(tell(&connection, Ok(()))),
        Err((error, true)) => Ok(tell(&connection, Err(error))),
        Err((cut, false)) => Ok(Err(cut)),
    }
}
