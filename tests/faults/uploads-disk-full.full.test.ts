// A disk that fills in the middle of an upload: the sender gets 503, nothing of the file is left, and uploads are taken
// again once there is room.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { BEHIND_PROXY } from '../support/form-requests.ts'
import { until } from '../support/until.ts'
import { listUploadedFiles } from '../support/upload-requests.ts'
import { createInstallation, type Installation, type ServerProcess } from './server-process.ts'
import { fillDisk, findSmallDiskProblem, toProcessPath, toSmallDiskCommand } from './small-disk.ts'
import { createUploadForm, sendLargeFile } from './upload-senders.ts'

const MIB = 1024 * 1024
const DISK_BYTES = 96 * MIB
const reason = findSmallDiskProblem()

setDefaultTimeout(120_000)

describe.skipIf(reason !== undefined)(`a full disk${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let installation: Installation
  let server: ServerProcess
  let form: string
  let inside: string
  const start = async (environment: Record<string, string>) => {
    installation = await createInstallation(1)
    const commandPrefix = toSmallDiskCommand(installation.dataDir, DISK_BYTES)
    server = await installation.start({
      commandPrefix,
      environment: { ...BEHIND_PROXY.environment, ...environment },
    })
    inside = toProcessPath(server.pid, installation.dataDir)
    form = await createUploadForm(server, installation, { maxFiles: 1, maxBytes: 80 * MIB })
  }
  const send = (bytes: number, marker: string) => sendLargeFile(server, form, { bytes, marker })

  describe('in the middle of uploads', () => {
    beforeAll(() => start({}))
    afterAll(() => installation?.end())

    test('refuses them with 503, and leaves nothing of them', async () => {
      expect(await send(MIB, 'first')).toBe(200)
      const statuses = await Promise.all(['a', 'b', 'c', 'd'].map((marker) => send(40 * MIB, marker)))
      expect(statuses).toContain(503)
      expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
      const stored = 1 + statuses.filter((status) => status === 200).length
      await until('the drafts to be gone', () => listUploadedFiles(inside).length === stored)
      fillDisk(join(inside, 'filler'))
      expect(await send(MIB, 'full')).toBe(503)
      expect(listUploadedFiles(inside)).toHaveLength(stored)
      rmSync(join(inside, 'filler'))
      let tries = 0
      await until('uploads to be taken', async () => (await send(MIB, `again ${tries++}`)) === 200)
    })
  })

  describe('with a reserve', () => {
    beforeAll(() => start({ DISK_RESERVE_MB: '40' }))
    afterAll(() => installation?.end())

    test('refuses an upload that would use it up before its first byte is written', async () => {
      expect(await send(MIB, 'first')).toBe(200)
      expect(await send(60 * MIB, 'too much')).toBe(503)
      expect(listUploadedFiles(inside)).toHaveLength(1)
    })
  })
})
