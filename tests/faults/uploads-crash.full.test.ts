// Every acknowledged upload is whole after kill -9, and after the next start nothing is left of the others.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../server/storage/database/open-database.ts'
import { closeAfterAll } from '../support/close-after-all.ts'
import { BEHIND_PROXY } from '../support/form-requests.ts'
import { createRandomMs } from '../support/random.ts'
import { atScale } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { listUploadedFiles } from '../support/upload-requests.ts'
import { startLoadGenerator } from './load-generator.ts'
import { createInstallation, type Installation } from './server-process.ts'
import { createUploadForm, hashLargeFile, type LargeUpload, sendLargeFile } from './upload-senders.ts'

const randomMs = createRandomMs('kills under uploads')

const SENDERS = 16
const ROUNDS = atScale({ full: 2, soak: 25 })
const WITHIN_MS = 60_000
const KIB = 1024

setDefaultTimeout(600_000)
const closeLater = closeAfterAll()

/** Small files are nearly always between file and row; large ones are in the middle of their body. */
const toUpload = (marker: string, number: number): LargeUpload => ({
  marker,
  bytes: number % 4 === 0 ? 3_000 * KIB : 20 * KIB,
})

async function listRows(installation: Installation) {
  const db = await openDatabase(installation)
  const rows = await db.read
    .selectFrom('submission_files')
    .select(['name', 'key', 'sha256', 'bytes'])
    .execute()
  const { bytes, files } = await db.read
    .selectFrom('upload_totals')
    .select(['bytes', 'files'])
    .executeTakeFirstOrThrow()
  await db.close()
  return { rows, bytes: Number(bytes), files: Number(files) }
}

test(`0 files are lost and 0 are left over after kill -9 at ${ROUNDS} moments between file and row and in bodies`, async () => {
  const installation = await createInstallation(1)
  closeLater(installation.end)
  const acknowledged = new Map<string, LargeUpload>()
  let form: string | undefined
  let leftBehind = 0
  for (let round = 0; round < ROUNDS; round++) {
    const server = await installation.start(BEHIND_PROXY)
    form ??= await createUploadForm(server, installation, { maxFiles: 1, maxBytes: 4_000 * KIB })
    const key = form
    const load = startLoadGenerator(SENDERS, async (number) => {
      const upload = toUpload(`${round}-${number}`, number)
      const status = await sendLargeFile(server, key, upload)
      if (status === 200) acknowledged.set(upload.marker, upload)
      return { status, headers: new Headers(), acknowledged: status === 200 ? upload.marker : undefined }
    })
    closeLater(load.stop)
    await until('the first uploads', () => load.acknowledged.length > SENDERS, WITHIN_MS)
    await Bun.sleep(randomMs(0, 200))
    await server.kill()
    await load.stop()
    expect([...load.statuses.keys()].sort()).toEqual([0, 200])
    leftBehind += listUploadedFiles(installation.dataDir).length - (await listRows(installation)).rows.length
  }
  // The kills did hit files without rows.
  expect(leftBehind).toBeGreaterThan(0)

  const server = await installation.start(BEHIND_PROXY)
  const { rows, bytes, files } = await listRows(installation)
  const names = new Set(rows.map(({ name }) => name))
  expect([...acknowledged.keys()].filter((marker) => !names.has(marker))).toEqual([])
  for (const { name, key, sha256 } of rows) {
    const stored = readFileSync(join(installation.dataDir, 'uploads', key))
    expect(createHash('sha256').update(stored).digest('hex')).toBe(sha256)
    const sent = acknowledged.get(name)
    if (sent) expect(sha256).toBe(hashLargeFile(sent))
  }
  expect([files, bytes]).toEqual([rows.length, rows.reduce((sum, row) => sum + Number(row.bytes), 0)])
  const expected = rows.map(({ key }) => join(installation.dataDir, 'uploads', key)).sort()
  await until(
    'the files without a row to be swept',
    () => listUploadedFiles(installation.dataDir).length === expected.length,
    WITHIN_MS,
  )
  expect(listUploadedFiles(installation.dataDir).sort()).toEqual(expected)
  expect(await server.stop()).toBe(0)
})
