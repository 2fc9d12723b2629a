import { afterAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { startWebhookReceiver } from '../../../../tests/support/fake-servers/webhook-receiver.ts'
import { atScale, full } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { onBothEngines, type TestWorkspace } from '../../../../tests/support/world.ts'
import type { NewClicksQuery } from '../../hits/batches/new-clicks.ts'
import { createClickAnnouncer } from './announce-clicks.ts'
import type { ClickResource } from './schema.ts'

const receiver = startWebhookReceiver()
afterAll(() => receiver.stop())

const ROBOT = { 'User-Agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' }

onBothEngines(
  'the clicks of a link',
  (server) => {
    const announcer = (fault?: (calls: number) => void) => {
      const { db, spool, hitWorker } = server().app
      let calls = 0
      const readNewClicks = async (query: NewClicksQuery) => {
        // Small pages, so that a batch is told in several transactions.
        const read = await hitWorker.readNewClicks({ ...query, limit: Math.min(query.limit, 3) })
        fault?.(++calls)
        return read
      }
      const hits = { ...hitWorker, readNewClicks }
      return createClickAnnouncer({ db, hits, node: spool.node, origin: server().origin, now: server().now })
    }
    const addChannel = async (ws: TestWorkspace, fields: object = {}) => {
      const body = { type: 'webhook', name: 'Clicks', url: receiver.url, events: ['link.clicked'], ...fields }
      return (await ws.post('/channels', body)).json.data
    }
    const readPayloads = async (channelId: number): Promise<{ count: number; clicks: ClickResource[] }[]> => {
      const rows = await server().rows('deliveries', { channel_id: channelId, event: 'link.clicked' })
      return rows.map(({ payload }) => JSON.parse(payload ?? '{}'))
    }
    const readFeed = async (ws: TestWorkspace, id: number, after?: string, limit = 2) => {
      const clicks: ClickResource[] = []
      for (let hasMore = true; hasMore; ) {
        const query = new URLSearchParams({ limit: String(limit), ...(after && { after }) })
        const { status, json } = await ws.api(`/links/${id}/clicks?${query}`)
        expect(status).toBe(200)
        clicks.push(...json.data)
        after = json.after as string
        hasMore = json.hasMore
      }
      return { clicks, after: after as string }
    }

    test('are told once, people only, and as the feed and the export show them', async () => {
      const ws = await server().createWorkspace()
      const link = await ws.createLink({ tagNames: ['spring'] })
      const other = await ws.createLink()
      const { id } = await addChannel(ws)
      const tagged = await addChannel(ws, { filter: { tagId: String(link.tags[0].id), trigger: '-qr' } })
      const none = await addChannel(ws, { filter: { country: 'AQ' } })
      const start = await readFeed(ws, link.id)
      expect(start.clicks).toEqual([])
      for (let i = 0; i < 4; i++) await server().click(`${link.slug}?utm_source=news&n=${i}`)
      await server().click(`${link.slug}?qr=1`)
      await server().click(link.slug, ROBOT)
      await server().click(other.slug)
      await server().waitUntilShipped()
      await announcer().run()
      await announcer().run()
      const told = (await readPayloads(id)).flatMap(({ count, clicks }) => {
        expect(count).toBe(clicks.length)
        return clicks
      })
      expect(told).toHaveLength(6)
      expect((await readPayloads(tagged.id)).flatMap(({ clicks }) => clicks)).toHaveLength(4)
      expect(await readPayloads(none.id)).toEqual([])
      const feed = await readFeed(ws, link.id)
      expect(feed.clicks).toEqual(told.filter(({ linkId }) => linkId === link.id))
      const { text } = await ws.api(`/analytics/clicks/export?format=ndjson&linkId=${link.id}`)
      const lines = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(lines.toSorted((a, b) => a.id - b.id)).toEqual(feed.clicks)
      await until(
        'a delivery',
        () => receiver.requests.some(({ body }) => JSON.parse(body).data.count > 0),
        10_000,
      )
      // A poller goes on where it was, and one that begins now sees what comes.
      const latest = (await ws.api(`/links/${link.id}/clicks?after=latest`)).json
      expect(latest).toMatchObject({ data: [], hasMore: false })
      await server().click(link.slug)
      await server().waitUntilShipped()
      for (const after of [feed.after, latest.after])
        expect((await readFeed(ws, link.id, after)).clicks).toHaveLength(1)
      const bots = (await ws.api(`/links/${link.id}/clicks?class=bot`)).json.data
      expect(bots).toHaveLength(1)
    })

    full('are polled on after retention, and until the link goes', async () => {
      const ws = await server().createWorkspace()
      const link = await ws.createLink()
      const click = async () => {
        await server().click(link.slug)
        await server().waitUntilShipped()
      }
      await click()
      await click()
      const { after } = await readFeed(ws, link.id)
      // A server that is gone has no clicks after its place.
      const [place] = Buffer.from(after, 'base64url').toString().split('.')
      const unknown = Buffer.from(`${place}.1 gone.5`).toString('base64url')
      expect((await readFeed(ws, link.id, unknown, 1000)).clicks).toHaveLength(2)
      server().advanceClock(3 * 86_400_000)
      await server().app.hitWorker.pruneHits(server().now() - 86_400_000)
      expect((await readFeed(ws, link.id)).clicks).toEqual([])
      await click()
      for (const from of [after, undefined])
        expect((await readFeed(ws, link.id, from, 1)).clicks).toHaveLength(1)
      await ws.delete(`/links/${link.id}`)
      expect((await ws.api(`/links/${link.id}/clicks?after=${after}`)).status).toBe(404)
    })

    test('are in exactly one delivery, however often the consumer dies', async () => {
      const ws = await server().createWorkspace()
      const link = await ws.createLink()
      const { id } = await addChannel(ws)
      let clicked = 0
      const step = fc.record({
        clicks: fc.integer({ min: 0, max: 5 }),
        dieAfter: fc.integer({ min: 1, max: 3 }),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
          for (const { clicks, dieAfter } of steps) {
            for (let i = 0; i < clicks; i++) await server().click(link.slug)
            clicked += clicks
            await server().waitUntilShipped()
            const dying = announcer((calls) => {
              if (calls === dieAfter) throw new Error('killed')
            })
            // Two at once: a lease has ended, and the other process does not know.
            await Promise.allSettled([dying.run(), announcer().run()])
          }
          await announcer().run()
          const told = (await readPayloads(id)).flatMap(({ clicks }) => clicks.map((click) => click.id))
          expect([told.length, new Set(told).size]).toEqual([clicked, clicked])
        }),
        { numRuns: atScale({ quick: 3, full: 15, soak: 60 }) },
      )
    }, 60_000)

    test.each([
      ['after=nonsense'],
      ['after=%00'],
      [`after=${Buffer.from('999 n.1').toString('base64url')}`],
      ['limit=x'],
      ['limit=0'],
      ['limit=1001'],
      ['limit=1.5'],
      ['limit=-1'],
      ['limit=1&limit=2'],
      ['after='],
      [`after=${'A'.repeat(9000)}`],
      ['class=martian'],
      ['start=2026-01-01'],
    ])('refuse %s', async (query) => {
      const ws = await server().createWorkspace()
      const link = await ws.createLink()
      expect((await ws.api(`/links/${link.id}/clicks?${query}`)).status).toBe(422)
      const foreign = Buffer.from(`${link.id + 1} n.1`).toString('base64url')
      const { status, json } = await ws.api(`/links/${link.id}/clicks?after=${foreign}`)
      expect([status, Object.keys(json.errors)]).toEqual([422, ['after']])
      const other = await server().createWorkspace()
      expect((await other.api(`/links/${link.id}/clicks`)).status).toBe(404)
    })
  },
  { environment: { WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32' } },
)
