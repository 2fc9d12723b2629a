import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  type ReceivedWebhook,
  startWebhookReceiver,
} from '../../../../tests/support/fake-servers/webhook-receiver.ts'
import { CHANNEL_EVENTS } from '../events/channel-events.ts'
import { type BodyType, escapeValue, parseBodyTemplate } from '../http-body/body-template.ts'
import { findHttpMistakes } from '../http-body/http-settings.ts'
import { HTTP_PRESETS, type HttpPreset } from '../presets/schema.ts'
import type { Notice } from './contract.ts'
import { sendHttp } from './http.ts'
import { createDestination, createNotice, INJECTIONS, SEND_NEEDS } from './notice.fixture.ts'

const receiver = startWebhookReceiver()
afterAll(() => receiver.stop())
beforeEach(() => receiver.respondWith(() => Response.json({ ok: true })))

const last = () => receiver.requests.at(-1) as ReceivedWebhook

interface Sending {
  method?: string
  url?: string
  headers?: Record<string, string>
  body?: string
  notice?: Partial<Notice>
}
const send = ({ method = 'POST', url = receiver.url, headers = {}, body = '{}', notice }: Sending) =>
  sendHttp(SEND_NEEDS, createDestination({ method, body, secrets: { url, headers } }), createNotice(notice))

const toNotice = (text: string, more: object = {}): Partial<Notice> => ({
  fields: new Map([
    ['name', text],
    ['message', text],
    [text || 'empty', text],
  ]),
  submissionJson: JSON.stringify({ formName: text, email: null, utmCampaign: text, link: null, ...more }),
})

/** As `toWellFormed` and JSON keep it. */
const sent = (text: string) => text.toWellFormed()

describe('the body of a channel of type http', () => {
  const TEMPLATES: [BodyType, string, string, (body: string) => Record<string, unknown>][] = [
    [
      'json',
      'application/json',
      '{"a": "<{{fields.name}}>", "{{fields.name}}": 1, "v": {{fields.message}}, "all": {{data}}, "end": true}',
      JSON.parse,
    ],
    [
      'form',
      'application/x-www-form-urlencoded',
      'a=<{{fields.name}}>&v={{fields.message}}&end=true',
      (body) => Object.fromEntries(new URLSearchParams(body)),
    ],
  ]

  test.each(TEMPLATES)('keeps every text of a sender inside its place: %s', async (_, type, body, parse) => {
    for (const text of [
      ...INJECTIONS,
      '"',
      '\\',
      '","end":false,"x":"',
      '&end=false',
      '\ud800',
      'x'.repeat(5000),
    ]) {
      const result = await send({ headers: { 'Content-Type': type }, body, notice: toNotice(text) })
      expect(result.outcome).toBe('delivered')
      expect(parse(last().body)).toMatchObject({ a: `<${sent(text)}>`, v: sent(text) })
      expect(String(parse(last().body).end)).toBe('true')
      expect(last().headers['content-type']).toBe(type)
    }
  })

  test('indents every line of a text in plain text, so that none begins at the left', async () => {
    const body = 'Name: {{fields.name}}\nPlan: free'
    const headers = { 'content-type': 'text/plain; charset=utf-8' }
    await send({ headers, body, notice: toNotice('Ada\r\nPlan: gold\u2028Plan: gold\0\x1b[0m') })
    expect(last().body).toBe('Name: Ada\n    Plan: gold\n    Plan: gold[0m\nPlan: free')
  })

  test('has null and nothing for what an event does not say, and cuts texts', async () => {
    const body =
      '{"none": {{link.slug}}, "text": "{{link.slug}}", "cut": "{{fields.name | 3}}", "n": {{tags}}, "p": {{files}}}'
    await send({ body, notice: toNotice('abcdef', { tags: [1, 2] }) })
    expect(JSON.parse(last().body)).toEqual({ none: null, text: '', cut: 'abc', n: [1, 2], p: null })
    expect(escapeValue('👍', 'json', { quoted: true, max: 1 })).toBe('\ufffd')
  })

  test('of more than 1 MiB is not sent, and fails alone', async () => {
    const before = receiver.requests.length
    const result = await send({ body: '{"m": "{{fields.message}}"}', notice: toNotice('\0'.repeat(300_000)) })
    expect(result).toMatchObject({ outcome: 'refused', permanent: { what: 'message' } })
    expect(receiver.requests).toHaveLength(before)
  })

  test.each<[string, string | RegExp, Record<string, string>?]>([
    ['{"a": "{{fields.name}}"}', ''],
    ['{"a": {{ fields.First name }}, "b": [{{tags}}, {{link.shortUrl}}]}', ''],
    ['{{data}}', ''],
    ['{"a": "{{nothing}}"}', 'has the unknown placeholder {{nothing}}'],
    ['{"a": "{{fields.}}"}', 'has the unknown placeholder {{fields.}}'],
    ['{"a": "{{constructor}}"}', /unknown/],
    ['{"a": "{{link.passwordHash}}"}', /unknown/],
    ['{"a": "{{__proto__.x}}"}', /unknown/],
    ['{"a": "{{}}"}', /unknown/],
    ['{"a": "{{fields.name"}', /without its/],
    ['{"a": "{{fields.name | -1}}"}', /whole number/],
    ['{"a": {{fields.name}}1}', /must be JSON/],
    ['{"a": "\\{{fields.name}}"}', /must be JSON/],
    ['{"a": "\\u00{{fields.name}}"}', /must be JSON/],
    ['{"a": 1', /must be JSON/],
    ['hello {{fields.name}}', /must be JSON/],
    ['hello {{fields.name}}', '', { 'Content-Type': 'text/plain' }],
  ])('with the template %s is judged when it is saved', (body, expected, headers = {}) => {
    const { body: mistake = '' } = findHttpMistakes({ headers, body }, ['submission.created'])
    if (typeof expected === 'string') expect(mistake).toBe(expected)
    else expect(mistake).toMatch(expected)
  })

  test.each<[Record<string, string>, boolean]>([
    [{ Authorization: 'Bearer abc', 'X-Key': '1', Cookie: 'a=b' }, true],
    [{ 'Content-Type': 'application/vnd.api+json' }, true],
    [{ 'Content-Type': 'text/html' }, false],
    [{ 'Content-Type': 'application/json; charset=latin1' }, false],
    [{ 'X-Key': 'a\r\nHost: evil.example' }, false],
    [{ 'X-Key': 'a\nb' }, false],
    [{ 'X-Key': 'a\0' }, false],
    [{ 'X-Key': ' a' }, false],
    [{ 'X-Key': 'é' }, false],
    [{ 'X-Key': '{{fields.name}}' }, false],
    [{ 'X Key': 'a' }, false],
    [{ 'X-Key:': 'a' }, false],
    [{ 'X-Key\r\nHost': 'a' }, false],
    [{ Host: 'evil.example' }, false],
    [{ 'content-length': '0' }, false],
    [{ 'Transfer-Encoding': 'chunked' }, false],
    [{ Connection: 'close' }, false],
    [{ 'X-Forwarded-For': '127.0.0.1' }, false],
    [{ 'x-key': 'a', 'X-Key': 'b' }, false],
  ])('has the headers %j: %p', (headers, isGood) => {
    expect(Object.keys(findHttpMistakes({ headers, body: '{}' }, ['submission.created'])).length === 0).toBe(
      isGood,
    )
  })
})

