// kill -9 under load: every link, submission and click that was answered is there, whole and once. So it is after
// PostgreSQL has crashed.

import { describe, expect, setDefaultTimeout } from 'bun:test'
import { sql } from 'kysely'
import { openDatabase } from '../../server/storage/database/open-database.ts'
import { closeAfterAll } from '../support/close-after-all.ts'
import { BEHIND_PROXY } from '../support/form-requests.ts'
import { migratedDatabase } from '../support/migrated-database.ts'
import { startPostgres } from '../support/postgres/postgres-server.ts'
import { findFreePort } from '../support/processes/free-port.ts'
import { createRandomMs } from '../support/random.ts'
import { atScale, full, quick } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { BOTH_ENGINES } from '../support/world.ts'
import { createLinkOverHttp, readCountedClicks, waitUntilCountersAgree } from './click-counts.ts'
import {
  createFormOverHttp,
  isAcknowledged,
  readMarker,
  type SubmissionMode,
  sendSubmission,
} from './form-submissions.ts'
import { type LoadGenerator, startLoadGenerator } from './load-generator.ts'
import { createInstallation, type Installation, type ServerProcess } from './server-process.ts'

const randomMs = createRandomMs('kills under load')

setDefaultTimeout(300_000)
const closeLater = closeAfterAll()

const ROUNDS = atScale({ quick: 1, full: 2, soak: 8 })
/** Senders of links; submissions have as many. */
const SENDERS = atScale({ quick: 8, full: 16, soak: 24 })
const CLICKERS = atScale({ quick: 2, full: 3, soak: 8 })
/** Enough that a kill comes between many answers, on a slow machine too. */
const ANSWERS_BEFORE_KILL = atScale({ quick: 40, full: 150, soak: 150 })
/** A workspace may send 300 requests a minute. */
const WORKSPACES = atScale({ quick: 4, full: 12, soak: 24 })
const LINKS_A_WORKSPACE = 200
/** An answer of analytics names at most 1,000 values. */
const CLICKS_A_LINK = 900
/** How analytics name clicks without `utm_term`. */
const NO_TERM = 'Unknown'

