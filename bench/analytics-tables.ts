// Prints what bench/analytics.ts has measured as Markdown tables, with a verdict on each bound.

import type { SizeResult, SubjectTimings, Timing } from './analytics-growth.ts'
import { BIGGEST } from './hits-generator.ts'
import { formatVerdict } from './verdict.ts'

/** How many times as fast the page must be from roll-ups, by millions of clicks in the instance. */
const FASTER_AT_LEAST: Record<'biggest' | 'small', Record<number, number>> = {
  biggest: { 20: 15, 100: 80 },
  small: { 20: 3, 100: 20 },
}
const SHARE_AT_MOST: Record<number, number> = { 20: 0.3, 100: 0.15 }
const DAY_COST_AT_MOST = 0.8

const toTable = (header: string[], rows: string[][]) =>
  [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const formatMs = (ms: number) => (ms < 10 ? ms.toFixed(1) : Math.round(ms).toLocaleString('en-US'))
const formatRatio = ({ raw, rolled }: Timing) => {
  const ratio = raw / rolled
  return `${ratio < 10 ? ratio.toFixed(1) : ratio.toFixed(0)}×`
}
const formatPercent = (share: number) => `${(share * 100).toFixed(0)} %`
const formatCount = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`
const formatMb = (bytes: number) => (bytes / 1e6).toFixed(0)

/** The eleven questions of the page. */
export function toPageTable(results: SizeResult[]): string {
  const rows = results.flatMap(({ millions, subjects }) =>
    subjects.map(({ subject, clicks, page }) => {
      const bound = FASTER_AT_LEAST[subject.workspace === BIGGEST ? 'biggest' : 'small'][millions]
      return [
        `${millions} million`,
        subject.name,
        clicks.toLocaleString('en-US'),
        formatMs(page.raw),
        formatMs(page.rolled),
        formatRatio(page),
        bound === undefined ? '–' : `${bound}×: ${formatVerdict(page.raw / page.rolled >= bound)}`,
      ]
    }),
  )
  return toTable(
    ['instance', 'who', 'its clicks', 'from hits, ms', 'from roll-ups, ms', 'faster', 'at least'],
    rows,
  )
}

/** How the time of each question grows with the instance. */
export function toGrowthTable(results: SizeResult[]): string {
  const first = results[0]?.subjects ?? []
  const toCells = (read: (timings: SubjectTimings) => Timing | undefined, place: number) =>
    results.map(({ subjects }) => {
      const timing = subjects[place] && read(subjects[place])
      return timing ? `${formatMs(timing.raw)} → ${formatMs(timing.rolled)}` : '–'
    })
  const rows = first.flatMap(({ subject, questions }, place) => [
    [subject.name, '**all eleven**', ...toCells(({ page }) => page, place)],
    ...questions.map(({ name }, n) => [
      subject.name,
      name,
      ...toCells((timings) => timings.questions[n], place),
    ]),
  ])
  return toTable(['who', 'question', ...results.map(({ millions }) => `${millions} million, ms`)], rows)
}

/** What the roll-ups of the whole history cost. */
export function toHistoryTable(results: SizeResult[]): string {
  const rows = results.map(({ millions, costs }) => {
    const share = costs.rolledBytes / costs.rawBytes
    const bound = SHARE_AT_MOST[millions]
    return [
      `${millions} million`,
      `${costs.seconds.toFixed(0)} s`,
      `${costs.processorSeconds.toFixed(0)} s`,
      `${(costs.seconds / costs.days).toFixed(2)} s`,
      formatMb(costs.rawBytes),
      formatMb(costs.rolledBytes),
      formatPercent(share),
      bound === undefined ? '–' : `${formatPercent(bound)}: ${formatVerdict(share <= bound)}`,
    ]
  })
  const header = ['instance', 'history rolled up in', 'processor time', 'a day', 'hits, MB', 'roll-ups, MB']
  return toTable([...header, 'share', 'at most'], rows)
}

/** What a closed day costs, beside loading and sorting its hits. Processor time. */
export function toDayTable(results: SizeResult[]): string {
  const rows = results.map(({ millions, costs: { day } }) => {
    const ratio = day.rollUp / day.ingest
    return [
      `${millions} million`,
      `${day.days}`,
      Math.round(day.hits / day.days).toLocaleString('en-US'),
      `${((day.ingest / day.days) * 1000).toFixed(0)} ms`,
      `${((day.rollUp / day.days) * 1000).toFixed(0)} ms`,
      ratio.toFixed(2),
      `${DAY_COST_AT_MOST}: ${formatVerdict(ratio <= DAY_COST_AT_MOST)}`,
      `${(day.liveBatch * 1000).toFixed(1)} ms (${formatCount(day.liveBatchHits, 'hit')})`,
    ]
  })
  const header = [
    'instance',
    'days',
    'hits a day',
    'day loaded in big batches and sorted',
    'rolled up',
    'ratio',
  ]
  return toTable([...header, 'at most', 'one live batch'], rows)
}

/** Where the answers of one size come from. */
export function toOriginTable({ subjects }: SizeResult): string {
  const rows = subjects.flatMap(({ subject, questions }) =>
    questions.map((timing) => [
      subject.name,
      timing.name,
      formatMs(timing.raw),
      formatMs(timing.rolled),
      formatRatio(timing),
      timing.origin,
    ]),
  )
  return toTable(['who', 'question', 'from hits, ms', 'from roll-ups, ms', 'faster', 'days from'], rows)
}
