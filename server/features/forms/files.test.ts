// Files of submissions behind the API and behind links: who gets them, how they are sent, and when they are gone.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type BucketServer, startBucketServer } from '../../../tests/support/processes/bucket-server.ts'
import { readZip } from '../../../tests/support/readers/read-zip.ts'
import { addVerifiedDomain, callHost } from '../../../tests/support/server/verified-domain.ts'
import { until } from '../../../tests/support/until.ts'
import {
  listFileRows,
  listUploadedFiles,
  toSha256,
  type UploadPart,
  uploadToForm,
} from '../../../tests/support/upload-requests.ts'
import {
  onBothEngines,
  onSqlite,
  startServer,
  type TestServer,
  type TestWorkspace,
} from '../../../tests/support/world.ts'
import { DAY_MS } from '../../lib/utc-day.ts'

const PDF = '%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n'
const FILES: UploadPart[] = [
  { name: 'name', value: 'Ada' },
  { name: 'cv', file: 'cv.pdf', bytes: PDF },
  { name: 'cv', file: 'CV.pdf', bytes: `${PDF}2` },
  { name: 'note', file: 'ü "note".txt', bytes: 'Dear you, ü' },
]

interface SentForm {
  team: TestWorkspace
  formKey: string
  // biome-ignore lint/suspicious/noExplicitAny: the answer of the API
  submission: any
}

/** A workspace, its form, and a submission with files. */
async function sendFiles(
  server: TestServer,
  parts = FILES,
  team?: TestWorkspace,
  accept: string[] = [],
): Promise<SentForm> {
  const owner = team ?? (await server.createWorkspace())
  const body = { name: 'Jobs', uploads: { accept } }
  const { formKey } = (await owner.post('/forms', body)).json.data
  // Nothing has to decide which link brought it.
  const sent = await uploadToForm(server, { key: formKey }, parts, { 'Sec-GPC': '1' })
  expect(sent.status).toBe(200)
  const [submission] = (await owner.api(`/forms/${formKey}/submissions`)).json.data
  return { team: owner, formKey, submission }
}

const getBytes = async (server: TestServer, path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(server.origin + path, { headers })
  return { status: response.status, headers: response.headers, bytes: await response.bytes() }
}

const asKey = ({ key }: TestWorkspace) => ({ Authorization: `Bearer ${key}` })

const isErased = (server: TestServer, before: number) =>
  until('the files are erased', () => listUploadedFiles(server.dataDir).length <= before)

onBothEngines('files of a submission', (server, engine) => {
  test('stand in the submission, in lists and in exports', async () => {
    const { team, formKey, submission } = await sendFiles(server())
    expect(submission.files).toMatchObject([
      {
        field: 'cv',
        name: 'cv.pdf',
        type: 'application/pdf',
        bytes: Buffer.byteLength(PDF),
        sha256: toSha256(PDF),
      },
      { field: 'cv', name: 'CV.pdf' },
      { field: 'note', name: 'ü _note_.txt', type: 'text/plain' },
    ])
    expect((await team.api(`/submissions/${submission.id}`)).json.data.files).toEqual(submission.files)
    expect((await team.api('/submissions')).json.data[0].files).toEqual(submission.files)
    const ndjson = (await team.api(`/forms/${formKey}/submissions/export?format=ndjson`)).text
    expect(JSON.parse(ndjson).files).toEqual(submission.files)
    const csv = (await team.api(`/forms/${formKey}/submissions/export?format=csv`)).text.split('\r\n')
    expect(csv[0]?.split(',')).toContain('files')
    expect(csv[1]).toContain('"cv.pdf, CV.pdf, ü _note_.txt"')
  })

  test('are gone with their submission, on every way', async () => {
    const before = listUploadedFiles(server().dataDir).length
    const { team, submission } = await sendFiles(server())
    const others = [await sendFiles(server(), FILES, team), await sendFiles(server(), FILES, team)]
    const totals = () => server().row('upload_totals', { workspace_id: team.id })
    expect(Number((await totals()).files)).toBe(9)
    const deleted = await team.delete(`/submissions/${submission.id}`)
    expect(deleted.json.data.files).toHaveLength(3)
    await team.delete(`/submissions/bulk?ids=${others[0]?.submission.id}`)
    await team.delete(`/forms/${others[1]?.formKey}`)
    expect(await listFileRows(server(), { workspaceId: team.id })).toEqual([])
    for (const { id } of submission.files) expect((await team.api(`/files/${id}`)).status).toBe(404)
    // The job runs every five seconds.
    if (engine === 'postgres') await server().app.fileLinks.uploads.erase()
    await isErased(server(), before)
    await until('no key waits', async () => {
      const waiting = await server().rows('erased_files')
      return waiting.length === 0
    })
    const after = await totals()
    expect([Number(after.files), Number(after.bytes)]).toEqual([0, 0])
  }, 60_000)
})

