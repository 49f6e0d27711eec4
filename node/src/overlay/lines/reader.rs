//! The end of a line that is read.

use std::io;
use std::time::Duration;

use futures::stream::FuturesOrdered;
use futures::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use futures::{FutureExt as _, StreamExt as _};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::handler::News;
use super::{AHEAD, PASSED_OVER, TAKEN};
use crate::overlay::wire::codec::{Frame, Intake};

/// Reads frames, so many ahead of those that are taken, until the line ends or breaks a rule.
pub(super) async fn read(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send,
    intake: Intake,
    news: UnboundedSender<News>,
    patience: Duration,
) {
    let (from, mut to) = stream.split();
    let mut unanswered = FuturesOrdered::new();
    let mut next = Box::pin(one(from, &intake));
    loop {
        tokio::select! {
            read = &mut next, if unanswered.len() < AHEAD => {
                let Ok((frame, from)) = read else { return };
                let is_whole = matches!(frame, Frame::Whole(_));
                let (taken, answer) = oneshot::channel();
                if news.send(News::Came { frame, taken }).is_err() || !is_whole {
                    return;
                }
                unanswered.push_back(answer);
                next.set(one(from, &intake));
            }
            Some(answer) = unanswered.next() => {
                let mut bytes = vec![byte(answer)];
                while let Some(Some(answer)) = unanswered.next().now_or_never() {
                    bytes.push(byte(answer));
                }
                let told = timeout(patience, tell(&mut to, &bytes)).await;
                if !matches!(told, Ok(Ok(()))) {
                    return;
                }
            }
        }
    }
}

/// The next frame, and where the one after it comes from.
async fn one<S: AsyncRead + Unpin + Send>(mut from: S, intake: &Intake) -> io::Result<(Frame, S)> {
    Ok((intake.next_frame(&mut from).await?, from))
}

/// An answer that nobody gives is that of a message nobody has taken.
fn byte(answer: Result<bool, oneshot::error::RecvError>) -> u8 {
    match answer {
        Ok(true) => TAKEN,
        Ok(false) | Err(_) => PASSED_OVER,
    }
}

async fn tell(to: &mut (impl AsyncWrite + Unpin), answers: &[u8]) -> io::Result<()> {
    to.write_all(answers).await?;
    to.flush().await
}
