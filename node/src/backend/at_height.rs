//! Answers that hold as long as the ledger stands at one height.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Answers kept at a time; with one more, all are given up.
const KEPT: usize = 64;

/// What was answered at the last height that was asked about.
#[derive(Debug)]
pub(crate) struct AtHeight<K, V>(Mutex<(u64, BTreeMap<K, Arc<V>>)>);

impl<K, V> Default for AtHeight<K, V> {
    fn default() -> AtHeight<K, V> {
        AtHeight(Mutex::new((0, BTreeMap::new())))
    }
}

impl<K: Ord, V> AtHeight<K, V> {
    /// The answer at a height, if it is here.
    pub(crate) fn get(&self, height: u64, key: &K) -> Option<Arc<V>> {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, answers) = &*inner;
        answers.get(key).filter(|_| *at == height).cloned()
    }

    /// Keeps an answer, in place of those at lower heights.
    pub(crate) fn put(&self, height: u64, key: K, answer: V) -> Arc<V> {
        let answer = Arc::new(answer);
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.0 < height || inner.1.len() >= KEPT {
            *inner = (height.max(inner.0), BTreeMap::new());
        }
        if inner.0 == height {
            inner.1.insert(key, Arc::clone(&answer));
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_goes_with_its_height() {
        let kept = AtHeight::default();
        assert_eq!(kept.get(5, &'a'), None);
        kept.put(5, 'a', 1);
        kept.put(5, 'b', 2);
        assert_eq!(kept.get(5, &'a').as_deref(), Some(&1));
        assert_eq!(kept.get(6, &'a'), None);
        kept.put(6, 'b', 3);
        assert_eq!(kept.get(5, &'a'), None);
        // An answer that took long does not push out newer ones.
        assert_eq!(*kept.put(5, 'a', 9), 9);
        assert_eq!(kept.get(6, &'b').as_deref(), Some(&3));
        assert_eq!(kept.get(6, &'a'), None);
    }

    #[test]
    fn answers_have_a_bound() {
        let kept = AtHeight::default();
        for key in 0..3 * KEPT {
            kept.put(1, key, key);
        }
        let here = (0..3 * KEPT).filter(|key| kept.get(1, key).is_some());
        assert!((1..=KEPT).contains(&here.count()));
    }
}
