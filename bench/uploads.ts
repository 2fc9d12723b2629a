// bun bench/uploads.ts [rounds]: acknowledged uploads per second beside a bare server that streams the same bodies to files with the
// same syncs, and a redirect's p99 at a steady pace during uploads beside alone. Rounds by turns, medians; tables for docs/benchmarks.md.

import { newFormKey } from '../server/features/forms/settings/form-key.ts'
import { openDatabase } from '../server/storage/database/open-database.ts'
import type { LoadResult } from './load.ts'
import { median } from './median.ts'
import { loadAtPace } from './paced-load.ts'
import { pinToCore, seedLinks, startTowpath, startUploadWriter, TOWPATH_DIR } from './servers.ts'
import { formatVerdict } from './verdict.ts'

const ROUNDS = Number(process.argv[2] ?? 3)
const SECONDS = 3
const LEAD_MS = 1_000
const MIB = 1024 * 1024
const SIZES = [1, 10]
const SENDERS = 8
const RATIO_MIN = 0.5
const P99_MAX = 2

async function seed(): Promise<string> {
  const db = await openDatabase({ dataDir: TOWPATH_DIR })
  const workspaceId = await seedLinks(db, 1000)
  const formKey = newFormKey()
  const at = Date.now()
  await db.write((connection) =>
    connection
      .insertInto('forms')
      .values({
        workspace_id: workspaceId,
        form_key: formKey,
        name: 'Files',
        uploads: JSON.stringify({ maxFiles: 1, maxBytes: 10 * MIB, accept: [] }),
        created_at: at,
        updated_at: at,
      })
      .execute(),
  )
  await db.close()
  return formKey
}

/** @returns uploads per second */
async function send(url: string, mebibytes: number, seconds = SECONDS): Promise<number> {
  const script = new URL('uploads-load.ts', import.meta.url).pathname
  const words = [url, mebibytes, SENDERS, seconds].map(String)
  const child = Bun.spawn(pinToCore(1, [process.execPath, script, ...words]), { stderr: 'inherit' })
  const { acknowledged, failed, ms } = JSON.parse(await new Response(child.stdout).text())
  if (failed > 0) process.stderr.write(`${failed} uploads failed\n`)
  return (acknowledged / ms) * 1000
}

const formKey = await seed()
const towpath = await startTowpath(
  { TRUST_PROXY: '127.0.0.1', UPLOAD_BYTES_PER_WORKSPACE: '1 TiB' },
  { first: true },
)
const writer = await startUploadWriter()
const towpathUrl = `http://127.0.0.1:${towpath.port}/f/${formKey}`
const writerUrl = `http://127.0.0.1:${writer.port}/`
try {
  const rows: string[] = []
  for (const size of SIZES) {
    await send(towpathUrl, size, 1)
    await send(writerUrl, size, 1)
    const pairs: [number, number][] = []
    for (let round = 0; round < ROUNDS; round++) {
      const ours = round % 2 === 0 ? await send(towpathUrl, size) : undefined
      const bare = await send(writerUrl, size)
      pairs.push([ours ?? (await send(towpathUrl, size)), bare])
      process.stderr.write(`${size} MiB: round ${round + 1} of ${ROUNDS}\n`)
    }
    const ratio = median(pairs.map(([ours, bare]) => ours / bare))
    const of = (side: 0 | 1) => median(pairs.map((pair) => pair[side])).toFixed(1)
    rows.push(
      `| ${[`${size} MiB`, of(0), of(1), ratio.toFixed(2), formatVerdict(ratio >= RATIO_MIN)].join(' | ')} |`,
    )
  }
  const rounds: { alone: LoadResult; beside: LoadResult; uploads: number }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const alone = await loadAtPace(towpath.port, SECONDS)
    const uploads = send(towpathUrl, 1, SECONDS + 2)
    await Bun.sleep(LEAD_MS)
    rounds.push({ alone, beside: await loadAtPace(towpath.port, SECONDS), uploads: await uploads })
    process.stderr.write(`redirects: round ${round + 1} of ${ROUNDS}\n`)
  }
  const [alone, beside] = [rounds.map((round) => round.alone), rounds.map((round) => round.beside)]
  const p99 = (results: LoadResult[]) => median(results.map(({ p99Ms }) => p99Ms))
  const p50 = (results: LoadResult[]) => median(results.map(({ p50Ms }) => p50Ms)).toFixed(2)
  const ratio = p99(beside) / p99(alone)
  process.stdout.write(
    [
      `| ${SENDERS} senders, files of | acknowledged/s | bare writer/s | towpath / it | at least ${RATIO_MIN} |`,
      '|---|---|---|---|---|',
      ...rows,
      '',
      `| redirects at a steady pace | p50 ms | p99 ms | uploads/s | p99 / alone | at most ${P99_MAX} |`,
      '|---|---|---|---|---|---|',
      `| alone | ${p50(alone)} | ${p99(alone).toFixed(2)} | 0 | 1.00 | |`,
      `| during uploads of 1 MiB | ${p50(beside)} | ${p99(beside).toFixed(2)} | ${median(rounds.map(({ uploads }) => uploads)).toFixed(1)} | ${ratio.toFixed(2)} | ${formatVerdict(ratio <= P99_MAX)} |`,
      `Failed redirects: ${beside.reduce((sum, { failed }) => sum + failed, 0)}`,
      '',
    ].join('\n'),
  )
} finally {
  await towpath.end()
  await writer.end()
}
process.exit(0)
