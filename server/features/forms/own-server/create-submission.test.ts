// A site's own server stores submissions with a key: what it may say about the sender, and what holds as for a posted form.

import { describe, expect, test } from 'bun:test'
import { listStoredSubmissions } from '../../../../tests/support/form-requests.ts'
import { quick } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { BROWSER_USER_AGENT, onBothEngines, type TestWorkspace } from '../../../../tests/support/world.ts'
import { createKey } from '../../accounts/access/keys.ts'

const NOW = Date.parse('2026-03-02T12:00:00.000Z')
const toTime = (at: number) => new Date(at).toISOString()
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const FIELDS = { name: 'Ada', email: 'ada@example.com' }
const SENDER = { address: '203.0.113.7', userAgent: BROWSER_USER_AGENT }

onBothEngines(
  'a submission from a site’s own server',
  (server) => {
    async function createFormHere(settings: Record<string, unknown> = {}) {
      const ws = await server().createWorkspace()
      const form = await ws.createForm(settings)
      const { id } = await server().row('forms', { form_key: form.formKey })
      const path = `/forms/${form.formKey}/submissions`
      return {
        ws,
        formKey: form.formKey as string,
        path,
        send: (body: unknown, headers: Record<string, string> = {}, by: TestWorkspace = ws) =>
          by.post(path, body, headers),
        stored: () => listStoredSubmissions(server(), { id, workspaceId: ws.id }),
        losses: async () =>
          (await ws.api(`/forms/${form.formKey}/losses?start=2026-03-01&end=2026-03-03`)).json.data,
      }
    }

    test('is stored with its sender, page, referrer and time, and the answer has it', async () => {
      const { ws, send, stored } = await createFormHere()
      const body = {
        fields: FIELDS,
        ...SENDER,
        pageUrl: 'https://site.example/contact?utm_source=news&secret=1',
        referrer: 'https://www.search.example/find?q=1',
        at: '2026-03-02T11:30:00+01:00',
      }
      const { status, json } = await send(body)
      expect(status).toBe(201)
      expect(json.data).toMatchObject({
        fields: FIELDS,
        status: 'new',
        email: 'ada@example.com',
        pageUrl: 'https://site.example/contact',
        utmSource: 'news',
        referrer: 'search.example',
        device: 'Mobile',
        browser: 'Safari',
        os: 'iOS',
        createdAt: '2026-03-02T10:30:00.000Z',
      })
      const listed = await ws.api(`/submissions/${json.data.id}`)
      expect(listed.json.data).toEqual({ ...json.data, attribution: 'none' })
      expect(JSON.stringify(await stored())).not.toContain(SENDER.address)
    })

    test('needs nothing but its fields, and is nobody’s then', async () => {
      const { send, stored } = await createFormHere()
      const { status, json } = await send({ fields: { message: 'Hello' } })
      expect([status, json.data.attribution, json.data.createdAt]).toEqual([201, 'none', toTime(NOW)])
      await send({
        fields: { message: 'Other' },
        address: null,
        userAgent: null,
        pageUrl: '',
        referrer: null,
      })
      expect((await stored()).map(({ visitor }) => visitor)).toEqual([null, null])
    })

    test('has the fields that a posted JSON body would have', async () => {
      const { ws, path, stored } = await createFormHere()
      const body =
        '{"fields":{"b":"x","10":12345678901234567890,"tags":["a",1,null],"yes":true,"none":null,"_other":"dropped"}}'
      expect((await ws.post(path, body)).status).toBe(201)
      const [row] = await stored()
      expect(row?.fields).toEqual([
        ['b', 'x'],
        ['10', '12345678901234567890'],
        ['tags', 'a, 1, '],
        ['yes', 'true'],
        ['none', ''],
      ])
    })

    test('comes through however many the address has sent, and past allowed origins and a captcha', async () => {
      const { send, formKey } = await createFormHere({
        captcha: true,
        allowedOrigins: ['https://site.example'],
      })
      const statuses = new Set<number>()
      for (let i = 0; i < 12; i++) statuses.add((await send({ fields: { i }, ...SENDER })).status)
      expect([...statuses]).toEqual([201])
      expect((await server().submit(formKey, { i: 1 })).status).toBe(403)
    })

    test.each<[string, unknown, Record<string, string>]>([
      ['no fields', {}, { fields: 'must be an object of fields' }],
      ['fields that are none', { fields: ['a'] }, { fields: 'must be an object of fields' }],
      [
        'a required field that is missing',
        { fields: { email: 'a@b.example' } },
        { 'fields.name': 'This field is required' },
      ],
      [
        'fields against the rules',
        { fields: { name: 'A', email: 'nobody', age: 'old' } },
        { 'fields.email': 'Enter a valid email address', 'fields.age': 'Enter a number' },
      ],
      [
        'the language of the sender',
        { fields: { _lang: 'de', email: 'nobody' } },
        {
          'fields.name': 'Dieses Feld ist erforderlich',
          'fields.email': 'Bitte eine gültige E-Mail-Adresse eingeben',
        },
      ],
      [
        'a reply address that is none',
        { fields: { name: 'A', _replyto: 'x' } },
        { 'fields._replyto': 'Enter a valid email address' },
      ],
      [
        'a nested field',
        { fields: { name: { first: 'A' } } },
        {
          'fields.name':
            'must be a text of at most 65536 characters, a number, true, false, null or a list of these',
        },
      ],
      [
        'an address that is none',
        { fields: FIELDS, address: '1.2.3' },
        { address: 'must be an IPv4 or IPv6 address' },
      ],
      [
        'a page that is none',
        { fields: FIELDS, pageUrl: 'contact' },
        { pageUrl: 'must be an http or https URL' },
      ],
      [
        'a referrer that is none',
        { fields: FIELDS, referrer: 'javascript:1' },
        { referrer: 'must be an http or https URL, or android-app:, or ios-app:' },
      ],
      [
        'a time of the future',
        { fields: FIELDS, at: toTime(NOW + 2 * MINUTE) },
        { at: 'must not be in the future' },
      ],
      [
        'a time long ago',
        { fields: FIELDS, at: toTime(NOW - DAY - 1) },
        { at: 'must be within the last 24 hours' },
      ],
      [
        'a time without a zone',
        { fields: FIELDS, at: '2026-03-02T12:00:00' },
        { at: 'must be an ISO 8601 time with a zone, such as 2026-01-31T12:00:00Z' },
      ],
      [
        'a name that is too long',
        { fields: { ['x'.repeat(257)]: '1', name: 'A' } },
        {
          fields:
            'must be at most 256 fields, with names of at most 256 and values of at most 65536 characters',
        },
      ],
      [
        'too many fields',
        { fields: Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`f${i}`, '1'])) },
        { fields: 'must have at most 256 fields' },
      ],
      ['a member that is not known', { fields: FIELDS, ip: '1.2.3.4' }, { ip: 'is not a known field' }],
    ])('with %s is refused at the field, and nothing is stored', async (_, body, errors) => {
      const form = await createFormHere({
        requiredFields: ['name'],
        rules: { age: { type: 'number' } },
      })
      const { status, json } = await form.send(body)
      expect([status, json.errors]).toEqual([422, errors])
      expect(await form.stored()).toEqual([])
    })

    test.each([
      ['an hour ago', NOW - HOUR, NOW - HOUR],
      ['a day ago', NOW - DAY, NOW - DAY],
      ['seconds ahead, by another clock', NOW + 30_000, NOW],
    ])('may be of %s', async (_, at, created) => {
      const { send } = await createFormHere()
      expect((await send({ fields: FIELDS, ...SENDER, at: toTime(at) })).json.data.createdAt).toBe(
        toTime(created),
      )
    })

    test('in the honeypot stores nothing, and the answer is a success', async () => {
      const form = await createFormHere({ requiredFields: ['name'] })
      const { status, text } = await form.send({ fields: { _gotcha: 'x' } })
      expect([status, text]).toEqual([200, '{"data":null}'])
      const { key } = await createKey({ db: server().app.db, now: server().now }, form.ws.id, 'write', {
        scopes: ['submissions:write'],
      })
      const headers = { Authorization: `Bearer ${key}` }
      expect((await form.send({ fields: { _gotcha: 'x' } }, headers)).text).toBe('{"data":null}')
      const { status: written, json } = await form.send({ fields: { name: 'A' } }, headers)
      expect([written, Object.keys(json.data)]).toEqual([201, ['id']])
      expect(await form.stored()).toHaveLength(1)
    })

    test('is judged as spam, as a repetition and as blank like one that is posted', async () => {
      const { send } = await createFormHere({ spam: { words: ['casino'] } })
      const first = (await send({ fields: FIELDS, ...SENDER })).json.data
      const again = (await send({ fields: FIELDS, ...SENDER })).json.data
      expect(again.duplicateOf).toBe(first.id)
      const older = { fields: FIELDS, ...SENDER, at: toTime(NOW - HOUR) }
      const old = (await send(older)).json.data
      expect(old.duplicateOf).toBeNull()
      expect((await send(older)).json.data.duplicateOf).toBe(old.id)
      expect((await send({ fields: FIELDS, ...SENDER })).json.data.duplicateOf).toBe(first.id)
      expect((await send({ fields: { a: 'casino' } })).json.data.status).toBe('spam')
      expect((await send({ fields: {} })).json.data).toMatchObject({
        status: 'spam',
        spamReasons: ['Every field is blank.'],
      })
    })

    test('tells the channels, and counts among the attempts of the form', async () => {
      const ws = await server().createWorkspace()
      const hook = { type: 'webhook', name: 'Hook', url: 'https://hook.example/' }
      const channel = (await ws.post('/channels', hook)).json.data
      const { formKey } = await ws.createForm({ channelIds: [channel.id], requiredFields: ['name'] })
      const send = (fields: object) =>
        ws.post(`/forms/${formKey}/submissions`, { fields, at: toTime(NOW - HOUR) })
      await send({ name: 'Ada' })
      await send({})
      expect((await ws.api('/deliveries')).json.data).toMatchObject([{ createdAt: toTime(NOW) }])
      const counts = () => ws.api(`/forms/${formKey}/losses?start=2026-03-01&end=2026-03-03`)
      await until('the counts of attempts', async () => {
        const text = (await counts()).text
        return text.includes('"stored":1') && text.includes('"validation":1')
      })
    })

    quick('names its click by the page, and by a click of the same visitor shortly before', async () => {
      const { ws, send } = await createFormHere()
      const link = await ws.createLink({ trackConversions: true, destinationUrl: 'https://site.example/' })
      const clicked = await server().click(link.slug)
      const pageUrl = clicked.headers.get('location') as string
      const named = (await send({ fields: { a: '1' }, ...SENDER, pageUrl })).json.data
      expect(named).toMatchObject({ attribution: 'measured', linkId: link.id })
      await server().waitUntilShipped()
      const inferred = (
        await send({ fields: { a: '2' }, address: '127.0.0.1', userAgent: BROWSER_USER_AGENT })
      ).json.data
      await until('the inferred click', async () => {
        const { data } = (await ws.api(`/submissions/${inferred.id}`)).json
        return data.attribution === 'inferred' && data.linkId === link.id
      })
      const optedOut = { fields: { a: '3' }, ...SENDER, pageUrl, trackingOptOut: true }
      expect((await send(optedOut)).json.data).toMatchObject({ attribution: 'none', linkId: null })
    })

    describe('is refused', () => {
      test('with 403 for a form that is disabled, and 404 for an unknown one or one of another workspace', async () => {
        const form = await createFormHere({ enabled: false })
        const { status, json } = await form.send({ fields: FIELDS })
        expect([status, json]).toEqual([403, { error: 'Form is disabled' }])
        const other = await server().createWorkspace()
        const foreign = await form.send({ fields: FIELDS }, {}, other)
        expect([foreign.status, foreign.json]).toEqual([404, { error: 'Form not found' }])
        const unknown = await other.post('/forms/zzzzzzzzzz/submissions', { fields: FIELDS })
        expect([unknown.status, unknown.json]).toEqual([404, { error: 'Form not found' }])
        expect(await form.stored()).toEqual([])
      })
    })
  },
  { now: () => NOW },
)
