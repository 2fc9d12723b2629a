import { expect, test } from 'bun:test'
import { onBothEngines, type TestServer, type TestWorkspace } from '../../../tests/support/world.ts'
import { insertSubmissions, type TestSubmission } from '../forms/submissions/submission.fixture.ts'
import type { OutcomeResource } from './schema.ts'

const HOUR_MS = 3_600_000
const record = (ws: TestWorkspace, body: unknown) => ws.post('/outcomes', body)
const list = async (ws: TestWorkspace, query = '') => {
  const { status, json } = await ws.api(`/outcomes${query}`)
  expect(status).toBe(200)
  return json as { data: OutcomeResource[]; nextCursor: string | null; total: number }
}

/** Leads of a new form, a minute apart. */
async function createLeads(server: TestServer, ws: TestWorkspace, leads: TestSubmission[]) {
  const { formKey } = await ws.createForm({ name: 'Quote' })
  const { db } = server.app
  const { id: formId } = await server.row('forms', { form_key: formKey })
  const begin = server.now() - HOUR_MS
  const rows = leads.map((lead, i) => ({
    announced: 1,
    email: null,
    click_id: null,
    duplicate_of: null,
    created_at: begin + i * 60_000,
    ...lead,
  }))
  const form = { workspaceId: ws.id, formId }
  const ids = await db.write((connection) => insertSubmissions(connection, form, rows))
  return { formKey, ids, times: rows.map((row) => row.created_at) }
}

