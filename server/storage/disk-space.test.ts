import { afterEach, expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { until } from '../../tests/support/until.ts'
import { type DiskSpace, type FreeSpace, openDiskSpace } from './disk-space.ts'

const GIB = 1024 ** 3
let disk: DiskSpace | undefined
afterEach(() => disk?.close())

/** Opens the watch of a made-up disk. @returns a function that changes its free space and waits for the next check */
async function open(total: number, reserveBytes: number, first: number) {
  let space: FreeSpace | Error = { free: first, total }
  let checks = 0
  const readSpace = async () => {
    checks++
    if (space instanceof Error) throw space
    return space
  }
  disk = await openDiskSpace({ dir: '/', reserveBytes, readSpace, everyMs: 1 })
  return async (free: number | Error) => {
    space = free instanceof Error ? free : { free, total }
    const before = checks
    // The check that runs now may have read the space before.
    await until('two checks', () => checks >= before + 2)
    return disk?.isLow()
  }
}

test.each([
  ['a large disk', 100 * GIB, 1 * GIB, 5 * GIB],
  ['a small disk', 10 * GIB, 1 * GIB, 1 * GIB],
  ['a reserve of the operator', 2 * GIB, 0.25 * GIB, 0.25 * GIB],
])('%s is low below its mark, and until there is a quarter more', async (_, total, reserve, mark) => {
  const setFree = await open(total, reserve, mark)
  expect(disk?.isLow()).toBe(false)
  expect(await setFree(mark - 1)).toBe(true)
  expect(await setFree(mark * 1.2)).toBe(true)
  expect(await setFree(mark * 1.25)).toBe(false)
  expect(await setFree(mark * 1.01)).toBe(false)
  expect(await setFree(0)).toBe(true)
  expect(disk?.free()).toBe(0)
})

test('is low from the first check on', async () => {
  await open(100 * GIB, GIB, 0)
  expect(disk?.isLow()).toBe(true)
})

test('is never low without a reserve', async () => {
  await open(100 * GIB, 0, 0)
  expect(disk?.isLow()).toBe(false)
})

test('stays as it was while the file system does not answer', async () => {
  const setFree = await open(100 * GIB, GIB, 0)
  expect(await setFree(new Error('EIO'))).toBe(true)
  expect(await setFree(100 * GIB)).toBe(false)
})

test('reads the real file system', async () => {
  disk = await openDiskSpace({ dir: tmpdir(), reserveBytes: 1 })
  expect(disk.free()).toBeGreaterThan(0)
  expect(disk.free()).toBeLessThan(Number.POSITIVE_INFINITY)
})

test('has no room for bytes that are held for others, until they give them back', async () => {
  const setFree = await open(100 * GIB, GIB, 7 * GIB)
  const release = disk?.hold(1.5 * GIB)
  expect(release).toBeDefined()
  // The mark is 5 GiB.
  expect([disk?.hasRoomFor(GIB), disk?.hold(GIB)]).toEqual([false, undefined])
  release?.()
  // They may have been written since the last check.
  expect(disk?.hasRoomFor(GIB)).toBe(false)
  await setFree(6.5 * GIB)
  expect(disk?.hasRoomFor(GIB)).toBe(true)
  await setFree(5.5 * GIB)
  expect(disk?.hasRoomFor(GIB)).toBe(false)
})
