//! The answer to a packet that the way to its destination does not take.
//!
//! The job's kernel is told as a router would tell it (ICMP: fragmentation needed, packet too big),
//! and makes smaller packets from then on. The answer comes from the destination's address.

use super::checksum::{add, finish, pseudo};
use crate::tun::HEADER;

const ICMP: u8 = 1;
const ICMP_V6: u8 = 58;
/// Bytes of the packet that are quoted: its header and the first 8 behind it.
const QUOTED: (usize, usize) = (28, 48);
const HOPS: u8 = 64;

/// The answer, with the kernel's header in front; none to what is no IP packet, or an error itself.
pub(crate) fn too_big(packet: &[u8], mtu: u16) -> Option<Vec<u8>> {
    let [high, low] = mtu.to_be_bytes();
    let mut answer = vec![0; HEADER];
    match packet.first()? >> 4 {
        4 => {
            let quoted = packet.get(..QUOTED.0).filter(|packet| packet[9] != ICMP)?;
            let length = (20 + 8 + QUOTED.0) as u16;
            let mut ip = vec![0x45, 0, 0, 0, 0, 0, 0, 0, HOPS, ICMP, 0, 0];
            ip[2..4].copy_from_slice(&length.to_be_bytes());
            ip.extend_from_slice(&packet[16..20]);
            ip.extend_from_slice(&packet[12..16]);
            let sum = finish(add(0, &ip));
            ip[10..12].copy_from_slice(&sum);
            let mut icmp = vec![3, 4, 0, 0, 0, 0, high, low];
            icmp.extend_from_slice(quoted);
            let sum = finish(add(0, &icmp));
            icmp[2..4].copy_from_slice(&sum);
            answer.extend(ip);
            answer.extend(icmp);
        }
        6 => {
            let quoted = packet
                .get(..QUOTED.1)
                .filter(|packet| packet[6] != ICMP_V6)?;
            let length = (8 + QUOTED.1) as u16;
            let mut whole = vec![0x60, 0, 0, 0, 0, 0, ICMP_V6, HOPS];
            whole[4..6].copy_from_slice(&length.to_be_bytes());
            whole.extend_from_slice(&packet[24..40]);
            whole.extend_from_slice(&packet[8..24]);
            whole.extend_from_slice(&[2, 0, 0, 0, 0, 0, high, low]);
            whole.extend_from_slice(quoted);
            let sum = pseudo(&whole, ICMP_V6, usize::from(length));
            let sum = finish(add(sum, &whole[40..]));
            whole[42..44].copy_from_slice(&sum);
            answer.extend(whole);
        }
        _ => return None,
    }
    Some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_quotes_the_packet_and_adds_up() {
        let mut packet = vec![0; 1400];
        packet[0] = 0x45;
        packet[9] = 6;
        packet[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        let answer = too_big(&packet, 1280).expect("an answer");
        let ip = &answer[HEADER..];
        assert_eq!(ip[12..20], [10, 0, 0, 2, 10, 0, 0, 1]);
        assert_eq!(
            (ip[20], ip[21], &ip[26..28]),
            (3, 4, &1280_u16.to_be_bytes()[..])
        );
        assert_eq!(ip[28..], packet[..28]);
        assert_eq!(finish(add(0, &ip[..20])), [0, 0]);
        assert_eq!(finish(add(0, &ip[20..])), [0, 0]);
        packet[0] = 0x60;
        packet[6] = 17;
        let answer = too_big(&packet, 1280).expect("an answer");
        let ip = &answer[HEADER..];
        let sum = pseudo(ip, ICMP_V6, ip.len() - 40);
        assert_eq!(finish(add(sum, &ip[40..])), [0, 0]);
        packet[6] = ICMP_V6;
        assert_eq!(too_big(&packet, 1280), None);
        assert_eq!(too_big(&packet[..30], 1280), None);
    }
}
