//! A scan of a machine's ports from another one on its wire, with TCP and UDP, over IPv4 and IPv6.
//!
//! 1. Something listens on each port in the scanned machine, so that only its firewall can keep
//!    questions from it: over its loopback interface each port answers.
//! 2. Over the wire none answers, and what listens hears nothing. The overlay's port is reached.
//! 3. Without the firewall each port answers over the wire: the questions do arrive.
//! 4. With the firewall again, none does.

use super::super::shell::Shell;
use super::pair;
use anyhow::{Context as _, ensure};
use std::collections::BTreeSet;

/// Ports that are listened on, with TCP and UDP: those of usual services, those of a machine's own
/// DHCP and mDNS, neighbours of the overlay's, and two of the range that questions are sent from.
const PORTS: [u16; 20] = [
    21, 22, 68, 80, 111, 123, 161, 443, 445, 546, 631, 3389, 5353, 5355, 7410, 7413, 8080, 19_531,
    40_000, 60_999,
];
/// The overlay's.
const OVERLAY: u16 = 7_411;
/// Where the programs and their words lie.
const PLACE: &str = "/run/scan";
/// A program that listens on the ports it is given, answers each question, and tells of it.
const LISTENER: &str = r#"use strict;
use Socket ":all";
use IO::Select;
$| = 1;
my ($all, %is) = (IO::Select->new);
for my $port (@ARGV) {
  for my $type (SOCK_STREAM, SOCK_DGRAM) {
    for my $family (AF_INET, AF_INET6) {
      my $at = $family == AF_INET ? pack_sockaddr_in($port, INADDR_ANY)
        : pack_sockaddr_in6($port, IN6ADDR_ANY);
      socket(my $socket, $family, $type, 0) or die "socket: $!";
      setsockopt($socket, SOL_SOCKET, SO_REUSEADDR, 1) or die "reuse: $!";
      # Questions to groups, such as those of mDNS, are for others.
      if ($family == AF_INET6) {
        setsockopt($socket, IPPROTO_IPV6, IPV6_V6ONLY, 1) or die "IPv6: $!";
        setsockopt($socket, IPPROTO_IPV6, 29, 0) or die "IPV6_MULTICAST_ALL: $!";
      } else {
        setsockopt($socket, IPPROTO_IP, 49, 0) or die "IP_MULTICAST_ALL: $!";
      }
      bind($socket, $at) or die "port $port: $!";
      listen($socket, 64) or die "listen: $!" if $type == SOCK_STREAM;
      $all->add($socket);
      $is{$socket} = [$type, $port];
    }
  }
}
print "listens\n";
while (1) {
  for my $socket ($all->can_read) {
    my ($type, $port) = @{$is{$socket}};
    if ($type == SOCK_STREAM) {
      accept(my $asker, $socket) or next;
      syswrite($asker, "here\n");
      print "heard tcp $port\n";
    } else {
      my $asker = recv($socket, my $question, 64, 0);
      next unless defined $asker;
      send($socket, "here\n", 0, $asker);
      print "heard udp $port\n";
    }
  }
}
"#;
/// A program that asks ports of an address all at once, with TCP and UDP, and tells which of them
/// answer or refuse within some seconds: silence alone says nothing.
const ASKER: &str = r#"use strict;
use Socket ":all";
use IO::Select;
use Errno ":POSIX";
my ($seconds, $at, @ports) = @ARGV;
my ($readers, $writers, %is) = (IO::Select->new, IO::Select->new);
for my $port (@ports) {
  for my $type (SOCK_STREAM, SOCK_DGRAM) {
    my ($error, $to) = getaddrinfo($at, $port, {flags => AI_NUMERICHOST, socktype => $type});
    die "$at: $error" if $error;
    socket(my $socket, $to->{family}, $type, 0) or die "socket: $!";
    $socket->blocking(0);
    connect($socket, $to->{addr}) or $!{EINPROGRESS} or die "$at: $!";
    my $udp = $type == SOCK_DGRAM;
    send($socket, "who is there\n", 0) if $udp;
    ($udp ? $readers : $writers)->add($socket);
    $is{$socket} = ($udp ? "udp " : "tcp ") . $port;
  }
}
my $end = time + $seconds;
while (time < $end and $readers->count + $writers->count) {
  my ($read, $write) = IO::Select->select($readers, $writers, undef, 1);
  send($_, "who is there\n", 0) for $read ? () : $readers->handles;
  for my $socket ($read ? (@$read, @$write) : ()) {
    my $error = unpack("i", getsockopt($socket, SOL_SOCKET, SO_ERROR));
    my $what = $error ? "refuses" : "answers";
    $what = "" if $error and $error != ECONNREFUSED;
    print "$what $is{$socket}\n" if $what;
    $_->remove($socket) for $readers, $writers;
  }
}
"#;
/// Seconds in which an answer comes; a packet that is dropped brings none.
const ANSWER: u32 = 5;

/// The machine whose ports are asked, and the one that asks.
struct Scan<'a> {
    listens: &'a mut Shell,
    asks: &'a mut Shell,
    /// Addresses on the wire, as the asking machine has them.
    wire: [String; 2],
}

