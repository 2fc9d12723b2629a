import { expect, test } from 'bun:test'
import { onBothEngines } from '../../../tests/support/world.ts'
import { insertSubmissions, type TestSubmission } from '../forms/submissions/submission.fixture.ts'

const EXPORT = '/analytics/leads/export'
const RANGE = 'start=2026-03-01&end=2026-03-31'
const AT = Date.parse('2026-03-10T12:00:00Z')

onBothEngines('exporting leads', (server) => {
  async function createForm(submissions: TestSubmission[]) {
    const ws = await server().createWorkspace()
    const link = await ws.createLink({ slug: `leads-${ws.id}` })
    const { json } = await ws.post('/forms', { name: '=Contact' })
    const formKey = json.data.formKey as string
    const { db } = server().app
    const form = await server().row('forms', { form_key: formKey })
    const ids = await db.write((connection) =>
      insertSubmissions(connection, { workspaceId: ws.id, formId: form.id }, submissions),
    )
    const touch = (submission: number, position: number, part: object) =>
      server().insert('touches', {
        workspace_id: ws.id,
        submission_id: ids[submission] as number,
        position,
        ...part,
      } as never)
    const exported = (query: string, method = 'GET') => ws.api(`${EXPORT}?${RANGE}&${query}`, { method })
    return { ws, link, formKey, ids, touch, exported }
  }
  const rowsOf = (text: string) =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))

  test('has the leads of the range and the filters, with where they came from', async () => {
    const { ws, link, formKey, ids, exported } = await createForm([
      { created_at: AT + 1, email: 'ada@example.com', referrer: 'l.facebook.com', country: 'DE' },
      { created_at: AT, utm_medium: 'cpc', utm_campaign: '=cmd', attribution_due: 0 },
      { created_at: AT, status: 'spam' },
      { created_at: AT - 40 * 86_400_000 },
    ])
    const json = await exported('format=ndjson')
    expect([json.status, json.headers.get('content-type'), json.headers.get('content-disposition')]).toEqual([
      200,
      'application/x-ndjson; charset=utf-8',
      `attachment; filename=leads-${ws.id}-20260301T000000Z-20260401T000000Z.ndjson`,
    ])
    expect(rowsOf(json.text)).toMatchObject([
      { submissionId: ids[1], channel: 'paid', source: null, utmCampaign: '=cmd', credit: 1, linkId: null },
      {
        submissionId: ids[0],
        time: new Date(AT + 1).toISOString(),
        form: formKey,
        formName: '=Contact',
        status: 'new',
        email: 'ada@example.com',
        referrer: 'l.facebook.com',
        source: 'Facebook',
        channel: 'social',
        country: 'DE',
      },
    ])
    const csv = (await exported('format=csv')).text.trimEnd().split('\r\n')
    expect(csv[0]).toStartWith(
      'submissionId,time,form,formName,status,email,credit,linkId,slug,domain,page,referrer,utmSource,',
    )
    expect(csv[0]).toEndWith(',source,channel,variant')
    expect(csv).toHaveLength(3)
    expect(csv[1]).toContain(",'=Contact,")
    expect(csv[1]).toContain(",'=cmd,")

    expect(rowsOf((await exported('format=ndjson&source=facebook')).text)).toHaveLength(1)
    expect(rowsOf((await exported(`format=ndjson&channel=paid&form=${formKey}`)).text)).toHaveLength(1)
    expect((await exported(`format=ndjson&linkId=${link.id}`)).text).toBe('')
    const head = await exported('', 'HEAD')
    expect([head.status, head.text, head.headers.get('content-type')]).toEqual([
      200,
      '',
      'text/csv; charset=utf-8; header=present',
    ])
    expect((await exported('format=parquet')).json.errors).toEqual({ format: 'must be one of csv, ndjson' })
  })

  test('has a row for each touch that gets credit, and the credits add up to the count', async () => {
    const { ws, link, ids, touch, exported } = await createForm([{ created_at: AT }, { created_at: AT }])
    const shared = { touches: 2, at: AT, kind: 'campaign' }
    await touch(0, 0, { ...shared, link_id: link.id, referrer: 't.co' })
    await touch(0, 1, { ...shared, link_id: null, utm_medium: 'email' })
    const ask = async (model: string) => rowsOf((await exported(`format=ndjson&model=${model}`)).text)
    expect(await ask('linear')).toMatchObject([
      { submissionId: ids[0], credit: 0.5, linkId: link.id, slug: link.slug, source: 'X', channel: 'social' },
      { submissionId: ids[0], credit: 0.5, linkId: null, source: null, channel: 'email' },
      { submissionId: ids[1], credit: 1, channel: 'direct' },
    ])
    expect((await ask('first')).map(({ channel }) => channel)).toEqual(['social', 'direct'])
    expect((await ask('last')).map(({ channel }) => channel)).toEqual(['email', 'direct'])
    const { data } = (await ws.api(`/analytics/leads?${RANGE}&model=linear&linkId=${link.id}`)).json
    const ofLink = rowsOf((await exported(`format=ndjson&model=linear&linkId=${link.id}`)).text)
    expect(ofLink.map(({ credit }) => credit)).toEqual([data.leads])
  })

  test('comes in order, however many leads there are', async () => {
    const { ids, exported } = await createForm(
      Array.from({ length: 1203 }, (_, n) => ({ created_at: AT + (n >> 7) })),
    )
    const rows = rowsOf((await exported('format=ndjson')).text)
    expect(rows.map(({ submissionId }) => submissionId)).toEqual(ids)
  })
})