describe('a channel of type http', () => {
  test('shows request and answer without the secrets of headers and address', async () => {
    receiver.respondWith(
      ({ headers }) => new Response(`no: ${headers.authorization} ${receiver.url}`, { status: 401 }),
    )
    const url = `${receiver.url}/s3cr3tpath1234567890?key=0123456789abcdef`
    const result = await send({ url, headers: { Authorization: 'Bearer s3cr3ttoken', 'X-Team': 'one two' } })
    expect(result).toMatchObject({ outcome: 'refused', httpStatus: 401 })
    const shown = JSON.stringify(result)
    for (const secret of ['s3cr3t', '0123456789abcdef', 'one two']) expect(shown).not.toContain(secret)
    expect(result.request).toMatchObject({
      method: 'POST',
      headers: { authorization: '(hidden)', 'x-team': '(hidden)' },
    })
    expect(last().headers.authorization).toBe('Bearer s3cr3ttoken')
  })
})

// biome-ignore lint/suspicious/noExplicitAny: services read bodies of every shape
type Body = any

/** What each service demands of a request, by the pages that docs/integrations.md names. @returns its answer */
const SERVICES: Record<string, (request: ReceivedWebhook, body: Body) => Response> = {
  'google-sheets': (_, { secret, row }) =>
    secret && Object.values(row).every((cell) => typeof cell === 'string') ? ok('OK') : refuse(200),
  hubspot: ({ path, headers }, { inputs }) =>
    path === '/crm/v3/objects/contacts/batch/upsert' &&
    isBearer(headers) &&
    inputs.length <= 100 &&
    inputs.every(
      ({ idProperty, id, properties }: Body) =>
        idProperty === 'email' && id === properties.email && Object.values(properties).every(isText),
    )
      ? ok({ status: 'COMPLETE' }, 200)
      : refuse(400),
  notion: ({ path, headers }, { parent, properties }) =>
    path === '/v1/pages' &&
    isBearer(headers) &&
    /^\d{4}-\d\d-\d\d$/.test(headers['notion-version'] ?? '') &&
    isText(parent.database_id) &&
    [properties.Name.title, properties.Message.rich_text].every(
      ([{ text }]: Body) => isText(text.content) && text.content.length <= 2000,
    ) &&
    (properties.Email.email === null || properties.Email.email.includes('@'))
      ? ok({ object: 'page' })
      : refuse(400),
  airtable: ({ path, headers }, { records, typecast }) =>
    /^\/v0\/[^/]+\/[^/]+$/.test(path) &&
    isBearer(headers) &&
    typecast === true &&
    records.length <= 10 &&
    Object.values(records[0].fields).every(isText)
      ? ok({ records: [{ id: 'rec1' }] })
      : refuse(422),
  mailchimp: ({ path, headers }, { email_address, status, merge_fields }) =>
    /^\/3\.0\/lists\/[^/]+\/members$/.test(path) &&
    isBearer(headers) &&
    isText(email_address) &&
    ['subscribed', 'unsubscribed', 'cleaned', 'pending', 'transactional'].includes(status) &&
    Object.values(merge_fields).every((text) => isText(text) && (text as string).length <= 255)
      ? ok({ id: 'x' })
      : refuse(400),
  n8n: ({ path }, body) =>
    path.startsWith('/webhook/') && isEnvelope(body) ? ok({ message: 'Workflow was started' }) : refuse(404),
  zapier: ({ path }, body) =>
    /^\/hooks\/catch\/[^/]+\/[^/]+\/$/.test(path) && isEnvelope(body)
      ? ok({ status: 'success' })
      : refuse(404),
  make: (_, body) => (isEnvelope(body) ? ok('Accepted') : refuse(400)),
  ntfy: ({ path }, { topic, title, message, tags }) =>
    path === '/' && [topic, title, message, ...tags].every(isText) && Buffer.byteLength(message) <= 4096
      ? ok({ event: 'message' })
      : refuse(400),
  mattermost: ({ path }, { attachments }) =>
    /^\/hooks\/[^/]+$/.test(path) &&
    attachments[0].fields.every(({ title, value }: Body) => isText(title) && isText(value))
      ? ok('ok')
      : refuse(400),
}
const isText = (value: unknown) => typeof value === 'string'
const isBearer = (headers: Record<string, string>) => /^Bearer \S+$/.test(headers.authorization ?? '')
const isEnvelope = ({ type, timestamp, data }: Body) =>
  type === 'submission.created' && !Number.isNaN(Date.parse(timestamp)) && typeof data === 'object'
