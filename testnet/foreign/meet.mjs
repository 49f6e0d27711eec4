// What an honest stranger does with a stock client: dials, identifies, pings, reads adverts, asks
// the DHT.

import { multiaddr } from '@multiformats/multiaddr'
import { PATIENCE, exchange, sleep, start } from './client.mjs'
import { FIND_NODE, fields, question, unframed } from './wire.mjs'

/// Milliseconds after which a peer that is not of the network would long have been dropped.
const STAYS = 3_000

/// `request`: hex of what is asked over the request protocol; the answer comes back as hex, for who
/// knows its form.
export async function meet ({ network, address, request }) {
  const { client, ours } = await start(network)
  try {
    const signal = () => AbortSignal.timeout(PATIENCE)
    const connection = await client.dial(multiaddr(address), { signal: signal() })
    const said = await client.services.identify.identify(connection, { signal: signal() })
    const pingMs = await client.services.ping.ping(multiaddr(address), { signal: signal() })
    const heard = hear(client, ours.adverts)
    const asked = Buffer.from(request, 'hex')
    const length = Buffer.alloc(4)
    length.writeUInt32BE(asked.length)
    const answered = await exchange(connection, ours.request, Buffer.concat([length, asked]))
    const key = connection.remotePeer.toMultihash().bytes
    const [told] = unframed(await exchange(connection, ours.kad, question(FIND_NODE, key)))
    const closer = fields(told).filter(([number]) => number === 8).map(([, peer]) => fields(peer))
    const addresses = closer.flat().filter(([number]) => number === 2).map(([, a]) => show(a))
    await sleep(STAYS)
    return {
      peer: connection.remotePeer.toString(),
      protocolVersion: said.protocolVersion,
      agentVersion: said.agentVersion,
      protocols: said.protocols,
      listen: said.listenAddrs.map(String),
      pingMs,
      answer: answered.subarray(4).toString('hex'),
      dht: { peers: closer.length, addresses, bytes: told.length },
      subscribed: client.services.pubsub.getSubscribers(ours.adverts).map(String),
      heard: heard.length,
      stays: connection.status === 'open'
    }
  } finally {
    await client.stop()
  }
}

function hear (client, topic) {
  const heard = []
  client.services.pubsub.addEventListener('message', ({ detail }) => {
    if (detail.topic === topic) heard.push(detail.data.length)
  })
  client.services.pubsub.subscribe(topic)
  return heard
}

function show (bytes) {
  try {
    return multiaddr(Uint8Array.from(bytes)).toString()
  } catch {
    return `0x${Buffer.from(bytes).toString('hex')}`
  }
}
