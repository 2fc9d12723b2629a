// What a power cut would show, seen from outside in the calls to the kernel: no success leaves before the disk has what
// it acknowledges.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { closeAfterAll } from '../support/close-after-all.ts'
import { createInstallation, type Installation, type ServerProcess } from './server-process.ts'
import { findStraceProblem, parseTrace, type TraceSummary, toStraceCommand } from './strace.ts'

const ALONE = 25
const TOGETHER = 25

interface PowerLossSubject {
  /** How its acknowledgements begin. */
  answerPrefixes: string[]
  environment?: Record<string, string>
  /** @returns what asks for one write, under a name, and fails unless it was acknowledged */
  begin(server: ServerProcess, installation: Installation): Promise<(name: string) => Promise<void>>
}

export function testPowerLoss(what: string, subject: PowerLossSubject) {
  const reason = findStraceProblem()
  const closeLater = closeAfterAll()

  /** Asks for writes one after the other, then for some at once, and tells what the disk saw. */
  async function watchServer(bun: string[]): Promise<TraceSummary> {
    const installation = await createInstallation(1)
    closeLater(installation.end)
    const trace = join(installation.dataDir, 'trace')
    const { environment } = subject
    const server = await installation.start({
      commandPrefix: toStraceCommand(trace),
      bunArguments: bun,
      environment,
    })
    const write = await subject.begin(server, installation)
    for (let i = 0; i < ALONE; i++) await write(`alone-${i}`)
    await Promise.all(Array.from({ length: TOGETHER }, (_, i) => write(`together-${i}`)))
    // strace holds our end of the outputs as well: both closed, it has written everything.
    await server.stop()
    const { port } = new URL(server.origin)
    return parseTrace(readFileSync(trace, 'utf8'), {
      log: 'towpath.db-wal',
      answers: subject.answerPrefixes,
      port,
    })
  }

  describe.skipIf(reason !== undefined)(`power loss${reason ? ` (skipped: strace: ${reason})` : ''}`, () => {
    test(`costs nothing that was acknowledged: every ${what} leaves after its sync`, async () => {
      const { answers, beforeSync, withoutNewWrite, syncs } = await watchServer([])
      expect({ answers, early: beforeSync }).toEqual({ answers: ALONE + TOGETHER, early: 0 })
      // Those made together share commits; each of the others had one of its own.
      expect(withoutNewWrite).toBeLessThan(TOGETHER)
      expect(syncs).toBeGreaterThanOrEqual(ALONE)
    }, 240_000)

    test('would cost something with synchronous=NORMAL, and this test would see it', async () => {
      const { answers, beforeSync } = await watchServer([
        '--preload',
        join(import.meta.dir, 'synchronous-normal.ts'),
      ])
      expect(answers).toBe(ALONE + TOGETHER)
      expect(beforeSync).toBeGreaterThan(ALONE)
    }, 240_000)
  })
}
