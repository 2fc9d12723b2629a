// Deletions and roll-ups: an erasure of one workspace leaves the roll-ups of the others as they are, since making them again
// would take minutes, and the sums of deleted hits go with them.

import { expect } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { createHit, createHitQuery } from '../../../../../tests/contracts/hit-engine.ts'
import { createHitWorld } from '../../../../../tests/support/rollups/hit-world.ts'
import { recountHits } from '../../../../../tests/support/rollups/recount-hits.ts'
import { full, quick } from '../../../../../tests/support/suite.ts'
import { DAY_MS } from '../../../../lib/utc-day.ts'
import { openDuckDb } from '../engine.ts'

full('after an erasure, the days of other workspaces are still rolled up', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'erase-'))
  const engine = await openDuckDb({ path: join(directory, 'hits.duckdb'), rollUpRestMs: 0 })
  const { firstDay, days, hits } = createHitWorld(0, 4, 32)
  const path = join(directory, '1.ndjson')
  writeFileSync(path, hits.map((hit, id) => `${JSON.stringify({ ...hit, id })}\n`).join(''))
  await engine.load({ node: 'a', number: 1, path })
  const end = (firstDay + days) * DAY_MS
  while ((await engine.rollUp(end + DAY_MS)).rolled);
  const query = createHitQuery({
    start: firstDay * DAY_MS,
    end,
    filters: [{ column: 'linkId', values: [1], negate: false }],
  })
  const before = await engine.explain(query)
  expect(before.origin.some(({ from }) => from === 'months')).toBe(true)
  await engine.erase([9])
  expect(await engine.explain(query)).toEqual(before)
  expect(before.answers).toEqual(recountHits(hits, query))
  expect((await engine.rollUp(end + DAY_MS)).rolled).toBe(0)
  await engine.close()
  rmSync(directory, { recursive: true, force: true })
})

quick('the sums of a deleted import go with its hits, also on days that nothing else has', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'erase-'))
  const file = join(directory, 'hits.duckdb')
  const engine = await openDuckDb({ path: file, rollUpRestMs: 0 })
  const at = Date.parse('2026-05-01')
  const old = [0, 6, 12, 30].map((day) =>
    createHit({ at: at + day * DAY_MS, utmTerm: 'old term', importId: 5 }),
  )
  const path = join(directory, '1.ndjson')
  writeFileSync(path, [...old, createHit()].map((hit) => `${JSON.stringify(hit)}\n`).join(''))
  await engine.load({ node: 'a', number: 1, path })
  while ((await engine.rollUp(Date.parse('2026-07-01'))).rolled);
  await engine.deleteImported({ workspaceId: 1, importId: 5 })
  while ((await engine.rollUp(Date.parse('2026-07-01'))).rolled);
  await engine.close()
  const instance = await DuckDBInstance.create(file)
  const connection = await instance.connect()
  const text = `SELECT count(*) FROM (SELECT value FROM roll_values UNION ALL SELECT value FROM roll_month_values
    UNION ALL SELECT value FROM roll_heads) WHERE value = 'old term'`
  expect((await connection.runAndReadAll(text)).getRowsJson()).toEqual([['0']])
  connection.closeSync()
  instance.closeSync()
  rmSync(directory, { recursive: true, force: true })
})
