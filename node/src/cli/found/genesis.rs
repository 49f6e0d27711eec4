//! Members, classes and a policy become the genesis of a network that begins now.

use gridbay_protocol::beacon;
use gridbay_protocol::class::Class;
use gridbay_protocol::genesis::{FORMAT, Genesis, GenesisError, Member, Policy, RULES};
use gridbay_protocol::ids::Hash32;
use std::time::{SystemTime, UNIX_EPOCH};

/// The genesis; members and classes may come in any order.
///
/// # Errors
/// They make no network.
pub(in crate::cli) fn of_now(
    name: String,
    policy: Policy,
    mut classes: Vec<Class>,
    mut members: Vec<Member>,
) -> Result<Genesis, GenesisError> {
    members.sort_by(|a, b| a.name.cmp(&b.name));
    classes.sort_by_key(|class| class.key.id());
    let tips = members.iter().filter_map(|m| m.validator.as_ref());
    let beacon = tips.fold([0; 32], |b, v| beacon::mix(&b, v.beacon_tip.as_bytes()));
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let genesis = Genesis {
        format: FORMAT,
        rules: RULES,
        name,
        time_ms: now.map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX)),
        policy,
        classes,
        members,
        beacon: Hash32(beacon),
    };
    genesis.check()?;
    Ok(genesis)
}
