//! The refusals that end with another state of the book.

use super::*;

/// Refusals, and whether the ledger may admit the same entry later.
fn table() -> Vec<(Refusal, bool)> {
    let (lease, seller) = (LeaseId([1; 32]), AccountId([1; 32]));
    let (offer, class) = (OfferId([1; 32]), ClassId([1; 32]));
    let least = Credits::ZERO;
    let room = 1;
    let unit_slots = 2;
    let work = Refusal::TooMuchWork {
        offer,
        unit_slots,
        room,
    };
    vec![
        // A slot without a sign of life takes the delivery back.
        (Refusal::NothingToDeliver { lease, seller }, true),
        // The seller sets the offer with more units, or a lower reserve.
        (work, true),
        (Refusal::BelowReserve { offer, least }, true),
        // The offer is withdrawn, and its label free for another class.
        (Refusal::OfferClass { offer, class }, true),
        (Refusal::NotPlanned(offer), true),
        // Nothing in the book changes these.
        (Refusal::NoClass(class), false),
        (Refusal::NotMember(seller), false),
        (Refusal::Used(EntryId([1; 32])), false),
    ]
}

#[test]
fn what_another_book_may_admit_may_pass_later() {
    for (refusal, later) in table() {
        assert_eq!(refusal.may_pass_later(), later, "{refusal}");
    }
}