onBothEngines('outcomes of leads', (server) => {
  test('are recorded alone, as a list, and as an object with a list', async () => {
    const ws = await server().createWorkspace()
    const { ids, formKey } = await createLeads(server(), ws, [{}, { email: 'ada@example.com' }])
    const one = await record(ws, { submissionId: ids[0], stage: 'won', value: '1299.5', currency: 'eur' })
    expect(one.status).toBe(201)
    expect(one.json.data).toEqual({
      id: expect.any(Number),
      submissionId: ids[0],
      formKey,
      linkId: null,
      stage: 'won',
      value: '1299.50',
      currency: 'EUR',
      at: expect.any(String),
      externalId: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    const many = [
      { submissionId: ids[0], stage: 'lost' },
      { email: 'ADA@example.com', stage: 'qualified' },
    ]
    for (const body of [many, { outcomes: many }]) {
      const { status, json } = await record(ws, body)
      const recorded = json.data.map(({ submissionId, stage }: OutcomeResource) => [submissionId, stage])
      expect([status, recorded]).toEqual([
        201,
        [
          [ids[0], 'lost'],
          [ids[1], 'qualified'],
        ],
      ])
    }
    expect((await list(ws)).total).toBe(5)
  })

  test('belong to the latest lead of an address or a click before the time', async () => {
    const ws = await server().createWorkspace()
    const ada = { email: 'Ada@example.com', click_id: 'c1' }
    const { ids, times } = await createLeads(server(), ws, [
      ada,
      ada,
      { ...ada, status: 'spam' },
      { ...ada, announced: 0 },
      { ...ada, duplicate_of: 1 },
    ])
    const at = (which: number, add = 0) => new Date((times[which] ?? 0) + add).toISOString()
    for (const who of [{ email: 'ada@EXAMPLE.com' }, { clickId: 'c1' }]) {
      const leads = [{}, { at: at(1) }, { at: at(1, -1) }].map((time) => ({ ...who, ...time, stage: 'won' }))
      const { json } = await record(ws, leads)
      expect(json.data.map((each: OutcomeResource) => each.submissionId)).toEqual([ids[1], ids[1], ids[0]])
      const early = await record(ws, { ...who, at: at(0, -1), stage: 'won' })
      expect([early.status, Object.keys(early.json.errors)]).toEqual([422, Object.keys(who)])
    }
  })

  test('are told with their lead, choose leads by stage, and are in the exports of submissions', async () => {
    const ws = await server().createWorkspace()
    const { ids, formKey } = await createLeads(server(), ws, [{}, {}, {}])
    const [ada, bo, cy] = ids as [number, number, number]
    const begin = server().now() - HOUR_MS / 2
    const at = (minute: number) => new Date(begin + minute * 60_000).toISOString()
    await record(ws, [
      { submissionId: ada, stage: 'won', value: '1299.5', currency: 'EUR', at: at(1) },
      { submissionId: ada, stage: 'qualified', at: at(0) },
      { submissionId: ada, stage: 'won', value: '0.505', currency: 'EUR', at: at(2) },
      { submissionId: ada, stage: 'won', value: '5000', currency: 'JPY', at: at(3) },
      { submissionId: bo, stage: 'lost', value: '9', currency: 'EUR' },
    ])
    const submissions = async (query: string): Promise<{ id: number; outcomes: object[] }[]> =>
      (await ws.api(query)).json.data
    const [none, lost, won] = await submissions('/submissions')
    expect([none?.outcomes, lost?.outcomes]).toMatchObject([[], [{ stage: 'lost', value: '9.00' }]])
    expect(won?.outcomes).toEqual([
      { stage: 'qualified', value: null, currency: null, at: at(0) },
      { stage: 'won', value: '1299.50', currency: 'EUR', at: at(1) },
      { stage: 'won', value: '0.505', currency: 'EUR', at: at(2) },
      { stage: 'won', value: '5000', currency: 'JPY', at: at(3) },
    ])
    expect((await ws.api(`/submissions/${ada}`)).json.data.outcomes).toEqual(won?.outcomes)
    for (const [query, found] of [
      ['stage=won', [ada]],
      ['stage=qualified', [ada]],
      ['stage=lost', [bo]],
      ['stage=lost&status=archived', []],
      ['latestStage=won', [ada]],
      ['latestStage=qualified', []],
      ['latestStage=contacted', []],
      ['latestStage=new', [cy]],
    ] as const) {
      for (const path of ['/submissions', `/forms/${formKey}/submissions`])
        expect((await submissions(`${path}?${query}`)).map(({ id }) => id)).toEqual([...found])
      expect((await ws.api(`/submissions?${query}`)).json.total).toBe(found.length)
    }
    expect((await ws.api('/submissions?stage=open')).json.errors).toEqual({
      stage: 'must be one of contacted, qualified, won, lost',
    })
    const { text } = await ws.api(`/forms/${formKey}/submissions/export`)
    const [header = '', ...rows] = text.split('\r\n')
    expect(header).toEndWith('city,outcome,outcomeValue,outcomeCurrency,consent,consentAt')
    expect(rows.map((row) => /,(\w*,(?:"[^"]*"|[\d.]*),(?:"[^"]*"|\w*)),,$/.exec(row)?.[1])).toEqual([
      'won,"1300.005, 5000","EUR, JPY"',
      'lost,,',
      ',,',
      undefined,
    ])
    const json = JSON.parse((await ws.api(`/forms/${formKey}/submissions/export?format=json`)).text)
    expect(json.data.map((each: { outcomes: object[] }) => each.outcomes.length)).toEqual([4, 1, 0])
    expect(cy).toBe(none?.id as number)
  })

  test('change with their external id, and never double', async () => {
    const ws = await server().createWorkspace()
    const { ids } = await createLeads(server(), ws, [{}, {}])
    const order = { submissionId: ids[0], externalId: 'order-1' }
    const first = await record(ws, { ...order, stage: 'qualified', value: '10', currency: 'EUR' })
    server().advanceClock(1000)
    const same = await record(ws, { ...order, stage: 'qualified', value: '11.00' })
    expect([first.status, same.status, same.json.data.id]).toEqual([201, 200, first.json.data.id])
    expect(same.json.data).toMatchObject({ value: '11.00', currency: 'EUR', at: first.json.data.at })
    const won = await record(ws, [{ ...order, submissionId: ids[1], stage: 'won' }])
    expect(won.status).toBe(200)
    expect(won.json.data[0]).toMatchObject({ submissionId: ids[1], stage: 'won', value: '11.00' })
    expect(won.json.data[0].at > first.json.data.at).toBe(true)
    const cleared = await record(ws, { ...order, stage: 'won', value: null, currency: null })
    expect(cleared.json.data).toMatchObject({ value: null, currency: null })
    const wrong = await record(ws, { ...order, stage: 'won', value: '1' })
    expect(wrong.json.errors).toEqual({ currency: 'is required with a value' })
    expect((await list(ws)).total).toBe(1)

    const other = await server().createWorkspace()
    const theirs = await createLeads(server(), other, [{}])
    const same2 = await record(other, { ...order, submissionId: theirs.ids[0], stage: 'won' })
    expect([same2.status, (await list(ws)).total]).toEqual([201, 1])
  })

  test('with one external id at once are one', async () => {
    const ws = await server().createWorkspace()
    const { ids } = await createLeads(server(), ws, [{}])
    const bodies = Array.from({ length: 8 }, (_, i) =>
      ['a', 'b', 'c'].map((externalId, j, all) => ({
        submissionId: ids[0],
        stage: 'won',
        externalId: i % 2 ? all[2 - j] : externalId,
      })),
    )
    const answers = await Promise.all(bodies.map((body) => record(ws, body)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7)
    expect((await list(ws)).total).toBe(3)
    const twice = await record(ws, [
      { submissionId: ids[0], stage: 'won', externalId: 'd' },
      bodies[0]?.[0],
      bodies[0]?.[0],
    ])
    expect([twice.status, twice.json]).toEqual([
      409,
      { error: 'External id already in use', errors: { '2.externalId': 'External id already in use' } },
    ])
    expect((await list(ws)).total).toBe(3)
  })

  test('are refused at their field, all of them, and nothing is stored', async () => {
    const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const { ids } = await createLeads(server(), ws, [
      { email: 'ada@example.com' },
      { status: 'spam' },
      { announced: 0 },
    ])
    const theirs = await createLeads(server(), other, [{ email: 'bob@example.com', click_id: 'c9' }])
    const good = { submissionId: ids[0], stage: 'won', value: '5.00', currency: 'EUR' }
    const { submissionId: _, ...nobody } = good
    const soon = (ms: number) => new Date(server().now() + ms).toISOString()
    const cases: [object, string][] = [
      ...[
        '1e400',
        '-0',
        '-1',
        '+1',
        '1,5',
        '1.000,50',
        'NaN',
        'Infinity',
        '',
        ' 1',
        '1 ',
        '.5',
        '5.',
        '0x1',
        '01',
        '1_0',
        '１',
      ].map((value): [object, string] => [{ ...good, value }, 'value']),
      ...[5, 1.5, true, [], {}].map((value): [object, string] => [{ ...good, value }, 'value']),
      [{ ...good, value: '1.00001' }, 'value'],
      [{ ...good, value: '1.001', currency: 'JPY' }, 'value'],
      [{ ...good, value: '1'.repeat(16) }, 'value'],
      ...['EURO', 'ABC', 'DEM', 'XXX', 'XAU', '', 'E', '978', '€', 'ÉUR'].map(
        (currency): [object, string] => [{ ...good, currency }, 'currency'],
      ),
      [{ ...good, currency: null }, 'currency'],
      [{ ...good, stage: 'lead' }, 'stage'],
      [{ submissionId: ids[0] }, 'stage'],
      [{ ...good, at: soon(HOUR_MS + 60_000) }, 'at'],
      [{ ...good, at: '2026-02-30T00:00:00Z' }, 'at'],
      [{ ...good, at: '2026-02-03' }, 'at'],
      [{ ...good, email: 'ada@example.com' }, 'email'],
      [{ ...good, clickId: 'c9' }, 'clickId'],
      [nobody, 'submissionId'],
      [{ ...nobody, email: 'nobody' }, 'email'],
      [{ ...nobody, email: 'bob@example.com' }, 'email'],
      [{ ...nobody, clickId: 'c9' }, 'clickId'],
      [{ ...good, submissionId: theirs.ids[0] }, 'submissionId'],
      [{ ...good, submissionId: 999_999_999 }, 'submissionId'],
      [{ ...good, submissionId: ids[1] }, 'submissionId'],
      [{ ...good, submissionId: ids[2] }, 'submissionId'],
      [{ ...good, externalId: '' }, 'externalId'],
      [{ ...good, externalId: 'x'.repeat(256) }, 'externalId'],
      [{ ...good, score: 1 }, 'score'],
    ]
    for (const [body, field] of cases) {
      const alone = await record(ws, body)
      expect([body, alone.status, Object.keys(alone.json.errors)]).toEqual([body, 422, [field]])
      const among = await record(ws, { outcomes: [good, body] })
      expect([body, among.status, Object.keys(among.json.errors)]).toEqual([body, 422, [`1.${field}`]])
    }
    for (const body of [[], { outcomes: [] }, Array(101).fill(good), {}, [5]])
      expect((await record(ws, body)).status).toBe(422)
    expect([(await list(ws)).total, (await list(other)).total]).toEqual([0, 0])
    const within = await record(ws, { ...good, at: soon(HOUR_MS - 60_000) })
    expect(within.status).toBe(201)
  })

  test('keep every digit, in currencies with any number of places', async () => {
    const ws = await server().createWorkspace()
    const { ids } = await createLeads(server(), ws, [{}])
    const values: [string, string, string][] = [
      ['999999999999999.9999', 'EUR', '999999999999999.9999'],
      ['0', 'USD', '0.00'],
      ['0.10', 'USD', '0.10'],
      ['0.125', 'USD', '0.125'],
      ['1299.5000', 'USD', '1299.50'],
      ['1299', 'JPY', '1299'],
      ['1299.50', 'JPY', '1299.5'],
      ['12.345', 'KWD', '12.345'],
      ['12.34567', 'KWD', '12.34567'],
      ['1.123456', 'CLF', '1.123456'],
    ]
    const body = values.map(([value, currency]) => ({ submissionId: ids[0], stage: 'won', value, currency }))
    const { json } = await record(ws, body)
    expect(json.data.map(({ value }: OutcomeResource) => value)).toEqual(values.map(([, , value]) => value))
  })

  test('are listed latest first, by page and by filter, and taken back', async () => {
    const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const { ids, formKey } = await createLeads(server(), ws, [{}, {}])
    const day = (n: number) => `2026-02-0${n}T00:00:00.000Z`
    const made = await record(ws, [
      { submissionId: ids[0], stage: 'qualified', at: day(1) },
      { submissionId: ids[0], stage: 'won', at: day(3), value: '1', currency: 'EUR', externalId: 'e' },
      { submissionId: ids[1], stage: 'won', at: day(2), value: '1', currency: 'USD' },
    ])
    const [a, b, c] = made.json.data.map(({ id }: OutcomeResource) => id)
    const find = async (query: string) => (await list(ws, query)).data.map(({ id }) => id)
    expect(await find('')).toEqual([b, c, a])
    const page = await list(ws, '?limit=2')
    expect([page.total, page.data.map(({ id }) => id)]).toEqual([3, [b, c]])
    await record(ws, { submissionId: ids[0], stage: 'lost' })
    expect(await find(`?limit=2&cursor=${page.nextCursor}`)).toEqual([a])
    for (const [query, found] of [
      ['stage=won', [b, c]],
      ['currency=usd', [c]],
      [`submissionId=${ids[1]}`, [c]],
      ['externalId=e', [b]],
      [`formKey=${formKey}&stage=qualified`, [a]],
      ['formKey=zzzzzzzzzz', []],
      ['start=2026-02-02&end=2026-02-02', [c]],
    ] as const)
      expect([query, await find(`?${query}`)]).toEqual([query, [...found]])
    for (const query of [
      'stage=new',
      'currency=ABC',
      'cursor=x',
      'start=2026-02-02&end=2026-02-01',
      'value=1',
    ])
      expect((await ws.api(`/outcomes?${query}`)).status).toBe(422)

    expect((await other.delete(`/outcomes/${b}`)).json).toEqual({
      error: 'Outcome not found',
    })
    const gone = await ws.delete(`/outcomes/${b}`)
    expect([gone.status, gone.json.data]).toEqual([200, made.json.data[1]])
    expect((await ws.delete(`/outcomes/${b}`)).status).toBe(404)
    expect(await find('?externalId=e')).toEqual([])
  })

  test('are at most 100 for one lead, and go to the original of a duplicate', async () => {
    const ws = await server().createWorkspace()
    const { ids } = await createLeads(server(), ws, [{}])
    const twin = await createLeads(server(), ws, [{ duplicate_of: ids[0] ?? 0 }])
    const body = Array(100).fill({ submissionId: twin.ids[0], stage: 'won' })
    expect((await record(ws, body)).json.data[0].submissionId).toBe(ids[0])
    const more = await record(ws, { submissionId: ids[0], stage: 'won' })
    expect([more.status, more.json.errors.submissionId]).toEqual([
      422,
      'this lead has 100 outcomes, and no lead may have more',
    ])
  })

  test('are gone with the lead: nothing of an erased person can be recorded', async () => {
    const ws = await server().createWorkspace()
    const { ids } = await createLeads(server(), ws, [{ email: 'ada@example.com', click_id: 'c1' }, {}])
    const headers = { 'Idempotency-Key': 'k' }
    const body = ids.map((submissionId) => ({ submissionId, stage: 'won', externalId: `${submissionId}` }))
    await ws.post('/outcomes', body, headers)
    expect((await ws.delete('/submissions?email=ada@example.com')).json.data.erased).toBe(1)
    await ws.delete(`/submissions/${ids[1]}`)
    expect(await list(ws)).toEqual({ data: [], nextCursor: null, total: 0 })
    const { db } = server().app
    const stored = db.read.selectFrom('outcomes').select('id').where('workspace_id', '=', ws.id)
    expect(await stored.execute()).toEqual([])
    for (const who of [{ email: 'ada@example.com' }, { submissionId: ids[0] }, { clickId: 'c1' }]) {
      const { status, json } = await record(ws, { ...who, stage: 'won', externalId: `${ids[0]}` })
      expect([status, Object.keys(json.errors)]).toEqual([422, Object.keys(who)])
    }
    expect((await list(ws)).total).toBe(0)
    const again = await ws.post('/outcomes', body, headers)
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([422, null])
  })
})
