// Runs a server for some minutes under clicks, submissions, page views and questions, and prints a line each minute; then
// compares all that was acknowledged with what is stored, counted and delivered: bun bench/soak.ts [--minutes=30]
// [--submissions=92] [--clicks=308] [--views=154], each a second. DATABASE_URL names an empty PostgreSQL database.

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../server/storage/database/open-database.ts'
import { openDuckDb } from '../server/storage/hits/duckdb/engine.ts'
import { createInstallation, type ServerProcess } from '../tests/faults/server-process.ts'
import { listWorkerProcesses } from '../tests/support/processes/worker-processes.ts'
import { print, readOptions, readResidentMemory, toTable } from './harness.ts'
import { startPacedLoad, summarizeTimes } from './paced-load.ts'
import { seedLinks } from './servers.ts'
import { count, type SoakLoad, startSoakLoad, TERMS } from './soak-load.ts'

const { minutes, ...pace } = readOptions({ minutes: 30, submissions: 92, clicks: 308, views: 154 })
const PROBES_PER_SECOND = 20
/** Deliveries go on after the load. When none arrives for a minute, the rest is lost. */
const DELIVERIES_STALLED_MS = 60_000
const COUNTED_WITHIN_MS = 120_000
/** The p99 of redirects in the last two minutes must not exceed that of the first two. */
const GROWTH_MAX = 1.3

const sum = (counts: Map<string, number>) => [...counts.values()].reduce((total, each) => total + each, 0)
const printRow = (cells: (string | number)[]) => print(`| ${cells.join(' | ')} |`)

function readMegabytes(path: string): string {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  return (bytes / 1024 / 1024).toFixed(1)
}

/** Keeps the submission of each delivery, and not its body: an hour has 300,000 of them. */
function startReceiver() {
  const counts = new Map<string, number>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { data } = (await request.json()) as { data: { fields: { number: string } } }
      count(counts, data.fields.number)
      return new Response('ok')
    },
  })
  return { url: `http://127.0.0.1:${server.port}/hook`, counts, stop: () => server.stop(true) }
}

interface Run {
  server: ServerProcess
  dataDir: string
  load: SoakLoad
  hook: ReturnType<typeof startReceiver>
  prober: ReturnType<typeof startPacedLoad>
}

const TRAFFIC = ['minute', 'clicks', 'submissions', 'page views', 'not acknowledged', 'delivered', 'backlog']
const TIMES = ['redirect p50 ms', 'p99', 'longest', 'over 100 ms', 'question, longest ms']
const SIZES = ['RSS server MB', 'RSS worker', 'descriptors server', 'worker', 'WAL MB', 'database', 'hits']

/** @returns the p99 of redirects, ms */
function printMinute(minute: number, { server, dataDir, load, hook, prober }: Run): number {
  const { acknowledged, questions } = load
  const [worker] = listWorkerProcesses(server.pid)
  const memory = readResidentMemory(server.pid)
  const times = prober.takeTimes()
  const { p50Ms, p99Ms, maxMs } = summarizeTimes(times)
  const countDescriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length
  printRow([
    minute,
    sum(acknowledged.clicks),
    acknowledged.submissions.size,
    sum(acknowledged.pageViews),
    sum(acknowledged.failures),
    hook.counts.size,
    acknowledged.submissions.size - hook.counts.size,
    ...[p50Ms, p99Ms, maxMs].map((ms) => ms.toFixed(1)),
    `${times.filter((ms) => ms > 100 || ms < 0).length} of ${times.length}`,
    questions.longestMs.toFixed(0),
    memory.server.toFixed(0),
    memory.worker.toFixed(0),
    countDescriptors(server.pid),
    worker === undefined ? '-' : countDescriptors(worker),
    ...['towpath.db-wal', 'towpath.db', 'hits.duckdb'].map((name) => readMegabytes(join(dataDir, name))),
  ])
  questions.longestMs = 0
  return p99Ms
}

/** The p99 of the last two minutes, to that of the first two. */
function toGrowth(p99s: number[]): string {
  const sumUp = (part: number[]) => part.reduce((total, ms) => total + ms, 0)
  return (sumUp(p99s.slice(-2)) / sumUp(p99s.slice(0, 2))).toFixed(2)
}

async function waitForDeliveries({ hook, load }: Run) {
  const wanted = load.acknowledged.submissions.size
  let [seen, since] = [hook.counts.size, performance.now()]
  while (seen < wanted && performance.now() - since < DELIVERIES_STALLED_MS) {
    await Bun.sleep(500)
    if (hook.counts.size > seen) since = performance.now()
    seen = hook.counts.size
  }
}

async function waitUntilCounted({ server }: Run, key: string) {
  const now = Date.now()
  for (const late = now + COUNTED_WITHIN_MS; Date.now() < late; await Bun.sleep(500)) {
    const { headers } = await server.api(key, '/analytics/clicks?interval=24h')
    if (Date.parse(headers.get('x-counted-until') ?? '') > now) return
  }
  print('Not every hit was counted in time.')
}

