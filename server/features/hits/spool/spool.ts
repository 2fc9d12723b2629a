// The spool: segment files mapped into memory. A hit is stored there before its redirect is answered. The kernel owns
// the stored bytes, so a killed process loses no hit; a power cut loses unsynced hits (100 ms).

import { mkdir } from 'node:fs/promises'
import { describeError, log } from '../../../lib/log.ts'
import { copyText } from '../../../lib/text.ts'
import { HIT_OUTCOMES, type HitOutcome } from '../../../storage/hits/hit.ts'
import { claimDirectory } from './claim-directory.ts'
import type { SpoolPosition } from './position.ts'
import { type RawHit, TEXT_FIELDS } from './raw-hit.ts'
import { encodeRecord, HEADER_BYTES, MAX_RECORD_BYTES, MAX_SEGMENT_BYTES, toHitId } from './record-format.ts'
import { createSegment, hasRoom, type Segment } from './segment.ts'
import { openSegmentSync, type SegmentSync } from './segment-sync.ts'
import { createWritePosition, WAITING_HITS, WRITE_OFFSET, WRITE_SEGMENT } from './write-position.ts'

/** Hits that a few cores can answer in a second. */
const MAX_WAITING = 100_000
/** A second limit, because strangers choose the texts of hits. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024
/** An object with its numbers. */
const HIT_BYTES = 200
const RETRY_MS = 1000
const DROP_LOG_EVERY_MS = 60_000

export interface SpoolStats {
  /** Hits stored since the start. */
  appended: number
  /** The same by result. */
  outcomes: Record<HitOutcome, number>
  /** Hits that wait in memory because no segment can be created. */
  waiting: number
  /** Hits lost because the memory for waiting hits was full, or because they could not be encoded. */
  dropped: number
  segment: number
  syncFailures: number
}

export interface Spool {
  dir: string
  /** The id of this spool. It is created with the spool, so a new spool in the same directory is another node. */
  node: string
  /** See write-position.ts. */
  writePosition: Int32Array
  /** Stores a hit and returns its id, or 0 when the hit waits for a segment or is lost. Never throws. */
  append(raw: RawHit): number
  /** True if a hit would be stored, on the disk or in memory. */
  acceptsHits(): boolean
  /** Bytes recorded since a position, including the unused ends of full segments. */
  countBytesSince(position: SpoolPosition): number
  stats(): SpoolStats
  close(): Promise<void>
}

interface SpoolState {
  readonly dir: string
  readonly segmentBytes: number
  readonly now: () => number
  readonly writePosition: Int32Array
  readonly stats: SpoolStats
  readonly sync: SegmentSync
  /** Hits in memory because no segment can be created. */
  readonly waiting: RawHit[]
  waitingBytes: number
  /** The number of the newest segment. */
  lastSeq: number
  /** The segment for new hits. */
  live: Segment | null
  /** The segment after the live one, ready for use. */
  next: Segment | null
  /** Pending while `next` is being created. */
  preparing: Promise<void> | null
  /** The last attempt to create a segment failed. */
  failing: boolean
  lastDropLog: number
  closed: boolean
}

/** Opens the spool. One process per directory: the caller holds the lock of the data directory. */
export async function openSpool(options: {
  dir: string
  segmentBytes?: number
  syncEveryMs?: number
  now?: () => number
}): Promise<Spool> {
  const { dir, segmentBytes = 16 * 1024 * 1024, syncEveryMs = 100, now = Date.now } = options
  if (segmentBytes > MAX_SEGMENT_BYTES || segmentBytes % 8 || segmentBytes < HEADER_BYTES + MAX_RECORD_BYTES)
    throw new Error(`A segment of ${segmentBytes} bytes is not possible`)
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const { node, lastSeq } = await claimDirectory(dir)

  const outcomes = Object.fromEntries(HIT_OUTCOMES.map((name) => [name, 0])) as Record<HitOutcome, number>
  const stats: SpoolStats = { appended: 0, outcomes, waiting: 0, dropped: 0, segment: 0, syncFailures: 0 }
  const spool: SpoolState = {
    dir,
    segmentBytes,
    now,
    writePosition: createWritePosition(dir),
    stats,
    sync: openSegmentSync(syncEveryMs, () => stats.syncFailures++),
    waiting: [],
    waitingBytes: 0,
    lastSeq,
    live: null,
    next: null,
    preparing: null,
    failing: false,
    lastDropLog: Number.NEGATIVE_INFINITY,
    closed: false,
  }
  prepareNext(spool)
  await spool.preparing
  // Redirects answer even with a full disk: their hits wait in memory until there is space.
  const retryTimer = setInterval(() => {
    if (spool.failing || needsNext(spool)) prepareNext(spool)
  }, RETRY_MS)

  return {
    dir,
    node,
    writePosition: spool.writePosition,
    append: (raw) => append(spool, raw),
    acceptsHits: () => !spool.closed && (canStore(spool) || canWait(spool, HIT_BYTES)),
    countBytesSince: ({ seq, offset }) =>
      (stats.segment - seq) * segmentBytes + (spool.live?.offset ?? 0) - offset,
    stats: () => ({ ...stats, outcomes: { ...outcomes }, waiting: spool.waiting.length }),
    close: () => closeSpool(spool, retryTimer),
  }
}

