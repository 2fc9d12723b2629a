// Watches the free space of a directory's disk. Below a limit, only a part of the data from strangers is stored, so that the
// rest of the disk is left for the workspaces' own work and for the operator.

import { statfs } from 'node:fs/promises'
import { describeError, log } from '../lib/log.ts'

export interface FreeSpace {
  /** Bytes that this process can still write. */
  free: number
  /** Bytes of the whole disk. */
  total: number
}

export interface DiskSpace {
  isLow(): boolean
  /** @returns true if the disk is not low after these bytes and all reserved ones */
  hasRoomFor(bytes: number): boolean
  /** Reserves space for bytes before they are written. @returns a function that releases it; undefined without space */
  hold(bytes: number): (() => void) | undefined
  /** Bytes at the last check. */
  free(): number
  close(): void
}

export interface DiskSpaceNeeds {
  dir: string
  /** The disk is low below this many free bytes, and below LOW_SHARE of the disk. 0: the disk is never low. */
  reserveBytes: number
  readSpace?: (dir: string) => Promise<FreeSpace>
  everyMs?: number
}

const LOW_SHARE = 0.05
/** The disk stays low until this many times the limit is free, so that the state does not change with every file. */
const RECOVERED_AT = 1.25
/** At 300 MB a second, a disk with the usual limit of 1 GiB does not become full between two checks. */
const CHECK_EVERY_MS = 2_000

export async function openDiskSpace({
  dir,
  reserveBytes,
  readSpace = readDiskSpace,
  everyMs = CHECK_EVERY_MS,
}: DiskSpaceNeeds): Promise<DiskSpace> {
  let low = false
  let free = Number.POSITIVE_INFINITY
  let mark = 0
  let failing = false
  let held = 0
  /** Space that was released since the last check, which may not have seen the bytes written into it. */
  let settling = 0

  async function check() {
    const settled = settling
    try {
      const space = await readSpace(dir)
      settling -= settled
      free = space.free
      mark = toLowMark(space.total, reserveBytes)
      setLow(low ? free < mark * RECOVERED_AT : free < mark)
      failing = false
    } catch (error) {
      // The state stays as it was.
      if (!failing) log.warn('disk_space_unknown', { dir, ...describeError(error) })
      failing = true
    }
  }

  function setLow(isLow: boolean) {
    if (isLow && !low) log.error('disk_low', { dir, freeBytes: free, markBytes: mark, effect: EFFECT })
    if (!isLow && low) log.info('disk_recovered', { dir, freeBytes: free, markBytes: mark })
    low = isLow
  }

  await check()
  let checking = false
  const timer = setInterval(async () => {
    // On a hanging file system, checks must not accumulate.
    if (checking) return
    checking = true
    await check()
    checking = false
  }, everyMs)
  // Written bytes of a reservation count twice until it is released: a full disk is worse than a refused upload.
  const hasRoomFor = (bytes: number) => !low && free - held - settling - bytes >= mark
  return {
    isLow: () => low,
    hasRoomFor,
    hold(bytes) {
      if (!hasRoomFor(bytes)) return undefined
      held += bytes
      return () => {
        held -= bytes
        settling += bytes
      }
    },
    free: () => free,
    close: () => clearInterval(timer),
  }
}

/** The disk is low below this many free bytes. */
export const toLowMark = (totalBytes: number, reserveBytes: number) =>
  reserveBytes === 0 ? 0 : Math.max(reserveBytes, totalBytes * LOW_SHARE)

const EFFECT =
  'One hit in ten is recorded, and forms answer 503. Make room, or lower DISK_RESERVE_MB on a small disk.'

export async function readDiskSpace(dir: string): Promise<FreeSpace> {
  const { bavail, blocks, bsize } = await statfs(dir)
  return { free: bavail * bsize, total: blocks * bsize }
}

/** The missing space on a disk, as texts for a sentence: `12 MB`. */
export interface SpaceShortage {
  needed: string
  free: string
}

/** @returns undefined if the disk of the directory has space for these bytes */
export async function findShortage(dir: string, neededBytes: number): Promise<SpaceShortage | undefined> {
  const { free } = await readDiskSpace(dir)
  return free >= neededBytes ? undefined : { needed: toMegabytes(neededBytes), free: toMegabytes(free) }
}

const toMegabytes = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MB`
