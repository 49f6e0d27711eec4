//! Things that a job cannot see, touch or use up.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use gridbay_node::executor::{
    Executor, ExecutorError, Exit, Isolation, Stream, Support, Tier, WeightBy,
};

use super::bench::{Bench, in_each_tier, is_there, not_checked, with_namespaces};

#[test]
fn the_probe_runs_a_job_and_describes_the_tier() {
    in_each_tier(|bench| {
        let found = bench.executor.probe().unwrap();
        println!("uid {}: {found:?}", nix::unistd::getuid());
        assert_eq!(
            (found.wall, found.network),
            (Support::Enforced, Support::Enforced)
        );
        assert!(bench.isolation != Isolation::Off || found.tier == Tier::Plain);
        assert!(
            bench.executor.recover().unwrap().is_empty(),
            "a probe leaves nothing behind"
        );
        assert_eq!(
            fs::read_dir(bench.dir.path().join("jobs")).unwrap().count(),
            0
        );
    });
}

#[test]
fn only_the_work_directory_can_be_written_and_secrets_are_out_of_reach() {
    with_namespaces(|bench| {
        let secrets = bench.dir.path().join("secrets");
        fs::create_dir(&secrets).unwrap();
        let secret = secrets.join("key");
        fs::write(&secret, "s3cret").unwrap();
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
        let work = bench.work("files");
        symlink(&secret, work.join("link")).unwrap();
        let script = format!(
            "cat {} link; cat /etc/shadow; ls /root /home
             for d in / /usr /etc /dev /bin /proc; do touch $d/x && echo wrote $d; done
             echo ok > $GRIDBAY_WORK/here && echo ok > /tmp/there && echo ok > /dev/shm/x && echo done
             mount -t tmpfs none /tmp && echo mounted
             unshare -U true && echo unshared
             id -u; grep CapEff /proc/self/status; grep -c . /proc/1/maps; hostname",
            secret.display()
        );
        let end = bench.sh("files", &script);
        assert_eq!(end.exit, Exit::Exited(0));
        let said = bench.stdout("files");
        assert_eq!(
            said, "done\n1000\nCapEff:\t0000000000000000\njob\n",
            "{said}"
        );
        assert_eq!(fs::read_to_string(work.join("here")).unwrap(), "ok\n");
        assert!(!bench.read("files", Stream::Stderr).contains("s3cret"));
    });
}

#[test]
fn of_the_hosts_certificates_jobs_see_what_is_public() {
    with_namespaces(|bench| {
        let script = "for d in /etc/ssl /etc/pki/tls; do
                for f in private misc; do test -e $d/$f && echo $d/$f; done
            done
            test ! -e /etc/pki/consumer && ls /etc/ssl";
        bench.sh("certificates", script);
        let said = bench.stdout("certificates");
        let public = ["ca-bundle.pem", "cert.pem", "certs", "openssl.cnf"];
        assert!(said.lines().all(|name| public.contains(&name)), "{said}");
        let there = Path::new("/etc/ssl/certs").exists();
        assert_eq!(said.contains("certs"), there, "{said}");
    });
}

#[test]
fn what_the_nodes_user_may_have_of_priorities_no_job_has() {
    use nix::sys::resource::{Resource, setrlimit};
    // As for a user in a group for audio.
    for limit in [Resource::RLIMIT_RTPRIO, Resource::RLIMIT_NICE] {
        if let Err(error) = setrlimit(limit, 39, 39) {
            println!("not raised: {error}");
        }
    }
    in_each_tier(|bench| {
        bench.sh("priorities", "grep -i priority /proc/self/limits");
        let said = bench.stdout("priorities");
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(lines.len(), 2, "{said}");
        for line in lines {
            let values: Vec<_> = line.split_whitespace().skip(3).collect();
            assert_eq!(values, ["0", "0"], "{said}");
        }
    });
}

