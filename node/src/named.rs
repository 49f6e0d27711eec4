//! Closed lists of names that are the same in JSON, logs and metrics.

/// Declares an enum with the names of its variants ([`gridbay_protocol::named`]).
macro_rules! named {
    (
        $(#[$doc:meta])*
        pub enum $type:ident { $($(#[$about:meta])* $variant:ident = $name:literal,)* }
    ) => {
        gridbay_protocol::named! {
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
            #[derive(::serde::Serialize, ::serde::Deserialize)]
            pub enum $type as name { $($(#[$about])* #[serde(rename = $name)] $variant = $name,)* }
        }
    };
}
