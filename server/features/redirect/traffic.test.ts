// Traffic settings of a workspace, from the redirect to the answers of analytics and the exports.

import { afterAll, beforeAll, describe, expect } from 'bun:test'
import { quick } from '../../../tests/support/suite.ts'
import {
  addToWorkspace,
  createSignedInUser,
  type SignedInUser,
} from '../../../tests/support/users/signed-in-user.ts'
import { startServer, type TestServer, type TestWorkspace } from '../../../tests/support/world.ts'
import { createKeptValues } from '../hits/kept-values.ts'

let server: TestServer
let ws: TestWorkspace
let owner: SignedInUser
beforeAll(async () => {
  server = await startServer('sqlite')
})
afterAll(() => server.close())

async function newWorkspace() {
  ws = await server.createWorkspace()
  owner = await createSignedInUser(server, 'Owner')
  await addToWorkspace(server, ws.id, owner, 'owner')
}
const change = (body: object) => owner.apiIn(ws.id, '/workspace', { method: 'PATCH', body })
async function count(query: string) {
  await server.waitUntilShipped()
  const { status, json, text } = await ws.api(`/analytics/clicks?${query}`)
  return status === 200 ? json.data : text
}
const top = async (column: string, query = '') =>
  ((await count(`groupBy=${column}${query}`)) as Record<string, unknown>[]).map((row) => [
    row[column],
    row.clicks,
  ])

describe('kept parameters', () => {
  quick('are filters and groups of clicks, and columns of their export', async () => {
    await newWorkspace()
    const { slug } = await ws.createLink()
    await server.click(`${slug}?ref=early`)
    expect((await change({ keptParams: ['ref', 'a.b', '__proto__'] })).json.data.keptParams).toHaveLength(3)
    for (const query of [
      '?ref=partner&a.b=1&other=x',
      '?ref=partner&ref=second',
      '?utm_source=news&ref=%22%2C%C3%A9%0A+x',
      '?ref=&__proto__=p',
      '?REF=x',
      `?%72ef=${'é'.repeat(200)}`,
      '',
    ])
      await server.click(slug + query)
    expect(await top('param.ref')).toEqual([
      ['Unknown', 4],
      ['partner', 2],
      ['",é\n x', 1],
      ['é'.repeat(128), 1],
    ])
    expect(await top('param.a.b', '&param.ref=partner')).toEqual([
      ['1', 1],
      ['Unknown', 1],
    ])
    expect(await top('param.__proto__', '&param.ref=Unknown&param.__proto__=-Unknown')).toEqual([['p', 1]])
    const csv = (await ws.api('/analytics/clicks/export?format=csv&param.ref=partner')).text.split('\n')
    expect(csv[0]).toEndWith(',variant,param.ref,param.a.b,param.__proto__')
    expect(csv[1]).toEndWith(',partner,1,')
    const lines = (await ws.api('/analytics/clicks/export?format=ndjson&param.a.b=1')).text.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line)['param.ref'])).toEqual(['partner'])
    // A name that is taken back is no filter, and its clicks are there again with the name.
    await change({ keptParams: [] })
    expect(await count('param.ref=partner')).toContain('is not a kept parameter')
    await server.click(`${slug}?ref=late`)
    await change({ keptParams: ['ref'] })
    expect(await top('param.ref', '&param.ref=partner,late')).toEqual([['partner', 2]])
  })

  quick('are refused where nobody can keep them', async () => {
    await newWorkspace()
    await change({ keptParams: ['ref'] })
    const refused: [query: string, field: string][] = [
      ['param.other=1', 'param.other'],
      ['groupBy=param.other', 'param.other'],
      ['groupBy=param.', 'groupBy'],
      ['groupBy=ref', 'groupBy'],
      ['param.=1', 'param.'],
      ['ref=1', 'ref'],
      [`param.${'a'.repeat(41)}=1`, `param.${'a'.repeat(41)}`],
      ['param.ref=', 'param.ref'],
      ['param.ref=-a&param.ref=b', 'param.ref'],
    ]
    for (const [query, field] of refused)
      for (const path of [
        '/analytics/clicks',
        ...(query.startsWith('groupBy') ? [] : ['/analytics/clicks/export']),
      ]) {
        const { status, json } = await ws.api(`${path}?${query}`)
        expect([query, status, Object.keys(json.errors)]).toEqual([query, 422, [field]])
      }
    expect((await ws.api('/analytics/leads?param.ref=a')).status).toBe(422)
    const settings: [names: unknown, field: string][] = [
      ['ref', 'keptParams'],
      [null, 'keptParams'],
      [['a', 'b', 'c', 'd', 'e', 'f'], 'keptParams'],
      [['a', 'a'], 'keptParams'],
      [['a b'], 'keptParams.0'],
      [['', 'a'], 'keptParams.0'],
      [['a'.repeat(41)], 'keptParams.0'],
      [['é'], 'keptParams.0'],
      [['tp_cid'], 'keptParams.0'],
      [[1], 'keptParams.0'],
    ]
    for (const [keptParams, field] of settings) {
      const { status, json } = await change({ keptParams })
      expect([keptParams, status, Object.keys(json.errors)]).toEqual([keptParams, 422, [field]])
    }
  })

  quick('have a bound of values a day, which a restart does not lift', async () => {
    const hits = { ask: async () => [{ key: 'stored', clicks: 1, visitors: 1 }] }
    const values = createKeptValues({ hits, valuesMax: 3, totalMax: 5 })
    const admit = (value: string, workspaceId = 1, day = 1) =>
      values.admit(workspaceId, 'ref', value, day * 86_400_000)
    expect(admit('a')).toBe('a')
    await Promise.resolve()
    expect(['b', 'c', 'a', 'stored', 'b'].map((value) => admit(value))).toEqual([
      'b',
      '(other)',
      'a',
      'stored',
      'b',
    ])
    expect(admit('a', 2)).toBe('a')
    await Promise.resolve()
    // The server has no room for more.
    expect(admit('c', 2)).toBe('(other)')
    expect(admit('c', 2, 2)).toBe('c')
    await newWorkspace()
    const { slug } = await ws.createLink()
    await change({ keptParams: ['ref'] })
    await server.click(`${slug}?ref=(other)`)
    expect(await top('param.ref')).toEqual([['(other)', 1]])
    expect((await ws.api('/analytics/clicks?groupBy=param.ref')).json.note).toContain('10,000 of a day')
  })
})
