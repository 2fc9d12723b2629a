// Adds a domain over the API, and verifies it as its owner does, with the records from the API.

import type { DnsServer } from './fake-servers/dns-server.ts'
import type { HttpAnswer } from './server/http-call.ts'

/** @param post posts to `/v1` + path with a key. @returns the id of the domain, which answers now */
export async function proveDomain(
  post: (path: string, body: unknown) => Promise<HttpAnswer>,
  dns: Pick<DnsServer, 'set'>,
  name: string,
): Promise<number> {
  const added = await post('/domains', { domain: name })
  if (added.status !== 201) throw new Error(`${name} was not added: ${added.status} ${added.text}`)
  const { id, dns: records } = added.json.data
  for (const { type, name, value } of records) if (type !== 'ALIAS') dns.set(type, name, value)
  const verified = await post(`/domains/${id}/verify`, {})
  if (!verified.json.data?.verified) throw new Error(`${name} was not verified: ${verified.text}`)
  return id
}
