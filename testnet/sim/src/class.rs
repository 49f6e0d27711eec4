//! Classes of messages between nodes: what a node may send and take in by ways of their own.

use gridbay_core::input::Input;
use gridbay_host::message::{self, HostMessage};

/// A class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// What validators need to decide the running height.
    Urgent,
    /// Entries, and what is answered to them.
    Entries,
    /// How far books reach, and adverts.
    Status,
    /// Decided blocks, and requests for them.
    Sync,
}

/// All classes, in their order.
pub const CLASSES: [Class; 4] = [Class::Urgent, Class::Entries, Class::Status, Class::Sync];

impl Class {
    /// The class of bytes between hosts, by the kind that they claim to be. Whatever is of no kind
    /// travels with the requests for blocks.
    pub fn of_bytes(bytes: &[u8]) -> Class {
        let is_status = || {
            bytes
                .get(2..)
                .is_some_and(|rest| rest.starts_with(b"status"))
        };
        match HostMessage::class(bytes) {
            message::Class::Votes | message::Class::Bodies => Class::Urgent,
            message::Class::Entries => Class::Entries,
            message::Class::Words if is_status() => Class::Status,
            message::Class::Words => Class::Sync,
        }
    }
    /// The class of an input that came from another node.
    pub(crate) fn of(input: &Input) -> Class {
        match input {
            Input::Host { bytes, .. } => Class::of_bytes(bytes),
            _ => Class::Status,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_host::message::{BodyRequest, Status, SyncRequest};
    use gridbay_protocol::ids::BlockId;

    #[test]
    fn every_kind_has_its_class() {
        let (height, block) = (1, BlockId([1; 32]));
        for (message, class) in [
            (
                HostMessage::BodyRequest(BodyRequest { height, block }),
                Class::Urgent,
            ),
            (HostMessage::Entries(vec![]), Class::Entries),
            (HostMessage::Receipts(vec![]), Class::Entries),
            (HostMessage::Status(Status { tip: 7 }), Class::Status),
            (
                HostMessage::SyncRequest(SyncRequest { from: 1 }),
                Class::Sync,
            ),
            (HostMessage::SyncResponse(vec![]), Class::Sync),
        ] {
            assert_eq!(Class::of_bytes(&message.encode()), class, "{message:?}");
        }
        assert_eq!(Class::of_bytes(b"noise"), Class::Sync);
    }
}
