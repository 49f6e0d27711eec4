// Gossip on topics to which nobody has subscribed: well signed, so that it may be kept before
// anybody asks whether it is wanted. Below every rate for frames.

import { randomBytes } from 'node:crypto'
import { sleep, writer } from '../client.mjs'
import { siege } from '../siege.mjs'
import { gossip } from '../wire.mjs'

/// Milliseconds until the client's own stream of gossip stands: a node reads the last one that was
/// opened.
const OWN_STREAM = 1_500
/// Bytes of a message, and messages a second.
const BYTES = 15 << 10
const RATE = 500

export function foreignTopics (options, running) {
  // A node takes a few streams of gossip from one peer and no more.
  const streams = new WeakMap()
  return siege(options, running, RATE, async (connection, { privateKey, ours }, n) => {
    const open = () => sleep(OWN_STREAM).then(() => writer(connection, ours.gossip))
    if (!streams.has(connection)) streams.set(connection, open())
    const write = await streams.get(connection)
    const topic = ours.topic(`nobody-${n % 64}`)
    write(await gossip(privateKey, topic, [randomBytes(BYTES)], n))
  })
}
