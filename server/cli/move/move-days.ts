// Moves the hits of whole days from a DuckDB file to ClickHouse, and compares each day in both. An equal day is
// skipped, so this can be repeated.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { randomToken } from '../../lib/crypto/random.ts'
import { DAY_MS, toUtcDay } from '../../lib/utc-day.ts'
import type { MoveLog } from '../../storage/database/copy/move-log.ts'
import type { HitMoveTarget } from '../../storage/hits/clickhouse/move-target.ts'
import type { HitMoveSource } from '../../storage/hits/duckdb/move-source.ts'
import { findDayDifference, type HitDay, type HitDayFigures } from '../../storage/hits/hit-day.ts'
import type { ProgressBar } from '../progress-bar.ts'
import { TO_BEGIN_AGAIN } from './move-rows.ts'

/** Where the hits are read. */
export type DaySource = Pick<HitMoveSource, 'readFigures' | 'planSlices' | 'writeSlice'>

export interface DayMoveNeeds {
  node: string
  /** For one slice at a time. */
  scratchDir: string
  target: HitMoveTarget
  log: MoveLog
  progress: ProgressBar
  signal: AbortSignal
}

const toStep = (day: number) => `day:${day}`
const toDate = (day: number) => toUtcDay(day * DAY_MS)

/** @returns how many hits the days have @throws an error that names the day and the workspace that differ */
export async function moveDays(needs: DayMoveNeeds, history: DaySource, days: HitDay[]): Promise<number> {
  const total = days.reduce((sum, { hits }) => sum + hits, 0)
  let done = 0
  for (const { day, hits } of days) {
    needs.signal.throwIfAborted()
    needs.progress.at(total === 0 ? 1 : done / total, `hits of ${toDate(day)}`)
    await moveDay(needs, history, day, (loaded) =>
      needs.progress.at((done + loaded) / total, `hits of ${toDate(day)}`),
    )
    done += hits
  }
  return total
}

async function moveDay(
  needs: DayMoveNeeds,
  history: DaySource,
  day: number,
  onLoaded: (hits: number) => void,
): Promise<void> {
  const { target, log } = needs
  const source = await history.readFigures(day)
  const before = await target.readFigures(day)
  const difference = findDayDifference(source, before)
  if (difference) {
    const moved = await log.find<HitDayFigures[]>(toStep(day))
    // The day was the same in both when it was recorded, and has not changed here since.
    if (moved && !findDayDifference(source, moved)) throw toError(day, difference)
    if (before.length > 0) await target.deleteDay(day)
    await loadDay(needs, history, day, onLoaded)
    const remaining = findDayDifference(source, await target.readFigures(day))
    if (remaining) throw toError(day, remaining)
  }
  await log.note(toStep(day), source)
}

/** A new token for each attempt, because ClickHouse remembers the tokens of hits that are deleted. */
async function loadDay(
  { node, scratchDir, target, signal }: DayMoveNeeds,
  history: DaySource,
  day: number,
  onLoaded: (hits: number) => void,
): Promise<void> {
  const attempt = randomToken(12)
  let loaded = 0
  for (const [i, slice] of (await history.planSlices(day)).entries()) {
    signal.throwIfAborted()
    const path = join(scratchDir, 'slice.ndjson')
    await history.writeSlice(slice, path)
    await target.loadSlice({ node: slice.node, path, token: `move/${node}/${day}/${attempt}/${i}` })
    await rm(path, { force: true })
    loaded += slice.hits
    onLoaded(loaded)
  }
}

function toError(day: number, { workspaceId, sentence }: { workspaceId: number; sentence: string }): Error {
  const whose = workspaceId === 0 ? 'Hits without a workspace' : `Workspace ${workspaceId}`
  return new Error(`${whose}, ${toDate(day)} (UTC): ${sentence}. ${TO_BEGIN_AGAIN}`)
}
