// Files that are sent to a form: stored, refused with an error, and nothing else left behind.

import { afterEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  BEHIND_PROXY,
  createTestForm,
  MULTIPART_TYPE,
  NAVIGATION_HEADERS,
  nextSenderAddress,
  SCRIPT_HEADERS,
} from '../../../../tests/support/form-requests.ts'
import { destroyRawClients, dialRaw } from '../../../../tests/support/raw-client.ts'
import { until } from '../../../../tests/support/until.ts'
import {
  listFileRows,
  listUploadedFiles,
  MIB,
  toSha256,
  toUploadBody,
  UPLOADS,
  uploadToForm,
} from '../../../../tests/support/upload-requests.ts'
import { onBothEngines, onSqlite, startServer } from '../../../../tests/support/world.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const PDF = '%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n'

afterEach(destroyRawClients)

onBothEngines(
  'a form with files',
  (server) => {
    test('stores each file whole, with its name, type and hash, and its name in the field', async () => {
      const form = await createTestForm(server(), { uploads: UPLOADS })
      const answer = await uploadToForm(server(), form, [
        { name: 'name', value: 'Ada' },
        { name: 'photo', file: 'me.png', bytes: PNG, type: 'text/html' },
        { name: 'cv', file: 'cv.pdf', bytes: PDF },
        { name: 'cv', file: 'letter.txt', bytes: 'Dear you, ü' },
        { name: 'nothing', file: '' },
      ])
      expect([answer.status, answer.text]).toEqual([200, '{"ok":true}'])
      expect(await form.fields()).toEqual([
        [
          ['name', 'Ada'],
          ['photo', 'me.png'],
          ['cv', 'cv.pdf, letter.txt'],
        ],
      ])
      const rows = await listFileRows(server(), form)
      expect(
        rows.map(({ field, name, type, bytes, sha256 }) => [field, name, type, Number(bytes), sha256]),
      ).toEqual([
        ['photo', 'me.png', 'image/png', PNG.length, toSha256(PNG)],
        ['cv', 'cv.pdf', 'application/pdf', Buffer.byteLength(PDF), toSha256(PDF)],
        ['cv', 'letter.txt', 'text/plain', 12, toSha256('Dear you, ü')],
      ])
      for (const { key, sha256 } of rows)
        expect(toSha256(readFileSync(join(server().dataDir, 'uploads', key)))).toBe(sha256)
      const [total] = await server().rows('upload_totals', { workspace_id: form.workspaceId })
      expect([Number(total?.files), Number(total?.bytes)]).toEqual([
        3,
        PNG.length + Buffer.byteLength(PDF) + 12,
      ])
    })

    test('calls a repetition with the same files a duplicate, and one with other bytes not', async () => {
      const form = await createTestForm(server(), { uploads: UPLOADS })
      const headers = { 'X-Forwarded-For': nextSenderAddress() }
      for (const bytes of ['one', 'one', 'two'])
        expect(
          (await uploadToForm(server(), form, [{ name: 'f', file: 'a.txt', bytes }], headers)).status,
        ).toBe(200)
      const [first, ...others] = await form.submissions()
      expect(others.map(({ duplicate_of }) => duplicate_of)).toEqual([first?.id ?? 0, null])
    })

    test('keeps nothing of a submission that is refused, whatever refuses it', async () => {
      const form = await createTestForm(server(), {
        uploads: { ...UPLOADS, maxBytes: 1000 },
        requiredFields: ['email'],
      })
      const before = listUploadedFiles(server().dataDir).length
      const file = { name: 'f', file: 'a.txt', bytes: 'text' }
      const cases: [object, object[]][] = [
        [{ ok: true }, [{ name: '_gotcha', value: 'x' }, file]],
        [{ ok: false, errors: { email: 'This field is required' } }, [file]],
        [
          { ok: false, errors: { email: 'Enter a valid email address' } },
          [{ name: 'email', value: 'x' }, file],
        ],
      ]
      for (const [expected, parts] of cases)
        expect((await uploadToForm(server(), form, parts as never)).json).toEqual(expected)
      expect(await form.submissions()).toEqual([])
      expect(listUploadedFiles(server().dataDir)).toHaveLength(before)
    })
  },
  BEHIND_PROXY,
)

