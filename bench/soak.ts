// Runs a server for some minutes under clicks, submissions, page views and questions, and prints a line each minute; then
// compares all that was acknowledged with what is stored, counted and delivered. bun bench/soak.ts <minutes>
// [submissions a second] [clicks a second] [page views a second]; DATABASE_URL names an empty PostgreSQL database.

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../server/storage/database/open-database.ts'
import { openDuckDb } from '../server/storage/hits/duckdb/engine.ts'
import { createLinkOverHttp } from '../tests/faults/click-counts.ts'
import { createInstallation, type ServerProcess } from '../tests/faults/server-process.ts'
import { listWorkerProcesses } from '../tests/support/processes/worker-processes.ts'
import { readResidentMemory } from './resident-memory.ts'
import { withPriority } from './servers.ts'
import { count, type SoakLoad, startSoakLoad, TERMS } from './soak-load.ts'

const [minutes = 30, submissions = 92, clicks = 308, pageViews = 154] = process.argv.slice(2).map(Number)
const SLUG = 'soak'
/** Deliveries go on after the load. When none arrives for so long, the rest is lost. */
const DELIVERIES_STALLED_MS = 60_000
const DELIVERIES_WITHIN_MS = 15 * 60_000
const COUNTED_WITHIN_MS = 120_000

const sum = (counts: Map<string, number>) => [...counts.values()].reduce((total, each) => total + each, 0)
const print = (line: string) => process.stdout.write(`${line}\n`)
const printRow = (cells: (string | number)[]) => print(`| ${cells.join(' | ')} |`)

function countDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

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

type Receiver = ReturnType<typeof startReceiver>

/** Reads what the prober has printed since the last call. */
function startProber(origin: string) {
  const path = join(import.meta.dir, 'soak-prober.ts')
  const command = withPriority([process.execPath, path, new URL(origin).port, SLUG])
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' })
  let times: number[] = []
  let answered = 0
  void (async () => {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      times.push(...lines.map(Number))
    }
  })()
  return {
    takeTimes() {
      const taken = times
      times = []
      answered += taken.filter((ms) => ms >= 0).length
      return taken
    },
    answered: () => answered,
    async stop() {
      child.kill()
      await child.exited
    },
  }
}

type Prober = ReturnType<typeof startProber>

function toTail(times: number[]): string[] {
  const sorted = times.filter((ms) => ms >= 0).sort((a, b) => a - b)
  const at = (part: number) =>
    sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? Number.NaN
  const over = sorted.filter((ms) => ms > 100).length + times.filter((ms) => ms < 0).length
  return [at(0.5).toFixed(1), at(0.99).toFixed(1), at(1).toFixed(0), `${over} of ${times.length}`]
}

const COLUMNS = [
  'minute',
  'clicks',
  'submissions',
  'page views',
  'not acknowledged',
  'delivered',
  'backlog',
  'redirect p50 ms',
  'p99',
  'longest',
  'over 100 ms',
  'question, longest ms',
  'RSS server MB',
  'RSS worker MB',
  'descriptors server',
  'descriptors worker',
  'WAL MB',
  'database MB',
  'hits MB',
]

interface Run {
  server: ServerProcess
  dataDir: string
  load: SoakLoad
  hook: Receiver
  prober: Prober
}

function printMinute(minute: number, { server, dataDir, load, hook, prober }: Run): number {
  const { acknowledged, questions } = load
  const [worker] = listWorkerProcesses(server.pid)
  const memory = readResidentMemory(server.pid)
  const delivered = hook.counts.size
  printRow([
    minute,
    sum(acknowledged.clicks),
    acknowledged.submissions.size,
    sum(acknowledged.pageViews),
    sum(acknowledged.failures),
    delivered,
    acknowledged.submissions.size - delivered,
    ...toTail(prober.takeTimes()),
    questions.longestMs.toFixed(0),
    memory.server.toFixed(0),
    memory.worker.toFixed(0),
    countDescriptors(server.pid),
    worker === undefined ? '-' : countDescriptors(worker),
    readMegabytes(join(dataDir, 'towpath.db-wal')),
    readMegabytes(join(dataDir, 'towpath.db')),
    readMegabytes(join(dataDir, 'hits.duckdb')),
  ])
  questions.longestMs = 0
  return memory.server
}

/** Megabytes in ten minutes, by least squares over the second half: the first half fills the caches. */
function toSlope(resident: number[]): string {
  const half = resident.slice(Math.floor(resident.length / 2))
  if (half.length < 3) return 'too short to tell'
  const [meanX, meanY] = [(half.length - 1) / 2, half.reduce((total, each) => total + each, 0) / half.length]
  const covariance = half.reduce((total, y, x) => total + (x - meanX) * (y - meanY), 0)
  const variance = half.reduce((total, _, x) => total + (x - meanX) ** 2, 0)
  return `${((covariance / variance) * 10).toFixed(1)} MB in 10 minutes`
}

