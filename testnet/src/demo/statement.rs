//! An account's movements under the headings that people look for.

use super::evidence::Account;
use gridbay_node::api::types::Signed;
use gridbay_protocol::payment::Reason;
use serde::Serialize;

/// A statement. Start, received, earned and refunds, less paid, make the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Statement {
    /// Name of the account's node.
    pub(crate) account: String,
    /// Minted to it by the genesis.
    pub(crate) start: Signed,
    /// Endowments and transfers in, less those out.
    pub(crate) received: Signed,
    /// Locked and charged for orders, less what was released.
    pub(crate) paid: Signed,
    /// Earned by units sold.
    pub(crate) earned: Signed,
    /// Refunds and compensations.
    pub(crate) refunds: Signed,
    /// Balance.
    pub(crate) end: Signed,
}

impl Statement {
    /// Sums up an account's movements.
    pub(crate) fn of(account: &Account) -> Statement {
        let sum = |reasons: &[Reason]| {
            let movements = account.movements.iter();
            let amounts = movements.filter(|m| reasons.contains(&m.reason));
            Signed(amounts.map(|m| m.amount.0).sum())
        };
        let paid = sum(&[
            Reason::Deposit,
            Reason::Release,
            Reason::Forfeit,
            Reason::Lock,
            Reason::Charge,
            Reason::Bond,
        ]);
        Statement {
            account: account.name.clone(),
            start: account.start,
            received: sum(&[
                Reason::Endowment,
                Reason::Transfer,
                Reason::Profit,
                Reason::Relief,
                Reason::Tax,
                Reason::Arrears,
            ]),
            paid: Signed(paid.0.saturating_neg()),
            earned: sum(&[Reason::Earning, Reason::Cancellation]),
            refunds: sum(&[Reason::Refund, Reason::Compensation, Reason::Damages]),
            end: account.end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_node::api::types::Movement;
    use gridbay_protocol::ids::AccountId;

    #[test]
    fn every_reason_has_its_heading() {
        let reasons = [
            Reason::Transfer,
            Reason::Endowment,
            Reason::Deposit,
            Reason::Release,
            Reason::Forfeit,
            Reason::Lock,
            Reason::Charge,
            Reason::Earning,
            Reason::Refund,
            Reason::Compensation,
            Reason::Bond,
            Reason::Damages,
            Reason::Cancellation,
        ];
        let movement = |(i, reason): (usize, &Reason)| Movement {
            height: 1,
            time_ms: 1,
            amount: Signed(1 << i),
            reason: *reason,
            other: "bank".into(),
            order: None,
        };
        let account = Account {
            name: "b1".into(),
            id: AccountId([1; 32]),
            start: Signed(5),
            end: Signed(5 + (1 << reasons.len()) - 1),
            held: Signed(0),
            movements: reasons.iter().enumerate().map(movement).collect(),
        };
        let s = Statement::of(&account);
        let sum = s.start.0 + s.received.0 - s.paid.0 + s.earned.0 + s.refunds.0;
        assert_eq!(sum, s.end.0, "no movement is lost between the headings");
        assert_eq!(
            (s.received.0, s.earned.0, s.refunds.0),
            (3, 128 + 4_096, 2_816)
        );
    }
}