/// Scans the ports of a pair's first machine from its second one.
///
/// # Errors
/// A port that is not the overlay's can be reached, or the scan proves nothing.
pub(super) async fn scanned(listens: &mut Shell, asks: &mut Shell) -> anyhow::Result<()> {
    let (own, their) = (device(listens).await?, device(asks).await?);
    let link = format!("ip -o -6 addr show dev {own} scope link | awk '{{print $4}}'");
    let link = listens.good(&link).await?;
    let link = link.trim().split('/').next().unwrap_or_default();
    ensure!(!link.is_empty(), "{own} has no address of its link");
    let wire = [pair::address(1), format!("{link}%{their}")];
    let mut scan = Scan {
        listens,
        asks,
        wire,
    };
    scan.begin().await?;
    let (all, none) = (questions(&PORTS), BTreeSet::new());
    for at in ["127.0.0.1", "::1"] {
        let answer = asked(scan.listens, at, &PORTS).await?;
        ensure!(answer == all, "on {at} not all ports answer: {answer:?}");
    }
    scan.expects(&none).await?;
    scan.firewall("stop").await?;
    scan.expects(&all).await?;
    scan.firewall("start").await?;
    scan.expects(&none).await?;
    let end = format!("kill $(cat {PLACE}/id)");
    scan.listens.good(&end).await.map(drop)
}

impl Scan<'_> {
    /// Starts what listens, and brings what asks to both machines.
    async fn begin(&mut self) -> anyhow::Result<()> {
        for shell in [&mut *self.listens, &mut *self.asks] {
            shell.good(&format!("mkdir -p {PLACE}")).await?;
            shell.good(&file("asker", ASKER)).await?;
        }
        self.listens.good(&file("listener", LISTENER)).await?;
        let start = format!(
            "(exec perl {PLACE}/listener {} > {PLACE}/heard 2>&1 & echo $! > {PLACE}/id); \
             for i in 1 2 3 4 5 6 7 8 9 10; do grep -q listens {PLACE}/heard && break; sleep 1; \
             done; cat {PLACE}/heard",
            words(&PORTS)
        );
        let said = self.listens.good(&start).await?;
        ensure!(said == "listens\n", "what listens says {said}");
        Ok(())
    }

    /// Over the wire exactly these answer beside the overlay's port, and no other question is
    /// heard. The overlay's refuses where the node does not listen on it, as it does over IPv6.
    async fn expects(&mut self, wanted: &BTreeSet<String>) -> anyhow::Result<()> {
        let (ports, overlay) = ([&PORTS[..], &[OVERLAY]].concat(), format!(" {OVERLAY}"));
        for at in self.wire.clone() {
            let before = self.heard().await?.len();
            let answer = asked(self.asks, &at, &ports).await?;
            let (reached, others): (BTreeSet<_>, BTreeSet<_>) = answer
                .into_iter()
                .partition(|line| line.ends_with(&overlay));
            let tcp = reached.iter().any(|line| line.contains("tcp"));
            ensure!(tcp, "{at}: the overlay's port is not reached");
            ensure!(&others == wanted, "{at} answers {others:?}");
            let heard = self.heard().await?;
            let heard: BTreeSet<String> = heard[before..]
                .iter()
                .map(|line| line.replace("heard", "answers"))
                .collect();
            ensure!(&heard == wanted, "by {at} it is heard: {heard:?}");
        }
        Ok(())
    }

    /// The lines of what listens.
    async fn heard(&mut self) -> anyhow::Result<Vec<String>> {
        let said = self.listens.good(&format!("cat {PLACE}/heard")).await?;
        Ok(said.lines().map(str::to_owned).collect())
    }

    async fn firewall(&mut self, word: &str) -> anyhow::Result<()> {
        let command = format!("systemctl {word} nftables.service");
        self.listens.good(&command).await.map(drop)
    }
}

/// The interface on the wire.
async fn device(shell: &mut Shell) -> anyhow::Result<String> {
    let look = "ip -o link | grep 52:54:00:77 | awk -F': ' '{print $2}'";
    let device = shell.good(look).await?.trim().to_owned();
    ensure!(!device.is_empty(), "there is no interface on the wire");
    Ok(device)
}

/// A line of a shell that writes a program.
fn file(name: &str, text: &str) -> String {
    format!("cat > {PLACE}/{name} <<'@end@'\n{text}@end@")
}

fn words(ports: &[u16]) -> String {
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    ports.join(" ")
}

/// The answers of all these ports.
fn questions(ports: &[u16]) -> BTreeSet<String> {
    let both = |port: &u16| [format!("answers tcp {port}"), format!("answers udp {port}")];
    ports.iter().flat_map(both).collect()
}

/// Asks ports of an address; what answers or refuses.
async fn asked(shell: &mut Shell, at: &str, ports: &[u16]) -> anyhow::Result<BTreeSet<String>> {
    let ask = format!("perl {PLACE}/asker {ANSWER} {at} {}", words(ports));
    let said = shell.good(&ask).await.context("what asks")?;
    Ok(said.lines().map(str::to_owned).collect())
}
