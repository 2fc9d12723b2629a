// A full disk: submissions are refused with 503 in both modes, only stored submissions are acknowledged, and the same
// process takes submissions again once there is room.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { BEHIND_PROXY } from '../support/form-requests.ts'
import type { HttpAnswer } from '../support/server/http-call.ts'
import { until } from '../support/until.ts'
import {
  createFormOverHttp,
  isAcknowledged,
  readMarker,
  type SubmissionMode,
  sendSubmission,
} from './form-submissions.ts'
import { createInstallation, type Installation, type ServerProcess } from './server-process.ts'
import { fillDisk, findSmallDiskProblem, toProcessPath, toSmallDiskCommand } from './small-disk.ts'

// Room for three spool segments of 16 MiB, so that the filler file decides when the disk is full.
const DISK_BYTES = 64 * 1024 * 1024
const MODES: SubmissionMode[] = ['script', 'native']
const reason = findSmallDiskProblem()

setDefaultTimeout(120_000)

describe.skipIf(reason !== undefined)(`a full disk${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let installation: Installation
  let server: ServerProcess
  let form: string
  /** The path at which this process sees the data directory of the server. */
  let inside: string
  const acknowledged: string[] = []
  let sent = 0

  beforeAll(async () => {
    installation = await createInstallation(1)
    const commandPrefix = toSmallDiskCommand(installation.dataDir, DISK_BYTES)
    server = await installation.start({
      commandPrefix,
      ...BEHIND_PROXY,
    })
    inside = toProcessPath(server.pid, installation.dataDir)
    form = await createFormOverHttp(server, installation)
    for (const mode of MODES) expect(await submit(mode)).toBeUndefined()
  })
  afterAll(() => installation?.end())

  /** @returns the answer when it does not acknowledge the submission */
  async function submit(mode: SubmissionMode): Promise<HttpAnswer | undefined> {
    const marker = `marker-${sent++}`
    const answer = await sendSubmission(server, form, marker, mode)
    if (!isAcknowledged(answer, mode)) return answer
    acknowledged.push(marker)
    return undefined
  }
  const submitMany = () =>
    Promise.all(Array.from({ length: 64 }, (_, i) => submit(MODES[i % 2] as SubmissionMode)))

  test('refuses a script with 503 as JSON and Retry-After', async () => {
    fillDisk(join(inside, 'filler'))
    // The log still has room for a few submissions.
    const refused = await until('a submission to be refused', () => submit('script'))
    expect([refused.status, refused.json]).toEqual([503, { error: 'Temporarily unavailable' }])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
    expect(refused.headers.get('access-control-expose-headers')).toBe('Retry-After')
  })

  test('refuses a form without JavaScript with a 503 page, and does not redirect', async () => {
    const refused = await submit('native')
    expect([refused?.status, refused?.headers.get('location')]).toEqual([503, null])
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused?.text).toContain('<h1>Please try again in a moment</h1>')
  })

  test('refuses each of many submissions at once', async () => {
    const statuses = (await submitMany()).map((answer) => answer?.status)
    expect(new Set(statuses)).toEqual(new Set([503]))
  })

  test('still answers 404 for an unknown form and 400 for invalid JSON', async () => {
    expect((await sendSubmission(server, 'aaaaaaaaaa', 'x', 'script')).status).toBe(404)
    expect((await server.submit(form, '{', { 'Content-Type': 'application/json' })).status).toBe(400)
  })

  test('takes submissions again without a restart once there is room, and has stored exactly the acknowledged ones', async () => {
    rmSync(join(inside, 'filler'))
    await until('submissions to be taken', async () => (await submit('script')) === undefined)
    expect(await submitMany()).toEqual(Array(64).fill(undefined))
    // A copy, because SQLite resolves the path under /proc to the directory that the mount hides.
    for (const name of ['towpath.db', 'towpath.db-wal'])
      cpSync(join(inside, name), join(installation.dataDir, name))
    const database = new Database(join(installation.dataDir, 'towpath.db'))
    const stored = database.query('select fields from submissions').values() as [string][]
    expect(stored.map(([fields]) => readMarker(fields)).sort()).toEqual([...acknowledged].sort())
    expect(database.query('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    database.close()
    expect(await server.stop()).toBe(0)
  })
})
