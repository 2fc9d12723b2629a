// A world of hits in DuckDB's memory, rolled up and asked by the functions of the product or by changed ones, without an
// engine around them.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { duckDbDialect } from '../../../server/storage/hits/duckdb/dialect.ts'
import { migrateLayout } from '../../../server/storage/hits/duckdb/layout.ts'
import { loadBatch } from '../../../server/storage/hits/duckdb/load.ts'
import { createMemoryInstance } from '../../../server/storage/hits/duckdb/memory-instance.ts'
import { runStatement } from '../../../server/storage/hits/duckdb/query.ts'
import { readRollUpState } from '../../../server/storage/hits/duckdb/rollups/marks.ts'
import { findHitDays, type rollUp } from '../../../server/storage/hits/duckdb/rollups/roll-day.ts'
import { prepareRollUps } from '../../../server/storage/hits/duckdb/rollups/tables.ts'
import type { HitAnswer, HitQuery } from '../../../server/storage/hits/hit-engine.ts'
import { chooseRollUps } from '../../../server/storage/hits/rollups/choose-roll-ups.ts'
import type { toHeadSql } from '../../../server/storage/hits/rollups/head-sql.ts'
import { planDays } from '../../../server/storage/hits/rollups/plan-days.ts'
import type { toRolledSql } from '../../../server/storage/hits/rollups/rolled-sql.ts'
import { toDay, toMonth, toNextMonth } from '../../../server/storage/hits/rollups/rollup.ts'
import type { HitWorld } from './hit-world.ts'

/** Builders of the statements of a question. */
export interface QuestionSql {
  toHeadSql: typeof toHeadSql
  toRolledSql: typeof toRolledSql
}

export interface RolledWorld {
  /** Rolls up all days but the last ones. */
  rollDays(roll: typeof rollUp): Promise<void>
  /** Rolls up all months whose days are rolled up. */
  rollMonths(roll: typeof rollUp): Promise<void>
  /** @returns undefined when the planner leaves all of the question to the hits */
  ask(query: HitQuery, sql: QuestionSql): Promise<HitAnswer[] | undefined>
  close(): void
}

/**
 * @param headValues so few that columns have a tail
 * @param open how many days at the end are not rolled up
 */
export async function openRolledWorld(world: HitWorld, headValues: number, open = 2): Promise<RolledWorld> {
  const directory = mkdtempSync(join(tmpdir(), 'rolled-world-'))
  const instance = await createMemoryInstance(500, join(directory, 'temp'))
  const connection = await instance.connect()
  await migrateLayout(connection)
  await prepareRollUps(connection)
  const path = join(directory, 'hits.ndjson')
  writeFileSync(path, world.hits.map((hit, id) => `${JSON.stringify({ ...hit, id })}\n`).join(''))
  await loadBatch(connection, { node: 'a', number: 1, path }, 0, { exclusive: (work) => work() })
  const [first, after] = [world.firstDay, world.firstDay + world.days - open]
  const withHits = new Set([first, ...world.hits.map(({ at }) => toDay(at))])
  return {
    async rollDays(roll) {
      await connection.run('DELETE FROM roll_marks')
      // Days without hits are rolled up with the one before them, as the engine does.
      const days = [...withHits].filter((day) => day < after).sort((a, b) => a - b)
      for (const [n, day] of days.entries())
        await roll(connection, { kind: 'days', start: day, end: days[n + 1] ?? after }, headValues)
    },
    async rollMonths(roll) {
      await connection.run('DELETE FROM roll_month_marks')
      for (let month = toNextMonth(first - 1); toNextMonth(month) <= after; month = toNextMonth(month))
        await roll(connection, { kind: 'month', start: toMonth(month), end: toNextMonth(month) }, headValues)
    },
    ask: (query, sql) => askRolled(connection, query, sql),
    close() {
      connection.closeSync()
      instance.closeSync()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** As server/storage/hits/duckdb/rollups/ask.ts does. */
async function askRolled(connection: DuckDBConnection, query: HitQuery, sql: QuestionSql) {
  const choice = chooseRollUps(query)
  if (!choice) return undefined
  const known = { hitDays: await findHitDays(connection) }
  const state = { ...known, ...(await readRollUpState(connection, query, choice)) }
  const plan = planDays(query, choice, state)
  if (Array.isArray(plan)) return undefined
  const head = sql.toHeadSql(query, plan, state, duckDbDialect)
  const keys = head && (await runStatement(connection, head))
  return runStatement(connection, sql.toRolledSql(query, plan, state, duckDbDialect, keys))
}
