//! The variables by which programs find the proxy to the web.

use crate::executor::job::{JobSpec, Network};
use gridbay_vnet::address::{V4_PREFIX, V6_PREFIX};

/// Where a job's connections to the web arrive, on its own loopback.
pub(super) const PROXY_PORT: u16 = 3128;

/// Those of a job that may reach the web; none for another one.
pub(super) fn variables(spec: &JobSpec) -> impl Iterator<Item = (&'static str, String)> {
    let at = format!("http://127.0.0.1:{PROXY_PORT}");
    let direct = directly(&spec.network);
    let all = [
        ("http_proxy", at.clone()),
        ("https_proxy", at.clone()),
        ("HTTP_PROXY", at.clone()),
        ("HTTPS_PROXY", at),
        ("no_proxy", direct.clone()),
        ("NO_PROXY", direct),
    ];
    all.into_iter().filter(|_| spec.internet)
}

/// The places that are reached without it: the job itself, and the members of its lease.
fn directly(network: &Network) -> String {
    let mut all = vec!["localhost".to_owned(), "127.0.0.1".into(), "::1".into()];
    if let Network::Lease(place) = network {
        all.push(".gridbay".to_owned());
        all.push(format!("{}/{V4_PREFIX}", place.v4));
        all.push(format!("{}/{V6_PREFIX}", place.v6));
        let names = place
            .hosts
            .lines()
            .flat_map(|line| line.split_whitespace().skip(1));
        all.extend(
            names
                .filter(|n| !n.contains('.') && *n != "localhost")
                .map(str::to_owned),
        );
    }
    all.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::job::{Interface, JobName};
    use std::collections::BTreeMap;

    #[test]
    fn only_a_job_that_asked_is_told_of_the_proxy_and_its_lease_goes_around_it() {
        let mut spec = JobSpec::new(JobName::new("a").unwrap(), ["true"]);
        assert_eq!(variables(&spec).count(), 0);
        spec.internet = true;
        let of = |spec: &JobSpec| variables(spec).collect::<BTreeMap<_, _>>();
        assert_eq!(of(&spec)["https_proxy"], "http://127.0.0.1:3128");
        assert_eq!(of(&spec)["no_proxy"], "localhost,127.0.0.1,::1");
        spec.network = Network::Lease(Interface {
            host: "rank0".to_owned(),
            v4: [10, 201, 4, 4].into(),
            v6: [0xfd00, 1, 2, 3, 4, 5, 6, 7].into(),
            hosts: "127.0.0.1 localhost\n10.201.4.4 rank0 rank0.aa.gridbay\n".to_owned(),
            resolver: String::new(),
            machines: String::new(),
        });
        let direct = of(&spec)["NO_PROXY"].clone();
        assert!(
            direct.ends_with(",rank0") && direct.contains(",.gridbay,10.201.4.4/"),
            "{direct}"
        );
    }
}
