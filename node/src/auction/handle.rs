//! Auctions: the list of the last ones, and one with the proof that it happened so.
//!
//! A stranger checks that the certificate is signed by more than two thirds of the validators'
//! power for the header, and that the proof leads from the record to the header's root of effects.

use crate::api::Answer;
use crate::api::ApiError;
use crate::api::types::{AuctionProof, AuctionRecord, AuctionSummary, EffectProof, Hex};
use crate::auction::board::{KEPT, Place};
use crate::backend::NodeBackend;
use crate::backend::failure::{internal, not_found};
use crate::ledger::blocks::decode;
use crate::market::{BETWEEN, class_named};
use gridbay_core::Core;
use gridbay_host::HistoryItem;
use gridbay_ledger::log::prove_in_list;
use gridbay_protocol::class::Class;
use gridbay_protocol::codec;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{ClassId, Hash32};

/// Auctions read in one look at the core.
const PAGE: usize = 16;
impl NodeBackend {
    /// Takes auctions into the board that it has not got yet, latest first in short looks at the
    /// core.
    pub(crate) async fn catch_up(&self) -> Answer<()> {
        let seen = self.board.seen();
        let mut before = (u64::MAX, 0);
        let mut found = Vec::new();
        let constants = |core: &Core| {
            (
                core.state().policy().clone(),
                core.state().classes().to_vec(),
            )
        };
        let mut fixed = None;
        while found.len() < KEPT {
            let page = self
                .query(move |core| core.host().auctions(before, PAGE))
                .await?;
            let full = page.len() == PAGE;
            let news: Vec<HistoryItem> = page
                .into_iter()
                .take_while(|item| seen.is_none_or(|seen| place(item) > seen))
                .collect();
            let more = full && news.len() == PAGE;
            let Some(oldest) = news.last().map(place) else {
                break;
            };
            before = oldest;
            if fixed.is_none() {
                fixed = Some(self.query(constants).await?);
            }
            if let Some((policy, classes)) = &fixed {
                found.extend(news.iter().filter_map(|item| {
                    let name = |id: &ClassId| name_in(classes, id);
                    let (class, line) = AuctionSummary::of(&item.effect, policy, name)?;
                    Some((place(item), class, line))
                }));
            }
            if !more {
                break;
            }
        }
        found.reverse();
        self.board.add(found);
        Ok(())
    }

    /// The last auctions, newest first; of one class if named.
    pub async fn auctions(
        &self,
        class: Option<String>,
        limit: usize,
    ) -> Answer<Vec<AuctionSummary>> {
        self.catch_up().await?;
        let class = match class {
            None => None,
            Some(name) => {
                let id =
                    move |core: &Core| class_named(core.state(), Some(&name)).map(|c| c.key.id());
                Some(self.query(id).await??)
            }
        };
        Ok(self.board.newest(class.as_ref(), limit))
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
        let effects =
            decode(&effects).ok_or_else(|| internal("reading effects", "damaged index"))?;
        let effect = effects.get(position as usize);
        let auction = effect.and_then(Effect::auction).ok_or_else(missing)?;
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

fn place(item: &HistoryItem) -> Place {
    (item.height, item.position)
}

fn name_in(classes: &[Class], id: &ClassId) -> String {
    let class = classes.iter().find(|class| class.key.id() == *id);
    class.map_or_else(|| id.to_string(), |class| class.name.clone())
}

/// Proof that the effect at `index` is among a block's effects.
fn prove(effects: &[Effect], index: u64) -> Option<EffectProof> {
    let leaves: Vec<[u8; 32]> = effects.iter().map(Effect::leaf).collect();
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
        assert_eq!(decode(&encoded).unwrap(), effects);
        let leaves: Vec<_> = effects.iter().map(Effect::leaf).collect();
        let root = merkle_root(&leaves);
        for index in 0..7 {
            let proof = prove(&effects, index).unwrap();
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
        assert_eq!(prove(&effects, 7), None);
    }
}
