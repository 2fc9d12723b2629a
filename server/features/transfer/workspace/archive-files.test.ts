// A workspace with files leaves one server and comes back on another: files, forms and submissions are the same.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { undoImport, uploadAndRun } from '../../../../tests/support/imports/upload-client.ts'
import { exportWorkspace } from '../../../../tests/support/imports/workspace-file.ts'
import { quick } from '../../../../tests/support/suite.ts'
import { listFileRows, listUploadedFiles, uploadToForm } from '../../../../tests/support/upload-requests.ts'
import { startServer, type TestServer, type TestWorkspace } from '../../../../tests/support/world.ts'

setDefaultTimeout(120_000)

const SETTINGS = {
  name: 'Jobs',
  uploads: { maxFiles: 3, maxBytes: 1_000_000, accept: [] },
  spam: { words: ['casino'], emails: [], domains: [], maxLinks: 3, learn: false },
  perAddress: 120,
  spamRetentionDays: 12,
  rules: { phone: { type: 'tel' } },
  messages: { de: { 'phone.tel': 'Bitte eine Nummer' } },
  retentionDays: 400,
}
const LARGE = Buffer.alloc(300_000, 7)

let from: TestServer
let to: TestServer
let home: TestWorkspace
let away: TestWorkspace
const directory = mkdtempSync(join(tmpdir(), 'towpath-archive-files-'))
const path = join(directory, 'workspace.zip')
// biome-ignore lint/suspicious/noExplicitAny: answers of the API
type Any = any

beforeAll(async () => {
  from = await startServer('sqlite')
  to = await startServer('sqlite')
  home = await from.createWorkspace()
  away = await to.createWorkspace()
  const created = await home.post('/forms', SETTINGS)
  expect([created.status, created.text]).toEqual([201, expect.anything()])
  const form = { key: created.json.data.formKey }
  for (const [name, bytes] of [
    ['a.txt', 'first'],
    ['large.bin', LARGE],
  ] as const) {
    const parts = [
      { name: 'email', value: 'ada@example.com' },
      { name: 'file', file: name, bytes },
      { name: 'more', file: 'more.txt', bytes: `beside ${name}` },
    ]
    expect((await uploadToForm(from, form, parts, { 'Sec-GPC': '1' })).status).toBe(200)
  }
  const spam = [{ name: 'message', value: 'casino casino' }]
  expect((await uploadToForm(from, form, spam, { 'Sec-GPC': '1' })).status).toBe(200)
  await exportWorkspace(from, home, path)
})
afterAll(async () => {
  await from?.close()
  await to?.close()
  rmSync(directory, { recursive: true, force: true })
})

const listSubmissions = async (ws: TestWorkspace): Promise<Any[]> => (await ws.api('/submissions')).json.data
const listForms = async (ws: TestWorkspace): Promise<Any[]> => (await ws.api('/forms')).json.data
const toComparable = ({ id: _, files, attribution: _a, createdAt: _c, ...rest }: Any) => ({
  ...rest,
  files: files.map(({ id: _i, ...file }: Any) => file),
})
const toTarget = (server: TestServer, { key }: TestWorkspace) => ({ origin: server.origin, key })
const importFile = async (file: string) =>
  uploadAndRun(toTarget(to, away), {
    fields: { source: 'towpath' },
    file: new File([await readFile(file)], 'workspace.zip'),
  })

quick('files, reasons and settings come along, and go with an undo', async () => {
  const done = await importFile(path)
  expect([done.status, done.failed, done.errors]).toEqual(['done', 0, []])
  expect((await listSubmissions(away)).map(toComparable)).toEqual(
    (await listSubmissions(home)).map(toComparable),
  )
  const [form] = await listForms(away)
  expect(form).toMatchObject(SETTINGS)
  for (const { files } of await listSubmissions(away))
    for (const { id, sha256 } of files) {
      const got = await fetch(`${to.origin}/v1/files/${id}`, {
        headers: { Authorization: `Bearer ${away.key}` },
      })
      expect(
        createHash('sha256')
          .update(await got.bytes())
          .digest('hex'),
      ).toBe(sha256)
    }
  const again = await importFile(path)
  expect(again.created).toBe(0)
  expect(listUploadedFiles(to.dataDir)).toHaveLength(4)
  await undoImport(toTarget(to, away), done.id)
  expect(await listFileRows(to, { workspaceId: away.id })).toEqual([])
  await to.app.fileLinks.uploads.erase()
  expect(listUploadedFiles(to.dataDir)).toEqual([])
})

test('a file that was changed in the zip is left out, and the row says so', async () => {
  const bytes = await readFile(path)
  const at = bytes.indexOf('first')
  expect(at).toBeGreaterThan(0)
  bytes.write('FIRST', at)
  const changed = join(directory, 'changed.zip')
  await writeFile(changed, bytes)
  const done = await importFile(changed)
  expect(done.status).toBe('done')
  const rows = (await away.api(`/imports/${done.id}/rows`)).text
  expect(rows).toContain('1 of its 2 files are not in the export, or are damaged.')
  expect((await listSubmissions(away)).flatMap(({ files }) => files)).toHaveLength(3)
})
