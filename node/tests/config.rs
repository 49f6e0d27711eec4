//! Settings: layers, origins, refusals.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use gridbay_node::config::{Config, ConfigError, Home, Origin, Sources, schema};
use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

fn home(text: &str) -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::new(dir.path());
    fs::write(home.config_file(), text).unwrap();
    (dir, home)
}

fn sources(env: &[(&str, &str)], flags: &[&str]) -> Sources {
    Sources {
        env: env
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect(),
        flags: flags.iter().map(|f| (*f).to_owned()).collect(),
    }
}

#[test]
fn later_layers_win_and_say_so() {
    let (_dir, home) = home("name = \"file\"\ngrace = \"7s\"\n[limits]\ncontent = \"2MiB\"\n");
    let env = [
        ("GRIDBAY_GRACE", "8s"),
        ("GRIDBAY_LOG", "debug"),
        ("GRIDBAY_RANK", "3"),
    ];
    let sources = sources(&env, &["log=warn", "limits.stored=5"]);
    let config = Config::load(home.clone(), &sources).unwrap();
    assert_eq!(
        (config.name.as_str(), config.log.as_str()),
        ("file", "warn")
    );
    assert_eq!(config.grace, Duration::from_secs(8));
    assert_eq!((config.limits.content, config.limits.stored), (2 << 20, 5));
    assert_eq!(config.api.socket, home.path().join("api.sock"));

    let shown = Config::show(&home, &sources).unwrap();
    let origin = |key: &str| shown.iter().find(|s| s.key == key).unwrap().origin;
    assert_eq!(origin("name"), Origin::File);
    assert_eq!(origin("grace"), Origin::Env);
    assert_eq!(origin("log"), Origin::Flag);
    assert_eq!(origin("limits.output"), Origin::Default);
    assert_eq!(shown.len(), schema::KEYS.len());
}

#[test]
fn lists_and_offers_in_every_layer() {
    let (_dir, home) = home(concat!(
        "listen = [\"/ip4/127.0.0.1/tcp/0\"]\n",
        "[[offers]]\nclass = \"small\"\nunits = 4\nreserve = \"2.5\"\nbuy = 6\n",
    ));
    let config = Config::load(home.clone(), &Sources::default()).unwrap();
    assert_eq!(config.listen.len(), 1);
    let offer = &config.offers[0];
    assert_eq!(offer.reserve.to_string(), "2.5");
    assert_eq!(offer.buy.unwrap().to_string(), "6");
    assert_eq!(offer.notice, None);

    let flags = [
        "listen=/ip4/127.0.0.1/tcp/1,/ip4/127.0.0.1/udp/1/quic-v1",
        r#"offers=[{class="big",units=1,reserve="0.1",notice=30}]"#,
    ];
    let config = Config::load(home, &sources(&[], &flags)).unwrap();
    assert_eq!(config.listen.len(), 2);
    assert_eq!(config.offers[0].class, "big");
    assert_eq!(config.offers[0].notice, Some(30));
}

#[test]
fn unknown_keys_are_refused() {
    for (file, flag, name) in [
        ("colour = 1", None, "colour"),
        ("[api]\nsockett = 1", None, "api.sockett"),
        ("", Some("limits.contents=1"), "limits.contents"),
        ("data = \"elsewhere\"", None, "data"),
    ] {
        let (_dir, home) = home(file);
        let flags: Vec<&str> = flag.into_iter().collect();
        match Config::load(home, &sources(&[], &flags)) {
            Err(ConfigError::UnknownKey { name: found, .. }) => assert_eq!(found, name),
            other => panic!("{other:?}"),
        }
    }
    let (_dir, home) = home("[[offers]]\nclass=\"a\"\nunits=1\nreserve=1\nprice=2");
    let error = Config::load(home, &Sources::default()).unwrap_err();
    assert!(
        error.to_string().contains("unknown field `price`"),
        "{error}"
    );
}

#[test]
fn values_out_of_range_name_key_and_origin() {
    for (flag, says) in [
        (
            "api.listen=0.0.0.0:80",
            "api.listen (flag): `0.0.0.0:80` is neither",
        ),
        ("listen=", "listen (flag): want 1 to"),
        (
            "listen=127.0.0.1:1",
            "listen (flag): `127.0.0.1:1` is no address",
        ),
        ("grace=soon", "grace (flag): `soon` is no duration"),
        (
            "limits.content=4G",
            "limits.content (flag): `4G` is no size",
        ),
        ("api.connections=0", "api.connections (flag): want a number"),
        (
            "api.connections=x",
            "api.connections (flag): `x` is no whole",
        ),
        ("name=a b", "name (flag): want 1 to 64"),
        ("offers=7", "offers (flag): "),
        (
            r#"offers=[{class="a",units=1,reserve=0.5}]"#,
            "offers (flag): want credits in quotes",
        ),
        ("name", "`name` is no key=value"),
    ] {
        let (_dir, home) = home("");
        let error = Config::load(home, &sources(&[], &[flag])).unwrap_err();
        assert!(error.to_string().starts_with(says), "{flag}: {error}");
    }
    let (_dir, home) = home("a = 1\nb = \n");
    let error = Config::load(home, &Sources::default()).unwrap_err();
    assert!(
        matches!(error, ConfigError::Syntax { line: 2, .. }),
        "{error}"
    );
}

#[test]
fn a_socket_path_that_cannot_be_is_refused() {
    let home = Home::new(format!("/tmp/{}", "x".repeat(120)));
    let error = Config::load(home, &Sources::default()).unwrap_err();
    assert!(error.to_string().contains("107 bytes"), "{error}");
}

#[test]
fn names_and_variables_are_unique() {
    let names: BTreeSet<_> = schema::KEYS.iter().map(|k| k.name).collect();
    let variables: BTreeSet<_> = schema::KEYS.iter().map(|k| k.variable()).collect();
    assert_eq!(names.len(), schema::KEYS.len());
    assert_eq!(variables.len(), schema::KEYS.len());
    assert_eq!(
        schema::find("api.listen").unwrap().variable(),
        "GRIDBAY_API_LISTEN"
    );
}
