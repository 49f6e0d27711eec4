//! What a job needs of a seller's machine, as adverts say that a node has it.
//!
//! 1. A node whose owner's adverts lack it refuses such a start, and gives the lease up
//!    ([`crate::seller`]).
//! 2. An order is refused before any money is locked if too few units of its class are at nodes
//!    that may have it. A node whose advert is not known, or tells nothing of its machine, may.

use crate::adverts::Adverts;
use crate::cluster::{is_held, is_led};
use crate::query::attribute::OWN;
use gridbay_ledger::State;
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::job::JobSpec;
use std::collections::BTreeMap;

/// A device in the lease's network.
pub const NETWORK: &str = "x.network";
/// OpenMPI's `mpirun`.
pub const MPI: &str = "x.mpi";
/// Dask with its distributed scheduler.
pub const DASK: &str = "x.dask";
/// Connections to the web, which the seller's owner lets its jobs make.
pub const INTERNET: &str = "x.internet";
/// All of them.
pub const ALL: [&str; 4] = [NETWORK, MPI, DASK, INTERNET];

/// The attributes that a job needs.
pub fn needs(spec: &JobSpec) -> Vec<&'static str> {
    let mut all = Vec::new();
    all.extend(spec.network.then_some(NETWORK));
    all.extend(spec.internet.then_some(INTERNET));
    // What leads the program, or all that may lead one while the cluster is held.
    let runtimes = match (is_led(spec), is_held(spec)) {
        (true, _) => 1,
        (_, true) => usize::MAX,
        _ => 0,
    };
    let words = spec.argv.iter().skip(2).take(runtimes);
    all.extend(words.filter_map(|word| runtime(word)));
    all
}

/// The attribute of a node that has a runtime.
fn runtime(word: &str) -> Option<&'static str> {
    match word {
        "mpi" => Some(MPI),
        "dask" => Some(DASK),
        _ => None,
    }
}

/// The first of a job's needs that too few units of a class can meet, and how many can.
pub(crate) fn unmet(
    state: &State,
    adverts: &Adverts,
    class: &ClassId,
    spec: &JobSpec,
    tasks: u32,
) -> Option<(&'static str, u32)> {
    let needs = needs(spec);
    if needs.is_empty() {
        return None;
    }
    let live = adverts.live(state);
    // What another account says of a seller's node does not count.
    let said = live.map(|a| ((a.account, a.node), &a.attributes));
    let about: BTreeMap<_, _> = said.collect();
    needs.into_iter().find_map(|need| {
        let may = |place| about.get(&place).is_none_or(|known| may_have(known, need));
        let of_class = state.offers().filter(|(_, o)| o.terms.class == *class);
        let able = of_class.filter(|(_, o)| may((o.seller, o.terms.node)));
        let units: u32 = able.map(|(_, o)| o.terms.units).sum();
        (units < tasks).then_some((need, units))
    })
}

fn may_have(attributes: &BTreeMap<String, String>, need: &str) -> bool {
    attributes.contains_key(need) || !attributes.keys().any(|name| name.starts_with(OWN))
}

/// The need in words.
pub(crate) fn in_words(need: &str) -> &'static str {
    match need {
        MPI => "OpenMPI",
        DASK => "Dask",
        INTERNET => "the internet for jobs",
        _ => "networks for leases",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::PROGRAM;

    #[test]
    fn a_node_that_tells_nothing_may_have_all() {
        let says = |names: &[&str]| {
            let all = names.iter().map(|n| ((*n).to_owned(), "1".to_owned()));
            all.collect::<BTreeMap<_, _>>()
        };
        assert!(may_have(&says(&[]), MPI));
        assert!(may_have(&says(&["site"]), MPI));
        assert!(may_have(&says(&["x.network", MPI]), MPI));
        assert!(!may_have(&says(&["x.network"]), MPI));
    }

    #[test]
    fn a_led_job_needs_what_leads_it_and_a_cluster_what_it_was_bought_with() {
        let of = |network, words: &[&str]| {
            needs(&JobSpec {
                network,
                internet: words.contains(&"web"),
                argv: words.iter().map(|w| (*w).to_owned()).collect(),
                env: vec![],
                inputs: vec![],
                outputs: vec![],
                wall_seconds: 1,
                checkpoint: None,
            })
        };
        assert_eq!(of(false, &["mpi"]), [""; 0]);
        assert_eq!(of(true, &["mpi"]), [NETWORK]);
        assert_eq!(of(false, &["web"]), [INTERNET]);
        assert_eq!(of(true, &["web"]), [NETWORK, INTERNET]);
        assert_eq!(of(true, &[PROGRAM, "lead", "hosts", "mpi"]), [NETWORK]);
        assert_eq!(of(true, &[PROGRAM, "lead", "mpi", "a"]), [NETWORK, MPI]);
        assert_eq!(of(true, &[PROGRAM, "lead", "dask", "a"]), [NETWORK, DASK]);
        assert_eq!(of(true, &[PROGRAM, "lead", "dask", "mpi"]), [NETWORK, DASK]);
        assert_eq!(of(true, &[PROGRAM, "hold"]), [NETWORK]);
        let both = of(true, &[PROGRAM, "hold", "mpi", "dask"]);
        assert_eq!(both, [NETWORK, MPI, DASK]);
    }
}
