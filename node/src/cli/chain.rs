//! Headers with certificates, checked from the genesis on.
//!
//! For each height, in order:
//!
//! 1. the header names this network, the next height, its parent, and a later time;
//! 2. its validators are those that the header before promised (the genesis' for height 1);
//! 3. the certificate is for this header, signed by more than two thirds of their power.
//!
//! Nothing is taken from the node on trust: a holder of the genesis needs nobody's word.

use super::context::Context;
use super::error::{CliError, During as _};
use super::exit::Exit;
use super::progress::Progress;
use crate::api::client::Client;
use crate::api::types::{BlockInfo, SignedHeader};
use gridbay_protocol::block::Header;
use gridbay_protocol::codec::{self, CodecError};
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::ids::{BlockId, Hash32, NetworkId};
use gridbay_protocol::limits;
use gridbay_protocol::validator::ValidatorSet;
use gridbay_protocol::vote::{Certificate, CertificateError};

/// Bytes of a header at the most.
pub(super) const HEADER_BYTES: usize = 4 * 1024;
/// Bytes of a certificate or a validator set at the most.
pub(super) const SIGNED_BYTES: usize = 64 * 1024;
const _: () = assert!(limits::VALIDATORS * 512 < SIGNED_BYTES);

/// Why a header does not follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the texts tell what the fields are")]
pub enum ChainError {
    /// Not canonical bytes.
    #[error("height {height}: header, certificate or validators")]
    Bytes { height: u64, source: CodecError },
    /// A field that does not fit what came before; names it.
    #[error("height {height}: wrong {field}")]
    Field { height: u64, field: &'static str },
    /// The certificate proves nothing.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

/// A chain of headers as far as it is checked.
#[derive(Clone, Debug)]
pub struct HeaderChain {
    network: NetworkId,
    height: u64,
    time_ms: u64,
    head: BlockId,
    set: ValidatorSet,
    next_set: Hash32,
}

impl HeaderChain {
    /// The chain of no blocks. `None` if the genesis has no legal validators.
    pub fn new(genesis: &Genesis) -> Option<HeaderChain> {
        let set = genesis.validators()?;
        Some(HeaderChain {
            network: genesis.network(),
            height: 0,
            time_ms: genesis.time_ms,
            head: BlockId::default(),
            next_set: set.hash(),
            set,
        })
    }
    /// Height checked.
    pub fn height(&self) -> u64 {
        self.height
    }
    /// The block at that height.
    pub fn head(&self) -> BlockId {
        self.head
    }
    /// Validators of that height; of height 1 before the first.
    pub fn validators(&self) -> &ValidatorSet {
        &self.set
    }
    /// Checks the next header and goes on to it.
    pub fn push(&mut self, next: &SignedHeader) -> Result<Header, ChainError> {
        let height = self.height + 1;
        let bytes = |source| ChainError::Bytes { height, source };
        let header: Header = codec::decode(&next.header.0, HEADER_BYTES).map_err(bytes)?;
        let certificate: Certificate =
            codec::decode(&next.certificate.0, SIGNED_BYTES).map_err(bytes)?;
        if let Some(set) = &next.validators {
            self.set = codec::decode(&set.0, SIGNED_BYTES).map_err(bytes)?;
        }
        let id = header.id();
        let wrong = [
            ("network", header.network != self.network),
            ("height", header.height != height),
            ("parent", header.parent != self.head),
            ("time", header.time_ms <= self.time_ms),
            ("validators", header.validators != self.next_set),
            ("list of validators", self.set.hash() != self.next_set),
            ("certificate height", certificate.height != height),
            ("certificate block", certificate.block != id),
        ];
        if let Some((field, _)) = wrong.into_iter().find(|(_, wrong)| *wrong) {
            return Err(ChainError::Field { height, field });
        }
        certificate.verify(&self.network, &self.set)?;
        self.height = height;
        self.time_ms = header.time_ms;
        self.head = id;
        self.next_set = header.next_validators;
        Ok(header)
    }
}

/// Fetches and checks every header up to `last` (the node's head if `None`).
pub(super) async fn walk(
    client: &Client,
    genesis: &Genesis,
    last: Option<u64>,
) -> Result<HeaderChain, CliError> {
    let what = "the ledger could not be checked";
    let head: BlockInfo = client.get("/ledger/head").await.during(what)?;
    let last = last.unwrap_or(head.height).min(head.height);
    let mut chain = HeaderChain::new(genesis).ok_or_else(|| {
        let why = "the genesis has no validators";
        CliError::new(Exit::REFUSED, what, why, "ask a member for the file")
    })?;
    let mut progress = Progress::counting("checking", last, "blocks");
    while chain.height < last {
        let from = chain.height + 1;
        let path = format!("/ledger/headers?from={from}");
        let page: Vec<SignedHeader> = client.get(&path).await.during(what)?;
        if page.is_empty() {
            let why = format!("the node gave no header of height {from}");
            return Err(CliError::new(Exit::NOT_FOUND, what, why, "try again"));
        }
        for next in &page {
            chain.push(next).map_err(|error| {
                let why = super::error::chain(&error);
                let next = "do not trust this node; compare with another one";
                CliError::new(Exit::FAILED, "the ledger is not what it claims", why, next)
            })?;
            progress.add(1);
            if chain.height == last {
                break;
            }
        }
    }
    Ok(chain)
}

/// The checked validators of a height. Without any change since the genesis no walk is needed.
pub(super) async fn validators_at(
    at: &Context,
    client: &Client,
    genesis: &Genesis,
    height: u64,
    claimed: Hash32,
) -> Result<ValidatorSet, CliError> {
    if let Some(set) = genesis.validators().filter(|set| set.hash() == claimed) {
        return Ok(set);
    }
    if at.format.is_text() {
        crate::ui::note("the validators have changed; checking the headers up to this block");
    }
    let chain = walk(client, genesis, Some(height)).await?;
    Ok(chain.set)
}
