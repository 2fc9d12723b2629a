// The reader's part of a click history: finds the new clicks, turns them into hits, and sends them in chunks. Memory is limited
// by one chunk and, if earlier imports have clicks, by the pairs of link and day.

import { cutText } from '../../../lib/clean-text.ts'
import { createSerialQueue } from '../../../lib/concurrency/serial-queue.ts'
import { copyText } from '../../../lib/text.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { openGeoLookup } from '../../hits/batches/open-geo-lookup.ts'
import { parseUserAgent } from '../../visitors/user-agent.ts'
import { FileProblem } from '../files/source-file.ts'
import { CHUNKS_MAX, type ChunkBuilder, createChunkBuilder } from './chunk-builder.ts'
import { writeChunk } from './chunk-files.ts'
import { DayCounts } from './day-counts.ts'
import { createClickDescriber } from './describe-click.ts'
import type { HistoryRow, HistoryTask, LinkDays, ProblemRow, SendToServer } from './messages.ts'

/** The number of reported unknown links, and the compared characters of their names. */
const UNKNOWN_MAX = 10_000
const UNKNOWN_CHARS_MAX = 1_000
/** The characters of a value in the list of problems. */
const VALUE_MAX = 200
const PAIRS_AT_ONCE = 5_000

/** Opens the history from its beginning: batches of rows in the order of the file. */
type HistoryOpener = () => AsyncIterable<HistoryRow[]>

/** @throws FileProblem */
export async function readHistory(
  task: HistoryTask,
  openHistory: HistoryOpener,
  sendNow: SendToServer,
): Promise<void> {
  const inTurn = createSerialQueue()
  const send: SendToServer = (message) => inTurn(() => sendNow(message))
  const links = createLinkFinder(send)
  const plan = task.hasEarlier ? await planHistory(task, openHistory, links, send) : undefined
  await describeHistory(task, openHistory, { links, plan, send })
}

/** A key takes about 100 bytes, and in a hostile file a megabyte. */
const KEYS_MAX = 200_000
const KEY_CHARS_MAX = 50 * KEYS_MAX

interface LinkFinder {
  /** The link of each row, or 0. */
  find(rows: readonly Pick<HistoryRow, 'keys'>[]): Promise<number[]>
}

/** The reader's cache of links by key. It asks the server for unknown keys. */
function createLinkFinder(send: SendToServer): LinkFinder {
  let known = new Map<string, number>()
  let knownChars = 0
  return {
    async find(rows) {
      const missing = new Set<string>()
      for (const { keys } of rows) for (const key of keys) if (!known.has(key)) missing.add(key)
      if (known.size + missing.size > KEYS_MAX || knownChars > KEY_CHARS_MAX) {
        known = new Map()
        knownChars = 0
        for (const { keys } of rows) for (const key of keys) missing.add(key)
      }
      if (missing.size > 0) {
        const keys = [...missing]
        const links = (await send({ type: 'links', keys })) ?? []
        for (const [index, key] of keys.entries()) {
          known.set(key, links[index] ?? 0)
          knownChars += key.length
        }
      }
      return rows.map(({ keys }) => {
        for (const key of keys) {
          const linkId = known.get(key) ?? 0
          if (linkId > 0) return linkId
        }
        return 0
      })
    },
  }
}

const toDay = (at: number) => Math.floor(at / DAY_MS)

/** Counts the file's clicks by link and day, and asks the server how many of them other imports have. */
async function planHistory(
  task: HistoryTask,
  openHistory: HistoryOpener,
  links: LinkFinder,
  send: SendToServer,
): Promise<DayCounts> {
  const counts = new DayCounts()
  let [last, forward, backward] = [0, 0, 0]
  for await (const rows of openHistory()) {
    const linkIds = await links.find(rows)
    for (const [index, { click }] of rows.entries()) {
      const linkId = linkIds[index] ?? 0
      if (!click || linkId === 0 || findTimeProblem(click.at, task)) continue
      if (click.at > last) forward++
      else if (click.at < last) backward++
      last = click.at
      counts.count(linkId, toDay(click.at))
    }
  }
  for (const pairs of counts.listPairs(PAIRS_AT_ONCE))
    await planPairs(counts, pairs, forward >= backward, send)
  return counts
}

