// Tests durability without a power cut: strace records the system calls, and no success may be sent before the write
// that it acknowledges is synced to the disk.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { closeAfterAll } from '../support/close-after-all.ts'
import { atScale } from '../support/suite.ts'
import { createInstallation, type Installation, type ServerProcess } from './server-process.ts'
import { findStraceProblem, parseTrace, type TraceSummary, toStraceCommand } from './strace.ts'

const ALONE = atScale({ full: 25, soak: 100 })
const TOGETHER = ALONE

interface PowerLossSubject {
  /** The first bytes of the answers that acknowledge a write. */
  answerPrefixes: string[]
  environment?: Record<string, string>
  /** @returns a function that requests one write under a name and throws unless it is acknowledged */
  begin(server: ServerProcess, installation: Installation): Promise<(name: string) => Promise<void>>
}

export function testPowerLoss(what: string, subject: PowerLossSubject) {
  const reason = findStraceProblem()
  const closeLater = closeAfterAll()

  /** Requests writes one after the other, then some at once. @returns a summary of the system calls */
  async function traceServer(bunArguments: string[]): Promise<TraceSummary> {
    const installation = await createInstallation(1)
    closeLater(installation.end)
    const trace = join(installation.dataDir, 'trace')
    const { environment } = subject
    const server = await installation.start({
      commandPrefix: toStraceCommand(trace),
      bunArguments,
      environment,
    })
    const write = await subject.begin(server, installation)
    const alone = Array.from({ length: ALONE }, (_, i) => `alone-${i}`)
    const together = Array.from({ length: TOGETHER }, (_, i) => `together-${i}`)
    for (const name of alone) await write(name)
    await Promise.all(together.map(write))
    // strace holds the server's output pipes too. `stop` waits until they are closed, and then the trace is complete.
    await server.stop()
    const { port } = new URL(server.origin)
    return parseTrace(readFileSync(trace, 'utf8'), {
      database: 'towpath.db',
      names: [...alone, ...together],
      answers: subject.answerPrefixes,
      port,
      thread: server.pid,
    })
  }

  describe.skipIf(reason !== undefined)(`power loss${reason ? ` (skipped: strace: ${reason})` : ''}`, () => {
    test(`loses no acknowledged write: every ${what} is sent after its sync`, async () => {
      const { answers, beforeSync, syncs, ownSyncs } = await traceServer([])
      expect({ answers, early: beforeSync }).toEqual({ answers: ALONE + TOGETHER, early: 0 })
      expect(syncs).toBeGreaterThanOrEqual(ALONE)
      // A sync takes as long as the disk wants, and redirects would wait for it.
      expect(ownSyncs).toBe(0)
    }, 240_000)

    test('finds answers before their sync when nothing is synced', async () => {
      const { answers, beforeSync } = await traceServer([
        '--preload',
        join(import.meta.dir, 'without-sync.ts'),
      ])
      expect(answers).toBe(ALONE + TOGETHER)
      expect(beforeSync).toBeGreaterThan(ALONE)
    }, 240_000)
  })
}
