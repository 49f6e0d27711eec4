//! A job in its lease's network: it has a device, names and nothing else, and the node gets the
//! device as often as it asks.

use std::fs::File;
use std::io::Read;
use std::net::{Ipv4Addr, Ipv6Addr};

use gridbay_node::executor::{
    Executor, Exit, Interface, Isolation, JobSpec, Link, Network, Stream, Tier,
};

use crate::bench::{Bench, found, id, not_checked};

/// For each kind of device that this machine has for users; of the others it is said why.
fn benches() -> impl Iterator<Item = (Link, Bench)> {
    Link::ALL.into_iter().filter_map(|link| {
        let bench = Bench::linked(link);
        let found = bench.executor.probe().unwrap();
        if let Some(why) = &found.no_device {
            let of_device = format!("network of the lease: {link}: ");
            let known = ["jobs have no namespaces", of_device.as_str()];
            assert!(known.iter().any(|k| why.starts_with(k)), "{why}");
            not_checked(&format!("jobs have no device here: {why}"));
            return None;
        }
        assert_eq!((found.tier, found.link), (Tier::Namespaces, link));
        assert_eq!(found.no_better_link, None, "no other kind was asked for");
        Some((link, bench))
    })
}

#[test]
fn the_best_device_is_taken_that_there_is() {
    let bench = Bench::new(Isolation::Preferred);
    let found = bench.executor.probe().unwrap();
    let best = benches().next();
    let Some((best, _)) = best else {
        assert!(found.no_device.is_some());
        return;
    };
    assert_eq!((found.link, &found.no_device), (best, &None));
    let passed_over = found.no_better_link.as_deref();
    assert_eq!(passed_over.is_some(), best != Link::Tun, "{passed_over:?}");
}

#[test]
fn without_tun_a_cable_takes_its_place() {
    if !benches().any(|(link, _)| link == Link::Veth) {
        return;
    }
    let bench = Bench::without_tun();
    let found = bench.executor.probe().unwrap();
    assert_eq!((found.link, &found.no_device), (Link::Veth, &None));
    let why = found.no_better_link.unwrap();
    assert!(why.starts_with("network of the lease: tun: "), "{why}");
    bench.run(&networked(&bench, "cable", "cat /proc/net/dev"));
    let said = bench.stdout("cable");
    assert_eq!(said.matches(':').count(), 2, "lo and gb0: {said}");
    assert!(said.contains("gb0:"), "{said}");
}

fn networked(bench: &Bench, name: &str, script: &str) -> JobSpec {
    let mut spec = bench.shell(name, script);
    spec.network = Network::Lease(Interface {
        host: "rank3".to_owned(),
        v4: Ipv4Addr::new(10, 201, 4, 4),
        v6: Ipv6Addr::new(0xfd00, 1, 2, 3, 4, 5, 6, 7),
        hosts: "127.0.0.1 localhost\n10.201.4.4 rank3\n10.201.4.5 rank4\n".to_owned(),
        resolver: "nameserver 10.201.7.189\n".to_owned(),
        machines: "rank3 slots=1\nrank4 slots=1\n".to_owned(),
    });
    spec
}

#[test]
fn a_networked_job_has_its_names_and_addresses_and_no_power_over_them() {
    for (_, bench) in benches() {
        let script = "uname -n; cat /etc/hosts /etc/resolv.conf /proc/net/dev /proc/net/if_inet6; \
                      ls /dev/net 2>&1; cat /proc/net/fib_trie";
        bench.run(&networked(&bench, "names", script));
        let said = bench.stdout("names");
        assert!(said.starts_with("rank3\n"), "{said}");
        for word in [
            "10.201.4.5 rank4",
            "nameserver 10.201.7.189",
            "gb0:",
            "fd000001000200030004000500060007",
            "10.201.4.4",
        ] {
            assert!(said.contains(word), "{word}: {said}");
        }
        assert!(said.contains("No such file"), "no /dev/net: {said}");
    }
}

#[test]
fn a_job_without_a_network_has_no_device() {
    for (_, bench) in benches() {
        bench.sh("alone", "cat /proc/net/dev; uname -n");
        let said = bench.stdout("alone");
        assert!(!said.contains("gb0") && said.ends_with("job\n"), "{said}");
    }
}

#[test]
fn a_networked_job_has_terminals_of_its_own_and_no_other_one_has() {
    for (_, bench) in benches() {
        let script = "ls /dev/pts; (: <> /dev/ptmx) && echo opened; ls -l /dev/tty | cut -c1; tty";
        bench.run(&networked(&bench, "terminals", script));
        assert_eq!(bench.stdout("terminals"), "ptmx\nopened\nc\nnot a tty\n");
        bench.sh(
            "none",
            "ls -d /dev/pts /dev/ptmx /dev/tty 2> /dev/null; echo none",
        );
        assert_eq!(bench.stdout("none"), "none\n");
    }
}

#[test]
fn the_node_gets_the_device_again_and_sees_the_jobs_end() {
    for (link, bench) in benches() {
        let script = "while ! test -e stop; do sleep 0.05; done";
        bench.start(&networked(&bench, "again", script));
        let job = id("again");
        let device = || found("a device", || bench.executor.handed(&job).unwrap());
        let first = device();
        drop(first);
        let mut second = device();
        let offloads = match link {
            Link::Tun => gridbay_vnet::tun::take(second.device.as_ref().unwrap()).unwrap(),
            Link::Veth => gridbay_vnet::veth::take(second.device.as_ref().unwrap()).unwrap(),
        };
        assert!(offloads.tcp);
        File::create(bench.work_of("again").join("stop")).unwrap();
        assert_eq!(second.ends.read(&mut [0]).unwrap(), 0, "the end of the job");
        assert!(bench.executor.handed(&job).unwrap().is_none());
    }
}

#[test]
fn a_rank_runs_commands_for_the_others_and_ends_with_the_program() {
    for (_, bench) in benches() {
        let script = r#"cat /etc/machines
            echo input | /run/gridbay-rank exec rank3 'cat; echo to stderr >&2; exit 7'
            echo code $?
            /run/gridbay-rank exec rank3 'setsid sleep 600 & exec sleep 600' & sleep 0.2; kill -9 $!
            exit 5"#;
        let mut spec = networked(&bench, "lead", "");
        let words = [
            "/run/gridbay-rank",
            "lead",
            "hosts",
            "/bin/sh",
            "-c",
            script,
        ];
        spec.argv = words.map(str::to_owned).into();
        for (name, value) in [("RANK", "0"), ("SIZE", "1"), ("ADDRESS", "10.201.4.4")] {
            spec.env.insert(format!("GRIDBAY_{name}"), value.to_owned());
        }
        let finished = bench.run(&spec);
        assert_eq!(finished.exit, Exit::Exited(5));
        let said = bench.stdout("lead");
        assert_eq!(said, "rank3 slots=1\nrank4 slots=1\ninput\ncode 7\n");
        assert!(bench.read("lead", Stream::Stderr).contains("to stderr"));
    }
}

#[test]
fn a_rank_without_a_network_says_so() {
    for (_, bench) in benches() {
        let script =
            "/run/gridbay-rank lead hosts true; echo code $?; /run/gridbay-rank what; echo $?";
        bench.run(&networked(&bench, "lost", script));
        assert_eq!(bench.stdout("lost"), "code 69\n64\n");
        let said = bench.read("lost", Stream::Stderr);
        assert!(
            said.contains("no GRIDBAY_RANK") && said.contains("exec RANK"),
            "{said}"
        );
    }
}