async function planPairs(counts: DayCounts, pairs: LinkDays, isForward: boolean, send: SendToServer) {
  const brought = (await send({ type: 'brought', pairs })) ?? []
  for (let index = 0; index * 2 < pairs.length; index++)
    counts.plan(pairs[index * 2] as number, pairs[index * 2 + 1] as number, brought[index] ?? 0, isForward)
}

interface DescriptionNeeds {
  links: LinkFinder
  /** Absent if every click is new. */
  plan: DayCounts | undefined
  send: SendToServer
}

async function describeHistory(task: HistoryTask, openHistory: HistoryOpener, needs: DescriptionNeeds) {
  const { links, plan, send } = needs
  const ownHosts = new Set(task.ownHosts)
  const describer = createClickDescriber({
    geo: openGeoLookup(task.geoPath),
    parseUserAgent,
    ownHosts: () => ownHosts,
  })
  const chunks = { stored: task.chunks, settled: task.settled }
  const builder = createChunkBuilder(task, describer, () => chunks.stored + 1)
  const unknownLinks = new Set<string>()
  let row = 0
  for await (const rows of openHistory()) {
    const linkIds = await links.find(rows)
    for (const [index, reading] of rows.entries()) {
      row++
      const linkId = linkIds[index] ?? 0
      const problems = findProblems(reading, linkId, task, unknownLinks)
      const { click } = reading
      const isNew = click !== null && problems === undefined && (plan?.take(linkId, toDay(click.at)) ?? true)
      if (row <= task.settled) continue
      builder.settle()
      chunks.settled = row
      if (problems) for (const problem of problems) builder.addProblem(problem)
      else if (isNew && click) builder.add(linkId, click)
      if (builder.isFull()) await handOver(task, builder, chunks, send)
    }
  }
  if (builder.hasRows()) await handOver(task, builder, chunks, send)
}

async function handOver(
  task: HistoryTask,
  builder: ChunkBuilder,
  chunks: { stored: number; settled: number },
  send: SendToServer,
): Promise<void> {
  const { lines, ...additions } = builder.take()
  const number = lines.length > 0 ? chunks.stored + 1 : null
  if (number !== null) {
    if (number >= CHUNKS_MAX) throw new FileProblem('The click history is too long. Import it in parts.')
    await writeChunk(task.dataDir, { importId: task.importId, number }, lines)
    chunks.stored = number
  }
  await send({ type: 'chunk', chunk: { number, settled: chunks.settled, ...additions } })
}

/** The problem of the row; undefined without one, or if it was reported before. */
function findProblems(
  { row, keys, click, problems }: HistoryRow,
  linkId: number,
  task: HistoryTask,
  unknownLinks: Set<string>,
): ProblemRow[] | undefined {
  if (!click) return problems.map((problem) => ({ row, ...problem }))
  const time = findTimeProblem(click.at, task)
  if (time !== undefined) {
    const value =
      Number.isFinite(click.at) && Math.abs(click.at) < 8.64e15 ? new Date(click.at).toISOString() : null
    return [{ row, field: 'date', value, message: time }]
  }
  if (linkId > 0) return undefined
  const name = copyText((keys.at(-1) ?? '').slice(0, UNKNOWN_CHARS_MAX))
  if (unknownLinks.has(name) || unknownLinks.size >= UNKNOWN_MAX) return []
  unknownLinks.add(name)
  const value = cutText(click.slug ?? click.sourceKey ?? '', VALUE_MAX) || null
  const message = 'This import has no link of this name. Its clicks are left out, in all rows.'
  return [{ row, field: 'link', value, message }]
}

function findTimeProblem(at: number, { now }: HistoryTask): string | undefined {
  if (!Number.isSafeInteger(at) || at < 0)
    return 'This is not a valid time of a click. Correct the row, or remove it.'
  if (at > now) return 'This time is in the future. Correct it, or say which time zone the file has.'
  return undefined
}
