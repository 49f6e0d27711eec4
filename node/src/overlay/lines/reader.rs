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
use super::{AHEAD, Answer, PASSED_OVER, TAKEN};
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
                let goes_on = matches!(frame, Frame::Whole(_) | Frame::Crowded);
                let (answer, answered) = oneshot::channel();
                if news.send(News::Came { frame, answer }).is_err() || !goes_on {
                    return;
                }
                unanswered.push_back(answered);
                next.set(one(from, &intake));
            }
            Some(answer) = unanswered.next() => {
                let (mut bytes, mut ends) = (Vec::new(), false);
                let mut answer = Some(answer);
                while let Some(one) = answer.filter(|_| !ends) {
                    match byte(one) {
                        Some(byte) => bytes.push(byte),
                        None => ends = true,
                    }
                    answer = unanswered.next().now_or_never().flatten();
                }
                let told = timeout(patience, tell(&mut to, &bytes)).await;
                if ends || !matches!(told, Ok(Ok(()))) {
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

/// What the sender hears; nothing if the line ends.
fn byte(answer: Result<Answer, oneshot::error::RecvError>) -> Option<u8> {
    match answer {
        Ok(Answer::Taken) => Some(TAKEN),
        Ok(Answer::PassedOver) | Err(_) => Some(PASSED_OVER),
        Ok(Answer::TooMuch) => None,
    }
}

async fn tell(to: &mut (impl AsyncWrite + Unpin), answers: &[u8]) -> io::Result<()> {
    to.write_all(answers).await?;
    to.flush().await
}
