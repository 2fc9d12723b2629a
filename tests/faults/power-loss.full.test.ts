// Tests durability without a power cut: strace records the system calls, and no success may be sent before the write
// that it acknowledges is synced to the disk: a link, a submission of a script, and one of a form without JavaScript.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { closeAfterAll } from '../support/close-after-all.ts'
import { BEHIND_PROXY } from '../support/form-requests.ts'
import { atScale } from '../support/suite.ts'
import { createLinkOverHttp } from './click-counts.ts'
import { createFormOverHttp, isAcknowledged, sendSubmission } from './form-submissions.ts'
import { createInstallation } from './server-process.ts'
import { findStraceProblem, parseTrace, type TraceSummary, toStraceCommand } from './strace.ts'

const ALONE = atScale({ full: 30, soak: 120 })
const TOGETHER = ALONE
/** The form is the first one. */
const WRITES = 1 + ALONE + TOGETHER
const reason = findStraceProblem()
const closeLater = closeAfterAll()

/** Requests writes one after the other, then some at once. @returns a summary of the system calls */
async function traceServer(bunArguments: string[]): Promise<TraceSummary> {
  const installation = await createInstallation(1)
  closeLater(installation.end)
  const trace = join(installation.dataDir, 'trace')
  const commandPrefix = toStraceCommand(trace)
  const server = await installation.start({ commandPrefix, bunArguments, ...BEHIND_PROXY })
  const form = await createFormOverHttp(server, installation)
  async function write(name: string, number: number) {
    if (number % 3 === 0)
      return expect((await createLinkOverHttp(name, installation.keys[0] as string, server)).status).toBe(201)
    const mode = number % 3 === 1 ? 'script' : 'native'
    expect(isAcknowledged(await sendSubmission(server, form, name, mode), mode)).toBe(true)
  }
  const alone = Array.from({ length: ALONE }, (_, i) => `alone-${i}`)
  const together = Array.from({ length: TOGETHER }, (_, i) => `together-${i}`)
  for (const [number, name] of alone.entries()) await write(name, number)
  await Promise.all(together.map(write))
  // strace holds the server's output pipes too. `stop` waits until they are closed, and then the trace is complete.
  await server.stop()
  return parseTrace(readFileSync(trace, 'utf8'), {
    database: 'towpath.db',
    names: ['Contact', ...alone, ...together],
    answers: ['HTTP/1.1 200 ', 'HTTP/1.1 201 ', 'HTTP/1.1 303 '],
    port: new URL(server.origin).port,
    thread: server.pid,
  })
}

describe.skipIf(reason !== undefined)(`power loss${reason ? ` (skipped: strace: ${reason})` : ''}`, () => {
  test('loses no acknowledged write: every success is sent after its sync', async () => {
    const { answers, beforeSync, syncs, ownSyncs } = await traceServer([])
    expect({ answers, early: beforeSync }).toEqual({ answers: WRITES, early: 0 })
    expect(syncs).toBeGreaterThanOrEqual(ALONE)
    // A sync takes as long as the disk wants, and redirects would wait for it.
    expect(ownSyncs).toBe(0)
  }, 240_000)

  test('finds answers before their sync when nothing is synced', async () => {
    const { answers, beforeSync } = await traceServer(['--preload', join(import.meta.dir, 'without-sync.ts')])
    expect(answers).toBe(WRITES)
    expect(beforeSync).toBeGreaterThan(ALONE)
  }, 240_000)
})
