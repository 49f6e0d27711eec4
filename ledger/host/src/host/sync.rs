//! Following by certificates: asking for decided blocks, giving them in turn, applying them.
//!
//! A block that a peer sends is applied if a certificate of the validators of its height names it;
//! no clock is asked. It does not matter whether this node also votes on that height: a certificate
//! ends it.

use super::{Host, Offence};
use crate::catchup::Peer;
use crate::fault::Fault;
use crate::limits;
use crate::message::{DecidedBlock, HostMessage, Status, SyncRequest};
use crate::stages::Stage;
use std::sync::Arc;

impl Host {
    /// Asks a peer that is ahead for the blocks after our tip, if it is time to.
    pub(super) fn ask_for_blocks(&mut self) {
        let (tip, voting) = (self.state.height(), self.engine.is_some());
        if let Some(peer) = self.catchup.ask(tip, voting, self.now.mono_ms) {
            let request = SyncRequest { from: tip + 1 };
            self.send(peer, HostMessage::SyncRequest(request));
        }
    }
    /// Answers the requests for blocks whose turn it is.
    pub(super) fn serve(&mut self) -> Result<(), Fault> {
        while let Some((peer, from, stranger)) = self.serving.next(self.now.mono_ms) {
            let bytes = self.give_blocks(peer, from)?;
            self.serving
                .answered(peer, stranger, bytes, self.now.mono_ms);
        }
        Ok(())
    }
    /// Sends decided blocks from a height on: as many as fit, at least one, or our tip if there is
    /// none. Returns the bytes of the blocks.
    fn give_blocks(&mut self, to: Peer, from: u64) -> Result<u64, Fault> {
        let tip = self.blocks.tip();
        let mut items = Vec::new();
        let mut bytes = 0;
        let last = tip.min(from.saturating_add(limits::SYNC_BLOCKS as u64 - 1));
        for height in from.max(1)..=last {
            let size = self.blocks.size(height);
            if !items.is_empty() && bytes + size > limits::SYNC_BYTES as u64 {
                break;
            }
            bytes += size;
            items.extend(self.blocks.read(&*self.disk, height)?);
        }
        let answer = if items.is_empty() {
            HostMessage::Status(Status { tip })
        } else {
            HostMessage::SyncResponse(items)
        };
        self.send(to, answer);
        Ok(bytes)
    }
    /// Applies decided blocks, as far as they continue our book.
    pub(super) fn take_blocks(
        &mut self,
        from: Peer,
        items: Vec<DecidedBlock>,
    ) -> Result<(), Fault> {
        let before = self.state.height();
        for item in items {
            if item.block.header.height <= self.state.height() {
                continue;
            }
            if !self.take_block(from, item)? {
                break;
            }
        }
        self.catchup.answered(&from, self.state.height() > before);
        Ok(())
    }
    fn take_block(&mut self, from: Peer, item: DecidedBlock) -> Result<bool, Fault> {
        let DecidedBlock { block, certificate } = item;
        let (height, id) = (self.state.height() + 1, block.id());
        let network = self.state.network();
        let proves = (certificate.height, certificate.block) == (height, id)
            && certificate
                .verify(&network, self.state.validators())
                .is_ok();
        if !proves {
            self.penalise(from, Offence::Certificate);
            return Ok(false);
        }
        let Ok(checked) = self.check_block(block) else {
            self.penalise(from, Offence::Body);
            return Ok(false);
        };
        // More than two thirds of the power vouch for the block: if it is refused here, our rules
        // differ.
        let execute = || self.state.execute(&checked);
        let delta = self
            .stages
            .time(Stage::Execute, execute)
            .map_err(|error| Fault::Refused {
                height,
                block: id,
                reason: super::open::causes(&error),
            })?;
        self.commit(Arc::new(checked), delta, certificate)?;
        Ok(true)
    }
}
