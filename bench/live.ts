// Measures what listeners of the live stream cost beside clicks: bun bench/live.ts [--listeners=1000] [--clicks=1000]
// [--rounds=3] [--seconds=20]. Each listener is a person of one workspace with a session of their own.

import { connect } from 'node:net'
import { createSignedInUser } from '../tests/support/users/signed-in-user.ts'
import type { TestServer } from '../tests/support/world.ts'
import {
  atMost,
  formatCount,
  median,
  note,
  print,
  readOptions,
  readTreeProcessorMs,
  toTable,
} from './harness.ts'
import { startPacedLoad, summarizeTimes } from './paced-load.ts'
import { seed, startTowpath } from './servers.ts'

/** Percent of a core. */
const SHARE_MAX = 5
/** Opened at once. */
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
const { workspaceId } = await seed({}, async (db, seeded) => {
  const users: number[] = []
  for (let n = 0; n < listeners; n++) {
    const user = await createSignedInUser({ app: { db } } as TestServer, `Listener${n}`)
    users.push(user.id)
    cookies.push(user.cookie)
  }
  const at = { workspace_id: seeded.workspaceId, role: 'member' as const, created_at: Date.now() }
  await db.write((connection) =>
    connection
      .insertInto('members')
      .values(users.map((user_id) => ({ ...at, user_id })))
      .execute(),
  )
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

interface Round {
  coreShare: number
  p99Ms: number
}

const load = startPacedLoad(server.port, undefined, clicks)

async function measure(): Promise<Round> {
  load.takeTimes()
  const before = readTreeProcessorMs(server.pid)
  await Bun.sleep(seconds * 1000)
  const coreShare = ((readTreeProcessorMs(server.pid) - before) / (seconds * 1000)) * 100
  return { coreShare, p99Ms: summarizeTimes(load.takeTimes()).p99Ms }
}

await Bun.sleep(WARM_MS)
const [alone, beside]: [Round[], Round[]] = [[], []]
let received = 0
for (let round = 0; round < rounds; round++) {
  alone.push(await measure())
  const reading: Reading = { bytes: 0, ended: 0 }
  const ending = new AbortController()
  for (let from = 0; from < listeners; from += OPENED_AT_ONCE)
    await Promise.all(
      cookies.slice(from, from + OPENED_AT_ONCE).map((cookie) => listen(cookie, reading, ending.signal)),
    )
  await Bun.sleep(SETTLE_MS)
  const bytes = reading.bytes
  beside.push(await measure())
  received = (reading.bytes - bytes) / seconds
  if (reading.ended > 0) throw new Error(`${reading.ended} streams ended.`)
  ending.abort()
  note(`round ${round + 1} of ${rounds}`)
  await Bun.sleep(SETTLE_MS)
}
await load.stop()
await server.end()

const share = (results: Round[]) => median(results.map(({ coreShare }) => coreShare))
const p99 = (results: Round[]) => median(results.map(({ p99Ms }) => p99Ms))
const extra = median(beside.map(({ coreShare }, round) => coreShare - (alone[round]?.coreShare ?? 0)))
print(
  `${formatCount(clicks)} clicks a second, ${rounds} rounds of ${seconds} s. Listeners read ${formatCount(received / 1024)} KiB a second together.`,
  toTable(
    ['listeners', '% of a core', 'redirect p99 ms', 'more % of a core'],
    [
      [0, share(alone).toFixed(1), p99(alone).toFixed(2), ''],
      [
        formatCount(listeners),
        share(beside).toFixed(1),
        p99(beside).toFixed(2),
        `${extra.toFixed(1)}, ${atMost(SHARE_MAX, extra)}`,
      ],
    ],
  ),
)
process.exit(0)
