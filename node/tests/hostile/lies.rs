//! Answers of a sybil in the DHT, written by hand: Kademlia's own code does not lie.
//!
//! A message is a length (varint) and a protobuf message: 1 type, 2 key, 3 record, 8 closer peers.
//! A record: 1 key, 2 value. A peer: 1 id, 2 addresses. The lies:
//!
//! 1. [`Lie::Friends`]: knows nobody but other sybils, and some who do not exist.
//! 2. [`Lie::Records`]: has whatever record is asked for, and it is another node's.
//! 3. [`Lie::Silence`]: has nothing and knows nobody.

use std::io;
use std::sync::Arc;

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use libp2p::request_response as rr;
use libp2p::{Multiaddr, PeerId, StreamProtocol};

const GET_VALUE: u64 = 1;
const GET_PROVIDERS: u64 = 3;
const FIND_NODE: u64 = 4;
/// Longest message that is read.
const MOST: u64 = 16 << 10;

/// How it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    Friends,
    Records,
    Silence,
}

/// The answer of a sybil.
#[derive(Clone, Debug)]
pub(crate) struct Liar {
    pub(crate) lie: Lie,
    /// Sybils, and peers that do not exist.
    pub(crate) friends: Arc<[(PeerId, Multiaddr)]>,
    /// A record that is another's.
    pub(crate) record: Arc<[u8]>,
}

/// A question: type and key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Question {
    kind: u64,
    key: Vec<u8>,
}

impl Question {
    /// The peers near a key.
    pub(crate) fn find(key: &[u8]) -> Self {
        let (kind, key) = (FIND_NODE, key.to_vec());
        Self { kind, key }
    }
}

/// The closer peers that an answer names, with their addresses. `None` if it is not understood.
pub(crate) fn closer(answer: &[u8]) -> Option<Vec<(PeerId, Vec<Multiaddr>)>> {
    let peers = parts(answer, 8)?;
    let peer = |peer: Vec<u8>| {
        let id = PeerId::from_bytes(parts(&peer, 1)?.first()?).ok()?;
        let addresses = parts(&peer, 2)?.into_iter();
        let addresses: Result<_, _> = addresses.map(Multiaddr::try_from).collect();
        Some((id, addresses.ok()?))
    };
    peers.into_iter().map(peer).collect()
}

/// All values of a field of bytes.
fn parts(mut rest: &[u8], field: u64) -> Option<Vec<Vec<u8>>> {
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let head = take_varint(&mut rest)?;
        let value = take_varint(&mut rest)?;
        if head & 7 == 2 {
            let (body, after) = rest.split_at_checked(value as usize)?;
            rest = after;
            if head >> 3 == field {
                parts.push(body.to_vec());
            }
        }
    }
    Some(parts)
}

impl Liar {
    /// The message that answers a question.
    pub(crate) fn answer(&self, question: &Question) -> Vec<u8> {
        let mut answer = Vec::new();
        number(&mut answer, 1, question.kind);
        bytes(&mut answer, 2, &question.key);
        if question.kind == GET_VALUE && self.lie == Lie::Records {
            let mut record = Vec::new();
            bytes(&mut record, 1, &question.key);
            bytes(&mut record, 2, &self.record);
            bytes(&mut answer, 3, &record);
        }
        if self.lie != Lie::Silence
            && [GET_VALUE, GET_PROVIDERS, FIND_NODE].contains(&question.kind)
        {
            for (peer, address) in self.friends.iter() {
                let mut friend = Vec::new();
                bytes(&mut friend, 1, &peer.to_bytes());
                bytes(&mut friend, 2, &address.to_vec());
                bytes(&mut answer, 8, &friend);
            }
        }
        answer
    }
}

/// A number in as few bytes as it needs.
pub(crate) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn number(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3);
    varint(out, value);
}

/// A field of bytes.
pub(crate) fn bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

/// Takes a varint off the front.
fn take_varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let (first, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn parse(mut rest: &[u8]) -> Option<Question> {
    let mut question = Question::default();
    while !rest.is_empty() {
        let head = take_varint(&mut rest)?;
        let value = take_varint(&mut rest)?;
        if head & 7 == 2 {
            let (body, after) = rest.split_at_checked(value as usize)?;
            rest = after;
            if head >> 3 == 2 {
                question.key = body.to_vec();
            }
        } else if head >> 3 == 1 {
            question.kind = value;
        }
    }
    Some(question)
}

async fn read_message<T>(io: &mut T) -> io::Result<Vec<u8>>
where
    T: AsyncRead + Unpin + Send,
{
    let mut length = Vec::new();
    while length.last().is_none_or(|last| last & 0x80 != 0) {
        let mut next = [0];
        io.read_exact(&mut next).await?;
        length.push(next[0]);
    }
    let size = take_varint(&mut length.as_slice()).filter(|size| *size <= MOST);
    let size = size.ok_or(io::ErrorKind::InvalidData)?;
    let mut body = vec![0; size as usize];
    io.read_exact(&mut body).await?;
    Ok(body)
}

async fn write_message<T>(io: &mut T, message: &[u8]) -> io::Result<()>
where
    T: AsyncWrite + Unpin + Send,
{
    let mut framed = Vec::new();
    varint(&mut framed, message.len() as u64);
    framed.extend_from_slice(message);
    io.write_all(&framed).await
}

/// The DHT's messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct KadCodec;

impl rr::Codec for KadCodec {
    type Protocol = StreamProtocol;
    type Request = Question;
    type Response = Vec<u8>;

    async fn read_request<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<Question>
    where
        T: AsyncRead + Unpin + Send,
    {
        let body = read_message(io).await?;
        parse(&body).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    async fn read_response<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<Vec<u8>>
    where
        T: AsyncRead + Unpin + Send,
    {
        read_message(io).await
    }

    async fn write_request<T>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
        question: Question,
    ) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        let mut message = Vec::new();
        number(&mut message, 1, question.kind);
        bytes(&mut message, 2, &question.key);
        write_message(io, &message).await
    }

    async fn write_response<T>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
        answer: Vec<u8>,
    ) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        write_message(io, &answer).await
    }
}

#[test]
fn what_is_written_is_what_is_read() {
    let friend = PeerId::random();
    let address: Multiaddr = "/ip4/127.0.0.1/tcp/1".parse().unwrap();
    let liar = Liar {
        lie: Lie::Records,
        friends: [(friend, address.clone())].into(),
        record: Arc::from(vec![7; 300]),
    };
    let key = vec![9; 32];
    let kind = GET_VALUE;
    let question = Question { kind, key };
    let answer = liar.answer(&question);
    assert_eq!(parse(&answer), Some(question));
    assert!(answer.len() > 300 + friend.to_bytes().len());
    assert_eq!(closer(&answer), Some(vec![(friend, vec![address])]));
    assert_eq!(parse(&[8]), None);
}
