// Compares our counts of each day with those of another tool, and says how much of the difference is known: the time
// zone exactly, and at most so much of the rest. What nothing explains is named.

import { z } from '@hono/zod-openapi'
import { createPacer } from '../../lib/concurrency/next-turn.ts'
import { invalid } from '../../lib/failure.ts'
import type { HitOutcome } from '../../storage/hits/hit.ts'
import { askHits, resolveClickSelection } from '../analytics/answer-clicks.ts'
import type { AnswerContext, WorkspaceScope } from '../analytics/resolve-selection.ts'
import { CLICK_FILTER_PARAMETERS, type ClickSelection, toClickSelection } from '../analytics/schema.ts'
import { listBucketStarts, toZonedTime } from '../analytics/timeline.ts'
import { readDays, type TheirDays } from './read-days.ts'
import {
  LEFT_OUT_CLASSES,
  type LeftOutClass,
  type ReconciledDay,
  type ReconcileInput,
  type Reconciliation,
} from './schema.ts'

const FILTERS = z.strictObject(CLICK_FILTER_PARAMETERS)

/** @throws Failure `invalid` */
function parseFilters(written: ReconcileInput['filters'] = {}) {
  const parsed = FILTERS.safeParse(written)
  if (parsed.success) return parsed.data
  const wrong = parsed.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((name) => [`filters.${name}`, 'is not a filter of clicks'])
      : [[['filters', ...issue.path].join('.'), issue.message]],
  )
  throw invalid(Object.fromEntries(wrong))
}

/** @throws Failure `invalid` for a wrong filter or a file that is no table of days, `unavailable` when the engine cannot answer */
export async function reconcile(
  needs: AnswerContext,
  actor: WorkspaceScope,
  input: ReconcileInput,
): Promise<Reconciliation> {
  const filters = parseFilters(input.filters)
  const their = readDays(input.csv, input)
  const timezone = input.timezone ?? 'UTC'
  const theirTimezone = input.theirTimezone ?? timezone
  const days = listDays(their.counts)
  const [start, end] = [days[0] as string, days.at(-1) as string]
  const select = (zone: string) => toClickSelection({ ...filters, start, end, timezone: zone })
  const count = (selection: ClickSelection, outcome: HitOutcome = 'redirect') =>
    countByDay(needs, actor, { selection, outcome, metric: their.metric })
  const theirDays = select(theirTimezone)
  const inTheirZone = await count(theirDays)
  const ours = timezone === theirTimezone ? inTheirZone : await count(select(timezone))
  const leftOut = new Map<LeftOutClass, DayCounts>()
  for (const name of LEFT_OUT_CLASSES) leftOut.set(name, await count({ ...theirDays, classes: [name] }))
  const imported = await count({ ...theirDays, imported: true })
  // Visits that a click has brought: the others have no link.
  const fromLinks: ClickSelection['filters'][number] = { name: 'linkId', values: [0], negate: true }
  const landings = await count({ ...theirDays, filters: [...theirDays.filters, fromLinks] }, 'landing')
  const pace = createPacer()
  const rows: ReconciledDay[] = []
  for (const day of days) {
    await pace()
    rows.push(
      explainDay(day, {
        theirs: their.counts.get(day) ?? null,
        ours: ours.get(day) ?? 0,
        inTheirZone: inTheirZone.get(day) ?? 0,
        leftOut: toRecord((name) => leftOut.get(name)?.get(day) ?? 0),
        imported: imported.get(day) ?? 0,
        landings: landings.size === 0 ? null : (landings.get(day) ?? 0),
      }),
    )
  }
  const { tool, dateColumn, countColumn, metric } = their
  const total = addUp(rows.filter(({ theirs }) => theirs !== null))
  const isOver =
    Temporal.PlainDate.from(end).add({ days: 1 }).toZonedDateTime(theirTimezone).epochMilliseconds <=
    needs.now()
  const notes = listNotes(their, { hasVisits: landings.size > 0, isOver })
  return { tool, dateColumn, countColumn, metric, timezone, theirTimezone, total, days: rows, notes }
}

type DayCounts = Map<string, number>

