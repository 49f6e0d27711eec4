//! Choices from bytes: turns an input of a fuzzer into a sequence of decisions.
//!
//! Every choice takes the fewest bytes it needs from the front. An exhausted reader answers zero,
//! so every input is a whole sequence and a shorter input is a shorter one.

/// Reads choices from bytes.
#[derive(Clone, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Of an input.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }
    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }
    /// The next two bytes as a number.
    pub fn short(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }
    /// A number below `n`; 0 if `n` is.
    pub fn below(&mut self, n: usize) -> usize {
        let value = match n {
            0 | 1 => return 0,
            2..=0x100 => usize::from(self.byte()),
            _ => usize::from(self.short()) << 8 | usize::from(self.byte()),
        };
        value % n
    }
    /// One of several; `None` of none.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        let at = self.below(items.len());
        items.get(at).copied()
    }
    /// True about once in `n`.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }
    /// A number: mostly small, sometimes of any size or at an edge.
    pub fn number(&mut self) -> u64 {
        const EDGES: [u64; 8] = [
            0,
            1,
            u32::MAX as u64,
            1 << 32,
            1 << 40,
            i64::MAX as u64,
            1 << 63,
            u64::MAX,
        ];
        match self.byte() {
            small @ 0..=191 => u64::from(small),
            192..=223 => u64::from(self.short()),
            224..=247 => EDGES[self.below(EDGES.len())],
            _ => (0..8).fold(0, |n, _| n << 8 | u64::from(self.byte())),
        }
    }
    /// Up to `most` bytes, as many as the next choice says and the input holds.
    pub fn bytes(&mut self, most: usize) -> &'a [u8] {
        let n = self.below(most + 1).min(self.0.len());
        let (taken, rest) = self.0.split_at(n);
        self.0 = rest;
        taken
    }
    /// The rest of the input.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exhausted_reader_answers_zero() {
        let mut reader = Reader::new(&[7, 1]);
        assert_eq!((reader.byte(), reader.byte()), (7, 1));
        assert!(reader.is_empty());
        assert_eq!((reader.below(1_000), reader.number()), (0, 0));
        assert_eq!(reader.pick::<u8>(&[]), None);
        assert_eq!(reader.bytes(9), b"");
    }

    #[test]
    fn choices_stay_in_range() {
        let input: Vec<u8> = (0..=255).collect();
        let mut reader = Reader::new(&input);
        for n in [1, 2, 3, 255, 256, 257, 70_000] {
            assert!(reader.below(n) < n);
        }
        assert!(reader.bytes(5).len() <= 5);
    }
}
