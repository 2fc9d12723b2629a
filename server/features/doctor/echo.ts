// Echo of a request by the doctor, as the server sees it: the client address, and the proxy it came through.

import { z } from '@hono/zod-openapi'
import { readClientAddress } from '../../http/client-address.ts'
import type { Network } from '../../lib/ip-network.ts'
import { isInNetworks } from '../../lib/ip-network.ts'

export const EchoShape = z.strictObject({
  /** See `toAnswerProof`. */
  proof: z.string(),
  /** The other end of the connection: the proxy, where there is one. */
  peer: z.string(),
  isPeerTrusted: z.boolean(),
  /** The address that limits and countries use. */
  client: z.string(),
  /** The hops of X-Forwarded-For; null without the header. */
  forwardedFor: z.array(z.string()).nullable(),
  /** Which of them TRUST_PROXY names. */
  trustedHops: z.array(z.string()),
})
export type Echo = z.infer<typeof EchoShape>

export function toEcho(peer: string, headers: Headers, trusted: Network[]): Omit<Echo, 'proof'> {
  const forwardedFor = headers.get('x-forwarded-for')
  const hops = forwardedFor?.split(',').map((hop) => hop.trim()) ?? null
  return {
    peer,
    isPeerTrusted: isInNetworks(peer, trusted),
    client: readClientAddress(peer, forwardedFor, trusted),
    forwardedFor: hops,
    trustedHops: hops?.filter((hop) => isInNetworks(hop, trusted)) ?? [],
  }
}
