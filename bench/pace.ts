// Calls at a steady pace, whether the server keeps up or not. A load generator that waits for each answer asks less just
// when the server stalls, and does not see the stall.
// bun bench/pace.ts <port> <seconds> <requests a second>: the milliseconds of each redirect, -1 where there was none.

import { connect, type Socket } from 'node:net'

export const USER_AGENT =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'
export const GIVE_UP_MS = 5_000
/** One in five requests comes over a connection of its own, as a visitor's first request does. */
const NEW_EVERY = 5
/** Of links that are in memory. */
const SLUGS = 900
const TICK_MS = 2

/** @param atOnce calls at most. What could not be begun in time is left out, and not begun later in one burst. */
export function startPace(perSecond: number, atOnce: number, call: (n: number) => Promise<unknown>) {
  const running = new Set<Promise<unknown>>()
  let [n, startedAt] = [0, performance.now()]
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1000) * perSecond
    for (; n < due && running.size < atOnce; n++) {
      const one: Promise<unknown> = call(n)
        .catch(() => {})
        .finally(() => running.delete(one))
      running.add(one)
    }
    if (n < due) startedAt += ((due - n) / perSecond) * 1000
  }, TICK_MS)
  /** Resolves when the last call has ended. */
  return async function stop() {
    clearInterval(timer)
    await Promise.all(running)
  }
}

/** @returns milliseconds, or -1 */
function askForRedirect(port: number, idle: Socket[], n: number): Promise<number> {
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
  const idle: Socket[] = []
  let lines = ''
  const flush = () => {
    process.stdout.write(lines)
    lines = ''
  }
  const timer = setInterval(flush, 1_000)
  const stop = startPace(perSecond, Number.POSITIVE_INFINITY, async (n) => {
    lines += `${(await askForRedirect(port, idle, n)).toFixed(2)}\n`
  })
  await Bun.sleep(seconds * 1000)
  await stop()
  clearInterval(timer)
  flush()
  process.exit(0)
}
