//! Headers and blocks.

use crate::golden::{self, Family, NETWORK};
use crate::{Target, Verdict, decoder, strict};
use gridbay_ledger::CheckedBlock;
use gridbay_protocol::block::{BLOCK_EVIDENCE, Block, Header};
use gridbay_protocol::{codec, limits};

pub(crate) const HEADER: Target = decoder(
    "header",
    "bytes as a header: one encoding, and the id names it alone",
    header,
    || golden::seeds::<Header>(Family::Block),
);
pub(crate) const BLOCK: Target = decoder(
    "block",
    "bytes as a block: one encoding within the counts; the checks before execution are total",
    block,
    || golden::seeds::<Block>(Family::Block),
);

fn header(bytes: &[u8]) -> Verdict {
    strict::only::<Header>(bytes, limits::BLOCK_BYTES, |header| {
        for golden in golden::values::<Header>(Family::Block) {
            assert_eq!(header.id() == golden.id(), *header == golden);
        }
    })
}

fn block(bytes: &[u8]) -> Verdict {
    let Ok(block) = Block::decode(bytes) else {
        return Verdict::Refused;
    };
    assert!(block.entries.len() <= limits::BLOCK_ENTRIES);
    assert!(block.evidence.len() <= BLOCK_EVIDENCE);
    assert!(gridbay_protocol::record::reservation::hint::fit(
        &block.hints
    ));
    assert_eq!(block.id(), block.header.id());
    if let Ok(checked) = CheckedBlock::check(&NETWORK, block, |_, _| None) {
        assert_eq!(codec::encode(checked.block()), bytes);
        assert_eq!(checked.entries().len(), checked.block().entries.len());
    }
    strict::only::<Block>(bytes, limits::BLOCK_BYTES, |_| {})
}
