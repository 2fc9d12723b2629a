// Damaged files after a crash or a disk error: the server starts, and every click that can be read counts once.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { closeAfterAll } from '../support/close-after-all.ts'
import { createLinkOverHttp, readCountedClicks, waitUntilCountersAgree } from './click-counts.ts'
import { createInstallation, type Installation, type ServerProcess } from './server-process.ts'

// Each test restarts the server at least once, which takes long on a busy machine.
setDefaultTimeout(120_000)

const closeLater = closeAfterAll()

describe('damaged files', () => {
  const SLUG = 'spring'
  let installation: Installation
  let key: string
  let server: ServerProcess
  let sent = 0

  beforeAll(async () => {
    installation = await createInstallation(1)
    key = installation.keys[0] as string
    closeLater(installation.end)
    server = await installation.start()
    await createLinkOverHttp(SLUG, key, server)
  })

  const click = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const { status } = await server.click(`${SLUG}?utm_term=m${sent++}`)
      expect(status).toBe(302)
    }
  }
  const markers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `m${from + i}`)
  const countedMarkers = async () => [...(await readCountedClicks(server, key, SLUG))].sort()
  const listExpected = (lostMarkers: string[] = []) =>
    markers(0, sent)
      .filter((marker) => !lostMarkers.includes(marker))
      .map((marker) => [marker, 1] as [string, number])
      .sort()
  const lost: string[] = []

  const segments = () =>
    readdirSync(join(installation.dataDir, 'spool'))
      .filter((name) => name.endsWith('.seg'))
      .sort()
      .map((name) => join(installation.dataDir, 'spool', name))
  /** The newest segment with records, and the offset at which its last record ends. */
  function findLastRecord() {
    const path = segments().findLast((path) => endOf(path) > HEADER_BYTES) as string
    return { path, end: endOf(path) }
  }
  async function restartAfter(damage: () => void, end: 'kill' | 'stop' = 'kill') {
    await server[end]()
    damage()
    server = await installation.start()
  }

  test.each([
    [
      'cut off in the middle of its last record',
      1,
      (path: string, end: number) => truncateSync(path, end - 20),
    ],
    ['with garbage after its last record', 0, (path: string, end: number) => overwrite(path, end + 8, 4096)],
    ['with garbage over its last record', 1, (path: string, end: number) => overwrite(path, end - 20, 4096)],
    [
      'full of garbage to its end',
      0,
      (path: string, end: number) => overwrite(path, end + 64, statSync(path).size - end - 64),
    ],
  ])(
    'counts the clicks before the damage and the next ones once, with a spool segment %s',
    async (_, lostRecords, damage) => {
      await click(30)
      const last = `m${sent - 1}`
      await restartAfter(() => {
        const { path, end } = findLastRecord()
        damage(path, end)
      })
      await click(10)
      const counted = await countedMarkers()
      // On a slow machine the last record may be in a batch before the kill.
      if (lostRecords && counted.every(([marker]) => marker !== last)) lost.push(last)
      expect(counted).toEqual(listExpected(lost))
    },
  )

  const database = () => join(installation.dataDir, 'hits.duckdb')
  const wal = () => `${database()}.wal`
  const countFilesSetAside = () =>
    readdirSync(installation.dataDir).filter((name) => name.includes('.corrupt-')).length
  const remove = (...paths: string[]) => {
    for (const path of paths) rmSync(path, { force: true })
  }

  // After a stop, all data is in the file itself. After a kill, most data is in the file's log. One row for each way of
  // recovery: server/storage/hits/duckdb/engine.test.ts has every kind of damage.
  test.each([
    [
      'flipped bytes in everything after its header',
      'stop',
      'noticed',
      () => flip(database(), 12_288, statSync(database()).size - 12_288),
    ],
    ['a flipped byte in its log', 'kill', 'noticed', () => flip(wal(), findText(wal(), 'redirect'), 1)],
    ['all of it deleted', 'stop', '', () => remove(database(), wal())],
  ] as const)('rebuilds an analytics file with %s, and answers the same as before', async (...row) => {
    const [, end, noticed, damage] = row
    await click(5)
    const before = await countedMarkers()
    const filesSetAside = countFilesSetAside()
    await restartAfter(damage, end)
    expect(await countedMarkers()).toEqual(before)
    if (noticed) expect(countFilesSetAside()).toBeGreaterThan(filesSetAside)
    await click(5)
    expect(await countedMarkers()).toEqual(listExpected(lost))
  })

  test('without analytics, redirects work, analytics answer 503 with Retry-After, and no click is lost', async () => {
    await restartAfter(() => {
      remove(database(), wal())
      mkdirSync(database())
    })
    await click(50)
    const refused = await server.api(key, '/analytics/clicks')
    expect(refused.status).toBe(503)
    const error = 'Analytics are temporarily unavailable. Clicks are still recorded.'
    expect(refused.json).toEqual({ error })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await fetch(`${server.origin}/readyz`)).status).toBe(200)
    expect((await server.api(key, '/links')).status).toBe(200)
    // Also kill the server while analytics are down: the hits are in the spool and in the batches.
    await server.kill()
    server = await installation.start()
    await click(5)
    rmSync(database(), { recursive: true })
    expect(await countedMarkers()).toEqual(listExpected(lost))
  })

  test('the counters of links equal the clicks in analytics after all damage', async () => {
    await waitUntilCountersAgree(server, installation.keys)
    expect(await server.stop()).toBe(0)
  })
})

const HEADER_BYTES = 64

/** The end of the last record, rounded up to 8 bytes. Segments are filled with zeros when they are created. */
function endOf(path: string): number {
  const bytes = readFileSync(path)
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  return (end + 7) & ~7
}

function overwrite(path: string, from: number, length: number) {
  const noise = crypto.getRandomValues(new Uint8Array(Math.min(length, 65_536)))
  const file = openSync(path, 'r+')
  for (let at = 0; at < length; at += noise.length)
    writeSync(file, noise, 0, Math.min(noise.length, length - at), from + at)
  closeSync(file)
}

/**
 * The offset of the last value in the log that is this text. What is damaged elsewhere may be a size, which DuckDB takes for
 * the torn end of the log; and its checksum does not see that two equal words have changed in the same way.
 */
function findText(path: string, text: string): number {
  const offset = readFileSync(path).lastIndexOf(text)
  if (offset < 0) throw new Error(`${path} does not contain ${text}`)
  return offset
}

function flip(path: string, from: number, length: number) {
  if (!existsSync(path)) throw new Error(`${path} does not exist`)
  const file = openSync(path, 'r+')
  const bytes = readFileSync(path)
    .subarray(from, from + length)
    .map((byte) => byte ^ 0xff)
  writeSync(file, bytes, 0, bytes.length, from)
  closeSync(file)
}
