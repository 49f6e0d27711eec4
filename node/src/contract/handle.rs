//! Contracts: listing them, and the entries of their parties.

use crate::api::Answer;
use crate::api::types::{Contract, ContractRole, ContractWord};
use crate::api::{ApiError, ErrorCode};
use crate::backend::NodeBackend;
use crate::backend::failure::{no_account, not_found};
use crate::market::class_name;
use gridbay_core::Core;
use gridbay_core::input::Command;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::order::ContractEntry;
use gridbay_protocol::units::Credits;

impl NodeBackend {
    /// All contracts on the ledger.
    pub async fn contracts(&self) -> Answer<Vec<Contract>> {
        self.query(|core| {
            let all = core.state().contracts().map(|(id, _)| *id);
            all.filter_map(|id| view(core, &id)).collect()
        })
        .await
    }

    /// Says something about a contract; answers once it is on the ledger.
    pub async fn say(&self, contract: OrderId, word: ContractWord) -> Answer<Contract> {
        self.acknowledges()?;
        let looked = self.query(move |core| {
            core.account().ok_or_else(no_account)?;
            view(core, &contract).ok_or_else(|| {
                not_found(
                    format!("no contract {contract}"),
                    "see gridbay contract list",
                )
            })
        });
        let before: Contract = looked.await?.map_err(|error: ApiError| error)?;
        if let Some(flaw) = flaw(word, before.role, before.signed, before.closed) {
            return Err(ApiError::new(
                ErrorCode::Refused,
                format!("contract {contract}: {flaw}"),
                "gridbay contract show tells its parties and its state",
            ));
        }
        let entry = match word {
            ContractWord::Sign => ContractEntry::Sign { contract },
            ContractWord::Close => ContractEntry::Close { contract },
        };
        self.on_the_ledger(Command::Contract(entry)).await?;
        let after = self.query(move |core| view(core, &contract)).await?;
        // A proposal that was taken back, or a contract without open jobs, is gone.
        Ok(after.unwrap_or(Contract {
            closed: true,
            ..before
        }))
    }
}

/// The reason for which the ledger would refuse a party's word; without this look its entry would
/// wait in vain.
fn flaw(
    word: ContractWord,
    role: ContractRole,
    signed: bool,
    closed: bool,
) -> Option<&'static str> {
    match word {
        ContractWord::Sign if role != ContractRole::Provider => Some("only its provider signs it"),
        ContractWord::Close if role != ContractRole::Client => Some("only its client closes it"),
        ContractWord::Sign if signed => Some("it is signed already"),
        ContractWord::Close if closed => Some("it is closed already"),
        _ => None,
    }
}

fn view(core: &Core, id: &OrderId) -> Option<Contract> {
    let (state, own) = (core.state(), core.account());
    let found = state.contract(id)?;
    let (terms, progress) = (&found.terms, found.progress);
    let policy: &Policy = state.policy();
    let seconds = |slots: u32| u64::from(slots) * policy.slot_ms() / 1_000;
    let served = state.contract_jobs(id).filter(|(_, j)| j.order.is_some());
    Some(Contract {
        contract: *id,
        class: class_name(state, &terms.class),
        client: found.client,
        provider: terms.provider,
        role: if own == Some(found.client) {
            ContractRole::Client
        } else if own == Some(terms.provider) {
            ContractRole::Provider
        } else {
            ContractRole::None
        },
        signed: progress.is_some(),
        closed: progress.is_some_and(|p| p.closed),
        jobs: terms.jobs,
        requested: progress.map_or(0, |p| p.requested),
        completed: progress.map_or(0, |p| p.completed),
        failed: progress.map_or(0, |p| p.failed),
        served: u32::try_from(served.count()).unwrap_or(u32::MAX),
        job_seconds: seconds(terms.job.slots),
        value: terms.job.value,
        penalty: terms.job.penalty,
        hold_seconds: seconds(terms.job.hold),
        decay_seconds: seconds(terms.job.decay),
        alpha_ppm: terms.alpha_ppm,
        beta16: terms.beta16,
        first_slot: terms.first,
        last_slot: terms.last,
        stands_until: terms.stands_until,
        escrow: state.escrow(id),
        bond: state.bond(id),
        earned: progress.map_or(Credits::ZERO, |p| p.earned),
        owed: progress.map_or(Credits::ZERO, |p| p.owed),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_party_has_its_word_once() {
        use ContractRole::{Client, None as Stranger, Provider};
        use ContractWord::{Close, Sign};
        let refused = |word, role, signed, closed| flaw(word, role, signed, closed).is_some();
        assert!(!refused(Sign, Provider, false, false));
        assert!(
            !refused(Close, Client, false, false),
            "a proposal is taken back"
        );
        assert!(!refused(Close, Client, true, false));
        for (word, others) in [(Sign, [Client, Stranger]), (Close, [Provider, Stranger])] {
            assert!(others.iter().all(|role| refused(word, *role, false, false)));
        }
        assert!(refused(Sign, Provider, true, false));
        assert!(refused(Close, Client, true, true));
    }
}
