// The digest of a workspace's hits of one UTC day, in a canonical form that every engine gives alike: the figures of each
// question that a report can ask, sorted, as JSON, under SHA-256. Names of devices, browsers and systems are left out,
// because an upgrade may fold old ones.

import { sha256Hex } from '../../lib/crypto/sha256.ts'
import { DAY_MS } from '../../lib/utc-day.ts'
import { HIT_CLASSES, HIT_OUTCOMES, type HitClass, type HitOutcome } from '../../storage/hits/hit.ts'
import type { HitAnswer, HitGrouping, HitReader } from '../../storage/hits/hit-engine.ts'

export interface DayDigest {
  /** Hits of every outcome and class. */
  hits: number
  digest: string
}

type Ask = Pick<HitReader, 'ask'>

/** Frozen: another list is another form, and every day of before would differ. */
const FORM = 'towpath-day-1'
const DIMENSIONS = [
  ...(['country', 'region', 'city', 'continent', 'referrer', 'referrerUrl', 'trigger', 'variant'] as const),
  ...(['utmSource', 'utmMedium', 'utmCampaign', 'utmTerm', 'utmContent'] as const),
]
/** More groups than a day has; those of a longer list are cut at the same place by every engine. */
const GROUPS_MAX = 100_000
const NONE = '(none)'
const HOURS = 24

export const toDayStart = (day: string) => Date.parse(`${day}T00:00:00Z`)

export async function digestDay({ ask }: Ask, workspaceId: number, day: string): Promise<DayDigest> {
  const start = toDayStart(day)
  const range = { workspaceId, start, end: start + DAY_MS, filters: [] }
  const count = async (outcome: HitOutcome, classes: HitClass[], groupBy: HitGrouping) =>
    toRows(await ask({ ...range, classes, outcomes: [outcome], groupBy }))
  const classes = [...HIT_CLASSES]
  const [total] = await ask({ ...range, classes, outcomes: [...HIT_OUTCOMES], groupBy: { by: 'total' } })
  const hits = total?.clicks ?? 0
  const parts: [name: string, rows: Row[]][] = []
  // Most days of most workspaces have no hit.
  for (const outcome of hits === 0 ? [] : HIT_OUTCOMES) {
    const rows = await count(outcome, classes, { by: 'class', limit: classes.length, nullAs: NONE })
    // Only what is there: a class or outcome of a later release changes no day of before.
    if (rows.length > 0) parts.push([outcome, rows])
  }
  const redirects = parts.find(([name]) => name === 'redirect')?.[1] ?? []
  const redirected = redirects.map(([name]) => name as HitClass)
  for (const name of redirected)
    parts.push([
      `redirect ${name} link`,
      await count('redirect', [name], { by: 'linkId', limit: GROUPS_MAX, nullAs: NONE }),
    ])
  if (redirected.includes('human')) {
    for (const by of DIMENSIONS)
      parts.push([by, await count('redirect', ['human'], { by, limit: GROUPS_MAX, nullAs: NONE })])
    const starts = Array.from({ length: HOURS }, (_, hour) => start + (hour * DAY_MS) / HOURS)
    parts.push(['hour', await count('redirect', ['human'], { by: 'time', starts })])
  }
  return { hits, digest: sha256Hex(JSON.stringify([FORM, workspaceId, day, parts])) }
}

type Row = [key: string, clicks: number, visitors: number]

/** In the order of code units, which no engine and no locale changes. */
const toRows = (answers: HitAnswer[]): Row[] =>
  answers
    .map(({ key, clicks, visitors }): Row => [String(key), clicks, visitors])
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))

/** Hits of every outcome and class by UTC day, in one question. Days without hits are left out. */
export async function countHitsByDay(
  { ask }: Ask,
  workspaceId: number,
  days: string[],
): Promise<Map<string, number>> {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return new Map()
  const starts: number[] = []
  for (let at = toDayStart(first); at <= toDayStart(last); at += DAY_MS) starts.push(at)
  const answers = await ask({
    workspaceId,
    start: toDayStart(first),
    end: toDayStart(last) + DAY_MS,
    filters: [],
    classes: [...HIT_CLASSES],
    outcomes: [...HIT_OUTCOMES],
    groupBy: { by: 'time', starts },
  })
  return new Map(answers.map(({ key, clicks }) => [new Date(Number(key)).toISOString().slice(0, 10), clicks]))
}