#[test]
fn landlock_keeps_secrets_in_the_plain_tier() {
    let bench = Bench::new(Isolation::Off);
    if bench.executor.probe().unwrap().filesystem == Support::Absent {
        not_checked("no Landlock here");
        return;
    }
    let secret = bench.dir.path().join("secret");
    fs::write(&secret, "s3cret").unwrap();
    let script = format!(
        "cat {0}; echo x > {0}; echo x > here && cat here",
        secret.display()
    );
    bench.sh("plain", &script);
    assert_eq!(bench.stdout("plain"), "x\n");
    assert_eq!(fs::read_to_string(&secret).unwrap(), "s3cret");
}

#[test]
fn there_is_no_network_but_loopback() {
    with_namespaces(|bench| {
        let end = bench.sh(
            "net",
            "sed 1,2d /proc/net/dev | cut -d: -f1; wc -l < /proc/net/route",
        );
        assert_eq!(end.exit, Exit::Exited(0));
        let said = bench.stdout("net");
        assert_eq!(
            said.split_whitespace().collect::<Vec<_>>()[0],
            "lo",
            "{said}"
        );
        let interfaces = said
            .lines()
            .filter(|l| !l.trim().chars().all(|c| c.is_ascii_digit()));
        assert!(
            interfaces
                .clone()
                .all(|l| matches!(l.trim(), "lo") || is_idle_tunnel(l)),
            "{said}"
        );
    });
}

/// Some kernels put switched-off tunnel devices into every new network namespace.
fn is_idle_tunnel(name: &str) -> bool {
    ["sit", "tunl", "gre", "ip", "erspan"]
        .iter()
        .any(|t| name.trim().starts_with(t))
}

