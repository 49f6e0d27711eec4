//! Closed lists of names.

/// Declares an enum, all of its variants as `ALL`, in order, and a method that names each.
#[macro_export]
macro_rules! named {
    (
        $(#[$doc:meta])*
        $vis:vis enum $type:ident as $method:ident {
            $($(#[$about:meta])* $variant:ident = $name:literal,)*
        }
    ) => {
        $(#[$doc])*
        $vis enum $type { $($(#[$about])* $variant,)* }

        impl $type {
            /// All of them, in order.
            pub const ALL: [$type; [$($name),*].len()] = [$($type::$variant),*];

            /// Its name, the same wherever it is written.
            #[must_use]
            pub const fn $method(self) -> &'static str {
                match self { $($type::$variant => $name,)* }
            }
        }
    };
}
