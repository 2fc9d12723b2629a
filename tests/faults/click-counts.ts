// Reads click counts over HTTP: from analytics and from the counters of links. Each click has its own `utm_term`.

import { expect } from 'bun:test'
import { until } from '../support/until.ts'
import type { ServerProcess } from './server-process.ts'

/** Long, because the machine may be busy with other processes. */
const WITHIN_MS = 60_000

export const createLinkOverHttp = (slug: string, key: string, server: ServerProcess) =>
  server.api(key, '/links', { slug, destinationUrl: 'https://example.com/' })

/** The clicks of each `utm_term` on a link, once analytics include everything that was recorded before now. */
export async function readCountedClicks(
  server: ServerProcess,
  key: string,
  slug: string,
): Promise<Map<string, number>> {
  await waitUntilAllCounted(server, key)
  const path = `/analytics/clicks?interval=all&slug=${slug}&groupBy=utmTerm&limit=1000`
  // A read finds the damage: the server then sets the file aside, builds a new one, and answers 503 meanwhile.
  const { json } = await until(
    'the clicks of each utm_term',
    async () => {
      const answer = await server.api(key, path)
      expect([200, 503]).toContain(answer.status)
      return answer.status === 200 ? answer : undefined
    },
    WITHIN_MS,
  )
  return new Map(json.data.map((row: { utmTerm: string; clicks: number }) => [row.utmTerm, row.clicks]))
}

async function waitUntilAllCounted(server: ServerProcess, key: string) {
  const now = Date.now()
  await until(
    'all clicks to be counted',
    async () => {
      const { status, headers } = await server.api(key, '/analytics/clicks?interval=24h')
      return status === 200 && Date.parse(headers.get('x-counted-until') ?? '') > now
    },
    WITHIN_MS,
  )
}

async function countAllClicks(server: ServerProcess, key: string): Promise<number> {
  await waitUntilAllCounted(server, key)
  return (await server.api(key, '/analytics/clicks?interval=all')).json.data.clicks
}

/** Waits until the counters of the links add up to the clicks in analytics. Both are computed from the same hits. */
export async function waitUntilCountersAgree(server: ServerProcess, keys: string[]) {
  for (const key of keys) {
    const clicks = await countAllClicks(server, key)
    await until(
      'the links’ counters to agree',
      async () => {
        const { json } = await server.api(key, '/links?limit=100&sort=clicks')
        return json.data.reduce((sum: number, link: { clicks: number }) => sum + link.clicks, 0) === clicks
      },
      WITHIN_MS,
    )
  }
}
