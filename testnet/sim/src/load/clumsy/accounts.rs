//! Blunders with accounts: their keys, their money, invitations, and entries as such.

use super::super::buyer::micros;
use super::super::desk::Desk;
use super::super::key::Key;
use super::super::owner::key_list;
use crate::found::credits;
use gridbay_protocol::account::Roles;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, Hash32};
use gridbay_protocol::invitation::{Grant, SignedGrant};
use gridbay_protocol::limits;
use gridbay_protocol::units::Credits;

impl Desk<'_> {
    fn opening(&mut self, grant: Grant, by: &Key, token: &Key) -> SignedEntry {
        let grant = SignedGrant::new(&self.state.network(), grant, &by.secret);
        let inviter = grant.grant.inviter;
        self.open_with(grant, inviter, token)
    }
    fn open_with(&mut self, grant: SignedGrant, inviter: AccountId, token: &Key) -> SignedEntry {
        let new = Key::fresh(&mut self.load.rng);
        let body = EntryBody::OpenAccount {
            grant: Some(Box::new(grant)),
            keys: key_list(&[(&new, Roles::ALL)]),
            endowment: Credits::ZERO,
        };
        self.sign(inviter, token, body)
    }
    /// Opens an account by an invitation that is valid until then.
    fn invited_until(&mut self, valid_until: u64) -> Option<SignedEntry> {
        let (inviter, key) = self.owner()?;
        let token = Key::fresh(&mut self.load.rng);
        let grant = Grant {
            inviter,
            key: key.public,
            token: token.public,
            endowment: Credits::ZERO,
            valid_until,
        };
        Some(self.opening(grant, &key, &token))
    }
}

pub(super) fn expired(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (from, key, to) = desk.two()?;
    let body = desk.transfer(to, micros(1));
    Some(desk.sign_until(from, &key, body, desk.state.height()))
}

pub(super) fn window(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (from, key, to) = desk.two()?;
    let body = desk.transfer(to, micros(1));
    let until = desk.state.height() + 1 + limits::ENTRY_WINDOW;
    Some(desk.sign_until(from, &key, body, until))
}

pub(super) fn used(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let height = desk.state.height();
    let handed = desk.load.handed.iter();
    let valid: Vec<_> = handed.filter(|e| e.entry.valid_until > height).collect();
    let early = &valid[..valid.len().div_ceil(2)];
    let n = desk.load.rng.clone().index(early.len());
    early.get(n).map(|entry| (*entry).clone())
}

pub(super) fn no_account(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let nobody = AccountId(desk.load.rng.bytes32());
    let body = desk.transfer(nobody, micros(1));
    desk.by_owner(body)
}

pub(super) fn role(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (from, _, to) = desk.two()?;
    let key = Key::fresh(&mut desk.load.rng);
    let body = desk.transfer(to, micros(1));
    Some(desk.sign(from, &key, body))
}

pub(super) fn key_taken(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (account, key) = desk.owner()?;
    let (other, foreign) = desk.owner()?;
    let keys = key_list(&[(&key, Roles::ALL), (&foreign, Roles::TRADE)]);
    let body = EntryBody::SetKeys { keys };
    (account != other).then(|| desk.sign(account, &key, body))
}

pub(super) fn funds(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (from, key, to) = desk.two()?;
    let body = desk.transfer(to, credits(1_000_000));
    Some(desk.sign(from, &key, body))
}

/// The guest whose invitation it was has its account.
pub(super) fn token_used(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let mut invited = desk.load.invited.iter();
    let (_, invitation) = invited.find(|(guest, _)| desk.account(**guest).is_some())?;
    let invitation = invitation.clone();
    let token = gridbay_protocol::keys::SecretKey::from_seed(&invitation.token_seed);
    let inviter = invitation.grant.grant.inviter;
    Some(desk.open_with(invitation.grant, inviter, &Key::new(token)))
}

pub(super) fn grant_over(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    desk.invited_until(desk.state.height())
}

pub(super) fn grant_far(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    desk.invited_until(desk.state.height() + 2 + limits::INVITATION_WINDOW)
}

/// The patron's quota is small; before it is used up this opens an account.
pub(super) fn account_quota(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    desk.open_client()
}

pub(super) fn not_member(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (account, key) = (0..desk.load.clients.len()).find_map(|n| desk.client(n))?;
    let new = Key::fresh(&mut desk.load.rng);
    let body = EntryBody::OpenAccount {
        grant: None,
        keys: key_list(&[(&new, Roles::ALL)]),
        endowment: Credits::ZERO,
    };
    Some(desk.sign(account, &key, body))
}

pub(super) fn no_validator(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let account = desk.account(desk.patron)?;
    let key = desk.load.keys.get(desk.patron)?.clone();
    let tip = Hash32(desk.load.rng.bytes32());
    Some(desk.sign(account, &key, EntryBody::RegisterBeacon { tip }))
}

/// A member would leave.
pub(super) fn founder(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let (from, key, to) = desk.two()?;
    let record = desk.state.account(&from)?;
    (record.sponsor == from).then_some(())?;
    Some(desk.sign(from, &key, EntryBody::CloseAccount { to }))
}

/// Somebody would leave who has something open.
pub(super) fn still_open(desk: &mut Desk<'_>) -> Option<SignedEntry> {
    let state = desk.state;
    let user = |account: &AccountId| {
        state
            .account(account)
            .is_some_and(|a| a.sponsor != *account)
    };
    let (_, order, key) = desk.order(|order| user(&order.account))?;
    let to = state.account(&order.account)?.sponsor;
    Some(desk.sign(order.account, &key, EntryBody::CloseAccount { to }))
}
