// Runs a server for some minutes under clicks, submissions, page views and questions, and prints a line each minute; then
// compares all that was acknowledged with what is stored, counted and delivered: bun bench/soak.ts [--minutes=30]
// [--submissions=92] [--clicks=308] [--views=154], each a second. DATABASE_URL names an empty PostgreSQL database.

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { nextSenderAddress, SCRIPT_HEADERS, URLENCODED_TYPE } from '../tests/support/form-requests.ts'
import { listWorkerProcesses } from '../tests/support/processes/worker-processes.ts'
import {
  callApi,
  finish,
  print,
  readOptions,
  readResidentMemory,
  seed,
  startPacedLoad,
  startTowpath,
  summarizeTimes,
  TOWPATH_DIR,
  toTable,
} from './harness.ts'
import { startPace, USER_AGENT } from './pace.ts'

const { minutes, ...pace } = readOptions({ minutes: 30, submissions: 92, clicks: 308, views: 154 })
const PROBES_PER_SECOND = 20
/** Deliveries go on after the load. When none arrives for a minute, the rest is lost. */
const DELIVERIES_STALLED_MS = 60_000
const COUNTED_AGAIN_MS = 5_000
/** Redirects must not slow down: their p99 in the last two minutes, to that of the first two. */
const GROWTH_MAX = 1.3
/** Clicks and page views carry one of these campaigns: an answer of analytics has at most 1,000 rows. */
const CAMPAIGNS = 900
const LINKS = 1000
/** Above it a kind of request waits: a server that stalls must not be buried. */
const IN_FLIGHT_MAX = 200
const QUESTIONS = [
  '/analytics/clicks?groupBy=time&interval=24h',
  '/analytics/clicks?groupBy=country',
  '/analytics/leads',
  '/analytics/funnel',
  '/links?limit=50',
  '/forms',
  '/deliveries?limit=50',
]

type Counts = Map<string, number>
const count = (counts: Counts, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
const sum = (counts: Counts) => [...counts.values()].reduce((total, each) => total + each, 0)
const printRow = (cells: (string | number)[]) => print(`| ${cells.join(' | ')} |`)

const databaseUrl = process.env.DATABASE_URL
const { key, publicId } = await seed({ databaseUrl })
const server = await startTowpath({ TRUST_PROXY: '127.0.0.1', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' })
const ask = <Data>(path: string, body?: object) => callApi<Data>(server, key, path, body)

/** A question of the dashboard each second, beside the visitors' requests. It keeps what was acknowledged. */
function startLoad(formKey: string) {
  const acknowledged = {
    /** By campaign. */
    clicks: new Map() as Counts,
    pageViews: new Map() as Counts,
    /** The numbers of the submissions. */
    submissions: new Set<string>(),
    /** Requests without an acknowledging answer, by kind and status; 0 where the connection ended. */
    failures: new Map() as Counts,
  }
  const questions = { longestMs: 0 }
  async function send(kind: string, path: string, init: RequestInit, wanted: number, onAnswer: () => void) {
    const headers = { 'User-Agent': USER_AGENT, 'X-Forwarded-For': nextSenderAddress(), ...init.headers }
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      redirect: 'manual',
      ...init,
      headers,
    }).catch(() => undefined)
    await answer?.arrayBuffer().catch(() => undefined)
    if (answer?.status === wanted) onAnswer()
    else count(acknowledged.failures, `${kind} ${answer?.status ?? 0}`)
  }
  const post = (body: string, headers: Record<string, string>) => ({ method: 'POST', body, headers })
  const click = (n: number) => {
    const campaign = `t${n % CAMPAIGNS}`
    const path = `/bench${1 + (n % LINKS)}?utm_campaign=${campaign}`
    return send('click', path, {}, 302, () => count(acknowledged.clicks, campaign))
  }
  const submit = (n: number) => {
    const body = `number=${n}&message=${'A sentence of text. '.repeat(20)}`
    const init = post(body, { ...SCRIPT_HEADERS, 'Content-Type': URLENCODED_TYPE })
    return send('submission', `/f/${formKey}`, init, 200, () => acknowledged.submissions.add(String(n)))
  }
  const view = (n: number) => {
    const campaign = `t${n % CAMPAIGNS}`
    const u = `https://shop.example/page?utm_campaign=${campaign}`
    const body = JSON.stringify({ w: publicId, u, r: '' })
    const init = post(body, { 'Content-Type': 'text/plain;charset=UTF-8' })
    return send('page view', '/e', init, 200, () => count(acknowledged.pageViews, campaign))
  }
  const question = async (n: number) => {
    const startedAt = performance.now()
    await ask(QUESTIONS[n % QUESTIONS.length] ?? '').catch(() => count(acknowledged.failures, 'question'))
    questions.longestMs = Math.max(questions.longestMs, performance.now() - startedAt)
  }
  const stops = [
    startPace(pace.clicks, IN_FLIGHT_MAX, click),
    startPace(pace.submissions, IN_FLIGHT_MAX, submit),
    startPace(pace.views, IN_FLIGHT_MAX, view),
    startPace(1, IN_FLIGHT_MAX, question),
  ]
  return { acknowledged, questions, stop: () => Promise.all(stops.map((stop) => stop())) }
}

/** Keeps the submission of each delivery, and not its body: an hour has 300,000 of them. */
function startReceiver() {
  const counts: Counts = new Map()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { data } = (await request.json()) as { data: { fields: { number: string } } }
      count(counts, data.fields.number)
      return new Response('ok')
    },
  })
  return { url: `http://127.0.0.1:${server.port}/hook`, counts }
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
  'RSS worker',
  'descriptors server',
  'worker',
  'WAL MB',
  'database',
  'hits',
]

