// Twenty large files at once need hardly more memory than none: they go from the network to the disk.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { closeAfterAll } from '../support/close-after-all.ts'
import { BEHIND_PROXY } from '../support/form-requests.ts'
import { atScale } from '../support/suite.ts'
import { createInstallation } from './server-process.ts'
import { createUploadForm, sendLargeFile } from './upload-senders.ts'

const MIB = 1024 * 1024
const SENDERS = 20
/** All of them together are several times what the server may grow by. */
const FILE_BYTES = atScale({ full: 16, soak: 100 }) * MIB
const GROWTH_MAX = 100 * MIB

const closeLater = closeAfterAll()

/** @param line `VmRSS`, what a process has in memory now, or `VmHWM`, the most that it ever had. @returns bytes */
function readMemory(pid: number, line: 'VmRSS' | 'VmHWM'): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${line}:\\s*(\\d+) kB`).exec(text)?.[1]) * 1024
}

test.skipIf(process.platform !== 'linux')(
  `${SENDERS} files of ${FILE_BYTES / MIB} MiB at once are stored within 100 MiB above the idle server`,
  async () => {
    const installation = await createInstallation(1)
    closeLater(installation.end)
    const server = await installation.start(BEHIND_PROXY)
    const form = await createUploadForm(server, installation, { maxFiles: 1, maxBytes: FILE_BYTES })
    // Loads what is loaded with the first file.
    expect(await sendLargeFile(server, form, { bytes: MIB, marker: 'first' })).toBe(200)
    const idle = readMemory(server.pid, 'VmRSS')
    const files = Array.from({ length: SENDERS }, (_, i) => ({ bytes: FILE_BYTES, marker: `file ${i}` }))
    const statuses = await Promise.all(files.map((file) => sendLargeFile(server, form, file)))
    expect(statuses).toEqual(Array(SENDERS).fill(200))
    const growth = readMemory(server.pid, 'VmHWM') - idle
    expect(growth).toBeLessThan(GROWTH_MAX)
    expect(await server.stop()).toBe(0)
  },
  600_000,
)
