// Measures what listeners of the live stream cost beside clicks: bun bench/live.ts [--listeners=1000] [--clicks=1000]
// [--rounds=3] [--seconds=20]. Each listener is a person of one workspace with a session of their own.

import { connect } from 'node:net'
import { createSignedInUser } from '../tests/support/users/signed-in-user.ts'
import type { TestServer } from '../tests/support/world.ts'
import {
  addRows,
  atMost,
  finish,
  formatCount,
  measureProcessorMs,
  median,
  medianOf,
  note,
  readOptions,
  seed,
  startPacedLoad,
  startTowpath,
  summarizeTimes,
  toTable,
} from './harness.ts'

/** Percent of a core. */
const SHARE_MAX = 5
const OPENED_AT_ONCE = 50
/** The first figures are counted, and all listeners are in step. */
const SETTLE_MS = 3_000
/** Clicks come for this long before anything is measured, so that the last minutes are full. */
const WARM_MS = 10_000
const { listeners, clicks, rounds, seconds } = readOptions({
  listeners: 1000,
  clicks: 1000,
  rounds: 3,
  seconds: 20,
})

const cookies: string[] = []
const { workspaceId } = await seed({}, async (db, { workspaceId: workspace_id }) => {
  const ids: number[] = []
  for (let n = 0; n < listeners; n++) {
    const user = await createSignedInUser({ app: { db } } as TestServer, `Listener${n}`)
    ids.push(user.id)
    cookies.push(user.cookie)
  }
  const member = { workspace_id, role: 'member' as const, created_at: Date.now() }
  await addRows(db, 'members', listeners, (n) => ({ ...member, user_id: ids[n - 1] }))
})
// The listeners share an address, as people behind a proxy do.
const server = await startTowpath({ TRUST_PROXY: '127.0.0.1/32' }, { first: true })

interface Reading {
  bytes: number
  ended: number
}

/** Opens a stream, and reads it until the signal. A socket: `fetch` of Bun has at most 256 answers open. */
function listen(cookie: string, reading: Reading, signal: AbortSignal): Promise<void> {
  const socket = connect({ port: server.port, host: '127.0.0.1' })
  signal.addEventListener('abort', () => socket.destroy())
  return new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.once('data', (chunk) => {
      const [line = ''] = chunk.toString('latin1').split('\r\n')
      if (line.includes(' 200 ')) resolve()
      else reject(new Error(`The stream was answered with ${line}.`))
    })
    socket.on('data', (chunk) => {
      reading.bytes += chunk.length
    })
    socket.on('close', () => {
      if (!signal.aborted) reading.ended++
    })
    const fields = [`Cookie: ${cookie}`, `X-Workspace: ${workspaceId}`, 'Sec-Fetch-Site: same-origin']
    const head = ['GET /v1/analytics/live HTTP/1.1', 'Host: 127.0.0.1', ...fields]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
  })
}

const load = startPacedLoad(server.port, undefined, clicks)

async function measure() {
  load.takeTimes()
  const share = (await measureProcessorMs(server.pid, seconds)) / 10
  return { share, p99Ms: summarizeTimes(load.takeTimes()).p99Ms }
}

async function measureWithListeners() {
  const reading: Reading = { bytes: 0, ended: 0 }
  const ending = new AbortController()
  for (let from = 0; from < listeners; from += OPENED_AT_ONCE)
    await Promise.all(
      cookies.slice(from, from + OPENED_AT_ONCE).map((cookie) => listen(cookie, reading, ending.signal)),
    )
  await Bun.sleep(SETTLE_MS)
  const { bytes } = reading
  const result = await measure()
  const perSecond = (reading.bytes - bytes) / seconds
  if (reading.ended > 0) throw new Error(`${reading.ended} streams ended.`)
  ending.abort()
  await Bun.sleep(SETTLE_MS)
  return { ...result, perSecond }
}

await Bun.sleep(WARM_MS)
const rows = []
for (let round = 1; round <= rounds; round++) {
  const [alone, beside] = [await measure(), await measureWithListeners()]
  rows.push({ alone, beside, extra: beside.share - alone.share })
  note(`round ${round} of ${rounds}`)
}
const [alone, beside] = [rows.map((row) => row.alone), rows.map((row) => row.beside)]
const toCells = (of: typeof alone) => [medianOf(of, 'share').toFixed(1), medianOf(of, 'p99Ms').toFixed(2)]
const extra = median(rows.map((row) => row.extra))
finish(
  `${formatCount(clicks)} clicks a second, ${rounds} rounds of ${seconds} s. Listeners read ${formatCount(medianOf(beside, 'perSecond') / 1024)} KiB a second together.`,
  toTable(
    ['listeners', '% of a core', 'redirect p99 ms', 'more % of a core'],
    [
      [0, ...toCells(alone), ''],
      [formatCount(listeners), ...toCells(beside), `${extra.toFixed(1)}, ${atMost(SHARE_MAX, extra)}`],
    ],
  ),
)
