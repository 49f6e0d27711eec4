//! Auctions: the list of the last ones, and one with the proof that it happened so.
//!
//! A stranger checks that the certificate is signed by more than two thirds of the validators'
//! power for the header, and that the proof leads from the record to the header's root of effects.

use crate::api::Answer;
use crate::api::ApiError;
use crate::api::page::{Asked, Page};
use crate::api::types::{AuctionProof, AuctionRecord, AuctionSummary, EffectProof, Hex};
use crate::auction::EFFECT_BYTES;
use crate::auction::board::{KEPT, Place};
use crate::auction::recent::Recent;
use crate::backend::NodeBackend;
use crate::backend::failure::{internal, not_found, usage};
use crate::market::{BETWEEN, class_named};
use gridbay_core::Core;
use gridbay_ledger::log::prove_in_list;
use gridbay_protocol::class::Class;
use gridbay_protocol::codec;
use gridbay_protocol::effect::{Effect, leaf_of};
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{ClassId, Hash32};
use std::collections::BTreeMap;

/// Auctions read in one look at the core.
const PAGE: usize = 16;
/// Digits by which an auction can be named at the least.
const SHORTEST: usize = 4;

/// What the lines of auctions are made with.
struct Known {
    policy: Policy,
    classes: Vec<Class>,
}

impl Known {
    fn of(core: &Core) -> Known {
        Known {
            policy: core.state().policy().clone(),
            classes: core.state().classes().to_vec(),
        }
    }
}

/// Auctions as they are read, newest first.
#[derive(Default)]
struct Found {
    lines: Vec<(Place, Vec<ClassId>, AuctionSummary)>,
    recent: BTreeMap<ClassId, Recent>,
}

impl Found {
    /// Decodes a page of them; a damaged one is passed over.
    fn read(&mut self, page: Vec<(Place, Vec<u8>)>, known: &Known) {
        for (place, bytes) in page {
            let Ok(effect) = codec::decode::<Effect>(&bytes, EFFECT_BYTES) else {
                continue;
            };
            let name = |id: &ClassId| name_in(&known.classes, id);
            let Some((classes, line)) = AuctionSummary::of(&effect, &known.policy, name) else {
                continue;
            };
            if let Effect::Clearing(record) = effect {
                let recent = self.recent.entry(record.class).or_default();
                recent.add_older(record, &line);
            }
            self.lines.push((place, classes, line));
        }
    }
}

impl NodeBackend {
    /// Takes auctions into the board that it has not got yet, latest first in short looks at the
    /// core.
    pub(crate) async fn catch_up(&self) -> Answer<()> {
        let _turn = self.board.turn.lock().await;
        let (after, mut before) = (self.board.seen().unwrap_or_default(), (u64::MAX, 0));
        let mut found = Found::default();
        let mut fixed = None;
        while found.lines.len() < KEPT {
            let page = self.query(move |core| core.host().auctions(after, before, PAGE));
            let page = page.await?;
            let Some((oldest, _)) = page.last() else {
                break;
            };
            before = *oldest;
            let more = page.len() == PAGE;
            let known = match fixed.take() {
                Some(known) => known,
                None => self.query(Known::of).await?,
            };
            let read = tokio::task::spawn_blocking(move || {
                found.read(page, &known);
                (found, known)
            });
            let read = read.await;
            let (now, known) = read.map_err(|error| internal("reading auctions", error))?;
            (found, fixed) = (now, Some(known));
            if !more {
                break;
            }
        }
        found.lines.reverse();
        for (_, _, line) in &found.lines {
            self.parts.meters.cleared(line.kind.name(), line.height);
        }
        self.board.keep(found.recent);
        self.board.add(found.lines);
        Ok(())
    }

    /// The last auctions, newest first; of one class if named.
    pub async fn auctions(
        &self,
        class: Option<String>,
        limit: usize,
    ) -> Answer<Vec<AuctionSummary>> {
        self.catch_up().await?;
        let class = self.class_of(class).await?;
        Ok(self.board.newest(class.as_ref(), limit))
    }

    /// The part of them that is asked for.
    pub(crate) async fn auctions_asked(
        &self,
        class: Option<String>,
        asked: &Asked,
    ) -> Answer<Page<AuctionSummary>> {
        self.catch_up().await?;
        let class = self.class_of(class).await?;
        self.board.page(class.as_ref(), asked)
    }

    /// The class of a name, if one is named.
    async fn class_of(&self, name: Option<String>) -> Answer<Option<ClassId>> {
        let Some(name) = name else {
            return Ok(None);
        };
        let id = move |core: &Core| class_named(core.state(), &name).map(|c| c.key.id());
        self.query(id).await?.map(Some)
    }