#[test]
fn an_internet_socket_is_refused_or_leads_nowhere() {
    if !Path::new("/usr/bin/perl").exists() {
        not_checked("no perl here");
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!(
        "perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 0) or die \"refused\";
         connect(S, pack_sockaddr_in({port}, inet_aton(\"127.0.0.1\"))) or die \"nowhere\"'"
    );
    in_each_tier(|bench| {
        let end = bench.sh("socket", &script);
        assert_ne!(end.exit, Exit::Exited(0), "the host's loopback was reached");
        let said = bench.read("socket", Stream::Stderr);
        assert!(
            said.contains("refused") || said.contains("nowhere"),
            "{said}"
        );
    });
}

/// Prints for each kind of socket whether the Unix family gives one, and whether the node's socket
/// at `NODE` can be reached.
const UNIX_SOCKETS: &str = r#"
    use Socket;
    my %kinds = (stream => SOCK_STREAM, datagram => SOCK_DGRAM, seqpacket => SOCK_SEQPACKET);
    for (sort keys %kinds) {
        print "$_ ", socket(my $one, PF_UNIX, $kinds{$_}, 0) ? "made" : $!{EPERM} ? "refused" : $!, "\n";
        print "pair of $_ ", socketpair(my $a, my $b, PF_UNIX, $kinds{$_}, 0) ? "made" : $!{EPERM} ? "refused" : $!, "\n";
    }
    socket(my $node, PF_UNIX, SOCK_STREAM, 0);
    print connect($node, pack_sockaddr_un("NODE")) ? "reached" : "not reached", "\n";
"#;

/// Whether that tier is sold to strangers or not: its jobs share the network of the node.
#[test]
fn the_plain_tier_gives_no_unix_socket_but_a_pair_of_streams() {
    if !is_there("perl") {
        return;
    }
    let bench = Bench::new(Isolation::Off);
    assert_eq!(bench.tier(), Tier::Plain);
    let socket = bench.work("unix").join("node.sock");
    let _node = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o777)).unwrap();
    let script = UNIX_SOCKETS.replace("NODE", socket.to_str().unwrap());
    let mut spec = bench.shell("unix", "");
    spec.argv = ["perl", "-e", &script].map(str::to_owned).to_vec();
    let end = bench.run(&spec);
    let said = bench.read("unix", Stream::Stderr);
    assert_eq!(end.exit, Exit::Exited(0), "{said}");
    let expected = "datagram refused\npair of datagram refused\nseqpacket refused\n\
        pair of seqpacket refused\nstream refused\npair of stream made\nnot reached\n";
    assert_eq!(bench.stdout("unix"), expected);
    // The owner's own program gets all of them.
    let own = Command::new("perl").args(["-e", &script]).output().unwrap();
    let own = String::from_utf8(own.stdout).unwrap();
    assert!(
        own.ends_with("\nreached\n") && !own.contains("refused"),
        "{own}"
    );
}

#[test]
fn memory_file_size_and_processor_time_are_bounded() {
    in_each_tier(|bench| {
        let mut spec = bench.shell("memory", "dd if=/dev/zero of=/dev/null bs=600M count=1");
        spec.limits.memory_bytes = 256 << 20;
        assert_eq!(bench.run(&spec).exit, Exit::Exited(1));
        assert!(
            bench
                .read("memory", Stream::Stderr)
                .contains("memory exhausted")
        );

        let mut spec = bench.shell("file", "trap '' XFSZ; dd if=/dev/zero of=big bs=1M count=8");
        spec.limits.file_bytes = 2 << 20;
        assert_eq!(bench.run(&spec).exit, Exit::Exited(1));
        let size = fs::metadata(bench.work_of("file").join("big"))
            .unwrap()
            .len();
        assert_eq!(size, 2 << 20);

        let mut spec = bench.shell("cpu", "while :; do :; done");
        spec.limits.cpu_seconds = 1;
        let end = bench.run(&spec);
        assert_eq!(end.exit, Exit::Signaled(24), "SIGXCPU");
        assert!(end.usage.cpu_ns > 500_000_000, "{:?}", end.usage);
        assert!(end.usage.max_rss_bytes > 100_000);
    });
}

#[test]
fn a_job_weighs_what_it_is_allowed_and_cannot_gain_weight() {
    in_each_tier(|bench| {
        let level = |name: &str, levels| {
            // Field 19 of `stat`, behind a name without spaces: the job's own level, then that of a
            // child that tries to be nicer to itself.
            let script =
                "cut -d' ' -f19 /proc/self/stat; nice -n -5 cut -d' ' -f19 /proc/self/stat";
            let mut spec = bench.shell(name, script);
            spec.limits.nice = levels;
            assert_eq!(bench.run(&spec).exit, Exit::Exited(0));
            let printed = bench.read(name, Stream::Stdout);
            printed
                .lines()
                .map(|l| l.parse().unwrap())
                .collect::<Vec<i32>>()
        };
        let own = level("own", 0)[0];
        for levels in [3, 19] {
            let expected = (own.max(0) + i32::from(levels)).min(19);
            let found = level(&format!("nice{levels}"), levels);
            assert_eq!(found[0], expected);
            assert!(found[1] >= expected, "{found:?}");
        }
        let found = bench.executor.probe().unwrap();
        assert_ne!(found.weight, Support::Absent);
        if found.weight_by != WeightBy::Nice {
            assert_eq!(found.weight, Support::Enforced);
        }
    });
}

#[test]
fn processes_are_bounded_where_the_probe_says_so() {
    in_each_tier(|bench| {
        if bench.executor.probe().unwrap().processes != Support::Enforced {
            println!("processes are not bounded in this tier");
            return;
        }
        let script = "i=0; while [ $i -lt 40 ]; do sleep 5 & i=$((i+1)); done; exit 0";
        let mut spec = bench.shell("forks", script);
        spec.limits.processes = 10;
        let end = bench.run(&spec);
        assert_ne!(end.exit, Exit::Exited(0));
        assert!(
            bench
                .read("forks", Stream::Stderr)
                .to_lowercase()
                .contains("fork")
        );
    });
}

#[test]
fn required_isolation_is_not_bargained_away() {
    let bench = Bench::new(Isolation::Required);
    match bench.executor.probe() {
        Ok(found) => assert_eq!(found.tier, Tier::Namespaces),
        Err(ExecutorError::NoSandbox { reason }) => {
            println!("no namespaces here: {reason}");
            bench.work("refused");
            let spec = bench.shell("refused", "exit 0");
            assert!(matches!(
                bench.executor.start(&spec),
                Err(ExecutorError::NoSandbox { .. })
            ));
        }
        Err(e) => panic!("{e}"),
    }
}
