// A power cut at any moment: the disk keeps what was synced, and any part of what was written after the last sync. Each
// submission that was acknowledged before the cut is there. strace has recorded what the server wrote and when.

import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeAfterAll } from '../support/close-after-all.ts'
import { BEHIND_PROXY, SCRIPT_HEADERS } from '../support/form-requests.ts'
import { createRandom } from '../support/random.ts'
import { atScale } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { hasSynced, type ReplayedDisk, replay, toReplayCommand } from './disk-replay.ts'
import { createFormOverHttp } from './form-submissions.ts'
import { createInstallation } from './server-process.ts'
import { findStraceProblem } from './strace.ts'

const SUBMISSIONS = atScale({ full: 64, soak: 200 })
const MESSAGE = 'A long message. '.repeat(2_000)
const SENDERS = 4
const FILES = ['towpath.db', 'towpath.db-wal']

const reason = findStraceProblem()
const closeLater = closeAfterAll()
const random = createRandom('writes that a power cut keeps')

/** Sends submissions to a server under strace, and cuts the power at every answer and in the middle of every sync. */
async function cutPowerWhileSending() {
  const installation = await createInstallation(1)
  closeLater(installation.end)
  const paths = FILES.map((name) => join(installation.dataDir, name)) as [string, string]
  const before = readFileSync(paths[0])
  const trace = join(installation.dataDir, 'trace')
  const server = await installation.start({ commandPrefix: toReplayCommand(trace), ...BEHIND_PROXY })
  const form = await createFormOverHttp(server, installation)
  let sent = 0
  const sendUntil = async (enough: number) => {
    while (sent < enough) {
      const marker = toMarker(sent++)
      // The answer has the id of its request: this is how its moment is found in the trace.
      const headers = { ...SCRIPT_HEADERS, 'X-Request-Id': marker }
      const answer = await server.submit(form, `marker=${marker}&message=${MESSAGE}`, headers)
      expect(answer.text).toBe('{"ok":true}')
    }
  }
  const send = (enough: number) => Promise.all(Array.from({ length: SENDERS }, () => sendUntil(enough)))
  await send(SUBMISSIONS / 2)
  // SQLite moves its log into the database within a second or two, syncs that, and starts its log anew.
  await until('the log to be in the database', () => hasSynced(readFileSync(trace, 'utf8'), paths[0]))
  await send(SUBMISSIONS)
  await server.kill()

  const acknowledged: string[] = []
  const found = { cuts: 0, lost: 0, damaged: 0 }
  const inspect = (disk: ReplayedDisk, keep: () => boolean) => {
    const { markers, integrity } = readDisk(paths.map((path) => disk.cut(keep).get(path) as Buffer))
    found.cuts++
    if (integrity !== 'ok') found.damaged++
    found.lost += acknowledged.filter((marker) => !markers.has(marker)).length
  }
  const syncs = replay(readFileSync(trace, 'utf8').split('\n'), {
    files: new Map([
      [paths[0], before],
      [paths[1], Buffer.alloc(0)],
    ]),
    isMoment(text) {
      const marker = /HTTP\/1\.1 200 [\s\S]*(power-\d{8})/.exec(text)?.[1]
      if (marker === undefined || acknowledged.includes(marker)) return false
      acknowledged.push(marker)
      return true
    },
    look(disk) {
      inspect(disk, () => false)
      inspect(disk, () => random() < 0.5)
    },
  })
  return { ...found, acknowledged: acknowledged.length, checkpoints: syncs.get(paths[0]) ?? 0 }
}

const toMarker = (number: number) => `power-${String(number).padStart(8, '0')}`

/** Opens the files as the next start does. */
function readDisk(contents: Buffer[]) {
  const dir = mkdtempSync(join(tmpdir(), 'towpath-cut-'))
  for (const [at, content] of contents.entries()) writeFileSync(join(dir, FILES[at] as string), content)
  const database = new Database(join(dir, 'towpath.db'))
  try {
    // Nobody needs these files after the test.
    database.run('pragma synchronous=off')
    const rows = database.query('select fields from submissions').values() as [string][]
    const [[integrity]] = database.query('pragma quick_check').values() as [[string]]
    const fields = rows.map(([text]) => Object.fromEntries(JSON.parse(text)))
    const whole = fields.filter(({ message }) => message === MESSAGE)
    return { markers: new Set(whole.map(({ marker }) => marker)), integrity }
  } catch (error) {
    return { markers: new Set<string>(), integrity: String(error) }
  } finally {
    database.close()
    rmSync(dir, { recursive: true })
  }
}

describe.skipIf(reason !== undefined)(`a power cut${reason ? ` (skipped: strace: ${reason})` : ''}`, () => {
  test('at any moment leaves every submission that was acknowledged, and a whole database', async () => {
    const { cuts, checkpoints, ...found } = await cutPowerWhileSending()
    expect(found).toEqual({ lost: 0, damaged: 0, acknowledged: SUBMISSIONS })
    expect(cuts).toBeGreaterThan(2 * SUBMISSIONS)
    expect(checkpoints).toBeGreaterThan(0)
  }, 240_000)
})
