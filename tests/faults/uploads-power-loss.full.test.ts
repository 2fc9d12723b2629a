// Tests the order of syncs for uploads: the file, its rename, its folder, and then the database's log. A power cut at
// any moment leaves no acknowledged submission without its file.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { closeAfterAll } from '../support/close-after-all.ts'
import { BEHIND_PROXY } from '../support/form-requests.ts'
import { createInstallation } from './server-process.ts'
import { findStraceProblem, listEndedCalls } from './strace.ts'
import { createUploadForm, sendLargeFile } from './upload-senders.ts'

const UPLOADS = 5
const reason = findStraceProblem()
const closeLater = closeAfterAll()

/** Each call's name and paths. A page of the log is shown as a whole. */
const toTrace = (file: string) =>
  ['strace', '-D', '-f', '-y', '-qq', '-s', '4096', '-o', file].concat(
    '-e',
    'trace=fsync,fdatasync,rename,renameat,renameat2,pwrite64',
  )

/** @returns the steps of each file in the order in which they ended, without what concerns other files */
function readSteps(trace: string): Map<string, string[]> {
  const steps = new Map<string, string[]>()
  for (const line of listEndedCalls(trace)) {
    const [, renamed] = /rename\w*\(.*"[^"]*\/([0-9a-f]{32})\.draft".*= 0/.exec(line) ?? []
    const [, synced = ''] = /f(?:data)?sync\(\d+<([^>]+)>/.exec(line) ?? []
    const [, draft] = /\/([0-9a-f]{32})\.draft$/.exec(synced) ?? []
    if (draft) steps.set(draft, [...(steps.get(draft) ?? []), 'file'])
    if (renamed) steps.get(renamed)?.push('rename')
    if (/pwrite64\(\d+<[^>]+-wal>/.test(line))
      for (const [key] of line.matchAll(/[0-9a-f]{32}/g)) {
        const list = steps.get(key)
        if (list && !list.includes('row')) list.push('row')
      }
    const step = /\/uploads\/[\d-]+$/.test(synced) ? 'folder' : basename(synced).endsWith('-wal') ? 'log' : ''
    if (step) for (const list of steps.values()) list.push(step)
  }
  return steps
}

describe.skipIf(reason !== undefined)(`power loss${reason ? ` (skipped: strace: ${reason})` : ''}`, () => {
  test('loses no file: it is synced, renamed and in a synced folder before its row is', async () => {
    const installation = await createInstallation(1)
    closeLater(installation.end)
    const file = join(installation.dataDir, 'trace')
    const server = await installation.start({ commandPrefix: toTrace(file), ...BEHIND_PROXY })
    const form = await createUploadForm(server, installation, { maxFiles: 1, maxBytes: 100_000 })
    for (let i = 0; i < UPLOADS; i++)
      expect(await sendLargeFile(server, form, { bytes: 50_000, marker: `file ${i}` })).toBe(200)
    await server.stop()
    const steps = [...readSteps(readFileSync(file, 'utf8')).values()]
    expect(steps).toHaveLength(UPLOADS)
    // The log is synced for other rows, too.
    for (const list of steps)
      expect(list.filter((step, n) => step !== 'log' || list.indexOf('row') < n).slice(0, 5)).toEqual([
        'file',
        'rename',
        'folder',
        'row',
        'log',
      ])
  }, 120_000)
})