/** Nothing listens at the channel's address: its deliveries wait, and none is deleted. */
const OPTIONS = { environment: { ...BEHIND_PROXY.environment, WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32' } }

interface Acknowledged {
  /** The slugs of links, each with a tag. */
  links: Set<string>
  submissions: Set<string>
  clicks: Set<string>
  /** Clicks that were sent, answered or not. */
  sent: Set<string>
}

async function createNotifiedForm(server: ServerProcess, installation: Installation) {
  const channel = { type: 'webhook', name: 'Away', url: `http://127.0.0.1:${findFreePort()}/hook` }
  const { status, json } = await server.api(installation.keys[0] as string, '/channels', channel)
  expect(status).toBe(201)
  return createFormOverHttp(server, installation, [json.data.id])
}

/** Creates links, sends submissions, and clicks on a link of each workspace, as fast as the server answers. */
async function startLoad(server: ServerProcess, { keys }: Installation, form: string, name: string) {
  for (const [n, key] of keys.entries())
    expect((await createLinkOverHttp(`${name}-clicked${n}`, key, server)).status).toBe(201)
  const sent = new Set<string>()
  const links = startLoadGenerator(SENDERS, async (number) => {
    if (number >= keys.length * LINKS_A_WORKSPACE) return undefined
    const slug = `${name}-${number}`
    const body = { destinationUrl: 'https://example.com/', slug, tagNames: [`tag of ${slug}`] }
    const { status, headers } = await server.api(keys[number % keys.length] as string, '/links', body)
    return { status, headers, acknowledged: status === 201 ? slug : undefined }
  })
  const submissions = startLoadGenerator(SENDERS, async (number) => {
    const marker = `${name}-${number}`
    const mode: SubmissionMode = number % 2 === 0 ? 'script' : 'native'
    const answer = await sendSubmission(server, form, marker, mode)
    return { ...answer, acknowledged: isAcknowledged(answer, mode) ? marker : undefined }
  })
  const clicks = startLoadGenerator(CLICKERS, async (number) => {
    // Clicks go on until the kill, and these have no name.
    if (number >= keys.length * CLICKS_A_LINK) return server.click(`${name}-clicked0`)
    const marker = `${name}-clicked${number % keys.length} ${number}`
    sent.add(marker)
    const [slug = ''] = marker.split(' ')
    const { status, headers } = await server.click(`${slug}?utm_term=${encodeURIComponent(marker)}`)
    return { status, headers, acknowledged: status === 302 ? marker : undefined }
  })
  const all = { links, submissions, clicks }
  for (const load of Object.values(all)) closeLater(load.stop)
  return { ...all, sent }
}

const listStatuses = ({ statuses }: LoadGenerator) => [...statuses.keys()].sort()

/** Kills the server under load several times. @returns the form's key and what was answered */
async function killUnderLoad(installation: Installation) {
  const all: Acknowledged = { links: new Set(), submissions: new Set(), clicks: new Set(), sent: new Set() }
  let form = ''
  for (let round = 0; round < ROUNDS; round++) {
    const server = await installation.start(OPTIONS)
    form ||= await createNotifiedForm(server, installation)
    const { sent, ...loads } = await startLoad(server, installation, form, `round${round}`)
    // After a number of answers and not after a time, so that the kill comes under load on each machine.
    const enough = randomMs(ANSWERS_BEFORE_KILL, 2 * ANSWERS_BEFORE_KILL)
    await until('answers of each kind', () =>
      Object.values(loads).every(({ acknowledged }) => acknowledged.length > enough),
    )
    await server.kill()
    for (const load of Object.values(loads)) await load.stop()
    // All other requests ended without an answer.
    expect(listStatuses(loads.links)).toEqual([0, 201])
    expect(listStatuses(loads.submissions)).toEqual([0, 200, 303])
    expect(listStatuses(loads.clicks)).toEqual([0, 302])
    for (const kind of ['links', 'submissions', 'clicks'] as const)
      for (const name of loads[kind].acknowledged) all[kind].add(name)
    for (const marker of sent) all.sent.add(marker)
  }
  return { form, all }
}

async function expectStored(installation: Installation, { links, submissions }: Acknowledged) {
  const db = await openDatabase(installation)
  try {
    const rows = await db.read
      .selectFrom('submissions')
      .select((e) => [
        'fields',
        'duplicate_of',
        e
          .selectFrom('deliveries')
          .whereRef('deliveries.submission_id', '=', 'submissions.id')
          .select((all) => all.fn.countAll<number>().as('count'))
          .as('deliveries'),
      ])
      .execute()
    const markers = rows.map(({ fields }) => readMarker(fields))
    const stored = new Set(markers)
    expect([...submissions].filter((marker) => !stored.has(marker))).toEqual([])
    expect(stored.size).toBe(markers.length)
    expect(rows.filter((row) => row.duplicate_of !== null || Number(row.deliveries) !== 1)).toEqual([])
    // Requests that were in flight at a kill may be stored too.
    expect(markers.length - submissions.size).toBeWithin(0, ROUNDS * SENDERS + 1)

    const tagged = await db.read
      .selectFrom('links')
      .leftJoin('link_tags', 'link_tags.link_id', 'links.id')
      .select((e) => ['slug', e.fn.count<number>('link_tags.link_id').as('tags')])
      .where('slug', 'not like', '%clicked%')
      .groupBy(['links.id', 'slug'])
      .execute()
    const slugs = new Set(tagged.map(({ slug }) => slug))
    expect([...links].filter((slug) => !slugs.has(slug))).toEqual([])
    expect(tagged.filter(({ tags }) => Number(tags) !== 1)).toEqual([])
    expect(slugs.size - links.size).toBeWithin(0, ROUNDS * SENDERS + 1)
    if (db.engine === 'sqlite') {
      const integrity = await sql`pragma integrity_check`.execute(db.read)
      expect(integrity.rows).toEqual([{ integrity_check: 'ok' }])
      expect((await sql`pragma foreign_key_check`.execute(db.read)).rows).toEqual([])
    }
    return markers.length
  } finally {
    await db.close()
  }
}

async function expectCounted(server: ServerProcess, keys: string[], { clicks, sent }: Acknowledged) {
  const counted = new Map<string, number>()
  for (const slug of new Set([...sent].map((marker) => marker.split(' ')[0] ?? ''))) {
    const key = keys[Number(slug.split('clicked')[1])] as string
    for (const [term, count] of await readCountedClicks(server, key, slug))
      if (term !== NO_TERM) counted.set(term, count)
  }
  expect([...clicks].filter((marker) => !counted.has(marker))).toEqual([])
  expect([...counted].filter(([marker, count]) => count !== 1 || !sent.has(marker))).toEqual([])
  await waitUntilCountersAgree(server, keys)
}

describe.each(BOTH_ENGINES)('kill -9 under load on %s', (engine) => {
  quick(`loses no link, no submission and no click that was answered, in ${ROUNDS} rounds`, async () => {
    const databaseUrl = engine === 'postgres' ? (await migratedDatabase()).url : undefined
    const installation = await createInstallation(WORKSPACES, databaseUrl)
    closeLater(installation.end)
    const { form, all } = await killUnderLoad(installation)
    const submissions = await expectStored(installation, all)

    const server = await installation.start(OPTIONS)
    const [last = ''] = [...all.links].slice(-1)
    expect((await server.click(last)).status).toBe(302)
    expect(isAcknowledged(await sendSubmission(server, form, 'after', 'script'), 'script')).toBe(true)
    const { json } = await server.api(installation.keys[0] as string, `/forms/${form}`)
    expect(json.data.submissions).toBe(submissions + 1)
    await expectCounted(server, installation.keys, all)
    expect(await server.stop()).toBe(0)
  })
})

full('a crash of PostgreSQL under load loses nothing that was answered, and the server goes on', async () => {
  const postgres = await startPostgres({ durable: true })
  closeLater(postgres.end)
  const installation = await createInstallation(WORKSPACES, postgres.url)
  closeLater(installation.end)
  const server = await installation.start(OPTIONS)
  const form = await createNotifiedForm(server, installation)
  const { links, submissions, clicks, sent } = await startLoad(server, installation, form, 'crash')
  for (let crash = 0; crash < 2; crash++) {
    const enough = links.acknowledged.length + randomMs(SENDERS, 3 * SENDERS)
    await until('links under load', () => links.acknowledged.length > enough)
    await postgres.restart('immediate')
  }
  const before = links.acknowledged.length
  await until('links after the crash', () => links.acknowledged.length > before + SENDERS)
  for (const load of [links, submissions, clicks]) await load.stop()
  expect(listStatuses(links).filter((status) => status !== 201 && status !== 503)).toEqual([])
  expect(links.withoutRetryAfter + submissions.withoutRetryAfter).toBe(0)
  const all = {
    links: new Set(links.acknowledged),
    submissions: new Set(submissions.acknowledged),
    clicks: new Set(clicks.acknowledged),
    sent,
  }
  await expectStored(installation, all)
  // As many requests at once as the pool has connections: every connection works again.
  const answers = installation.keys.slice(0, 30).map((key) => server.api(key, '/links?limit=1'))
  expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([200]))
  expect(await server.stop()).toBe(0)
})
