//! Guests: nodes that are not in the genesis and open their account with a member's invitation.

use super::key::Key;
use crate::found::credits;
use crate::world::World;
use gridbay_core::input::Command;
use gridbay_protocol::account::Roles;
use gridbay_protocol::invitation::{Grant, Invitation, SignedGrant};

/// Heights for which an invitation is valid.
const VALID: u64 = 10_000;
/// The endowment of a guest, in credits.
const ENDOWMENT: u64 = 50;

impl World {
    /// A member invites the next guest that has no account, and the guest joins. A node forgets an
    /// invitation when it restarts, so its owner tries again with the same one.
    pub(super) fn invite(&mut self) {
        let members = self.plan.validators + self.plan.others;
        let has_none = |n: &usize| self.core(*n).is_some_and(|core| core.account().is_none());
        let Some(guest) = (members..self.plan.nodes()).find(has_none) else {
            return;
        };
        let Some(invitation) = self.invitation(guest, members - 1) else {
            return;
        };
        let key = &self.load.keys[guest];
        let command = Command::Join {
            invitation: Box::new(invitation),
            keys: super::owner::key_list(&[(key, Roles::ALL)]),
        };
        self.command(guest, "joining", command);
    }
    fn invitation(&mut self, guest: usize, inviter: usize) -> Option<Invitation> {
        if let Some(known) = self.load.invited.get(&guest) {
            return Some(known.clone());
        }
        let core = self.core(inviter)?;
        let (network, account) = (core.state().network(), core.account()?);
        let valid_until = core.state().height() + VALID;
        let token_seed = self.load.rng.bytes32();
        let token = gridbay_protocol::keys::SecretKey::from_seed(&token_seed);
        let key: &Key = &self.load.keys[inviter];
        let grant = Grant {
            inviter: account,
            key: key.public,
            token: token.public(),
            endowment: credits(ENDOWMENT),
            valid_until,
        };
        let invitation = Invitation {
            network,
            grant: SignedGrant::new(&network, grant, &key.secret),
            token_seed,
            bootstrap: vec![],
        };
        self.load.invited.insert(guest, invitation.clone());
        Some(invitation)
    }
}
