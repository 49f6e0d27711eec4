//! Appellants: clients that want the deposit of a bid back that they never opened, with receipts
//! that show nothing. One validator, a liar, may give a receipt for anything; more than a third of
//! the power do not.

use super::desk::Desk;
use super::key::Key;
use super::opening::Opening;
use crate::found::validator_key;
use gridbay_protocol::appeal::{Appeal, latest_tip};
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, EntryId, ValidatorId};
use gridbay_protocol::order::{Open, order_of};
use gridbay_protocol::receipt::{Receipt, SignedReceipt};

/// The flaw of an appeal.
const WRONGS: u64 = 4;

impl Desk<'_> {
    /// An appeal for a bid that waits for one.
    pub(super) fn appeal(&mut self, opening: &Opening) -> Option<SignedEntry> {
        let round = self.state.unopened(&order_of(&opening.commit))?.round;
        let (account, key) = self.client(opening.client)?;
        let wrong = self.load.rng.below(WRONGS);
        let appeal = self.unfounded(&account, &key, opening.open(), round, wrong);
        Some(self.sign(account, &key, EntryBody::Appeal(Box::new(appeal))))
    }
    /// An appeal for a bid that nobody made.
    pub(super) fn appeal_for_nothing(&mut self, bid: Opening) -> Option<SignedEntry> {
        let (account, key) = self.owner()?;
        let open = Open {
            commit: EntryId(self.load.rng.bytes32()),
            ..bid.open()
        };
        let appeal = self.unfounded(&account, &key, open, 0, 0);
        Some(self.sign(account, &key, EntryBody::Appeal(Box::new(appeal))))
    }
    fn unfounded(
        &self,
        account: &AccountId,
        key: &Key,
        open: Open,
        round: u64,
        wrong: u64,
    ) -> Appeal {
        let calendar: Calendar = self.state.calendar();
        let latest = latest_tip(&calendar, round);
        let mut appeal = Appeal {
            key: key.public,
            // An opening that was over too early.
            valid_until: if wrong == 0 { 1 } else { latest + 100 },
            open,
            receipts: vec![],
        };
        let network = self.state.network();
        let entry = appeal.opening(&network, account);
        let validator = gridbay_protocol::validator::validator_id(&validator_key(0).public());
        let receipt = Receipt {
            entry,
            height: if wrong == 1 { latest + 1 } else { latest },
            // A stranger's.
            validator: if wrong == 2 {
                ValidatorId([7; 32])
            } else {
                validator
            },
        };
        appeal.receipts = vec![SignedReceipt::new(receipt, &network, &validator_key(0))];
        appeal
    }
}
