//! The federation, from the ledger and the signatures under its last blocks.

use super::types::{Federation, FederationMember, FederationRules, FederationValidator};
use crate::api::Answer;
use crate::backend::NodeBackend;
use crate::backend::failure::internal;
use crate::ledger::blocks::read_block;
use crate::market::price::limit_hourly;
use gridbay_core::Core;
use gridbay_ledger::State;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{AccountId, ValidatorId};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::limits::EPOCH_HEIGHTS;
use gridbay_protocol::units::Credits;
use gridbay_protocol::vote::Certificate;
use std::collections::BTreeMap;

/// Last blocks whose signatures are read: enough to tell a validator that is down from one that was
/// late once.
const BLOCKS: u64 = 16;

/// The last height that each validator signed, and how many of the last ones it signed.
type Signed = BTreeMap<ValidatorId, (u64, u64)>;

impl NodeBackend {
    /// Members, validators and rules.
    pub async fn federation(&self) -> Answer<Federation> {
        let node = self.parts.node;
        self.query(move |core| federation(core, node)).await?
    }
}

fn federation(core: &Core, node: PublicKey) -> Answer<Federation> {
    let (state, height) = (core.state(), core.state().height());
    let first = height.saturating_sub(BLOCKS).saturating_add(1).max(1);
    let mut certificates = Vec::new();
    for height in first..=height {
        let found = core.host().certificate(height);
        certificates.extend(found.map_err(|error| internal("reading a certificate", error))?);
    }
    let interval_ms = match height.saturating_sub(first) {
        0 => None,
        steps => {
            let from = read_block(core, first)?.block.header.time_ms;
            Some(state.time_ms().saturating_sub(from) / steps)
        }
    };
    let set = state.validators();
    Ok(Federation {
        network: state.network(),
        height,
        block_ms: state.time_ms(),
        blocks: height.saturating_add(1).saturating_sub(first),
        interval_ms,
        accounts: state.accounts().count() as u64,
        members: members(state, core.account()),
        validators: validators(state, node, &signed(&certificates)),
        power: set.total_power(),
        quorum: quorum(set.total_power()),
        rules: rules(state.policy()),
    })
}

fn signed(certificates: &[Certificate]) -> Signed {
    let mut signed = Signed::new();
    for certificate in certificates {
        for signature in &certificate.signatures {
            let (last, count) = signed.entry(signature.validator).or_default();
            *last = certificate.height.max(*last);
            *count += 1;
        }
    }
    signed
}

/// The least power above two thirds.
pub(crate) fn quorum(power: u64) -> u64 {
    let thirds = u128::from(power) * 2 / 3 + 1;
    u64::try_from(thirds).unwrap_or(u64::MAX)
}

fn members(state: &State, own: Option<AccountId>) -> Vec<FederationMember> {
    let member = |(account, name): (&AccountId, &str)| {
        let found = state.account(account);
        let seats = found.iter().flat_map(|account| &account.seats);
        let validators = state.validators().members().iter();
        let of = validators.filter(|validator| validator.account == *account);
        FederationMember {
            account: *account,
            name: name.to_owned(),
            own: own == Some(*account),
            credit_line: found.map_or(Credits::ZERO, |account| account.credit_line),
            guests: seats.map(|seats| u64::from(seats.open)).sum(),
            power: of.map(|validator| validator.power).sum(),
        }
    };
    state.members().map(member).collect()
}

fn validators(state: &State, node: PublicKey, signed: &Signed) -> Vec<FederationValidator> {
    let validator = |validator: &gridbay_protocol::validator::Validator| {
        let of = signed.get(&validator.id);
        FederationValidator {
            validator: validator.id,
            name: state.member_name(&validator.account).map(str::to_owned),
            node: validator.node,
            own: validator.node == node,
            power: validator.power,
            signed: of.map(|(last, _)| *last),
            signatures: of.map_or(0, |(_, count)| *count),
        }
    };
    let all = state.validators().members().iter();
    all.map(validator).collect()
}

fn rules(policy: &Policy) -> FederationRules {
    let limit = policy.bank.credit_limit;
    FederationRules {
        block_interval_ms: policy.block_interval_ms,
        heartbeat_ms: policy.heartbeat_ms,
        propose_timeout_ms: policy.propose_timeout_ms,
        round_heights: policy.calendar.round_heights,
        slot_rounds: policy.calendar.slot_rounds,
        slot_ms: policy.slot_ms(),
        auction_rule: policy.auction.rule.name().to_owned(),
        switch_cost: limit_hourly(policy.auction.switch_cost, policy.slot_ms()),
        surcharge_ppm: policy.buy.surcharge_ppm,
        max_firm_slots: policy.max_firm_slots,
        reservation_slots: policy.reservation.slots,
        reservation_starts: policy.reservation.starts,
        delivery_heights: policy.delivery_heights,
        dispute_slots: policy.dispute_slots,
        credit_limit: (limit < Credits::MAX).then_some(limit),
        invitation_depth: policy.invitations.depth,
        accounts_per_member: policy.accounts_per_member,
        invitations_per_epoch: policy.invitations.per_epoch,
        invitations_per_user: policy.invitations.per_user,
        epoch_heights: EPOCH_HEIGHTS,
        member_entries: policy.entries.member.entries,
        user_entries: policy.entries.user.entries,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::hash::Domain;
    use gridbay_protocol::ids::{BlockId, NetworkId};
    use gridbay_protocol::keys::SecretKey;
    use gridbay_protocol::validator::{Validator, ValidatorSet};
    use gridbay_protocol::vote::CertificateSignature;

    #[test]
    fn a_quorum_is_the_least_that_decides() {
        for power in [1, 2, 3, 4, 100, 1 << 30] {
            let key = SecretKey::from_seed(&[7; 32]).public();
            let one = Validator {
                id: gridbay_protocol::validator::validator_id(&key),
                key,
                node: key,
                account: AccountId([1; 32]),
                power,
            };
            let set = ValidatorSet::new(vec![one]).unwrap();
            let least = quorum(power);
            assert!(set.is_quorum(least) && !set.is_quorum(least - 1), "{power}");
        }
    }

    #[test]
    fn signatures_are_counted_by_validator() {
        let (a, b) = (ValidatorId([1; 32]), ValidatorId([2; 32]));
        let by = |height, all: &[ValidatorId]| Certificate {
            height,
            round: 0,
            block: BlockId([0; 32]),
            signatures: all
                .iter()
                .map(|validator| CertificateSignature {
                    validator: *validator,
                    signature: SecretKey::from_seed(&[7; 32]).sign(
                        Domain::Vote,
                        &NetworkId([0; 32]),
                        b"x",
                    ),
                })
                .collect(),
        };
        let signed = signed(&[by(7, &[a, b]), by(8, &[a])]);
        assert_eq!((signed[&a], signed[&b]), ((8, 2), (7, 1)));
    }

    #[test]
    fn the_rules_are_those_of_the_policy() {
        let shown = rules(&Policy::wide_area());
        assert_eq!(
            (shown.slot_ms, shown.auction_rule.as_str()),
            (60_000, "exact")
        );
        assert_eq!(shown.credit_limit, None, "any line may be voted for");
        let mut policy = Policy::local();
        policy.bank.credit_limit = "5".parse().unwrap();
        assert_eq!(rules(&policy).credit_limit.unwrap().to_string(), "5");
    }
}
