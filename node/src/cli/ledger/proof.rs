//! `ledger proof` and `ledger check`: payments that are proved to a stranger, who needs the genesis
//! and no word of the node that made the proof.
//!
//! 1. The header is of this network and of the height told, and more than two thirds of the power
//!    of that height's validators signed it.
//! 2. Each payment is among the effects that the header commits to, and moves the account's money.

use super::of;
use crate::api::client::Client;
use crate::api::types::{EffectProof, PaymentProof, ProvedPayment};
use crate::cli::chain::{HEADER_BYTES, SIGNED_BYTES, validators_at};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _, chain};
use crate::cli::exit::Exit;
use crate::cli::meant::Meant;
use crate::cli::text;
use crate::ledger::proof::is_of;
use crate::ui::Table;
use gridbay_ledger::light;
use gridbay_ledger::log::LogProofError;
use gridbay_protocol::block::Header;
use gridbay_protocol::codec::{self, CodecError};
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::NetworkId;
use gridbay_protocol::validator::ValidatorSet;
use gridbay_protocol::vote::{Certificate, CertificateError};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Bytes of a file with a proof at the most.
const FILE_BYTES: u64 = 4 * 1024 * 1024;
const UNCHECKED: &str = "the payments were not checked";

/// Why payments are not what they claim.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum PaymentError {
    /// Not canonical bytes; names them.
    #[error("the {0} cannot be read")]
    Bytes(&'static str, #[source] CodecError),
    /// The block does not fit; names what.
    #[error("wrong {0}")]
    Block(&'static str),
    /// The certificate proves nothing.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// A payment moves nothing of the account.
    #[error("a payment of another account")]
    Stranger,
    /// A payment is told more than once, or out of order.
    #[error("a payment twice, or out of order")]
    Twice,
    /// A payment is not in the block.
    #[error("a payment is not in block {height}")]
    NotInBlock {
        /// Height of the block.
        height: u64,
        /// The fault of its proof.
        source: LogProofError,
    },
}

/// Makes a proof of a block's payments to or from an account, behind the first ones; and writes it
/// to a file or prints it.
pub(super) async fn make(
    at: &Context,
    client: &Client,
    (height, account, after): (u64, Option<Meant>, u64),
    out: Option<&Path>,
) -> Result<(), CliError> {
    let what = "the payments were not proved";
    let account = of(account, '&');
    let path = format!("/ledger/proof?height={height}&after={after}{account}");
    let proof: PaymentProof = client.get(&path).await.during(what)?;
    let Some(path) = out else {
        return at.tell(&proof, told);
    };
    let json =
        serde_json::to_string(&proof).map_err(|error| CliError::fault(what, error.to_string()))?;
    fs::write(path, json + "\n").map_err(|error| {
        let why = format!("{}: {error}", path.display());
        CliError::new(Exit::FAILED, what, why, "name a file that can be written")
    })
}

/// Checks a file with a proof.
pub(super) async fn check(
    at: &Context,
    client: &Client,
    file: &Path,
    genesis: Option<PathBuf>,
) -> Result<(), CliError> {
    let genesis = at.genesis(genesis.as_deref())?;
    let proof = read(file)?;
    let header = header(&proof).map_err(|error| wrong(&error))?;
    let set = validators_at(at, client, &genesis, header.height, header.validators).await?;
    verify_payments(&proof, genesis.network(), &set).map_err(|error| wrong(&error))?;
    at.tell(&proof, |proof| {
        "ok: signed by the validators\n".to_owned() + &told(proof)
    })
}

fn read(file: &Path) -> Result<PaymentProof, CliError> {
    let failed = |why: String| {
        let why = format!("{}: {why}", file.display());
        CliError::new(
            Exit::USAGE,
            UNCHECKED,
            why,
            "name a file of gridbay ledger proof",
        )
    };
    let open = File::open(file).map_err(|error| failed(error.to_string()))?;
    let mut bytes = Vec::new();
    let mut some = open.take(FILE_BYTES + 1);
    some.read_to_end(&mut bytes)
        .map_err(|error| failed(error.to_string()))?;
    if bytes.len() as u64 > FILE_BYTES {
        return Err(failed("too large for a proof".to_owned()));
    }
    serde_json::from_slice(&bytes).map_err(|error| failed(format!("no proof: {error}")))
}

fn wrong(error: &PaymentError) -> CliError {
    let what = "the payments are not what they claim";
    let next = "do not trust who gave the file; ask another node for the proof";
    CliError::new(Exit::FAILED, what, chain(error), next)
}

fn header(proof: &PaymentProof) -> Result<Header, PaymentError> {
    codec::decode(&proof.header.0, HEADER_BYTES).map_err(|e| PaymentError::Bytes("header", e))
}

/// Checks payments of a network against validators of their height that the caller trusts.
fn verify_payments(
    proof: &PaymentProof,
    network: NetworkId,
    set: &ValidatorSet,
) -> Result<(), PaymentError> {
    let header = header(proof)?;
    let certificate: Certificate = codec::decode(&proof.certificate.0, SIGNED_BYTES)
        .map_err(|e| PaymentError::Bytes("certificate", e))?;
    let wrong = [
        ("network", header.network != network),
        ("height", header.height != proof.height),
        ("validators", header.validators != set.hash()),
        ("certificate height", certificate.height != header.height),
        ("certificate block", certificate.block != header.id()),
        ("number of payments", proof.payments.is_empty()),
    ];
    if let Some((what, _)) = wrong.into_iter().find(|(_, wrong)| *wrong) {
        return Err(PaymentError::Block(what));
    }
    certificate.verify(&network, set)?;
    let mut before = None;
    for payment in &proof.payments {
        let index = included(proof, &header, payment)?;
        if before.replace(index).is_some_and(|last| last >= index) {
            return Err(PaymentError::Twice);
        }
    }
    Ok(())
}

/// The payment's place among the effects of the block.
fn included(
    proof: &PaymentProof,
    header: &Header,
    payment: &ProvedPayment,
) -> Result<u64, PaymentError> {
    if !is_of(&proof.account, &payment.posting) {
        return Err(PaymentError::Stranger);
    }
    let place: EffectProof = codec::decode(&payment.proof.0, SIGNED_BYTES)
        .map_err(|e| PaymentError::Bytes("way to a payment", e))?;
    let effect = Effect::Posting(payment.posting);
    light::effect(header, &effect, place.index, place.size, &place.proof).map_err(|source| {
        PaymentError::NotInBlock {
            height: header.height,
            source,
        }
    })?;
    Ok(place.index)
}

fn told(proof: &PaymentProof) -> String {
    let head = text::fields(&[
        ("account", proof.account.to_hex()),
        ("height", proof.height.to_string()),
    ]);
    let own = gridbay_protocol::payment::Purse::Account(proof.account);
    let sign = |payment: &ProvedPayment| if payment.posting.from == own { "-" } else { "" };
    let table = Table::of(
        &proof.payments,
        &[
            (">AMOUNT", &|p| format!("{}{}", sign(p), p.posting.amount)),
            ("REASON", &|p| {
                format!("{:?}", p.posting.reason).to_ascii_lowercase()
            }),
            ("ORDER", &|p| text::or_dash(p.posting.order)),
        ],
    );
    head + &table + &left_out(proof)
}

/// The payments of the block that the proof does not cover, by the word of who made it.
fn left_out(proof: &PaymentProof) -> String {
    let (shown, after) = (proof.payments.len() as u64, proof.after);
    let last = after.saturating_add(shown);
    let Some(in_all) = proof.in_all.filter(|in_all| *in_all > shown) else {
        return String::new();
    };
    let mut text = format!(
        "these are payments {} to {last} of {in_all} of the account in this block, as the node \
         counts that made the proof\n",
        after.saturating_add(1)
    );
    if last < in_all {
        let (height, account) = (proof.height, proof.account);
        text += &format!(
            "the next ones: gridbay ledger proof {height} --account {account} --after {last}\n"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::types::Hex;
    use gridbay_ledger::log::{merkle_root, prove_in_list};
    use gridbay_protocol::effect::OrderEnd;
    use gridbay_protocol::genesis::{FORMAT, RULES};
    use gridbay_protocol::hash::Domain;
    use gridbay_protocol::ids::{AccountId, BlockId, Hash32, OrderId};
    use gridbay_protocol::keys::SecretKey;
    use gridbay_protocol::payment::{Posting, Purse, Reason};
    use gridbay_protocol::units::Credits;
    use gridbay_protocol::validator::{Validator, validator_id};
    use gridbay_protocol::vote::CertificateSignature;

    const NETWORK: NetworkId = NetworkId([8; 32]);

    fn key() -> SecretKey {
        SecretKey::from_seed(&[7; 32])
    }

    fn set() -> ValidatorSet {
        let key = key().public();
        let one = Validator {
            id: validator_id(&key),
            key,
            node: key,
            account: AccountId([1; 32]),
            power: 1,
        };
        ValidatorSet::new(vec![one]).unwrap()
    }

    fn block(effects_root: Hash32) -> Header {
        let none = Hash32::default();
        Header {
            format: FORMAT,
            rules: RULES,
            network: NETWORK,
            height: 8,
            time_ms: 8,
            parent: BlockId::default(),
            proposer: set().members()[0].id,
            entries_root: none,
            effects_root,
            state_root: none,
            validators: set().hash(),
            next_validators: set().hash(),
            log_root: none,
            last_commit: none,
            beacon_reveal: none,
            evidence_root: none,
            hints_root: none,
        }
    }

    fn certify(header: &Header) -> Certificate {
        let mut certificate = Certificate {
            height: header.height,
            round: 0,
            block: header.id(),
            signatures: vec![],
        };
        let validator = validator_id(&key().public());
        let vote = codec::encode(&certificate.vote(validator));
        certificate.signatures.push(CertificateSignature {
            validator,
            signature: key().sign(Domain::Vote, &NETWORK, &vote),
        });
        certificate
    }

    /// A block with two payments to account 1 and something between them.
    fn good() -> PaymentProof {
        let order = OrderId([3; 32]);
        let pay = |micros| Posting {
            from: Purse::Escrow(order),
            to: Purse::Account(AccountId([1; 32])),
            amount: Credits::from_micros(micros).unwrap(),
            reason: Reason::Release,
            order: Some(order),
        };
        let end = OrderEnd::Served;
        let between = Effect::Order { order, end };
        let effects = [Effect::Posting(pay(5)), between, Effect::Posting(pay(7))];
        let leaves: Vec<[u8; 32]> = effects.iter().map(Effect::leaf).collect();
        let header = block(Hash32(merkle_root(&leaves)));
        let payment = |(posting, index)| ProvedPayment {
            posting,
            proof: Hex(codec::encode(&EffectProof {
                index,
                size: 3,
                proof: prove_in_list(&leaves, index).unwrap(),
            })),
        };
        PaymentProof {
            account: AccountId([1; 32]),
            height: 8,
            header: Hex(codec::encode(&header)),
            certificate: Hex(codec::encode(&certify(&header))),
            validators: Hex(codec::encode(&set())),
            payments: [(pay(5), 0), (pay(7), 2)].map(payment).into(),
            after: 0,
            in_all: Some(2),
        }
    }

    #[test]
    fn payments_are_proved_and_survive_json() {
        verify_payments(&good(), NETWORK, &set()).unwrap();
        let json = serde_json::to_string(&good()).unwrap();
        let back: PaymentProof = serde_json::from_str(&json).unwrap();
        verify_payments(&back, NETWORK, &set()).unwrap();
        let told = super::told(&back);
        assert!(!told.contains("payments"), "{told}");
        let some = PaymentProof {
            in_all: Some(300),
            ..good()
        };
        verify_payments(&some, NETWORK, &set()).unwrap();
        let part = super::told(&some);
        assert!(part.contains("payments 1 to 2 of 300"), "{part}");
        assert!(
            part.contains("gridbay ledger proof 8 --account 0101"),
            "{part}"
        );
        assert!(part.contains("01 --after 2\n"), "{part}");
        let last = PaymentProof { after: 298, ..some };
        let part = super::told(&last);
        assert!(
            part.contains("payments 299 to 300 of 300") && !part.contains("next"),
            "{part}"
        );
        let old = json.replace(",\"after\":0,\"in_all\":2", "");
        assert_ne!(old, json);
        let old: PaymentProof = serde_json::from_str(&old).unwrap();
        assert_eq!((old.in_all, super::told(&old)), (None, told.clone()));
        assert!(
            told.contains("0.000007") && told.contains("release"),
            "{told}"
        );
    }

    #[test]
    fn every_change_is_found() {
        let changed = |change: fn(&mut PaymentProof)| {
            let mut proof = good();
            change(&mut proof);
            verify_payments(&proof, NETWORK, &set()).unwrap_err()
        };
        let more = changed(|proof| proof.payments[0].posting.amount = "9".parse().unwrap());
        assert!(
            matches!(more, PaymentError::NotInBlock { height: 8, .. }),
            "{more}"
        );
        let other = changed(|proof| proof.account = AccountId([2; 32]));
        assert_eq!(other, PaymentError::Stranger);
        let twice = changed(|proof| proof.payments[1] = proof.payments[0].clone());
        assert_eq!(twice, PaymentError::Twice);
        let none = changed(|proof| proof.payments.clear());
        assert_eq!(none, PaymentError::Block("number of payments"));
        let later = changed(|proof| proof.height = 9);
        assert_eq!(later, PaymentError::Block("height"));
        let garbage = changed(|proof| proof.header = Hex(vec![1, 2, 3]));
        assert!(
            matches!(garbage, PaymentError::Bytes("header", _)),
            "{garbage}"
        );
        let unsigned = changed(|proof| {
            let header: Header = codec::decode(&proof.header.0, HEADER_BYTES).unwrap();
            let mut certificate = certify(&header);
            certificate.signatures.clear();
            proof.certificate = Hex(codec::encode(&certificate));
        });
        assert!(
            matches!(unsigned, PaymentError::Certificate(_)),
            "{unsigned}"
        );
        let elsewhere = verify_payments(&good(), NetworkId([9; 32]), &set());
        assert_eq!(elsewhere, Err(PaymentError::Block("network")));
    }
}
