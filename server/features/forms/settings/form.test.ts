import { expect, test } from 'bun:test'
import { onBothEngines, type TestWorkspace } from '../../../../tests/support/world.ts'
import type { FormResource } from '../schema.ts'
import { insertSubmissions } from '../submissions/submission.fixture.ts'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const make = (ws: TestWorkspace, body: unknown) => ws.post('/forms', body)
const patch = (ws: TestWorkspace, formKey: string, body: unknown) => ws.patch(`/forms/${formKey}`, body)
const form = async (ws: TestWorkspace, fields: object = {}): Promise<FormResource> =>
  (await make(ws, { name: 'Contact', ...fields })).json.data
const all = async (ws: TestWorkspace): Promise<FormResource[]> => (await ws.api('/forms?limit=100')).json.data

const names = (count: number) => Array.from({ length: count }, (_, i) => `f${i}`)
const origin = 'must be an origin such as https://example.com or https://*.example.com'

/** A request body and its errors. */
const REFUSED: [body: Record<string, unknown>, errors: Record<string, string>][] = [
  [{ name: '' }, { name: 'must not be empty' }],
  [{ name: ' \t' }, { name: 'must not be blank' }],
  [{ name: 'x'.repeat(201) }, { name: 'must be at most 200 characters' }],
  [{ name: null }, { name: 'must be a string' }],
  [{ enabled: 'yes' }, { enabled: 'must be true or false' }],
  [{ captcha: 1 }, { captcha: 'must be true or false' }],
  [{ requiredFields: 'email' }, { requiredFields: 'must be a list of field names' }],
  [{ requiredFields: ['a', 'a'] }, { requiredFields: 'must name each field once' }],
  [{ requiredFields: names(101) }, { requiredFields: 'must be at most 100 names' }],
  [{ requiredFields: ['a', ''] }, { 'requiredFields.1': 'must not be empty' }],
  [{ requiredFields: ['x'.repeat(257)] }, { 'requiredFields.0': 'must be at most 256 characters' }],
  [
    { requiredFields: ['_next'] },
    { 'requiredFields.0': 'must not start with "_": such fields are never stored' },
  ],
  [
    { requiredFields: ['cf-turnstile-response'] },
    { 'requiredFields.0': "is the captcha's own field; set captcha to true instead" },
  ],
  [{ redirectUrl: 'javascript:alert(1)' }, { redirectUrl: 'must be an http or https URL' }],
  [{ redirectUrl: '/thanks' }, { redirectUrl: 'must be an http or https URL' }],
  [{ redirectUrl: 'https://a:b@example.com/' }, { redirectUrl: 'must not contain a user name or password' }],
  [
    { redirectUrl: `https://example.com/${'x'.repeat(2029)}` },
    { redirectUrl: 'must be at most 2048 characters' },
  ],
  // Its `href` is longer than the limit, although the text is not.
  [
    { redirectUrl: `https://example.com/${'é'.repeat(1000)}` },
    { redirectUrl: 'must be at most 2048 characters' },
  ],
  [{ pageUrl: 'javascript:alert(1)' }, { pageUrl: 'must be an http or https URL' }],
  [{ pageUrl: '' }, { pageUrl: 'must not be empty' }],
  [{ pageUrl: 'https://a:b@example.com/' }, { pageUrl: 'must not contain a user name or password' }],
  [{ pageUrl: `https://example.com/${'x'.repeat(2029)}` }, { pageUrl: 'must be at most 2048 characters' }],
  [{ afterSubmit: 'thanks' }, { afterSubmit: 'must be one of referer, hosted' }],
  [{ onError: true }, { onError: 'must be one of referer, hosted' }],
  [{ successMessage: 'x'.repeat(1001) }, { successMessage: 'must be at most 1000 characters' }],
  [{ allowedOrigins: ['https://a.example', 'https://b.example/path'] }, { 'allowedOrigins.1': origin }],
  [
    { allowedOrigins: names(101).map((name) => `https://${name}.example`) },
    { allowedOrigins: 'must be at most 100 origins' },
  ],
  [{ perAddress: 0 }, { perAddress: 'must be at least 1' }],
  [{ perAddress: 601 }, { perAddress: 'must be at most 600' }],
  [{ perAddress: '20' }, { perAddress: 'must be a whole number' }],
  [{ nextHosts: 'example.com' }, { nextHosts: 'must be a list of hosts' }],
  ...[
    'https://example.com',
    'example.com/path',
    'user@example.com',
    '*.example.com',
    'a b.example',
    'example.com:0',
    'example.com:65536',
    'example.com:x',
    '[::1',
    'exa%6dple.com',
    '.',
    ':80',
    '1.2.3.4.5',
  ].map((host): (typeof REFUSED)[number] => [
    { nextHosts: ['example.com', host] },
    { 'nextHosts.1': 'must be a host such as example.com or example.com:8443' },
  ]),
  [{ nextHosts: names(51) }, { nextHosts: 'must be at most 50 hosts' }],
  [{ channelIds: [1] }, { channelIds: 'must be ids of channels of this workspace' }],
  [{ channelIds: ['1'] }, { 'channelIds.0': 'must be a whole number' }],
  [{ formKey: 'chosen' }, { formKey: 'is not a known field' }],
  [{ submissions: 5 }, { submissions: 'is not a known field' }],
]

