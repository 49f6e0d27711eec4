//! Invitations: a fresh token, granted and signed by this node's account.

use crate::api::Answer;
use crate::api::types::{Invite, InviteRequest};
use crate::api::{ApiError, ErrorCode};
use crate::backend::NodeBackend;
use crate::backend::failure::{internal, no_account, usage};
use crate::keys::random;
use crate::market::spendable;
use gridbay_protocol::account::Roles;
use gridbay_protocol::ids::NetworkId;
use gridbay_protocol::invitation::{Bootstrap, Grant, Invitation, SignedGrant};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::limits;
use std::collections::BTreeSet;

impl NodeBackend {
    /// A fresh invitation, signed by this node's account.
    pub async fn invite(&self, request: InviteRequest) -> Answer<Invite> {
        self.acknowledges()?;
        let key = self.parts.account_key.public();
        let endowment = request.endowment;
        let looked = self.query(move |core| {
            let state = core.state();
            let inviter = core.account().ok_or_else(no_account)?;
            let roles = state
                .account(&inviter)
                .and_then(|account| account.roles(&key));
            if !roles.is_some_and(|roles| roles.contains(Roles::SPEND)) {
                return Err(not_allowed());
            }
            let free = spendable(state, &inviter);
            if endowment > free {
                let message = format!("{free} credits available, the endowment is {endowment}");
                let hint = "invite with a smaller endowment";
                return Err(ApiError::new(ErrorCode::InsufficientFunds, message, hint));
            }
            Ok((
                state.network(),
                inviter,
                state.height(),
                state.policy().block_interval_ms,
            ))
        });
        let (network, inviter, height, interval_ms) = looked.await??;
        let valid_until = height.saturating_add(heights(request.valid_seconds, interval_ms)?);
        let seed = random().map_err(|error| internal("no fresh randomness", error))?;
        let token = SecretKey::from_seed(&seed).public();
        let grant = Grant {
            inviter,
            key,
            token,
            endowment,
            valid_until,
        };
        let invitation = invitation(
            network,
            grant,
            &self.parts.account_key,
            seed,
            self.bootstrap(),
        );
        Ok(Invite {
            token: invitation.to_text(),
            inviter,
            endowment,
            valid_until,
        })
    }

    /// This node, by the addresses at which others reach it and then those of its own, and the
    /// other nodes of the configuration.
    fn bootstrap(&self) -> Vec<Bootstrap> {
        let overlay = &self.parts.overlay;
        let (outer, own) = (overlay.whereabouts().external, overlay.addresses());
        let addresses = outer.iter().chain(own.iter()).map(ToString::to_string);
        let node = self.parts.node;
        let own = Bootstrap {
            node,
            addresses: reachable(addresses.collect()),
        };
        let others = self.parts.bootstrap.iter().filter(|one| one.node != node);
        let all = std::iter::once(own).chain(others.cloned());
        all.filter(|node| !node.addresses.is_empty())
            .take(limits::ADDRESSES)
            .collect()
    }
}

fn invitation(
    network: NetworkId,
    grant: Grant,
    key: &SecretKey,
    token_seed: [u8; 32],
    bootstrap: Vec<Bootstrap>,
) -> Invitation {
    let grant = SignedGrant::new(&network, grant, key);
    Invitation {
        network,
        grant,
        token_seed,
        bootstrap,
    }
}

/// Heights that take at least so many seconds to come.
fn heights(seconds: u64, interval_ms: u64) -> Answer<u64> {
    let heights = seconds
        .checked_mul(1_000)
        .map(|ms| ms.div_ceil(interval_ms.max(1)));
    match heights {
        Some(heights) if (1..limits::INVITATION_WINDOW).contains(&heights) => Ok(heights),
        _ => {
            let longest = limits::INVITATION_WINDOW.saturating_mul(interval_ms) / 1_000;
            let hint = format!("an invitation is valid for 1 to {longest} seconds here");
            Err(usage(format!("{seconds} seconds"), hint))
        }
    }
}

/// Addresses worth telling others: those of other machines' reach first, placeholders never.
fn reachable(mut addresses: Vec<String>) -> Vec<String> {
    addresses.retain(|a| a.len() <= limits::ADDRESS_CHARS);
    addresses.retain(|a| !a.contains("/ip4/0.0.0.0/") && !a.contains("/ip6/::/"));
    let mut met = BTreeSet::new();
    addresses.retain(|a| met.insert(a.clone()));
    addresses.sort_by_key(|a| a.contains("/ip4/127.") || a.contains("/ip6/::1/"));
    addresses.truncate(limits::ADDRESSES);
    addresses
}

fn not_allowed() -> ApiError {
    ApiError::new(
        ErrorCode::Refused,
        "this node's key may not spend for its account",
        "invite from a node whose key has the role spend",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::AccountId;
    use gridbay_protocol::units::Credits;

    #[test]
    fn an_invitation_can_be_read_back() {
        let (key, seed) = (SecretKey::from_seed(&[1; 32]), [2; 32]);
        let grant = Grant {
            inviter: AccountId([4; 32]),
            key: key.public(),
            token: SecretKey::from_seed(&seed).public(),
            endowment: Credits::ZERO,
            valid_until: 99,
        };
        let addresses = vec!["/ip4/10.0.0.1/tcp/1".to_owned()];
        let nodes = vec![Bootstrap {
            node: key.public(),
            addresses,
        }];
        let made = invitation(NetworkId([3; 32]), grant, &key, seed, nodes);
        assert_eq!(Invitation::from_text(&made.to_text()), Ok(made));
    }

    #[test]
    fn validity_in_heights() {
        assert_eq!(heights(3_600, 250), Ok(14_400));
        assert_eq!(heights(1, 60_000), Ok(1));
        for seconds in [0, u64::MAX, 10_000_000_000] {
            assert_eq!(heights(seconds, 250).unwrap_err().code, ErrorCode::Usage);
        }
    }

    #[test]
    fn addresses_of_other_machines_come_first() {
        let all = [
            "/ip4/127.0.0.1/tcp/1",
            "/ip4/0.0.0.0/tcp/1",
            "/ip4/10.0.0.2/tcp/1",
            "/ip4/10.0.0.1/tcp/1",
            "/ip4/10.0.0.2/tcp/1",
        ];
        let told = reachable(all.map(str::to_owned).to_vec());
        assert_eq!(told, [all[2], all[3], all[0]]);
    }
}
