//! Founding a network, and joining it.

use crate::played;
use crate::world::credits;
use crate::{Ran, gridbay, playing};
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::invitation::{Grant, Invitation, SignedGrant};
use gridbay_protocol::keys::SecretKey;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use tokio::io::AsyncWriteExt as _;

/// A fresh folder that only its owner may enter.
fn private(path: &Path) {
    fs::create_dir(path).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
}

/// Founds a network of `ada` and `bob`, whose folders lie in `dir`.
async fn found(dir: &Path) -> (String, Genesis, Value) {
    for name in ["ada", "bob"] {
        let (home, out) = (dir.join(name), dir.join(format!("{name}.json")));
        private(&home);
        let words = [
            "found",
            "member",
            "--name",
            name,
            "--address",
            "/ip4/127.0.0.1/tcp/7411",
            "--credit-line",
            "50",
            "--out",
            out.to_str().unwrap(),
        ];
        let ran = gridbay(&home, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let secret = fs::read_to_string(home.join("keys/account.key")).unwrap();
        assert!(!fs::read_to_string(&out).unwrap().contains(secret.trim()));
    }
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let (ada, bob, out) = (path("ada.json"), path("bob.json"), path("genesis.cbor"));
    let words = [
        "found",
        "--name",
        "lab",
        "--policy",
        "local",
        "-o",
        "json",
        "--member",
        &bob,
        &ada,
        "--class",
        "name=small,vcpu=1,price=1",
        "name=big,vcpu=4,memory=4GiB,price=3",
        "--out",
        &out,
    ];
    let founded = gridbay(dir, &words).await.json();
    let genesis = Genesis::decode(&fs::read(&out).unwrap()).unwrap();
    (out, genesis, founded)
}

#[tokio::test]
async fn founding_keeps_keys_at_home_and_members_join_with_the_genesis() {
    let dir = tempfile::tempdir().unwrap();
    let (file, genesis, founded) = found(dir.path()).await;
    assert_eq!(founded["network"], genesis.network().to_hex());
    assert_eq!((genesis.members.len(), genesis.classes.len()), (2, 2));
    assert_eq!(genesis.validators().unwrap().total_power(), 2);

    let ada = dir.path().join("ada");
    let join = ["join", &file, "-o", "json"];
    let joined = gridbay(&ada, &join).await.json();
    assert_eq!(joined["by"], "genesis");
    assert_eq!(joined["already"], false);
    assert_eq!(joined["network"], founded["network"]);
    let again = gridbay(&ada, &join).await;
    assert_eq!(again.code, 0, "again changes nothing");
    assert_eq!(again.json()["already"], true);
    assert!(again.err.contains("belongs to this network already"));
    let mut other = genesis.clone();
    other.name = "other".into();
    let ran = gridbay(&ada, &["join", &invitation(&other).to_text()]).await;
    assert_eq!(ran.code, 9);
    assert!(ran.err.contains("belongs to network"), "{}", ran.err);
}

#[tokio::test]
async fn others_join_by_an_invitation_that_is_checked() {
    let dir = tempfile::tempdir().unwrap();
    let (file, genesis, _) = found(dir.path()).await;
    let eve = dir.path().join("eve");
    private(&eve);
    let join = ["join", file.as_str()];
    let stranger = gridbay(&eve, &join).await;
    assert_eq!(stranger.code, 3, "no keys, no member");
    for part in ["has no keys of one", "ask a member for an invitation"] {
        assert!(stranger.err.contains(part), "{part}: {}", stranger.err);
    }
    let invitation = invitation(&genesis);
    let words = ["join", &invitation.to_text(), "-o", "json"];
    assert_eq!(gridbay(&eve, &words).await.json()["by"], "invitation");
    let mode = fs::metadata(eve.join("invitation"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(gridbay(&eve, &join).await.code, 9, "her key is no member's");

    let mut forged = invitation;
    forged.token_seed = [8; 32];
    let bob = dir.path().join("bob");
    assert_eq!(gridbay(&bob, &["join", &forged.to_text()]).await.code, 9);
}

fn invitation(genesis: &Genesis) -> Invitation {
    let (inviter, seed) = (SecretKey::from_seed(&[1; 32]), [2; 32]);
    let grant = Grant {
        inviter: AccountId([4; 32]),
        key: inviter.public(),
        token: SecretKey::from_seed(&seed).public(),
        endowment: credits("5"),
        valid_until: 99,
    };
    let network = genesis.network();
    Invitation {
        network,
        grant: SignedGrant::new(&network, grant, &inviter),
        token_seed: seed,
        bootstrap: vec![],
    }
}

#[tokio::test]
async fn an_invitation_travels_as_file_as_disk_and_as_code() {
    let dir = tempfile::tempdir().unwrap();
    let (_, genesis, _) = found(dir.path()).await;
    let text = invitation(&genesis).to_text();
    let at = playing(played::invitation(text.clone())).await;
    let data = at.world.dir.path();
    let words = [
        "invite", "--file", "token", "--image", "disk", "--owner", "--qr",
    ];
    let ran = gridbay(data, &words).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.lines().count() > 20 && !ran.out.contains("gridbay1"));
    let key = gridbay(data, &["appliance", "key"]).await;
    let owner = format!("owner = \"{}\"", key.out.trim());
    let disk = fs::read(data.join("disk")).unwrap();
    assert!(String::from_utf8_lossy(&disk).contains(&owner));
    let mode = |name: &str| fs::metadata(data.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("token"), mode("disk")), (0o600, 0o600));
    let again = gridbay(data, &words).await;
    assert_eq!(again.code, 9, "nothing is overwritten");
    let told = "gridbay: the invitation was not written\n    why: token exists";
    assert!(again.err.starts_with(told), "{}", again.err);
    for (name, with) in [
        ("a", data.join("token").to_str().unwrap().to_owned()),
        ("b", data.join("disk").to_str().unwrap().to_owned()),
        ("c", text.to_ascii_uppercase()),
    ] {
        let home = dir.path().join(name);
        private(&home);
        let joined = gridbay(&home, &["join", &with, "-o", "json"]).await.json();
        assert_eq!(joined["network"], genesis.network().to_hex(), "{name}");
    }
    let mut broken = fs::read(data.join("disk")).unwrap();
    broken[19 * 512 + 32..19 * 512 + 96].fill(0xe5);
    fs::write(data.join("broken"), broken).unwrap();
    let home = dir.path().join("d");
    private(&home);
    let broken = data.join("broken");
    let ran = gridbay(&home, &["join", broken.to_str().unwrap()]).await;
    assert_eq!(ran.code, 9);
    assert!(
        ran.err.contains("a disk image without invite.toml"),
        "{}",
        ran.err
    );
    at.stop().await;
}

#[tokio::test]
async fn a_refused_invitation_is_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let (_, genesis, _) = found(dir.path()).await;
    let mut other = genesis.clone();
    other.name = "another".into();
    let home = dir.path().join("eve");
    private(&home);
    let good = invitation(&genesis);
    assert_eq!(gridbay(&home, &["join", &good.to_text()]).await.code, 0);
    let mut forged = good.clone();
    forged.grant.grant.endowment = credits("500");
    let foreign = invitation(&other);
    let cut = good.to_text()[..200].to_owned();
    for (text, why) in [
        (forged.to_text(), "a forged invitation"),
        (foreign.to_text(), "belongs to network"),
        (cut, "an invitation that is cut or mistyped"),
    ] {
        let ran = gridbay(&home, &["join", &text]).await;
        assert_eq!(ran.code, 9, "{}", ran.err);
        assert!(ran.err.contains(why), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 3, "{}", ran.err);
    }
}

