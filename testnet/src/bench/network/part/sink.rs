//! The end that traffic goes to.

use super::common::PORTS;
use gridbay_vnet::engine::User;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

/// Serves until it is ended.
pub(super) fn run() -> anyhow::Result<()> {
    let [flows, counts, datagrams] = PORTS;
    let count = Arc::new(AtomicU64::new(0));
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, datagrams))?;
    let counted = count.clone();
    thread::spawn(move || {
        let mut buffer = [0; 2048];
        while socket.recv(&mut buffer).is_ok() {
            counted.fetch_add(1, Relaxed);
        }
    });
    let questions = TcpListener::bind((Ipv4Addr::UNSPECIFIED, counts))?;
    thread::spawn(move || {
        for mut question in questions.incoming().flatten() {
            question.write_all(&count.load(Relaxed).to_be_bytes()).ok();
        }
    });
    for flow in TcpListener::bind((Ipv4Addr::UNSPECIFIED, flows))?.incoming() {
        take(flow?).ok();
    }
    Ok(())
}

/// Serves flows to a rank without a device.
pub(super) fn user(user: &User) -> anyhow::Result<()> {
    let listener = user.listen(PORTS[0])?;
    loop {
        take(listener.accept()?.0).ok();
    }
}

/// Reads a flow to its end, and answers with bytes and nanoseconds.
fn take(mut flow: impl Read + Write) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 17];
    let (mut bytes, mut began) = (0, None);
    loop {
        let read = flow.read(&mut buffer)?;
        let began = *began.get_or_insert_with(Instant::now);
        if read == 0 {
            let nanos = began.elapsed().as_nanos() as u64;
            return flow.write_all(&[u64::to_be_bytes(bytes), nanos.to_be_bytes()].concat());
        }
        bytes += read as u64;
    }
}
