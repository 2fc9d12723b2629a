import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { createHitQuery } from '../../../tests/contracts/hit-engine.ts'
import { anyHit, anyOriginQuery, anyQuery, countHits } from '../../../tests/contracts/hit-questions.ts'
import { atScale } from '../../../tests/support/suite.ts'
import { duckDbDialect } from './duckdb/dialect.ts'
import { type DuckDbEngine, openDuckDb } from './duckdb/engine.ts'
import { toStoredExpression } from './duckdb/layout.ts'
import { runQuery } from './duckdb/query.ts'
import type { HitFilter } from './hit-engine.ts'
import { toHitSql } from './hit-sql.ts'
import { mergeShares } from './visitor-shares.ts'

describe.each([
  { where: 'as they arrived', runHits: Number.POSITIVE_INFINITY },
  // Hits come in any order of time, so every batch has hits that are older than the runs before it.
  { where: 'sorted but for the last few', runHits: 170 },
])('questions about hits $where', ({ runHits }) => {
  let directory: string
  let engine: DuckDbEngine
  let copy: DuckDBInstance
  const hits = fc.sample(anyHit, { numRuns: atScale({ quick: 600, full: 3_000, soak: 3_000 }), seed: 7 })

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'hits-'))
    engine = await openDuckDb({ path: join(directory, 'hits.duckdb'), runHits, threads: 1 })
    for (let number = 1; number <= 3; number++) {
      const path = join(directory, `${number}`)
      const part = hits.slice((number - 1) * 1000, number * 1000)
      writeFileSync(path, part.map((each) => `${JSON.stringify(each)}\n`).join(''))
      await engine.load({ node: 'a', number, path })
      await engine.sorted()
    }
    await engine.backup(join(directory, 'copy'))
    copy = await DuckDBInstance.create(join(directory, 'copy'), { threads: '1' })
  })
  afterAll(async () => {
    copy.closeSync()
    await engine.close()
    rmSync(directory, { recursive: true, force: true })
  })

  test('get the same answer as a plain count of the list', async () => {
    await fc.assert(
      fc.asyncProperty(anyQuery, async (asked) => {
        expect(await engine.ask(asked)).toEqual(countHits(hits, asked))
      }),
      { numRuns: atScale({ quick: 40, full: 150, soak: 1_000 }) },
    )
  }, 240_000)

  test('get the same source and channel as from the rule', async () => {
    await fc.assert(
      fc.asyncProperty(anyOriginQuery, async (asked) => {
        expect(await engine.ask(asked)).toEqual(countHits(hits, asked))
      }),
      { numRuns: atScale({ quick: 10, full: 20, soak: 1_000 }) },
    )
  }, 240_000)

  test('get the same answer in shares of the visitors', async () => {
    const connection = await copy.connect()
    await fc.assert(
      fc.asyncProperty(anyQuery, fc.integer({ min: 1, max: 4 }), async (asked, of) => {
        const shares = Array.from({ length: of }, (_, number) => runQuery(connection, asked, { of, number }))
        expect(mergeShares((await Promise.all(shares)).flat(), asked)).toEqual(countHits(hits, asked))
      }),
      { numRuns: atScale({ quick: 12, full: 50, soak: 200 }) },
    )
  }, 240_000)
})

describe('the statements of questions', () => {
  test('never put a value into the text of the statement', () => {
    fc.assert(
      fc.property(anyQuery, fc.string({ minLength: 12 }), (asked, marker) => {
        const filters: HitFilter[] = [{ column: 'city', values: [marker], negate: false }]
        const { text } = toHitSql({ ...asked, filters }, duckDbDialect)
        expect(text).not.toContain(marker)
        const ours = text
          .replaceAll(toStoredExpression('referrer_url').value, 'url')
          .replaceAll(/'[^']*[$]'|[|][|]|nullif[(](\w+), chr[(]0[)][)]/g, 'ours')
          .replace(/::(BIGINT|VARCHAR)/g, '')
        expect(ours).toMatch(/^[a-zA-Z0-9_$,.()<>=*/+% -]+$/)
      }),
    )
  })

  test('stay short for a year of days', () => {
    const day = 86_400_000
    const starts = Array.from({ length: 366 }, (_, n) => n * day - (n > 90 && n < 300 ? 3_600_000 : 0))
    const { params } = toHitSql(createHitQuery({ groupBy: { by: 'time', starts } }), duckDbDialect)
    expect(params.length).toBeLessThan(25)
  })
})
