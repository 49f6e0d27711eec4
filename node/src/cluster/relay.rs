//! This node as a relay for others' leases, and what it says of its own ways.
//!
//! The data plane is started by the first grant, and stays. What was carried is counted as long as
//! the grant lives.

use std::net::IpAddr;

use gridbay_core::relay::{ByRelay, Carried, Grant, Link, Links, Purse, Tickets};
use gridbay_protocol::hash::{Domain, hash};
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use gridbay_vnet::engine::{EngineError, PairStatus};
use gridbay_vnet::path;
use gridbay_vnet::relay::{self, Allowance};

use super::{Clusters, places};

impl Clusters {
    /// Carries between the ends of a grant from now on, and no longer between others of an earlier
    /// one with the same purse and lease. `hosts` are the addresses at which this machine is
    /// reached, best first.
    ///
    /// # Errors
    /// The data plane cannot start.
    pub fn relay(&self, grant: &Grant, hosts: &[IpAddr]) -> Result<Carried, EngineError> {
        let mut inner = self.lock();
        let place = (grant.purse, grant.carries);
        let old = inner.relayed.insert(place, grant.pairs.clone());
        inner.begun.notify_one();
        let engine = inner.engine()?;
        let purse = name_of(&grant.purse);
        let (period, bytes_max) = (grant.period, grant.bytes);
        engine.relay_allow(purse, Allowance { period, bytes_max });
        let on_purse = |pair: &Tickets| relay::Grant {
            tickets: pair.ends(),
            purse,
        };
        for pair in old.iter().flatten().filter(|p| !grant.pairs.contains(p)) {
            engine.relay_revoke(&on_purse(pair));
        }
        let count = |pair: &Tickets| {
            // Known ones go on as they are.
            engine.relay_admit(on_purse(pair));
            let relayed = engine.relayed(&on_purse(pair));
            relayed.map_or([0; 2], |relayed| relayed.bytes)
        };
        Ok(Carried {
            carries: grant.carries,
            paid_by: match grant.purse {
                Purse::Lease(lease) => Some(lease),
                Purse::Free(_) => None,
            },
            bytes: grant.pairs.iter().map(count).collect(),
            places: places::of(hosts, engine.local_addr()?.port()),
            left: engine.relay_left(&purse),
        })
    }

    /// Carries nothing more for a lease on a purse.
    pub fn end_relay(&self, purse: &Purse, carries: &LeaseId) {
        let mut inner = self.lock();
        let pairs = inner.relayed.remove(&(*purse, *carries));
        // What an account has for nothing in a day is used up on all its leases.
        let last = matches!(purse, Purse::Lease(_));
        let last = last && inner.relayed.keys().all(|(of, _)| of != purse);
        let Some(engine) = &inner.engine else {
            return;
        };
        let named = name_of(purse);
        for pair in pairs.iter().flatten() {
            let (tickets, purse) = (pair.ends(), named);
            engine.relay_revoke(&relay::Grant { tickets, purse });
        }
        if last {
            engine.relay_disallow(&named);
        }
    }

    /// How this node reaches these others in a lease's network.
    pub fn links(&self, lease: &LeaseId, others: &[(PublicKey, [u8; 32])]) -> Links {
        let status = self.status(lease);
        let pairs = status.map(|status| status.pairs).unwrap_or_default();
        let link = |(node, public): &(PublicKey, [u8; 32])| {
            let pair = pairs.iter().find(|pair| pair.public == *public)?;
            Some(link(*node, pair))
        };
        Links {
            lease: *lease,
            links: others.iter().filter_map(link).collect(),
        }
    }
}

fn link(node: PublicKey, pair: &PairStatus) -> Link {
    let used = pair.path.and_then(|way| way.via.ticket);
    let by = |relay: &path::ByRelay| ByRelay {
        ticket: relay.ticket,
        sent: relay.sent,
        received: relay.received,
        answers: relay.answers,
        used: used == Some(relay.ticket),
    };
    Link {
        node,
        reached: pair.path.is_some(),
        relayed: pair.relayed.iter().map(by).collect(),
    }
}

/// What the data plane knows a purse by.
fn name_of(purse: &Purse) -> relay::Purse {
    match purse {
        Purse::Lease(lease) => hash(Domain::Agent, &[b"relay lease", &lease.0]),
        Purse::Free(account) => hash(Domain::Agent, &[b"relay account", &account.0]),
    }
}
