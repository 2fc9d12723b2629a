// Asks for redirects at a steady pace, whether the server keeps up or not. A load generator that waits for each answer asks
// less just when the server stalls, and does not see the stall.
// bun bench/paced-load.ts <port> <seconds> <requests a second>: the milliseconds of each answer, -1 where there was none.

import { connect, type Socket } from 'node:net'
import { atMost, median, medianOf, toTable } from './harness.ts'
import { USER_AGENT } from './load.ts'
import { pinToCore, withPriority } from './servers.ts'

const PER_SECOND = 500
/** One in five requests comes over a connection of its own, as a visitor's first request does. */
const NEW_EVERY = 5
/** Of links that are in memory. */
const SLUGS = 900
const GIVE_UP_MS = 5_000
/** Work is under way before redirects are measured beside it. */
const LEAD_MS = 1_000

export interface PacedResult {
  p50Ms: number
  p99Ms: number
  maxMs: number
  failed: number
}

/** @param times milliseconds of answers, -1 where there was none */
export function summarizeTimes(times: number[]): PacedResult {
  const sorted = times.map((ms) => (ms < 0 ? GIVE_UP_MS : ms)).sort((a, b) => a - b)
  const at = (part: number) =>
    sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? Number.NaN
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1), failed: times.filter((ms) => ms < 0).length }
}

/** Starts a load in a separate process. */
export function startPacedLoad(port: number, seconds = 1e9, perSecond = PER_SECOND) {
  const command = [process.execPath, import.meta.path, ...[port, seconds, perSecond].map(String)]
  const child = Bun.spawn(pinToCore(1, withPriority(command)), { stdout: 'pipe', stderr: 'inherit' })
  let times: number[] = []
  const ended = (async () => {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      times.push(...lines.map(Number))
    }
  })()
  return {
    ended,
    /** @returns the times since the last call */
    takeTimes() {
      const taken = times
      times = []
      return taken
    },
    async stop() {
      child.kill()
      await ended
    },
  }
}

/** @returns the latencies of some seconds of requests */
export async function loadAtPace(port: number, seconds: number): Promise<PacedResult> {
  const running = startPacedLoad(port, seconds)
  await running.ended
  return summarizeTimes(running.takeTimes())
}

export interface BesideRound {
  alone: PacedResult
  beside: PacedResult[]
}

/**
 * Measures redirects alone, and then beside some work.
 * @param start starts the work. With `stop`, redirects are measured once; without, as long as the work lasts
 */
export async function loadBeside(
  port: number,
  seconds: number,
  start: () => { ended: Promise<unknown>; stop?: () => void },
): Promise<BesideRound> {
  const alone = await loadAtPace(port, seconds)
  const { ended, stop } = start()
  let isRunning = true
  const over = ended.finally(() => {
    isRunning = false
  })
  await Bun.sleep(LEAD_MS)
  const beside: PacedResult[] = []
  do {
    const result = await loadAtPace(port, seconds)
    // A window in which the work has ended is in part one without it.
    if (isRunning || beside.length === 0) beside.push(result)
  } while (isRunning && !stop)
  stop?.()
  await over
  return { alone, beside }
}

/** Medians of the rounds. */
export function summarizeBeside(rounds: BesideRound[]) {
  const all = rounds.flatMap(({ alone, beside }) => [alone, ...beside])
  const of = (figure: 'p50Ms' | 'p99Ms' | 'maxMs') => {
    const alone = median(rounds.map((round) => round.alone[figure]))
    const beside = median(rounds.map((round) => medianOf(round.beside, figure)))
    return { alone, beside, ratio: beside / alone }
  }
  const failed = all.reduce((sum, each) => sum + each.failed, 0)
  return { p50: of('p50Ms'), p99: of('p99Ms'), max: of('maxMs'), failed }
}

/** @param work what ran beside redirects, such as `during uploads` */
export function toBesideTable(work: string, rounds: BesideRound[], ratioMax: number): string {
  const { p50, p99, max, failed } = summarizeBeside(rounds)
  const toCells = (of: 'alone' | 'beside') => [p50, p99, max].map((figure) => figure[of].toFixed(2))
  return toTable(
    ['redirects at a steady pace', 'p50 ms', 'p99 ms', 'longest ms', 'p99 / alone', 'failed'],
    [
      ['alone', ...toCells('alone'), '1.00', ''],
      [work, ...toCells('beside'), `${p99.ratio.toFixed(2)}, ${atMost(ratioMax, p99.ratio)}`, failed],
    ],
  )
}

/** @returns milliseconds, or -1 */
function ask(port: number, idle: Socket[], n: number): Promise<number> {
  const startedAt = performance.now()
  const isNew = n % NEW_EVERY === 0
  let kept = isNew ? undefined : idle.pop()
  while (kept?.destroyed) kept = idle.pop()
  const socket = kept ?? connect({ port, host: '127.0.0.1', noDelay: true })
  return new Promise((resolve) => {
    let text = ''
    const finish = (isAnswered: boolean) => {
      clearTimeout(timer)
      socket.removeAllListeners()
      socket.on('error', () => {})
      if (isAnswered && !isNew) idle.push(socket)
      else socket.destroy()
      resolve(isAnswered ? performance.now() - startedAt : -1)
    }
    const timer = setTimeout(finish, GIVE_UP_MS, false)
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (text.endsWith('\r\n\r\n')) finish(text.startsWith('HTTP/1.1 302 '))
    })
    socket.on('error', () => finish(false))
    socket.on('close', () => finish(false))
    const fields = ['Host: 127.0.0.1', `User-Agent: ${USER_AGENT}`, 'Accept: text/html']
    const connection = `Connection: ${isNew ? 'close' : 'keep-alive'}`
    socket.write(`${[`GET /bench${1 + (n % SLUGS)} HTTP/1.1`, ...fields, connection].join('\r\n')}\r\n\r\n`)
  })
}

if (import.meta.main) {
  const [port = 0, seconds = 0, perSecond = 0] = process.argv.slice(2).map(Number)
  const [idle, pending, startedAt] = [[] as Socket[], new Set<Promise<void>>(), performance.now()]
  let lines = ''
  const flush = () => {
    process.stdout.write(lines)
    lines = ''
  }
  const timer = setInterval(flush, 1_000)
  for (let n = 0; n < seconds * perSecond; ) {
    for (const due = ((performance.now() - startedAt) / 1000) * perSecond; n < due; n++) {
      const one: Promise<void> = ask(port, idle, n).then((ms) => {
        lines += `${ms.toFixed(2)}\n`
        pending.delete(one)
      })
      pending.add(one)
    }
    await Bun.sleep(1)
  }
  await Promise.all(pending)
  clearInterval(timer)
  flush()
  process.exit(0)
}