const toRecord = (read: (name: LeftOutClass) => number) =>
  Object.fromEntries(LEFT_OUT_CLASSES.map((name) => [name, read(name)])) as Record<LeftOutClass, number>

/** Every date from the first to the last of the file. */
function listDays(counts: DayCounts): string[] {
  const known = [...counts.keys()].sort()
  const days: string[] = []
  const last = Temporal.PlainDate.from(known.at(-1) as string)
  for (let day = Temporal.PlainDate.from(known[0] as string); ; day = day.add({ days: 1 })) {
    if (Temporal.PlainDate.compare(day, last) > 0) return days
    days.push(day.toString())
  }
}

interface DayQuestion {
  selection: ClickSelection
  outcome: HitOutcome
  metric: TheirDays['metric']
}

/** Days without hits are left out. */
async function countByDay(
  needs: AnswerContext,
  actor: WorkspaceScope,
  { selection, outcome, metric }: DayQuestion,
): Promise<DayCounts> {
  const resolved = await resolveClickSelection(needs, actor, selection)
  const starts = listBucketStarts(resolved, 'day', selection.timezone)
  const answers = await askHits(needs, { ...resolved, outcomes: [outcome], groupBy: { by: 'time', starts } })
  return new Map(
    answers.map((answer) => [
      toZonedTime(Number(answer.key), selection.timezone).toPlainDate().toString(),
      answer[metric],
    ]),
  )
}

interface DayFigures {
  theirs: number | null
  ours: number
  inTheirZone: number
  leftOut: Record<LeftOutClass, number>
  imported: number
  landings: number | null
}

/** Pure: the parts of a day's difference. */
export function explainDay(
  day: string,
  { theirs, ours, inTheirZone, leftOut, imported, landings }: DayFigures,
): ReconciledDay {
  const timeZoneShift = inTheirZone - ours
  const withoutVisit = landings === null ? null : Math.max(0, inTheirZone - imported - landings)
  const known = { day, theirs, ours, timeZoneShift, leftOut, imported, withoutVisit }
  if (theirs === null) return { ...known, difference: null, explained: null, unexplained: null }
  const difference = theirs - ours
  const rest = difference - timeZoneShift
  // They can have more by what we leave out, and less by what only we can see.
  const more = Object.values(leftOut).reduce((sum, n) => sum + n, 0)
  const less = imported + (withoutVisit ?? 0)
  const possible = rest > 0 ? Math.min(rest, more) : -Math.min(-rest, less)
  // A plain 0, not -0.
  const explained = timeZoneShift + possible + 0
  return { ...known, difference, explained, unexplained: difference - explained }
}

function addUp(days: ReconciledDay[]): Reconciliation['total'] {
  const sum = (read: (day: ReconciledDay) => number | null) =>
    days.reduce((total, day) => total + (read(day) ?? 0), 0)
  return {
    theirs: sum(({ theirs }) => theirs),
    ours: sum(({ ours }) => ours),
    difference: sum(({ difference }) => difference),
    timeZoneShift: sum(({ timeZoneShift }) => timeZoneShift),
    leftOut: toRecord((name) => sum(({ leftOut }) => leftOut[name])),
    imported: sum(({ imported }) => imported),
    withoutVisit: days.some(({ withoutVisit }) => withoutVisit !== null)
      ? sum(({ withoutVisit }) => withoutVisit)
      : null,
    explained: sum(({ explained }) => explained),
    unexplained: sum(({ unexplained }) => unexplained),
  }
}

function listNotes(
  { addsRows, metric }: TheirDays,
  { hasVisits, isOver }: { hasVisits: boolean; isOver: boolean },
): string[] {
  const visitors = metric === 'visitors'
  return [
    'Who refused consent is not known here: a tool that waits for consent counts fewer people.',
    ...(hasVisits
      ? []
      : ['The snippet saw no visit from these clicks, so visitors without scripts cannot be estimated.']),
    ...(visitors ? ['A visitor counts once a day here, and can count once a week or month elsewhere.'] : []),
    ...(addsRows
      ? [`Several rows of a day were added up.${visitors ? ' A visitor in two of them counts twice.' : ''}`]
      : []),
    ...(isOver ? [] : ['The last day is not over.']),
  ]
}
