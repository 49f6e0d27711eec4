// Identify pushes: with other addresses each time, which a node could keep in its routing table; or
// the same again and again.

import { multiaddr } from '@multiformats/multiaddr'
import { publicKeyToProtobuf } from '@libp2p/crypto/keys'
import { throwAt } from '../client.mjs'
import { siege } from '../siege.mjs'
import { identity } from '../wire.mjs'

const PUSH = '/ipfs/id/push/1.0.0'
/// Addresses of a push.
const ADDRESSES = 12

export function pushVarying (options, running) {
  return siege(options, running, 200, (connection, made, n) => {
    const port = (i) => 1024 + ((n * ADDRESSES + i) % 60_000)
    return push(connection, made, port)
  })
}

export function pushSame (options, running) {
  return siege(options, running, 2_000, (connection, made) => {
    return push(connection, made, (i) => 2_000 + i)
  })
}

function push (connection, { client, privateKey, ours }, port) {
  const ports = Array.from({ length: ADDRESSES }, (_, i) => port(i))
  const addresses = ports.map((port) => multiaddr(`/ip4/127.0.0.1/udp/${port}/quic-v1`).bytes)
  const key = publicKeyToProtobuf(privateKey.publicKey)
  // Another one would be taken for another run of the program, and hung up on.
  const agent = client.services.identify.host.agentVersion
  const told = identity(key, addresses, [ours.kad, ours.gossip], ours.version, agent)
  return throwAt(connection, PUSH, told)
}
