// Where a hit is safe before its redirect is answered: segment files mapped into memory. The kernel owns what is
// stored there, so a killed process loses nothing; a power cut loses what was not yet synced (100 ms).

import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describeError, log } from '../../../lib/log.ts'
import { syncToDisk } from '../../../storage/sync-to-disk.ts'
import type { RawHit } from './raw-hit.ts'
import { encodeRecord, HEADER_BYTES, MAX_RECORD_BYTES, MAX_SEGMENT_BYTES, toHitId } from './record-format.ts'
import { createSegment, hasRoom, parseSegmentName, type Segment } from './segment.ts'
import { openSegmentSync } from './segment-sync.ts'
import { createWritePosition, WAITING_HITS, WRITE_OFFSET, WRITE_SEGMENT } from './write-position.ts'

// 50 MB, a second of all that one core can answer.
const MAX_WAITING = 100_000
const RETRY_MS = 1000
const DROP_LOG_EVERY_MS = 60_000

export interface SpoolStats {
  /** Hits stored since the start. */
  appended: number
  /** Hits in memory because no segment could be made. */
  waiting: number
  /** Hits lost because even memory was full, or because they could not be encoded. */
  dropped: number
  segment: number
  syncFailures: number
}

export interface Spool {
  dir: string
  /** Names this spool; made with it, so a wiped one is another node. */
  node: string
  /** See write-position.ts. */
  writePosition: Int32Array
  /** Stores a hit and returns its id; 0 when it has no place yet or got lost. Never throws. */
  append(raw: RawHit): number
  stats(): SpoolStats
  close(): Promise<void>
}

/** One process per directory: the caller holds the lock of the data directory. */
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

  const shared = createWritePosition(dir)
  const stats: SpoolStats = { appended: 0, waiting: 0, dropped: 0, segment: 0, syncFailures: 0 }
  const waiting: RawHit[] = []
  const syncing = openSegmentSync(syncEveryMs, () => stats.syncFailures++)
  let seq = lastSeq
  let live: Segment | null = null
  let next: Segment | null = null
  let preparing: Promise<void> | null = null
  let failing = false
  let lastDropLog = Number.NEGATIVE_INFINITY
  let closed = false

  /**
   * The next segment is made as soon as the live one is in use, since a busy disk may take its time, but not for a
   * restart's sake alone.
   */
  const needsNext = () => !live || live.offset > segmentBytes / 16

  function prepare() {
    if (preparing || next || closed) return
    preparing = createSegment(dir, seq + 1, segmentBytes, now())
      .then((segment) => {
        seq = segment.seq
        next = segment
        if (failing) log.info('spool_recovered', { segment: seq, waiting: waiting.length })
        failing = false
      })
      .catch((error) => {
        if (!failing) log.error('spool_segment_failed', describeError(error))
        failing = true
      })
      .then(() => {
        preparing = null
        storeWaiting()
      })
  }

  function roll(): boolean {
    if (!next) return false
    live = next
    syncing.switchTo(live)
    next = null
    stats.segment = live.seq
    // In this order: whoever sees the new number sees no end of the old segment beside it.
    Atomics.store(shared, WRITE_OFFSET, live.offset)
    Atomics.store(shared, WRITE_SEGMENT, live.seq)
    return true
  }

  function store(raw: RawHit): number {
    if (!(live && hasRoom(live)) && !roll()) return 0
    const segment = live as Segment
    const at = segment.offset
    segment.offset = encodeRecord(segment, at, segment.nonce, raw)
    Atomics.store(shared, WRITE_OFFSET, segment.offset)
    syncing.markDirty()
    stats.appended++
    if (next === null && preparing === null && !failing && needsNext()) prepare()
    return toHitId(segment.seq, at)
  }

  function drop(reason: string, fields = {}) {
    stats.dropped++
    // A full disk must not be made fuller by its own log.
    if (now() - lastDropLog < DROP_LOG_EVERY_MS) return
    lastDropLog = now()
    log.error('hits_dropped', { reason, dropped: stats.dropped, ...fields })
  }

  function storeWaiting() {
    if (waiting.length === 0) return
    let stored = 0
    while (stored < waiting.length && ((live && hasRoom(live)) || next)) {
      try {
        store(waiting[stored] as RawHit)
      } catch (error) {
        drop('not encodable', describeError(error))
      }
      stored++
    }
    waiting.splice(0, stored)
    Atomics.store(shared, WAITING_HITS, waiting.length)
  }

  function append(raw: RawHit): number {
    try {
      if (closed) {
        drop('spool is closed')
        return 0
      }
      const id = store(raw)
      if (id !== 0) return id
      if (waiting.length >= MAX_WAITING) drop('no segment can be made')
      else Atomics.store(shared, WAITING_HITS, waiting.push(raw))
    } catch (error) {
      drop('not encodable', describeError(error))
    }
    return 0
  }

  prepare()
  await preparing
  roll()
  // Redirects answer even with a full disk: their hits wait in memory until there is room.
  const retryTimer = setInterval(() => {
    if (failing || needsNext()) prepare()
  }, RETRY_MS)

  return {
    dir,
    node,
    writePosition: shared,
    append,
    stats: () => ({ ...stats, waiting: waiting.length }),
    async close() {
      if (closed) return
      closed = true
      clearInterval(retryTimer)
      await preparing
      await syncing.close()
      if (waiting.length > 0)
        log.error('hits_dropped', { reason: 'closed while full', dropped: waiting.length })
      await next?.close()
    },
  }
}

/**
 * The spool's name and its highest segment. A spool without any segment is a new one under a new name, because
 * the worker never deletes the last: were numbers used twice, ids would be too.
 */
async function claimDirectory(dir: string): Promise<{ node: string; lastSeq: number }> {
  const names = await readdir(dir)
  for (const name of names) if (name.endsWith('.tmp')) await rm(join(dir, name), { force: true })
  const seqs = names.map(parseSegmentName).filter((seq) => seq !== null)
  const path = join(dir, 'node')
  if (seqs.length > 0 && names.includes('node')) {
    const node = (await readFile(path, 'utf8')).trim()
    if (!/^[0-9a-f]{16}$/.test(node)) throw new Error(`${path} does not hold the name of a node`)
    return { node, lastSeq: Math.max(...seqs) }
  }
  const node = randomBytes(8).toString('hex')
  const file = await open(`${path}.tmp`, 'w', 0o600)
  try {
    await file.writeFile(`${node}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${path}.tmp`, path)
  await syncToDisk(dir)
  return { node, lastSeq: Math.max(0, ...seqs) }
}
