// Uploaded files in backups: those that the rows of the backup name, shared between backups, and none that is erased.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestForm, type TestForm } from '../../../tests/support/form-requests.ts'
import {
  listFileRows,
  listUploadedFiles,
  toSha256,
  UPLOADS,
  uploadToForm,
} from '../../../tests/support/upload-requests.ts'
import { startServer, type TestServer } from '../../../tests/support/world.ts'
import { requireOwnFormats } from '../../start/open-rows.ts'
import { backUp } from './back-up.ts'
import { restore } from './restore.ts'

setDefaultTimeout(60_000)

let server: TestServer
let form: TestForm
let home: string
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'towpath-backup-uploads-'))
  server = await startServer('sqlite')
  form = await createTestForm(server, { uploads: UPLOADS })
})
afterAll(async () => {
  await server?.close()
  rmSync(home, { recursive: true, force: true })
})

const send = async (text: string) => {
  const answer = await uploadToForm(server, form, [{ name: 'a', file: 'a.txt', bytes: text }])
  expect(answer.status).toBe(200)
}
const run = { now: () => server.now(), version: '1.0.0', secret: 's'.repeat(40), progress() {} }
const takeBackup = (name: string, since?: string) =>
  backUp(
    { ...run, dataDir: server.dataDir, signal: new AbortController().signal },
    join(home, name),
    since && join(home, since),
  )

test('a backup has every file of its rows, shares them with the next one, and that one has no erased file', async () => {
  await send('one')
  await send('two')
  const [one, two] = await listFileRows(server, form)
  await takeBackup('first')
  const inFirst = listUploadedFiles(join(home, 'first', 'data'))
  expect(inFirst).toHaveLength(2)

  await server.app.db.write((connection) =>
    connection
      .deleteFrom('submissions')
      .where('id', '=', one?.submission_id ?? 0)
      .execute(),
  )
  await server.app.fileLinks.uploads.erase()
  expect(listUploadedFiles(server.dataDir)).toHaveLength(1)
  await send('three')
  await takeBackup('second', 'first')
  const path = (name: string, key = '') => join(home, name, 'data', 'uploads', key)
  expect(listUploadedFiles(join(home, 'second', 'data'))).toHaveLength(2)
  expect(existsSync(path('second', one?.key))).toBe(false)
  expect(statSync(path('second', two?.key)).ino).toBe(statSync(path('first', two?.key)).ino)

  const dataDir = join(home, 'restored')
  const needs = { ...run, dataDir, signal: new AbortController().signal, requireOwnFormats }
  await restore(needs, join(home, 'second'))
  for (const { key, sha256 } of await listFileRows(server, form))
    expect(toSha256(readFileSync(join(dataDir, 'uploads', key)))).toBe(sha256)
})

test('neither a draft nor a file without a row is in a backup', async () => {
  const orphan = await server.app.fileLinks.uploads.store.create()
  await orphan.commit()
  const draft = await server.app.fileLinks.uploads.store.create()
  await draft.write(new TextEncoder().encode('half'))
  await takeBackup('third')
  const rows = await listFileRows(server, form)
  expect(listUploadedFiles(join(home, 'third', 'data'))).toHaveLength(rows.length)
  await draft.discard()
  await orphan.discard()
})
