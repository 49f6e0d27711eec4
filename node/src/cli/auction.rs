//! `auction list|show|verify`.
//!
//! Verification in the client, from the genesis on:
//!
//! 1. the block's certificate, by validators that follow from the genesis;
//! 2. the record is among the effects that the header commits to;
//! 3. the outcome follows from the record's input, as the mechanism's room checks.
//!
//! The text of a record and its check stand in the room of its mechanism; this file alone knows all
//! rooms.

mod ausubel;
mod buy;
mod outcome;
mod posted;
mod reservation;
mod share;

use super::chain::{HEADER_BYTES, SIGNED_BYTES, validators_at};
use super::context::Context;
use super::error::{CliError, During as _, chain};
use super::exit::Exit;
use super::files::escape;
use super::listing::Newest;
use super::meant::Meant;
use super::text::or_dash;
use crate::api::client::Client;
use crate::api::types::{AuctionProof, AuctionRecord, AuctionSummary, EffectProof};
use crate::ui::Table;
use clap::Subcommand;
use gridbay_ledger::light;
use gridbay_ledger::log::LogProofError;
use gridbay_protocol::block::Header;
use gridbay_protocol::codec::{self, CodecError};
use gridbay_protocol::effect::Effect;
use gridbay_protocol::genesis::{Genesis, Policy};
use gridbay_protocol::ids::{NetworkId, to_hex};
use gridbay_protocol::validator::ValidatorSet;
use gridbay_protocol::vote::{Certificate, CertificateError};
use outcome::OutcomeError;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Auctions: who competed, who won, what was paid.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum AuctionCommand {
    /// List the last auctions
    List {
        /// Of one class only
        #[arg(long)]
        class: Option<String>,
        #[command(flatten)]
        newest: Newest,
    },
    /// Show offers, bids, winners and payments of an auction
    Show {
        /// Its id, or how that begins (4 digits or more)
        id: Meant,
    },
    /// Check an auction from the genesis on, without trusting the node
    Verify {
        /// Ids, or how they begin
        #[arg(required = true)]
        ids: Vec<Meant>,
        /// The genesis to start from [default: the data folder's]
        #[arg(long, value_name = "FILE")]
        genesis: Option<PathBuf>,
    },
}

/// Why an auction is not what it claims.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuctionError {
    /// Not canonical bytes; names them.
    #[error("the {0} cannot be read")]
    Bytes(&'static str, #[source] CodecError),
    /// The block does not fit; names what.
    #[error("wrong {0}")]
    Block(&'static str),
    /// The certificate proves nothing.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The record is not in the block.
    #[error("the record is not in block {height}")]
    NotInBlock {
        /// Height of the block.
        height: u64,
        /// The fault of its proof.
        source: LogProofError,
    },
    /// The outcome does not follow from the bids and offers.
    #[error(transparent)]
    Outcome(#[from] OutcomeError),
}

/// Checks an auction of a network against validators of its height that the caller trusts.
pub fn verify_auction(
    proof: &AuctionProof,
    genesis: &Genesis,
    set: &ValidatorSet,
) -> Result<(), AuctionError> {
    check_auction(proof, genesis.network(), &genesis.policy, Some(set))
}

/// The same by the network's id and policy; without validators, the proof's own are trusted.
pub(crate) fn check_auction(
    proof: &AuctionProof,
    network: NetworkId,
    policy: &Policy,
    set: Option<&ValidatorSet>,
) -> Result<(), AuctionError> {
    let own: ValidatorSet;
    let set = match set {
        Some(set) => set,
        None => {
            own = codec::decode(&proof.validators.0, SIGNED_BYTES)
                .map_err(|e| AuctionError::Bytes("validators", e))?;
            &own
        }
    };
    let header = header(proof)?;
    let certificate: Certificate = codec::decode(&proof.certificate.0, SIGNED_BYTES)
        .map_err(|e| AuctionError::Bytes("certificate", e))?;
    let auction = proof.record.auction();
    let wrong = [
        ("network", header.network != network),
        ("validators", header.validators != set.hash()),
        ("height", header.height != auction.height()),
        ("id", to_hex(&auction.id()) != proof.id),
        ("certificate height", certificate.height != header.height),
        ("certificate block", certificate.block != header.id()),
    ];
    if let Some((what, _)) = wrong.into_iter().find(|(_, wrong)| *wrong) {
        return Err(AuctionError::Block(what));
    }
    certificate.verify(&network, set)?;
    check_inclusion(proof, &header)?;
    Ok(check_outcome(&proof.record, policy)?)
}

fn header(proof: &AuctionProof) -> Result<Header, AuctionError> {
    codec::decode(&proof.header.0, HEADER_BYTES).map_err(|e| AuctionError::Bytes("header", e))
}

/// Step 2: the record's leaf leads to the header's effects root.
fn check_inclusion(proof: &AuctionProof, header: &Header) -> Result<(), AuctionError> {
    let effect = Effect::from(proof.record.auction());
    let EffectProof { index, size, proof } =
        codec::decode(&proof.proof.0, SIGNED_BYTES).map_err(|e| AuctionError::Bytes("proof", e))?;
    light::effect(header, &effect, index, size, &proof).map_err(|source| AuctionError::NotInBlock {
        height: header.height,
        source,
    })
}

/// Step 3.
fn check_outcome(record: &AuctionRecord, policy: &Policy) -> Result<(), OutcomeError> {
    match record {
        AuctionRecord::Clearing(record) => ausubel::check(record, policy.auction),
        AuctionRecord::Buy(record) => buy::check(record, policy.buy),
        AuctionRecord::Sharing(record) => share::check(record),
        AuctionRecord::Reservation(record) => reservation::check(record, &policy.reservation),
        AuctionRecord::Posted(record) => posted::check(record),
    }
}

/// The text of `auction show`.
pub(crate) fn table(AuctionProof { class, record, .. }: &AuctionProof) -> String {
    match record {
        AuctionRecord::Clearing(record) => ausubel::table(record, class),
        AuctionRecord::Buy(record) => buy::table(record, class),
        AuctionRecord::Sharing(record) => share::table(record, class),
        AuctionRecord::Reservation(record) => reservation::table(record, class),
        AuctionRecord::Posted(record) => posted::table(record, class),
    }
}

/// One line of `auction verify`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Verdict {
    id: String,
    ok: bool,
    why: Option<String>,
}

impl AuctionCommand {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        at.wait(async {
            let client = at.client()?;
            match self {
                AuctionCommand::List { class, newest } => {
                    let class = filter(class.as_deref());
                    let what = ("/auctions", &class[..], "no list of auctions");
                    newest.of(at, &client, what, list).await
                }
                AuctionCommand::Show { id } => show(at, &client, &id).await,
                AuctionCommand::Verify { ids, genesis } => verify(at, &client, &ids, genesis).await,
            }
        })
    }
}