onBothEngines.quick('forms', (server) => {
  test('have a key, an endpoint and default settings that allow everything', async () => {
    const ws = await server().createWorkspace()
    const { status, json } = await make(ws, { name: ' Contact ' })
    const formKey = expect.stringMatching(/^[2-9a-hjkmnp-z]{10}$/)
    expect([status, json]).toEqual([
      201,
      {
        data: {
          formKey,
          name: 'Contact',
          endpoint: `${server().origin}/f/${json.data.formKey}`,
          enabled: true,
          requiredFields: [],
          redirectUrl: null,
          pageUrl: null,
          afterSubmit: 'referer',
          onError: 'referer',
          captcha: false,
          successMessage: null,
          allowedOrigins: [],
          perAddress: 10,
          nextHosts: [],
          channelIds: [],
          uploads: null,
          reply: null,
          spam: { words: [], emails: [], domains: [], maxLinks: null, learn: false },
          spamRetentionDays: 30,
          rules: {},
          messages: {},
          retentionDays: null,
          consent: null,
          brand: { name: null, logo: null, color: null, senderName: null, replyTo: null, footer: null },
          adClickIds: false,
          fieldLabels: {},
          replyTemplates: [],
          submissions: 0,
          lastSubmissionAt: null,
          createdAt: expect.stringMatching(ISO),
          updatedAt: json.data.createdAt,
        },
      },
    ])
    expect((await ws.api(`/forms/${json.data.formKey}`)).json).toEqual(json)
    expect((await ws.api('/forms')).json).toEqual({ data: [json.data], nextCursor: null, total: 1 })
  })

  test('need a name', async () => {
    const ws = await server().createWorkspace()
    const { status, json } = await make(ws, {})
    expect([status, json]).toEqual([422, { error: 'name: is required', errors: { name: 'is required' } }])
  })

  test('are rejected where a setting is wrong, and nothing is created or changed', async () => {
    const ws = await server().createWorkspace()
    const kept = await form(ws)
    for (const [body, errors] of REFUSED) {
      const made = await make(ws, { name: 'New', ...body })
      expect([made.status, made.json.errors]).toEqual([422, errors])
      const changed = await patch(ws, kept.formKey, body)
      expect([changed.status, changed.json.errors]).toEqual([422, errors])
    }
    expect(await all(ws)).toEqual([kept])
  })

  test('take settings up to their limits, and normalize them', async () => {
    const ws = await server().createWorkspace()
    const made = await form(ws, {
      name: '🙂'.repeat(200),
      requiredFields: names(99).concat('x'.repeat(256)),
      redirectUrl: 'HTTPS://Example.com',
      pageUrl: 'HTTPS://Example.com/a b',
      successMessage: 'y'.repeat(1000),
      allowedOrigins: ['https://Example.com:443/', 'https://example.com', 'https://*.Example.com'],
      channelIds: [],
    })
    expect([...made.name]).toHaveLength(200)
    expect(made.requiredFields).toHaveLength(100)
    expect(made.redirectUrl).toBe('https://example.com/')
    expect(made.pageUrl).toBe('https://example.com/a%20b')
    expect(made.allowedOrigins).toEqual(['https://example.com', 'https://*.example.com'])
  })

  test('change only in named fields: null sets the default, and an empty change does nothing', async () => {
    const ws = await server().createWorkspace()
    const settings = {
      enabled: false,
      requiredFields: ['email'],
      redirectUrl: 'https://example.com/thanks',
      pageUrl: 'https://example.com/contact',
      afterSubmit: 'hosted',
      onError: 'hosted',
      captcha: true,
      successMessage: 'Thanks',
      allowedOrigins: ['https://example.com'],
    }
    const made = await form(ws, settings)
    const same = await patch(ws, made.formKey, {})
    expect([same.status, same.json.data]).toEqual([200, made])
    const renamed = (await patch(ws, made.formKey, { name: 'Other' })).json.data
    expect(renamed).toEqual({ ...made, name: 'Other', updatedAt: expect.stringMatching(ISO) })
    const cleared = Object.fromEntries([...Object.keys(settings), 'channelIds'].map((name) => [name, null]))
    const { data } = (await patch(ws, made.formKey, cleared)).json
    const blank = await form(ws, { name: 'Other' })
    const { formKey, endpoint, createdAt, updatedAt } = data
    expect(data).toEqual({ ...blank, formKey, endpoint, createdAt, updatedAt })
  })

  test('are listed newest first, in pages that stay correct while forms are added', async () => {
    const ws = await server().createWorkspace()
    const made: string[] = []
    for (let i = 0; i < 5; i++) made.unshift((await form(ws, { name: `f${i}` })).formKey)
    const first = (await ws.api('/forms?limit=2')).json
    await form(ws, { name: 'late' })
    const second = (await ws.api(`/forms?limit=2&cursor=${first.nextCursor}`)).json
    const third = (await ws.api(`/forms?limit=2&cursor=${second.nextCursor}`)).json
    const keys = [first, second, third].flatMap(({ data }) => data.map((each: FormResource) => each.formKey))
    expect(keys).toEqual(made)
    expect([first.total, third.total, third.nextCursor]).toEqual([5, 6, null])
    for (const cursor of ['x', first.nextCursor.slice(1), (await linksCursor(ws)) as string]) {
      const { status, json } = await ws.api(`/forms?cursor=${cursor}`)
      expect([status, json.errors]).toEqual([
        422,
        { cursor: 'is not a cursor of this list; start again without it' },
      ])
    }
    expect((await ws.api('/forms?page=2')).json.errors).toEqual({ page: 'is not a known parameter' })
  })

  async function linksCursor(ws: TestWorkspace) {
    await ws.createLink()
    await ws.createLink()
    return (await ws.api('/links?limit=1')).json.nextCursor
  }

  test('show the number of submissions and the time of the last one', async () => {
    const ws = await server().createWorkspace()
    const made = await form(ws)
    const other = await form(ws, { name: 'Other' })
    for (const message of ['a', 'b']) {
      const sent = await server().post(`/f/${made.formKey}`, { message })
      expect(sent.status).toBe(200)
    }
    const counted = (await ws.api(`/forms/${made.formKey}`)).json.data
    const [newest] = (await ws.api(`/forms/${made.formKey}/submissions`)).json.data
    expect(counted).toMatchObject({ submissions: 2, lastSubmissionAt: newest.createdAt })
    expect(await all(ws)).toEqual([other, counted])
  })

  test('are deleted with all their submissions, and other forms stay', async () => {
    const ws = await server().createWorkspace()
    const { db } = server().app
    const [gone, kept] = [await form(ws), await form(ws, { name: 'Kept' })]
    const stored: number[] = []
    for (const { formKey } of [gone, kept]) {
      const { id } = await server().row('forms', { form_key: formKey })
      const sent = { workspaceId: ws.id, formId: id }
      stored.push(...(await db.write((connection) => insertSubmissions(connection, sent, [{}]))))
    }
    const { status, json } = await ws.delete(`/forms/${gone.formKey}`)
    expect([status, json.data]).toMatchObject([200, { formKey: gone.formKey, submissions: 1 }])
    for (const path of ['', '/submissions', '/submissions/export']) {
      const answer = await ws.api(`/forms/${gone.formKey}${path}`)
      expect([answer.status, answer.json]).toEqual([404, { error: 'Form not found' }])
    }
    expect((await ws.delete(`/forms/${gone.formKey}`)).status).toBe(404)
    expect((await patch(ws, gone.formKey, { name: 'x' })).status).toBe(404)
    expect((await ws.api(`/submissions/${stored[0]}`)).json).toEqual({ error: 'Submission not found' })
    expect((await ws.api(`/submissions/${stored[1]}`)).status).toBe(200)
    const posted = await server().post(`/f/${gone.formKey}`, { message: 'late' })
    expect([posted.status, posted.json]).toEqual([404, { error: 'Form not found' }])
    const left = await server().rows('submissions', { workspace_id: ws.id })
    expect(left.map(({ id }) => id)).toEqual([stored[1] as number])
  })
})
