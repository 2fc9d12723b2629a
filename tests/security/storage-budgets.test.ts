// Limits on what strangers make a server store: long parameters of clicks, long submissions, long page views. Each text
// is cut, each sender has a budget, and an honest visitor's data is kept whole.

import { describe, expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { WRITE_OFFSET } from '../../server/features/hits/spool/write-position.ts'
import { toRateLimitKey } from '../../server/http/client-address.ts'
import {
  BEHIND_PROXY,
  createTestForm,
  listStoredFields,
  nextSenderAddress,
  postToForm,
  SCRIPT_HEADERS,
  URLENCODED_TYPE,
} from '../support/form-requests.ts'
import { atScale, quick } from '../support/suite.ts'
import { onBothEngines, onSqlite, type TestServer } from '../support/world.ts'

const MIB = 1024 ** 2
const CLICKS = atScale({ full: 3000, soak: 30_000 })
const AT_ONCE = 50
const UTM = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content']

async function readBytesOfBatches(server: TestServer): Promise<number> {
  await server.waitUntilShipped()
  const dir = join(server.dataDir, 'batches')
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(dir, name)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0)
}

onSqlite(
  'clicks',
  (server) => {
    quick(
      'with long parameters from one address write less than 1,100 bytes each, and all count',
      async () => {
        const ws = await server().createWorkspace()
        const { slug } = await ws.createLink()
        const from = nextSenderAddress()
        const spool = () => Atomics.load(server().app.spool.writePosition, WRITE_OFFSET)
        const before = { spool: spool(), batches: await readBytesOfBatches(server()) }
        for (let n = 0; n < CLICKS; n += AT_ONCE) {
          await Promise.all(
            Array.from({ length: AT_ONCE }, (_, i) => {
              const own = `${n + i}-${'x'.repeat(2100)}`
              return server().click(`${slug}?utm_source=${own}&x=${own}`, {
                'X-Forwarded-For': from,
                Referer: `https://example.org/${own}`,
                'User-Agent': `Mozilla/5.0 (iPhone) ${own}`,
              })
            }),
          )
        }
        // Two segments at most. A segment has 16 MiB.
        const written = spool() - before.spool
        expect(written / CLICKS).toBeLessThan(1_100)
        const batches = (await readBytesOfBatches(server())) - before.batches
        expect(batches / CLICKS).toBeLessThan(1_000)
        const { json } = await ws.api('/analytics/clicks?class=all')
        expect(json.data.clicks).toBe(CLICKS)
      },
    )

    test('keep campaign values of 256 characters and referrers of 512, and nothing else of the query', async () => {
      const ws = await server().createWorkspace()
      const { slug } = await ws.createLink()
      const query = UTM.map((name) => `${name}=${name.padEnd(400, 'x')}`).join('&')
      const referrer = `https://example.org/${'p'.repeat(800)}`
      const headers = { 'X-Forwarded-For': nextSenderAddress(), Referer: `${referrer}?secret=1` }
      await server().click(`${slug}?token=secret&${query}`, headers)
      await server().waitUntilShipped()
      const { json } = await ws.api('/analytics/clicks?groupBy=referrerUrl')
      expect(json.data).toEqual([{ referrerUrl: referrer.slice(0, 512), clicks: 1, visitors: 1 }])
      for (const name of UTM) {
        const dimension = name.replace(/_(.)/, (_, letter: string) => letter.toUpperCase())
        const grouped = await ws.api(`/analytics/clicks?groupBy=${dimension}`)
        expect(grouped.json.data[0][dimension]).toBe(name.padEnd(400, 'x').slice(0, 256))
      }
    })
  },
  BEHIND_PROXY,
)

const toBody = (bytes: number) => `text=${'x'.repeat(Math.min(bytes, 60_000))}${fill(bytes - 60_000)}`
/** Further fields, because a field has at most 65,536 characters. */
const fill = (bytes: number): string =>
  bytes <= 0 ? '' : `&f${bytes}=${'x'.repeat(Math.min(bytes, 60_000))}${fill(bytes - 60_000)}`

