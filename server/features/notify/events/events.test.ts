import { afterAll, beforeEach, expect, test } from 'bun:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { startWebhookReceiver } from '../../../../tests/support/fake-servers/webhook-receiver.ts'
import { full } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { onBothEngines, type TestWorkspace } from '../../../../tests/support/world.ts'
import { createKey } from '../../accounts/access/keys.ts'
import { createClickAnnouncer } from '../../analytics/feed/announce-clicks.ts'
import { createExpirationAnnouncer } from '../../links/counting/closed-links.ts'
import { EVENT_PLACEHOLDERS } from '../http-body/placeholders.ts'
import { CHANNEL_EVENTS, type ChannelEvent } from './channel-events.ts'

const receiver = startWebhookReceiver()
afterAll(() => receiver.stop())
beforeEach(() => {
  receiver.requests.length = 0
})

const ALL_LINK_EVENTS = ['link.created', 'link.updated', 'link.deleted', 'link.closed', 'split.decided']
const environment = { WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32' }

// biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
const bodies = (): any[] => receiver.requests.map(({ body }) => JSON.parse(body))

const addChannel = async (ws: TestWorkspace, fields: object) => {
  const body = { type: 'webhook', name: 'Program', url: receiver.url, ...fields }
  const { status, json } = await ws.post('/channels', body)
  return { status, ...json, ...json.data }
}

// biome-ignore lint/suspicious/noExplicitAny: as above
const seen: any[] = []

/** Waits for these events, in any order, and for no other. */
async function untilToldOf(ws: TestWorkspace, ...events: string[]) {
  await until('the events', () => receiver.requests.length >= events.length, 10_000)
  await until('nothing to wait', async () => (await ws.api('/deliveries?status=waiting')).json.total === 0)
  expect(
    bodies()
      .map(({ type }) => type)
      .sort(),
  ).toEqual(events.sort())
  seen.push(...bodies())
  return bodies()
}

onBothEngines(
  'the events of a channel',
  (server) => {
    const clickForId = async (slug: string) => {
      const { headers } = await server().click(slug)
      return new URL(headers.get('location') ?? '').searchParams.get('tp_cid')
    }

    test('come from the changes of links, with the link as the API shows it', async () => {
      const ws = await server().createWorkspace()
      await addChannel(ws, { events: ALL_LINK_EVENTS })
      const link = await ws.createLink({ tagNames: ['spring'] })
      const { json } = await ws.patch(`/links/${link.id}`, { title: 'New' })
      await ws.patch(`/links/${link.id}`, {})
      await ws.delete(`/links/${link.id}`)
      await ws.post(`/links/${link.id}/restore`)
      const told = await untilToldOf(ws, 'link.created', 'link.updated', 'link.deleted', 'link.created')
      const find = (type: string) => told.find((body) => body.type === type)
      expect(find('link.updated')).toMatchObject({ data: json.data, timestamp: json.data.updatedAt })
      expect(find('link.deleted').data).toEqual(json.data)
      expect(receiver.requests[0]?.headers['towpath-event-version']).toBe('1')
    })

    test('of many links are one each, and none of what was rolled back', async () => {
      const ws = await server().createWorkspace()
      await addChannel(ws, { events: ALL_LINK_EVENTS })
      const links = [1, 2, 3].map((n) => ({
        destinationUrl: 'https://example.com/',
        slug: `many-${ws.id}-${n}`,
      }))
      const refused = await ws.post('/links/bulk', [...links, links[0]])
      expect(refused.status).toBe(409)
      expect((await ws.post('/links/bulk', links)).status).toBe(201)
      await untilToldOf(ws, 'link.created', 'link.created', 'link.created')
    })

    full('are none of what is imported, and of its undoing', async () => {
      const ws = await server().createWorkspace()
      await addChannel(ws, { events: ALL_LINK_EVENTS })
      const upload = { source: 'csv', file: 'url,slug\nhttps://example.com/,imported' }
      const imported = await ws.post('/imports', upload)
      expect(imported.status).toBe(202)
      await until('the import', async () => {
        const { json } = await ws.api(`/imports/${imported.json.data.id}`)
        return json.data.status === 'done' && json.data.created === 1
      })
      const undone = await ws.delete(`/imports/${imported.json.data.id}`)
      expect(undone.status).toBe(200)
      await untilToldOf(ws)
    })

    test('come from every way to change links, from clicks, and from a split that has ended', async () => {
      const ws = await server().createWorkspace()
      await addChannel(ws, { events: [...ALL_LINK_EVENTS, 'link.clicked'] })
      const upsert = async (title: string) => {
        const body = { externalId: 'e', destinationUrl: 'https://example.com/', title }
        return (await ws.put('/links/upsert', body)).json.data
      }
      const { id, slug } = await upsert('One')
      await upsert('Two')
      await ws.patch('/links/bulk', [{ id, title: 'Three' }])
      const from = 'https://example.com/'
      const repair = { from, to: 'https://example.com/new' }
      expect((await ws.post('/destinations/repair', repair)).json.data.ids).toEqual([id])
      await server().click(slug)
      await server().waitUntilShipped()
      const { db, spool, hitWorker } = server().app
      const clicks = { db, hits: hitWorker, node: spool.node, origin: server().origin, now: server().now }
      await createClickAnnouncer(clicks).run()
      const split = [1, 2].map((n) => ({ url: `https://example.com/${n}`, weight: 50, label: `${n}` }))
      await ws.patch(`/links/${id}`, { split })
      await ws.post(`/links/${id}/split/end`)
      await ws.delete(`/links/bulk?ids=${id}`)
      const told = await untilToldOf(
        ws,
        'link.created',
        'link.clicked',
        'split.decided',
        'link.deleted',
        // Upserted, edited, repaired, split, and with the destination that the split has chosen.
        ...Array.from({ length: 5 }, () => 'link.updated'),
      )
      const find = (type: string) => told.find((body) => body.type === type).data
      expect(find('split.decided')).toMatchObject({ id, split: null, splitResult: { chosen: '1' } })
      expect(find('link.clicked')).toMatchObject({ count: 1, clicks: [{ linkId: id, slug, class: 'human' }] })
    })

    test('pass filters of the link, and channels that are off are told of nothing', async () => {
      const ws = await server().createWorkspace()
      const tagged = await ws.createLink({ tagNames: ['vip'] })
      const tagId = String(tagged.tags[0].id)
      await addChannel(ws, { events: ['link.updated'], filter: { tagId } })
      await addChannel(ws, {
        events: ['link.updated'],
        filter: { tagId: `-${tagId}`, domain: tagged.domain },
      })
      await addChannel(ws, { events: ['link.updated'], filter: { linkId: '999' } })
      await addChannel(ws, { events: ['link.updated'], enabled: false })
      const other = await ws.createLink()
      for (const { id } of [tagged, other]) await ws.patch(`/links/${id}`, { title: 'x' })
      const told = await untilToldOf(ws, 'link.updated', 'link.updated')
      expect(told.map(({ data }) => data.id).sort()).toEqual([tagged.id, other.id].sort())
    })

    test('tell of outcomes, with the lead that filters ask for', async () => {
      const ws = await server().createWorkspace()
      await addChannel(ws, { events: ['outcome.recorded'], filter: { utmSource: 'news', linkId: '0' } })
      const form = await ws.createForm()
      const referer = { Referer: 'https://shop.example/?utm_source=news' }
      const { json } = await server().submit(form.formKey, { email: 'a@example.com' }, referer)
      expect(json.ok).toBe(true)
      await server().submit(form.formKey, { email: 'b@example.com' })
      const post = (body: object) => ws.post('/outcomes', body)
      const won = await post({ email: 'a@example.com', stage: 'won', value: '5.00', currency: 'EUR' })
      await post({ email: 'b@example.com', stage: 'won' })
      const [told] = await untilToldOf(ws, 'outcome.recorded')
      expect(told.data).toEqual(won.json.data)
    })

    test('tell of a submission with its link, tags and touches', async () => {
      const ws = await server().createWorkspace()
      const link = await ws.createLink({ tagNames: ['spring'], trackConversions: true })
      const { id } = await addChannel(ws, { filter: { tagId: String(link.tags[0].id) } })
      const form = await ws.createForm({ channelIds: [id] })
      const cid = await clickForId(link.slug)
      const page = { Referer: `https://shop.example/?tp_cid=${cid}` }
      await server().submit(form.formKey, { email: 'a@example.com', 10: 'ten' }, page)
      // Another visitor, whom no click brought.
      const stranger = {
        'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
      }
      await server().submit(form.formKey, { email: 'b@example.com' }, stranger)
      const [{ data }] = await untilToldOf(ws, 'submission.created')
      const { tags, shortUrl, slug, title, domain, destinationUrl, externalId } = link
      expect(data).toMatchObject({
        email: 'a@example.com',
        linkId: link.id,
        link: { id: link.id, shortUrl, slug, title, domain, destinationUrl, externalId },
        tags,
        touches: [{ type: 'click', linkId: link.id, isFirst: true, isLast: true }],
      })
      const stored = (await ws.api(`/submissions/${data.id}`)).json.data
      expect(Object.keys(data)).toEqual(expect.arrayContaining(Object.keys(stored)))
      // The other one did not pass: its delivery is gone.
      await until(
        'no delivery to wait',
        async () => (await ws.api('/deliveries?status=waiting')).json.total === 0,
      )
    })

    test('a form that names a channel without submissions sends none', async () => {
      const ws = await server().createWorkspace()
      const { id } = await addChannel(ws, { events: ['link.created'] })
      const form = await ws.createForm({ channelIds: [id] })
      await server().submit(form.formKey, { email: 'a@example.com' })
      expect((await ws.api('/deliveries')).json.total).toBe(0)
    })

    test('tell once that a link has closed: by its last click, or by its time', async () => {
      const ws = await server().createWorkspace()
      await addChannel(ws, { events: ['link.closed'] })
      const limited = await ws.createLink({ clickLimit: 2 })
      await Promise.all([1, 2, 3, 4].map(() => server().click(limited.slug)))
      const [used] = await untilToldOf(ws, 'link.closed')
      expect(used.data).toMatchObject({ id: limited.id, reason: 'clickLimit' })
      receiver.requests.length = 0
      const expiresAt = new Date(server().now() + 60_000).toISOString()
      const expiring = await ws.createLink({ expiresAt })
      const moved = await ws.createLink({ expiresAt })
      const later = new Date(server().now() + 86_400_000).toISOString()
      await ws.patch(`/links/${moved.id}`, { expiresAt: later })
      const { db, site } = server().app
      const [one, other] = [1, 2].map(() => createExpirationAnnouncer({ db, site, now: server().now }))
      const readMark = () =>
        db.read
          .selectFrom('event_marks')
          .select('position')
          .where('consumer', '=', 'expirations')
          .executeTakeFirst()
      await one?.run()
      const mark = await readMark()
      server().advanceClock(59_000)
      await Promise.all([one?.run(), other?.run()])
      // A look is no commit.
      expect(await readMark()).toEqual(mark)
      server().advanceClock(2_000)
      await Promise.all([one?.run(), other?.run()])
      const [expired] = await untilToldOf(ws, 'link.closed')
      expect(expired).toMatchObject({ timestamp: expiresAt, data: { id: expiring.id, reason: 'expired' } })
      receiver.requests.length = 0
      // A channel that comes later hears of no expiry before it, also from a server that has not looked for a while.
      const late = await server().createWorkspace()
      await late.createLink({ expiresAt: new Date(server().now() + 1_000).toISOString() })
      server().advanceClock(60_000)
      await one?.run()
      await addChannel(late, { events: ['link.closed'] })
      await other?.run()
      await createExpirationAnnouncer({ db, site, now: server().now }).run()
      expect((await late.api('/deliveries')).json.total).toBe(0)
    })

    test('tell once that a link has closed by its last lead, also one that was held as spam', async () => {
      const ws = await server().createWorkspace()
      await addChannel(ws, { events: ['link.closed'] })
      const leadLimited = await ws.createLink({ leadLimit: 2, trackConversions: true })
      const form = await ws.createForm({ spam: { words: ['casino'] } })
      const cid = await clickForId(leadLimited.slug)
      const submit = (n: string) =>
        server().submit(form.formKey, { n }, { Referer: `https://shop.example/?tp_cid=${cid}` })
      await submit('1')
      // A second one of the same text is no lead, and spam is one only when somebody says so.
      await submit('1')
      await submit('casino')
      expect((await ws.api(`/links/${leadLimited.id}`)).json.data.leads).toBe(1)
      const [held] = (await ws.api('/submissions?status=spam')).json.data
      await ws.patch(`/submissions/${held.id}`, { status: 'new' })
      await submit('3')
      const [last] = await untilToldOf(ws, 'link.closed')
      expect(last.data).toMatchObject({ id: leadLimited.id, reason: 'leadLimit', leads: 2 })
    })

    test.each([
      [
        { type: 'slack', url: 'https://hooks.slack.com/services/T0/B0/x', events: ['link.created'] },
        'events',
      ],
      [{ events: [] }, 'events'],
      [{ events: ['link.exploded'] }, 'events.0'],
      [{ events: 'link.created' }, 'events'],
      [{ events: ['link.created'], filter: { country: 'DE' } }, 'filter.country'],
      [{ events: ['link.clicked', 'link.closed'], filter: { trigger: 'qr' } }, 'filter.trigger'],
      [{ filter: { tagId: 'x' } }, 'filter.tagId'],
      [{ filter: { country: 'DE,-US' } }, 'filter.country'],
      [{ filter: { planet: 'mars' } }, 'filter.planet'],
      [{ filter: 'country=DE' }, 'filter'],
      [{ body: 'x' }, 'body'],
      [{ headers: {} }, 'headers'],
    ])('refuse %j', async (fields, field) => {
      const ws = await server().createWorkspace()
      const { status, errors } = await addChannel(ws, fields)
      expect([status, Object.keys(errors ?? {})]).toEqual([422, [field]])
    })

    test('reach a channel of type http, whose headers nobody sees again', async () => {
      const ws = await server().createWorkspace()
      const http = {
        type: 'http',
        method: 'PUT',
        headers: { Authorization: 'Bearer s3cr3ttoken', 'Content-Type': 'application/json' },
        body: '{"e": "{{event}}", "url": "{{shortUrl}}", "email": {{fields.email}}, "link": {{link.slug}}}',
        events: ['submission.created', 'link.created'],
      }
      const added = await addChannel(ws, http)
      expect(added.headers).toEqual({ Authorization: '(hidden)', 'Content-Type': 'application/json' })
      const change = (body: object) => ws.patch(`/channels/${added.id}`, body)
      const kept = await change({ headers: { ...added.headers, 'X-Team': 'a' } })
      expect(kept.json.data.headers).toEqual({ ...added.headers, 'X-Team': '(hidden)' })
      const link = await ws.createLink()
      await until('the request', () => receiver.requests.length === 1)
      expect(JSON.parse(receiver.requests[0]?.body ?? '')).toEqual({
        e: 'link.created',
        url: link.shortUrl,
        email: null,
        link: null,
      })
      expect(receiver.requests[0]?.headers).toMatchObject({
        authorization: 'Bearer s3cr3ttoken',
        'x-team': 'a',
      })
      const refusals: [object, string][] = [
        [{ events: ['link.created'] }, 'body'],
        [{ headers: { 'Content-Type': 'text/html' } }, 'headers.Content-Type'],
        [{ body: '{"a": "{{nothing}}"}' }, 'body'],
        [{ body: 'x'.repeat(20_001) }, 'body'],
        [{ method: 'GET' }, 'method'],
        [{ headers: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`x-${i}`, 'a'])) }, 'headers'],
        [{ template: { text: 'x' } }, 'template'],
        [{ digest: 'day' }, 'digest'],
      ]
      for (const [body, field] of refusals)
        expect(Object.keys((await change(body)).json.errors ?? {})).toEqual([field])
      // A field that is gone again: nothing of the refused changes was stored.
      const tested = (await ws.post(`/channels/${added.id}/test`)).json.data
      expect(tested).toMatchObject({
        status: 'delivered',
        request: { method: 'PUT', headers: { authorization: '(hidden)', 'x-team': '(hidden)' } },
        attempts: [{ httpStatus: 200, answer: 'ok' }],
      })
      expect(JSON.parse(tested.request.body)).toMatchObject({ e: 'test', email: 'ada@example.com' })
      expect(JSON.stringify((await ws.api('/deliveries')).json)).not.toContain('s3cr3t')
      const short = { type: 'http', url: receiver.url, name: 'x' }
      const { errors } = (await ws.post('/channels', short)).json
      expect(Object.keys(errors)).toEqual(['body'])
    })

    test('are as the API reference says, and have the placeholders of channels of type http', async () => {
      const { json } = await server().call('/v1/openapi.json')
      const ajv = new Ajv2020({ strict: false, allErrors: true })
      addFormats(ajv)
      ajv.addSchema({ $id: 'doc', ...json })
      expect(Object.keys(json.webhooks)).toEqual([...CHANNEL_EVENTS])
      for (const event of new Set(seen.map(({ type }) => type as ChannelEvent))) {
        const path = `/webhooks/${event}/post/requestBody/content/application~1json/schema`
        for (const body of seen.filter(({ type }) => type === event)) {
          const isValid = ajv.validate({ $ref: `doc#${path}` }, body)
          expect([event, isValid ? [] : ajv.errorsText()]).toEqual([event, []])
        }
        const data = seen.find(({ type }) => type === event).data
        const optional = ['adClickIds', 'heldAs']
        const known = EVENT_PLACEHOLDERS[event].filter(
          (path) => !path.includes('.') && !optional.includes(path),
        )
        expect(
          Object.keys(data)
            .filter((name) => !optional.includes(name))
            .sort(),
        ).toEqual(known.toSorted())
      }
      expect(new Set(seen.map(({ type }) => type)).size).toBe(CHANNEL_EVENTS.length)
    })

    test('go to nobody by a key that may not read what they say', async () => {
      const ws = await server().createWorkspace()
      const needs = { db: server().app.db, now: server().now }
      const { key } = await createKey(needs, ws.id, 'narrow', { scopes: ['channels:write', 'links:read'] })
      const headers = { Authorization: `Bearer ${key}` }
      const add = async (events: string[]) => {
        const body = { type: 'webhook', name: 'x', url: receiver.url, events }
        return (await ws.post('/channels', body, headers)).status
      }
      expect(
        await Promise.all([add(['link.created']), add(['link.clicked']), add(['outcome.recorded'])]),
      ).toEqual([201, 403, 403])
      // Nor by another address for a channel that has them.
      const { id } = await addChannel(ws, { events: ['link.clicked'] })
      const change = async (body: object) => (await ws.patch(`/channels/${id}`, body, headers)).status
      expect([
        await change({ url: 'https://elsewhere.example/' }),
        await change({ events: ['link.clicked', 'link.created'] }),
        await change({ name: 'y', enabled: false }),
        await change({ url: 'https://elsewhere.example/', events: ['link.created'] }),
      ]).toEqual([403, 403, 200, 200])
    })
  },
  { environment },
)