/** Opens the hits as the worker does, once the server has stopped. @returns how many there are of each term */
async function countHits(dataDir: string, workspaceId: number, outcome: 'redirect' | 'landing') {
  const engine = await openDuckDb({ path: join(dataDir, 'hits.duckdb') })
  const answer = await engine.ask({
    ...{ workspaceId, start: 0, end: 2 ** 45, classes: ['human'], outcomes: [outcome], filters: [] },
    groupBy: { by: 'utmTerm', limit: TERMS + 1, nullAs: '' },
  })
  await engine.close()
  return new Map(answer.map(({ key, clicks: hits }) => [String(key), hits]))
}

function compareCounts(name: string, acknowledged: Map<string, number>, stored: Map<string, number>) {
  let [lost, extra] = [0, 0]
  for (const term of new Set([...acknowledged.keys(), ...stored.keys()])) {
    if (!term.startsWith('t')) continue
    const difference = (stored.get(term) ?? 0) - (acknowledged.get(term) ?? 0)
    if (difference < 0) lost -= difference
    else extra += difference
  }
  return [name, sum(acknowledged), lost, extra]
}

function compareNames(name: string, acknowledged: Set<string>, found: Map<string, number>) {
  const lost = [...acknowledged].filter((each) => !found.has(each)).length
  const unanswered = [...found.keys()].filter((each) => !acknowledged.has(each)).length
  return [name, acknowledged.size, lost, sum(found) - found.size + unanswered]
}

async function countStored(dataDir: string) {
  const db = await openDatabase({ dataDir, databaseUrl })
  const rows = await db.read.selectFrom('submissions').select('fields').execute()
  await db.close()
  const counts = new Map<string, number>()
  for (const { fields } of rows) count(counts, (JSON.parse(fields) as [string, string][])[0]?.[1] ?? '')
  return counts
}

async function createForm(server: ServerProcess, key: string, url: string) {
  const channel = await server.api(key, '/channels', { type: 'webhook', name: 'Receiver', url })
  const form = await server.api(key, '/forms', { name: 'Soak', channelIds: [channel.json.data.id] })
  if (channel.status !== 201 || form.status !== 201) throw new Error(channel.text + form.text)
  return form.json.data.formKey as string
}

/** The workspace of the installation gets the links that redirects ask for. */
async function prepare(dataDir: string) {
  const db = await openDatabase({ dataDir, databaseUrl })
  const workspace = await db.read
    .selectFrom('workspaces')
    .select(['id', 'public_id'])
    .executeTakeFirstOrThrow()
  await seedLinks(db, workspace.id, 1000)
  await db.close()
  return workspace
}

const databaseUrl = process.env.DATABASE_URL
const installation = await createInstallation(1, databaseUrl)
const [key = ''] = installation.keys
const { dataDir } = installation
try {
  const workspace = await prepare(dataDir)
  const environment = { TRUST_PROXY: '127.0.0.1', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' }
  const server = await installation.start({ environment })
  const hook = startReceiver()
  const formKey = await createForm(server, key, hook.url)
  const { origin } = server
  const load = startSoakLoad({ origin, key, formKey, workspace: workspace.public_id }, pace)
  const prober = startPacedLoad(Number(new URL(origin).port), undefined, PROBES_PER_SECOND)
  const run: Run = { server, dataDir, load, hook, prober }
  const columns = [...TRAFFIC, ...TIMES, ...SIZES]
  for (const cells of [columns, columns.map(() => '---')]) printRow(cells)
  const p99s: number[] = []
  for (let minute = 1; minute <= Math.ceil(minutes); minute++) {
    await Bun.sleep(Math.min(1, minutes) * 60_000)
    p99s.push(printMinute(minute, run))
  }
  await load.stop()
  await prober.stop()
  const endedAt = performance.now()
  await waitForDeliveries(run)
  const deliveriesMs = performance.now() - endedAt
  await waitUntilCounted(run, key)
  await server.stop()

  const { clicks, pageViews, submissions, failures } = load.acknowledged
  const rows = [
    compareCounts('clicks', clicks, await countHits(dataDir, workspace.id, 'redirect')),
    compareCounts('page views', pageViews, await countHits(dataDir, workspace.id, 'landing')),
    compareNames('submissions', submissions, await countStored(dataDir)),
    compareNames('deliveries', submissions, hook.counts),
  ]
  const written = server.readOutput().match(/^.*"level":"(?:warn|error)".*$/gm) ?? []
  print(
    `\nRedirects' p99 in the last two minutes / in the first two: ${toGrowth(p99s)} (at most ${GROWTH_MAX}). Deliveries ended ${(deliveriesMs / 1000).toFixed(0)} s after the load.`,
    `Not acknowledged: ${JSON.stringify(Object.fromEntries(failures))}`,
    toTable(['', 'acknowledged', 'lost', 'doubled, or stored without an answer'], rows),
    `Warnings and errors in the log: ${written.length}`,
    ...written.slice(0, 10),
  )
  await hook.stop()
} finally {
  await installation.end()
}
process.exit(0)
