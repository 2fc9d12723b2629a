// Measures `towpath doctor` on generated hits, without a server and beside one: bun bench/doctor.ts [hits] [directory]. With
// a directory that has hits.duckdb already, those hits are used.

import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWorkspace } from '../server/features/accounts/workspaces/create-workspace.ts'
import { randomToken } from '../server/lib/crypto/random.ts'
import { type Database, openDatabase } from '../server/storage/database/open-database.ts'
import { inspectDuckDbFile } from '../server/storage/hits/duckdb/inspect.ts'
import type { HitInspection } from '../server/storage/hits/hit-engine.ts'
import { median } from './median.ts'

const ROUNDS = 5
const PORT = '3917'
const LINKS_AT_ONCE = 500
const [hits = '10000000', directory = mkdtempSync(join(tmpdir(), 'towpath-bench-doctor-'))] =
  process.argv.slice(2)
const root = join(import.meta.dir, '..')
const env = { PATH: process.env.PATH, DATA_DIR: directory, PORT, HOST: '127.0.0.1', LOG_LEVEL: 'silent' }
process.umask(0o077)
mkdirSync(directory, { recursive: true })

const run = (...words: string[]) =>
  Bun.spawnSync([process.execPath, ...words], { cwd: root, env, stderr: 'inherit' })
if (!existsSync(join(directory, 'hits.duckdb'))) run('bench/analytics-load.ts', directory, hits)
const inspection = await inspectDuckDbFile(join(directory, 'hits.duckdb'), true)
if (!inspection) throw new Error('no hits')
if (!existsSync(join(directory, 'towpath.db'))) await storeRows(inspection)
if (!existsSync(join(directory, 'secret'))) writeFileSync(join(directory, 'secret'), `${randomToken(32)}\n`)

/** Links with the counters that the hits give them. */
async function storeRows({ clicks, marks }: HitInspection) {
  const db = await openDatabase({ dataDir: directory })
  const { id } = await createWorkspace({ db, now: Date.now }, { name: 'Bench', plan: 'enterprise' })
  await db.write(async (connection) => {
    for (const [node, batch] of Object.entries(marks))
      await connection.insertInto('click_marks').values({ node, batch }).execute()
  })
  const ids = [...(clicks?.linkIds ?? [])]
  for (let from = 0; from < ids.length; from += LINKS_AT_ONCE)
    await storeLinks(
      db,
      id,
      ids.slice(from, from + LINKS_AT_ONCE),
      (clicks?.clicks ?? new Float64Array()).slice(from),
    )
  await db.close()
}

async function storeLinks(db: Database, workspaceId: number, ids: number[], clicks: Float64Array) {
  const rows = ids.map((id, i) => ({
    ...{ id, workspace_id: workspaceId, domain: '', slug: `s${id}`, slug_key: `s${id}`, search_text: '' },
    ...{ destination_url: 'https://example.com/', clicks: clicks[i] ?? 0, created_at: 1, updated_at: 1 },
  }))
  await db.write((connection) =>
    connection
      .insertInto('links')
      .values(rows as never)
      .execute(),
  )
}

function measure(place: string) {
  const times = Array.from({ length: ROUNDS }, () => {
    const started = performance.now()
    const { stdout } = run('server/cli/main.ts', 'doctor', '--json')
    const { findings } = JSON.parse(stdout.toString()) as { findings: { check: string; summary: string }[] }
    const counters = findings.find(({ check }) => check === 'counters')?.summary
    return { seconds: (performance.now() - started) / 1000, counters }
  })
  const seconds = times.map((time) => time.seconds)
  const usual = median(seconds).toFixed(1)
  process.stdout.write(
    `${place}: median ${usual} s, longest ${Math.max(...seconds).toFixed(1)} s (${times[0]?.counters})\n`,
  )
}

measure('without a server')
const server = Bun.spawn([process.execPath, 'server/main.ts'], {
  cwd: root,
  env,
  stdout: 'pipe',
  stderr: 'inherit',
})
for await (const chunk of server.stdout) if (new TextDecoder().decode(chunk).includes('is ready')) break
measure('beside a server')
server.kill()
await server.exited
