// A full disk: whoever sends a form is told to come back, in either mode, nothing is acknowledged that is not stored,
// and with room again everything goes on in the same process.

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

// Room for three spool segments of 16 MiB, so that the filler decides when it is full.
const DISK_BYTES = 64 * 1024 * 1024
const MODES: SubmissionMode[] = ['script', 'native']
const reason = findSmallDiskProblem()

setDefaultTimeout(120_000)

describe.skipIf(reason !== undefined)(`a full disk${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let installation: Installation
  let server: ServerProcess
  let form: string
  /** The data directory, as this process can see it. */
  let inside: string
  const acknowledged: string[] = []
  let sent = 0

  beforeAll(async () => {
    installation = await createInstallation(1)
    const through = toSmallDiskCommand(installation.dataDir, DISK_BYTES)
    server = await installation.start({ commandPrefix: through, ...BEHIND_PROXY })
    inside = toProcessPath(server.pid, installation.dataDir)
    form = await createFormOverHttp(server, installation)
    for (const mode of MODES) expect(await submit(mode)).toBeUndefined()
  })
  afterAll(() => installation?.end())

  /** @returns the answer where it is not a success */
  async function submit(mode: SubmissionMode): Promise<HttpAnswer | undefined> {
    const marker = `marker-${sent++}`
    const answer = await sendSubmission(server, form, marker, mode)
    if (!isAcknowledged(answer, mode)) return answer
    acknowledged.push(marker)
    return undefined
  }
  const many = () => Promise.all(Array.from({ length: 64 }, (_, i) => submit(MODES[i % 2] as SubmissionMode)))

  test('refuses a script with 503 as JSON, and says when to try again', async () => {
    fillDisk(join(inside, 'filler'))
    // The log has room from before for a few more.
    const refused = await until('a submission to be refused', () => submit('script'))
    expect([refused.status, refused.json]).toEqual([503, { error: 'Temporarily unavailable' }])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
    expect(refused.headers.get('access-control-expose-headers')).toBe('Retry-After')
  })

  test('refuses a form without a script with 503 and a page, and goes nowhere', async () => {
    const refused = await submit('native')
    expect([refused?.status, refused?.headers.get('location')]).toEqual([503, null])
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused?.text).toContain('<h1>Please try again in a moment</h1>')
  })

  test('refuses many at once, each of them', async () => {
    const statuses = (await many()).map((answer) => answer?.status)
    expect(new Set(statuses)).toEqual(new Set([503]))
  })

  test('keeps on saying what else is wrong with a submission', async () => {
    expect((await sendSubmission(server, 'aaaaaaaaaa', 'x', 'script')).status).toBe(404)
    expect((await server.submit(form, '{', { 'Content-Type': 'application/json' })).status).toBe(400)
  })

  test('with room again takes submissions without a restart, and has what it acknowledged and nothing else', async () => {
    rmSync(join(inside, 'filler'))
    await until('submissions to be taken', async () => (await submit('script')) === undefined)
    expect(await many()).toEqual(Array(64).fill(undefined))
    // A copy: SQLite follows the way inside back to the directory that the disk hides.
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
