//! The units that a node may sell: the isolation that its executor has shown must reach the promise
//! of the class.
//!
//! | class | is sold by this executor |
//! |---|---|
//! | `isolation=process` | where jobs run in namespaces; in the plain tier only if the owner says `jobs.unisolated` |
//! | `isolation=container`, `isolation=machine` | never: nothing here runs images or virtual machines |

use std::collections::BTreeMap;

use gridbay_core::needs::{ALL, INTERNET, NETWORK};
use gridbay_protocol::class::Isolation;

use super::capability::{Capabilities, Link, Outbound, Support, Tier};

/// Attribute of adverts: the tier that strangers' jobs run in.
const SANDBOX: &str = "x.sandbox";
/// Attribute of adverts: the bounds that are only watched, separated by `+`.
const WATCHED: &str = "x.watched";

/// Why a class is not sold here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSold {
    /// The executor runs processes, and the class promises more.
    #[error("this node cannot sell isolation={asked}: its jobs are sandboxed processes")]
    Isolation {
        /// The promise of the class, as written.
        asked: &'static str,
    },
    /// Jobs cannot be kept from the node.
    #[error("this machine cannot isolate jobs, so this node sells nothing: {reason}")]
    Unisolated {
        /// The step that failed and the system's word on it.
        reason: String,
    },
}

impl NotSold {
    /// The remedy.
    pub fn hint(&self) -> &'static str {
        match self {
            NotSold::Isolation { .. } => "name a class with isolation=process",
            NotSold::Unisolated { .. } => {
                "let unprivileged users make namespaces (sysctl user.max_user_namespaces, \
                 kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns); \
                 docs/sandbox.md says what jobs.unisolated=on would give up"
            }
        }
    }
}

/// The isolation that a node may sell.
#[derive(Debug, Clone)]
pub struct Selling {
    found: Result<Capabilities, String>,
    unisolated: bool,
    runtimes: BTreeMap<String, String>,
    outbound: Outbound,
}

impl Selling {
    /// By what a probe found, or why it failed; `unisolated`: the owner sells the plain tier.
    pub fn new(found: Result<Capabilities, String>, unisolated: bool) -> Selling {
        let runtimes = BTreeMap::new();
        Selling {
            found,
            unisolated,
            runtimes,
            outbound: Outbound::None,
        }
    }

    /// The same with these runtimes for parallel jobs.
    pub fn with(self, runtimes: BTreeMap<String, String>) -> Selling {
        Selling { runtimes, ..self }
    }

    /// The same, where the owner lets jobs out so far.
    pub fn letting_out(self, outbound: Outbound) -> Selling {
        Selling { outbound, ..self }
    }

    /// How far jobs that ask for it get out of this machine: it takes a network namespace, so that
    /// none gets further.
    pub fn outbound(&self) -> Outbound {
        match &self.found {
            Ok(found) if found.tier == Tier::Namespaces => self.outbound,
            _ => Outbound::None,
        }
    }

    /// Whether jobs that ask for it may reach the web.
    pub fn lets_out(&self) -> bool {
        self.outbound() != Outbound::None
    }

