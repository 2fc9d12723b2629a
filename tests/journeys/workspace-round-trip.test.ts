// A workspace leaves a server whole, and comes back on another one: the same things, and the same answers.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasPendingImports } from '../../server/features/hits/batches/hit-import.ts'
import type { ImportResource } from '../../server/features/transfer/schema.ts'
import { answerQuestion, listNames, listQuestions } from '../support/imports/analytics-questions.ts'
import { createFullWorkspace, FULL_DOMAIN, type KeyedWorkspace } from '../support/imports/full-workspace.ts'
import { uploadImport, waitForImport } from '../support/imports/import-client.ts'
import { packArchive, toFormRecord, toLinkRecord } from '../support/imports/pack-archive.ts'
import { exportWorkspace, readComparable, readWorkspaceFile } from '../support/imports/workspace-file.ts'
import { readAnswer } from '../support/server/http-call.ts'
import { changeDomain } from '../support/server/verified-domain.ts'
import { atScale, full, quick } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { DASHBOARD } from '../support/users/sign-up.ts'
import { createTeam } from '../support/users/signed-in-user.ts'
import { BROWSER_USER_AGENT, startServer, type TestServer } from '../support/world.ts'

setDefaultTimeout(240_000)

const CLICKS = atScale({ quick: 60, full: 300, soak: 3_000 })
/** More of them ask the same of other groupings. */
const QUESTIONS = atScale({ quick: 25, full: 200, soak: 10_000 })
/** Questions that a workspace may ask at once. */
const AT_ONCE = 4
const directory = mkdtempSync(join(tmpdir(), 'towpath-round-trip-'))
const toPath = (name: string) => join(directory, `${name}.zip`)
const servers: TestServer[] = []
/** The environments of the commands beside each server. */
const environments = new Map<TestServer, Record<string, string>>()

afterAll(async () => {
  for (const server of servers) await server.close()
  rmSync(directory, { recursive: true, force: true })
})

type Engines = 'sqlite' | 'postgres' | 'postgres and ClickHouse'
const ENGINES = atScale<Engines[]>({
  full: ['sqlite'],
  soak: ['sqlite', 'postgres', 'postgres and ClickHouse'],
})

/** Loaded here, so that the quick suite does without ClickHouse. */
async function createHitDatabase(): Promise<string> {
  const { getClickHouse } = await import('../support/clickhouse/clickhouse-server.ts')
  return (await getClickHouse()).createDatabase()
}

async function start(engines: Engines): Promise<TestServer> {
  // Nobody waits for the limit of requests a minute.
  const hasClickHouse = engines === 'postgres and ClickHouse'
  const environment: Record<string, string> = hasClickHouse
    ? { CLICKHOUSE_URL: await createHitDatabase() }
    : {}
  const server = await startServer(engines === 'sqlite' ? 'sqlite' : 'postgres', {
    clock: () => performance.now() * 100,
    environment,
  })
  environments.set(server, {
    ...environment,
    ...(server.databaseUrl && { DATABASE_URL: server.databaseUrl }),
  })
  servers.push(server)
  return server
}

/** Imports the file, and waits until all its hits are counted. */
async function take(
  server: TestServer,
  ws: KeyedWorkspace,
  file: string,
  fields: [string, string][] = [],
): Promise<ImportResource> {
  const parts: [string, string | Blob][] = [
    ['source', 'towpath'],
    ...fields,
    ['file', Bun.file(toPath(file))],
  ]
  const { status, text, json } = await uploadImport(server, ws, parts)
  if (status !== 202) throw new Error(`${status} ${text}`)
  const done = await waitForImport(ws, json.data.id)
  await until('the hits to be taken in', () => !hasPendingImports(server.dataDir))
  await server.waitUntilShipped()
  return done
}

