//! Questions of a node to itself: a buyer whose order is cleared at its own offer asks the seller
//! as any other. They stay off the wire, and are answered by the node as those of peers are.

use super::Wire;
use crate::overlay::command::Reply;
use crate::overlay::error::RequestError;
use crate::overlay::event::{Event, RequestId};

impl Wire {
    /// Hands a question to the node itself; one of no bytes
    /// ([`crate::overlay::OverlayHandle::ping`]) is answered at once.
    pub(super) fn ask_self(&mut self, bytes: Vec<u8>, reply: Reply) {
        if bytes.is_empty() {
            // The asker may have given up.
            let _unheard = reply.send(Ok(bytes));
            return;
        }
        // The asker may have given up.
        self.own.retain(|_, reply| !reply.is_closed());
        if self.own.len() >= self.shared.limits.inbound_requests_per_peer {
            return self.shared.fail_request(reply, RequestError::TooMany);
        }
        let id = RequestId(self.next_request);
        let question = Event::Request {
            peer: self.shared.local,
            id,
            bytes,
        };
        if !self.outbox.offer(question) {
            return self.shared.fail_request(reply, RequestError::TooMany);
        }
        self.next_request += 1;
        self.own.insert(id, reply);
    }

    /// Passes an answer on if the question was the node's own.
    pub(super) fn answer_self(&mut self, id: RequestId, bytes: Option<Vec<u8>>) -> bool {
        let Some(reply) = self.own.remove(&id) else {
            return false;
        };
        // The asker may have given up.
        let _unheard = reply.send(bytes.ok_or(RequestError::NoAnswer));
        true
    }
}
