// Checks the clock. Compares it with the times of stored rows and with the clock of PostgreSQL. It contacts no other
// server.

import { existsSync } from 'node:fs'
import { sql } from 'kysely'
import { toUtcDay } from '../../../lib/utc-day.ts'
import { DATABASE_CLOCK } from '../../cluster/database-clock.ts'
import { listDataFiles } from '../data-files.ts'
import { type CheckResult, complaintsOr, problem, warning } from '../finding.ts'
import { formatAge } from '../format.ts'
import { type DoctorNeeds, type RowReader, withRows } from '../needs.ts'

const SECOND = 1000
/** Nodes of a cluster may differ by this much without harm (docs/cluster.md). */
const AHEAD_MS = 60 * SECOND
const OFF_MS = 2 * SECOND
/** Every copy of this release is younger. */
const OLDEST = Date.UTC(2025, 0, 1)

const FIX = 'Let the machine follow a time server (timedatectl set-ntp true), and restart Towpath.'

export async function checkClock(needs: DoctorNeeds): Promise<CheckResult[]> {
  const now = needs.now()
  if (now < OLDEST)
    return [
      problem(`The clock says ${new Date(now).toISOString()}, which is before this release was made.`, FIX),
    ]
  const found = await judgeFiles(needs, now)
  // The check of the row store says when it cannot be read.
  const fromRows = await withRows(needs, (rows) => judgeRows(rows, needs)).catch(() => [])
  return complaintsOr([...found, ...fromRows], 'The clock agrees with the stored times.')
}

async function judgeFiles({ settings }: DoctorNeeds, now: number): Promise<CheckResult[]> {
  if (!existsSync(settings.dataDir)) return []
  const files = await listDataFiles(settings.dataDir)
  const newest = files.reduce((latest, { stats }) => Math.max(latest, stats.mtimeMs), 0)
  return newest <= now + AHEAD_MS ? [] : [wentBack('The newest file in DATA_DIR', newest, now)]
}

const wentBack = (what: string, at: number, now: number) =>
  problem(
    `${what} is of ${new Date(at).toISOString()}, ${formatAge(at - now)} ahead of the clock: the clock went back.`,
    FIX,
  )

async function judgeRows({ engine, read }: RowReader, { now }: DoctorNeeds): Promise<CheckResult[]> {
  return [
    ...(engine === 'postgres' ? await judgeDatabaseClock(read, now) : []),
    ...(await judgeSalts(read, now())),
    ...(await judgeNewestRows(read, now)),
  ]
}

async function judgeDatabaseClock(read: RowReader['read'], now: () => number): Promise<CheckResult[]> {
  const before = now()
  const { rows } = await sql<{ at: number }>`select ${DATABASE_CLOCK} as at`.execute(read)
  const after = now()
  const at = Number(rows[0]?.at)
  const off = Math.max(before - at, at - after)
  if (off <= OFF_MS) return []
  const summary = `The clocks of this machine and of PostgreSQL differ by ${formatAge(off)}.`
  return [off > AHEAD_MS ? problem(summary, FIX) : warning(summary, FIX)]
}

/** The salt of tomorrow is made from 18:00 UTC on, and none is made for a later day. */
async function judgeSalts(read: RowReader['read'], now: number): Promise<CheckResult[]> {
  const salts = await read.selectFrom('visitor_salts').select('day').orderBy('day', 'desc').limit(1).execute()
  const newest = salts[0]?.day
  if (newest === undefined || newest <= toUtcDay(now + 24 * 60 * 60 * SECOND)) return []
  const fix = `${FIX} Until ${newest}, visitors of that day are counted with the salt that is there already.`
  return [problem(`There is a salt for visitors of ${newest}: the clock has been ahead.`, fix)]
}

async function judgeNewestRows(read: RowReader['read'], now: () => number): Promise<CheckResult[]> {
  const found: CheckResult[] = []
  for (const table of ['links', 'submissions'] as const) {
    // The newest ids: an index on the time exists for one workspace only.
    const rows = await sql<{ at: number | null }>`
      select max(created_at) as at from (
        select created_at from ${sql.table(table)} order by id desc limit 100) as newest`.execute(read)
    const at = Number(rows.rows[0]?.at ?? 0)
    if (at > now() + AHEAD_MS) found.push(wentBack(`The newest row of ${table}`, at, now()))
  }
  return found
}
