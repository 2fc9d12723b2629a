// Collects enriched hits for a chunk, with their additions to links and days.

import { DAY_MS } from '../../../lib/utc-day.ts'
import { createLineBuffer, type LineBuffer } from '../../hits/batches/ndjson-line.ts'
import type { SourceClick } from '../sources/source.ts'
import type { ClickDescriber } from './describe-click.ts'
import type { AgedClicks, DayAddition, HistoryChunk, HistoryTask, ProblemRow } from './messages.ts'
import { toHitLink } from './stand-in.ts'

/** A limit, because live clicks wait for a chunk (docs/adr/0015-handed-over-hits.md). */
const HITS_MAX = 25_000
/** A limit, because each day of a link is a row, and a chunk is one transaction. */
const DAYS_MAX = 10_000
/** After this many rows, a chunk without hits reports the reader's progress. */
const ROWS_MAX = 50_000
/** Enough for a usual chunk, because a growing buffer leaves its smaller copies as garbage. */
const LINES_BYTES = 12 * 1024 * 1024

/** A limit, because a wrong file has the same problem in each row. */
const PROBLEMS_MAX = 10_000

/** Ids of imported hits begin here. No spool reaches them, and those of the demo are random. */
const FIRST_ID = 3 * 2 ** 51
const IMPORT_IDS = 2 ** 21
const CHUNK_IDS = 2 ** 15
/** The most chunks of one import, so that ids of hits are unique. */
export const CHUNKS_MAX = 2 ** 15

interface PlacedLine {
  at: number
  start: number
  end: number
}

export interface ChunkBuilder {
  add(linkId: number, click: SourceClick): void
  addProblem(problem: ProblemRow): void
  /** Counts one more finished row. */
  settle(): void
  isFull(): boolean
  hasRows(): boolean
  /** The hits collected since the last call. The lines are valid until the next `add`. */
  take(): Additions & { clicks: number; lines: Uint8Array[]; problems: ProblemRow[] }
}

type ChunkTask = Pick<HistoryTask, 'importId' | 'workspaceId' | 'since' | 'dryRun' | 'maxHits'>

/** @param number of the next chunk with hits */
export function createChunkBuilder(
  task: ChunkTask,
  describer: ClickDescriber,
  number: () => number,
): ChunkBuilder {
  const buffer: LineBuffer = createLineBuffer(LINES_BYTES)
  let placed: PlacedLine[] = []
  let additions = createAdditions(task.since)
  let problems: ProblemRow[] = []
  let [rows, reported, clicks] = [0, 0, 0]

  function describe(linkId: number, click: SourceClick): boolean {
    const { importId, workspaceId } = task
    const start = buffer.end
    const id =
      FIRST_ID + (importId % IMPORT_IDS) * CHUNKS_MAX * CHUNK_IDS + number() * CHUNK_IDS + placed.length
    const isPerson = describer.describe(
      { id, workspaceId, linkId: toHitLink(linkId), importId },
      click,
      buffer,
    )
    const isKept = click.at >= task.since && !task.dryRun
    if (isKept) placed.push({ at: click.at, start, end: buffer.end })
    else buffer.end = start
    return isPerson
  }

  return {
    add(linkId, click) {
      additions.add(linkId, click.at, describe(linkId, click))
      if (isClick(click)) clicks++
    },
    addProblem(problem) {
      if (++reported <= PROBLEMS_MAX) problems.push(problem)
    },
    settle: () => void rows++,
    isFull: () =>
      placed.length >= (task.maxHits ?? HITS_MAX) || additions.countDays() >= DAYS_MAX || rows >= ROWS_MAX,
    hasRows: () => rows > 0,
    take() {
      const taken = { lines: sortLines(placed, buffer), clicks, ...additions.list(), problems }
      placed = []
      additions = createAdditions(task.since)
      problems = []
      rows = 0
      clicks = 0
      buffer.end = 0
      describer.clearCaches()
      return taken
    },
  }
}

/** Our own export also has page views, and requests of closed links. */
const isClick = ({ described }: SourceClick) => !described || described.outcome === 'redirect'

type Additions = Pick<HistoryChunk, 'firstAt' | 'days' | 'aged'>

interface AdditionCounter {
  add(linkId: number, at: number, isPerson: boolean): void
  /** Pairs of link and day. */
  countDays(): number
  list(): Additions
}

/**
 * Sums up the additions of a chunk's clicks to links and days.
 * @param since clicks before this time are past their retention
 */
function createAdditions(since: number): AdditionCounter {
  const days = new Map<number, Map<number, DayAddition>>()
  const aged = new Map<number, AgedClicks>()
  let firstAt = Number.POSITIVE_INFINITY
  let pairs = 0

  function countDay(linkId: number, at: number, isPerson: boolean) {
    const day = Math.floor(at / DAY_MS)
    const ofLink = days.get(linkId) ?? new Map<number, DayAddition>()
    if (ofLink.size === 0) days.set(linkId, ofLink)
    const addition = ofLink.get(day)
    if (!addition) {
      pairs++
      ofLink.set(day, [linkId, day, 1, isPerson ? 1 : 0, isPerson ? at : 0])
      return
    }
    addition[2]++
    if (!isPerson) return
    addition[3]++
    addition[4] = Math.max(addition[4], at)
  }

  function countAged(linkId: number, at: number) {
    const known = aged.get(linkId)
    if (known) {
      known[1]++
      known[2] = Math.max(known[2], at)
    } else aged.set(linkId, [linkId, 1, at])
  }

  return {
    add(linkId, at, isPerson) {
      firstAt = Math.min(firstAt, at)
      countDay(linkId, at, isPerson)
      if (isPerson && at < since) countAged(linkId, at)
    },
    countDays: () => pairs,
    list: () => ({
      firstAt: days.size === 0 ? null : firstAt,
      days: [...days.values()].flatMap((ofLink) => [...ofLink.values()]),
      aged: [...aged.values()],
    }),
  }
}

/** Oldest first, as in every batch. Histories are usually in order, forward or backward. */
function sortLines(placed: PlacedLine[], { bytes, end }: LineBuffer): Uint8Array[] {
  const isSorted = placed.every(({ at }, index) => index === 0 || at >= (placed[index - 1] as PlacedLine).at)
  if (isSorted) return end === 0 ? [] : [bytes.subarray(0, end)]
  const sorted = new Uint8Array(end)
  let filled = 0
  for (const line of placed.toSorted((a, b) => a.at - b.at)) {
    sorted.set(bytes.subarray(line.start, line.end), filled)
    filled += line.end - line.start
  }
  return [sorted]
}
