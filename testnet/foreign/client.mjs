// A js-libp2p client as anybody can make one: nothing in it is patched. What is gridbay's are names
// of protocols, which carry the network's id.

import { createLibp2p } from 'libp2p'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { identify, identifyPush } from '@libp2p/identify'
import { kadDHT, passthroughMapper } from '@libp2p/kad-dht'
import { noise } from '@chainsafe/libp2p-noise'
import { ping } from '@libp2p/ping'
import { gossipsub } from '@chainsafe/libp2p-gossipsub'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@chainsafe/libp2p-yamux'

/// How long connecting and single questions may take, milliseconds.
export const PATIENCE = 15_000

/// Names of the protocols of a network, by the hex of its id.
export function names (network) {
  const name = (rest) => `/gridbay/${network.slice(0, 32)}/${rest}`
  return {
    version: name('1'),
    kad: name('kad/1'),
    request: name('request/1'),
    gossip: name('gossip/1.1.0'),
    topic: name,
    adverts: name('adverts')
  }
}

/// A client under a fresh identity, with its key, and the multiplexers of its connections: streams
/// opened there name no protocol.
export async function start (network) {
  const ours = names(network)
  const muxers = []
  const muxed = (components) => {
    const made = yamux()(components)
    const create = made.createStreamMuxer.bind(made)
    made.createStreamMuxer = (init) => {
      const muxer = create(init)
      muxers.push(muxer)
      return muxer
    }
    return made
  }
  const privateKey = await generateKeyPair('Ed25519')
  const gossip = (components) => {
    const service = gossipsub({ runOnLimitedConnection: false })(components)
    service.multicodecs = [ours.gossip]
    return service
  }
  const client = await createLibp2p({
    privateKey,
    addresses: { listen: [] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [muxed],
    connectionMonitor: { enabled: false },
    services: {
      identify: identify(),
      identifyPush: identifyPush(),
      ping: ping(),
      dht: kadDHT({ protocol: ours.kad, clientMode: true, peerInfoMapper: passthroughMapper }),
      pubsub: gossip
    }
  })
  return { client, privateKey, ours, muxers }
}

/// Writes `bytes` on a stream of its own, ends its side, and reads what comes back, at most `most`
/// bytes.
export async function exchange (connection, protocol, bytes, most = 8 << 20) {
  const signal = AbortSignal.timeout(PATIENCE)
  const stream = await connection.newStream(protocol, { signal })
  const abort = () => stream.abort(new Error('it took too long'))
  signal.addEventListener('abort', abort, { once: true })
  try {
    const parts = []
    let length = 0
    const written = stream.sink([bytes])
    for await (const part of stream.source) {
      parts.push(part.subarray())
      length += part.byteLength
      if (length > most) throw new Error(`more than ${most} bytes`)
    }
    await written
    return Buffer.concat(parts)
  } finally {
    signal.removeEventListener('abort', abort)
    await stream.close().catch(() => {})
  }
}

/// Opens a stream and writes to it, without waiting for what comes back.
export async function throwAt (connection, protocol, bytes) {
  const signal = AbortSignal.timeout(PATIENCE)
  const stream = await connection.newStream(protocol, { signal, maxOutboundStreams: 4096 })
  try {
    await stream.sink(bytes.length > 0 ? [bytes] : [])
  } finally {
    stream.abort(new Error('enough'))
  }
}

/// Opens a stream that stays open; the result writes to it, or throws when it is behind or gone.
export async function writer (connection, protocol) {
  const signal = AbortSignal.timeout(PATIENCE)
  const stream = await connection.newStream(protocol, { signal, maxOutboundStreams: 4096 })
  const waiting = []
  let gone = null
  let wake = () => {}
  async function * source () {
    for (;;) {
      while (waiting.length > 0) yield waiting.shift()
      await new Promise((resolve) => { wake = resolve })
    }
  }
  stream.sink(source()).catch((error) => { gone = error })
  return (bytes) => {
    if (gone != null) throw gone
    if (waiting.length >= 64) throw new Error('behind')
    waiting.push(bytes)
    wake()
  }
}

export function sleep (ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
