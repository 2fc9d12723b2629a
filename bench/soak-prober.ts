// Asks for one redirect every 50 ms from a process of its own, whatever else the load generator does. It prints the
// milliseconds of each answer on a line, and -1 where there was none: bun bench/soak-prober.ts <port> <slug>.

import { connect, type Socket } from 'node:net'
import { USER_AGENT } from './load.ts'

const EVERY_MS = 50
const GIVE_UP_MS = 10_000
/** Of so many requests one comes over a connection of its own, as a visitor's first request does. */
const NEW_EVERY = 5

const idle: Socket[] = []

function probe(port: number, slug: string, n: number) {
  const isNew = n % NEW_EVERY === 0
  const startedAt = performance.now()
  let kept = isNew ? undefined : idle.pop()
  while (kept?.destroyed) kept = idle.pop()
  const socket = kept ?? connect({ port, host: '127.0.0.1', noDelay: true })
  let text = ''
  const finish = (isAnswered: boolean) => {
    clearTimeout(timer)
    socket.removeAllListeners()
    socket.on('error', () => {})
    process.stdout.write(`${isAnswered ? (performance.now() - startedAt).toFixed(2) : -1}\n`)
    if (isAnswered && !isNew) idle.push(socket)
    else socket.destroy()
  }
  const timer = setTimeout(finish, GIVE_UP_MS, false)
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    if (text.endsWith('\r\n\r\n')) finish(text.startsWith('HTTP/1.1 302 '))
  })
  socket.on('error', () => finish(false))
  socket.on('close', () => finish(false))
  const connection = isNew ? 'close' : 'keep-alive'
  socket.write(
    `GET /${slug} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: ${USER_AGENT}\r\nConnection: ${connection}\r\n\r\n`,
  )
}

const [port, slug = ''] = process.argv.slice(2)
let n = 0
setInterval(() => probe(Number(port), slug, n++), EVERY_MS)