onBothEngines(
  'submissions',
  (server) => {
    const send = (form: { key: string }, body: string, from: string) =>
      postToForm(server(), form, URLENCODED_TYPE, body, { ...SCRIPT_HEADERS, 'X-Forwarded-For': from })

    /** Leaves an address 2 MiB of its minute. */
    const spendAlmostAll = async (from: string) => {
      const budget = { bytes: 10 * MIB, windowMs: 60_000 }
      const key = `form bytes from ${toRateLimitKey(from)}`
      expect((await server().app.forms.limiter.spend(key, 8 * MIB, budget)).allowed).toBe(true)
    }

    test('of an address take at most 10 MiB in a minute, over all forms', async () => {
      const from = nextSenderAddress()
      await spendAlmostAll(from)
      const forms = [await createTestForm(server()), await createTestForm(server())]
      const answers = []
      for (let n = 0; n < 6; n++)
        answers.push(await send(forms[n % 2] as { key: string }, toBody(900_000), from))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 429, 429, 429, 429])
      const refused = answers.at(-1)
      expect(refused?.json).toEqual({ error: 'Too many submissions. Please try again later.' })
      expect(Number(refused?.headers.get('retry-after'))).toBeWithin(1, 70)
      // Others may go on, and so may the address with what still fits.
      expect((await send(forms[0] as { key: string }, toBody(900_000), nextSenderAddress())).status).toBe(200)
      expect((await send(forms[0] as { key: string }, toBody(50_000), from)).status).toBe(200)
    })

    test('that do not say their size have the same budget', async () => {
      const form = await createTestForm(server())
      const from = nextSenderAddress()
      await spendAlmostAll(from)
      const statuses: number[] = []
      for (let n = 0; n < 4; n++) {
        const body = new Blob([toBody(900_000)]).stream()
        const headers = { 'Content-Type': URLENCODED_TYPE, ...SCRIPT_HEADERS, 'X-Forwarded-For': from }
        const url = `${server().origin}/f/${form.key}`
        statuses.push((await fetch(url, { method: 'POST', body, headers })).status)
      }
      expect(statuses).toEqual([200, 200, 429, 429])
    })

    test('of a workspace take at most 50 MiB in an hour, and usual ones pass for longer', async () => {
      const form = await createTestForm(server())
      const { limiter } = server().app.forms
      const key = `form bytes for ${form.workspaceId}`
      const spent = { bytes: 50 * 1024 * 1024, windowMs: 60 * 60 * 1000 }
      expect((await limiter.spend(key, spent.bytes - 1000, spent)).allowed).toBe(true)
      const long = await send(form, toBody(10_000), nextSenderAddress())
      expect(long.status).toBe(429)
      expect(Number(long.headers.get('retry-after'))).toBeWithin(60, 3901)
      expect((await send(form, 'name=Ann&message=Hello', nextSenderAddress())).status).toBe(200)
      expect(await listStoredFields(server(), form)).toHaveLength(1)
      const other = await createTestForm(server())
      expect((await send(other, toBody(10_000), nextSenderAddress())).status).toBe(200)
    })

    test('of an address pass ten times in a minute at the largest size', async () => {
      const form = await createTestForm(server())
      const from = nextSenderAddress()
      const largest = toBody(MIB).slice(0, MIB)
      for (let n = 0; n < 10; n++) expect((await send(form, largest, from)).status).toBe(200)
    })
  },
  BEHIND_PROXY,
)

describe('page views', () => {
  onSqlite(
    'of an address',
    (server) => {
      const send = (from: string, bytes: number) => {
        const w = 'ws_unknown'
        const body = JSON.stringify({ w, u: `https://example.org/?${'x'.repeat(bytes)}`, r: '' })
        return server().call('/e', {
          method: 'POST',
          body,
          headers: { 'Content-Type': 'text/plain', 'X-Forwarded-For': from },
        })
      }
      const countRefused = async (bytes: number) => {
        const from = nextSenderAddress()
        const answers = []
        for (let n = 0; n < 115; n++) answers.push(await send(from, bytes))
        const refused = answers.filter(({ status }) => status === 429)
        for (const { headers } of refused) expect(Number(headers.get('retry-after'))).toBeWithin(1, 70)
        return refused.length
      }

      test('pass with as much as the snippet sends, and have a budget above it', async () => {
        expect(await countRefused(3000)).toBe(0)
        expect(await countRefused(7900)).toBeGreaterThan(50)
      })
    },
    BEHIND_PROXY,
  )
})