async function waitForDeliveries({ hook, load }: Run) {
  const wanted = load.acknowledged.submissions.size
  const startedAt = performance.now()
  let [seen, since] = [hook.counts.size, startedAt]
  while (
    seen < wanted &&
    performance.now() - since < DELIVERIES_STALLED_MS &&
    performance.now() - startedAt < DELIVERIES_WITHIN_MS
  ) {
    await Bun.sleep(500)
    const now = hook.counts.size
    if (now > seen) since = performance.now()
    seen = now
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
async function countHits(dataDir: string, workspaceId: number, outcomes: ('redirect' | 'landing')[]) {
  const engine = await openDuckDb({ path: join(dataDir, 'hits.duckdb') })
  const answer = await engine.ask({
    workspaceId,
    start: 0,
    end: 2 ** 45,
    classes: ['human'],
    outcomes,
    filters: [],
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
  printRow([name, sum(acknowledged), lost, extra])
}

function compareNames(name: string, acknowledged: Set<string>, found: Map<string, number>) {
  const lost = [...acknowledged].filter((each) => !found.has(each)).length
  const unanswered = [...found.keys()].filter((each) => !acknowledged.has(each)).length
  printRow([name, acknowledged.size, lost, sum(found) - found.size + unanswered])
}

async function countStored(dataDir: string, databaseUrl: string | undefined) {
  const db = await openDatabase({ dataDir, databaseUrl })
  const rows = await db.read.selectFrom('submissions').select('fields').execute()
  await db.close()
  const counts = new Map<string, number>()
  for (const { fields } of rows) count(counts, (JSON.parse(fields) as [string, string][])[0]?.[1] ?? '')
  return counts
}

async function prepare(server: ServerProcess, key: string, hook: Receiver) {
  await createLinkOverHttp(SLUG, key, server)
  const channel = await server.api(key, '/channels', { type: 'webhook', name: 'Receiver', url: hook.url })
  const form = await server.api(key, '/forms', { name: 'Soak', channelIds: [channel.json.data.id] })
  if (channel.status !== 201 || form.status !== 201) throw new Error(channel.text + form.text)
  return form.json.data.formKey as string
}

async function findWorkspace(dataDir: string, databaseUrl: string | undefined) {
  const db = await openDatabase({ dataDir, databaseUrl })
  const row = await db.read.selectFrom('workspaces').select(['id', 'public_id']).executeTakeFirstOrThrow()
  await db.close()
  return row
}

const databaseUrl = process.env.DATABASE_URL
const installation = await createInstallation(1, databaseUrl)
const [key = ''] = installation.keys
const { dataDir } = installation
try {
  const workspace = await findWorkspace(dataDir, databaseUrl)
  const server = await installation.start({
    environment: { TRUST_PROXY: '127.0.0.1', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' },
  })
  const hook = startReceiver()
  const formKey = await prepare(server, key, hook)
  const target = { origin: server.origin, key, slug: SLUG, formKey, workspace: workspace.public_id }
  const load = startSoakLoad(target, { clicks, submissions, pageViews })
  const run: Run = { server, dataDir, load, hook, prober: startProber(server.origin) }
  printRow(COLUMNS)
  printRow(COLUMNS.map(() => '---'))
  const resident: number[] = []
  for (let minute = 1; minute <= minutes; minute++) {
    await Bun.sleep(60_000)
    resident.push(printMinute(minute, run))
  }
  await load.stop()
  await run.prober.stop()
  const endedAt = performance.now()
  await waitForDeliveries(run)
  const deliveriesMs = performance.now() - endedAt
  await waitUntilCounted(run, key)
  await server.stop()

  print(
    `\nRSS of the server: ${toSlope(resident)}. Deliveries ended ${(deliveriesMs / 1000).toFixed(0)} s after the load.`,
  )
  print(`Not acknowledged: ${JSON.stringify(Object.fromEntries(load.acknowledged.failures))}\n`)
  printRow(['', 'acknowledged', 'lost', 'doubled, or stored without an answer'])
  printRow(['---', '---', '---', '---'])
  compareCounts('clicks', load.acknowledged.clicks, await countHits(dataDir, workspace.id, ['redirect']))
  compareCounts(
    'page views',
    load.acknowledged.pageViews,
    await countHits(dataDir, workspace.id, ['landing']),
  )
  compareNames('submissions', load.acknowledged.submissions, await countStored(dataDir, databaseUrl))
  compareNames('deliveries', load.acknowledged.submissions, hook.counts)
  const written = server.readOutput().match(/^.*"level":"(?:warn|error)".*$/gm) ?? []
  print(`\nWarnings and errors in the log: ${written.length}\n${written.slice(0, 10).join('\n')}`)
  await hook.stop()
} finally {
  await installation.end()
}
process.exit(0)
