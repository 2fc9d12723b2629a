// Imports of submissions: exports of other form services through the API, in the shapes in which they come.

import { describe, expect, test } from 'bun:test'
import { listRows, uploadImport, waitForImport } from '../../../../tests/support/imports/import-client.ts'
import { quick } from '../../../../tests/support/suite.ts'
import { onBothEngines, type TestWorkspace } from '../../../../tests/support/world.ts'
import { createKey } from '../../accounts/access/keys.ts'

const AGENT =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'

onBothEngines('an import of submissions', (server) => {
  async function createFormHere(ws?: TestWorkspace, settings: Record<string, unknown> = {}) {
    const own = ws ?? (await server().createWorkspace())
    const { formKey } = await own.createForm(settings)
    const path = `/forms/${formKey}/submissions/import`
    return {
      ws: own,
      formKey: formKey as string,
      path,
      send: (body: object) => own.post(path, body),
      // biome-ignore lint/suspicious/noExplicitAny: tests read it in every shape
      list: async (): Promise<any[]> => (await own.api(`/forms/${formKey}/submissions`)).json.data,
    }
  }

  const NOTHING = {
    email: null,
    createdAt: expect.any(String),
    country: null,
    device: null,
    pageUrl: null,
    referrer: null,
    utmSource: null,
    status: 'read',
    attribution: 'none',
    linkId: null,
  }
  const CREATED = '2026-02-03T20:30:00.000Z'

  test.each<[string, unknown, object]>([
    [
      'Formspree as JSON',
      {
        fields: ['_id', '_date', '_replyto', 'message', '_status'],
        submissions: [
          {
            _date: '2026-02-03T20:30:00.707632',
            _id: 2,
            _replyto: 'ada@example.com',
            message: 'Hello',
            date: '24.12.2026',
            _status: { 'plugin:discord': { processed: true } },
          },
        ],
      },
      {
        createdAt: '2026-02-03T20:30:00.707Z',
        email: 'ada@example.com',
        fields: { message: 'Hello', date: '24.12.2026' },
      },
    ],
    [
      'Formspree as CSV',
      '_date,email,message,_status\n2026-02-03T20:30:00+00:00,ada@example.com,"Hello, you",delivered\n',
      {
        createdAt: CREATED,
        email: 'ada@example.com',
        fields: { email: 'ada@example.com', message: 'Hello, you' },
      },
    ],
    [
      'Netlify as JSON',
      [
        {
          number: 6,
          title: 'Ada',
          email: 'ada@example.com',
          summary: 'Hello',
          data: {
            name: 'Ada',
            email: 'ada@example.com',
            interests: ['a', 'b'],
            ip: '203.0.113.7',
            user_agent: AGENT,
            referrer: 'https://site.example/form.html?utm_source=news&secret=1',
          },
          created_at: CREATED,
          human_fields: { Name: 'Ada' },
          id: '5f85b4ee',
        },
      ],
      {
        createdAt: CREATED,
        email: 'ada@example.com',
        fields: { name: 'Ada', email: 'ada@example.com', interests: 'a, b' },
        country: 'AU',
        device: 'Mobile',
        pageUrl: 'https://site.example/form.html',
        utmSource: 'news',
      },
    ],
    [
      'Netlify as CSV, in another order',
      `ip,message,user_agent,name,created_at,referrer\n203.0.113.7,Hello,"${AGENT}",Ada,2026-02-03 20:30:00 UTC,https://site.example/\n`,
      {
        createdAt: CREATED,
        fields: { message: 'Hello', name: 'Ada' },
        country: 'AU',
        device: 'Mobile',
        pageUrl: 'https://site.example/',
      },
    ],
    [
      'Basin as JSON',
      {
        submissions: [
          {
            id: 7,
            created_at: CREATED,
            spam: true,
            ip: '203.0.113.7',
            payload_params: { email: 'ada@example.com', id: '42', 'g-recaptcha-response': 'xyz' },
          },
        ],
      },
      {
        createdAt: CREATED,
        email: 'ada@example.com',
        fields: { email: 'ada@example.com', id: '42' },
        country: 'AU',
        status: 'spam',
      },
    ],
    [
      'Basin as CSV',
      'Submission ID;Created At;Spam;Email;Page URL;Referrer;utm_source\n7;2026-02-03 20:30:00;false;ada@example.com;https://site.example/a?utm_source=x;https://www.search.example/;ads\n',
      {
        createdAt: CREATED,
        email: 'ada@example.com',
        fields: { Email: 'ada@example.com' },
        pageUrl: 'https://site.example/a',
        referrer: 'search.example',
        utmSource: 'ads',
      },
    ],
    [
      'Web3Forms as CSV',
      'Date,Name,Email,Message\n"Feb 3, 2026, 8:30 PM",Ada,ada@example.com,\n',
      { createdAt: CREATED, email: 'ada@example.com', fields: { Name: 'Ada', Email: 'ada@example.com' } },
    ],
    [
      'Getform as JSON',
      {
        success: true,
        data: {
          id: '3e7422dd',
          submissions: [{ name: 'Ada', id: 14013383, submissionDate: '25-02-2026 20:30' }],
          pagination: { count: 1 },
        },
      },
      { createdAt: '2026-02-25T20:30:00.000Z', fields: { name: 'Ada' } },
    ],
    [
      'a list with numbers, flags, nulls and objects',
      [{ age: 7, yes: true, none: null, where: { city: 'Ulm' }, empty: '', submitted_at: 1_770_150_600 }],
      { createdAt: CREATED, fields: { age: '7', yes: 'true', where: '{"city":"Ulm"}' } },
    ],
  ])('reads %s', async (_, file, expected) => {
    const { send, list } = await createFormHere()
    const { status, json } = await send({ file })
    expect([status, json.data]).toMatchObject([
      202,
      { status: 'done', source: 'submissions', rows: 1, created: 1, skipped: 0, failed: 0, errors: [] },
    ])
    expect(await list()).toMatchObject([{ ...NOTHING, ...expected }])
  })

  test('a repetition makes no second submission, in another format and order either', async () => {
    const form = await createFormHere()
    const csv =
      'created_at,name,message\n2026-02-03T20:30:00Z,Ada,Hello\n2026-02-03T20:30:00Z,Ada,Hello\n,Bob,\n'
    expect((await form.send({ file: csv })).json.data).toMatchObject({ created: 3, skipped: 0 })
    const json = [
      { message: 'Hello', name: 'Ada', created_at: '2026-02-03T20:30:00.000Z' },
      { name: 'Eve', created_at: '2026-02-03T20:30:00.000Z' },
    ]
    const again = (await form.send({ file: json })).json.data
    expect(again).toMatchObject({ created: 1, skipped: 1 })
    expect(await listRows(form.ws, again.id)).toEqual([
      '1 submission skipped: Imported before.',
      '2 submission created',
    ])
    const byId = 'id,created_at,name\n1,2026-02-03T20:30:00Z,Ada\n1,2026-02-03T20:30:00Z,Changed\n'
    expect((await form.send({ file: byId })).json.data).toMatchObject({ created: 1, skipped: 1 })
    // Another form may get the same file.
    const other = await createFormHere(form.ws)
    expect((await other.send({ file: csv })).json.data).toMatchObject({ created: 3 })
    expect((await form.list()).length).toBe(5)
  })

  test('a dry run changes nothing, and its file is imported afterwards; an undo takes it back', async () => {
    const form = await createFormHere()
    const file = new Blob(['created_at,name\n2026-02-03,Ada\n2026-02-04,Bob\n2026-02-04,\nnever,Eve\n'])
    const fields: [string, string | Blob][] = [
      ['dryRun', 'true'],
      ['file', file],
    ]
    const dry = (await uploadImport(server(), form.ws, fields, form.path)).json.data
    expect(dry).toMatchObject({ dryRun: true, status: 'done', created: 2, failed: 2, formKey: form.formKey })
    expect(dry.errors).toEqual([
      { row: 4, field: null, value: null, message: 'The row has no fields.' },
      {
        row: 5,
        field: 'created_at',
        value: 'never',
        message: 'This date cannot be read. Write it as 2025-11-03 16:05:00.',
      },
    ])
    expect(await form.list()).toEqual([])
    const done = (await form.send({ from: dry.id })).json.data
    expect(done).toMatchObject({ dryRun: false, created: 2, failed: 2 })
    const [bob] = await form.list()
    await form.ws.patch(`/submissions/${bob.id}`, { notes: 'Called' })
    const undone = (await form.ws.delete(`/imports/${done.id}`)).json.data
    expect(undone).toMatchObject({ status: 'undone', kept: [{ kind: 'submission', id: bob.id }] })
    expect((await form.list()).map(({ fields }) => fields)).toEqual([{ name: 'Bob' }])
    const audit = await server()
      .app.db.read.selectFrom('audit_events')
      .select(['action', 'detail'])
      .where('workspace_id', '=', form.ws.id)
      .where('action', 'like', 'import.%')
      .orderBy('id')
      .execute()
    expect(audit.map(({ action, detail }) => [action, JSON.parse(detail)])).toEqual([
      ['import.created', { source: 'submissions', dryRun: true, formKey: form.formKey }],
      ['import.created', { source: 'submissions', dryRun: false, formKey: form.formKey }],
      ['import.undone', {}],
    ])
  })

  test('a row beyond the limits of a submission fails alone, and an odd header is a field', async () => {
    const { send, list } = await createFormHere()
    const wide = Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`f${i}`, 'x']))
    const file = [
      wide,
      { '': 'x', constructor: 'a', toString: 'b', long: 'x'.repeat(70_000) },
      { constructor: 'a' },
    ]
    const { json } = await send({ file })
    expect(json.data).toMatchObject({ created: 1, failed: 2 })
    expect(json.data.errors[0].message).toStartWith('A submission has at most 256 fields')
    expect((await list()).map(({ fields }) => fields)).toEqual([{ constructor: 'a' }])
  })

  test('notifies nobody, answers nobody, and is in the export with its own time', async () => {
    const ws = await server().createWorkspace()
    const hook = { type: 'webhook', name: 'Hook', url: 'https://hook.example/' }
    const channel = (await ws.post('/channels', hook)).json.data
    const form = await createFormHere(ws, { channelIds: [channel.id], requiredFields: ['phone'] })
    await form.send({
      file: 'created_at,email,spam\n2024-02-03,ada@example.com,0\n2024-02-04,bob@example.com,1\n',
    })
    const [spam] = await form.list()
    await ws.patch(`/submissions/${spam.id}`, { status: 'read' })
    expect((await ws.api('/deliveries')).json.data).toEqual([])
    const { text } = await ws.api(`/forms/${form.formKey}/submissions/export?format=csv`)
    expect(text).toContain('2024-02-03T00:00:00.000Z')
    expect((await ws.api('/submissions?search=ada@')).json.total).toBe(1)
  })

  describe('is refused', () => {
    test.each<[string, object, string]>([
      ['an ambiguous date', { file: 'Date,Name\n03/04/2026,Ada\n' }, 'could mean two days'],
      ['no rows', { file: 'Date,Name\n' }, 'The file has no submissions.'],
      [
        'a web page',
        { file: '<html></html>' },
        'This is a web page or XML. Export CSV or JSON, and import that.',
      ],
      ['a broken file', { file: '[{"a": 1}, {"b"' }, 'The file ends in the middle of record 2'],
      [
        'a dump',
        { file: 'CREATE TABLE a (b text);\nINSERT INTO a VALUES (1);' },
        'imported from CSV or JSON',
      ],
    ])('for %s, with a sentence', async (_, body, problem) => {
      const { send, list } = await createFormHere()
      const { status, json } = await send(body)
      expect([status, json.data.status]).toEqual([202, 'failed'])
      expect(json.data.problem).toContain(problem)
      expect(await list()).toEqual([])
    })

    test('before it begins, where the request is wrong', async () => {
      const form = await createFormHere()
      const { send } = form
      const csv = 'Date,Name\n03/04/2026,Ada\n'
      expect((await send({})).json.errors).toEqual({ file: 'is required' })
      expect((await send({ file: '' })).json.errors).toEqual({ file: 'is empty' })
      expect((await send({ file: csv, source: 'csv' })).json.errors).toEqual({
        source: 'is not a known field',
      })
      expect((await send({ from: 999 })).json.errors).toEqual({ from: 'is not a dry run of this workspace' })
      const dry = (await send({ file: csv, dryRun: true, dateOrder: 'dmy' })).json.data
      const other = await createFormHere(form.ws)
      expect((await other.send({ from: dry.id })).json.errors).toEqual({
        from: 'is not a dry run of submissions for this form',
      })
      expect((await form.ws.post('/imports', { from: dry.id })).json.errors).toEqual({
        from: 'is a dry run of submissions: import them into its form',
      })
      const foreign = await server().createWorkspace()
      const { status, json } = await foreign.post(form.path, { file: csv })
      expect([status, json]).toEqual([404, { error: 'Form not found' }])
    })
  })

  test('is seen by keys that may read and write submissions, and by no other', async () => {
    const form = await createFormHere()
    const makeKey = async (...scopes: ('links:read' | 'submissions:read' | 'submissions:write')[]) => {
      const { key } = await createKey({ db: server().app.db, now: server().now }, form.ws.id, 'key', {
        scopes,
      })
      return { Authorization: `Bearer ${key}` }
    }
    const body = { file: 'created_at,name\n2026-02-03,Ada\n' }
    const write = await makeKey('submissions:write')
    const made = await form.ws.post(form.path, body, write)
    expect([made.status, Object.keys(made.json.data)]).toEqual([202, ['id']])
    const path = `/imports/${made.json.data.id}`
    const both = await makeKey('links:read', 'submissions:read', 'submissions:write')
    expect((await form.ws.api(path, { headers: both })).json.data).toMatchObject({ created: 1 })
    const links = await makeKey('links:read')
    expect((await form.ws.api(path, { headers: links })).status).toBe(404)
    expect((await form.ws.post(form.path, body, links)).status).toBe(403)
  })

  quick('many rows come in batches, each once', async () => {
    const form = await createFormHere()
    const rows = Array.from(
      { length: 120 },
      (_, i) => `${i},2026-02-03T00:00:${String(i % 60).padStart(2, '0')}Z,Ada`,
    )
    const { json } = await form.send({ file: ['id,created_at,name', ...rows].join('\n') })
    expect(await waitForImport(form.ws, json.data.id)).toMatchObject({ rows: 120, created: 120, progress: 1 })
    expect((await form.ws.api(`/forms/${form.formKey}`)).json.data.submissions).toBe(120)
  })
})
