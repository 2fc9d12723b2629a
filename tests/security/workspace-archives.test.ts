// Workspace exports that a stranger has written: bounds on unpacking, and no takeover of forms.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { newFormKey } from '../../server/features/forms/settings/form-key.ts'
import { HIT_DIMENSIONS } from '../../server/storage/hits/hit.ts'
import {
  packArchive,
  toFileRecord,
  toFormRecord,
  toLinkRecord,
  toPackedPath,
  toSubmissionRecord,
} from '../support/imports/pack-archive.ts'
import {
  call,
  type ImportAnswer,
  readImport,
  sendImport,
  uploadAndRun,
  waitForEnd,
} from '../support/imports/upload-client.ts'
import { until } from '../support/until.ts'
import { listUploadedFiles } from '../support/upload-requests.ts'
import { startServer, type TestServer, type TestWorkspace } from '../support/world.ts'

setDefaultTimeout(120_000)

const KIB = 1024
const FORM = 'abcdefgh23'

let server: TestServer
beforeAll(async () => {
  server = await startServer('sqlite', { environment: { UPLOAD_BYTES_PER_WORKSPACE: String(4 * KIB * KIB) } })
}, 120_000)
afterAll(() => server?.close())

const toTarget = ({ key }: TestWorkspace) => ({ origin: server.origin, key })
const toUpload = (zip: Buffer) => ({
  fields: { source: 'towpath' },
  file: new File([new Uint8Array(zip)], 'workspace.zip'),
})
const importZip = (ws: TestWorkspace, zip: Buffer): Promise<ImportAnswer> =>
  uploadAndRun(toTarget(ws), toUpload(zip))
const countSubmissions = async (ws: TestWorkspace) => (await ws.api('/submissions')).json.data.length

/** A form, and submissions with the files. */
const packFiles = (
  files: Record<string, Buffer>,
  submissions: { files: object[] }[],
  formKey = FORM,
): Promise<Buffer> =>
  packArchive(
    {
      'forms.ndjson': [toFormRecord(formKey)],
      'submissions.ndjson': submissions.map((changes, i) => toSubmissionRecord(i + 1, formKey, changes)),
    },
    files,
  )

describe('a zip of a workspace unpacks', () => {
  test('each packed file once, however many records name it', async () => {
    const ws = await server.createWorkspace()
    const path = toPackedPath(1)
    const file = Buffer.alloc(256 * KIB, 1)
    const record = { files: [toFileRecord(path, file)] }
    const before = listUploadedFiles(server.dataDir).length
    const done = await importZip(ws, await packFiles({ [path]: file }, Array(30).fill(record)))
    expect([done.status, done.created, done.failed]).toEqual(['done', 2, 29])
    expect(done.errors[0]).toMatchObject({
      row: 2,
      field: 'files',
      message: expect.stringContaining('named before'),
    })
    expect(listUploadedFiles(server.dataDir).length - before).toBe(1)
  })

  test('no file whose record has another size', async () => {
    const ws = await server.createWorkspace()
    const [one, two] = [toPackedPath(1), toPackedPath(2)]
    const file = Buffer.alloc(KIB, 1)
    const zip = await packFiles({ [one]: file, [two]: file }, [
      { files: [toFileRecord(one, file, { bytes: 1 })] },
      { files: [toFileRecord(two, file)] },
    ])
    const done = await importZip(ws, zip)
    expect([done.status, done.created, done.errors]).toEqual([
      'done',
      2,
      [{ row: 1, field: 'files', value: null, message: expect.stringContaining('1024') }],
    ])
  })

  test('nothing where its files together do not fit into the workspace', async () => {
    const ws = await server.createWorkspace()
    const before = listUploadedFiles(server.dataDir).length
    const files = Array.from({ length: 5 }, (_, i) => [toPackedPath(i), randomBytes(KIB * KIB)] as const)
    const submissions = files.map(([path, file]) => ({ files: [toFileRecord(path, file)] }))
    const done = await importZip(ws, await packFiles(Object.fromEntries(files), submissions))
    expect([done.status, done.problem]).toEqual([
      'failed',
      expect.stringMatching(/5 MB.*no room.*Nothing is imported/),
    ])
    expect((await ws.api('/forms')).json.data).toEqual([])
    expect(listUploadedFiles(server.dataDir).length).toBe(before)
  })

  test('no more than the room that is left, and the rows say so', async () => {
    const ws = await server.createWorkspace()
    const pack = (from: number, count: number) => {
      const files = Array.from(
        { length: count },
        (_, i) => [toPackedPath(from + i), Buffer.alloc(KIB * KIB, 7)] as const,
      )
      return packFiles(
        Object.fromEntries(files),
        files.map(([path, file]) => ({ files: [toFileRecord(path, file)] })),
      )
    }
    expect(await importZip(ws, await pack(0, 2))).toMatchObject({ status: 'done', created: 3 })
    // A later export of the same workspace: two submissions are here, and there is room for two more.
    const done = await importZip(ws, await pack(0, 6))
    expect([done.status, done.created, done.skipped, done.failed]).toEqual(['done', 2, 3, 2])
    expect(done.errors.map(({ field, message }) => [field, message])).toEqual(
      Array(2).fill(['files', expect.stringContaining('no room')]),
    )
  })

  test('no entries that share their packed bytes', async () => {
    const ws = await server.createWorkspace()
    const path = toPackedPath(0)
    const file = Buffer.alloc(1024 * KIB, 1)
    const zip = shareEntry(await packFiles({ [path]: file }, [{ files: [] }]), path, 99)
    const done = await importZip(ws, zip)
    expect([done.status, done.problem]).toEqual(['failed', expect.stringContaining('200 times')])
  })

  test('nothing more once its import is canceled', async () => {
    const ws = await server.createWorkspace()
    const { store } = server.app.fileLinks.uploads
    const files = Array.from({ length: 20 }, (_, i) => [toPackedPath(i), Buffer.from(`file ${i}`)] as const)
    const submissions = files.map(([path, file]) => ({ files: [toFileRecord(path, file)] }))
    const zip = await packFiles(Object.fromEntries(files), submissions)
    const before = listUploadedFiles(server.dataDir).length
    const create = store.create
    let created = 0
    store.create = async () => {
      if (++created === 2) await cancel()
      return create.call(store)
    }
    const begun = Promise.withResolvers<number>()
    const cancel = async () => {
      const id = await begun.promise
      void call(toTarget(ws), `/imports/${id}`, { method: 'DELETE' })
      await until('the import to be canceled', async () => {
        const { stage, status } = await readImport(toTarget(ws), id)
        return stage === 'undo' || status === 'undone'
      })
    }
    try {
      const { status, json } = await sendImport(toTarget(ws), toUpload(zip))
      expect(status).toBe(202)
      begun.resolve(json.data.id)
      expect(await waitForEnd(toTarget(ws), json.data.id)).toMatchObject({ status: 'undone' })
    } finally {
      store.create = create
    }
    // The one that was begun, and none after it.
    expect(created).toBe(2)
    expect(listUploadedFiles(server.dataDir).length).toBe(before)
    expect(await countSubmissions(ws)).toBe(0)
  })
})