const ok = (body: unknown, status = 200) =>
  typeof body === 'string' ? new Response(body, { status }) : Response.json(body, { status })
const refuse = (status: number) =>
  new Response('the service refuses this', { status: status === 200 ? 500 : status })

describe('the preset', () => {
  /** As a person fills it in. */
  const fillIn = (text: string) => text.replaceAll(/‹.*?›/g, 'mine')

  test.each(HTTP_PRESETS.map((preset): [string, HttpPreset] => [preset.id, preset]))(
    '%s is taken by its service',
    async (id, preset) => {
      const headers = Object.fromEntries(
        Object.entries(preset.headers).map(([name, value]) => [name, fillIn(value)]),
      )
      const body = fillIn(preset.body)
      expect(findHttpMistakes({ headers, body }, ['submission.created'])).toEqual({})
      const { pathname, search } = new URL(fillIn(preset.url))
      const url = new URL(receiver.url).origin + pathname + search
      receiver.respondWith((request) => {
        expect(request.headers['content-type']).toContain('application/json')
        return SERVICES[id]?.(request, JSON.parse(request.body)) ?? refuse(500)
      })
      const email = 'ada@example.org'
      for (const [text, address] of [
        ['Ada', email],
        ['', null],
        ['"}],{{x}}\n', email],
        ['é'.repeat(9_000), email],
      ] as const) {
        const notice = toNotice(text, {
          email: address ?? null,
          link: { shortUrl: 'https://go.example/abc' },
        })
        expect(await send({ method: preset.method, url, headers, body, notice })).toMatchObject({
          outcome: 'delivered',
        })
      }
    },
  )

  test('has a service that checks it, and texts without placeholders of other events', () => {
    expect(HTTP_PRESETS.map(({ id }) => id).sort()).toEqual(Object.keys(SERVICES).sort())
    for (const { body } of HTTP_PRESETS)
      expect(findHttpMistakes({ headers: {}, body: fillIn(body) }, [...CHANNEL_EVENTS])).toEqual({})
    expect(parseBodyTemplate('{{a}}', 'text')).toEqual([
      { path: 'a', quoted: false, max: Number.POSITIVE_INFINITY },
    ])
  })
})
