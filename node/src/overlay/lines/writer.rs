//! The end of a line that is written.

use std::collections::VecDeque;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, sleep_until, timeout};

use super::handler::News;
use super::{Id, PASSED_OVER, TAKEN};

/// Bytes beyond which no further frame is written along.
const BATCH: usize = 64 << 10;
/// Answers that are read at once.
const ANSWERS: usize = 64;

/// A frame to send.
#[derive(Clone, Debug)]
pub(crate) struct Parcel {
    pub(super) id: Id,
    pub(super) frame: Arc<[u8]>,
}

/// One line: the messages that it has written and whose answers are not there.
struct Writer<'t> {
    unanswered: VecDeque<(Id, Instant)>,
    news: &'t UnboundedSender<News>,
    patience: Duration,
}

/// Writes what comes until the line breaks or nobody can send any more; then all that it was not
/// answered for has ended.
pub(super) async fn write(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    mut queue: UnboundedReceiver<Parcel>,
    news: UnboundedSender<News>,
    patience: Duration,
) {
    let mut writer = Writer {
        unanswered: VecDeque::new(),
        news: &news,
        patience,
    };
    if let Err(error) = writer.run(stream, &mut queue).await {
        tracing::debug!(%error, "a line ended");
    }
    queue.close();
    let unsent = std::iter::from_fn(|| queue.try_recv().ok()).map(|parcel| parcel.id);
    let unanswered = writer.unanswered.into_iter().map(|(id, _)| id);
    for id in unanswered.chain(unsent) {
        tell(&news, id, false);
    }
}

fn tell(news: &UnboundedSender<News>, id: Id, taken: bool) {
    // The connection may be gone, and with it whoever waits for this.
    let _unheard = news.send(News::Ended { id, taken });
}

impl Writer<'_> {
    async fn run(
        &mut self,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        queue: &mut UnboundedReceiver<Parcel>,
    ) -> io::Result<()> {
        let (mut answers, mut out) = stream.split();
        let (mut batch, mut read) = (Vec::new(), [0; ANSWERS]);
        // Set when something begins to wait, and set again only once it rings.
        let mut alarm = pin!(sleep_until(Instant::now()));
        let mut is_set = false;
        loop {
            if let Some((_, due)) = self.unanswered.front()
                && !is_set
            {
                alarm.as_mut().reset(*due);
                is_set = true;
            }
            tokio::select! {
                // Answers first: what has them is not late.
                biased;
                count = answers.read(&mut read) => self.answered(&read[..count?])?,
                () = &mut alarm, if is_set => {
                    let due = self.unanswered.front();
                    if due.is_some_and(|(_, due)| *due <= Instant::now()) {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                    is_set = false;
                }
                parcel = queue.recv() => {
                    let Some(parcel) = parcel else { return Ok(()) };
                    self.take(&parcel, &mut batch);
                    while batch.len() < BATCH && let Ok(parcel) = queue.try_recv() {
                        self.take(&parcel, &mut batch);
                    }
                    let written = async {
                        out.write_all(&batch).await?;
                        out.flush().await
                    };
                    timeout(self.patience, written).await??;
                    batch = Vec::new();
                }
            }
        }
    }

    fn take(&mut self, parcel: &Parcel, batch: &mut Vec<u8>) {
        batch.extend_from_slice(&parcel.frame);
        let due = Instant::now() + self.patience;
        self.unanswered.push_back((parcel.id, due));
    }

    /// The receiver's bytes, each of which answers the oldest message; none at the line's end.
    fn answered(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for byte in bytes {
            let taken = match *byte {
                TAKEN => true,
                PASSED_OVER => false,
                _ => return Err(io::ErrorKind::InvalidData.into()),
            };
            let oldest = self.unanswered.pop_front();
            let (id, _) = oldest.ok_or(io::ErrorKind::InvalidData)?;
            tell(self.news, id, taken);
        }
        Ok(())
    }
}
