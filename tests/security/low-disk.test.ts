// A nearly full disk, as strangers would fill it: hits are sampled, submissions are refused honestly, redirects and the
// workspace's own work go on.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFormOverHttp, isAcknowledged, sendSubmission } from '../faults/form-submissions.ts'
import { createInstallation, type Installation, type ServerProcess } from '../faults/server-process.ts'
import { findSmallDiskProblem, toProcessPath, toSmallDiskCommand } from '../faults/small-disk.ts'
import { BEHIND_PROXY } from '../support/form-requests.ts'
import { readMetric } from '../support/read-metrics.ts'
import { until } from '../support/until.ts'

const MIB = 1024 * 1024
const DISK_BYTES = 96 * MIB
const RESERVE_MIB = 16
const reason = findSmallDiskProblem()

setDefaultTimeout(120_000)

describe.skipIf(reason !== undefined)(`a nearly full disk${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let installation: Installation
  let server: ServerProcess
  let key: string
  let form: string
  let inside: string

  beforeAll(async () => {
    installation = await createInstallation(1)
    key = installation.keys[0] as string
    server = await installation.start({
      commandPrefix: toSmallDiskCommand(installation.dataDir, DISK_BYTES),
      environment: { DISK_RESERVE_MB: String(RESERVE_MIB), ...BEHIND_PROXY.environment },
    })
    inside = toProcessPath(server.pid, installation.dataDir)
    form = await createFormOverHttp(server, installation)
    expect(await create('known')).toBe(201)
  })
  afterAll(() => installation?.end())

  const create = async (slug: string) =>
    (await server.api(key, '/links', { slug, destinationUrl: 'https://example.com/' })).status
  const metric = (name: string) => readMetric(server.origin, name)
  async function clickMany(count: number) {
    const before = await metric('towpath_hits_total')
    for (let n = 0; n < count; n++) expect((await server.click('known')).status).toBe(302)
    return (await metric('towpath_hits_total')) - before
  }
  const leave = (bytes: number) => {
    const { bavail, bsize } = statfsSync(inside)
    writeFileSync(join(inside, 'filler'), new Uint8Array(bavail * bsize - bytes))
  }
  const untilLow = (low: number) =>
    until(`the disk to be ${low ? 'low' : 'fine'}`, async () => (await metric('towpath_disk_low')) === low)

  test('with room enough records every hit and takes submissions', async () => {
    expect(await metric('towpath_disk_low')).toBe(0)
    expect(await clickMany(50)).toBe(50)
    expect(isAcknowledged(await sendSubmission(server, form, 'first', 'script'), 'script')).toBe(true)
  })

  test('below the mark records one hit in ten, says so, and redirects all the same', async () => {
    leave((RESERVE_MIB * MIB) / 2)
    await untilLow(1)
    expect(await clickMany(100)).toBe(10)
    expect(await metric('towpath_hits_left_out_total')).toBe(90)
    expect(await metric('towpath_disk_free_bytes')).toBeLessThan(RESERVE_MIB * MIB)
    expect(server.readOutput().match(/"?disk_low"?/g)).toHaveLength(1)
  })

  test.each(['script', 'native'] as const)(
    'refuses a %s submission with 503 and Retry-After',
    async (mode) => {
      const refused = await sendSubmission(server, form, 'refused', mode)
      expect([refused.status, refused.headers.get('location')]).toEqual([503, null])
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    },
  )

  test('leaves the rest of the disk to the workspaces', async () => {
    expect(await create('while-low')).toBe(201)
    expect((await fetch(`${server.origin}/readyz`)).status).toBe(200)
  })

  test('takes everything again once there is room', async () => {
    rmSync(join(inside, 'filler'))
    await untilLow(0)
    expect(await clickMany(50)).toBe(50)
    expect(isAcknowledged(await sendSubmission(server, form, 'again', 'native'), 'native')).toBe(true)
    expect(await server.stop()).toBe(0)
  })
})
