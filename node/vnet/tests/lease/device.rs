//! A device made inside and used from outside.

use gridbay_vnet::tun;

use crate::rank::Rank;

#[test]
fn the_node_prepares_a_device_of_another_namespace() {
    let Some(mut rank) = Rank::start(1, 0) else {
        return;
    };
    let device = rank.device.take().expect("a device");
    let offloads = tun::take(&device).expect("prepares it");
    assert!(offloads.tcp, "every kernel since 2.6.27 knows these");
    assert_eq!(tun::take(&device).expect("again"), offloads);
    assert!(rank.ask("cat /proc/net/dev").contains("gb0:"));
    let queue = rank.ask("cat /sys/class/net/gb0/tx_queue_len");
    assert!(
        queue.starts_with("32") || queue.contains("No such file"),
        "{queue}"
    );
    assert!(
        rank.ask("cat /proc/net/fib_trie")
            .contains(&rank.address.v4.to_string())
    );
    let v6 = rank.ask("cat /proc/net/if_inet6");
    if !v6.is_empty() {
        assert_eq!(
            v6.matches("gb0").count(),
            1,
            "its own address and no other: {v6}"
        );
    }
}

#[test]
fn what_is_no_device_is_refused() {
    let file = std::fs::File::open("/dev/null").expect("opens");
    assert!(tun::take(&file).is_err());
}