onSqlite('a file', (server) => {
  test('is a download that no browser shows or runs under our address', async () => {
    const { team, submission } = await sendFiles(server(), [
      { name: 'cv', file: 'cv.pdf', bytes: PDF },
      { name: 'page', file: `ü 'x'; y.html`, bytes: '<!doctype html><script>alert(1)</script>' },
      { name: 'image', file: 'x.svg', bytes: '<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>' },
      { name: 'xml', file: 'x.xml', bytes: '<?xml version="1.0"?><?xml-stylesheet href="x"?><a/>' },
    ])
    const types: (string | null)[] = []
    for (const { id, bytes, sha256 } of submission.files) {
      const got = await getBytes(server(), `/v1/files/${id}`, asKey(team))
      expect([got.status, toSha256(got.bytes)]).toEqual([200, sha256])
      expect(got.headers.get('content-disposition')).toStartWith('attachment; filename="')
      expect(got.headers.get('x-content-type-options')).toBe('nosniff')
      expect(got.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
      expect(got.headers.get('cache-control')).toContain('no-store')
      expect(got.headers.get('cross-origin-resource-policy')).toBe('same-origin')
      types.push(got.headers.get('content-type'))
      const head = await fetch(`${server().origin}/v1/files/${id}`, { method: 'HEAD', headers: asKey(team) })
      expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes)])
    }
    expect(types[0]).toBe('application/pdf')
    for (const type of types) expect(type).not.toMatch(/html|svg|xml/)
    const named = await getBytes(server(), `/v1/files/${submission.files[1].id}`, asKey(team))
    expect(named.headers.get('content-disposition')).toBe(
      `attachment; filename="_ 'x'; y.html"; filename*=UTF-8''%C3%BC%20%27x%27%3B%20y.html`,
    )
  })

  test('can be read in parts', async () => {
    const { team, submission } = await sendFiles(server(), [
      { name: 'a', file: 'a.txt', bytes: '0123456789' },
    ])
    const path = `/v1/files/${submission.files[0].id}`
    const read = async (range: string, more = {}) => {
      const { status, headers, bytes } = await getBytes(server(), path, { ...asKey(team), range, ...more })
      return [status, new TextDecoder().decode(bytes), headers.get('content-range')]
    }
    expect(await read('bytes=2-4')).toEqual([206, '234', 'bytes 2-4/10'])
    expect(await read('bytes=7-')).toEqual([206, '789', 'bytes 7-9/10'])
    expect(await read('bytes=-2')).toEqual([206, '89', 'bytes 8-9/10'])
    expect(await read('bytes=5-99')).toEqual([206, '56789', 'bytes 5-9/10'])
    expect(await read('bytes=10-')).toEqual([416, '', 'bytes */10'])
    for (const odd of ['bytes=5-2', 'bytes=0-1,3-4', 'bytes=-', 'lines=1-2', 'bytes=a-b'])
      expect(await read(odd)).toEqual([200, '0123456789', null])
    expect(await read('bytes=2-4', { 'if-range': '"another"' })).toEqual([200, '0123456789', null])
    const etag = `"${submission.files[0].sha256}"`
    expect(await read('bytes=2-4', { 'if-range': etag })).toEqual([206, '234', 'bytes 2-4/10'])
  })

  test('is not sent where the directory has lost it, and says so in the log only', async () => {
    const { team, submission } = await sendFiles(server())
    const [row] = await listFileRows(server(), { workspaceId: team.id })
    rmSync(join(server().dataDir, 'uploads', row?.key ?? ''))
    const lost = await team.api(`/files/${submission.files[0].id}`)
    expect([lost.status, lost.json]).toEqual([404, { error: 'File not found' }])
  })

  test('is one as people have it, and a text in any encoding has a preview', async () => {
    const files: [string, Uint8Array | string, string | null][] = [
      ['a.csv', Buffer.from('Stra\xdfe;1', 'latin1'), 'Straße;1'],
      ['b.csv', Buffer.from('\ufeffZoë\t1', 'utf16le'), 'Zoë\t1'],
      ['c.txt', 'BMW', 'BMW'],
      ['d.pdf', '\x1b%-12345X\n%PDF-1.4\n1 0 obj\n', null],
      ['e.docx', Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600)]), null],
    ]
    const parts = files.map(([file, bytes]) => ({ name: 'f', file, bytes }))
    const { team, submission } = await sendFiles(server(), parts, undefined, [
      '.csv',
      '.txt',
      '.pdf',
      '.docx',
    ])
    for (const [at, [, , text]] of files.entries()) {
      const preview = await team.api(`/files/${submission.files[at].id}/preview`)
      expect(preview.json.data.text).toBe(text)
    }
  })

  test('has a preview where it is a text', async () => {
    const { team, submission } = await sendFiles(server(), [
      { name: 'a', file: 'a.txt', bytes: 'short <b>ü</b>' },
      { name: 'b', file: 'b.txt', bytes: `${'x'.repeat(64 * 1024 - 1)}üü` },
      { name: 'c', file: 'c.pdf', bytes: PDF },
    ])
    const previews = await Promise.all(
      submission.files.map(
        async ({ id }: { id: number }) => (await team.api(`/files/${id}/preview`)).json.data,
      ),
    )
    expect(previews).toEqual([
      { kind: 'text', text: 'short <b>ü</b>', truncated: false },
      { kind: 'text', text: 'x'.repeat(64 * 1024 - 1), truncated: true },
      { kind: 'none', text: null, truncated: false },
    ])
  })
})

