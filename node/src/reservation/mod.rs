//! Reservations: units that are free ahead of time, and those that are booked.

mod handle;
pub(crate) mod routes;
pub(crate) mod types;

/// Slots in a row of which equally many units are free: how many, the first slot, the last one.
pub(crate) fn runs(first: u64, free: &[u32]) -> Vec<(u32, u64, u64)> {
    let mut runs: Vec<(u32, u64, u64)> = Vec::new();
    for (slot, units) in (first..).zip(free) {
        match runs.last_mut() {
            Some((same, _, last)) if same == units => *last = slot,
            _ => runs.push((*units, slot, slot)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn slots_that_are_alike_are_one_run() {
        assert_eq!(runs(7, &[2, 2, 0, 1]), [(2, 7, 8), (0, 9, 9), (1, 10, 10)]);
        assert!(runs(7, &[]).is_empty());
    }
}
