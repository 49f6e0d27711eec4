//! The working set of one candidate block: the state seen through changes, and the effects so far.

use crate::record::{Chain, Tables};
use crate::room::Holder;
use crate::sell::reservation::Hints;
use crate::state::{Constitution, State};
use gridbay_protocol::beacon;
use gridbay_protocol::calendar::{self, Calendar};
use gridbay_protocol::class::Class;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{AccountId, ClassId, Hash32, OrderId};
use gridbay_protocol::stage::Authentic;

pub(crate) struct Work<'a> {
    pub(crate) constitution: &'a Constitution,
    /// As it will be after the block: height, time and beacon are those of the block.
    pub(crate) chain: Chain,
    pub(crate) tables: Tables<'a>,
    pub(crate) effects: Vec<Effect>,
    /// Open orders of this block that want units at once, in the order of its entries.
    pub(crate) fresh: Vec<OrderId>,
    /// Micro-credits of payments in this block.
    pub(crate) volume: u64,
    /// Better allocations of reservations that came with this block.
    pub(crate) hints: Hints,
}

impl<'a> Work<'a> {
    /// The next block of `state`, before its first entry.
    pub(crate) fn begin(state: &'a State, time_ms: u64, reveal: &[u8; 32]) -> Work<'a> {
        let height = state.chain.height + 1;
        let mixed = Hash32(beacon::mix(&state.chain.beacon.0, reveal));
        let epoch_ends = calendar::epoch(height + 1) != calendar::epoch(height);
        Work {
            constitution: &state.constitution,
            chain: Chain {
                height,
                time_ms,
                beacon: mixed,
                seed: if epoch_ends { mixed } else { state.chain.seed },
                minted: state.chain.minted,
            },
            tables: state.records.tables(),
            effects: Vec::new(),
            fresh: Vec::new(),
            volume: 0,
            hints: Hints::default(),
        }
    }
    pub(crate) fn emit(&mut self, effect: Effect) {
        self.effects.push(effect);
    }
    pub(crate) fn height(&self) -> u64 {
        self.chain.height
    }
    pub(crate) fn calendar(&self) -> Calendar {
        self.constitution.policy.calendar
    }
    pub(crate) fn round(&self) -> u64 {
        self.calendar().round(self.height())
    }
    pub(crate) fn closes_round(&self) -> bool {
        self.calendar().closes_round(self.height())
    }
    pub(crate) fn closes_slot(&self) -> bool {
        self.calendar().closes_slot(self.height())
    }
    pub(crate) fn class(&self, id: &ClassId) -> Option<&'a Class> {
        let index = *self.constitution.by_id.get(id)?;
        self.constitution.classes.get(index)
    }
    /// The member that answers for an account; the account itself if there is none of that id.
    pub(crate) fn sponsor(&self, account: &AccountId) -> AccountId {
        let record = self.tables.accounts.get(account);
        record.map_or(*account, |a| a.sponsor)
    }
    /// An entry's account, and the member that answers for it.
    pub(crate) fn holder(&self, entry: &Authentic) -> Holder {
        let account = entry.entry().account;
        (account, self.sponsor(&account))
    }
    /// The order that nobody chose, under this block's beacon.
    pub(crate) fn rank(&self, id: &[u8; 32]) -> [u8; 32] {
        beacon::rank(&self.chain.beacon.0, id)
    }
}
