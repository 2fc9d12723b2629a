// The disk of PostgreSQL is full: submissions are refused with 503, redirects go on, and with room again everything works
// without a restart of either. What is stored is what was acknowledged.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { BEHIND_PROXY } from '../support/form-requests.ts'
import { type PostgresServer, startPostgres } from '../support/postgres/postgres-server.ts'
import { until } from '../support/until.ts'
import { createLinkOverHttp } from './click-counts.ts'
import { createFormOverHttp, isAcknowledged, readMarker, sendSubmission } from './form-submissions.ts'
import { createInstallation, type Installation, type ServerProcess } from './server-process.ts'
import { fillDisk, findSmallDiskProblem, toProcessPath } from './small-disk.ts'

const MIB = 1024 * 1024
/** The data of a new server are 40 MiB. One segment of the log has room for all that the test writes. */
const DISK = { diskBytes: 160 * MIB, settings: { min_wal_size: '32MB', max_wal_size: '64MB' } }
const reason = findSmallDiskProblem()

setDefaultTimeout(120_000)

describe.skipIf(reason !== undefined)(
  `a full disk of PostgreSQL${reason ? ` (skipped: ${reason})` : ''}`,
  () => {
    let postgres: PostgresServer
    let installation: Installation
    let server: ServerProcess
    let form: string
    let filler: string
    const acknowledged: string[] = []
    let sent = 0

    beforeAll(async () => {
      postgres = await startPostgres(DISK)
      installation = await createInstallation(1, postgres.url)
      server = await installation.start(BEHIND_PROXY)
      form = await createFormOverHttp(server, installation)
      await createLinkOverHttp('known', installation.keys[0] as string, server)
      filler = join(toProcessPath(postgres.pid(), join(postgres.dir, 'data')), 'filler')
    })
    afterAll(async () => {
      await installation?.end()
      await postgres?.end()
    })

    async function submit() {
      const marker = `marker-${sent++}`
      const answer = await sendSubmission(server, form, marker, 'script')
      if (!isAcknowledged(answer, 'script')) return answer
      acknowledged.push(marker)
      return undefined
    }

    test('refuses submissions with 503 and Retry-After, and redirects all the same', async () => {
      expect(await submit()).toBeUndefined()
      fillDisk(filler)
      // The pages that it has still take a few.
      const refused = await until('a submission to be refused', submit)
      expect([refused.status, refused.json]).toEqual([503, { error: 'Temporarily unavailable' }])
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      const refusals = (await Promise.all(Array.from({ length: 30 }, submit))).filter(Boolean)
      expect(new Set(refusals.map((answer) => answer?.status))).toEqual(new Set([503]))
      expect((await server.click('known')).status).toBe(302)
    })

    test('takes submissions again once there is room, and has stored exactly the acknowledged ones', async () => {
      rmSync(filler)
      await until('submissions to be taken', async () => (await submit()) === undefined)
      expect(await Promise.all(Array.from({ length: 30 }, submit))).toEqual(Array(30).fill(undefined))
      const client = new pg.Client({ connectionString: postgres.url })
      await client.connect()
      const { rows } = await client.query<{ fields: string }>('select fields from submissions')
      await client.end()
      expect(rows.map(({ fields }) => readMarker(fields)).sort()).toEqual(acknowledged.toSorted())
      expect([await server.stop(), postgres.running()]).toEqual([0, true])
    })
  },
)
