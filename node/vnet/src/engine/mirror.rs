//! The engine as one that asks who it is, and as one that answers.

use std::io;
use std::net::SocketAddr;

use super::socket::plain;
use super::{Engine, Shared, held};
use crate::drops::Drop;
use crate::mirror::QUESTION;
use crate::path::Via;

impl Engine {
    /// Asks another engine, which need not be a member of anything, from which address this one's
    /// datagrams come; does not wait for the answer, which [`Engine::seen`] tells. A node asks two
    /// or three places every 20 seconds or so, which keeps its way through a NAT open as well.
    ///
    /// # Errors
    /// If there is no randomness.
    pub fn mirror(&self, at: SocketAddr) -> io::Result<()> {
        let (mut number, at) = ([0; 16], plain(at));
        getrandom::fill(&mut number).map_err(io::Error::other)?;
        let now = self.shared.now();
        let question = held(self.shared.mirror.lock()).ask(at, number, now);
        self.shared
            .socket
            .send(&Via { at, ticket: None }, &question);
        Ok(())
    }

    /// Who was asked lately and has answered, with the address that it sees.
    /// [`crate::mirror::outside`] says what they mean together.
    pub fn seen(&self) -> Vec<(SocketAddr, SocketAddr)> {
        held(self.shared.mirror.lock()).seen(self.shared.now())
    }
}

/// A question or an answer comes.
pub(super) fn take(shared: &Shared, frame: &[u8], source: SocketAddr) {
    let mut mirror = held(shared.mirror.lock());
    if frame.first() != Some(&QUESTION) {
        if !mirror.answered(frame, source, shared.now()) {
            shared.drops.add(Drop::Outsider, 1);
        }
        return;
    }
    let answer = mirror.answer(frame, source, shared.now());
    drop(mirror);
    match answer {
        Some(answer) => {
            let via = Via {
                at: source,
                ticket: None,
            };
            shared.socket.send(&via, &answer);
        }
        None => shared.drops.add(Drop::Flood, 1),
    }
}
