//! What a turn of the [desk](super::desk) sees of the core, and which wishes cannot be.

use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::failure::{no_account, unknown_account, usage};
use crate::market::spendable;
use crate::store::transfers::TransferKey;
use gridbay_core::{Core, ENTRY_HEIGHTS};
use gridbay_host::Sought;
use gridbay_protocol::codec;
use gridbay_protocol::entry::{Entry, EntryBody};
use gridbay_protocol::ids::{AccountId, Hash32, NetworkId};
use gridbay_protocol::keys::{PublicKey, SecretKey};
use gridbay_protocol::stage::{Authentic, Malformed};
use gridbay_protocol::units::Credits;

/// What a turn sees of the core.
pub(super) struct Look {
    network: NetworkId,
    account: AccountId,
    height: u64,
    /// For each wish, in order: why it cannot be.
    pub(super) flaws: Vec<Option<ApiError>>,
}

impl Look {
    /// An entry of this account.
    pub(super) fn sign(&self, secret: &SecretKey, body: EntryBody) -> Result<Authentic, Malformed> {
        let entry = Entry {
            network: self.network,
            account: self.account,
            key: secret.public(),
            valid_until: self.height + ENTRY_HEIGHTS,
            body,
        };
        Authentic::sign(&self.network, entry, secret)
    }
}

/// Which of those that wait are in a block.
pub(super) fn decided(core: &Core, waiting: &[(TransferKey, Sought, Credits)]) -> Vec<bool> {
    let sought: Vec<Sought> = waiting.iter().map(|(_, entry, _)| *entry).collect();
    let heights = core.host().entry_heights(&sought).into_iter();
    heights.map(|height| height.is_some()).collect()
}

/// The bytes of a transfer's entry that count against its account's budget, at the most.
fn most_bytes(network: NetworkId, account: AccountId, key: PublicKey) -> u64 {
    let entry = Entry {
        network,
        account,
        key,
        valid_until: u64::MAX,
        body: EntryBody::Transfer {
            to: account,
            amount: Credits::MAX,
            memo: Hash32::default(),
        },
    };
    codec::encode(&entry).len() as u64
}

/// A transfer that the ledger might accept only later is refused at once: a user would wait for
/// nothing. Those of a batch are paid from one balance and count against one budget of entries, and
/// so are and do those that wait for a block.
pub(super) fn look(
    core: &Core,
    key: PublicKey,
    wanted: &[(AccountId, Credits)],
    waiting: &[(TransferKey, Sought, Credits)],
) -> Answer<Look> {
    let state = core.state();
    let account = core.account().ok_or_else(no_account)?;
    let mut free = spendable(state, &account);
    let (budget, spending) = (state.entry_budget(&account), state.spent(&account));
    let bytes = budget.bytes.saturating_sub(spending.bytes);
    let fit = bytes / most_bytes(state.network(), account, key);
    let left = budget.entries.saturating_sub(spending.entries);
    let mut left = left.min(u32::try_from(fit).unwrap_or(u32::MAX));
    let moved = decided(core, waiting).into_iter().zip(waiting);
    for (_, (.., amount)) in moved.filter(|(is_decided, _)| !is_decided) {
        free = free.saturating_sub(*amount);
        left = left.saturating_sub(1);
    }
    let mut no_more = None;
    let mut flaw = |(to, amount): &(AccountId, Credits)| {
        if *to == account {
            let why = "it is this node's own account";
            return Some(usage(why, "name another account"));
        }
        if state.account(to).is_none() {
            return Some(unknown_account(to));
        }
        if left == 0 {
            return Some(no_more.get_or_insert_with(|| spent(core)).clone());
        }
        match free.checked_sub(*amount) {
            None => Some(too_little(free, *amount)),
            Some(rest) => {
                (free, left) = (rest, left - 1);
                None
            }
        }
    };
    Ok(Look {
        network: state.network(),
        account,
        height: state.height(),
        flaws: wanted.iter().map(&mut flaw).collect(),
    })
}

fn too_little(free: Credits, amount: Credits) -> ApiError {
    ApiError::new(
        ErrorCode::InsufficientFunds,
        format!("{free} credits available, {amount} are to be moved"),
        "move less",
    )
}

/// Blocks whose pace tells that of the next ones.
const LATELY: u64 = 16;

/// The account has no more entries, or bytes of them, left in this epoch.
fn spent(core: &Core) -> ApiError {
    let state = core.state();
    let heights = state.until_next_epoch();
    let ms = heights.saturating_mul(block_ms(core));
    ApiError::new(
        ErrorCode::TooMany,
        format!(
            "all entries that this account may put into the ledger up to height {} are there or on \
             their way",
            state.height() + heights
        ),
        "try again when Retry-After says so; gridbay ledger balance shows what is left",
    )
    .again_after(ms.div_ceil(1_000))
}

/// Milliseconds that a block takes lately, within what the founders allow: a network that stood
/// still for an hour does not go on so.
fn block_ms(core: &Core) -> u64 {
    let state = core.state();
    let least = state.policy().block_interval_ms;
    let before = state.height().checked_sub(LATELY);
    let then = before.and_then(|height| core.host().block_times(&[height]).pop().flatten());
    let lately = then.map(|then| state.time_ms().saturating_sub(then) / LATELY);
    let most = state.policy().heartbeat_ms.max(least);
    lately.map_or(least, |lately| lately.clamp(least, most))
}
