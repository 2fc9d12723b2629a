// The demonstration as an operator makes it: by the command, beside a running server and without one.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readWorkspaceFile } from '../../../tests/support/imports/workspace-file.ts'
import { retryWhile503 } from '../../../tests/support/server/retry-503.ts'
import { atScale, full } from '../../../tests/support/suite.ts'
import { until } from '../../../tests/support/until.ts'
import { onBothEngines, startServer, type TestServer } from '../../../tests/support/world.ts'
import { createKey } from '../../features/accounts/access/keys.ts'
import { openDatabase } from '../../storage/database/open-database.ts'

setDefaultTimeout(240_000)

const ROOT = join(import.meta.dir, '../../..')
const BUN = join(ROOT, 'node_modules/.bin/bun')
const CLICKS = 2000

type Place = Pick<TestServer, 'dataDir' | 'databaseUrl' | 'origin'>

function begin({ dataDir, databaseUrl, origin }: Place, ...words: string[]) {
  return Bun.spawn([BUN, 'server/cli/main.ts', ...words], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATA_DIR: dataDir,
      TOWPATH_URL: origin,
      ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

async function run(place: Place, ...words: string[]) {
  const child = begin(place, ...words)
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, err }
}

/** @returns the id of the workspace, and what was printed */
async function demo(place: Place, ...words: string[]) {
  const { code, out, err } = await run(place, 'demo', '--clicks', String(CLICKS), ...words)
  if (code !== 0) throw new Error(err)
  return { id: Number(/is workspace (\d+):/.exec(out)?.[1]), out, err }
}

/** The workspace as its owner reads it over the API. */
async function asker(server: TestServer, workspaceId: number) {
  const needs = { db: server.app.db, now: server.now }
  const { key } = await createKey(needs, workspaceId, 'test')
  return async (path: string) => {
    const headers = { Authorization: `Bearer ${key}` }
    // The command that was stopped has deleted its workspace.
    const { status, json } = await retryWhile503(() => server.call(`/v1${path}`, { headers }))
    expect(status).toBe(200)
    return json
  }
}

type Ask = Awaited<ReturnType<typeof asker>>
interface Link {
  id: number
  slug: string
  clicks: number
  leads: number
  lastClickedAt: string | null
}

const linksOf = async (ask: Ask): Promise<Link[]> => [
  ...(await ask('/links?limit=100')).data,
  ...(await ask('/links?limit=100&archived=true')).data,
]
const clicksIn = async (ask: Ask): Promise<number> =>
  (await ask('/analytics/clicks?interval=90d')).data.clicks
const sum = (links: Link[], of: 'clicks' | 'leads') => links.reduce((total, link) => total + link[of], 0)

const counted = (server: TestServer, ask: Ask) =>
  until(
    'all clicks to be counted',
    async () => {
      // The questions are few then: a key has a limit for each minute.
      await server.app.hitWorker.drain()
      return (await clicksIn(ask)) >= CLICKS && sum(await linksOf(ask), 'clicks') >= CLICKS
    },
    90_000,
  )

onBothEngines('a demonstration beside a running server', (server) => {
  const owner = 'mara@larkfield.example'
  let id = 0
  let ask: Ask

  test('belongs to the only account, and prints where to look', async () => {
    expect((await run(server(), 'user', 'create', owner)).code).toBe(0)
    const startedAt = performance.now()
    const made = await demo(server())
    const isLate = performance.now() - startedAt > 15_000
    id = made.id
    ask = await asker(server(), id)
    expect(made.out).toContain(`${server().origin}/app`)
    expect(made.out).toContain(`as ${owner}`)
    expect(made.out).not.toContain('Password')
    // The command waits for fifteen seconds, and a slow machine counts for longer.
    if (!isLate || !made.out.includes('The server is still counting the clicks'))
      expect(made.out).toContain('The clicks are in the analytics')
    expect(made.err).toMatch(/^\d+ %: /)
    expect(made.err).not.toContain('\x1b')
    const members = await server()
      .app.db.read.selectFrom('members')
      .innerJoin('users', 'users.id', 'members.user_id')
      .select(['users.email', 'members.role'])
      .where('members.workspace_id', '=', id)
      .execute()
    expect(members).toEqual([{ email: owner, role: 'owner' }])
  })

  test('counts its clicks once, in analytics and on the links', async () => {
    await counted(server(), ask)
    const links = await linksOf(ask)
    expect(links).toHaveLength(50)
    expect(await clicksIn(ask)).toBe(CLICKS)
    expect(sum(links, 'clicks')).toBe(CLICKS)
    const { data } = await ask('/analytics/clicks?interval=90d&groupBy=link')
    expect(new Map(data.map((row: { link: number; clicks: number }) => [row.link, row.clicks]))).toEqual(
      new Map(links.filter(({ clicks }) => clicks > 0).map((link) => [link.id, link.clicks])),
    )
    // The page opens with thirty days, and compares them with the thirty days before.
    const recent = (await ask('/analytics/clicks?interval=30d')).data.clicks
    expect([recent > CLICKS / 2, recent < CLICKS * 0.8]).toEqual([true, true])
    const robots = await ask('/analytics/clicks?interval=90d&class=bot')
    expect(robots.data.clicks).toBeGreaterThan(0)
    for (const [by, value] of [
      ['trigger', 'qr'],
      ['country', 'DE'],
      ['utmSource', 'newsletter'],
      ['device', 'Mobile'],
      ['referrer', 'l.instagram.com'],
      ['tag', 'QR posters'],
    ]) {
      const groups = (await ask(`/analytics/clicks?interval=90d&groupBy=${by}`)).data
      expect(
        groups.some((row: Record<string, unknown>) => row[by as string] === value || row.name === value),
      ).toBe(true)
    }
  })

  test('has leads that were qualified and won, with values in two currencies', async () => {
    const { data, currency, otherCurrencies } = await ask('/analytics/funnel?interval=90d')
    expect([currency, otherCurrencies]).toEqual(['EUR', ['CHF']])
    expect(data.won).toBeGreaterThan(10)
    expect(data.qualified).toBeGreaterThan(data.won)
    expect(data.value).toMatch(/^\d{5}\.00$/)
  })

  test('has rules, and split tests whose variants share the clicks and the leads of their link', async () => {
    const links = await linksOf(ask)
    const find = (slug: string) => links.find((link) => link.slug === slug) as Link
    expect((await ask(`/links/${find('track').id}/resolve?language=de`)).data.rule).toBe('rules.0')
    for (const slug of ['learn', 'office']) {
      const { id, clicks, leads } = find(slug)
      const { data } = await ask(`/links/${id}/split`)
      const add = (name: 'clicks' | 'leads') =>
        data.variants.reduce((all: number, variant: Record<typeof name, number>) => all + variant[name], 0)
      expect([slug, add('clicks'), add('leads')]).toEqual([slug, clicks, leads])
      expect(data.variants[0].clicks).toBeGreaterThan(0)
    }
    const [dates, photos] = (await ask(`/links/${find('learn').id}/split`)).data.variants
    expect(photos.leads).toBeGreaterThan(dates.leads)
  })

  test('has leads that agree with their clicks', async () => {
    const leads = (await ask('/analytics/leads?interval=90d')).data.leads
    expect(leads).toBe(300)
    const byLink = (await ask('/analytics/leads?interval=90d&groupBy=link&model=last')).data
    for (const link of await linksOf(ask)) {
      const row = byLink.find((one: { link: number }) => one.link === link.id)
      expect([link.slug, link.leads]).toEqual([link.slug, row?.leads ?? 0])
    }
    const { forms, told } = await everything(ask)
    expect(forms).toHaveLength(4)
    expect(told.filter(({ status }) => status === 'spam').length).toBeGreaterThan(5)
    expect(told.filter(({ duplicateOf }) => duplicateOf !== null).length).toBeGreaterThan(3)
    expect(new Set(told.map(({ status }) => status))).toEqual(new Set(['new', 'read', 'archived', 'spam']))
    expect(told.some(({ notes }) => notes !== null)).toBe(true)
    expect(told.every(({ createdAt }) => Date.parse(createdAt) <= server().now())).toBe(true)

    const hits = await exported(server(), id)
    const measured = told.filter(({ attribution }) => attribution === 'measured')
    expect(measured.length).toBeGreaterThan(100)
    for (const lead of told.filter(({ clickId }) => clickId !== null)) {
      const click = hits.get(Number.parseInt(lead.clickId?.split('.')[0] ?? '', 36))
      expect(click).toMatchObject({ link_id: lead.linkId, country: lead.country, browser: lead.browser })
      expect(Number(click?.at)).toBeLessThan(Date.parse(lead.createdAt))
    }
    const { data } = await ask(`/submissions/${measured[0]?.id}/attribution`)
    expect(data.at(-1)).toMatchObject({ type: 'click', linkId: measured[0]?.linkId, isLast: true })
  })

  full('is a new workspace the second time, for the account that --for names', async () => {
    const second = await demo(server(), '--for', owner.toUpperCase())
    expect(second.id).not.toBe(id)
    const other = await asker(server(), second.id)
    await counted(server(), other)
    expect(await clicksIn(ask)).toBe(CLICKS)
    expect(await clicksIn(other)).toBe(CLICKS)
    const [mine, theirs] = [await linksOf(ask), await linksOf(other)]
    expect(theirs.some(({ slug }) => mine.some((link) => link.slug === slug))).toBe(false)
    expect((await server().click('bio')).status).toBe(302)
    expect((await server().click(`bio-${second.id}`)).status).toBe(302)
  })

  test('asks for --for with several accounts, and refuses an unknown one', async () => {
    expect((await run(server(), 'user', 'create', 'jonas@larkfield.example')).code).toBe(0)
    const several = await run(server(), 'demo')
    expect([several.code, several.out]).toEqual([1, ''])
    expect(several.err).toContain('--for')
    const unknown = await run(server(), 'demo', '--for', 'nobody@larkfield.example')
    expect([unknown.code, unknown.out, unknown.err]).toEqual([1, '', 'User not found\n'])
  })

  full.each(['SIGKILL', 'SIGTERM'])(
    'counts once or not at all after %s, and can be made again',
    async (signal) => {
      const before = await workspaceIds(server())
      // The delay counts from its first write: the start of a process takes a time of its own.
      const kills = server().engine === 'sqlite' ? atScale({ full: [0, 250], soak: [0, 250, 600] }) : [250]
      for (const ms of kills) {
        const child = begin(server(), 'demo', '--for', owner, '--clicks', String(CLICKS))
        const errors = child.stderr.getReader()
        await errors.read()
        await Bun.sleep(ms)
        child.kill(signal)
        await child.exited
        await errors.cancel()
      }
      const again = await demo(server(), '--for', owner)
      const made = (await workspaceIds(server())).filter((one) => !before.includes(one))
      expect(made).toContain(again.id)
      await counted(server(), await asker(server(), again.id))
      await until(
        'everything to be taken',
        () => readdirSync(join(server().dataDir, 'incoming')).every((name) => name.endsWith('.tmp')),
        90_000,
      )
      await server().waitUntilShipped()
      for (const one of made) {
        const theirs = await asker(server(), one)
        const links = await linksOf(theirs)
        await until(
          'counters and analytics to agree',
          async () => (await clicksIn(theirs)) === sum(await linksOf(theirs), 'clicks'),
          90_000,
        )
        const all = signal === 'SIGTERM' ? [CLICKS] : [0, CLICKS]
        expect(all).toContain(await clicksIn(theirs))
        expect(links).toHaveLength(50)
      }
    },
  )
})

describe('where no server runs', () => {
  type Made = Place & { id: number; out: string }
  let one: Made
  let two: Made
  beforeAll(async () => {
    const withoutServer = async () => {
      const dataDir = mkdtempSync(join(tmpdir(), 'towpath-demo-'))
      const place = { dataDir, databaseUrl: undefined, origin: 'http://go.example' }
      return { ...place, ...(await demo(place)) }
    }
    one = await withoutServer()
    two = await withoutServer()
  })
  afterAll(() => {
    for (const made of [one, two]) if (made) rmSync(made.dataDir, { recursive: true, force: true })
  })

  const serving = async (
    { dataDir, origin }: Made,
    work: (server: TestServer, origin: string) => Promise<void>,
  ) => {
    const server = await startServer('sqlite', { environment: { DATA_DIR: dataDir, TOWPATH_URL: origin } })
    try {
      await work(server, origin)
    } finally {
      await server.close()
    }
  }

  test('is exported whole once a server has counted it', async () => {
    await serving(one, async (server) => void (await counted(server, await asker(server, one.id))))
    const file = join(one.dataDir, 'workspace.zip')
    expect(await run(one, 'export', String(one.id), file)).toMatchObject({ code: 0 })
    expect((await readWorkspaceFile(file)).records['hits.ndjson'].length).toBeGreaterThan(CLICKS)
  })

  test('is the same each time', async () => {
    const pictures = []
    for (const { dataDir } of [one, two]) {
      const db = await openDatabase({ dataDir })
      const columns = ['fields', 'country', 'browser', 'utm_campaign', 'notes'] as const
      const told = await db.read.selectFrom('submissions').select(columns).orderBy('id').execute()
      const links = await db.read
        .selectFrom('links')
        .select(['slug', 'destination_url', 'leads'])
        .orderBy('id')
        .execute()
      pictures.push({ told: told.slice(0, 200), links })
      await db.close()
    }
    expect(pictures[0]).toEqual(pictures[1] as never)
    expect(pictures[0]?.told).toHaveLength(200)
  })

  full('waits for the next server, with an account of its own', async () => {
    expect(one.out).toContain('the next one counts the clicks when it starts')
    const password = /Password {2}(\S+)/.exec(one.out)?.[1]
    expect(password).toMatch(/^[a-z2-9]{20}$/)
    await serving(one, async (server, origin) => {
      const ask = await asker(server, one.id)
      await counted(server, ask)
      expect(await clicksIn(ask)).toBe(CLICKS)
      const body = { email: 'demo@towpath.example', password }
      const signIn = { method: 'POST', body, headers: { Origin: origin } }
      expect((await server.call('/api/auth/sign-in/email', signIn)).status).toBe(200)
    })
  })

  full('leaves the first sign-up open, and belongs to that person the next time', async () => {
    await serving(two, async (server, origin) => {
      const signup = async () => (await server.call('/api/auth/options')).json.signup
      expect(await signup()).toBe('first')
      const body = { name: 'Mara', email: 'mara@larkfield.example', password: 'a long enough phrase' }
      const signUp = { method: 'POST', body, headers: { Origin: origin } }
      expect((await server.call('/api/auth/sign-up/email', signUp)).status).toBe(200)
      expect(await signup()).toBe('invite')
      const again = await demo({ dataDir: two.dataDir, databaseUrl: undefined, origin })
      expect(again.out).toContain('as mara@larkfield.example')
    })
  })
})

interface Told {
  id: number
  status: string
  notes: string | null
  duplicateOf: number | null
  attribution: string
  linkId: number | null
  clickId: string | null
  country: string | null
  browser: string | null
  createdAt: string
}

async function everything(ask: Ask): Promise<{ forms: { formKey: string }[]; told: Told[] }> {
  const forms = (await ask('/forms')).data
  const told: Told[] = []
  for (const { formKey } of forms) {
    let cursor = ''
    do {
      const page = await ask(`/forms/${formKey}/submissions?limit=100${cursor}`)
      told.push(...page.data)
      cursor = page.nextCursor ? `&cursor=${encodeURIComponent(page.nextCursor)}` : ''
    } while (cursor !== '')
  }
  return { forms, told }
}

/** The hits themselves, out of the batches, by their ids. */
async function exported(server: TestServer, workspaceId: number) {
  const dir = join(server.dataDir, 'batches', server.app.spool.node)
  const hits = new Map<number, { link_id: number; country: string; browser: string; at: number }>()
  for (const name of readdirSync(dir).filter((one) => one.endsWith('.ndjson'))) {
    for (const line of (await Bun.file(join(dir, name)).text()).split('\n').filter(Boolean)) {
      const hit = JSON.parse(line)
      if (hit.workspaceId === workspaceId) hits.set(hit.id, { ...hit, link_id: hit.linkId })
    }
  }
  return hits
}

async function workspaceIds(server: TestServer): Promise<number[]> {
  const found = await server.app.db.read.selectFrom('workspaces').select('id').execute()
  return found.map(({ id }) => id)
}
