// Fixture of the domain tests: requests about domains, and their proof in DNS.

import type { DnsServer } from '../../../../tests/support/fake-servers/dns-server.ts'
import type { TestWorkspace } from '../../../../tests/support/world.ts'
import type { DomainResource } from './schema.ts'

let names = 0
/** A name that no other test has. */
export const nextName = () => `go${++names}.acme.example`

export async function addDomain(
  ws: TestWorkspace,
  domain = nextName(),
  more: object = {},
): Promise<DomainResource> {
  const { status, text, json } = await ws.post('/domains', { domain, ...more })
  if (status !== 201) throw new Error(`the domain was not added: ${status} ${text}`)
  return json.data
}

/** The TXT record to set. */
export const proofOf = ({ dns: [proof] }: DomainResource) => proof as DomainResource['dns'][number]

export const verify = (ws: TestWorkspace, { id }: { id: number }) => ws.post(`/domains/${id}/verify`)

export async function addProvenDomain(
  dns: DnsServer,
  ws: TestWorkspace,
  domain?: string,
  more?: object,
): Promise<DomainResource> {
  const added = await addDomain(ws, domain, more)
  dns.set('TXT', proofOf(added).name, proofOf(added).value)
  return (await verify(ws, added)).json.data
}

export const patchDomain = (ws: TestWorkspace, { id }: { id: number }, body: unknown) =>
  ws.patch(`/domains/${id}`, body)

export const readDomain = async (ws: TestWorkspace, { id }: { id: number }): Promise<DomainResource> =>
  (await ws.api(`/domains/${id}`)).json.data
