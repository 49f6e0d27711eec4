use super::*;

fn parsed(text: &str) -> Result<Config, ConfigError> {
    Config::parse(text.as_bytes())
}

#[test]
fn a_full_file_is_read_key_by_key() {
    let text = r#"#gridbay
invitation = " GRIDBAY1abc234 "
name = "bay-7"
bootstrap = ["/ip4/192.0.2.7/udp/7411/quic-v1/p2p/12D3KooW"]
owner = "0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A"
[sell]
class = "small"
units = 3
reserve_vcpu = 1
reserve_memory = "512MiB"
reserve_disk = "4 GiB"
price = "2.5"
buy = 10
"#;
    let config = parsed(text).unwrap();
    assert_eq!(config.invitation.unwrap().secret(), "gridbay1abc234");
    assert_eq!(config.name.as_deref(), Some("bay-7"));
    assert_eq!(config.bootstrap.len(), 1);
    assert_eq!(config.owner, Some("0a".repeat(32)));
    let sell = Sell {
        class: Some("small".to_owned()),
        units: Some(3),
        reserve_vcpu: 1,
        reserve_memory_mib: 512,
        reserve_disk_mib: Some(4_096),
        price: Some(Credits(2_500_000)),
        buy: Some(Credits(10_000_000)),
        off: false,
    };
    assert_eq!(config.sell, sell);
}

#[test]
fn an_invitation_alone_and_an_empty_file_are_settings() {
    let alone = parsed("  gridbay1abc\n").unwrap();
    assert_eq!(alone.invitation.unwrap().secret(), "gridbay1abc");
    assert_eq!(parsed("").unwrap(), Config::default());
    assert_eq!(parsed("").unwrap().sell.reserve_memory_mib, 256);
}

#[test]
fn each_bad_value_is_told_by_its_key() {
    for (text, key) in [
        ("invitation = 7", "invitation"),
        ("invitation = \"hello\"", "invitation"),
        ("invitation = \"gridbay1\"", "invitation"),
        ("gridbay1abc def", "invitation"),
        ("name = \"-a\"", "name"),
        ("name = \"a b\"", "name"),
        ("name = \"\"", "name"),
        ("name = \"a\\u001b[2J\"", "name"),
        ("bootstrap = \"/ip4/192.0.2.1\"", "bootstrap"),
        ("bootstrap = [\"/ip4/192.0.2.1\"]", "bootstrap"),
        ("bootstrap = [7]", "bootstrap"),
        ("owner = 7", "owner"),
        ("owner = \"\"", "owner"),
        ("owner = \"0123\"", "owner"),
        ("sell = 1", "sell"),
        ("[sell]\nclass = \"--data\"", "sell.class"),
        ("[sell]\nunits = 0", "sell.units"),
        ("[sell]\nunits = 1.5", "sell.units"),
        ("[sell]\nreserve_vcpu = -1", "sell.reserve_vcpu"),
        ("[sell]\nreserve_memory = 512", "sell.reserve_memory"),
        ("[sell]\nreserve_memory = \"512\"", "sell.reserve_memory"),
        (
            "[sell]\nreserve_disk = \"999999999999999TiB\"",
            "sell.reserve_disk",
        ),
        ("[sell]\nprice = 2.5", "sell.price"),
        ("[sell]\nprice = \"-1\"", "sell.price"),
        ("[sell]\nprice = \"1.0000001\"", "sell.price"),
        ("[sell]\nprice = 5\nbuy = \"4\"", "sell.buy"),
        ("[sell]\noff = \"yes\"", "sell.off"),
    ] {
        match parsed(text) {
            Err(ConfigError::Value { key: told, .. }) => assert_eq!(told, key, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn unknown_keys_are_refused_by_name() {
    for (text, key) in [
        ("invitaton = \"gridbay1abc\"", "invitaton"),
        ("[sell]\nprise = 1", "sell.prise"),
        ("[other]\nx = 1", "other"),
        ("\"a\\u001bb\" = 1", "a?b"),
    ] {
        let key = key.to_owned();
        assert_eq!(parsed(text), Err(ConfigError::Unknown { key }));
    }
}

#[test]
fn hostile_files_are_refused_without_quoting_the_secret() {
    let large = vec![b'#'; FILE_BYTES + 1];
    assert_eq!(
        Config::parse(&large),
        Err(ConfigError::TooLarge { most: FILE_BYTES })
    );
    assert_eq!(Config::parse(&[0xff, 0xfe]), Err(ConfigError::NotText));
    let nested = "[".repeat(20_000);
    assert!(matches!(parsed(&nested), Err(ConfigError::Syntax { .. })));
    let nested = format!("x = {}", "[".repeat(60_000));
    assert!(matches!(parsed(&nested), Err(ConfigError::Syntax { .. })));
    let error = parsed("name = \"a\"\ninvitation = \"gridbay1secret").unwrap_err();
    assert!(matches!(error, ConfigError::Syntax { line: 2, .. }));
    assert!(!format!("{error} {error:?}").contains("secret"));
    let config = parsed("gridbay1secret").unwrap();
    assert!(!format!("{config:?}").contains("secret"));
}

#[test]
fn amounts_are_exact_and_shown_as_written() {
    for text in ["0", "10", "0.25", "2.000001"] {
        assert_eq!(Credits::new(text).unwrap().to_string(), text);
    }
    assert!(Credits::new("99999999999999999999").is_err());
    assert!(Credits(10_000_000).is_near(Credits(9_999_600)));
    assert!(!Credits(10_000_000).is_near(Credits(9_900_000)));
}

/// Bytes of a file changed at random, and the same ones at each run.
#[test]
fn no_file_makes_the_reader_panic_or_tell_the_secret() {
    let file =
        b"invitation = \"gridbay1secret\"\nname = \"a\"\n[sell]\nunits = 3\nprice = \"2.5\"\n";
    let mut dice: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut roll = |sides: usize| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        usize::try_from(dice % sides as u64).unwrap()
    };
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..5_000 {
        let mut bytes = file.to_vec();
        for _ in 0..=roll(4) {
            let at = roll(bytes.len());
            match roll(3) {
                0 => bytes[at] = u8::try_from(roll(256)).unwrap(),
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, *b"\"=[]#\n\0{}".get(roll(9)).unwrap()),
            }
        }
        match Config::parse(&bytes) {
            Ok(_) => taken += 1,
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().contains("secret"), "{error}");
                assert!(!error.hint().is_empty());
            }
        }
    }
    assert!(taken > 0 && refused > 0);
}
