//! Frames of the request and one-way protocols: how one message lies on a stream.
//!
//! A frame is a 4-byte big-endian length and as many bytes. A length above the cap is refused
//! before a byte of the body is read. Memory grows with the bytes that have come, never with the
//! length that was claimed. [`Reader`] takes the bytes in whatever pieces they come, and never asks
//! for one beyond the frame.

/// Bytes of the length.
pub const PREFIX: usize = 4;
/// Bytes reserved on the word of the sender.
const FIRST_BUFFER: usize = 4096;

/// A frame that announces more than its cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a frame of {announced} bytes, of which {cap} are allowed")]
pub struct TooLarge {
    /// Bytes announced.
    pub announced: usize,
    /// Bytes allowed.
    pub cap: usize,
}

/// Reads one frame.
#[derive(Clone, Debug)]
pub struct Reader {
    cap: usize,
    prefix: [u8; PREFIX],
    /// Bytes taken, of prefix and body.
    taken: usize,
    body: Vec<u8>,
}

impl Reader {
    /// Of a frame with at most so many bytes of body.
    pub fn new(cap: usize) -> Reader {
        Reader {
            cap,
            prefix: [0; PREFIX],
            taken: 0,
            body: Vec::new(),
        }
    }

    /// Length of the body, once its announcement is there.
    ///
    /// # Errors
    /// When it is above the cap; nothing more is taken then.
    pub fn announced(&self) -> Result<Option<usize>, TooLarge> {
        if self.taken < PREFIX {
            return Ok(None);
        }
        let announced = usize::try_from(u32::from_be_bytes(self.prefix)).unwrap_or(usize::MAX);
        let cap = self.cap;
        if announced > cap {
            return Err(TooLarge { announced, cap });
        }
        Ok(Some(announced))
    }

    /// How many more bytes it can take now: up to the end of the length first, then up to the end
    /// of the body; 0 when it is whole or refused.
    pub fn wants(&self) -> usize {
        match self.announced() {
            Ok(None) => PREFIX - self.taken,
            Ok(Some(announced)) => announced - self.body.len(),
            Err(_) => 0,
        }
    }

    /// Takes bytes as they come, as many as it [wants](Reader::wants); returns how many it took.
    pub fn take(&mut self, bytes: &[u8]) -> usize {
        let fits = bytes.len().min(self.wants());
        let bytes = &bytes[..fits];
        if self.taken < PREFIX {
            self.prefix[self.taken..self.taken + fits].copy_from_slice(bytes);
        } else {
            if self.body.capacity() == 0 {
                self.body.reserve_exact(self.wants().min(FIRST_BUFFER));
            }
            self.body.extend_from_slice(bytes);
        }
        self.taken += fits;
        fits
    }

    /// The body, if the frame is whole.
    pub fn whole(self) -> Option<Vec<u8>> {
        let announced = self.announced().ok().flatten()?;
        (self.body.len() == announced).then_some(self.body)
    }
}

/// The frame of a body; `None` if that is above the cap.
pub fn frame(body: &[u8], cap: usize) -> Option<Vec<u8>> {
    let size = u32::try_from(body.len())
        .ok()
        .filter(|_| body.len() <= cap)?;
    let mut frame = Vec::with_capacity(PREFIX + body.len());
    frame.extend_from_slice(&size.to_be_bytes());
    frame.extend_from_slice(body);
    Some(frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_the_pieces_a_frame_is_read_up_to_its_end() {
        let body: Vec<u8> = (0..100).collect();
        let stream = [frame(&body, 100).unwrap(), vec![99; 7]].concat();
        for piece in 1..stream.len() {
            let mut reader = Reader::new(100);
            let mut rest = stream.as_slice();
            while reader.wants() > 0 {
                let taken = reader.take(&rest[..piece.min(rest.len())]);
                rest = &rest[taken..];
            }
            assert_eq!(rest, [99; 7], "nothing beyond the frame is taken");
            assert_eq!(reader.whole(), Some(body.clone()));
        }
    }

    #[test]
    fn too_large_or_too_short_is_no_frame() {
        let mut reader = Reader::new(8);
        assert_eq!(reader.take(&[0, 0, 0, 9, 1, 2]), 4);
        let (announced, cap) = (9, 8);
        assert_eq!(reader.announced(), Err(TooLarge { announced, cap }));
        assert_eq!(
            (reader.wants(), reader.take(&[1]), reader.whole()),
            (0, 0, None)
        );
        assert_eq!(frame(&[0; 9], 8), None);
        let mut reader = Reader::new(8);
        reader.take(&[0, 0]);
        assert_eq!(
            (reader.announced(), reader.clone().whole()),
            (Ok(None), None)
        );
        reader.take(&[0, 3]);
        reader.take(&[1, 2]);
        assert_eq!((reader.wants(), reader.whole()), (1, None));
    }
}
