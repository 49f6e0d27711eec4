//! A program on a rank, as seen from here.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::{Connector, ask, odd, persist, unreachable};
use crate::api::ApiError;
use crate::rank::link::Link;
use crate::rank::order::{Answer, Command, Start};
use crate::rank::wire::Kind;
use crate::terminal::Size;

/// A program that runs, over as many connections as it takes. Handles of it are cheap to clone.
#[derive(Clone)]
pub(crate) struct Remote {
    link: Arc<Link>,
    /// Why nothing is heard of it any more.
    lost: Arc<Mutex<Option<ApiError>>>,
}

/// Something that came of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Its standard output, or its terminal's.
    Out(Vec<u8>),
    /// Its standard error.
    Err(Vec<u8>),
    /// It ended with this code; the last of all.
    Exit(i32),
    /// Nothing is heard of it any more; the last of all.
    Lost(ApiError),
}

impl Remote {
    /// Starts it. `notice` is told when a connection is cut.
    ///
    /// # Errors
    /// The rank cannot be reached at all, or refuses.
    pub(crate) fn start<C: Connector>(
        to: Arc<C>,
        rank: u32,
        order: Start,
        notice: impl Fn(&str) + Send + 'static,
    ) -> Result<Remote, ApiError> {
        let session = order.session;
        let (connection, answer) = ask(&*to, rank, &Command::Start(order))?;
        let Answer::Taken { received } = answer else {
            return Err(odd(rank, &answer));
        };
        let remote = Remote {
            link: Link::new(),
            lost: Arc::default(),
        };
        let own = remote.clone();
        thread::spawn(move || {
            let mut next = Some((connection, own.link.offer(), received));
            let ended = persist(rank, &notice, |heard| {
                let (connection, offer, received) = match next.take() {
                    Some(first) => first,
                    None => {
                        let offer = own.link.offer();
                        let received = offer.received;
                        let order = Command::Resume { session, received };
                        match ask(&*to, rank, &order)? {
                            (connection, Answer::Taken { received }) => {
                                (connection, offer, received)
                            }
                            (_, answer) => return Err(odd(rank, &answer)),
                        }
                    }
                };
                heard();
                let carried = own.link.carry(connection, &offer, received, |_| ());
                match own.link.is_closed() {
                    true => Ok(()),
                    false => {
                        let why = carried.err().map_or_else(String::new, |e| e.to_string());
                        Err(unreachable(rank, &why))
                    }
                }
            });
            if let Err(error) = ended {
                *own.lost.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
            own.link.close();
        });
        Ok(remote)
    }

    /// Gives it input; the end of that if empty. Waits while it does not read; false once it is
    /// over.
    pub(crate) fn input(&self, bytes: &[u8]) -> bool {
        self.link.send(Kind::Stdin, bytes)
    }

    /// Tells it that its terminal has another size.
    pub(crate) fn resize(&self, size: Size) -> bool {
        self.link.send(Kind::Size, &size.to_bytes())
    }

    /// Sends it a signal, by its number.
    pub(crate) fn signal(&self, number: u8) -> bool {
        self.link.send(Kind::Signal, &[number])
    }

    /// Waits for the next thing that comes of it.
    pub(crate) fn next(&self) -> Event {
        while let Some((kind, bytes)) = self.link.take() {
            match kind {
                Kind::Stdout => return Event::Out(bytes),
                Kind::Stderr => return Event::Err(bytes),
                Kind::Exit => {
                    self.link.part();
                    let code = bytes.try_into().map_or(1, i32::from_be_bytes);
                    return Event::Exit(code);
                }
                _ => {}
            }
        }
        let lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = || unreachable(0, "nothing is heard of the program any more");
        Event::Lost(lost.clone().unwrap_or_else(gone))
    }
}
