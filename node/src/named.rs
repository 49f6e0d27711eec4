//! Closed lists of names that are the same in JSON, logs and metrics.

/// Declares an enum with the names of its variants ([`gridbay_protocol::named`]).
macro_rules! named {
    (
        $(#[$doc:meta])*
        pub enum $type:ident { $($(#[$about:meta])* $variant:ident = $name:literal,)* }
    ) => {
        gridbay_protocol::named! {
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
            #[derive(::serde::Serialize, ::serde::Deserialize)]
            $(#[$doc])*
            pub enum $type as name { $($(#[$about])* #[serde(rename = $name)] $variant = $name,)* }
        }

        // A derived one does not see the names.
        impl ::utoipa::PartialSchema for $type {
            fn schema() -> ::utoipa::openapi::RefOr<::utoipa::openapi::Schema> {
                ::utoipa::openapi::ObjectBuilder::new()
                    .schema_type(::utoipa::openapi::Type::String)
                    .enum_values(Some($type::ALL.map($type::name)))
                    .into()
            }
        }

        impl ::utoipa::ToSchema for $type {}
    };
}
