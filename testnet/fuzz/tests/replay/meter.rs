//! Counts the bytes that a thread holds: the allocator of this test binary alone.

// An allocator cannot be written without unsafe code; this one only counts and passes on.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

fn count(bytes: isize) {
    // A thread that ends has no counters any more.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

// SAFETY: every call goes to the system's allocator with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that `work` held at once beyond what was held before.
pub(crate) fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    PEAK.set(before);
    let result = work();
    let peak = PEAK.get() - before;
    (result, usize::try_from(peak).unwrap_or(0))
}

#[test]
fn the_peak_of_nested_allocations_is_seen() {
    let (len, peak) = peak(|| {
        drop(vec![1u8; 100_000]);
        vec![2u8; 5_000].len()
    });
    assert_eq!(len, 5_000);
    assert!((100_000..110_000).contains(&peak), "{peak}");
}
