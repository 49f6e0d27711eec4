//! A line's two ends, over a pipe.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use gridbay_core::frame;
use tokio::io::{AsyncRead as _, AsyncWrite as _, DuplexStream, ReadBuf, duplex};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::handler::News;
use super::writer::{Parcel, write};
use super::{AHEAD, Answer, Id, reader};
use crate::overlay::config::{Limits, Tuning};
use crate::overlay::wire::codec::{Frame, Intake};

/// Bytes of a message at the most.
const MOST: usize = 100;
const PATIENCE: Duration = Duration::from_secs(30);
/// For tests that wait for its end.
const SHORT: Duration = Duration::from_millis(200);

/// An end of a pipe, with the traits of libp2p's streams.
struct End(DuplexStream);

impl AsyncRead for End {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(buffer);
        let read = Pin::new(&mut self.0).poll_read(context, &mut buffer);
        read.map_ok(|()| buffer.filled().len())
    }
}

impl AsyncWrite for End {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }
    fn poll_close(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

fn pipe() -> (End, End) {
    let (one, other) = duplex(64 << 10);
    (End(one), End(other))
}

/// The sender's end of a line.
struct Sending {
    queue: UnboundedSender<Parcel>,
    news: UnboundedReceiver<News>,
}

impl Sending {
    fn over(stream: End) -> Sending {
        Sending::patient(stream, PATIENCE)
    }
    fn patient(stream: End, patience: Duration) -> Sending {
        let ((queue, parcels), (tell, news)) = (unbounded_channel(), unbounded_channel());
        tokio::spawn(write(stream, parcels, tell, patience));
        Sending { queue, news }
    }
    fn send(&self, id: Id, body: &[u8]) {
        let frame: Arc<[u8]> = frame::frame(body, body.len()).unwrap().into();
        self.queue.send(Parcel { id, frame }).unwrap();
    }
    async fn ended(&mut self) -> (Id, bool) {
        match self.news.recv().await {
            Some(News::Ended { id, taken }) => (id, taken),
            other => panic!("{other:?}"),
        }
    }
}

/// The receiver's end of a line.
fn receiving(stream: End) -> UnboundedReceiver<News> {
    let (tell, news) = unbounded_channel();
    let mut tuning = Tuning::local();
    tuning.frame = SHORT;
    let intake = Intake::new(MOST, &Limits::default(), &tuning);
    tokio::spawn(reader::read(stream, intake, tell, PATIENCE));
    news
}

async fn came(news: &mut UnboundedReceiver<News>) -> (Frame, oneshot::Sender<Answer>) {
    match news.recv().await {
        Some(News::Came { frame, answer }) => (frame, answer),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn messages_come_in_order_and_each_hears_its_own_answer() {
    let (here, there) = pipe();
    let (mut sending, mut news) = (Sending::over(here), receiving(there));
    for id in 0..200 {
        sending.send(id, &[id as u8; 50]);
    }
    for id in 0..200 {
        let (frame, taken) = came(&mut news).await;
        assert_eq!(frame, Frame::Whole(vec![id as u8; 50]));
        match id % 3 {
            0 => drop(taken),
            1 => taken.send(Answer::Taken).unwrap(),
            _ => taken.send(Answer::PassedOver).unwrap(),
        }
    }
    for id in 0..200 {
        assert_eq!(sending.ended().await, (id, id % 3 == 1));
    }
}

#[tokio::test]
async fn only_some_messages_are_read_before_the_first_of_them_is_taken() {
    let (here, there) = pipe();
    let (mut sending, mut news) = (Sending::over(here), receiving(there));
    for id in 0..2 * AHEAD as u64 {
        sending.send(id, &[id as u8]);
    }
    let mut untaken = Vec::new();
    for _ in 0..AHEAD {
        untaken.push(came(&mut news).await.1);
    }
    tokio::time::sleep(SHORT).await;
    assert!(news.try_recv().is_err() && sending.news.try_recv().is_err());
    // Answers keep the order of the messages.
    untaken.remove(1).send(Answer::Taken).unwrap();
    untaken.remove(0).send(Answer::PassedOver).unwrap();
    assert_eq!(sending.ended().await, (0, false));
    assert_eq!(sending.ended().await, (1, true));
    let (next, _) = came(&mut news).await;
    assert_eq!(next, Frame::Whole(vec![AHEAD as u8]));
}

#[tokio::test]
async fn messages_that_nobody_answers_end_in_time_and_end_the_line() {
    let (here, _there) = pipe();
    let mut sending = Sending::patient(here, SHORT);
    let begun = tokio::time::Instant::now();
    sending.send(7, b"one");
    tokio::time::sleep(SHORT / 2).await;
    sending.send(8, b"another");
    assert_eq!(sending.ended().await, (7, false));
    assert!(begun.elapsed() >= SHORT);
    assert_eq!(sending.ended().await, (8, false));
    assert!(
        sending.news.recv().await.is_none(),
        "nobody writes any more"
    );
    assert!(sending.queue.is_closed());
}

#[tokio::test]
async fn a_line_may_rest_for_long() {
    let (here, there) = pipe();
    let (mut sending, mut news) = (Sending::patient(here, SHORT), receiving(there));
    for id in 0..3 {
        sending.send(id, b"word");
        came(&mut news).await.1.send(Answer::Taken).unwrap();
        assert_eq!(sending.ended().await, (id, true));
        tokio::time::sleep(2 * SHORT).await;
    }
}

#[tokio::test]
async fn a_frame_that_is_too_large_ends_the_line() {
    let (here, there) = pipe();
    let (mut sending, mut news) = (Sending::over(here), receiving(there));
    sending.send(0, &[0; MOST + 1]);
    assert_eq!(came(&mut news).await.0, Frame::TooLarge);
    assert!(news.recv().await.is_none());
    assert_eq!(sending.ended().await, (0, false));
}

#[tokio::test]
async fn answers_to_nothing_and_unknown_answers_end_the_line() {
    for answers in [&[1, 1][..], &[2]] {
        let (here, mut there) = pipe();
        let mut sending = Sending::over(here);
        sending.send(0, b"word");
        there.read_exact(&mut [0; 8]).await.unwrap();
        there.write_all(answers).await.unwrap();
        assert_eq!(sending.ended().await, (0, answers[0] == 1));
        assert!(sending.news.recv().await.is_none());
    }
}

#[tokio::test]
async fn half_a_frame_is_slow() {
    let (mut here, there) = pipe();
    let mut news = receiving(there);
    here.write_all(&[0, 0, 0, 9, 1]).await.unwrap();
    assert_eq!(came(&mut news).await.0, Frame::Slow);
    assert!(news.recv().await.is_none());
}

#[tokio::test]
async fn a_sender_of_too_much_loses_its_line() {
    let (here, there) = pipe();
    let (mut sending, mut news) = (Sending::over(here), receiving(there));
    for id in 0..3 {
        sending.send(id, b"flood");
    }
    came(&mut news).await.1.send(Answer::Taken).unwrap();
    came(&mut news).await.1.send(Answer::TooMuch).unwrap();
    assert_eq!(sending.ended().await, (0, true));
    assert_eq!(sending.ended().await, (1, false));
    assert_eq!(sending.ended().await, (2, false));
    assert!(sending.queue.is_closed());
}
