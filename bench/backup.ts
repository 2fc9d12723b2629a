// Compares a redirect's p99 beside a backup with its p99 alone, and the restore with cp and sha256sum of the same bytes:
// bun bench/backup.ts [gigabytes]. Alternating rounds of one run, medians. It needs four times the bytes on the disk.

import { Database } from 'bun:sqlite'
import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../server/storage/database/open-database.ts'
import type { LoadResult } from './load.ts'
import { median } from './median.ts'
import { loadAtPace } from './paced-load.ts'
import { seedLinks, startTowpath, TOWPATH_DIR } from './servers.ts'

const GIGABYTES = Number(process.argv[2] ?? 5)
const ROUNDS = 3
/** They read and write everything, so one of each takes minutes. */
const RESTORES = 1
const SECONDS = 10
const FILE_BYTES = 10_000_000
const BACKUPS = join(TOWPATH_DIR, '..', 'backups')

/** Half of the bytes are rows, half are files as large as batches. (Batches of random bytes would not be loaded.) */
async function prepare() {
  const db = await openDatabase({ dataDir: TOWPATH_DIR })
  await seedLinks(db, 1000)
  await db.close()
  const rows = new Database(join(TOWPATH_DIR, 'towpath.db'))
  rows.run('PRAGMA synchronous=OFF')
  rows.run('create table bench_rows (id integer primary key, text text)')
  const insert = rows.query(`insert into bench_rows (id, text)
    with recursive n (id) as (select ?1 union all select id + 1 from n where id < ?1 + 9999)
    select id, hex(randomblob(1000)) from n`)
  for (let id = 1; statSync(join(TOWPATH_DIR, 'towpath.db')).size < (GIGABYTES * 1e9) / 2; id += 10_000)
    insert.run(id)
  rows.close()
  mkdirSync(join(TOWPATH_DIR, 'snippet'), { recursive: true })
  for (let n = 0; n * FILE_BYTES < (GIGABYTES * 1e9) / 2; n++)
    writeFileSync(join(TOWPATH_DIR, 'snippet', `batch-${n}`), randomBytes(FILE_BYTES))
}

async function run(command: string[], dataDir = TOWPATH_DIR): Promise<number> {
  const startedAt = performance.now()
  const child = Bun.spawn(command, {
    env: { ...process.env, DATA_DIR: dataDir },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const problem = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}: ${problem}`)
  return (performance.now() - startedAt) / 1000
}

const towpath = (...words: string[]) => [
  process.execPath,
  join(import.meta.dir, '../server/cli/main.ts'),
  ...words,
]

/** Asks for redirects as long as the backup runs. */
async function measureBeside(port: number, dir: string) {
  let running = true
  const backup = run(towpath('backup', dir)).finally(() => {
    running = false
  })
  const windows: LoadResult[] = []
  while (running) {
    const result = await loadAtPace(port, SECONDS)
    // A window in which the backup has ended is in part a window without it.
    if (running || windows.length === 0) windows.push(result)
  }
  return { windows, seconds: await backup }
}

await prepare()
const server = await startTowpath({}, { first: true })
try {
  await loadAtPace(server.port, 3)
  const alone: LoadResult[] = []
  const beside: LoadResult[] = []
  const seconds: number[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    alone.push(await loadAtPace(server.port, SECONDS))
    const dir = join(BACKUPS, `${round}`)
    const measured = await measureBeside(server.port, dir)
    beside.push(...measured.windows)
    seconds.push(measured.seconds)
    alone.push(await loadAtPace(server.port, SECONDS))
    if (round < ROUNDS) rmSync(dir, { recursive: true })
    process.stderr.write(`round ${round} of ${ROUNDS}\n`)
  }
  const last = join(BACKUPS, `${ROUNDS}`)
  const restoring: number[] = []
  const copying: number[] = []
  for (let round = 1; round <= RESTORES; round++) {
    const [restored, copied] = [join(BACKUPS, 'restored'), join(BACKUPS, 'copied')]
    restoring.push(await run(towpath('restore', last), restored))
    rmSync(restored, { recursive: true })
    copying.push(
      await run([
        'sh',
        '-c',
        `cp -r '${last}' '${copied}' && sync '${copied}' && cd '${copied}' && sha256sum --quiet --check SHA256SUMS`,
      ]),
    )
    rmSync(copied, { recursive: true })
  }
  const p = (results: LoadResult[], figure: 'p50Ms' | 'p99Ms') =>
    median(results.map((result) => result[figure]))
  const ratio = (p(beside, 'p99Ms') / p(alone, 'p99Ms')).toFixed(2)
  const failed = [...alone, ...beside].reduce((sum, result) => sum + result.failed, 0)
  const rate = (times: number[]) => Math.round((GIGABYTES * 1000) / median(times))
  process.stdout.write(
    [
      `| ${GIGABYTES} GB | windows of ${SECONDS} s | p50 ms | p99 ms | p99 / alone |`,
      '|---|---|---|---|---|',
      `| redirects alone | ${alone.length} | ${p(alone, 'p50Ms').toFixed(2)} | ${p(alone, 'p99Ms').toFixed(2)} | 1.00 |`,
      `| beside a backup | ${beside.length} | ${p(beside, 'p50Ms').toFixed(2)} | ${p(beside, 'p99Ms').toFixed(2)} | ${ratio} |`,
      '',
      `Failed redirects: ${failed}. A backup took ${median(seconds).toFixed(0)} s: ${rate(seconds)} MB/s.`,
      `Restore: ${rate(restoring)} MB/s; cp, sync and sha256sum of the same files: ${rate(copying)} MB/s.`,
      '',
    ].join('\n'),
  )
} finally {
  await server.end()
}
process.exit(0)
