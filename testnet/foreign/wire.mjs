// Messages of libp2p's protocols, written by hand: what a hostile client sends is not limited to
// what a library would.

/// An unsigned LEB128 number.
export function varint (n) {
  const bytes = []
  while (n > 0x7f) {
    bytes.push((n % 128) | 0x80)
    n = Math.floor(n / 128)
  }
  bytes.push(n)
  return Buffer.from(bytes)
}

/// Fields of a protobuf message: pairs of number and value; a number is a varint, else bytes.
export function message (...fields) {
  return Buffer.concat(fields.map(([number, value]) => {
    if (typeof value === 'number') return Buffer.concat([varint(number << 3), varint(value)])
    const bytes = Buffer.from(value)
    return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
  }))
}

/// With its length before it, as libp2p's own protocols frame messages.
export function framed (bytes) {
  return Buffer.concat([varint(bytes.length), bytes])
}

/// The values of the fields of a protobuf message: pairs of number and value. Enough for answers of
/// the DHT.
export function fields (bytes) {
  const found = []
  let at = 0
  const number = () => {
    let value = 0
    let scale = 1
    for (;;) {
      if (at >= bytes.length) throw new Error('a message ends too early')
      const byte = bytes[at++]
      value += (byte & 0x7f) * scale
      scale *= 128
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const key = number()
    if ((key & 7) === 0) {
      found.push([key >> 3, number()])
    } else if ((key & 7) === 2) {
      const length = number()
      found.push([key >> 3, bytes.subarray(at, at + length)])
      at += length
    } else {
      throw new Error(`a field of kind ${key & 7}`)
    }
  }
  return found
}

/// What a frame holds, and what follows it.
export function unframed (bytes) {
  let [length, scale, at] = [0, 1, 0]
  for (;;) {
    if (at >= bytes.length) throw new Error('a frame ends too early')
    const byte = bytes[at++]
    length += (byte & 0x7f) * scale
    scale *= 128
    if (byte < 0x80) break
  }
  if (bytes.length < at + length) throw new Error('a frame ends too early')
  return [bytes.subarray(at, at + length), bytes.subarray(at + length)]
}

/// Kinds of questions to the DHT.
export const FIND_NODE = 4
export const PING = 5

/// A question to the DHT.
export function question (kind, key) {
  return framed(message([1, kind], [2, key]))
}

/// Identify: key, addresses, protocols, the network's version and the program's.
export function identity (publicKey, addresses, protocols, version, agent) {
  return framed(message(
    [1, publicKey],
    ...addresses.map((address) => [2, address]),
    ...protocols.map((protocol) => [3, protocol]),
    [5, version],
    [6, agent]
  ))
}

/// A frame of gossip with signed messages on one topic.
export async function gossip (privateKey, topic, payloads, sequence) {
  const from = privateKey.publicKey.toMultihash().bytes
  const messages = []
  for (const data of payloads) {
    const seqno = Buffer.alloc(8)
    seqno.writeBigUInt64BE(BigInt(sequence++))
    const unsigned = message([1, from], [2, data], [3, seqno], [4, topic])
    const signed = Buffer.concat([Buffer.from('libp2p-pubsub:'), unsigned])
    const signature = await privateKey.sign(signed)
    messages.push([2, Buffer.concat([unsigned, message([5, signature])])])
  }
  return framed(message(...messages))
}