onSqlite('the zip of all files', (server) => {
  test('has each file whole, under a name of its own', async () => {
    const { team, submission } = await sendFiles(server())
    const got = await getBytes(server(), `/v1/submissions/${submission.id}/files`, asKey(team))
    expect(got.status).toBe(200)
    expect(got.headers.get('content-type')).toBe('application/zip')
    const head = await fetch(`${server().origin}/v1/submissions/${submission.id}/files`, {
      method: 'HEAD',
      headers: asKey(team),
    })
    expect(head.headers.get('content-length')).toBe(String(got.bytes.length))
    const path = join(server().dataDir, 'all.zip')
    await Bun.write(path, got.bytes)
    const entries = await readZip(path)
    expect([...entries].map(([name, bytes]) => [name, toSha256(bytes)])).toEqual([
      ['cv.pdf', toSha256(PDF)],
      ['CV (2).pdf', toSha256(`${PDF}2`)],
      ['ü _note_.txt', toSha256('Dear you, ü')],
    ])
  })
})

onSqlite('a link to a file', (server) => {
  const linkOf = async ({ team }: SentForm, now = server().now()) => {
    const [row] = await listFileRows(server(), { workspaceId: team.id })
    const url = server().app.fileLinks.uploads.links.toUrl(row?.key ?? '', now)
    return url.slice(server().origin.length)
  }

  test('opens the file without a key, as a download', async () => {
    const sent = await sendFiles(server())
    const got = await getBytes(server(), await linkOf(sent))
    expect([got.status, toSha256(got.bytes)]).toEqual([200, toSha256(PDF)])
    expect(got.headers.get('content-disposition')).toStartWith('attachment;')
    expect(got.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
    expect(got.headers.get('cache-control')).toBe('private, no-store')
    expect((await server().post(await linkOf(sent), '')).status).toBe(405)
  })

  test('is refused with a small page where it is forged, expired, or its file is gone', async () => {
    const sent = await sendFiles(server())
    const good = await linkOf(sent)
    const forged = [
      good.slice(0, -1) + (good.endsWith('A') ? 'B' : 'A'),
      good.replace(/\.[0-9a-z]+\./, '.zzzzzzzz.'),
      `${good}x`,
      '/f/files/',
      '/f/files/x',
      '/f/files/..%2f..%2fsecret',
    ]
    for (const path of forged) {
      const { status, text, headers } = await server().call(path, { headers: { Accept: 'text/html' } })
      expect([path, status]).toEqual([path, 404])
      expect(text).toContain('<h1>File not found</h1>')
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    }
    const expired = await server().call(await linkOf(sent, server().now() - 8 * DAY_MS))
    expect([expired.status, expired.text]).toEqual([410, expect.stringContaining('This link has expired')])
    expect((await server().call(await linkOf(sent, server().now() - 6.9 * DAY_MS))).status).toBe(200)
    await sent.team.delete(`/submissions/${sent.submission.id}`)
    const gone = await server().call(good)
    expect([gone.status, gone.text]).toEqual([410, expect.stringContaining('This file was deleted')])
  })

  test('does not work on the domain of a workspace, nor while the operator has suspended the workspace', async () => {
    const sent = await sendFiles(server())
    const path = await linkOf(sent)
    await addVerifiedDomain(server(), sent.team.id, 'files.example')
    expect((await callHost(server(), 'files.example', path)).status).toBe(404)
    const suspend = (suspended_at: number | null) =>
      server().update('workspaces', { id: sent.team.id }, { suspended_at })
    await suspend(1)
    expect((await server().call(path)).status).toBe(404)
    await suspend(null)
    expect((await server().call(path)).status).toBe(200)
  })
})

describe('a server with a bucket', () => {
  let bucket: BucketServer
  let server: TestServer
  beforeAll(async () => {
    bucket = await startBucketServer()
    server = await startServer('sqlite', { environment: { UPLOADS_S3_URL: bucket.url } })
  })
  afterAll(async () => {
    await server?.close()
    await bucket?.close()
  })

  test('keeps files there, serves them, and erases them; while it is away, nothing is lost', async () => {
    const { team, formKey, submission } = await sendFiles(server)
    expect(listUploadedFiles(server.dataDir)).toEqual([])
    const path = `/v1/files/${submission.files[0].id}`
    const got = await getBytes(server, path, asKey(team))
    expect([got.status, toSha256(got.bytes)]).toEqual([200, toSha256(PDF)])
    const { store } = server.app.fileLinks.uploads
    const list = () => Array.fromAsync(store.list())
    expect(await list()).toHaveLength(3)

    await bucket.stop()
    const refused = await uploadToForm(server, { key: formKey }, FILES)
    expect(refused.status).toBe(503)
    const without = await uploadToForm(server, { key: formKey }, [{ name: 'name', value: 'Grace' }])
    expect(without.status).toBe(200)
    const away = await team.api(path.slice('/v1'.length))
    expect([away.status, away.json.error, away.headers.get('retry-after')]).toEqual([
      503,
      'The file cannot be read right now: the file store is out of reach',
      '30',
    ])
    await team.delete(`/submissions/${submission.id}`)
    await server.app.fileLinks.uploads.erase()
    const waiting = await server.rows('erased_files')
    expect(waiting).toHaveLength(3)

    await bucket.start()
    await server.app.fileLinks.uploads.erase()
    expect(await list()).toEqual([])
    expect((await uploadToForm(server, { key: formKey }, FILES)).status).toBe(200)
    expect(await list()).toHaveLength(3)
  }, 60_000)
})
