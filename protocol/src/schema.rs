//! The JSON of the types whose own serde forms do not tell it: ids and keys as hex, amounts as
//! decimal text, as the API of a node has them.

use crate::effect::Effect;
use crate::ids::{
    AccountId, BlockId, ClassId, ContentId, EntryId, Hash32, LeaseId, NetworkId, OfferId, OrderId,
    ValidatorId,
};
use crate::keys::PublicKey;
use crate::units::Credits;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{Object, ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// A text of one form.
fn text(pattern: &str, about: &str) -> RefOr<Schema> {
    let text = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some(pattern))
        .description(Some(about));
    text.build().into()
}

macro_rules! hex {
    ($($type:ident: $about:literal,)*) => {$(
        impl PartialSchema for $type {
            fn schema() -> RefOr<Schema> {
                text("^[0-9a-f]{64}$", concat!($about, ", in hex."))
            }
        }
        impl ToSchema for $type {}
    )*};
}

hex! {
    AccountId: "Id of an account",
    BlockId: "Id of a block",
    ClassId: "Id of a class of units",
    ContentId: "Hash of a file's content",
    EntryId: "Id of an entry",
    Hash32: "Hash of 32 bytes",
    LeaseId: "Id of a lease",
    NetworkId: "Id of a network",
    OfferId: "Id of an offer",
    OrderId: "Id of an order",
    PublicKey: "A public key",
    ValidatorId: "Id of a validator",
}

impl PartialSchema for Credits {
    fn schema() -> RefOr<Schema> {
        let about = "An amount in credits, at most 9223372036854.775807.";
        text(r"^[0-9]{1,13}(\.[0-9]{1,6})?$", about)
    }
}

impl ToSchema for Credits {}

impl PartialSchema for Effect {
    fn schema() -> RefOr<Schema> {
        let about = "An effect of a block, as on the ledger: an object with its name.";
        let object = Object::with_type(Type::Object);
        ObjectBuilder::from(object)
            .description(Some(about))
            .build()
            .into()
    }
}

impl ToSchema for Effect {}
