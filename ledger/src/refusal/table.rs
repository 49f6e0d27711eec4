//! Refusals are declared once, each with its word, its text, its hint and whether it may pass.

/// Declares a kind of refusals and the list of their words. Each is `Variant = "word", when:
/// "text", "hint";`, where `when` says whether the same entry may be accepted at a later height:
/// `later`, `never`, or `depends` on the numbers, which a method of that name judges. Behind
/// `@inner` stand kinds of refusals of their own.
macro_rules! refusals {
    (
        $(#[$doc:meta])*
        [$($copy:ident),*] $type:ident, $words:ident;
        $(
            $(#[doc = $about:literal])+
            $name:ident $(($($tuple:tt)*))? $({ $($fields:tt)* })? = $word:literal, $when:ident:
            $text:tt, $hint:literal;
        )*
        $(@inner $($(#[$inside:meta])* $inner:ident($kind:ident);)*)?
    ) => {
        $(#[$doc])*
        #[derive($($copy,)* Debug, PartialEq, Eq, thiserror::Error)]
        #[expect(missing_docs, reason = "the text of a refusal tells what its fields are")]
        pub enum $type {
            $(
                $(#[doc = $about])+
                #[error($text)]
                $name $(($($tuple)*))? $({ $($fields)* })?,
            )*
            $($($(#[$inside])* #[error(transparent)] $inner(#[from] $kind),)*)?
        }

        /// All words of this kind of refusal, with what they tell people.
        pub const $words: &[gridbay_protocol::told::Told] = &[
            $(gridbay_protocol::told::Told::new($word, concat!($($about),+), $hint)),*
        ];

        impl $type {
            /// The reason in a word, as users and programs see it everywhere.
            pub fn word(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => $word,)*
                    $($(Self::$inner(why) => why.word(),)*)?
                }
            }

            /// Advice to the user.
            pub fn hint(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => $hint,)*
                    $($(Self::$inner(why) => why.hint(),)*)?
                }
            }

            /// Whether the same entry may be accepted at a later height. If not, it can be
            /// forgotten.
            ///
            /// An order may end, and then its amendment is let go; a word about a slot may be right
            /// already for a node that is a block ahead of this one. A delivery counts anew after a
            /// slot without a sign of life. An offer's class, units and reserve change when its
            /// seller sets it anew, or under a label that was free again.
            pub fn may_pass_later(&self) -> bool {
                match self {
                    $(Self::$name { .. } => refusals!(@$when self),)*
                    $($(Self::$inner(why) => why.may_pass_later(),)*)?
                }
            }
        }
    };
    (@later $refusal:ident) => { true };
    (@never $refusal:ident) => { false };
    (@depends $refusal:ident) => { $refusal.depends() };
}