onSqlite(
  'a form with files',
  (server) => {
    const send = async (settings: Partial<typeof UPLOADS>, parts: Parameters<typeof uploadToForm>[2]) => {
      const form = await createTestForm(server(), { uploads: { ...UPLOADS, ...settings } })
      return { form, answer: await uploadToForm(server(), form, parts) }
    }

    test('without an upload setting refuses a file as before', async () => {
      const form = await createTestForm(server())
      const answer = await uploadToForm(server(), form, [{ name: 'f', file: 'a.txt', bytes: 'x' }])
      expect(answer.json).toEqual({ ok: false, errors: { f: 'File uploads are not supported' } })
    })

    test('takes JSON, urlencoded bodies and multipart bodies without files', async () => {
      const form = await createTestForm(server(), { uploads: UPLOADS })
      const answers = [
        await form.fetch('a=1'),
        await form.post('application/json', '{"a":"2"}'),
        await uploadToForm(server(), form, [{ name: 'a', value: '3' }]),
      ]
      expect(answers.map(({ text }) => text)).toEqual(Array(3).fill('{"ok":true}'))
      expect(await form.fields()).toEqual([[['a', '1']], [['a', '2']], [['a', '3']]])
    })

    test('answers a form without JavaScript with 303, and mistakes with 303 back to the page', async () => {
      const form = await createTestForm(server(), { uploads: { ...UPLOADS, maxBytes: 10 } })
      const headers = { ...NAVIGATION_HEADERS, Referer: 'https://site.example/contact' }
      const good = await uploadToForm(server(), form, [{ name: 'f', file: 'a', bytes: 'short' }], headers)
      expect([good.status, good.headers.get('location')]).toEqual([303, 'https://site.example/contact'])
      const bad = await uploadToForm(
        server(),
        form,
        [{ name: 'f', file: 'a', bytes: 'x'.repeat(11) }],
        headers,
      )
      const back = new URL(bad.headers.get('location') as string)
      expect([bad.status, Object.keys(JSON.parse(back.searchParams.get('_errors') as string))]).toEqual([
        303,
        ['f'],
      ])
    })

    describe('names every mistake at its field', () => {
      test('a file that is too large by one byte, and none that is just not', async () => {
        const bytes = 'x'.repeat(1000)
        expect((await send({ maxBytes: 1000 }, [{ name: 'f', file: 'a', bytes }])).answer.status).toBe(200)
        const { answer, form } = await send({ maxBytes: 1000 }, [
          { name: 'f', file: 'a', bytes: `${bytes}x` },
          { name: 'email', value: 'no address' },
        ])
        expect(answer.status).toBe(422)
        expect(Object.keys(answer.json.errors).sort()).toEqual(['email', 'f'])
        expect(await form.submissions()).toEqual([])
      })

      test('one file too many', async () => {
        const files = ['a', 'b', 'c'].map((name) => ({ name, file: 'x.txt', bytes: 'x' }))
        expect((await send({ maxFiles: 3 }, files)).answer.status).toBe(200)
        expect((await send({ maxFiles: 2 }, files)).answer.json).toEqual({
          ok: false,
          errors: { c: 'Too many files: the maximum is 2' },
        })
      })

      test('a file of another type', async () => {
        const { answer } = await send({ accept: ['image/*'] }, [
          { name: 'f', file: 'me.png', bytes: '<script>', type: 'image/png' },
        ])
        expect(answer.json).toEqual({
          ok: false,
          errors: { f: 'This type of file is not accepted. Accepted: image/*' },
        })
      })

      test('a required file, which an empty input is not, and a file of no bytes is', async () => {
        const form = await createTestForm(server(), { uploads: UPLOADS, requiredFields: ['cv'] })
        const required = { ok: false, errors: { cv: 'This field is required' } }
        expect((await uploadToForm(server(), form, [{ name: 'cv', file: '' }])).json).toEqual(required)
        expect((await uploadToForm(server(), form, [])).json).toEqual(required)
        expect((await uploadToForm(server(), form, [{ name: 'cv', file: 'empty.txt' }])).json).toEqual({
          ok: true,
        })
        const [row] = await listFileRows(server(), form)
        expect([row?.name, Number(row?.bytes), row?.sha256]).toEqual(['empty.txt', 0, toSha256('')])
      })
    })

    test('leaves nothing of what it refuses', async () => {
      await send({ maxBytes: 10, maxFiles: 1, accept: ['.txt'] }, [
        { name: 'f', file: 'a.txt', bytes: 'x'.repeat(100_000) },
        { name: 'g', file: 'b.txt', bytes: 'y' },
      ])
      const rows = await server().rows('submission_files')
      expect(listUploadedFiles(server().dataDir)).toHaveLength(rows.length)
    })

    test.each([
      ['C:\\x\\a.txt', 'a.txt'],
      ['../../etc/passwd', 'passwd'],
      ['a%0D%0ASet-Cookie: b=c.txt', 'aSet-Cookie_ b=c.txt'],
      ['photo\u202Egnp.exe', 'photognp.exe'],
      ['nul\0byte.txt', 'nulbyte.txt'],
      ['.', 'file'],
      ['a%22b.txt', 'a_b.txt'],
      ['тест 文件.txt', 'тест 文件.txt'],
    ])('stores the name %p as %p', async (sent, stored) => {
      const { answer, form } = await send({}, [{ name: 'f', file: sent, bytes: 'x' }])
      expect(answer.status).toBe(200)
      expect((await listFileRows(server(), form)).map(({ name }) => name)).toEqual([stored])
      expect(await form.fields()).toEqual([[['f', stored]]])
    })

    test('cuts a name of 4 KB, and keeps its ending', async () => {
      const { form } = await send({}, [{ name: 'f', file: `${'ü'.repeat(2000)}.pdf`, bytes: PDF }])
      const [row] = await listFileRows(server(), form)
      expect(row?.name).toMatch(/^ü+\.pdf$/)
      expect(Buffer.byteLength(row?.name as string)).toBeWithin(250, 256)
    })

    test('takes no file of a control field or of no field, and stores the rest', async () => {
      const { answer, form } = await send({ maxFiles: 1 }, [
        { name: '_next', file: 'a', bytes: 'x' },
        { name: '', file: 'b', bytes: 'x' },
        { name: 'f', file: 'c', bytes: 'x' },
      ])
      expect(answer.json).toEqual({ ok: true })
      expect((await listFileRows(server(), form)).map(({ field }) => field)).toEqual(['f'])
    })

    test('refuses with 413 what is more than its files, and fields of more than 1 MiB', async () => {
      const form = await createTestForm(server(), { uploads: { ...UPLOADS, maxFiles: 1, maxBytes: 1000 } })
      const tooLarge = { error: 'Submission too large' }
      const file = { name: 'f', file: 'a', bytes: new Uint8Array(2 * MIB + 2000) }
      expect((await uploadToForm(server(), form, [file])).json).toEqual(tooLarge)
      const fields = Array.from({ length: 20 }, (_, i) => ({ name: `f${i}`, value: 'x'.repeat(60_000) }))
      expect((await uploadToForm(server(), form, fields)).json).toEqual(tooLarge)
      const parts = Array.from({ length: 10_001 }, () => ({ name: 'a', value: '' }))
      expect((await uploadToForm(server(), form, parts)).json).toEqual(tooLarge)
      const none = Array.from({ length: 10_001 }, () => ({ name: 'a', file: '' }))
      expect((await uploadToForm(server(), form, none)).json).toEqual(tooLarge)
    })

    test('takes a body in chunks, and refuses one that is larger than its limit', async () => {
      const form = await createTestForm(server(), { uploads: { ...UPLOADS, maxFiles: 1, maxBytes: MIB } })
      const post = async (bytes: number) => {
        const body = toUploadBody([{ name: 'f', file: 'a', bytes: new Uint8Array(bytes) }])
        const stream = new ReadableStream({
          start(controller) {
            for (let at = 0; at < body.length; at += 100_000)
              controller.enqueue(body.subarray(at, at + 100_000))
            controller.close()
          },
        })
        const headers = {
          'Content-Type': MULTIPART_TYPE,
          'X-Forwarded-For': nextSenderAddress(),
          ...SCRIPT_HEADERS,
        }
        return (await fetch(`${server().origin}/f/${form.key}`, { method: 'POST', body: stream, headers }))
          .status
      }
      expect(await post(MIB)).toBe(200)
      expect(await post(MIB + 1)).toBe(422)
      expect(await post(4 * MIB)).toBe(413)
    })

    test('leaves nothing of a body whose client goes, or that is cut off', async () => {
      const form = await createTestForm(server(), { uploads: UPLOADS })
      const before = listUploadedFiles(server().dataDir).length
      const body = toUploadBody([{ name: 'f', file: 'a', bytes: new Uint8Array(300_000) }])
      const head = `POST /f/${form.key} HTTP/1.1\r\nHost: a\r\nContent-Type: ${MULTIPART_TYPE}\r\nContent-Length: ${body.length}\r\n\r\n`
      const client = await dialRaw(Number(new URL(server().origin).port))
      client.socket.write(Buffer.concat([Buffer.from(head), body.subarray(0, 200_000)]))
      await until('the draft', () => listUploadedFiles(server().dataDir).length > before)
      client.socket.destroy()
      await until('nothing to be left', () => listUploadedFiles(server().dataDir).length === before)
      await until('its place to be free', () => server().app.forms.uploads.slots.count() === 0)
      const cut = await fetch(`${server().origin}/f/${form.key}`, {
        method: 'POST',
        body: body.subarray(0, 200_000),
        headers: {
          'Content-Type': MULTIPART_TYPE,
          'X-Forwarded-For': nextSenderAddress(),
          ...SCRIPT_HEADERS,
        },
      })
      expect([cut.status, await cut.json()]).toEqual([
        400,
        { error: 'The multipart body is cut off: its last boundary is missing' },
      ])
      expect(listUploadedFiles(server().dataDir)).toHaveLength(before)
      expect(server().app.forms.uploads.unfinished.size).toBe(0)
    })
  },
  BEHIND_PROXY,
)

test('a workspace has bounded room, and its owners see in the log and metrics that it is full', async () => {
  const server = await startServer('sqlite', {
    environment: { ...BEHIND_PROXY.environment, UPLOAD_BYTES_PER_WORKSPACE: '1 KiB' },
  })
  try {
    const form = await createTestForm(server, { uploads: UPLOADS })
    const send = (bytes: number) =>
      uploadToForm(server, form, [{ name: 'f', file: 'a', bytes: new Uint8Array(bytes) }])
    expect((await send(1000)).json).toEqual({ ok: true })
    expect((await send(25)).json).toEqual({
      ok: false,
      errors: { f: 'No files can be accepted at the moment' },
    })
    expect((await send(24)).json).toEqual({ ok: true })
    expect(listUploadedFiles(server.dataDir)).toHaveLength(2)
    const [refused] = server.app
      .readOwnMetrics()
      .filter(({ name, labels }) => name === 'towpath_storage_refused_total' && labels?.what === 'uploads')
    expect(refused?.value).toBe(1)
  } finally {
    await server.close()
  }
})
