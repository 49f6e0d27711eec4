//! Invitations: how everybody but the founders enters.
//!
//! 1. The inviter signs a [`Grant`] for a fresh token key and hands over an [`Invitation`]: the
//!    grant, the token's seed and addresses to start from. Text form: `gridbay1` and base32.
//! 2. The newcomer makes keys of its own and signs the opening entry with the token key. A stranger
//!    that sees this entry cannot replace its keys by others, because it lacks the seed of the
//!    token key.
//! 3. The ledger accepts each token once, before `valid_until`.

use crate::codec::{self, CodecError};
use crate::hash::Domain;
use crate::ids::{AccountId, NetworkId};
use crate::keys::{KeyError, PublicKey, SecretKey, Signature};
use crate::limits;
use crate::units::Credits;
use serde::{Deserialize, Serialize};

/// The grant of the inviter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// Account that invites and pays the endowment.
    pub inviter: AccountId,
    /// Its key that signs; needs the role `spend`.
    pub key: PublicKey,
    /// The token's public key: used once.
    pub token: PublicKey,
    /// Moved to the new account when it opens.
    pub endowment: Credits,
    /// Last height at which the account can be opened.
    pub valid_until: u64,
}

/// A grant with the inviter's signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedGrant {
    /// The grant.
    pub grant: Grant,
    /// By `grant.key`.
    pub signature: Signature,
}

impl SignedGrant {
    /// Signs a grant.
    pub fn new(network: &NetworkId, grant: Grant, key: &SecretKey) -> SignedGrant {
        let signature = key.sign(Domain::Invitation, network, &codec::encode(&grant));
        SignedGrant { grant, signature }
    }
    /// Checks the signature.
    pub fn verify(&self, network: &NetworkId) -> Result<(), KeyError> {
        let bytes = codec::encode(&self.grant);
        self.grant
            .key
            .verify(Domain::Invitation, network, &bytes, &self.signature)
    }
}

/// The secret that the newcomer is handed; every holder of it can open the account.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Invitation {
    /// The network.
    pub network: NetworkId,
    /// The grant.
    pub grant: SignedGrant,
    /// Seed of the token key.
    #[serde(with = "crate::ids::byte_array")]
    pub token_seed: [u8; 32],
    /// Nodes to start from: transport key and addresses; at most [`limits::ADDRESSES`].
    pub bootstrap: Vec<Bootstrap>,
}

/// A node to start from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bootstrap {
    /// Transport key.
    pub node: PublicKey,
    /// Multiaddr texts, at most [`limits::ADDRESSES`].
    pub addresses: Vec<String>,
}

/// Why an invitation is refused before it is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvitationError {
    /// It does not begin as one.
    #[error("not an invitation: one starts with gridbay1")]
    Text,
    /// It begins as one, and the rest is no base32 or too long.
    #[error("an invitation that is cut or mistyped")]
    Cut,
    /// Broken inside.
    #[error("an invitation that is cut or mistyped")]
    Bytes(#[from] CodecError),
    /// The token's seed does not belong to the grant, or the inviter did not sign it.
    #[error("a forged invitation")]
    Forged,
    /// More nodes, more addresses or longer ones than an invitation may list.
    #[error("an invitation with too many or too long addresses")]
    Range,
}

const PREFIX: &str = "gridbay1";

impl Invitation {
    /// Text form, one line without spaces.
    pub fn to_text(&self) -> String {
        let body = data_encoding::BASE32_NOPAD.encode(&codec::encode(self));
        format!("{PREFIX}{}", body.to_ascii_lowercase())
    }
    /// Parses the text form and checks the signatures inside.
    pub fn from_text(text: &str) -> Result<Invitation, InvitationError> {
        let body = text
            .trim()
            .strip_prefix(PREFIX)
            .ok_or(InvitationError::Text)?;
        if body.len() > limits::INVITATION_BYTES * 2 {
            return Err(InvitationError::Cut);
        }
        let bytes = data_encoding::BASE32_NOPAD
            .decode(body.to_ascii_uppercase().as_bytes())
            .map_err(|_| InvitationError::Cut)?;
        let invitation: Invitation = codec::decode(&bytes, limits::INVITATION_BYTES)?;
        if !invitation.bootstrap_is_valid() {
            return Err(InvitationError::Range);
        }
        let token = SecretKey::from_seed(&invitation.token_seed).public();
        if token != invitation.grant.grant.token
            || invitation.grant.verify(&invitation.network).is_err()
        {
            return Err(InvitationError::Forged);
        }
        Ok(invitation)
    }
    fn bootstrap_is_valid(&self) -> bool {
        self.bootstrap.len() <= limits::ADDRESSES
            && self.bootstrap.iter().all(|node| {
                node.addresses.len() <= limits::ADDRESSES
                    && node
                        .addresses
                        .iter()
                        .all(|a| a.len() <= limits::ADDRESS_CHARS)
            })
    }
}

impl std::fmt::Debug for Invitation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Invitation")
            .field("network", &self.network)
            .field("grant", &self.grant)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Invitation {
        let (inviter, token) = (
            SecretKey::from_seed(&[1; 32]),
            SecretKey::from_seed(&[2; 32]),
        );
        let network = NetworkId([3; 32]);
        let grant = Grant {
            inviter: AccountId([4; 32]),
            key: inviter.public(),
            token: token.public(),
            endowment: Credits::ZERO,
            valid_until: 99,
        };
        Invitation {
            network,
            grant: SignedGrant::new(&network, grant, &inviter),
            token_seed: [2; 32],
            bootstrap: vec![],
        }
    }

    #[test]
    fn text_round_trip_and_forgeries() {
        let good = sample();
        assert_eq!(Invitation::from_text(&good.to_text()), Ok(good.clone()));
        for cut in ["gridbay1", "gridbay1!!", "gridbay1abc", "gridbay1abcd"] {
            let told = Invitation::from_text(cut).unwrap_err().to_string();
            assert_eq!(told, "an invitation that is cut or mistyped", "{cut}");
        }
        assert_eq!(Invitation::from_text("hello"), Err(InvitationError::Text));
        let mut forged = good.clone();
        forged.token_seed = [9; 32];
        assert_eq!(
            Invitation::from_text(&forged.to_text()),
            Err(InvitationError::Forged)
        );
        let mut richer = good;
        richer.grant.grant.endowment = Credits::MAX;
        assert_eq!(
            Invitation::from_text(&richer.to_text()),
            Err(InvitationError::Forged)
        );
    }

    #[test]
    fn debug_hides_the_seed() {
        assert!(!format!("{:?}", sample()).contains("token_seed"));
    }
}
