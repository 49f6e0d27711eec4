//! A node's configuration file.

use super::seat::Seat;
use anyhow::Context as _;
use gridbay_node::api::types::OfferRequest;
use gridbay_node::config::Home;
use std::fmt::Write as _;
use std::fs;

/// Writes a node's configuration.
pub(super) fn write(
    home: &Home,
    name: &str,
    seat: &Seat,
    log: &str,
    more: &str,
    offers: &[OfferRequest],
) -> anyhow::Result<()> {
    let path = home.config_file();
    fs::write(&path, config_text(name, seat, log, more, offers))
        .with_context(|| format!("cannot write {}", path.display()))
}

fn config_text(name: &str, seat: &Seat, log: &str, more: &str, offers: &[OfferRequest]) -> String {
    let listen: Vec<String> = seat.listen.iter().map(|a| format!("\"{a}\"")).collect();
    let listen = listen.join(", ");
    let mut text = format!(
        "name = \"{name}\"\nlisten = [{listen}]\nlog = \"{log}\"\ngrace = \"2s\"\ncluster.port = 0\n{more}"
    );
    for offer in offers {
        let OfferRequest {
            class,
            units,
            reserve,
            ..
        } = offer;
        let _ = write!(
            text,
            "\n[[offers]]\nclass = \"{class}\"\nunits = {units}\nreserve = \"{reserve}\"\n"
        );
        if let Some(buy) = offer.buy {
            let _ = writeln!(text, "buy = \"{buy}\"");
        }
        if let Some(seconds) = offer.notice_seconds {
            let _ = writeln!(text, "notice = {seconds}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::plan::{credits, offer};
    use super::*;
    use gridbay_node::config::{Config, Sources};
    use std::os::unix::fs::DirBuilderExt as _;

    #[test]
    fn the_configuration_is_read_as_it_was_meant() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path().join("v1"));
        fs::DirBuilder::new()
            .mode(0o700)
            .create(home.path())
            .unwrap();
        let offers = [
            offer("small", 2, credits(4), Some(credits(30))),
            offer("large", 1, credits(10), None),
        ];
        let more = "provider.policy = \"average\"\n";
        let seat = Seat::loopback(12_345);
        write(&home, "v1", &seat, "warn", more, &offers).unwrap();
        let config = Config::load(home, &Sources::default()).unwrap();
        assert_eq!((config.name.as_str(), config.log.as_str()), ("v1", "warn"));
        assert!(config.provider.is_some());
        let listen: Vec<String> = config.listen.iter().map(|a| a.to_string()).collect();
        assert_eq!(listen, seat.listen);
        assert_eq!(config.offers.len(), 2);
        assert_eq!(config.offers[0].buy, Some(credits(30)));
        assert_eq!((config.offers[1].units, config.offers[1].buy), (1, None));
    }
}
