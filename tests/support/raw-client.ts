// A connection for tests that say exactly which bytes go over it, and how it ends.

import { connect, type Socket } from 'node:net'

export interface RawClient {
  socket: Socket
  /** All that came, or its first 100,000 bytes. */
  text: string
  bytes: number
  /** The server has sent its last byte. */
  ended: boolean
  /** Nothing is left of the connection. */
  closed: boolean
}

interface RawClientOptions {
  /** An address of this machine to connect from, such as 127.0.0.2. */
  from?: string
  /** Does not read what comes until it is resumed. */
  paused?: boolean
}

const TEXT_MAX = 100_000
const open = new Set<Socket>()

/** @returns the connection; one that the server resets is closed at once */
export async function dialRaw(port: number, { from, paused }: RawClientOptions = {}): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true })
  const client: RawClient = { socket, text: '', bytes: 0, ended: false, closed: false }
  open.add(socket)
  socket.on('error', () => {})
  socket.on('end', () => {
    client.ended = true
    socket.end()
  })
  socket.on('close', () => {
    client.ended = true
    client.closed = true
    open.delete(socket)
  })
  await new Promise((resolve) => socket.once('connect', resolve).once('error', resolve))
  if (paused) socket.pause()
  socket.on('data', (chunk) => {
    client.bytes += chunk.length
    if (client.text.length < TEXT_MAX) client.text += chunk.toString('latin1')
  })
  if (paused) socket.pause()
  return client
}

/** For the end of a test file. */
export function destroyRawClients(): void {
  for (const socket of open) socket.destroy()
}

export const rawRequest = (method: string, path: string, ...lines: string[]) =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`

/** The statuses of the answers in a text, in order. Interim answers count, too. */
export const readStatuses = (text: string) =>
  text
    .split(/(?=HTTP\/1\.1 \d\d\d )/)
    .filter((each) => each.startsWith('HTTP/1.1 '))
    .map((each) => Number(each.slice(9, 12)))
