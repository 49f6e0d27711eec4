//! Why the ledger refuses a block.

use super::{Breach, Refusal};
use gridbay_protocol::ids::{BlockId, ClassId, EntryId, ValidatorId};
use gridbay_protocol::keys::KeyError;
use gridbay_protocol::record::reservation::hint::HintRefusal;
use gridbay_protocol::stage::Malformed;
use gridbay_protocol::vote::CertificateError;

/// Why a block is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the texts tell what the fields are")]
pub enum BlockRefusal {
    /// Written for other formats, rules or another network.
    #[error("block of height {height} is for another format, other rules or another network")]
    Foreign { height: u64 },
    /// More entries, evidence, hints or bytes than a block may have.
    #[error("block {0} is too large")]
    TooLarge(BlockId),
    /// An entry that is not well-formed.
    #[error("entry {index}")]
    Malformed {
        index: usize,
        #[source]
        source: Malformed,
    },
    /// An entry whose signature is wrong.
    #[error("entry {id}")]
    Signature {
        id: EntryId,
        #[source]
        source: KeyError,
    },
    /// A hash in the header is not that of the body or the state.
    #[error("the header's {0} is wrong")]
    Root(&'static str),
    /// Not the next height.
    #[error("height {found}, expected {expected}")]
    Height { expected: u64, found: u64 },
    /// Not a child of the tip.
    #[error("parent {found} is not the tip {expected}")]
    Parent { expected: BlockId, found: BlockId },
    /// Not later than its parent.
    #[error("time {found} is not after the parent's {parent}")]
    Time { parent: u64, found: u64 },
    /// Not by a validator.
    #[error("{0} is no validator of this height")]
    Proposer(ValidatorId),
    /// The reveal does not hash to the proposer's tip.
    #[error("{0} reveals what it did not commit to")]
    Reveal(ValidatorId),
    /// The certificate is not one of the parent.
    #[error("the certificate is not one of the parent")]
    NotOfParent,
    /// The certificate proves nothing.
    #[error("the parent's certificate")]
    Certificate(#[from] CertificateError),
    /// Evidence that convicts nobody, or repeated.
    #[error("evidence {0} convicts nobody")]
    Evidence(usize),
    /// Entries out of order, or repeated.
    #[error("entry {0} is out of order")]
    Order(EntryId),
    /// The rules made something of it that must never be: a mistake in this program, not in the
    /// block.
    #[error("the rules break an invariant")]
    Unsound(#[from] Breach),
    /// An entry that cannot take effect.
    #[error("entry {id}")]
    Entry {
        id: EntryId,
        /// Why.
        #[source]
        refusal: Refusal,
    },
    /// A hint that is not taken.
    #[error("hint for class {class}")]
    Hint {
        class: ClassId,
        /// Why.
        #[source]
        refusal: HintRefusal,
    },
}
