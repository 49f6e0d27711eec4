//! One hash over many generated values per family: a wide net for changes of the wire form.

use crate::fixture::Fixture;
use crate::generate::Generator;
use gridbay_protocol::codec;
use gridbay_protocol::limits::BLOCK_BYTES;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// Values per family.
const VALUES: usize = 4_096;
const SEED: u64 = 0x6772_6964_6261_7901;

fn family<T>(fixture: &mut Fixture, name: &str, make: impl Fn(&mut Generator) -> T)
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let mut generator = Generator::new(SEED);
    let mut hasher = blake3::Hasher::new();
    for _ in 0..VALUES {
        let value = make(&mut generator);
        let bytes = codec::encode(&value);
        assert_eq!(codec::decode::<T>(&bytes, BLOCK_BYTES), Ok(value));
        hasher.update(&(bytes.len() as u64).to_be_bytes());
        hasher.update(&bytes);
    }
    fixture.pin(name, hasher.finalize().as_bytes());
}

#[test]
fn generated_values_keep_their_wire_form() {
    let mut fixture = Fixture::open("conformance");
    family(&mut fixture, "signed_entry", Generator::entry);
    family(&mut fixture, "effect", Generator::effect);
    family(&mut fixture, "block", Generator::block);
    family(&mut fixture, "receipt", Generator::receipt);
    fixture.close();
}
