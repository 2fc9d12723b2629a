import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { readXlsx } from 'hucre/xlsx'
import { until } from '../../../../tests/support/until.ts'
import { onBothEngines, type TestServer } from '../../../../tests/support/world.ts'
import { toByteStream } from '../../../http/send-file.ts'
import { exportSubmissions } from './export-submissions.ts'
import { insertSubmissions, type TestSubmission } from './submission.fixture.ts'

async function testForm(server: TestServer) {
  const ws = await server.createWorkspace()
  const { formKey } = await ws.createForm()
  const { id: formId } = await server.row('forms', { form_key: formKey })
  return {
    ws,
    formKey,
    store: (submissions: TestSubmission[]) =>
      server.app.db.write((connection) =>
        insertSubmissions(connection, { workspaceId: ws.id, formId }, submissions),
      ),
    exported: (query = '', method = 'GET') =>
      ws.api(`/forms/${formKey}/submissions/export${query && `?${query}`}`, { method }),
  }
}

const lines = (text: string) => text.trimEnd().split(/\r?\n/)

onBothEngines('the export of submissions', (server) => {
  test('is CSV with a column for every field ever used, between our own columns', async () => {
    const { store, exported, formKey } = await testForm(server())
    const [first, second, third] = await store([
      {
        fields: [
          ['b', '1'],
          ['=x', '=1+1'],
        ],
        created_at: 1000,
        status: 'read',
      },
      {
        fields: [
          ['a', 'say "hi", you'],
          ['id', '@SUM(A1)'],
        ],
        created_at: 2000,
        notes: '-1',
        country: 'DE',
      },
      { fields: [], created_at: 3000, link_id: 17, utm_source: '=u', attribution: 'inferred' },
    ])
    const { status, headers, text } = await exported()
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    expect(headers.get('content-disposition')).toBe(`attachment; filename=submissions-${formKey}.csv`)
    expect(headers.get('cache-control')).toBe('no-store')
    const ours =
      'files,notes,email,duplicateOf,referrer,pageUrl,landingUrl,utmSource,utmMedium,utmCampaign,utmTerm,utmContent,' +
      'linkId,clickId,eventId,sessionLinked,attribution,device,browser,os,country,region,city,' +
      'outcome,outcomeValue,outcomeCurrency,consent,consentAt'
    expect(text).toBe(
      [
        `id,createdAt,status,b,'=x,a,fields.id,${ours}`,
        `${first},1970-01-01T00:00:01.000Z,read,1,'=1+1,,,,,,,,,,,,,,,,,,false,none,,,,,,,,,,,`,
        `${second},1970-01-01T00:00:02.000Z,new,,,"say ""hi"", you",'@SUM(A1),,-1,,,,,,,,,,,,,,false,none,,,,DE,,,,,,,`,
        `${third},1970-01-01T00:00:03.000Z,new,,,,,,,,,,,,'=u,,,,,17,,,false,inferred,,,,,,,,,,,`,
        '',
      ].join('\r\n'),
    )
  })

  test('has the same columns for any filter, even without rows', async () => {
    const { store, exported } = await testForm(server())
    const empty = lines((await exported()).text)
    expect(empty).toHaveLength(1)
    expect(empty[0]).toStartWith('id,createdAt,status,files,notes,')
    await store([{ fields: [['a', 'x']], status: 'spam' }, { fields: [['b', 'y']] }])
    const [header, ...rows] = lines((await exported('status=spam')).text)
    expect(header).toStartWith('id,createdAt,status,a,b,files,notes')
    expect(rows).toHaveLength(1)
    expect(lines((await exported('search=nothing')).text)).toEqual([header as string])
  })

  test('is JSON or NDJSON with whole submissions and unescaped texts', async () => {
    const { ws, store, exported } = await testForm(server())
    const ids = await store([
      {
        fields: [
          ['10', '=1'],
          ['2', 'two'],
        ],
      },
      {},
      { status: 'spam' },
    ])
    const whole = await Promise.all(ids.map(async (id) => (await ws.api(`/submissions/${id}`)).json.data))
    const json = await exported('format=json')
    expect(json.headers.get('content-type')).toBe('application/json')
    expect(json.json).toEqual({ data: whole })
    expect(json.text).toContain('"fields":{"10":"=1","2":"two"}')
    const ndjson = await exported('format=ndjson')
    expect(ndjson.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    expect(lines(ndjson.text).map((line) => JSON.parse(line))).toEqual(whole)
    expect((await exported('format=json&status=spam')).json).toEqual({ data: [whole[2]] })
    expect((await exported('format=json&status=read')).json).toEqual({ data: [] })
    expect((await exported('format=ndjson&status=read')).text).toBe('')
    expect((await exported('format=xml')).json.errors).toEqual({
      format: 'must be one of csv, json, ndjson, xlsx',
    })
  })

  test('is CSV as a spreadsheet of any country opens it', async () => {
    const { ws, store, exported, formKey } = await testForm(server())
    await store([
      {
        fields: [
          ['tel', '+49 170 1234567'],
          ['sum', '-3,50'],
          ['note', 'a;b'],
          ['x', '=1+1'],
        ],
        created_at: Date.parse('2026-03-29T12:05:07.890Z'),
      },
    ])
    const { text } = await exported('bom=true&delimiter=%3B&timezone=Europe/Berlin')
    const [header, row] = lines(text)
    expect(header).toStartWith('id;createdAt;status;tel;sum;note;x;')
    expect(row).toContain(`;2026-03-29 14:05:07;new;+49 170 1234567;-3,50;"a;b";'=1+1;`)
    const marked = await fetch(`${server().origin}/v1/forms/${formKey}/submissions/export?bom=true`, {
      headers: { Authorization: `Bearer ${ws.key}` },
    })
    expect(Buffer.from(await marked.bytes()).toString('hex', 0, 5)).toBe('efbbbf6964')
    expect(lines((await exported('delimiter=%09')).text)[1]).toContain("\t-3,50\ta;b\t'=1+1\t")
    expect((await exported('bom=false&delimiter=comma')).text).toBe((await exported()).text)
    for (const query of [
      'bom=1&delimiter=x&timezone=Mars/Base',
      'format=json&bom=true&delimiter=comma&timezone=Europe/Berlin',
    ]) {
      const refused = await exported(query)
      expect([refused.status, Object.keys(refused.json.errors).sort()]).toEqual([
        422,
        ['bom', 'delimiter', 'timezone'],
      ])
    }
  })

  test('is a workbook whose texts are texts and whose times are times', async () => {
    const { ws, store, formKey } = await testForm(server())
    const long = 'x'.repeat(40_000)
    const fields: [string, string][] = [
      ['=x', '=1+1'],
      ['tel', '+49170'],
      ['zip', '0012'],
      ['odd', 'ab\u0001\r\n_x0041_ <&>\uffff🚲 '],
      ['long', long],
    ]
    const created_at = Date.parse('2026-03-29T12:05:07.890Z')
    const [id] = await store([
      { fields, created_at, email: 'a@b.co' },
      ...Array.from({ length: 120 }, () => ({ created_at })),
    ])
    const read = async (query = '') => {
      const path = `/v1/forms/${formKey}/submissions/export?format=xlsx${query}`
      const response = await fetch(server().origin + path, { headers: { Authorization: `Bearer ${ws.key}` } })
      const { sheets } = await readXlsx(await response.bytes())
      return { response, rows: sheets[0]?.rows ?? [] }
    }
    const { response, rows } = await read()
    expect(response.headers.get('content-type')).toBe(
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    )
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename=submissions-${formKey}.xlsx`,
    )
    expect(rows).toHaveLength(122)
    expect(rows[0]?.slice(0, 9)).toEqual([
      'id',
      'createdAt',
      'status',
      "'=x",
      'tel',
      'zip',
      'odd',
      'long',
      'message',
    ])
    const time = new Date('2026-03-29T12:05:07Z')
    const texts = ['=1+1', '+49170', '0012', 'ab\n_x0041_ <&>🚲 ', `${long.slice(0, 32_766)}…`]
    expect(rows[1]?.slice(0, 8)).toEqual([id ?? 0, time, 'new', ...texts])
    const [, [, local] = []] = (await read('&timezone=Europe/Berlin')).rows
    expect(local).toEqual(new Date('2026-03-29T14:05:07Z'))
  })

  test('has every submission once, over many pages, even where many have the same time', async () => {
    const { store, exported } = await testForm(server())
    const ids = await store(
      Array.from({ length: 501 }, (_, i) => ({
        fields: [[`f${i % 7}`, `${i}`]],
        created_at: 1000 + (i >> 6),
      })),
    )
    for (const format of ['csv', 'json', 'ndjson']) {
      const { text, json } = await exported(`format=${format}`)
      const found =
        format === 'csv'
          ? lines(text)
              .slice(1)
              .map((line) => Number.parseInt(line, 10))
          : (format === 'json' ? json.data : lines(text).map((line) => JSON.parse(line))).map(
              ({ id }: { id: number }) => id,
            )
      expect(found).toEqual(ids)
    }
  })

  test('has the submissions at the time of the request, and none that come later', async () => {
    const { ws, store, formKey } = await testForm(server())
    const ids = await store(Array.from({ length: 120 }, () => ({ fields: [['a', 'x']] })))
    const actor = { kind: 'key', workspaceId: ws.id, plan: 'enterprise', keyId: null } as const
    const needs = { db: server().app.db, origin: server().origin, resolvePendingAttribution: async () => {} }
    const signal = new AbortController().signal
    const pieces = await exportSubmissions(needs, actor, formKey, {}, { format: 'csv' }, signal)
    await store([{ fields: [['late', 'x']], created_at: server().now() }])
    let text = ''
    for await (const piece of pieces) text += piece
    expect(lines(text)).toHaveLength(1 + ids.length)
    expect(text).not.toContain('late')
  })

  test('reads a page only when the reader wants it, and stops when the reader is gone', async () => {
    const { ws, store, formKey } = await testForm(server())
    await store(Array.from({ length: 300 }, () => ({})))
    let pages = 0
    const needs = {
      db: server().app.db,
      origin: server().origin,
      resolvePendingAttribution: async () => void pages++,
    }
    const actor = { kind: 'key', workspaceId: ws.id, plan: 'enterprise', keyId: null } as const
    const gone = new AbortController()
    const pieces = await exportSubmissions(needs, actor, formKey, {}, { format: 'ndjson' }, gone.signal)
    expect(pages).toBe(0)
    await pieces.next()
    expect(pages).toBe(1)
    await pieces.next()
    expect(pages).toBe(2)
    gone.abort()
    expect(await pieces.next()).toEqual({ value: undefined, done: true })
    expect(pages).toBe(2)
  })

  test('lets redirects run while it counts the columns of a big form', async () => {
    const { ws, store, exported } = await testForm(server())
    await store(Array.from({ length: 800 }, () => ({ fields: [['a', 'x'.repeat(500)]] })))
    const link = await ws.createLink()
    let done = false
    const whole = exported().finally(() => {
      done = true
    })
    let answered = 0
    while (!done) {
      expect((await server().click(link.slug)).status).toBe(302)
      answered += 1
    }
    expect(lines((await whole).text)).toHaveLength(801)
    expect(answered).toBeGreaterThan(3)
  })
})

describe('a streamed body', () => {
  function serve(pieces: () => AsyncGenerator<string>) {
    return Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response(toByteStream(pieces(), 'id')),
    })
  }

  test('waits for a slow reader, and stops when the reader is gone', async () => {
    let made = 0
    let ended = false
    async function* pieces() {
      try {
        for (; made < 3000; made++) {
          // Stands for the time of a page: without a turn of the event loop, nothing is sent.
          await new Promise((resolve) => setImmediate(resolve))
          yield 'x'.repeat(100_000)
        }
      } finally {
        ended = true
      }
    }
    const server = serve(pieces)
    const socket = connect(server.port as number, '127.0.0.1')
    socket.pause()
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    let [before, looks] = [0, 0]
    // The body stops once the kernel's buffers are full.
    await until('it stands still', () => {
      looks = made === before ? looks + 1 : 0
      before = made
      return made > 0 && looks > 10
    })
    expect(made).toBeLessThan(300)
    socket.destroy()
    await until('it has ended', () => ended)
    expect(made).toBeLessThan(300)
    await server.stop(true)
  })

  test('breaks the connection where reading fails, so that half a file does not look complete', async () => {
    async function* pieces() {
      yield 'half a file'
      await new Promise((resolve) => setImmediate(resolve))
      throw new Error('the store is gone')
    }
    const server = serve(pieces)
    const read = async () => (await fetch(server.url)).text()
    await expect(read()).rejects.toThrow()
    await server.stop(true)
  })
})
