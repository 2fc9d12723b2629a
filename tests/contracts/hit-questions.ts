// Random hits and random questions about them, and the answer that a plain count of the list gives.

import fc from 'fast-check'
import {
  HIT_CLASSES,
  HIT_DIMENSIONS,
  HIT_OUTCOMES,
  type Hit,
  NO_VISITOR,
} from '../../server/storage/hits/hit.ts'
import {
  type HitAnswer,
  type HitColumn,
  type HitFilter,
  type HitQuery,
  LINK_DAYS,
  type StoredColumn,
} from '../../server/storage/hits/hit-engine.ts'
import { isParamColumn, toParamName } from '../../server/storage/hits/kept-params.ts'
import { toDay } from '../../server/storage/hits/rollups/rollup.ts'
import { ORIGIN_DIMENSIONS } from '../../server/storage/sources/origin-sql.ts'
import { TRAFFIC_CHANNELS, toSource, toTrafficChannel } from '../../server/storage/sources/traffic-channel.ts'
import { createHit } from './hit-engine.ts'

const DAY = 24 * 60 * 60 * 1000
/** Hits are recorded before this moment, on three days. */
export const SPAN = 2.5 * DAY
/** Few values, so that filters match hits. Some look alike, some look like SQL, one is the name of null. */
const MEDIUMS = [null, '', 'CPC', 'paid_social', 'E-Mail', 'social', 'organic', 'qr', 'paid%']
const VALUES = [null, 'a', 'A', 'b', 'é', 'É', '', 'Unknown', "x'--", '😀', 'https://a/']
const COLUMNS: HitColumn[] = [
  'linkId',
  'class',
  ...HIT_DIMENSIONS,
  ...ORIGIN_DIMENSIONS,
  'param.ref',
  'param.a.b',
]
/** Every value, and characters that JSON escapes. No parameter has an empty value. */
const PARAMS = [
  null,
  ...[...VALUES, '"', '\\', '\n', '{"ref":"a"}'].flatMap((value) => {
    if (value === null || value === '') return []
    return [JSON.stringify({ ref: value }), JSON.stringify({ 'a.b': value, ref: 'a' })]
  }),
]

/** One of these values. */
export const pick = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values)

/** Known hosts, their subdomains, and hosts that only look like them. */
const anyHost = fc
  .tuple(
    pick(['', '', 'm.', 'a.b.', 'not']),
    pick([
      'facebook.com',
      'fb.com',
      'google.co.uk',
      'mail.google.com',
      'google.com',
      'com.google.android.gm',
      't.co',
    ]),
    pick(['', '', '', '.evil.example']),
  )
  .map((parts) => parts.join(''))
export const anyHit: fc.Arbitrary<Hit> = fc
  .record({
    at: fc.integer({ min: 0, max: SPAN }),
    workspaceId: pick([1, 1, 1, 2]),
    // More values than an answer has bits for.
    linkId: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 90 })),
    outcome: pick(['redirect', 'redirect', 'redirect', ...HIT_OUTCOMES]),
    class: pick(HIT_CLASSES),
    trigger: pick(['link', 'qr'] as const),
    // 0 is nobody.
    visitor: fc.integer({ min: 0, max: 40 }).map(String),
    importId: pick([null, null, 1, 2]),
    params: pick(PARAMS),
    ...Object.fromEntries(
      HIT_DIMENSIONS.filter((each) => each !== 'trigger').map((each) => [each, pick(VALUES)]),
    ),
    referrer: fc.oneof(pick(VALUES), anyHost),
    utmSource: pick([...VALUES, 'FB', 'Hacker_News', 'google-ads', 'm.facebook.com']),
    utmMedium: pick([...VALUES, ...MEDIUMS]),
  })
  .map((part) => createHit(part as Partial<Hit>))

const anyFilter: fc.Arbitrary<HitFilter> = pick(COLUMNS).chain(
  (column): fc.Arbitrary<HitFilter> =>
    fc.record({
      column: fc.constant(column),
      values: fc.array(
        pick<string | number | null>(
          column === 'linkId'
            ? [1, 2, 3, 4, 5, 6, 7, 8]
            : [...VALUES, 'link', 'human', 'Facebook', 'Gmail', 'facebook.com', ...TRAFFIC_CHANNELS],
        ),
        { maxLength: 4 },
      ),
      negate: fc.boolean(),
    }),
)

