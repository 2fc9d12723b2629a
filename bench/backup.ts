// Compares redirects beside a backup with redirects alone, and a restore with cp and sha256sum of the same bytes:
// bun bench/backup.ts [--gigabytes=5] [--rounds=3] [--seconds=10]. It needs four times the bytes on the disk.

import { Database } from 'bun:sqlite'
import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  finish,
  HOME,
  loadAtPace,
  loadBeside,
  median,
  ROOT,
  readOptions,
  runRounds,
  seed,
  startTowpath,
  TOWPATH_DIR,
  toBesideTable,
} from './harness.ts'

const { gigabytes, rounds, seconds } = readOptions({ gigabytes: 5, rounds: 3, seconds: 10 })
const P99_MAX = 2
const FILE_BYTES = 10_000_000
const BACKUP = join(HOME, 'backup')

/** Half of the bytes are rows, half are files as large as batches. (Batches of random bytes would not be loaded.) */
async function prepare() {
  await seed()
  const path = join(TOWPATH_DIR, 'towpath.db')
  const rows = new Database(path)
  rows.run('PRAGMA synchronous=OFF')
  rows.run('create table bench_rows (id integer primary key, text text)')
  const insert = rows.query(`insert into bench_rows (id, text)
    with recursive n (id) as (select ?1 union all select id + 1 from n where id < ?1 + 9999)
    select id, hex(randomblob(1000)) from n`)
  for (let id = 1; statSync(path).size < (gigabytes * 1e9) / 2; id += 10_000) insert.run(id)
  rows.close()
  mkdirSync(join(TOWPATH_DIR, 'snippet'), { recursive: true })
  for (let n = 0; n * FILE_BYTES < (gigabytes * 1e9) / 2; n++)
    writeFileSync(join(TOWPATH_DIR, 'snippet', `batch-${n}`), randomBytes(FILE_BYTES))
}

/** @returns the seconds that it took */
async function run(command: string[], dataDir = TOWPATH_DIR): Promise<number> {
  const startedAt = performance.now()
  const env = { ...process.env, DATA_DIR: dataDir }
  const child = Bun.spawn(command, { env, stdout: 'ignore', stderr: 'pipe' })
  const problem = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}: ${problem}`)
  return (performance.now() - startedAt) / 1000
}

const towpath = (...words: string[]) => [process.execPath, join(ROOT, 'server/cli/main.ts'), ...words]

await prepare()
const server = await startTowpath({}, { first: true })
await loadAtPace(server.port, 2)
const times: number[] = []
const start = () => {
  rmSync(BACKUP, { recursive: true, force: true })
  return { ended: run(towpath('backup', BACKUP)).then((time) => times.push(time)) }
}
const [results = []] = await runRounds(rounds, [() => loadBeside(server.port, seconds, start)])
const [restored, copied] = [join(HOME, 'restored'), join(HOME, 'copied')]
const restoring = await run(towpath('restore', BACKUP), restored)
rmSync(restored, { recursive: true })
const copy = `cp -r '${BACKUP}' '${copied}' && sync '${copied}' && cd '${copied}' && sha256sum --quiet --check SHA256SUMS`
const copying = await run(['sh', '-c', copy])
const toRate = (time: number) => `${Math.round((gigabytes * 1000) / time)} MB/s`
finish(
  toBesideTable(`beside a backup of ${gigabytes} GB`, results, P99_MAX),
  `A backup: ${toRate(median(times))}. ` +
    `Restore: ${toRate(restoring)}; cp, sync and sha256sum of the same files: ${toRate(copying)}.`,
)