    /// The whole id of the auction that a text means: its id, or how that of one of the last ones
    /// begins.
    pub(crate) async fn auction_meant(&self, text: String) -> Answer<String> {
        if let Ok(id) = text.parse::<Hash32>() {
            return Ok(id.to_hex());
        }
        if text.len() < SHORTEST || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            let hint = format!("want its id of 64 hex digits, or the first {SHORTEST} or more");
            return Err(usage(format!("`{text}` is no auction id"), hint));
        }
        self.catch_up().await?;
        let mut meant = self.board.beginning(&text);
        match (meant.pop(), meant.is_empty()) {
            (Some(id), true) => Ok(id),
            (Some(_), false) => {
                let why = format!("more than one auction begins with {text}");
                Err(usage(why, "give more digits"))
            }
            (None, _) => Err(not_found(
                format!("none of the last auctions begins with {text}"),
                "see gridbay auction list; an older one needs its whole id",
            )),
        }
    }

    /// One auction by the hex of its id, with its proof.
    pub async fn auction(&self, id: String) -> Answer<AuctionProof> {
        let missing = || not_found(format!("no auction {id}"), "see gridbay auction list");
        let wanted: Hash32 = id.parse().map_err(|_| missing())?;
        let looked = self.query(move |core| {
            let host = core.host();
            let Some((height, position)) = host.auction_place(&wanted) else {
                return Ok(None);
            };
            let block = host
                .block(height)
                .map_err(|error| internal("reading a block", error))?;
            let Some(decided) = block else {
                return Ok(None);
            };
            let set = core.state().validators().clone();
            let classes = core.state().classes().to_vec();
            Ok::<_, ApiError>(Some((
                position,
                decided,
                set,
                host.effect_bytes(height),
                classes,
            )))
        });
        let (position, decided, set, effects, classes) = looked.await??.ok_or_else(missing)?;
        let effect = effects.get(position as usize);
        let effect = effect.and_then(|bytes| codec::decode::<Effect>(bytes, EFFECT_BYTES).ok());
        let effect = effect.ok_or_else(|| internal("reading an effect", "damaged index"))?;
        let auction = effect.auction().ok_or_else(missing)?;
        let of = auction.classes();
        let names: Vec<String> = of.iter().map(|id| name_in(&classes, id)).collect();
        let proof = prove(&effects, u64::from(position))
            .ok_or_else(|| internal("proving an effect", "position out of range"))?;
        Ok(AuctionProof {
            id,
            class: names.join(BETWEEN),
            record: AuctionRecord::from(auction),
            header: Hex(codec::encode(&decided.block.header)),
            certificate: Hex(codec::encode(&decided.certificate)),
            validators: Hex(codec::encode(&set)),
            proof: Hex(codec::encode(&proof)),
        })
    }
}

fn name_in(classes: &[Class], id: &ClassId) -> String {
    let class = classes.iter().find(|class| class.key.id() == *id);
    class.map_or_else(|| id.to_string(), |class| class.name.clone())
}

/// Proof that the effect at `index` is among a block's effects, given by their canonical bytes.
fn prove(effects: &[Vec<u8>], index: u64) -> Option<EffectProof> {
    let leaves: Vec<[u8; 32]> = effects.iter().map(|bytes| leaf_of(bytes)).collect();
    let size = leaves.len() as u64;
    let proof = prove_in_list(&leaves, index).ok()?;
    Some(EffectProof { index, size, proof })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_ledger::log::merkle_root;
    use gridbay_protocol::effect::OrderEnd;
    use gridbay_protocol::ids::OrderId;

    #[test]
    fn a_proof_leads_to_the_root_of_effects() {
        let effects: Vec<Effect> = (0..7u8)
            .map(|n| Effect::Order {
                order: OrderId([n; 32]),
                end: OrderEnd::Served,
            })
            .collect();
        let encoded: Vec<Vec<u8>> = effects.iter().map(codec::encode).collect();
        let leaves: Vec<_> = effects.iter().map(Effect::leaf).collect();
        let root = merkle_root(&leaves);
        for index in 0..7 {
            let proof = prove(&encoded, index).unwrap();
            let bytes = codec::encode(&proof);
            let proof: EffectProof = codec::decode(&bytes, 4_096).unwrap();
            let leaf = effects[index as usize].leaf();
            assert!(
                proof
                    .proof
                    .verify(&root, proof.size, proof.index, &leaf)
                    .is_ok()
            );
            assert!(
                proof
                    .proof
                    .verify(&root, proof.size, (index + 1) % 7, &leaf)
                    .is_err()
            );
        }
        assert_eq!(prove(&encoded, 7), None);
    }
}