function append(spool: SpoolState, raw: RawHit): number {
  try {
    if (spool.closed) {
      drop(spool, 'spool is closed')
      return 0
    }
    const id = store(spool, raw)
    if (id !== 0) return id
    const bytes = weigh(raw)
    if (!canWait(spool, bytes)) {
      drop(spool, 'no segment can be made')
      return 0
    }
    spool.waitingBytes += bytes
    Atomics.store(spool.writePosition, WAITING_HITS, spool.waiting.push(copyTexts(raw)))
  } catch (error) {
    drop(spool, 'not encodable', describeError(error))
  }
  return 0
}

const canStore = ({ live, next }: SpoolState) => (live !== null && hasRoom(live)) || next !== null

const canWait = ({ waiting, waitingBytes }: SpoolState, bytes: number) =>
  waiting.length < MAX_WAITING && waitingBytes + bytes <= MAX_WAITING_BYTES

const weigh = (raw: RawHit) => TEXT_FIELDS.reduce((sum, [name]) => sum + raw[name].length, HIT_BYTES)

/** Without copies, each waiting hit would keep its whole request in memory. */
function copyTexts(raw: RawHit): RawHit {
  const copy = { ...raw }
  for (const [name] of TEXT_FIELDS) copy[name] = copyText(raw[name])
  return copy
}

/**
 * Stores a hit in the live segment, or in the next one if the live one is full.
 * @returns its id; 0 without a segment
 */
function store(spool: SpoolState, raw: RawHit): number {
  if (!(spool.live && hasRoom(spool.live)) && !switchToNext(spool)) return 0
  const segment = spool.live as Segment
  const at = segment.offset
  segment.offset = encodeRecord(segment, at, segment.nonce, raw)
  Atomics.store(spool.writePosition, WRITE_OFFSET, segment.offset)
  spool.sync.markDirty()
  spool.stats.appended++
  spool.stats.outcomes[raw.outcome]++
  if (spool.next === null && spool.preparing === null && !spool.failing && needsNext(spool))
    prepareNext(spool)
  return toHitId(segment.seq, at)
}

function drop(spool: SpoolState, reason: string, fields = {}) {
  spool.stats.dropped++
  // Log at most once a minute, so that the log does not fill a full disk.
  if (spool.now() - spool.lastDropLog < DROP_LOG_EVERY_MS) return
  spool.lastDropLog = spool.now()
  log.error('hits_dropped', { reason, dropped: spool.stats.dropped, ...fields })
}

/**
 * True if the next segment should be created: once the live one is in use, because a busy disk can need time, but not directly
 * after a restart. The first hit can fill a small segment.
 */
const needsNext = ({ live, segmentBytes }: SpoolState) =>
  !live || live.offset > segmentBytes / 16 || !hasRoom(live)

function prepareNext(spool: SpoolState) {
  if (spool.preparing || spool.next || spool.closed) return
  spool.preparing = createSegment(spool.dir, spool.lastSeq + 1, spool.segmentBytes, spool.now())
    .then((segment) => {
      spool.lastSeq = segment.seq
      spool.next = segment
      // After a start without space there is no live segment. The worker ships old segments once there is a newer one.
      if (!spool.live) switchToNext(spool)
      if (spool.failing) log.info('spool_recovered', { segment: segment.seq, waiting: spool.waiting.length })
      spool.failing = false
    })
    .catch((error) => {
      if (!spool.failing) log.error('spool_segment_failed', describeError(error))
      spool.failing = true
    })
    .then(() => {
      spool.preparing = null
      storeWaiting(spool)
    })
}

/** Makes the next segment the live one. @returns false when there is no next segment */
function switchToNext(spool: SpoolState): boolean {
  const segment = spool.next
  if (!segment) return false
  spool.live = segment
  spool.sync.switchTo(segment)
  spool.next = null
  spool.stats.segment = segment.seq
  // In this order, so that a reader never combines the new number with the end of the old segment.
  Atomics.store(spool.writePosition, WRITE_OFFSET, segment.offset)
  Atomics.store(spool.writePosition, WRITE_SEGMENT, segment.seq)
  return true
}

function storeWaiting(spool: SpoolState) {
  const { waiting } = spool
  if (waiting.length === 0) return
  let stored = 0
  while (stored < waiting.length && canStore(spool)) {
    try {
      store(spool, waiting[stored] as RawHit)
    } catch (error) {
      drop(spool, 'not encodable', describeError(error))
    }
    stored++
  }
  for (const raw of waiting.splice(0, stored)) spool.waitingBytes -= weigh(raw)
  Atomics.store(spool.writePosition, WAITING_HITS, waiting.length)
}

async function closeSpool(spool: SpoolState, retryTimer: Timer) {
  if (spool.closed) return
  spool.closed = true
  clearInterval(retryTimer)
  await spool.preparing
  await spool.sync.close()
  if (spool.waiting.length > 0)
    log.error('hits_dropped', { reason: 'closed while full', dropped: spool.waiting.length })
  await spool.next?.close()
}
