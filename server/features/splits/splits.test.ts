// Splits of links, from the visitors to the decision, as the API shows them.

import { expect } from 'bun:test'
import { nextSenderAddress } from '../../../tests/support/form-requests.ts'
import { quick } from '../../../tests/support/suite.ts'
import { BROWSER_USER_AGENT, onBothEngines, onSqlite, type TestServer } from '../../../tests/support/world.ts'
import { chooseVariant } from '../links/split/choose-variant.ts'
import { endDueSplits } from './end-split.ts'

const SPLIT = [
  { url: 'https://example.com/a', weight: 50, label: 'A' },
  { url: 'https://example.com/b?x=1', weight: 50, label: 'B' },
]

/** A person who clicks for the first time. */
async function visit(server: TestServer, slug: string) {
  const headers = { 'User-Agent': BROWSER_USER_AGENT, 'X-Forwarded-For': nextSenderAddress() }
  const location = (await server.click(slug, headers)).headers.get('location') ?? ''
  return { headers, location, isB: location.startsWith('https://example.com/b') }
}

onBothEngines(
  'A link with a split',
  (server) => {
    quick('shares its visitors, counts their leads, and keeps the better variant', async () => {
      const ws = await server().createWorkspace()
      const { formKey } = await ws.createForm()
      const link = await ws.createLink({ trackConversions: true, split: SPLIT })
      expect(link).toMatchObject({ split: SPLIT, splitEndsAt: null, splitResult: null })
      const seen = { a: 0, b: 0 }
      let leads = 0
      for (let n = 0; n < 40 || leads < 9; n++) {
        const { headers, location, isB } = await visit(server(), link.slug)
        seen[isB ? 'b' : 'a']++
        if (!isB || leads === 9) continue
        await server().submit(formKey, { n: `${leads++}` }, { ...headers, Referer: location })
      }
      // Robots get the first one, and count for none.
      const bot = await server().click(link.slug, { 'User-Agent': 'Googlebot/2.1' })
      expect(bot.headers.get('location')).toStartWith('https://example.com/a')
      await server().waitUntilShipped()
      const { json } = await ws.api(`/links/${link.id}/split`)
      expect(json.data).toMatchObject({
        variants: [
          { label: 'A', weight: 50, clicks: seen.a, leads: 0, rate: 0, low: 0 },
          { label: 'B', clicks: seen.b, leads: 9, rate: 9 / seen.b },
        ],
      })
      const grouped = await ws.api(`/analytics/clicks?groupBy=variant&linkId=${link.id}`)
      expect(
        new Map(
          grouped.json.data.map((row: { variant: string; clicks: number }) => [row.variant, row.clicks]),
        ),
      ).toEqual(
        new Map(
          [
            ['A', seen.a],
            ['B', seen.b],
          ].filter(([, clicks]) => clicks !== 0) as [string, number][],
        ),
      )
      const some = await ws.api(`/analytics/clicks?variant=A&linkId=${link.id}`)
      expect(some.json.data.clicks).toBe(seen.a)
      const byLead = await ws.api('/analytics/leads?groupBy=variant')
      expect(byLead.json.data).toEqual([expect.objectContaining({ variant: 'B', leads: 9 })])
      const funnel = await ws.api('/analytics/funnel?groupBy=variant')
      expect(funnel.json.data).toContainEqual(
        expect.objectContaining({ variant: 'B', clicks: seen.b, leads: 9 }),
      )
      const ended = await ws.post(`/links/${link.id}/split/end`)
      expect(ended.json.data).toMatchObject({
        split: null,
        splitResult: {
          variants: [{ clicks: seen.a }, { clicks: seen.b, leads: 9 }],
        },
      })
      const { best, chosen } = ended.json.data.splitResult
      expect(chosen).toBe(best ?? 'A')
      expect(ended.json.data.destinationUrl).toBe(SPLIT.find(({ label }) => label === chosen)?.url as string)
      expect((await ws.post(`/links/${link.id}/split/end`)).status).toBe(409)
      expect((await ws.api(`/links/${link.id}/split`)).status).toBe(409)
    })

    quick('ends at its time, with the first variant where nothing is known', async () => {
      const ws = await server().createWorkspace()
      const splitEndsAt = new Date(server().now() + 60_000).toISOString()
      const link = await ws.createLink({ split: SPLIT.toReversed(), splitEndsAt })
      expect(link.splitEndsAt).toBe(splitEndsAt)
      await endDueSplits(server().app.api)
      expect((await ws.api(`/links/${link.id}`)).json.data.split).toHaveLength(2)
      server().advanceClock(61_000)
      await endDueSplits(server().app.api)
      const { json } = await ws.api(`/links/${link.id}`)
      expect(json.data).toMatchObject({
        destinationUrl: 'https://example.com/b?x=1',
        split: null,
        splitEndsAt: null,
        splitResult: { best: null, chosen: 'B' },
      })
    })
  },
  { environment: { TRUST_PROXY: '127.0.0.1' } },
)

onSqlite('A split', (server) => {
  quick('is refused with what is wrong', async () => {
    const ws = await server().createWorkspace()
    const [a, b] = SPLIT as [(typeof SPLIT)[number], (typeof SPLIT)[number]]
    for (const [fields, field] of [
      [{ split: [a] }, 'split'],
      [{ split: Array(9).fill(a) }, 'split'],
      [{ split: [a, { ...b, weight: 49 }] }, 'split'],
      [
        {
          split: [
            { ...a, weight: 0 },
            { ...b, weight: 100 },
          ],
        },
        'split.0.weight',
      ],
      [
        {
          split: [
            { ...a, weight: 49.5 },
            { ...b, weight: 50.5 },
          ],
        },
        'split.0.weight',
      ],
      [{ split: [a, { ...b, label: 'a' }] }, 'split.1.label'],
      [{ split: [a, { ...b, label: ' ' }] }, 'split.1.label'],
      [{ split: [a, { ...b, url: 'javascript:alert(1)' }] }, 'split.1.url'],
      [{ split: [a, { ...b, url: server().origin }] }, 'split.1.url'],
      [{ split: SPLIT, splitEndsAt: '2020-01-01T00:00:00Z' }, 'splitEndsAt'],
      [{ splitEndsAt: '2099-01-01T00:00:00Z' }, 'splitEndsAt'],
    ] as const) {
      const { status, json } = await ws.post('/links', { destinationUrl: 'https://example.com/', ...fields })
      expect([status, Object.keys(json.errors ?? {})]).toContainEqual(422)
      expect(Object.keys(json.errors)).toContain(field)
    }
  })

  quick('keeps a visitor’s variant, and its weights in the long run', () => {
    const variants = [
      { url: '', weight: 20, label: 'A' },
      { url: '', weight: 50, label: 'B' },
      { url: '', weight: 30, label: 'C' },
    ]
    const visitors = 30_000
    const counts = [0, 0, 0]
    for (let n = 0; n < visitors; n++) {
      const visitor = { linkId: 7, address: `2001:db8::${n.toString(16)}`, userAgent: BROWSER_USER_AGENT }
      const index = chooseVariant(variants, visitor, 'salt')
      if (n % 1000 === 0) expect(chooseVariant(variants, visitor, 'salt')).toBe(index)
      counts[index] = (counts[index] ?? 0) + 1
    }
    const chiSquare = variants.reduce((sum, { weight }, index) => {
      const expected = (visitors * weight) / 100
      return sum + ((counts[index] as number) - expected) ** 2 / expected
    }, 0)
    // The 99.9 % quantile with two degrees of freedom.
    expect(chiSquare).toBeLessThan(13.82)
  })
})