/// `join` with words, and an invitation on standard input.
async fn join_from(data: &Path, words: &[&str], input: &str) -> Ran {
    let mut command = crate::command(data, words);
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).await.unwrap();
    drop(stdin);
    Ran::of(child.wait_with_output().await.unwrap())
}

#[tokio::test]
async fn an_invitation_need_not_be_a_word_of_the_command() {
    let dir = tempfile::tempdir().unwrap();
    let (_, genesis, _) = found(dir.path()).await;
    let text = invitation(&genesis).to_text();
    let file = dir.path().join("token");
    fs::write(&file, format!("{text}\n")).unwrap();
    let file = file.to_str().unwrap();
    let home = |name: &str| {
        let home = dir.path().join(name);
        private(&home);
        home
    };
    for (name, words) in [
        ("file", ["join", "--file", file].as_slice()),
        ("word", &["join", file]),
        ("input", &["join", "--file", "-"]),
        ("dash", &["join", "-"]),
    ] {
        let words = [words, &["-o", "json"]].concat();
        let ran = join_from(&home(name), &words, &text).await;
        assert_eq!(ran.json()["network"], genesis.network().to_hex(), "{name}");
        assert!(!ran.err.contains("history"), "{name}: {}", ran.err);
    }
    let ran = gridbay(&home("seen"), &["join", &text]).await;
    assert_eq!(ran.code, 0);
    assert!(
        ran.err.contains("history") && !ran.err.contains(&text),
        "{}",
        ran.err
    );

    let nothing = home("nothing");
    for (words, input, code) in [
        (["join"].as_slice(), "", 2),
        (&["join", "--file", file, "-"], "", 2),
        (&["join", "-"], "", 9),
        (&["join", "--file", "-"], "no invitation", 9),
        (&["join", "--file", "none"], "", 3),
        // A secret is no name of a file, however wrong it is.
        (&["join", "--file", &text], "", 3),
    ] {
        let ran = join_from(&nothing, words, input).await;
        assert_eq!(ran.code, code, "{words:?}: {}", ran.err);
        assert!(!ran.err.contains(&text), "{words:?}: {}", ran.err);
        if code == 9 {
            assert!(ran.err.contains("why: standard input"), "{}", ran.err);
        }
    }
    assert!(!nothing.join("invitation").exists());
}
