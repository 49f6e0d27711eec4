//! Generated values: any shape a type allows, legal in the market or not.

mod effect;
mod order;

use crate::rng::Rng;
use crate::samples::key;
use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::appeal::Appeal;
use gridbay_protocol::block::{Block, Header};
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::evidence::Evidence;
use gridbay_protocol::ids::*;
use gridbay_protocol::invitation::{Grant, SignedGrant};
use gridbay_protocol::keys::{PublicKey, Signature};
use gridbay_protocol::offer::{DeadlineTerms, OfferTerms, PoolTerms, Primary, Reclaim};
use gridbay_protocol::order::Commit;
use gridbay_protocol::record::reservation::hint::{Hint, Placed, UnitRun};
use gridbay_protocol::units::{Credits, Price};
use gridbay_protocol::vote::{Certificate, CertificateSignature, Vote, VoteKind};

/// A generator with its pool of keys: making a key is dear.
pub(crate) struct Generator {
    pub(crate) rng: Rng,
    keys: Vec<PublicKey>,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Generator {
        Generator {
            rng: Rng(seed),
            keys: (100..116).map(|n| key(n).public()).collect(),
        }
    }
    fn key(&mut self) -> PublicKey {
        self.keys[self.rng.below(self.keys.len())]
    }
    fn signature(&mut self) -> Signature {
        Signature(self.rng.bytes())
    }
    fn id(&mut self) -> [u8; 32] {
        self.rng.bytes()
    }
    fn price(&mut self) -> Price {
        Price(self.rng.wide())
    }
    fn credits(&mut self) -> Credits {
        let micros = self.rng.wide() & Credits::MAX.micros();
        Credits::from_micros(micros).expect("masked to the range")
    }
    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.rng.below(2) == 0).then(|| make(self))
    }
    fn some<T>(&mut self, most: usize, make: impl Fn(&mut Self) -> T) -> Vec<T> {
        let n = self.rng.below(most + 1);
        (0..n).map(|_| make(self)).collect()
    }

    fn offer(&mut self) -> OfferTerms {
        OfferTerms {
            label: self.rng.narrow(),
            class: ClassId(self.id()),
            units: self.rng.narrow(),
            reserve: self.price(),
            buy_price: self.maybe(Self::price),
            reclaim: self
                .maybe(|g| Reclaim::Notice(g.rng.narrow()))
                .unwrap_or(Reclaim::None),
            mechanism: match self.rng.below(4) {
                0 => Primary::Ausubel,
                1 => Primary::Reservation,
                2 => Primary::Deadline(DeadlineTerms {
                    min_gain_ppm: self.rng.narrow(),
                    bond_ppm: self.rng.narrow(),
                }),
                _ => Primary::Share(PoolTerms {
                    cap_ppm: self.rng.narrow(),
                    sixteenths: self.rng.narrow(),
                }),
            },
            node: self.key(),
        }
    }
    fn grant(&mut self) -> Box<SignedGrant> {
        let grant = Grant {
            inviter: AccountId(self.id()),
            key: self.key(),
            token: self.key(),
            endowment: self.credits(),
            valid_until: self.rng.wide(),
        };
        Box::new(SignedGrant {
            grant,
            signature: self.signature(),
        })
    }
    fn account_key(&mut self) -> AccountKey {
        let roles = [Roles::ALL, Roles::SPEND, Roles::TRADE, Roles::OPERATE];
        AccountKey {
            key: self.key(),
            roles: roles[self.rng.below(4)],
        }
    }
    fn body(&mut self) -> EntryBody {
        match self.rng.below(19) {
            16 => EntryBody::Heartbeat {
                label: self.rng.narrow(),
            },
            17 => EntryBody::Complain {
                lease: LeaseId(self.id()),
                offer: OfferId(self.id()),
                slot: self.rng.wide(),
            },
            0 => EntryBody::SetKeys {
                keys: self.some(4, Self::account_key),
            },
            1 => EntryBody::OpenAccount {
                grant: self.maybe(Self::grant),
                keys: self.some(4, Self::account_key),
                endowment: self.credits(),
            },
            2 => EntryBody::RegisterBeacon {
                tip: Hash32(self.id()),
            },
            3 => EntryBody::Transfer {
                to: AccountId(self.id()),
                amount: self.credits(),
                memo: Hash32(self.id()),
            },
            4 => EntryBody::SetOffer(self.offer()),
            5 => EntryBody::WithdrawOffer {
                label: self.rng.narrow(),
            },
            6 => EntryBody::Deliver {
                lease: LeaseId(self.id()),
            },
            7 => EntryBody::Fail {
                lease: LeaseId(self.id()),
            },
            8 => EntryBody::Cancel {
                order: OrderId(self.id()),
            },
            9 => EntryBody::Commit(Commit {
                class: ClassId(self.id()),
                seal: Hash32(self.id()),
                bracket: self.rng.next() as u8,
            }),
            10 => EntryBody::Open(self.open()),
            11 => EntryBody::Buy(self.buy()),
            14 => EntryBody::Share(self.claim()),
            18 => EntryBody::CloseAccount {
                to: AccountId(self.id()),
            },
            13 => EntryBody::Contract(self.contract_entry()),
            12 => EntryBody::Appeal(Box::new(Appeal {
                key: self.key(),
                valid_until: self.rng.wide(),
                open: self.open(),
                receipts: self.some(3, Self::receipt),
            })),
            _ => EntryBody::Deadline(self.deadline()),
        }
    }
    pub(crate) fn entry(&mut self) -> SignedEntry {
        let entry = Entry {
            network: NetworkId(self.id()),
            account: AccountId(self.id()),
            key: self.key(),
            valid_until: self.rng.wide(),
            body: self.body(),
        };
        SignedEntry {
            entry,
            signature: self.signature(),
        }
    }

    fn hint(&mut self) -> Hint {
        Hint {
            class: ClassId(self.id()),
            placements: self.some(2, |g| Placed {
                order: OrderId(g.id()),
                start: g.rng.wide(),
                groups: g.some(2, |g| {
                    g.some(2, |g| UnitRun {
                        offer: OfferId(g.id()),
                        first: g.rng.narrow(),
                        // Within what a block may hold.
                        units: 1 + g.rng.below(100) as u32,
                    })
                }),
                channel: g.maybe(|g| g.rng.narrow()),
            }),
        }
    }
    fn vote(&mut self) -> Vote {
        Vote {
            kind: [VoteKind::Prevote, VoteKind::Precommit][self.rng.below(2)],
            height: self.rng.wide(),
            round: self.rng.narrow(),
            block: self.maybe(|g| BlockId(g.id())),
            validator: ValidatorId(self.id()),
        }
    }
    fn header(&mut self) -> Header {
        Header {
            format: self.rng.next() as u16,
            rules: self.rng.narrow(),
            network: NetworkId(self.id()),
            height: self.rng.wide(),
            time_ms: self.rng.wide(),
            parent: BlockId(self.id()),
            proposer: ValidatorId(self.id()),
            entries_root: Hash32(self.id()),
            effects_root: Hash32(self.id()),
            state_root: Hash32(self.id()),
            validators: Hash32(self.id()),
            next_validators: Hash32(self.id()),
            log_root: Hash32(self.id()),
            last_commit: Hash32(self.id()),
            beacon_reveal: Hash32(self.id()),
            evidence_root: Hash32(self.id()),
            hints_root: Hash32(self.id()),
        }
    }
    pub(crate) fn block(&mut self) -> Block {
        Block {
            header: self.header(),
            entries: self.some(2, Self::entry),
            last_commit: self.maybe(|g| Certificate {
                height: g.rng.wide(),
                round: g.rng.narrow(),
                block: BlockId(g.id()),
                signatures: g.some(2, |g| CertificateSignature {
                    validator: ValidatorId(g.id()),
                    signature: g.signature(),
                }),
            }),
            evidence: self.some(1, |g| Evidence {
                first: g.vote(),
                first_signature: g.signature(),
                second: g.vote(),
                second_signature: g.signature(),
            }),
            hints: self.some(2, Self::hint),
        }
    }
}
