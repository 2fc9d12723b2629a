// Measures redirects at full rate while three receivers are told of every click, a fast, a slow and a dead one, beside
// redirects alone, and compares the clicks that were counted with those that each was told of: bun bench/receivers.ts
// [--rounds=5] [--seconds=15].

import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { findFreePort } from '../tests/support/processes/free-port.ts'
import { atMost, formatCount, medianOf, medianRatio, note, print, readOptions, toTable } from './harness.ts'
import { type LoadResult, load, redirectScript } from './load.ts'
import { callApi, seed, startTowpath, TOWPATH_DIR } from './servers.ts'

const { rounds, seconds } = readOptions({ rounds: 5, seconds: 15 })
const P99_MAX = 1.5
const SLUGS = 999
const SLOW_MS = 300
/** Clicks that are missing after this time without another click count as lost. */
const STALLED_MS = 60_000
const CHECK_MS = 500

interface Click {
  id: number
  utmCampaign: string | null
}

/** Bodies by their `webhook-id`: an attempt may come again. They are parsed after the load. */
function startReceiver(answerAfterMs: number) {
  const bodies = new Map<string, string>()
  let attempts = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      attempts++
      bodies.set(request.headers.get('webhook-id') ?? '', await request.text())
      if (answerAfterMs > 0) await Bun.sleep(answerAfterMs)
      return new Response('ok')
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/hook`,
    bodies,
    getAttempts: () => attempts,
    stop: () => server.stop(true),
  }
}

/** Counts the clicks of this round only: late clicks of the round before may still come. */
const listClicks = (payloads: Iterable<{ clicks: Click[] }>, campaign: string) =>
  [...payloads].flatMap(({ clicks }) => clicks.filter((click) => click.utmCampaign === campaign))

const readBodies = (bodies: Map<string, string>, campaign: string) =>
  listClicks(
    [...bodies.values()].map((body) => JSON.parse(body).data),
    campaign,
  )

/** The deliveries that the server has stored for a channel, delivered or not. */
function readStored(channelId: number, campaign: string): Click[] {
  const db = new Database(join(TOWPATH_DIR, 'towpath.db'), { readonly: true })
  const rows = db
    .query<{ payload: string }, [number]>(
      'select payload from deliveries where channel_id = ? and payload is not null',
    )
    .all(channelId)
  db.close()
  return listClicks(
    rows.map(({ payload }) => JSON.parse(payload)),
    campaign,
  )
}

const toScript = (campaign: string) =>
  `${redirectScript(SLUGS).replace('"/bench" .. n', `"/bench" .. n .. "?utm_campaign=${campaign}"`)}`

interface Channel {
  name: string
  id: number
  countTold(campaign: string): number
  readTold(campaign: string): Click[]
  attempts(): string
}

interface Round {
  alone: LoadResult
  beside: LoadResult
  rows: (string | number)[][]
  drainedMs: number
}

const { key } = await seed({ links: SLUGS })
const environment = { WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', TRUST_PROXY: '127.0.0.1' }
const towpath = await startTowpath(environment)

async function countClicks(campaign: string): Promise<number> {
  const { clicks } = await callApi<{ clicks: number }>(
    towpath,
    key,
    `/analytics/clicks?interval=24h&utmCampaign=${campaign}`,
  )
  return clicks
}

/** @returns once no more clicks are counted: the hit worker is a moment behind the redirects */
async function waitUntilCounted(campaign: string): Promise<number> {
  let counted = -1
  for (let last = -2; counted !== last || counted === 0; ) {
    await Bun.sleep(4 * CHECK_MS)
    last = counted
    counted = await countClicks(campaign)
  }
  return counted
}

async function waitUntilTold(channels: Channel[], campaign: string, counted: number): Promise<void> {
  let [told, since] = [-1, performance.now()]
  while (performance.now() - since < STALLED_MS) {
    const each = channels.map((channel) => channel.countTold(campaign))
    const now = each.reduce((sum, count) => sum + count, 0)
    if (each.every((count) => count >= counted)) return
    if (now > told) since = performance.now()
    told = now
    await Bun.sleep(CHECK_MS)
  }
}

async function addChannel(name: string, url: string): Promise<number> {
  const body = { type: 'webhook', name, url, events: ['link.clicked'] }
  return (await callApi<{ id: number }>(towpath, key, '/channels', body)).id
}

async function runRound(number: number): Promise<Round> {
  const alone = await load(towpath, { seconds, script: toScript(`alone${number}`) })
  await waitUntilCounted(`alone${number}`)
  const campaign = `beside${number}`
  const [fast, slow] = [startReceiver(0), startReceiver(SLOW_MS)]
  const fromBodies = async (name: string, receiver: typeof fast): Promise<Channel> => ({
    name,
    id: await addChannel(name, receiver.url),
    countTold: () => readBodies(receiver.bodies, campaign).length,
    readTold: () => readBodies(receiver.bodies, campaign),
    attempts: () => `${receiver.getAttempts()} attempts for ${receiver.bodies.size} deliveries`,
  })
  const deadId = await addChannel('dead', `http://127.0.0.1:${findFreePort()}/hook`)
  const dead: Channel = {
    name: 'dead',
    id: deadId,
    countTold: () => readStored(deadId, campaign).length,
    readTold: () => readStored(deadId, campaign),
    attempts: () => 'all of them wait',
  }
  const channels = [await fromBodies('fast', fast), await fromBodies('slow', slow), dead]
  const beside = await load(towpath, { seconds, script: toScript(campaign) })
  const endedAt = performance.now()
  const counted = await waitUntilCounted(campaign)
  await waitUntilTold(channels, campaign, counted)
  const drainedMs = performance.now() - endedAt
  const rows = channels.map(({ name, readTold, attempts }) => {
    const told = readTold(campaign)
    const distinct = new Set(told.map(({ id }) => id)).size
    return [number, name, counted, counted - distinct, told.length - distinct, attempts()]
  })
  for (const { id } of channels) await callApi(towpath, key, `/channels/${id}`, undefined, 'DELETE')
  await Promise.all([fast.stop(), slow.stop()])
  return { alone, beside, rows, drainedMs }
}

