//! A job that asked for the web has a proxy on its own loopback, which the node serves; another one
//! has none. Nothing leaves the machine: only refusals are asked for.

use std::io::Read;
use std::net::{IpAddr, Ipv4Addr};

use gridbay_node::executor::{Executor, Exit, Isolation, Outbound, Tier};
use gridbay_node::outbound::Gateway;

use crate::bench::{Bench, found, id, not_checked};

/// Asks the proxy for each word, and prints the first line of each answer.
const ASK: &str = r#"
ask() { exec 3<> /dev/tcp/127.0.0.1/3128 && printf 'CONNECT %s HTTP/1.1\r\n\r\n' "$1" >&3 \
    && read -r line <&3 && echo "$1 $line"; exec 3>&-; }
"#;

/// An address of this machine in its own network, found without a packet.
fn own() -> Option<IpAddr> {
    let socket = std::net::UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect(("192.0.2.1", 9)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

#[test]
fn a_job_that_asked_reaches_the_proxy_and_neither_host_nor_lan() {
    let bench = Bench::new(Isolation::Preferred);
    if bench.tier() != Tier::Namespaces {
        return not_checked("jobs have no namespaces here, so none is let out");
    }
    let mut places: Vec<String> = [
        "127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "[::1]",
        "[::ffff:10.0.0.1]",
        "[64:ff9b::7f00:1]",
        "192.168.1.1",
        "100.100.100.200",
    ]
    .iter()
    .flat_map(|host| [format!("{host}:443"), format!("{host}:80")])
    .collect();
    places.extend(own().map(|ip| format!("{ip}:443")));
    places.push("1.1.1.1:22".to_owned());
    let asked: String = places
        .iter()
        .map(|place| format!("ask '{place}'\n"))
        .collect();
    let mut spec = bench.shell("web", "");
    spec.argv = vec!["bash".to_owned(), "-c".to_owned()];
    spec.argv
        .push(format!("{ASK}echo $https_proxy $no_proxy\n{asked}"));
    spec.internet = true;
    bench.start(&spec);

    let runtime = tokio::runtime::Runtime::new().unwrap();
    let guard = runtime.enter();
    let gateway = Gateway::new(Outbound::Web, Vec::new);
    let handed = found("a socket", || bench.executor.handed(&id("web")).unwrap());
    assert!(handed.device.is_none(), "it is in no network");
    let service = gateway.serve(handed.web.unwrap());
    let end = bench.wait(&id("web"));
    drop((service, guard));
    let mut ends = handed.ends;
    assert_eq!(ends.read(&mut [0]).unwrap(), 0, "the end of the job");
    assert_eq!(end.exit, Exit::Exited(0));
    let mut said = "http://127.0.0.1:3128 localhost,127.0.0.1,::1\n".to_owned();
    said.extend(
        places
            .iter()
            .map(|place| format!("{place} HTTP/1.1 403 Forbidden\r\n")),
    );
    assert_eq!(bench.stdout("web"), said);
}

#[test]
fn a_job_that_did_not_ask_has_no_proxy() {
    let bench = Bench::new(Isolation::Preferred);
    let script = "env | grep -ic _proxy; (: < /dev/tcp/127.0.0.1/3128) 2> /dev/null || echo none";
    let mut spec = bench.shell("alone", "");
    spec.argv = ["bash", "-c", script].map(str::to_owned).into();
    bench.run(&spec);
    assert_eq!(bench.stdout("alone"), "0\nnone\n");
    assert!(bench.executor.handed(&id("alone")).unwrap().is_none());
}

#[test]
fn without_a_network_of_its_own_no_job_is_let_out() {
    let bench = Bench::new(Isolation::Off);
    let mut spec = bench.shell("plain", "echo ran");
    spec.internet = true;
    let end = bench.run(&spec);
    assert!(matches!(end.exit, Exit::Killed { .. }), "{end:?}");
    assert_eq!(bench.stdout("plain"), "");
}
