// Streams of protocols that cost the opener next to nothing: PINGs of the DHT, identify, ping, a
// relay's stop, junk, and streams that never name one.

import { randomBytes } from 'node:crypto'
import { throwAt } from '../client.mjs'
import { siege } from '../siege.mjs'
import { PING, question } from '../wire.mjs'

/// Deeds a second: more than a client of this kind manages.
const RATE = 5_000
/// Streams a second that stay mute, and bytes that lie in the window of each.
const MUTE_RATE = 500
const MUTE_BYTES = 64 << 10
/// PINGs of the DHT that share a stream.
const PINGS = 16

const nothing = Buffer.alloc(0)

export function kadPing (options, running) {
  const pings = Buffer.concat(Array.from({ length: PINGS }, () => question(PING, nothing)))
  return siege(options, running, RATE, (connection, { ours }) => {
    return throwAt(connection, ours.kad, pings)
  })
}

export function identifyStreams (options, running) {
  return siege(options, running, RATE, (connection) => {
    return throwAt(connection, '/ipfs/id/1.0.0', nothing)
  })
}

export function pingStreams (options, running) {
  return siege(options, running, RATE, (connection) => {
    return throwAt(connection, '/ipfs/ping/1.0.0', randomBytes(32))
  })
}

export function relayStop (options, running) {
  return siege(options, running, RATE, (connection) => {
    return throwAt(connection, '/libp2p/circuit/relay/0.2.0/stop', randomBytes(8))
  })
}

export function junk (options, running) {
  return siege(options, running, RATE, (connection, { ours }, n) => {
    const protocol = n % 2 === 0 ? ours.kad : ours.request
    return throwAt(connection, protocol, randomBytes(64))
  })
}

export function muteStreams (options, running) {
  // A line of negotiation begins, and never ends on the first ones: the others find them waiting.
  const begun = Buffer.concat([Buffer.from([0xff, 0x7f]), Buffer.alloc(1_000, '/')])
  const whole = Buffer.concat([begun, Buffer.alloc(MUTE_BYTES, '/')])
  return siege(options, running, MUTE_RATE, async (connection, { muxers }, n) => {
    const stream = await muxers[0].newStream()
    async function * held () {
      yield n % 512 < 128 ? begun : whole
      await new Promise(() => {})
    }
    stream.sink(held()).catch(() => {})
  })
}