/// The part of an address that asks for one class.
fn filter(class: Option<&str>) -> String {
    class.map_or_else(String::new, |class| format!("&class={}", escape(class)))
}

fn list(auctions: &[AuctionSummary]) -> String {
    let mut table = Table::new(&[
        "AUCTION", "KIND", "CLASS", ">HEIGHT", "->SLOT", "->UNITS", "->BIDS", "->WON", "->SOLD",
        ">PAID", ">PRICE/H",
    ]);
    for a in auctions {
        table.row([
            a.id.clone(),
            a.kind.name().to_owned(),
            a.class.clone(),
            a.height.to_string(),
            a.slot.to_string(),
            a.units.to_string(),
            a.bids.to_string(),
            a.winners.to_string(),
            a.sold.to_string(),
            a.paid.to_string(),
            or_dash(a.price),
        ]);
    }
    table.render()
}

async fn show(at: &Context, client: &Client, id: &Meant) -> Result<(), CliError> {
    let proof: AuctionProof = client
        .get(&format!("/auctions/{id}"))
        .await
        .during("no such auction")?;
    at.tell(&proof, table)
}

async fn verify(
    at: &Context,
    client: &Client,
    ids: &[Meant],
    genesis: Option<PathBuf>,
) -> Result<(), CliError> {
    let genesis = at.genesis(genesis.as_deref())?;
    let mut verdicts = Vec::new();
    for id in ids {
        let (id, why) = verify_one(at, client, &genesis, id).await?;
        verdicts.push(Verdict {
            id,
            ok: why.is_none(),
            why,
        });
    }
    at.tell(&verdicts, |verdicts| {
        let line = |v: &Verdict| match &v.why {
            None => format!("ok     {}\n", v.id),
            Some(why) => format!("wrong  {}: {}\n", v.id, crate::ui::clean(why)),
        };
        verdicts.iter().map(line).collect()
    })?;
    match verdicts.iter().filter(|v| !v.ok).count() {
        0 => Ok(()),
        wrong => Err(CliError::new(
            Exit::FAILED,
            format!("{wrong} of {} auctions are not what they claim", ids.len()),
            "see the lines above",
            "do not trust this node; compare with another one",
        )),
    }
}

async fn verify_one(
    at: &Context,
    client: &Client,
    genesis: &Genesis,
    id: &Meant,
) -> Result<(String, Option<String>), CliError> {
    let proof: AuctionProof = client
        .get(&format!("/auctions/{id}"))
        .await
        .during("the auction could not be checked")?;
    let asked = id.to_string();
    if !proof.id.starts_with(&asked) {
        let why = "the node answered with another auction".to_owned();
        return Ok((asked, Some(why)));
    }
    let header = match header(&proof) {
        Ok(header) => header,
        Err(error) => return Ok((proof.id, Some(chain(&error)))),
    };
    let set = validators_at(at, client, genesis, header.height, header.validators).await?;
    let checked = verify_auction(&proof, genesis, &set);
    Ok((proof.id, checked.err().map(|error| chain(&error))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_one_value_of_the_address_whatever_its_name() {
        assert_eq!(filter(None), "");
        assert_eq!(filter(Some("small")), "&class=small");
        let odd = filter(Some("a&limit=1 b#?%"));
        assert_eq!(odd, "&class=a%26limit%3D1%20b%23%3F%25");
    }
}
