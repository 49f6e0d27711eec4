//! Files to and from a rank.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::{Connector, ask, odd, persist, unreachable};
use crate::api::{ApiError, ErrorCode};
use crate::rank::files::{Entry, Receiver, send};
use crate::rank::order::{Answer, Command, Get, Item, Mark, Put};
use crate::rank::wire::{DATA, Kind, Wire, read_frame, read_into};

/// Time for the next bytes, whichever way they go: the other end reads or writes its disk.
const SILENCE: std::time::Duration = std::time::Duration::from_secs(60);
/// Words of a rank about its files that are passed on, and characters of each, at the most.
const NOTICES: (usize, usize) = (64, 1_000);
/// Time in which the way takes something.
const STUCK: std::time::Duration = std::time::Duration::from_secs(20);

/// Sends files to a rank.
///
/// # Errors
/// A file cannot be read here or written there, or the rank is not heard of any more.
pub(crate) fn put<C: Connector>(
    to: &C,
    rank: u32,
    order: &Put,
    entries: &[Entry],
    notice: &(impl Fn(&str) + ?Sized),
) -> Result<(), ApiError> {
    // The last item that began, as it was then.
    let mut last: Option<(u64, Item)> = None;
    persist(rank, notice, |heard| {
        let (mut connection, answer) = ask(to, rank, &Command::Put(order.clone()))?;
        let Answer::Have { items, bytes } = answer else {
            return Err(odd(rank, &answer));
        };
        heard();
        let cut = |e: io::Error| unreachable(rank, &e.to_string());
        connection.bound(Some(SILENCE), Some(STUCK)).map_err(cut)?;
        let answered = Arc::new(Mutex::new(None));
        let (own, from) = (Arc::clone(&answered), connection.again().map_err(cut)?);
        // Reads while this thread writes, so that a failure there ends the writing here.
        let reader = thread::spawn(move || {
            let ended = answer_of(from);
            *own.lock().unwrap_or_else(PoisonError::into_inner) = ended;
        });
        let known = last.take().filter(|(number, _)| *number == items);
        let part = known.as_ref().map(|(_, item)| (item, bytes));
        let sent = send(
            &mut connection,
            entries,
            items,
            part.filter(|_| bytes > 0),
            |number, item| {
                last = Some((number, item.clone()));
            },
        );
        if let Err((_, is_ours)) = &sent
            && *is_ours
        {
            connection.cut();
        }
        let _ended = reader.join();
        let answered = answered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        match (answered, sent) {
            (Some(Ok(())), Ok(())) => Ok(()),
            (Some(Err(why)), _) => Err(failed(format!("rank {rank}: {why}"))),
            (_, Err((error, true))) => Err(failed(error.to_string())),
            (_, Err((error, false))) => Err(cut(error)),
            (_, Ok(())) => Err(unreachable(rank, "it did not say that all is there")),
        }
    })
}

/// Sends the bytes of a file as they are, once: what the way itself carries.
///
/// # Errors
/// As of [`put`], and if the connection is cut.
pub(crate) fn plain<C: Connector>(
    to: &C,
    rank: u32,
    path: &str,
    file: &mut File,
) -> Result<(), ApiError> {
    let order = Command::Plain {
        to: path.to_owned(),
    };
    let (mut connection, answer) = ask(to, rank, &order)?;
    if answer != Answer::Done {
        return Err(odd(rank, &answer));
    }
    let mut copy = || {
        connection.bound(Some(SILENCE), Some(STUCK))?;
        let mut buffer = vec![0; DATA];
        loop {
            match file.read(&mut buffer)? {
                0 => break,
                count => connection.write_all(&buffer[..count])?,
            }
        }
        connection.end()?;
        read_frame(&mut connection).map(drop)
    };
    copy().map_err(|e| unreachable(rank, &e.to_string()))
}

/// How a rank says a transfer ended, in words if it failed; `None` if the connection was cut.
fn answer_of<C: Wire>(mut from: C) -> Option<Result<(), String>> {
    let mut why = String::new();
    let ended = loop {
        match read_frame(&mut from) {
            Ok((Kind::Stderr, words)) => why = String::from_utf8_lossy(&words).into_owned(),
            Ok((Kind::Exit, code)) if code == [0; 4] => break Some(Ok(())),
            Ok((Kind::Exit, _)) => break Some(Err(why)),
            Ok(_) => {}
            // No answer comes while bytes still go: only the connection's end counts.
            Err(e) if is_timeout(&e) => {}
            Err(_) => break None,
        }
    };
    from.cut();
    ended
}

fn is_timeout(error: &io::Error) -> bool {
    let kinds = [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut];
    kinds.contains(&error.kind())
}

/// Fetches files of a rank into a folder: nothing is written elsewhere than below it, and nothing
/// that was not asked for ([`Receiver::asked`]), whatever the rank says.
///
/// # Errors
/// As of [`put`], the other way round.
pub(crate) fn get<C: Connector>(
    from: &C,
    rank: u32,
    paths: &[String],
    mut into: Receiver,
    notice: &(impl Fn(&str) + ?Sized),
) -> Result<(), ApiError> {
    let (mut begun, mut notices) = (false, 0);
    persist(rank, notice, |heard| {
        let (items, part) = into.has();
        let mark = Mark {
            items,
            item: part.map(|(item, _)| item.clone()),
            bytes: part.map_or(0, |(_, bytes)| bytes),
        };
        let order = Get {
            paths: paths.to_vec(),
            after: begun.then_some(mark),
        };
        let (mut connection, answer) = ask(from, rank, &Command::Get(order))?;
        if answer != Answer::Sending {
            return Err(odd(rank, &answer));
        }
        begun = true;
        heard();
        let cut = |e: io::Error| unreachable(rank, &e.to_string());
        connection.bound(Some(SILENCE), Some(STUCK)).map_err(cut)?;
        let (mut bytes, mut why) = (Vec::with_capacity(DATA), String::new());
        loop {
            let written = match read_into(&mut connection, &mut bytes).map_err(cut)? {
                Kind::Item => serde_json::from_slice(&bytes)
                    .map_err(io::Error::from)
                    .and_then(|item| into.begin(item)),
                Kind::Data => into.data(&bytes),
                Kind::Done => into.finish(),
                Kind::Stderr => {
                    let words = String::from_utf8_lossy(&bytes);
                    why = words.chars().take(NOTICES.1).collect();
                    notices += 1;
                    if notices <= NOTICES.0 {
                        notice(&format!("rank {rank}: {why}"));
                    }
                    Ok(())
                }
                Kind::Exit if bytes == [0; 4] => return Ok(()),
                Kind::Exit => return Err(failed(format!("rank {rank}: {why}"))),
                _ => Ok(()),
            };
            written.map_err(|e| failed(format!("rank {rank}: {e}")))?;
        }
    })
}

fn failed(why: String) -> ApiError {
    let hint = "see to the files and to the room on the disk, and try again";
    ApiError::new(ErrorCode::Refused, why, hint)
}
