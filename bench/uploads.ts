// Measures uploads beside a bare server that streams the same bodies to files with the same syncs, and the redirects of both
// during uploads beside redirects alone: bun bench/uploads.ts [--rounds=3] [--seconds=3]. With a first word it is one of the
// two other programs: `send <url> <mebibytes> <senders> <seconds>`, `write <port> <dir>`.

import { Buffer } from 'node:buffer'
import { mkdirSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort } from '../tests/support/processes/free-port.ts'
import {
  atLeast,
  callApi,
  finish,
  HOME,
  launch,
  loadBeside,
  medianOf,
  medianRatio,
  note,
  readOptions,
  runProgram,
  runRounds,
  seed,
  spawnOn,
  startTowpath,
  toBesideTable,
  toTable,
} from './harness.ts'

const SIZES_MIB = [1, 10]
const SENDERS = 8
const RATIO_MIN = 0.5
const P99_MAX = 2
const UPLOAD_HEADERS = {
  'Sec-Fetch-Mode': 'cors',
  'Content-Type': 'multipart/form-data; boundary=Bd',
  Connection: 'close',
}

/** Each sender posts one file after the other, each over a connection of its own and from another address. */
async function sendUploads(url: string, [mebibytes = 1, senders = 1, seconds = 1]: number[]) {
  const body = Buffer.concat([
    Buffer.from('--Bd\r\nContent-Disposition: form-data; name="file"; filename="photo.bin"\r\n\r\n'),
    Buffer.alloc(mebibytes * 1024 * 1024, 'bytes of a photograph '),
    Buffer.from('\r\n--Bd--\r\n'),
  ])
  let n = Math.floor(Math.random() * 2 ** 24)
  const result = { acknowledged: 0, failed: 0, ms: 0 }
  const startedAt = performance.now()
  const send = async () => {
    while (performance.now() - startedAt < seconds * 1000) {
      const address = `10.${(++n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`
      const headers = { ...UPLOAD_HEADERS, 'X-Forwarded-For': address }
      const request = fetch(url, { method: 'POST', headers, body, keepalive: false })
      const answer = await request.catch(() => undefined)
      await answer?.arrayBuffer()
      if (answer?.status === 200) result.acknowledged++
      else result.failed++
    }
  }
  await Promise.all(Array.from({ length: senders }, send))
  result.ms = performance.now() - startedAt
  finish(JSON.stringify(result))
}

/** The baseline streams each body to a file, syncs and renames it, and syncs the directory and one appended line, as a row's commit does. */
async function serveWriter(port: number, dir: string) {
  let files = 0
  const rows = await open(join(dir, 'rows'), 'a')
  const folder = await open(dir, 'r')
  Bun.serve({
    port,
    hostname: '127.0.0.1',
    maxRequestBodySize: 1024 ** 3,
    async fetch(request) {
      if (!request.body)
        return new Response(null, { status: 302, headers: { Location: 'https://example.com/' } })
      const path = join(dir, String(files++))
      const file = await open(`${path}.draft`, 'wx')
      for await (const chunk of request.body) await file.write(chunk)
      await file.sync()
      await file.close()
      await rename(`${path}.draft`, path)
      await folder.sync()
      await rows.write('a row of a submission\n')
      await rows.datasync()
      return Response.json({ ok: true })
    },
  })
}

function startWriter() {
  const [port, dir] = [findFreePort(), join(HOME, 'writer')]
  mkdirSync(dir)
  return launch('writer', port, spawnOn(0, [import.meta.path, 'write', String(port), dir], { first: true }))
}

async function main() {
  const options = readOptions({ rounds: 3, seconds: 3 })
  const send = async (url: string, mebibytes: number, seconds = options.seconds) => {
    const words = ['send', url, mebibytes, SENDERS, seconds]
    const result = await runProgram<{ acknowledged: number; failed: number; ms: number }>(
      ...([1, 'uploads.ts', ...words] as const),
    )
    if (result.failed > 0) note(`${result.failed} uploads failed`)
    return { perSecond: (result.acknowledged / result.ms) * 1000 }
  }
  const { key } = await seed()
  const environment = { TRUST_PROXY: '127.0.0.1', UPLOAD_BYTES_PER_WORKSPACE: '1 TiB' }
  const towpath = await startTowpath(environment, { first: true })
  const writer = await startWriter()
  const uploads = { maxFiles: 1, maxBytes: 10 * 1024 * 1024, accept: [] }
  const { formKey } = await callApi<{ formKey: string }>(towpath, key, '/forms', { name: 'Files', uploads })
  const urls = [`http://127.0.0.1:${towpath.port}/f/${formKey}`, `http://127.0.0.1:${writer.port}/`]
  const rows: string[][] = []
  for (const size of SIZES_MIB) {
    for (const url of urls) await send(url, size, 1)
    const runs = urls.map((url) => () => send(url, size))
    const [ours = [], bare = []] = await runRounds(options.rounds, runs, `${size} MiB:`)
    const ratio = medianRatio(ours, bare, 'perSecond')
    const rates = [ours, bare].map((rates) => medianOf(rates, 'perSecond').toFixed(1))
    rows.push([`${size} MiB`, ...rates, ratio.toFixed(2), atLeast(RATIO_MIN, ratio)])
  }
  const redirects = [towpath, writer].map(({ port }, n) => () => {
    const start = () => ({ ended: send(urls[n] as string, 1, options.seconds + 2), stop() {} })
    return loadBeside(port, options.seconds, start)
  })
  const [ours = [], bare = []] = await runRounds(options.rounds, redirects, 'redirects:')
  finish(
    toTable([`${SENDERS} senders, files of`, 'acknowledged/s', 'bare writer/s', 'towpath / it', ''], rows),
    toBesideTable('during uploads of 1 MiB', ours, P99_MAX),
    toBesideTable('the bare writer, during the same', bare, P99_MAX),
  )
}

const [program, target = '', ...words] = process.argv.slice(2)
if (program === 'send') await sendUploads(target, words.map(Number))
else if (program === 'write') await serveWriter(Number(target), words[0] ?? '')
else await main()
