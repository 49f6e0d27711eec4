//! The two ways in: the constitution and the invitation.

use crate::golden::{self, Family};
use crate::{Target, Verdict, decoder, ledgers, strict};
use gridbay_ledger::State;
use gridbay_protocol::genesis::{Genesis, Policy};
use gridbay_protocol::invitation::Invitation;
use gridbay_protocol::limits;
use gridbay_protocol::units::Credits;

pub(crate) const GENESIS: Target = decoder(
    "genesis",
    "bytes as a genesis file: one encoding, and a state that can be founded holds the endowments",
    genesis,
    || {
        let mut seeds = golden::seeds::<Genesis>(Family::Genesis);
        seeds.push(ledgers::genesis(4).encode());
        seeds
    },
);
pub(crate) const POLICY: Target = decoder(
    "policy",
    "bytes as a policy: one encoding; the calendar of a valid one places every height",
    policy,
    || golden::seeds::<Policy>(Family::Genesis),
);
pub(crate) const INVITATION: Target = decoder(
    "invitation",
    "bytes as an invitation: one encoding, and its text form reads back only if it is not forged",
    invitation,
    || golden::seeds::<Invitation>(Family::Invitation),
);
pub(crate) const INVITATION_TEXT: Target = decoder(
    "invitation_text",
    "text that a user pastes: an invitation that was issued, or refused",
    invitation_text,
    || vec![golden::named(Family::Invitation, "invitation.text")],
);

fn genesis(bytes: &[u8]) -> Verdict {
    let Ok(genesis) = Genesis::decode(bytes) else {
        return Verdict::Refused;
    };
    assert!((1..=limits::CLASSES).contains(&genesis.classes.len()));
    assert!(genesis.time_ms <= limits::GENESIS_MS);
    if let Ok(state) = State::genesis(&genesis) {
        let endowments = genesis.members.iter().map(|m| m.endowment);
        assert_eq!(Some(state.totals().minted), Credits::sum(endowments));
        assert_eq!(state.network(), genesis.network());
        assert_eq!(state.totals().accounts, genesis.members.len());
    }
    strict::only::<Genesis>(bytes, limits::GENESIS_BYTES, |_| {})
}

fn policy(bytes: &[u8]) -> Verdict {
    strict::only::<Policy>(bytes, limits::GENESIS_BYTES, |policy| {
        policy.slot_ms();
        if !policy.is_valid() {
            return;
        }
        let calendar = policy.calendar;
        for height in [0, 1, 2, 1_199, u64::MAX - 1, u64::MAX] {
            let (round, slot) = (calendar.round(height), calendar.slot(height));
            assert!(calendar.last_of_round(round) >= height);
            assert!(calendar.last_of_slot(slot) >= height);
            assert!(calendar.heights_left(height) <= calendar.slot_heights());
            assert!(!calendar.closes_slot(height) || calendar.closes_round(height));
        }
    })
}

fn issued() -> Vec<Invitation> {
    golden::values::<Invitation>(Family::Invitation)
}

fn invitation(bytes: &[u8]) -> Verdict {
    strict::only::<Invitation>(bytes, limits::INVITATION_BYTES, |invitation| {
        let read = Invitation::from_text(&invitation.to_text());
        let Ok(read) = read else {
            assert!(!issued().contains(invitation), "an issued one is refused");
            return;
        };
        assert_eq!(read, *invitation);
        // Addresses are not signed; everything else is.
        let known = |i: &Invitation| (i.network, &i.grant) == (read.network, &read.grant);
        assert!(issued().iter().any(known), "a forged invitation");
    })
}

fn invitation_text(bytes: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Verdict::Refused;
    };
    let Ok(invitation) = Invitation::from_text(text) else {
        return Verdict::Refused;
    };
    assert!(text.trim().eq_ignore_ascii_case(&invitation.to_text()));
    assert_eq!(Invitation::from_text(&invitation.to_text()), Ok(invitation));
    Verdict::Accepted
}
