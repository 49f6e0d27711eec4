//! The ledger host: consensus, write-ahead log, block file, mempool and sync, driven by effects.
