import { expect, test } from 'bun:test'
import { onBothEngines, type TestWorkspace } from '../../../../tests/support/world.ts'

const send = async (ws: TestWorkspace, csv: string, more = {}) => {
  const { status, json } = await ws.post('/outcomes/import', { csv, ...more })
  return { status, ...json }
}

onBothEngines('outcomes of a CSV file', (server) => {
  async function createLeads() {
    const ws = await server().createWorkspace()
    const { formKey } = await ws.createForm({ name: 'Quote' })
    for (const email of ['ada@example.com', 'bo@example.com'])
      expect((await server().submit(formKey, { email, message: email })).status).toBe(200)
    return ws
  }
  const today = () => new Date(server().now()).toISOString().slice(0, 10)
  const list = async (ws: TestWorkspace) => (await ws.api('/outcomes?limit=100')).json.data

  test('are stored row by row, and not twice when the file comes again', async () => {
    const ws = await createLeads()
    const csv = [
      '\ufeffE-Mail;Value;Currency;At;Stage;External ID;Owner',
      `Ada@example.com;1299.00;EUR;${today()};;;Kim`,
      `ada@example.com;1299.00;EUR;${today()};;;Kim`,
      'bo@example.com;;;;Qualified;deal-7;Kim',
      'nobody@example.com;5.00;EUR;;;;',
      'bo@example.com;1,5;EUR;;;;',
      'bo@example.com;5.00;XXX;;;;',
      'bo@example.com;5.00;EUR;03/04/2026;;;',
      'bo@example.com;5.00;EUR;2020-01-01;;;',
      'bo@example.com;5.00',
      '',
    ].join('\r\n')
    const first = await send(ws, csv)
    expect(first.data).toMatchObject({ rows: 9, created: 3, changed: 0, failed: 6 })
    expect(first.data.errors.map(({ row, field }: { row: number; field: string }) => [row, field])).toEqual([
      [5, 'email'],
      [6, 'value'],
      [7, 'currency'],
      [8, 'at'],
      [9, 'email'],
      [10, 'row'],
    ])
    const stored = await list(ws)
    expect(
      stored.map(({ stage, value, currency }: Record<string, string>) => [stage, value, currency]),
    ).toEqual(
      expect.arrayContaining([
        ['won', '1299.00', 'EUR'],
        ['won', '1299.00', 'EUR'],
        ['qualified', null, null],
      ]),
    )
    expect((await send(ws, csv)).data).toMatchObject({ created: 0, changed: 3, failed: 6 })
    expect(await list(ws)).toHaveLength(stored.length)
  })

  test('are refused as a whole where the file is no such table', async () => {
    const ws = await createLeads()
    const rows = 'ada@example.com,1,EUR\n'
    for (const csv of [
      '',
      'name,value\nAda,1\n',
      'email\n"',
      `email\n${'a@b.example\n'.repeat(5001)}`,
      `email\n${rows}\0`,
    ]) {
      const { status, errors } = await send(ws, csv)
      expect([status, Object.keys(errors)]).toEqual([422, ['csv']])
    }
    expect((await send(ws, 'email\na@b.example', { timezone: 'Mars' })).errors).toHaveProperty('timezone')
    expect((await send(ws, 'email\na@b.example', { stage: 'lead' })).errors).toHaveProperty('stage')
    expect(await list(ws)).toEqual([])
  })

  test('have the stage and the time zone of the request where the row names none', async () => {
    const ws = await createLeads()
    const yesterday = `${new Date(server().now() + 30 * 60_000).toISOString().slice(0, 16).replace('T', ' ')}`
    const { data } = await send(ws, `email,at\nada@example.com,${yesterday}\n`, {
      stage: 'lost',
      timezone: 'UTC',
    })
    expect(data).toMatchObject({ created: 1, failed: 0 })
    expect((await list(ws))[0]).toMatchObject({ stage: 'lost', at: `${yesterday.replace(' ', 'T')}:00.000Z` })
  })
})
