//! What a stranger can check.
