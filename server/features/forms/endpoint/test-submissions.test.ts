// Test submissions of the dashboard: stored and marked, in no figure, and nobody hears of them.

import { expect, test } from 'bun:test'
import { onBothEngines, type TestServer, type TestWorkspace } from '../../../../tests/support/world.ts'

const FIELD = '_service_test'

onBothEngines('test submissions', (server) => {
  async function createForm(ws: TestWorkspace, settings = {}) {
    const channel = await ws.post('/channels', {
      type: 'webhook',
      name: 'Hook',
      url: 'https://hooks.example.com/x',
    })
    const { formKey } = await ws.createForm({ channelIds: [channel.json.data.id], ...settings })
    const { json } = await ws.post(`/forms/${formKey}/test`)
    return { formKey, token: json.data.token as string, path: `/forms/${formKey}/submissions` }
  }
  const countDeliveries = async (ws: TestWorkspace) => (await ws.api('/deliveries')).json.total
  const send = async (to: TestServer, formKey: string, fields: Record<string, string>) => {
    const answer = await to.submit(formKey, fields)
    expect(answer.json).toEqual({ ok: true })
  }

  test('are marked, in no figure, and announced to nobody', async () => {
    const ws = await server().createWorkspace()
    const { formKey, token, path } = await createForm(ws)
    await send(server(), formKey, { name: 'Ada', [FIELD]: token })
    const [stored] = (await ws.api(path)).json.data
    expect(stored).toMatchObject({ test: true, status: 'read', fields: { name: 'Ada' }, duplicateOf: null })
    // The same as a submission of a page: no duplicate of the test.
    await send(server(), formKey, { name: 'Ada' })
    const [real] = (await ws.api(path)).json.data
    expect(real).toMatchObject({ test: false, status: 'new', duplicateOf: null })

    // Whatever its status becomes, it stays a test.
    for (const status of ['spam', 'new', 'archived', 'read'])
      await ws.patch(`/submissions/${stored.id}`, { status })
    expect(await countDeliveries(ws)).toBe(1)

    const form = (await ws.api(`/forms/${formKey}`)).json.data
    expect([form.submissions, form.lastSubmissionAt]).toEqual([1, real.createdAt])
    expect((await ws.api('/workspace')).json.data.submissions).toBe(1)
    expect((await ws.api('/analytics/leads')).json.data.leads).toBe(1)
    expect((await ws.api('/analytics/leads?groupBy=form')).json.data).toMatchObject([{ leads: 1 }])
    const won = { submissionId: stored.id, stage: 'won' }
    expect((await ws.post('/outcomes', won)).json.errors).toEqual({
      submissionId: 'is a test, and so no lead',
    })
    expect((await ws.api(`/forms/${formKey}/losses`)).json.data).toMatchObject({
      attempts: 1,
      outcomes: { stored: 1 },
    })
    expect((await ws.api('/submissions?status=new')).json.total).toBe(1)
    for (const [query, ids] of [
      ['', [real.id, stored.id]],
      ['?test=true', [stored.id]],
      ['?test=false', [real.id]],
    ] as const)
      expect((await ws.api(`${path}${query}`)).json.data.map(({ id }: { id: number }) => id)).toEqual(ids)
    const exported = async (query: string) => (await ws.api(`${path}/export?format=ndjson${query}`)).text
    expect((await exported('')).match(/"id":/g)).toHaveLength(1)
    expect(await exported('&test=true')).toContain('"test":true')
  })

  test('show what the form does with spam and with double opt-in', async () => {
    const ws = await server().createWorkspace()
    const { formKey, token, path } = await createForm(ws, { spam: { words: ['casino'] } })
    await send(server(), formKey, { text: 'casino', [FIELD]: token })
    expect((await ws.api(path)).json.data).toMatchObject([{ test: true, status: 'spam' }])
    const refused = await server().submit(formKey, { email: 'no address', [FIELD]: token })
    expect(refused.status).toBe(422)
    expect((await ws.api(`/forms/${formKey}/losses`)).json.data.attempts).toBe(0)
  })

  test('need a token of the form: every other text makes a submission like any', async () => {
    const ws = await server().createWorkspace()
    const { formKey, path, token } = await createForm(ws)
    const other = await createForm(ws)
    for (const [n, text] of ['1', 'true', other.token, `${token}x`, 'x'.repeat(5000)].entries()) {
      await send(server(), formKey, { n: `${n}`, [FIELD]: text })
      const [newest] = (await ws.api(path)).json.data
      expect(newest).toMatchObject({ test: false, fields: { n: `${n}` } })
    }
    server().advanceClock(11 * 60_000)
    await send(server(), formKey, { late: 'yes', [FIELD]: token })
    expect((await ws.api(path)).json.data[0]).toMatchObject({ test: false })
    expect(await countDeliveries(ws)).toBe(6)
    const theirs = await server().createWorkspace()
    expect((await theirs.post(`/forms/${formKey}/test`)).status).toBe(404)
  })
})