export const anyQuery: fc.Arbitrary<HitQuery> = fc.record({
  workspaceId: pick([1, 2, 3]),
  start: fc.integer({ min: 0, max: SPAN }),
  end: fc.integer({ min: 0, max: SPAN }),
  classes: fc.subarray([...HIT_CLASSES]),
  outcomes: fc.option(fc.subarray([...HIT_OUTCOMES]), { nil: undefined }),
  imported: pick([undefined, undefined, true, false]),
  filters: fc.array(anyFilter, { maxLength: 3 }),
  groupBy: fc.oneof(
    fc.constant({ by: 'total' as const }),
    fc
      .uniqueArray(
        fc.oneof(
          fc.integer({ min: 1, max: SPAN }),
          fc.integer({ min: 1, max: 9 }).map((n) => (n * SPAN) / 10),
        ),
        { maxLength: 30 },
      )
      .map((starts) => ({ by: 'time' as const, starts: [0, ...starts].sort((a, b) => a - b) })),
    fc.record({
      by: pick(COLUMNS),
      limit: pick([1, 2, 3, 5, 8, 62, 63, 1000]),
      nullAs: fc.constant('Unknown'),
    }),
    fc.constant({ by: 'linkDay' as const }),
    fc.record({
      by: fc.constant('linkGroup' as const),
      groups: fc.array(
        fc.record({ linkId: fc.integer({ min: 1, max: 8 }), group: pick(['x', 'y', 'Z', 'é']) }),
      ),
      limit: fc.integer({ min: 1, max: 5 }),
    }),
  ),
})

/** A question about sources or channels. */
export const anyOriginQuery: fc.Arbitrary<HitQuery> = fc
  .record({
    asked: anyQuery,
    groupBy: fc.record({
      by: pick(ORIGIN_DIMENSIONS),
      limit: pick([2, 8, 1000]),
      nullAs: fc.constant('(direct)'),
    }),
    filter: fc.option(
      fc.record({
        column: pick(ORIGIN_DIMENSIONS),
        values: fc.array(
          pick([null, '(direct)', 'Facebook', 'Google', 'Gmail', 'm.facebook.com', ...TRAFFIC_CHANNELS]),
        ),
        negate: fc.boolean(),
      }),
    ),
  })
  .map(({ asked, groupBy, filter }) => {
    return { ...asked, start: 0, end: SPAN, groupBy, filters: filter ? [filter] : [] }
  })

/** A visitor of two days is two visitors. The engines keep 48 bits of the visitor, and 16 bits of the day. */
const toDayVisitorNumber = ({ visitor, at }: Hit): bigint =>
  visitor === NO_VISITOR
    ? 0n
    : (BigInt(visitor) % 2n ** 48n) + BigInt(Math.floor(at / DAY) % 2 ** 16) * 2n ** 48n

const toStored = (hit: Hit, column: StoredColumn): string | number | null =>
  isParamColumn(column) ? (JSON.parse(hit.params ?? '{}')[toParamName(column)] ?? null) : hit[column]

/** Answers the same question from a list, in the simplest way. */
export function countHits(hits: Hit[], asked: HitQuery): HitAnswer[] {
  const { workspaceId, start, end, classes, outcomes = ['redirect'], imported, filters, groupBy } = asked
  const toValue = (each: Hit, column: HitColumn) =>
    column === 'source'
      ? toSource(each)
      : column === 'channel'
        ? toTrafficChannel(each)
        : toStored(each, column)
  const caseless = (column: HitColumn, value: unknown) =>
    ['device', 'browser', 'os'].includes(column) && typeof value === 'string' ? value.toLowerCase() : value
  const passes = (each: Hit, { column, values, negate }: HitFilter) =>
    values.some((value) => caseless(column, value) === caseless(column, toValue(each, column))) !== negate
  const keysOf = (each: Hit): HitAnswer['key'][] => {
    switch (groupBy.by) {
      case 'total':
        return [null]
      case 'time':
        return [groupBy.starts.filter((at) => at <= each.at).at(-1) as number]
      case 'linkDay':
        return [each.linkId * LINK_DAYS + toDay(each.at)]
      case 'linkGroup':
        return [
          ...new Set(groupBy.groups.filter(({ linkId }) => linkId === each.linkId).map(({ group }) => group)),
        ]
      default:
        return [toValue(each, groupBy.by) ?? groupBy.nullAs]
    }
  }
  const found = new Map<HitAnswer['key'], Hit[]>(groupBy.by === 'total' ? [[null, []]] : [])
  for (const each of hits) {
    if (each.workspaceId !== workspaceId || each.at < start || each.at >= end) continue
    if (!outcomes.includes(each.outcome)) continue
    if (imported !== undefined && imported !== (each.importId !== null)) continue
    if (!classes.includes(each.class) || !filters.every((filter) => passes(each, filter))) continue
    for (const key of keysOf(each)) {
      const its = found.get(key)
      if (its) its.push(each)
      else found.set(key, [each])
    }
  }
  const rows = [...found].map(([key, its]) => ({
    key,
    clicks: its.length,
    visitors: new Set(its.map(toDayVisitorNumber).filter((visitor) => visitor !== 0n)).size,
  }))
  const byKey = (a: HitAnswer, b: HitAnswer) =>
    typeof a.key === 'number'
      ? a.key - Number(b.key)
      : Buffer.compare(Buffer.from(`${a.key}`), Buffer.from(`${b.key}`))
  if (groupBy.by === 'total' || groupBy.by === 'time') return rows.sort(byKey)
  return rows
    .sort((a, b) => b.clicks - a.clicks || byKey(a, b))
    .slice(0, 'limit' in groupBy ? groupBy.limit : undefined)
}
