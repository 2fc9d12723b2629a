import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { createHit } from '../../../tests/contracts/hit-engine.ts'
import { duckDbDialect } from './duckdb/dialect.ts'
import { type DuckDbEngine, openDuckDb } from './duckdb/engine.ts'
import { HIT_CLASSES, type Hit } from './hit.ts'
import type { LastClick, LastClicksQuery } from './hit-engine.ts'
import { toLastClicksSql } from './last-clicks-sql.ts'

const VISITORS = ['1', '2', '18446744073709551615']

const hits: Hit[] = fc
  .sample(
    fc.record({
      at: fc.integer({ min: 0, max: 400 }),
      workspaceId: fc.constantFrom(1, 1, 2),
      linkId: fc.integer({ min: 1, max: 6 }),
      class: fc.constantFrom('human' as const, 'human' as const, ...HIT_CLASSES),
      visitor: fc.constantFrom(...VISITORS),
      referrer: fc.constantFrom(null, 'search.example'),
      utmSource: fc.constantFrom(null, 'news', ''),
      utmContent: fc.constantFrom(null, 'blue'),
    }),
    { numRuns: 300, seed: 4 },
  )
  .map((part) => createHit(part))

let directory: string
const engines: DuckDbEngine[] = []
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'last-clicks-'))
  const path = join(directory, 'batch.ndjson')
  writeFileSync(path, hits.map((each) => `${JSON.stringify(each)}\n`).join(''))
  for (const runHits of [100, 1e6]) {
    const engine = await openDuckDb({
      path: join(directory, `${runHits}.duckdb`),
      batchDir: directory,
      runHits,
    })
    engines.push(engine)
    await engine.load({ node: 'a', number: 1, path })
    await engine.sorted()
  }
})
afterAll(async () => {
  for (const engine of engines) await engine.close()
  rmSync(directory, { recursive: true, force: true })
})

/** Compares every click with every moment. */
function slowly({ workspaceId, moments, withinMs }: LastClicksQuery): (LastClick | null)[] {
  return moments.map(({ visitor, at }) => {
    const before = hits
      .filter(
        (each) => each.visitor === visitor && each.workspaceId === workspaceId && each.class === 'human',
      )
      .filter((each) => each.at <= at && each.at > at - withinMs)
      .sort((a, b) => b.at - a.at || b.id - a.id)[0]
    if (!before) return null
    const {
      id,
      linkId,
      at: clickedAt,
      referrer,
      utmSource,
      utmMedium,
      utmCampaign,
      utmTerm,
      utmContent,
    } = before
    const source = { referrer, utmSource, utmMedium, utmCampaign, utmTerm, utmContent }
    return { id, node: 'a', linkId, at: clickedAt, ...source }
  })
}

test('gives each of many moments the answer that it gets alone', async () => {
  const anyQuery = fc.record({
    workspaceId: fc.constantFrom(1, 2, 3),
    withinMs: fc.integer({ min: 1, max: 100 }),
    moments: fc.array(
      fc.record({ visitor: fc.constantFrom(...VISITORS, '3'), at: fc.integer({ min: 0, max: 500 }) }),
      { maxLength: 30 },
    ),
  })
  await fc.assert(
    fc.asyncProperty(anyQuery, async (query) => {
      for (const engine of engines) expect(await engine.findLastClicks(query)).toEqual(slowly(query))
    }),
    { numRuns: 150 },
  )
})

test('binds every value instead of putting it into the statement', () => {
  const moments = [{ visitor: "7'; DROP TABLE hits; --", at: 123_456_789 }]
  const { text } = toLastClicksSql({ workspaceId: 4242, moments, withinMs: 1000 }, duckDbDialect)
  expect(text).not.toMatch(/DROP|123|4242|human|redirect'/)
})
