//! The word that tells this program to be a node.

/// The hidden first word: the words behind it are for the node's command line.
pub const NODE_WORD: &str = "__gridbay";
