// Measures uploads beside a bare server that streams the same bodies to files with the same syncs, and redirects during
// uploads beside redirects alone: bun bench/uploads.ts [--rounds=3] [--seconds=3].

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { findFreePort } from '../tests/support/processes/free-port.ts'
import { atLeast, medianOf, medianRatio, note, print, readOptions, runRounds, toTable } from './harness.ts'
import { loadBeside, toBesideTable } from './paced-load.ts'
import { callApi, HOME, launch, pinToCore, seed, startTowpath } from './servers.ts'

const options = readOptions({ rounds: 3, seconds: 3 })
const SIZES_MIB = [1, 10]
const SENDERS = 8
const RATIO_MIN = 0.5
const P99_MAX = 2

async function send(url: string, mebibytes: number, seconds = options.seconds) {
  const script = join(import.meta.dir, 'uploads-load.ts')
  const words = [url, mebibytes, SENDERS, seconds].map(String)
  const child = Bun.spawn(pinToCore(1, [process.execPath, script, ...words]), { stderr: 'inherit' })
  const { acknowledged, failed, ms } = JSON.parse(await new Response(child.stdout).text())
  if (failed > 0) note(`${failed} uploads failed`)
  return { perSecond: (acknowledged / ms) * 1000 }
}

/** The baseline, on the disk of the product's data directory. */
function startWriter() {
  const [port, dir] = [findFreePort(), join(HOME, 'writer')]
  mkdirSync(dir)
  const script = join(import.meta.dir, 'uploads-writer.ts')
  return launch('writer', port, [process.execPath, script, String(port), dir], { first: true })
}

const { key } = await seed()
const environment = { TRUST_PROXY: '127.0.0.1', UPLOAD_BYTES_PER_WORKSPACE: '1 TiB' }
const towpath = await startTowpath(environment, { first: true })
const writer = await startWriter()
try {
  const uploads = { maxFiles: 1, maxBytes: 10 * 1024 * 1024, accept: [] }
  const { formKey } = await callApi<{ formKey: string }>(towpath, key, '/forms', { name: 'Files', uploads })
  const towpathUrl = `http://127.0.0.1:${towpath.port}/f/${formKey}`
  const writerUrl = `http://127.0.0.1:${writer.port}/`
  const rows: string[][] = []
  for (const size of SIZES_MIB) {
    for (const url of [towpathUrl, writerUrl]) await send(url, size, 1)
    const runs = [() => send(towpathUrl, size), () => send(writerUrl, size)]
    const [ours = [], bare = []] = await runRounds(options.rounds, runs, `${size} MiB:`)
    const ratio = medianRatio(ours, bare, 'perSecond')
    const rates = [ours, bare].map((rates) => medianOf(rates, 'perSecond').toFixed(1))
    rows.push([`${size} MiB`, ...rates, ratio.toFixed(2), atLeast(RATIO_MIN, ratio)])
  }
  const start = () => ({ ended: send(towpathUrl, 1, options.seconds + 2), stop() {} })
  const [rounds = []] = await runRounds(
    options.rounds,
    [() => loadBeside(towpath.port, options.seconds, start)],
    'redirects:',
  )
  print(
    toTable([`${SENDERS} senders, files of`, 'acknowledged/s', 'bare writer/s', 'towpath / it', ''], rows),
    toBesideTable('during uploads of 1 MiB', rounds, P99_MAX),
  )
} finally {
  await towpath.end()
  await writer.end()
}
process.exit(0)
