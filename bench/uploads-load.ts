// The load of bench/uploads.ts: bun bench/uploads-load.ts <url> <mebibytes> <senders> <seconds>. Each sender posts one file
// after the other, each over a connection of its own and from another address. It prints JSON.

import { Buffer } from 'node:buffer'

const [url = '', ...words] = process.argv.slice(2)
const [mebibytes = 1, senders = 1, seconds = 1] = words.map(Number)
const body = Buffer.concat([
  Buffer.from('--Bd\r\nContent-Disposition: form-data; name="file"; filename="photo.bin"\r\n\r\n'),
  Buffer.alloc(mebibytes * 1024 * 1024, 'bytes of a photograph '),
  Buffer.from('\r\n--Bd--\r\n'),
])
const HEADERS = {
  'Sec-Fetch-Mode': 'cors',
  'Content-Type': 'multipart/form-data; boundary=Bd',
  Connection: 'close',
}

let sent = Math.floor(Math.random() * 2 ** 24)
const result = { acknowledged: 0, failed: 0, ms: 0 }

async function send(): Promise<boolean> {
  const n = sent++
  const address = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`
  const headers = { ...HEADERS, 'X-Forwarded-For': address }
  const answer = await fetch(url, { method: 'POST', headers, body, keepalive: false }).catch(() => undefined)
  await answer?.arrayBuffer()
  return answer?.status === 200
}

const startedAt = performance.now()
await Promise.all(
  Array.from({ length: senders }, async () => {
    while (performance.now() - startedAt < seconds * 1000) {
      if (await send()) result.acknowledged++
      else result.failed++
    }
  }),
)
result.ms = performance.now() - startedAt
process.stdout.write(JSON.stringify(result))
process.exit(0)
