//! The proof of an account's payments in a block, for strangers: the block's header, the signatures
//! under it, and the way from each payment to the header's root of effects.

use super::blocks::{decode, read_block};
use super::types::{EffectProof, PaymentProof, ProvedPayment};
use crate::api::Answer;
use crate::api::types::Hex;
use crate::backend::NodeBackend;
use crate::backend::failure::{internal, no_account, not_found};
use gridbay_ledger::log::Log;
use gridbay_protocol::codec;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::payment::{Posting, Purse};

/// Payments that are proved at a time.
const PAYMENTS: usize = 256;

impl NodeBackend {
    /// Proves the payments of an account, this node's without one, in the block of a height: the
    /// first ones behind so many.
    pub async fn payment_proof(
        &self,
        account: Option<AccountId>,
        height: u64,
        after: u64,
    ) -> Answer<PaymentProof> {
        let looked = self.query(move |core| {
            let account = account.or(core.account()).ok_or_else(no_account)?;
            let decided = read_block(core, height)?;
            let set = core.state().validators().clone();
            let effects = core.host().effect_bytes(height);
            Ok::<_, crate::api::ApiError>((account, decided, set, effects))
        });
        let (account, decided, set, effects) = looked.await??;
        let effects =
            decode(&effects).ok_or_else(|| internal("reading effects", "damaged index"))?;
        let (payments, in_all) = payments(&account, &effects, after);
        if payments.is_empty() {
            let why = match in_all {
                0 => format!("no money of account {account} moved in block {height}"),
                _ => format!("account {account} has {in_all} payments in block {height}"),
            };
            return Err(not_found(why, "see gridbay ledger history"));
        }
        Ok(PaymentProof {
            account,
            height,
            header: Hex(codec::encode(&decided.block.header)),
            certificate: Hex(codec::encode(&decided.certificate)),
            validators: Hex(codec::encode(&set)),
            payments,
            after,
            in_all: Some(in_all),
        })
    }
}

/// Whether a posting moves an account's own money.
pub(crate) fn is_of(account: &AccountId, posting: &Posting) -> bool {
    let own = Purse::Account(*account);
    posting.from == own || posting.to == own
}

/// The payments of an account among the effects of a block behind the first `after`, as many as are
/// proved at a time; and how many there are in all.
fn payments(account: &AccountId, effects: &[Effect], after: u64) -> (Vec<ProvedPayment>, u64) {
    let log: Log = effects.iter().map(Effect::leaf).collect();
    let size = log.len();
    let own = |(index, effect): (u64, &Effect)| match effect {
        Effect::Posting(posting) if is_of(account, posting) => Some((index, *posting)),
        _ => None,
    };
    let all = (0u64..).zip(effects).filter_map(own);
    let in_all = all.clone().count() as u64;
    let payment = |(index, posting)| {
        let proof = log.inclusion_proof(index, size).ok()?;
        Some(ProvedPayment {
            posting,
            proof: Hex(codec::encode(&EffectProof { index, size, proof })),
        })
    };
    let after = usize::try_from(after).unwrap_or(usize::MAX);
    let next = all.skip(after).take(PAYMENTS).filter_map(payment);
    (next.collect(), in_all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::effect::OrderEnd;
    use gridbay_protocol::ids::OrderId;
    use gridbay_protocol::payment::Reason;
    use gridbay_protocol::units::Credits;

    /// Effects of a block: a payment to this account, and things beside it.
    fn effects(account: AccountId) -> Vec<Effect> {
        let order = OrderId([3; 32]);
        let pay = |to| {
            Effect::Posting(Posting {
                from: Purse::Escrow(order),
                to: Purse::Account(to),
                amount: Credits::from_micros(5).unwrap(),
                reason: Reason::Release,
                order: Some(order),
            })
        };
        let end = OrderEnd::Served;
        vec![
            pay(AccountId([9; 32])),
            Effect::Order { order, end },
            pay(account),
        ]
    }

    #[test]
    fn only_payments_of_the_account_are_proved() {
        let account = AccountId([1; 32]);
        let (proved, in_all) = payments(&account, &effects(account), 0);
        assert_eq!(in_all, 1);
        let [only] = &proved[..] else {
            panic!("{proved:?}");
        };
        let proof: EffectProof = codec::decode(&only.proof.0, 4_096).unwrap();
        assert_eq!((proof.index, proof.size), (2, 3));
        let many = vec![effects(account)[2].clone(); PAYMENTS + 9];
        let all = PAYMENTS as u64 + 9;
        for (after, some) in [(0, PAYMENTS), (256, 9), (264, 1), (265, 0), (u64::MAX, 0)] {
            let (proved, in_all) = payments(&account, &many, after);
            assert_eq!((proved.len(), in_all), (some, all), "after {after}");
        }
        let (last, _) = payments(&account, &many, all - 1);
        let proof: EffectProof = codec::decode(&last[0].proof.0, 4_096).unwrap();
        assert_eq!(proof.index, all - 1);
    }
}