    /// What this machine lacks of that which jobs may need.
    pub fn lacking(&self) -> Vec<&'static str> {
        let has = |need: &str| match need {
            NETWORK => self.no_device().is_none(),
            INTERNET => self.lets_out(),
            _ => self.runtimes.contains_key(need),
        };
        ALL.into_iter().filter(|need| !has(need)).collect()
    }

    /// Whether strangers' jobs may run in this tier.
    pub fn sells_tier(tier: Tier, unisolated: bool) -> bool {
        tier == Tier::Namespaces || unisolated
    }

    /// Whether units of a class with this isolation may be sold.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self, isolation: Isolation) -> Result<(), NotSold> {
        if isolation != Isolation::Process {
            let asked = isolation.name();
            return Err(NotSold::Isolation { asked });
        }
        let reason = match &self.found {
            Ok(found) if Selling::sells_tier(found.tier, self.unisolated) => return Ok(()),
            Ok(found) => found.passed_over.clone().unwrap_or_default(),
            Err(reason) => reason.clone(),
        };
        Err(NotSold::Unisolated { reason })
    }

    /// Whether the owner sells units without protection of its node.
    pub fn is_unisolated(&self) -> bool {
        let plain = |found: &Capabilities| found.tier == Tier::Plain;
        self.unisolated && self.found.as_ref().is_ok_and(plain)
    }

    /// Why jobs have no device in their lease's network, where jobs are sold and have none.
    pub fn no_device(&self) -> Option<&str> {
        let found = self.found.as_ref().ok()?;
        found.no_device.as_deref()
    }

    /// What jobs' devices are where they are not the best there is, and why.
    pub fn lesser_link(&self) -> Option<(Link, &str)> {
        let found = self.found.as_ref().ok()?;
        Some((found.link, found.no_better_link.as_deref()?))
    }

    /// Names of the bounds that are watched and not enforced.
    pub fn watched(&self) -> Vec<&'static str> {
        let Ok(found) = &self.found else {
            return Vec::new();
        };
        let all = [
            ("disk", found.disk),
            ("memory", found.tree_memory),
            ("processors", found.processors),
            ("processes", found.processes),
        ];
        let watched = all.into_iter().filter(|(_, how)| *how == Support::Watched);
        watched.map(|(name, _)| name).collect()
    }

    /// The advert's attributes about it.
    pub fn attributes(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        if let Ok(found) = &self.found
            && self.check(Isolation::Process).is_ok()
        {
            all.insert(SANDBOX.to_owned(), found.tier.to_string());
            if found.no_device.is_none() {
                all.insert(NETWORK.to_owned(), found.link.to_string());
                all.extend(self.runtimes.clone());
            }
            if self.lets_out() {
                all.insert(INTERNET.to_owned(), self.outbound().to_string());
            }
            let watched = self.watched().join("+");
            if !watched.is_empty() {
                all.insert(WATCHED.to_owned(), watched);
            }
        }
        all
    }

    /// For the log: how strangers' jobs run.
    pub fn report(&self) {
        match (&self.found, self.check(Isolation::Process)) {
            (Ok(found), Ok(())) if self.is_unisolated() => tracing::warn!(
                tier = %found.tier,
                "jobs.unisolated is on: strangers' jobs run beside this node without isolation"
            ),
            (Ok(found), Ok(())) => tracing::info!(
                tier = %found.tier,
                watched = self.watched().join(", "),
                device = found.no_device.is_none().then(|| tracing::field::display(found.link)),
                "strangers' jobs run isolated"
            ),
            (_, Err(why)) => {
                tracing::warn!(reason = %why, hint = why.hint(), "no strangers' jobs run here");
            }
            (Err(reason), Ok(())) => tracing::error!(reason, "jobs without an executor"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(tier: Tier, how: Support) -> Capabilities {
        Capabilities {
            passed_over: (tier == Tier::Plain).then(|| "no namespaces".to_owned()),
            processors: how,
            tree_memory: how,
            disk: how,
            ..Capabilities::all(tier, Support::Enforced)
        }
    }

    #[test]
    fn only_what_is_enforced_is_sold() {
        let (plain, spaces) = (Tier::Plain, Tier::Namespaces);
        for (tier, unisolated, sold) in [
            (plain, false, false),
            (plain, true, true),
            (spaces, false, true),
            (spaces, true, true),
        ] {
            let selling = Selling::new(Ok(found(tier, Support::Enforced)), unisolated);
            assert_eq!(selling.check(Isolation::Process).is_ok(), sold, "{tier}");
            assert_eq!(selling.attributes().is_empty(), !sold);
            assert_eq!(selling.is_unisolated(), tier == plain && unisolated);
            for more in [Isolation::Container, Isolation::Machine] {
                let why = selling.check(more).unwrap_err();
                assert!(matches!(why, NotSold::Isolation { .. }), "{why}");
            }
        }
        let none = Selling::new(Err("clone: EPERM".to_owned()), true);
        let why = none.check(Isolation::Process).unwrap_err();
        assert!(why.to_string().contains("clone: EPERM"));
    }

    #[test]
    fn an_advert_tells_what_the_devices_of_jobs_are() {
        let of = |link, no_device: Option<&str>| {
            let found = Capabilities {
                link,
                no_device: no_device.map(str::to_owned),
                no_better_link: (link == Link::Veth).then(|| "tun: EACCES".to_owned()),
                ..found(Tier::Namespaces, Support::Enforced)
            };
            Selling::new(Ok(found), false)
        };
        let said = |selling: &Selling| selling.attributes().get(NETWORK).cloned();
        let (tun, veth) = (of(Link::Tun, None), of(Link::Veth, None));
        let none = of(Link::Tun, Some("EACCES"));
        assert_eq!(said(&tun).as_deref(), Some("tun"));
        assert_eq!(said(&veth).as_deref(), Some("veth"));
        assert_eq!(said(&none), None);
        assert!(!veth.lacking().contains(&NETWORK) && none.lacking().contains(&NETWORK));
        assert_eq!(tun.lesser_link(), None);
        assert_eq!(veth.lesser_link(), Some((Link::Veth, "tun: EACCES")));
    }

    #[test]
    fn only_jobs_with_a_namespace_are_let_out_and_only_if_the_owner_says_so() {
        let of = |tier, outbound| {
            let found = found(tier, Support::Enforced);
            Selling::new(Ok(found), true).letting_out(outbound)
        };
        for (tier, outbound, said) in [
            (Tier::Namespaces, Outbound::Web, Some("web")),
            (Tier::Namespaces, Outbound::None, None),
            (Tier::Plain, Outbound::Web, None),
        ] {
            let selling = of(tier, outbound);
            let told = selling.attributes().get(INTERNET).cloned();
            assert_eq!(told.as_deref(), said, "{tier} {outbound}");
            assert_eq!(selling.lacking().contains(&INTERNET), said.is_none());
        }
        let silent = Selling::new(Ok(found(Tier::Namespaces, Support::Enforced)), false);
        assert!(silent.lacking().contains(&INTERNET), "none unless told");
    }

    #[test]
    fn an_advert_tells_the_tier_and_what_is_only_watched() {
        let selling = Selling::new(Ok(found(Tier::Namespaces, Support::Watched)), false);
        let said = selling.attributes();
        assert_eq!(said[SANDBOX], "namespaces");
        assert_eq!(said[WATCHED], "disk+memory+processors");
    }
}