describe.each(ENGINES)('a workspace on another server (%s)', (engine) => {
  let from: TestServer
  let to: TestServer
  let home: KeyedWorkspace
  let away: KeyedWorkspace
  let done: ImportResource

  beforeAll(async () => {
    from = await start(engine)
    to = await start(engine)
    home = await createFullWorkspace(from, CLICKS)
    away = await to.createWorkspace()
    await exportWorkspace(from, home, toPath('home'))
    done = await take(to, away, 'home')
  })

  test('comes whole, with what is still to do', async () => {
    const { records } = await readWorkspaceFile(toPath('home'))
    // The other hits are page views, and requests of closed links.
    const clicks = records['hits.ndjson'].filter(({ outcome }) => outcome === 'redirect').length
    expect(done).toMatchObject({ status: 'done', failed: 0, skipped: 0, renamed: 0, clicks })
    expect(done.created).toBe(done.rows)
    expect(done.notices.join(' ')).toMatch(/secrets.*DNS records.*password/)
  })

  test('has the same things', async () => {
    await exportWorkspace(to, away, toPath('away'))
    const [here, there] = [await readComparable(toPath('home')), await readComparable(toPath('away'))]
    for (const channel of here['channels.ndjson'])
      channel.enabled = channel.type === 'email' && channel.enabled
    for (const domain of here['domains.ndjson']) domain.primary = false
    // The member who has them is in no workspace of the other server.
    expect(here['submissions.ndjson'].some(({ assignee }) => assignee !== null)).toBe(true)
    for (const submission of here['submissions.ndjson']) submission.assignee = null
    // Until the domain is proven here, it counts nothing.
    here['misses.ndjson'] = there['misses.ndjson']
    for (const name of Object.keys(here) as (keyof typeof here)[])
      expect([name, there[name]]).toEqual([name, here[name]])
    expect(there['hits.ndjson'].length).toBeGreaterThan(CLICKS)
    const link = (slug: string) => there['links.ndjson'].find((each) => each.slug === slug)
    expect(link('full-rules')).toMatchObject({ rules: [{}, {}], split: [{}, { weight: 70 }] })
    expect(link('full-tested')).toMatchObject({ split: null, splitResult: { chosen: 'A, "first"' } })
    expect(there['hits.ndjson'].some(({ variant }) => typeof variant === 'string')).toBe(true)
    for (const kept of ['outcomes', 'replies'] as const)
      expect(there['submissions.ndjson'].some((each) => each[kept].length > 0)).toBe(true)
  })

  test('keeps secrets and passwords where they were', async () => {
    const { stdout } = Bun.spawnSync(['unzip', '-p', toPath('home')])
    const text = stdout.toString()
    expect(text).toContain('full-secret')
    for (const secret of ['geheimnis', 'argon2', 'open sesame', 'sealed', 'fingerprint'])
      expect(text).not.toContain(secret)
    expect((await to.click('full-secret')).status).not.toBe(302)
  })

  quick('gives the same answers', async () => {
    const { id } = (await away.api('/domains')).json.data[0]
    await changeDomain(to, id, { verified_at: to.now() })
    const toDay = (days: number) => new Date(to.now() + days * 86_400_000).toISOString().slice(0, 10)
    const range = `start=${toDay(-45)}&end=${toDay(1)}`
    const questions = await listQuestions(from, range)
    expect(questions.length).toBeGreaterThan(200)
    const [names, namesThere] = [await listNames(from, home), await listNames(to, away)]
    // Each part of the list is asked, whatever their number.
    const asked = questions.filter(
      (question, index) =>
        question.includes('/missing') || (index * QUESTIONS) % questions.length < QUESTIONS,
    )
    for (let at = 0; at < asked.length; at += AT_ONCE)
      await Promise.all(
        asked.slice(at, at + AT_ONCE).map(async (question) => {
          const [here, there] = await Promise.all([
            answerQuestion(from, home, question, names),
            answerQuestion(to, away, question, namesThere),
          ])
          expect(`${question} ${there}`).toBe(`${question} ${here}`)
        }),
      )
  })

  test('is the same file from the command line, beside the server', async () => {
    const path = toPath('command')
    const child = Bun.spawn([process.execPath, 'server/cli/main.ts', 'export', String(away.id), path], {
      cwd: join(import.meta.dir, '../..'),
      env: { PATH: process.env.PATH, DATA_DIR: to.dataDir, TOWPATH_URL: to.origin, ...environments.get(to) },
      stderr: 'pipe',
    })
    const error = await new Response(child.stderr).text()
    if ((await child.exited) !== 0) throw new Error(error)
    await exportWorkspace(to, away, toPath('again'))
    expect((await readWorkspaceFile(path)).records).toEqual(
      (await readWorkspaceFile(toPath('again'))).records,
    )
  })

  full('comes through a second time the same', async () => {
    const third = await start(engine)
    const ws = await third.createWorkspace()
    await take(third, ws, 'away')
    await exportWorkspace(third, ws, toPath('third'))
    expect(await readComparable(toPath('third'))).toEqual(await readComparable(toPath('away')))
  })

  test('answers on its domain once that is proven', async () => {
    const headers = { 'User-Agent': BROWSER_USER_AGENT, Host: FULL_DOMAIN }
    const { status, headers: answered } = await to.call('/Case', { headers })
    expect([status, answered.get('location')]).toEqual([302, 'https://example.com/Case'])
  })
})