/** @returns the p99 of redirects, ms */
function printMinute(minute: number): number {
  const { acknowledged, questions } = load
  const [worker] = listWorkerProcesses(server.pid)
  const memory = readResidentMemory(server.pid)
  const times = prober.takeTimes()
  const { p50Ms, p99Ms, maxMs } = summarizeTimes(times)
  const countDescriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length
  const readMb = (name: string) =>
    ((statSync(join(TOWPATH_DIR, name), { throwIfNoEntry: false })?.size ?? 0) / 1024 / 1024).toFixed(1)
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
    ...[questions.longestMs, memory.server, memory.worker].map((figure) => figure.toFixed(0)),
    countDescriptors(server.pid),
    worker === undefined ? '-' : countDescriptors(worker),
    ...['towpath.db-wal', 'towpath.db', 'hits.duckdb'].map(readMb),
  ])
  questions.longestMs = 0
  return p99Ms
}

/** The p99 of the last two minutes, to that of the first two. */
function toGrowth(p99s: number[]): string {
  const sumUp = (part: number[]) => part.reduce((total, ms) => total + ms, 0)
  return (sumUp(p99s.slice(-2)) / sumUp(p99s.slice(0, 2))).toFixed(2)
}

async function waitForDeliveries() {
  const wanted = load.acknowledged.submissions.size
  let [seen, since] = [hook.counts.size, performance.now()]
  while (seen < wanted && performance.now() - since < DELIVERIES_STALLED_MS) {
    await Bun.sleep(500)
    if (hook.counts.size > seen) since = performance.now()
    seen = hook.counts.size
  }
}

interface CampaignRow {
  campaign: string
  clicks: number
  visits: number
}

/** @returns the counts of each campaign, once they have not grown for a while */
async function waitUntilCounted(): Promise<CampaignRow[]> {
  const path = `/analytics/funnel?groupBy=utmCampaign&interval=24h&limit=${CAMPAIGNS + 1}`
  let [rows, before] = [await ask<CampaignRow[]>(path), [] as CampaignRow[]]
  for (; !Bun.deepEquals(rows, before); rows = await ask(path)) {
    before = rows
    await Bun.sleep(COUNTED_AGAIN_MS)
  }
  return rows.filter(({ campaign }) => campaign.startsWith('t'))
}

/** @returns what was acknowledged, what of it is missing, and what there is beyond it */
function compare(name: string, acknowledged: Counts, stored: Counts) {
  let [lost, extra] = [0, 0]
  for (const each of new Set([...acknowledged.keys(), ...stored.keys()])) {
    const difference = (stored.get(each) ?? 0) - (acknowledged.get(each) ?? 0)
    if (difference < 0) lost -= difference
    else extra += difference
  }
  return [name, sum(acknowledged), lost, extra]
}

const hook = startReceiver()
const { id } = await ask<{ id: number }>('/channels', { type: 'webhook', name: 'Receiver', url: hook.url })
const { formKey } = await ask<{ formKey: string }>('/forms', { name: 'Soak', channelIds: [id] })
const load = startLoad(formKey)
const prober = startPacedLoad(server.port, undefined, PROBES_PER_SECOND)
for (const cells of [COLUMNS, COLUMNS.map(() => '---')]) printRow(cells)
const p99s: number[] = []
for (let minute = 1; minute <= Math.ceil(minutes); minute++) {
  await Bun.sleep(Math.min(1, minutes) * 60_000)
  p99s.push(printMinute(minute))
}
await load.stop()
await prober.stop()
const endedAt = performance.now()
await waitForDeliveries()
const deliveriesMs = performance.now() - endedAt
const campaigns = await waitUntilCounted()
const { clicks, pageViews, submissions, failures } = load.acknowledged
const toCounts = (key: 'clicks' | 'visits') => new Map(campaigns.map((row) => [row.campaign, row[key]]))
const [form] = await ask<{ submissions: number }[]>('/forms')
const once: Counts = new Map([...submissions].map((number) => [number, 1]))
finish(
  `\nRedirects' p99 in the last two minutes / in the first two: ${toGrowth(p99s)} (at most ${GROWTH_MAX}). Deliveries ended ${(deliveriesMs / 1000).toFixed(0)} s after the load.`,
  `Not acknowledged: ${JSON.stringify(Object.fromEntries(failures))}. Stored submissions: ${form?.submissions}.`,
  toTable(
    ['', 'acknowledged', 'lost', 'doubled, or stored without an answer'],
    [
      compare('clicks', clicks, toCounts('clicks')),
      compare('page views', pageViews, toCounts('visits')),
      compare('delivered submissions', once, hook.counts),
    ],
  ),
)
