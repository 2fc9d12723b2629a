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
import { ensureSalts } from '../visitors/ensure-salts.ts'
import { createTrafficDirectory } from '../visitors/traffic-directory.ts'

let server: TestServer
let ws: TestWorkspace
let owner: SignedInUser
beforeAll(async () => {
  server = await startServer('sqlite', { environment: { TRUST_PROXY: '127.0.0.1' } })
})
afterAll(() => server.close())

async function newWorkspace() {
  ws = await server.createWorkspace()
  owner = await createSignedInUser(server, 'Owner')
  await addToWorkspace(server, ws.id, owner, 'owner')
}
const change = (body: object) => owner.in(ws.id).patch('/workspace', body)
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

const CHROME =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36'
const from = (address: string, more: Record<string, string> = {}) => ({
  'X-Forwarded-For': address,
  'User-Agent': CHROME,
  ...more,
})
const classes = async (query = '') =>
  Object.fromEntries(await top('class', `&class=all${query}`)) as Record<string, number>

const listStored = async () => {
  const rows = await server.app.db.read
    .selectFrom('internal_visitors')
    .select('workspace_id')
    .orderBy('workspace_id')
    .execute()
  return rows.map(({ workspace_id }) => workspace_id)
}

describe('traffic of the workspace itself', () => {
  quick(
    'counts in no figure: people who are signed in, on the same day and in the same browser',
    async () => {
      await newWorkspace()
      const other = await server.createWorkspace()
      const foreign = await server.createWorkspace()
      await addToWorkspace(server, other.id, owner, 'owner')
      const open = (id = ws.id, headers = from('203.0.113.7')) => owner.apiIn(id, '/links', { headers })
      const limited = await ws.createLink({ clickLimit: 1 })
      const links = [limited, await other.createLink(), await foreign.createLink()]
      await open()
      for (const { slug } of links) await server.click(slug, from('203.0.113.7'))
      await server.click(limited.slug, from('203.0.113.7', { 'User-Agent': 'Googlebot/2.1' }))
      // The click limit is as it was, for a neighbor and for another browser at the same address.
      expect((await server.click(limited.slug, from('203.0.113.8'))).status).toBe(302)
      expect((await server.click(limited.slug, from('203.0.113.8'))).status).toBe(410)
      await server.click(`${ws.id}-nothing`, from('203.0.113.7'))
      expect(await classes()).toEqual({ internal: 1, bot: 1, human: 1 })
      expect(await count('')).toMatchObject({ clicks: 1, visitors: 1 })
      expect(await count('class=internal')).toMatchObject({ clicks: 1, visitors: 1 })
      expect(await count('class=human,internal')).toMatchObject({ clicks: 2, visitors: 2 })
      expect((await ws.api(`/links/${limited.id}`)).json.data.clicks).toBe(1)
      for (const [workspace, clicks] of [
        [other, 0],
        [foreign, 1],
      ] as const)
        expect((await workspace.api('/analytics/clicks')).json.data.clicks).toBe(clicks)
      // A key is no person, and a person without access is none of the workspace.
      await ws.api('/links', { headers: from('203.0.113.9') })
      await open(foreign.id, from('203.0.113.9'))
      const { slug } = await ws.createLink()
      await server.click(slug, from('203.0.113.9'))
      await server.post(
        '/e',
        JSON.stringify({
          w: (await ws.api('/workspace')).json.data.publicId,
          u: 'https://shop.example/',
          r: '',
        }),
        from('203.0.113.7'),
      )
      expect(await classes(`&slug=${slug}`)).toEqual({ human: 1 })
      await server.waitUntilShipped()
      expect((await ws.api('/analytics/funnel')).json.data).toMatchObject({ clicks: 2, visits: 0 })
      expect((await listStored()).slice(-2)).toEqual([ws.id, other.id])
      // The next day nobody knows. Its first hours keep the salt of the day before.
      server.advanceClock(30 * 3_600_000)
      server.app.setSalts(await ensureSalts({ db: server.app.db, now: server.now() }))
      await server.click(slug, from('203.0.113.7'))
      expect(await classes(`&slug=${slug}`)).toEqual({ human: 2 })
      expect(await listStored()).toEqual([])
    },
  )

  quick('counts in no figure: its networks, and the referrers that it ignores', async () => {
    await newWorkspace()
    const { slug } = await ws.createLink({
      split: [
        { url: 'https://a.example/', weight: 50, label: 'A' },
        { url: 'https://b.example/', weight: 50, label: 'B' },
      ],
    })
    const settings = {
      internalNetworks: ['198.51.100.0/24', '2001:DB8::/32', '198.51.100.0/24'],
      ignoredReferrers: ['www.Spam.example', 'büro.example'],
    }
    expect((await change(settings)).json.data).toMatchObject({
      internalNetworks: ['198.51.100.0/24', '2001:db8::/32'],
      ignoredReferrers: ['spam.example', 'xn--bro-hoa.example'],
    })
    const requests: [address: string, referrer: string, hitClass: string][] = [
      ['198.51.100.9', '', 'internal'],
      ['::ffff:198.51.100.9', '', 'internal'],
      ['2001:db8:1::1', 'https://spam.example/', 'internal'],
      ['198.51.101.9', '', 'human'],
      ['192.0.2.1', 'https://spam.example/x?y', 'spam'],
      ['192.0.2.2', 'https://www.spam.example', 'spam'],
      ['192.0.2.3', 'http://a.b.SPAM.example:8080/', 'spam'],
      ['192.0.2.4', 'https://xn--bro-hoa.example/', 'spam'],
      ['192.0.2.5', 'https://nospam.example/', 'human'],
      ['192.0.2.6', 'https://example/', 'human'],
      ['192.0.2.7', 'https://semalt.com/', 'spam'],
    ]
    const expected: Record<string, number> = {}
    for (const [address, referrer, hitClass] of requests) {
      await server.click(slug, from(address, referrer ? { Referer: referrer } : {}))
      expected[hitClass] = (expected[hitClass] ?? 0) + 1
    }
    expect(await classes()).toEqual(expected)
    expect(await count('')).toMatchObject({ clicks: expected.human })
    const variants = await top('variant', '&class=internal,spam')
    expect(variants).toEqual([['Unknown', (expected.internal ?? 0) + (expected.spam ?? 0)]])
    expect((await ws.api('/analytics/clicks/export?class=internal')).text.split('\n')).toHaveLength(5)
    // Another process reads the same rows.
    const elsewhere = createTrafficDirectory({
      db: server.app.db,
      getSalt: server.app.getSalt,
      now: server.now,
    })
    await elsewhere.reload()
    expect(
      elsewhere.mark(ws.id, { at: server.now(), address: '198.51.100.1', headers: new Headers() }),
    ).toEqual({
      internal: true,
      ignored: false,
    })
    await change({ internalNetworks: [], ignoredReferrers: [] })
    await server.click(slug, from('198.51.100.77', { Referer: 'https://spam.example/' }))
    expect(await count('')).toMatchObject({ clicks: (expected.human ?? 0) + 1 })
  })

  quick('takes networks and hosts only', async () => {
    await newWorkspace()
    const refused: [field: string, value: unknown, at?: string][] = [
      ['internalNetworks', '10.0.0.0/8', 'internalNetworks'],
      ['internalNetworks', ['10.0.0.0/33']],
      ['internalNetworks', ['10.0.0/8']],
      ['internalNetworks', ['0.0.0.0/0']],
      ['internalNetworks', ['::/0']],
      ['internalNetworks', ['office']],
      ['internalNetworks', ['']],
      ['internalNetworks', [7]],
      ['internalNetworks', Array.from({ length: 51 }, (_, n) => `10.0.0.${n}`), 'internalNetworks'],
      ['ignoredReferrers', ['https://spam.example/']],
      ['ignoredReferrers', ['com']],
      ['ignoredReferrers', ['*.spam.example']],
      ['ignoredReferrers', ['spam.example:8080']],
      ['ignoredReferrers', ['a b.example']],
      ['ignoredReferrers', [null]],
      ['ignoredReferrers', Array.from({ length: 101 }, (_, n) => `a${n}.example`), 'ignoredReferrers'],
    ]
    for (const [field, value, at = `${field}.0`] of refused) {
      const { status, json } = await change({ [field]: value })
      expect([value, status, Object.keys(json.errors ?? {})]).toEqual([value, 422, [at]])
    }
    const member = await createSignedInUser(server, 'Member')
    await addToWorkspace(server, ws.id, member, 'member')
    const { status } = await member.in(ws.id).patch('/workspace', { keptParams: ['a'] })
    expect(status).toBe(403)
  })
})