test('a link of a zip takes no slug that is in the trash of another workspace', async () => {
  const [ws, other] = [await server.createWorkspace(), await server.createWorkspace()]
  const { id } = await ws.createLink({ slug: 'printed' })
  await ws.api(`/links/${id}`, { method: 'DELETE' })
  const deletedAt = new Date(server.now()).toISOString()
  const records = [toLinkRecord(1, 'printed'), toLinkRecord(2, 'printed', { deletedAt })]
  const done = await importZip(other, await packArchive({ 'links.ndjson': records }))
  expect([done.status, done.created, done.skipped]).toEqual(['done', 0, 2])
})

describe('a record of a zip fails at its row', () => {
  const AT = '2026-01-01T00:00:00.000Z'
  const channel = { id: 1, type: 'webhook', name: 'Hook', to: [], url: null, chatId: null, enabled: true }

  test('with a time that no calendar of ours has, and analytics of all time go on', async () => {
    const times = [
      '0000-01-01T00:00:00.000Z',
      '1969-12-31T23:59:59.999Z',
      '2201-01-01T00:00:00.000Z',
      '9999-12-31T00:00:00.000Z',
    ]
    const ws = await server.createWorkspace()
    const formKey = newFormKey()
    const utm = { utmSource: null, utmMedium: null, utmCampaign: null, utmTerm: null, utmContent: null }
    const touch = { kind: 'click', linkId: null, clickId: null, referrer: null, landingUrl: null, ...utm }
    const hit = {
      ...Object.fromEntries(HIT_DIMENSIONS.map((name) => [name, null])),
      linkId: 0,
      outcome: 'redirect',
      class: 'human',
      trigger: 'link',
      visitor: '1',
      unknownSlug: null,
    }
    const done = await importZip(
      ws,
      await packArchive({
        'tags.ndjson': times.map((time, n) => ({ name: `old ${n}`, color: 'gray', createdAt: time })),
        'channels.ndjson': times.map((time, n) => ({
          ...channel,
          id: n + 1,
          createdAt: time,
          updatedAt: time,
        })),
        'forms.ndjson': [
          toFormRecord(formKey),
          ...times.map((time) => toFormRecord(newFormKey(), { createdAt: time, updatedAt: time })),
        ],
        'links.ndjson': times.flatMap((time, n) => [
          toLinkRecord(2 * n + 1, `times-${n}`, { createdAt: time }),
          toLinkRecord(2 * n + 2, `clicked-${n}`, { lastClickedAt: time }),
        ]),
        'submissions.ndjson': times.flatMap((time, n) => [
          toSubmissionRecord(3 * n + 1, formKey, { createdAt: time }),
          toSubmissionRecord(3 * n + 2, formKey, {
            consent: { field: 'terms', text: 'Yes', at: Date.parse(time) },
          }),
          toSubmissionRecord(3 * n + 3, formKey, { touches: [{ ...touch, at: time }] }),
        ]),
        'hits.ndjson': times.map((time) => ({ ...hit, at: Date.parse(time) })),
      }),
    )
    expect([done.status, done.created, done.clicks]).toEqual(['done', 1, 0])
    expect(done.failed).toBe(8 * times.length)
    expect(done.errors.length).toBeGreaterThan(7)
    const others = done.errors.filter(({ message }) => !message.includes('from 1970 to 2200'))
    expect(new Set(others.map(({ message }) => message))).toEqual(
      new Set(['This is not a hit of an export.']),
    )
    for (const path of ['/analytics/clicks?interval=all', '/analytics/leads?interval=all', '/submissions'])
      expect([path, (await ws.api(path)).status]).toEqual([path, 200])
  })

  test('and a manifest with such a time is none', async () => {
    const ws = await server.createWorkspace()
    const workspace = { publicId: 'abc', name: 'Test', createdAt: '0000-01-01T00:00:00.000Z' }
    const done = await importZip(ws, await packArchive({ 'tags.ndjson': [] }, {}, { workspace }))
    expect([done.status, done.problem]).toEqual(['failed', expect.stringContaining('manifest.json')])
    expect((await ws.api('/analytics/clicks?interval=all')).status).toBe(200)
  })

  test('where a form has what the API refuses', async () => {
    const bad = {
      'rules.phone.pattern': { rules: { phone: { pattern: '(' } } },
      'rules.size.oneOf.0': { rules: { size: { maxLength: 1, oneOf: ['XL'] } } },
      'spam.words': { spam: { words: Array(501).fill('casino') } },
      perAddress: { perAddress: 601 },
      nextHosts: { nextHosts: Array(51).fill('example.com') },
      redirectUrl: { redirectUrl: 'javascript:alert(1)' },
    }
    const ws = await server.createWorkspace()
    const records = Object.values(bad).map((changes) => toFormRecord(newFormKey(), changes))
    const done = await importZip(ws, await packArchive({ 'forms.ndjson': records }))
    expect([done.status, done.created, done.errors.map(({ field }) => field)]).toEqual([
      'done',
      0,
      Object.keys(bad),
    ])
  })

  test('where a channel has what the API refuses, and channels are listed as before', async () => {
    const bad: [changes: object, field: string][] = [
      [{ url: '/…' }, 'url'],
      [{ url: 'javascript:alert(1)' }, 'url'],
      [{ type: 'telegram', chatId: 'x'.repeat(101) }, 'chatId'],
      [{ type: 'email', to: ['nobody'] }, 'to.0'],
    ]
    const ws = await server.createWorkspace()
    const records = bad.map(([changes], n) => ({
      ...channel,
      id: n + 1,
      createdAt: AT,
      updatedAt: AT,
      ...changes,
    }))
    const done = await importZip(ws, await packArchive({ 'channels.ndjson': records }))
    expect([done.status, done.created, done.errors.map(({ field }) => field)]).toEqual([
      'done',
      0,
      bad.map(([, field]) => field),
    ])
    expect((await ws.api('/channels')).status).toBe(200)
  })

  test('where a submission has more than the endpoint takes', async () => {
    const ws = await server.createWorkspace()
    const formKey = newFormKey()
    const large = Array.from({ length: 17 }, (_, i) => [`f${i}`, 'x'.repeat(65_536)])
    const records = [
      toSubmissionRecord(1, formKey, { fields: large }),
      toSubmissionRecord(2, formKey, { email: 'nobody' }),
      // 65,536 characters of two units each.
      toSubmissionRecord(3, formKey, { fields: [['message', '😀'.repeat(65_536)]] }),
    ]
    const done = await importZip(
      ws,
      await packArchive({ 'forms.ndjson': [toFormRecord(formKey)], 'submissions.ndjson': records }),
    )
    expect([done.created, done.errors.map(({ row, field }) => [row, field])]).toEqual([
      2,
      [
        [1, 'fields'],
        [2, 'email'],
      ],
    ])
  })
})

/** Repeats the directory's entry of a packed file under other names: all of them unpack the same bytes. */
function shareEntry(zip: Buffer, path: string, times: number): Buffer {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'))
  const at = zip.readUInt32LE(end + 16)
  const directory = zip.subarray(at, end)
  const name = `files/${path}`
  const from = directory.lastIndexOf(Buffer.from('PK\x01\x02', 'latin1'), directory.indexOf(name))
  const next = directory.indexOf(Buffer.from('PK\x01\x02', 'latin1'), from + 4)
  const entry = directory.subarray(from, next === -1 ? undefined : next).toString('latin1')
  const copies = Array.from({ length: times }, (_, i) =>
    entry.replace(name, `files/${toPackedPath(i + 1)}`),
  ).join('')
  const whole = Buffer.concat([zip.subarray(0, end), Buffer.from(copies, 'latin1'), zip.subarray(end)])
  const newEnd = end + copies.length
  const count = zip.readUInt16LE(end + 8) + times
  whole.writeUInt16LE(count, newEnd + 8)
  whole.writeUInt16LE(count, newEnd + 10)
  whole.writeUInt32LE(directory.length + copies.length, newEnd + 12)
  return whole
}
