// Asks for redirects at a steady pace, whether the server keeps up or not, and tells how long the answers took. A load
// generator that waits for each answer asks less just when the server stalls, and does not see the stall.
// bun bench/paced-load.ts <port> <seconds>: one line of JSON.

import { connect, type Socket } from 'node:net'
import type { LoadResult } from './load.ts'
import { USER_AGENT } from './load.ts'
import { pinToCore, withPriority } from './servers.ts'

const PER_SECOND = 500
/** Of so many requests one comes over a connection of its own, as a visitor's first request does. */
const NEW_EVERY = 5
/** Of links that are in memory. */
const SLUGS = 900
const GIVE_UP_MS = 5_000

export interface PacedResult extends LoadResult {
  maxMs: number
  /** Answers that took longer than SLOW_MS. */
  slow: number
}

export const SLOW_MS = 50

interface Paced {
  port: number
  idle: Socket[]
  timesMs: number[]
  failed: number
}

const request = (n: number, connection: string) =>
  `GET /bench${1 + (n % SLUGS)} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: ${USER_AGENT}\r\nAccept: text/html\r\nConnection: ${connection}\r\n\r\n`

function send(state: Paced, n: number): Promise<void> {
  const startedAt = performance.now()
  const isNew = n % NEW_EVERY === 0
  let socket = isNew ? undefined : state.idle.pop()
  while (socket?.destroyed) socket = state.idle.pop()
  const connection = socket ?? connect({ port: state.port, host: '127.0.0.1', noDelay: true })
  return new Promise((resolve) => {
    let text = ''
    const finish = (isAnswered: boolean) => {
      clearTimeout(timer)
      connection.removeAllListeners()
      connection.on('error', () => {})
      state.timesMs.push(isAnswered ? performance.now() - startedAt : GIVE_UP_MS)
      if (!isAnswered) state.failed++
      if (isAnswered && !isNew) state.idle.push(connection)
      else connection.destroy()
      resolve()
    }
    const timer = setTimeout(finish, GIVE_UP_MS, false)
    connection.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (text.endsWith('\r\n\r\n')) finish(text.startsWith('HTTP/1.1 302 '))
    })
    connection.on('error', () => finish(false))
    connection.on('close', () => finish(false))
    connection.write(request(n, isNew ? 'close' : 'keep-alive'))
  })
}

async function run(port: number, seconds: number): Promise<PacedResult> {
  const state: Paced = { port, idle: [], timesMs: [], failed: 0 }
  const pending: Promise<void>[] = []
  const startedAt = performance.now()
  for (let n = 0; n < seconds * PER_SECOND; ) {
    const due = ((performance.now() - startedAt) / 1000) * PER_SECOND
    for (; n < due; n++) pending.push(send(state, n))
    await Bun.sleep(1)
  }
  await Promise.all(pending)
  const sorted = state.timesMs.sort((a, b) => a - b)
  const at = (part: number) => sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? NaN
  return {
    perSecond: sorted.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
    slow: sorted.filter((ms) => ms > SLOW_MS).length,
    failed: state.failed,
  }
}

/** @returns what the requests of some seconds took */
export async function loadAtPace(port: number, seconds: number): Promise<PacedResult> {
  const command = [process.execPath, import.meta.path, String(port), String(seconds)]
  const child = Bun.spawn(pinToCore(1, withPriority(command)), { stderr: 'inherit' })
  return JSON.parse(await new Response(child.stdout).text())
}

if (import.meta.main) {
  const [port, seconds] = process.argv.slice(2).map(Number)
  process.stdout.write(JSON.stringify(await run(port as number, seconds as number)))
  process.exit(0)
}