try {
  // The first seconds compile the code.
  await load(towpath, { seconds: 4, script: toScript('warm') })
  await waitUntilCounted('warm')
  const results: Round[] = []
  for (let number = 1; number <= rounds; number++) {
    results.push(await runRound(number))
    note(`round ${number} of ${rounds}`)
  }
  const [alone, beside] = [results.map((each) => each.alone), results.map((each) => each.beside)]
  const toCells = (of: LoadResult[]) => [
    formatCount(medianOf(of, 'perSecond')),
    medianOf(of, 'p50Ms').toFixed(2),
    medianOf(of, 'p99Ms').toFixed(2),
    medianOf(of, 'processorUs').toFixed(1),
  ]
  const ratio = medianRatio(beside, alone, 'p99Ms')
  const failed = [...alone, ...beside].reduce((sum, each) => sum + each.failed, 0)
  const drained = Math.max(...results.map(({ drainedMs }) => drainedMs)) / 1000
  print(
    toTable(
      ['redirects at full rate', 'requests/s', 'p50 ms', 'p99 ms', 'µs a request', 'p99 / alone'],
      [
        ['alone', ...toCells(alone), '1.00'],
        ['three receivers', ...toCells(beside), `${ratio.toFixed(2)}, ${atMost(P99_MAX, ratio)}`],
      ],
    ),
    toTable(
      ['round', 'receiver', 'clicks counted', 'lost', 'told twice', ''],
      results.flatMap(({ rows }) => rows),
    ),
    `Failed requests: ${failed}. The fast and the slow receiver had all clicks at most ${drained.toFixed(0)} s after the load.`,
  )
} finally {
  await towpath.end()
}
process.exit(0)
