// The load of bench/uploads.ts: bun bench/uploads-load.ts <url> <mebibytes> <senders> <seconds>. Each sender posts one file
// after the other, each from another address. One line of JSON.

import { connect } from 'node:net'

const [url = '', ...words] = process.argv.slice(2)
const [mebibytes = 1, senders = 1, seconds = 1] = words.map(Number)
const { hostname, port, pathname } = new URL(url)
const CHUNK = Buffer.alloc(256 * 1024, 'bytes of a photograph ')
const FILE_BYTES = mebibytes * 1024 * 1024
const HEAD = '--Bd\r\nContent-Disposition: form-data; name="file"; filename="photo.bin"\r\n\r\n'
const END = '\r\n--Bd--\r\n'
const HEAD_OF_REQUEST = `POST ${pathname} HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Mode: cors\r\nContent-Type: multipart/form-data; boundary=Bd\r\nContent-Length: ${HEAD.length + FILE_BYTES + END.length}\r\nConnection: close\r\n`

let sent = Math.floor(Math.random() * 2 ** 24)
const result = { acknowledged: 0, failed: 0, ms: 0 }

function sendOne(): Promise<boolean> {
  const n = sent++
  const address = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  return new Promise((resolve) => {
    let text = ''
    let left = FILE_BYTES
    const pump = () => {
      while (left > 0) {
        const chunk = CHUNK.subarray(0, left)
        left -= chunk.length
        if (!socket.write(chunk)) return void socket.once('drain', pump)
      }
      socket.write(END)
    }
    socket.on('data', (data) => {
      text += data.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text.startsWith('HTTP/1.1 200 ')))
    socket.on('connect', () => {
      socket.write(`${HEAD_OF_REQUEST}X-Forwarded-For: ${address}\r\n\r\n${HEAD}`)
      pump()
    })
  })
}

const startedAt = performance.now()
await Promise.all(
  Array.from({ length: senders }, async () => {
    while (performance.now() - startedAt < seconds * 1000) {
      if (await sendOne()) result.acknowledged++
      else result.failed++
    }
  }),
)
result.ms = performance.now() - startedAt
process.stdout.write(JSON.stringify(result))
process.exit(0)
