import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHit, createHitQuery } from '../../../../tests/contracts/hit-engine.ts'
import type { Hit } from '../hit.ts'
import type { HitEngine } from '../hit-engine.ts'
import { openDuckDb } from './engine.ts'
import { eraseWorkspaces } from './erase.ts'

let directory: string
let path: string
const opened: HitEngine[] = []

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'erase-'))
  path = join(directory, 'hits.duckdb')
})
afterEach(async () => {
  for (const engine of opened.splice(0)) await engine.close()
  rmSync(directory, { recursive: true, force: true })
})

async function open(at = path, since?: () => number) {
  const engine = await openDuckDb({ path: at, batchDir: directory, since })
  opened.push(engine)
  return engine
}
async function load(engine: HitEngine, number: number, hits: Hit[]) {
  const batch = join(directory, `batch-${number}`)
  writeFileSync(batch, hits.map((each) => `${JSON.stringify(each)}\n`).join(''))
  await engine.load({ node: 'a', number, path: batch })
}
const clicks = async (engine: HitEngine, workspaceId = 1) =>
  (await engine.ask(createHitQuery({ workspaceId })))[0]?.clicks
/** The files that contain the texts of a hit. */
const holding = (word: string) =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('batch-'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => readFileSync(file).includes(word))
    .map((file) => file.slice(directory.length + 1))

const marked = (workspaceId: number, count: number) =>
  Array.from({ length: count }, () => createHit({ workspaceId, utmCampaign: `marker-of-${workspaceId}` }))

test('an erased workspace has no byte in the file, and the other workspaces and the marks stay', async () => {
  const engine = await open()
  await load(engine, 1, [...marked(1, 40), ...marked(2, 30), ...marked(3, 20)])
  await load(engine, 2, [...marked(1, 2), ...marked(2, 2)])
  await engine.close()
  expect(holding('marker-of-2')).toEqual(['hits.duckdb'])
  await eraseWorkspaces(path, [2, 99])
  expect(holding('marker-of-2')).toEqual([])
  expect(holding('marker-of-1')).toEqual(['hits.duckdb'])
  const after = await open()
  expect([await clicks(after, 1), await clicks(after, 2), await clicks(after, 3)]).toEqual([42, 0, 20])
  expect(await after.mark('a')).toBe(2)
  await load(after, 3, marked(1, 1))
  expect(await clicks(after, 1)).toBe(43)
})

test('erases hits from the log of a killed process too', async () => {
  const engine = await open(join(directory, 'living'))
  await load(engine, 1, marked(1, 5))
  await engine.backup(path)
  await load(engine, 2, [...marked(2, 5), ...marked(1, 1)])
  copyFileSync(join(directory, 'living.wal'), `${path}.wal`)
  await engine.close()
  rmSync(join(directory, 'living'))
  expect(holding('marker-of-2')).toEqual(['hits.duckdb.wal'])
  await eraseWorkspaces(path, [2])
  expect(holding('marker-of-2')).toEqual([])
  const after = await open()
  expect([await clicks(after, 1), await clicks(after, 2), await after.mark('a')]).toEqual([6, 0, 2])
})

test('works beside the unfinished file of an earlier attempt, and without a database', async () => {
  await eraseWorkspaces(path, [1])
  expect(existsSync(path)).toBe(false)
  const engine = await open()
  await load(engine, 1, [...marked(1, 3), ...marked(2, 3)])
  await engine.close()
  writeFileSync(`${path}.erasing`, 'half of a file')
  writeFileSync(`${path}.erasing.wal`, 'and of its log')
  await eraseWorkspaces(path, [2])
  expect(readdirSync(directory).filter((name) => name.includes('erasing'))).toEqual([])
  expect(await clicks(await open())).toBe(3)
})

/** Remains of a process that was killed during a question, a copy, or an erasure. */
function leaveFiles() {
  mkdirSync(`${path}.tmp`, { recursive: true })
  const spilled = join(`${path}.tmp`, 'duckdb_temp_storage_DEFAULT-0.tmp')
  const files = [spilled, ...['half', 'backup.half', 'erasing', 'erasing.wal'].map((end) => `${path}.${end}`)]
  for (const file of files) writeFileSync(file, 'marker-of-2')
}

test('what a killed process left behind is gone once the file is open: later deletions miss none of it', async () => {
  leaveFiles()
  const engine = await open()
  expect(holding('marker-of-2')).toEqual([])
  await load(engine, 1, [...marked(1, 3), ...marked(2, 3)])
  expect(await clicks(engine)).toBe(3)
})

test('an erasure deletes what was left behind meanwhile', async () => {
  const engine = await open()
  await load(engine, 1, [...marked(1, 3), ...marked(2, 3)])
  leaveFiles()
  await engine.erase([2])
  expect(holding('marker-of-2')).toEqual([])
  expect(await clicks(engine)).toBe(3)
})

test('a file that cannot be read stays as it is, for the next opening', async () => {
  writeFileSync(path, 'not a database at all, but long enough to be taken for one'.repeat(500))
  expect(eraseWorkspaces(path, [1])).rejects.toThrow()
  expect(readdirSync(directory)).toEqual(['hits.duckdb'])
})

test('deletes hits before a moment, those of unknown slugs too, also after opening again', async () => {
  const T = Date.parse('2026-06-01T00:00:00Z')
  const engine = await open()
  await load(engine, 1, [
    ...[-2, -1, 0, 1].map((ms) => createHit({ at: T + ms })),
    createHit({ at: T - 1, workspaceId: 0, linkId: 0, outcome: 'missing', unknownSlug: 'x' }),
  ])
  await engine.deleteBefore(T)
  expect(await clicks(engine)).toBe(2)
  await engine.close()
  const after = await open()
  expect([await clicks(after), await after.mark('a')]).toEqual([2, 1])
  await after.deleteBefore(T)
  expect(await clicks(after)).toBe(2)
})

test('leaves out hits past their retention, and counts their batch as loaded', async () => {
  const T = Date.parse('2026-06-01T00:00:00Z')
  let since = T
  const engine = await open(path, () => since)
  await load(engine, 1, [createHit({ at: T - 1 }), createHit({ at: T })])
  expect([await clicks(engine), await engine.mark('a')]).toEqual([1, 1])
  since = T + 10
  await load(engine, 2, [createHit({ at: T + 9 })])
  expect([await clicks(engine), await engine.mark('a')]).toEqual([1, 2])
})
