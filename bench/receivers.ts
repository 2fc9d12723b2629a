// Measures redirects at full rate while three receivers are told of every click, a fast, a slow and a dead one, beside
// redirects alone, and compares the clicks that were counted with those that each was told of or that wait for it:
// bun bench/receivers.ts [--rounds=5] [--seconds=15] [--drain=30]. A round ends `drain` seconds after its load at the latest.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { findFreePort } from '../tests/support/processes/free-port.ts'
import {
  atMost,
  callApi,
  finish,
  formatCount,
  formatVerdict,
  LOAD_COLUMNS,
  load,
  medianRatio,
  note,
  readOptions,
  redirectScript,
  seed,
  startTowpath,
  sumOf,
  TOWPATH_DIR,
  toLoadCells,
  toTable,
} from './harness.ts'

const { rounds, seconds, drain } = readOptions({ rounds: 5, seconds: 15, drain: 30 })
const P99_MAX = 1.5
const SLUGS = 999
const SLOW_MS = 300
const CHECK_MS = 1_000

/** Bodies by their `webhook-id`: an attempt may come again. They are read after the load. */
function startReceiver(answerAfterMs: number) {
  const bodies = new Map<string, string>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = await request.text()
      if (answerAfterMs > 0) await Bun.sleep(answerAfterMs)
      bodies.set(request.headers.get('webhook-id') ?? '', body)
      return new Response('ok')
    },
  })
  return { url: `http://127.0.0.1:${server.port}/hook`, bodies, stop: () => server.stop(true) }
}

/** A million clicks parsed as JSON take longer than the round. */
const listIds = (text: string) => [...text.matchAll(/\{"id":(\d+),"time"/g)].map(([, id]) => Number(id))

const { key } = await seed({ links: SLUGS })
const environment = { WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', TRUST_PROXY: '127.0.0.1' }
const towpath = await startTowpath(environment)
const database = new Database(join(TOWPATH_DIR, 'towpath.db'), { readonly: true })

const WAITING = 'from deliveries where channel_id = ? and finished_at is null'
const countWaiting = database.query<{ count: number }, [number]>(`select count(*) as count ${WAITING}`)
const listWaiting = database.query<{ message_id: string; payload: string }, [number]>(
  `select message_id, payload ${WAITING}`,
)
const selectBehind = database.query<{ batches: number }, []>(
  `select max(batch) - (select position from event_marks where consumer = 'clicks/' || node) as batches from click_marks`,
)

const countClicks = async (campaign: string) => {
  const path = `/analytics/clicks?interval=24h&utmCampaign=${campaign}`
  return (await callApi<{ clicks: number }>(towpath, key, path)).clicks
}

/** Waits until no more clicks are counted: the hit worker is a moment behind the redirects. */
async function waitUntilCounted(campaign: string): Promise<void> {
  for (let [last, counted] = [-2, -1]; counted !== last || counted === 0; ) {
    await Bun.sleep(2 * CHECK_MS)
    last = counted
    counted = await countClicks(campaign)
  }
}

interface Channel {
  name: string
  id: number
  /** Of a receiver that answers. */
  bodies?: Map<string, string>
}

async function addChannel(name: string, url: string, bodies?: Map<string, string>): Promise<Channel> {
  const body = { type: 'webhook', name, url, events: ['link.clicked'] }
  return { name, bodies, id: (await callApi<{ id: number }>(towpath, key, '/channels', body)).id }
}

/** Waits until every click has become deliveries and the receivers that answer have them, and no longer than `drain`. */
async function waitUntilTold(channels: Channel[], until: number): Promise<void> {
  const isOpen = ({ id, bodies }: Channel) => bodies && (countWaiting.get(id)?.count ?? 0) > 0
  while (performance.now() < until && ((selectBehind.get()?.batches ?? 0) > 0 || channels.some(isOpen)))
    await Bun.sleep(CHECK_MS)
}

interface Outcome {
  lost: number
  doubled: number
  cells: (string | number)[]
}

/** What waits is read first: a delivery that ends meanwhile is in both, under one id. */
function compare({ name, id, bodies = new Map() }: Channel, counted: number): Outcome {
  const isBehind = (selectBehind.get()?.batches ?? 0) > 0
  const waiting = listWaiting.all(id).map((row): [string, string] => [row.message_id, row.payload])
  const [queued, told] = [new Map(waiting), [...bodies].map(([, body]) => listIds(body))]
  for (const delivered of bodies.keys()) queued.delete(delivered)
  const inQueue = [...queued.values()].map(listIds)
  const all = [...told, ...inQueue].flat()
  const distinct = new Set(all).size
  const [missing, doubled] = [counted - distinct, all.length - distinct]
  const [lost, unread] = isBehind ? [0, missing] : [missing, 0]
  const cells = [name, counted, told.flat().length, inQueue.flat().length + unread, lost, doubled]
  return { lost, doubled, cells: [...cells, `${told.length} told, ${inQueue.length} queued`] }
}

async function runRound(number: number) {
  const run = (campaign: string) =>
    load(towpath, { seconds, script: redirectScript({ slugs: SLUGS, query: `?utm_campaign=${campaign}` }) })
  const alone = await run(`alone${number}`)
  await waitUntilCounted(`alone${number}`)
  const [fast, slow] = [startReceiver(0), startReceiver(SLOW_MS)]
  const channels = [
    await addChannel('fast', fast.url, fast.bodies),
    await addChannel('slow', slow.url, slow.bodies),
    await addChannel('dead', `http://127.0.0.1:${findFreePort()}/hook`),
  ]
  const beside = await run(`beside${number}`)
  const until = performance.now() + drain * 1000
  await waitUntilCounted(`beside${number}`)
  await waitUntilTold(channels, until)
  const counted = await countClicks(`beside${number}`)
  const outcomes = channels.map((channel) => compare(channel, counted))
  for (const { id } of channels) await callApi(towpath, key, `/channels/${id}`, undefined, 'DELETE')
  await Promise.all([fast.stop(), slow.stop()])
  note(`round ${number} of ${rounds}`)
  return { alone, beside, outcomes, rows: outcomes.map(({ cells }) => [number, ...cells]) }
}

// The first seconds compile the code.
await load(towpath, { seconds: 4 })
const results: Awaited<ReturnType<typeof runRound>>[] = []
for (let number = 1; number <= rounds; number++) results.push(await runRound(number))
const [alone, beside] = [results.map((each) => each.alone), results.map((each) => each.beside)]
const outcomes = results.flatMap((each) => each.outcomes)
const ratio = medianRatio(beside, alone, 'p99Ms')
const [lost, doubled] = [sumOf(outcomes, 'lost'), sumOf(outcomes, 'doubled')]
finish(
  toTable(
    ['redirects at full rate', ...LOAD_COLUMNS, 'p99 / alone'],
    [
      ['alone', ...toLoadCells(alone), '1.00'],
      ['three receivers', ...toLoadCells(beside), `${ratio.toFixed(2)}, ${atMost(P99_MAX, ratio)}`],
    ],
  ),
  toTable(
    ['round', 'receiver', 'clicks counted', 'told', 'queued', 'lost', 'told twice', 'deliveries'],
    results.flatMap(({ rows }) => rows),
  ),
  `Failed requests: ${sumOf([...alone, ...beside], 'failed')}. Lost: ${formatCount(lost)}, told twice: ${formatCount(doubled)}: ${formatVerdict(lost === 0 && doubled === 0)}.`,
)