describe.each(ENGINES)('an export that is imported again (%s)', (engine) => {
  let server: TestServer
  let file: string
  const open = () => server.createWorkspace()
  const figures = ({ created, renamed, skipped, failed, clicks }: ImportResource) => ({
    created,
    renamed,
    skipped,
    failed,
    clicks,
  })
  const countClicks = async (ws: KeyedWorkspace): Promise<number> =>
    (await ws.api('/analytics/clicks?interval=90d&class=all')).json.data.clicks
  const countRows = async ({ id }: KeyedWorkspace) => {
    const counts: Record<string, number> = {}
    for (const table of [
      'tags',
      'domains',
      'channels',
      'forms',
      'links',
      'views',
      'submissions',
      'touches',
      'outcomes',
      'import_keys',
    ] as const) {
      let rows = server.app.db.read
        .selectFrom(table as 'links')
        .select((e) => e.fn.countAll<number>().as('n'))
        .where('workspace_id', '=', id)
      // The names of links that are gone for good stay, as in every workspace.
      if (table === 'links') rows = rows.where('purged_at', 'is', null)
      counts[table] = Number((await rows.executeTakeFirstOrThrow()).n)
    }
    return counts
  }

  beforeAll(async () => {
    server = await start(engine)
    file = 'home'
  })

  full('says before it what it would do, and changes nothing', async () => {
    const ws = await open()
    const dryRun = await take(server, ws, file, [['dryRun', 'true']])
    expect(Object.values(await countRows(ws))).toEqual(Array(10).fill(0))
    expect(await countClicks(ws)).toBe(0)
    const done = await take(server, ws, file)
    expect(figures(dryRun)).toEqual(figures(done))
    expect(dryRun.notices).toEqual(done.notices)
    await remove(ws, done)
  })

  quick('adds nothing the second time, and goes without a trace', async () => {
    const ws = await open()
    const before = await countRows(ws)
    const first = await take(server, ws, file)
    const rows = await countRows(ws)
    const clicks = await countClicks(ws)
    const second = await take(server, ws, file)
    expect(figures(second)).toEqual({ created: 0, renamed: 0, skipped: first.rows, failed: 0, clicks: 0 })
    expect(await countRows(ws)).toEqual(rows)
    expect(await countClicks(ws)).toBe(clicks)
    await remove(ws, second)
    const { kept } = await remove(ws, first)
    expect(kept).toEqual([])
    expect(await countRows(ws)).toEqual(before)
    expect(await countClicks(ws)).toBe(0)
  })

  full('keeps what was changed since, or what has something new', async () => {
    const ws = await open()
    const done = await take(server, ws, file)
    const [link] = (await ws.api('/links?limit=1&sort=clicks')).json.data
    await ws.api(`/links/${link.id}`, { method: 'PATCH', body: { title: 'Changed' } })
    const [submission] = (await ws.api('/submissions?limit=1')).json.data
    await ws.api(`/submissions/${submission.id}`, { method: 'PATCH', body: { notes: 'Call them' } })
    const { kept } = await remove(ws, done)
    expect(kept.map(({ kind, reason }) => `${kind}: ${reason}`)).toEqual(
      expect.arrayContaining([
        'link: It was changed after the import.',
        'submission: It was changed after the import.',
        'form: It has submissions.',
      ]),
    )
    expect((await ws.api(`/links/${link.id}`)).json.data.title).toBe('Changed')
  })

  full('brings back the views of the workspace itself that were deleted', async () => {
    const ws = await server.createWorkspace()
    const { id } = await ws.createLink()
    const names = ['stays', 'deleted']
    for (const name of names)
      await ws.api('/views', { method: 'POST', body: { name, filters: { linkId: `${id}` } } })
    await exportWorkspace(server, ws, toPath('own'))
    const [last] = await listViews(ws)
    await ws.api(`/views/${last.id}`, { method: 'DELETE' })
    await take(server, ws, 'own')
    const views = await listViews(ws)
    expect(views.map(({ name }: { name: string }) => name)).toEqual(names.toReversed())
    expect(views[0].filters).toEqual({ linkId: `${id}` })
  })

  full('gives forms new keys where theirs are taken, and leaves out links whose slugs are', async () => {
    const [first, second] = [await open(), await open()]
    await take(server, first, file)
    const again = await take(server, second, file)
    const { records } = await readWorkspaceFile(toPath(file))
    const onDomain = records['links.ndjson'].filter(
      ({ domain, purgedAt }) => domain === FULL_DOMAIN || purgedAt !== null,
    )
    expect(again.renamed).toBe(records['forms.ndjson'].length)
    const ofLinks = records['views.ndjson'].filter(({ filters }) => 'linkId' in filters)
    expect(again.skipped).toBe(records['links.ndjson'].length - onDomain.length + ofLinks.length)
    const keys = (await second.api('/forms')).json.data.map(({ formKey }: { formKey: string }) => formKey)
    expect(keys).toContain(
      (await listViews(second)).find(({ name }: { name: string }) => name === 'form').filters.form,
    )
    expect(again.notices.join(' ')).toMatch(/new keys/)
    const renamed = await take(server, await open(), file, [['onConflict', 'rename']])
    expect(renamed.skipped).toBe(0)
    const refused = await take(server, await open(), file, [['onConflict', 'fail']])
    expect([refused.status, refused.created]).toEqual(['failed', 0])
    expect(refused.problem).toContain('onConflict is fail')
  })

  const listViews = async (ws: KeyedWorkspace) => (await ws.api('/views?limit=100')).json.data

  test('takes views, whose filters name what is here', async () => {
    const ws = await server.createWorkspace()
    await Bun.write(toPath('views'), await packViews(await ws.createLink()))
    const done = await take(server, ws, 'views')
    expect(done.notices.join(' ')).toMatch(/shared pages, reports and alerts.* missing items were left out/)
    const [link] = (await ws.api('/links?search=viewed')).json.data
    const [tag] = (await ws.api('/tags')).json.data
    const [form] = (await ws.api('/forms')).json.data
    const views = await listViews(ws)
    expect(views.map(({ name, filters }: { name: string; filters: object }) => [name, filters])).toEqual([
      ['forms', { form: form.formKey, country: 'US' }],
      ['tags', { tagId: `${tag.id}`, domain: link.domain }],
      ['links', { linkId: `-${link.id},0` }],
    ])
    expect(views[0]).toMatchObject({ share: null, report: null, createdBy: null, model: 'first' })
    expect(views[0]).toMatchObject({
      interval: '7d',
      timezone: 'Europe/Berlin',
      embed: ['https://a.example'],
    })
    const { data: rows } = (await ws.api(`/imports/${done.id}/rows?kind=view&limit=100`)).json
    expect(
      rows
        .filter(({ outcome }: { outcome: string }) => outcome !== 'created')
        .map(({ name, outcome, field, value }: Record<string, string>) => [name, outcome, field, value]),
    ).toEqual([
      ['taken slug', 'skipped', 'filters.linkId', '2'],
      ['unknown link', 'skipped', 'filters.linkId', '99'],
      ['unknown tag', 'skipped', 'filters.tagId', '7'],
      ['unknown form', 'skipped', 'filters.form', 'nobodyhas2'],
      [null, 'failed', 'filters.moon', null],
    ])
    await ws.api(`/views/${views[0].id}`, { method: 'PATCH', body: { share: {} } })
    expect((await remove(ws, done)).kept).toEqual([
      { kind: 'view', id: views[0].id, name: 'forms', reason: 'It was changed after the import.' },
    ])
    expect(await listViews(ws)).toHaveLength(1)
  })

  const NONE = { keptParams: [], internalNetworks: [], ignoredReferrers: [], watchDestinations: false }

  async function openTeam() {
    const { owner, ...ws } = await createTeam(server, server.now())
    const settings = {
      keptParams: ['ref'],
      internalNetworks: ['203.0.113.0/24'],
      ignoredReferrers: ['spam.example'],
      watchDestinations: true,
    }
    await Bun.write(toPath('settings'), await packArchive({ 'settings.ndjson': [settings] }))
    return {
      ws,
      settings,
      change: (body: object) => owner.apiIn(ws.id, '/workspace', { method: 'PATCH', body }),
      readSettings: async () => {
        const { data } = (await owner.apiIn(ws.id, '/workspace')).json
        return Object.fromEntries(Object.keys(NONE).map((name) => [name, data[name]]))
      },
      takeAsOwner: async () => {
        const body = new FormData()
        body.set('source', 'towpath')
        body.set('file', Bun.file(toPath('settings')), 'settings.zip')
        const headers = { ...DASHBOARD, Cookie: owner.cookie, 'X-Workspace': String(ws.id) }
        const response = await fetch(`${server.origin}/v1/imports`, { method: 'POST', headers, body })
        return waitForImport(ws, (await readAnswer(response)).json.data.id)
      },
    }
  }

  test('takes analytics settings where an owner imports it, and none are set', async () => {
    const { ws, settings, readSettings, takeAsOwner } = await openTeam()
    const done = await takeAsOwner()
    expect([done.rows, done.created, done.notices]).toEqual([1, 1, []])
    expect(await readSettings()).toEqual(settings)
    expect((await remove(ws, done)).kept).toEqual([])
    expect(await readSettings()).toEqual(NONE)
  })

  full('leaves out analytics settings for a key, and where some are set', async () => {
    const { ws, settings, readSettings, takeAsOwner, change } = await openTeam()
    const asKey = await take(server, ws, 'settings')
    expect(asKey.notices).toEqual([expect.stringContaining('settings of the workspace were left out')])
    expect(await readSettings()).toEqual(NONE)
    const own = { ...NONE, keptParams: ['gclid'] }
    await change(own)
    expect((await takeAsOwner()).notices).toEqual(asKey.notices)
    expect(await readSettings()).toEqual(own)
    await change(NONE)
    const done = await takeAsOwner()
    expect((await takeAsOwner()).notices).toEqual([])
    await change({ ...settings, keptParams: [] })
    const { kept } = await remove(ws, done)
    expect(kept.map(({ kind, reason }) => `${kind}: ${reason}`)).toEqual([
      'settings: It was changed after the import.',
    ])
  })

  const remove = async (ws: KeyedWorkspace, { id }: ImportResource): Promise<ImportResource> => {
    expect((await ws.api(`/imports/${id}`, { method: 'DELETE' })).status).toBe(200)
    return waitForImport(ws, id)
  }
})

