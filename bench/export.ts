// Measures the memory and time of an export: bun bench/export.ts [clicks] [format …]. It starts a server on a file with so
// many clicks of one workspace, and samples the resident memory of server and hit worker during the export.

import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { createKey } from '../server/features/accounts/access/keys.ts'
import { createWorkspace } from '../server/features/accounts/workspaces/create-workspace.ts'
import { openDatabase } from '../server/storage/database/open-database.ts'
import { openDuckDb } from '../server/storage/hits/duckdb/engine.ts'
import { generateHits } from './hits-generator.ts'
import { readResidentMemory } from './resident-memory.ts'

const clicks = Number(process.argv[2] ?? 10_000_000)
const formats = process.argv.length > 3 ? process.argv.slice(3) : ['csv', 'ndjson', 'parquet']
const dataDir = mkdtempSync(join(tmpdir(), 'towpath-export-'))
process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }))
const printProgress = (text: string) => process.stderr.write(`${text}\n`)

async function fill(): Promise<string> {
  const db = await openDatabase({ dataDir })
  const needs = { db, now: () => Date.UTC(2026, 0, 1) }
  const { id } = await createWorkspace(needs, { name: 'Bench', plan: 'enterprise' })
  const { key } = await createKey(needs, id, 'bench')
  await db.close()
  const engine = await openDuckDb({ path: join(dataDir, 'hits.duckdb') })
  const path = join(dataDir, 'batch.ndjson')
  for (const batch of generateHits({ hits: clicks })) {
    writeFileSync(path, batch.lines.replaceAll(/"workspaceId":\d+/g, `"workspaceId":${id}`))
    await engine.load({ node: 'bench', number: batch.number, path })
    if (batch.number % 5 === 0) await engine.sorted()
  }
  await engine.close()
  rmSync(path)
  return key
}

interface Server {
  origin: string
  rssMb(): number
  end(): Promise<void>
}

async function start(): Promise<Server> {
  const port = 20_000 + Math.floor(Math.random() * 20_000)
  const child = Bun.spawn([process.execPath, join(import.meta.dir, '../server/main.ts')], {
    env: { PORT: String(port), HOST: '127.0.0.1', DATA_DIR: dataDir, LOG_LEVEL: 'error' },
    stdout: 'ignore',
    stderr: 'inherit',
  })
  const origin = `http://127.0.0.1:${port}`
  const up = () =>
    fetch(`${origin}/metrics`).then(
      async (response) => (await response.text()).match(/^towpath_engine_up\{.*\} 1$/m) !== null,
      () => false,
    )
  for (const late = Date.now() + 60_000; !(await up()); await Bun.sleep(50))
    if (Date.now() > late || child.exitCode !== null) throw new Error('the server did not start')
  return {
    origin,
    rssMb() {
      const { server, worker } = readResidentMemory(child.pid)
      return server + worker
    },
    async end() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

async function importedRows(format: string, path: string): Promise<number> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const read = { csv: 'read_csv', ndjson: 'read_json', parquet: 'read_parquet' }[format]
  const answer = await connection.runAndReadAll(`SELECT count(*) FROM ${read}('${path}')`)
  return Number(answer.getRows()[0]?.[0])
}

interface Export {
  /** MB before the export, and the most during it. */
  before: number
  peak: number
  firstByte: number
  seconds: number
}

async function measureExport(server: Server, key: string, format: string, path: string): Promise<Export> {
  const before = server.rssMb()
  let peak = before
  const watch = setInterval(() => {
    peak = Math.max(peak, server.rssMb())
  }, 20)
  const startedAt = performance.now()
  const passed = () => (performance.now() - startedAt) / 1000
  const url = `${server.origin}/v1/analytics/clicks/export?interval=all&class=all&format=${format}`
  const response = await fetch(url, { headers: { Authorization: `Bearer ${key}` } })
  const firstByte = passed()
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  await Bun.write(path, response)
  clearInterval(watch)
  return { before, peak, firstByte, seconds: passed() }
}

/** The first export fills the engine's empty cache (its memory_limit). The second export shows its own memory. */
async function measure(key: string, format: string) {
  const server = await start()
  const path = join(dataDir, `got.${format}`)
  const cold = await measureExport(server, key, format, path)
  const warm = await measureExport(server, key, format, path)
  await server.end()
  const rows = await importedRows(format, path)
  const mb = statSync(path).size / 1e6
  rmSync(path)
  const metrics = [mb, cold.firstByte, cold.seconds, cold.before, cold.peak, warm.before, warm.peak]
  const growth = warm.peak - warm.before
  const cells = [...metrics, growth].map((figure) => figure.toFixed(figure < 100 ? 1 : 0))
  return `| ${[format, rows.toLocaleString('en-US'), ...cells].join(' | ')} |`
}

printProgress(`filling an engine with ${clicks} clicks`)
const key = await fill()
const lines = []
for (const format of formats) {
  printProgress(`exporting ${format}`)
  lines.push(await measure(key, format))
}
process.stdout.write(
  [
    '| format | clicks | MB | s to first byte | s in all | RSS idle | peak | RSS before the second | peak | growth |',
    '|---|---|---|---|---|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n'),
)
process.exit(0)
