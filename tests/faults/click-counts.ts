// What the analytics and the counters on links say, asked over HTTP. Each click carries a `utm_term` of its own.

import { expect } from 'bun:test'
import { until } from '../support/until.ts'
import type { ServerProcess } from './server-process.ts'

/** For a machine that is busy with other things. */
const WITHIN_MS = 60_000

export const createLinkOverHttp = (slug: string, key: string, server: ServerProcess) =>
  server.api(key, '/links', { slug, destinationUrl: 'https://example.com/' })

/** How often each `utm_term` was counted on a link, once everything recorded before now is in the answers. */
export async function readCountedClicks(
  server: ServerProcess,
  key: string,
  slug: string,
): Promise<Map<string, number>> {
  await waitUntilAllCounted(server, key)
  const path = `/analytics/clicks?interval=all&slug=${slug}&groupBy=utmTerm&limit=1000`
  // Damage shows when it is read: then the file is set aside and built again, and the question is asked again.
  const { json } = await until(
    'an answer',
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

async function total(server: ServerProcess, key: string): Promise<number> {
  await waitUntilAllCounted(server, key)
  return (await server.api(key, '/analytics/clicks?interval=all')).json.data.clicks
}

/** The counters on links come from the same hits by another way. */
export async function waitUntilCountersAgree(server: ServerProcess, keys: string[]) {
  for (const key of keys) {
    const clicks = await total(server, key)
    await until(
      'the links’ counters to agree',
      async () => {
        const { json } = await server.api(key, '/links?limit=100')
        return json.data.reduce((sum: number, link: { clicks: number }) => sum + link.clicks, 0) === clicks
      },
      WITHIN_MS,
    )
  }
}