/** An archive whose views name what it has, what the workspace has already, and what is nowhere. */
function packViews({ slug }: { slug: string }): Promise<Buffer> {
  const at = '2026-01-01T00:00:00.000Z'
  const formKey = 'viewed2345'
  const views: [name: string, filters: Record<string, string>][] = [
    ['links', { linkId: '-1,0' }],
    ['tags', { tagId: '3', domain: 'go.example' }],
    ['forms', { form: formKey, country: 'US' }],
    ['taken slug', { linkId: '1,2' }],
    ['unknown link', { linkId: '99' }],
    ['unknown tag', { tagId: '-7' }],
    ['unknown form', { form: 'nobodyhas2' }],
    ['no filter', { moon: 'full' }],
  ]
  return packArchive({
    'tags.ndjson': [{ id: 3, name: 'spring', color: 'gray', createdAt: at }],
    'forms.ndjson': [toFormRecord(formKey)],
    'links.ndjson': [toLinkRecord(1, 'viewed'), toLinkRecord(2, slug)],
    'views.ndjson': views.map(([name, filters], index) => ({
      // Exports of older releases have no ids of views.
      ...(index > 0 && { id: index + 1 }),
      name,
      filters,
      interval: '7d',
      start: null,
      end: null,
      timezone: 'Europe/Berlin',
      model: 'first',
      embed: ['https://a.example'],
      createdAt: at,
      updatedAt: at,
    })),
  })
}
