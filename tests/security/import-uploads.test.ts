// Uploads to imports from a workspace that wants the disk: rights and room are judged before a body is taken.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createKey } from '../../server/features/accounts/access/keys.ts'
import { call, hasEnded, readImport, sendImport, uploadAndRun } from '../support/imports/upload-client.ts'
import { destroyRawClients, dialRaw, readStatuses } from '../support/raw-client.ts'
import { until } from '../support/until.ts'
import { startServer, type TestServer, type TestWorkspace } from '../support/world.ts'

setDefaultTimeout(120_000)

const MIB = 1024 * 1024
const BOUNDARY = 'x-boundary'
const GOOD = new File(['slug,destinationUrl\ngood,https://acme.example/\n'], 'links.csv')

let server: TestServer
beforeAll(async () => {
  server = await startServer('sqlite')
}, 120_000)
afterAll(async () => {
  destroyRawClients()
  await server?.close()
})

const toTarget = ({ key }: Pick<TestWorkspace, 'key'>) => ({ origin: server.origin, key })
const listDirectories = () => {
  try {
    return readdirSync(join(server.dataDir, 'imports'))
  } catch {
    return []
  }
}

/** Begins an upload, and sends no more than the beginning of its file. */
async function beginUpload(key: string, source: string, length: number) {
  const client = await dialRaw(Number(new URL(server.origin).port))
  client.socket.write(
    [
      'POST /v1/imports HTTP/1.1',
      `Host: ${new URL(server.origin).host}`,
      `Authorization: Bearer ${key}`,
      `Content-Type: multipart/form-data; boundary=${BOUNDARY}`,
      `Content-Length: ${length}`,
      '',
      `--${BOUNDARY}`,
      'Content-Disposition: form-data; name="source"',
      '',
      source,
      `--${BOUNDARY}`,
      'Content-Disposition: form-data; name="file"; filename="file"',
      '',
      'x'.repeat(1000),
    ].join('\r\n'),
  )
  return client
}

const readAnswer = ({ text }: { text: string }) => ({
  status: readStatuses(text)[0],
  retryAfter: /^Retry-After: (\d+)/im.exec(text)?.[1],
})

describe('an upload to imports', () => {
  test('of a whole workspace is refused before its file comes, where the key may not bring one', async () => {
    const ws = await server.createWorkspace()
    const { key } = await createKey({ db: server.app.db, now: server.now }, ws.id, 'links', {
      scopes: ['links:read', 'links:write'],
    })
    const client = await beginUpload(key, 'towpath', 900 * MIB)
    await until('an answer to the beginning of an upload', () => client.text !== '')
    expect(readAnswer(client).status).toBe(403)
  })

  test('waits where others of the workspace have the room, and goes on when they are gone', async () => {
    const ws = await server.createWorkspace()
    const other = await server.createWorkspace()
    const before = listDirectories().length
    const first = await beginUpload(ws.key, 'towpath', 900 * MIB)
    const second = await beginUpload(ws.key, 'towpath', 900 * MIB)
    await until('two uploads to begin', () => listDirectories().length === before + 2)
    const third = await beginUpload(ws.key, 'towpath', 900 * MIB)
    await until('an answer to the third upload', () => third.text !== '')
    const { status, retryAfter } = readAnswer(third)
    expect([status, Number(retryAfter) > 0]).toEqual([429, true])
    expect((await uploadAndRun(toTarget(other), { fields: { source: 'csv' }, file: GOOD })).status).toBe(
      'done',
    )
    first.socket.destroy()
    second.socket.destroy()
    await until('the room to be given back', () => listDirectories().length === before)
    const again = await beginUpload(ws.key, 'towpath', 900 * MIB)
    await until('the upload to begin', () => listDirectories().length === before + 1)
    again.socket.destroy()
    await until('its end', () => listDirectories().length === before)
  })

  test('counts the files of dry runs, and has room again when one is deleted', async () => {
    const ws = await server.createWorkspace()
    const upload = { fields: { source: 'csv', dryRun: true }, file: GOOD }
    const { id } = await uploadAndRun(toTarget(ws), upload)
    await setKeptBytes(id, 2047.5 * MIB)
    const refused = await sendImport(toTarget(ws), upload)
    expect([refused.status, refused.json.error]).toEqual([429, expect.stringContaining('2 GiB together')])
    // The files are here: it needs no room.
    const from = await ws.api('/imports', { method: 'POST', body: { from: id, dryRun: true } })
    expect(from.status).toBe(202)
    await until('its end', async () => hasEnded(await readImport(toTarget(ws), from.json.data.id)))
    const before = listDirectories()
    for (const each of [id, from.json.data.id])
      expect((await call(toTarget(ws), `/imports/${each}`, { method: 'DELETE' })).status).toBe(200)
    expect(listDirectories()).toHaveLength(before.length - 1)
    expect((await uploadAndRun(toTarget(ws), upload)).status).toBe('done')
  })

  test('waits where the imports of all workspaces have the room of the server', async () => {
    const [ws, other] = [await server.createWorkspace(), await server.createWorkspace()]
    const { id } = await uploadAndRun(toTarget(other), {
      fields: { source: 'csv', dryRun: true },
      file: GOOD,
    })
    await setKeptBytes(id, 20 * 1024 * MIB)
    const refused = await sendImport(toTarget(ws), { fields: { source: 'csv' }, file: GOOD })
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true])
    await setKeptBytes(id, 100)
    expect((await sendImport(toTarget(ws), { fields: { source: 'csv' }, file: GOOD })).status).toBe(202)
  })
})

test('an upload that would leave the disk below its reserve is 503 before its first byte', async () => {
  const low = await startServer('sqlite', { environment: { DISK_RESERVE_MB: String(2 ** 30) } })
  try {
    const ws = await low.createWorkspace()
    const target = { origin: low.origin, key: ws.key }
    for (const path of ['/imports', '/imports/inspect']) {
      const fields = path === '/imports' ? { source: 'csv' } : {}
      const { status, headers } = await sendImport(target, { fields, file: GOOD }, path)
      expect([path, status, Number(headers.get('retry-after')) > 0]).toEqual([path, 503, true])
    }
    const asJson = await ws.api('/imports', { method: 'POST', body: { source: 'csv', file: 'a,b\n1,2\n' } })
    expect(asJson.status).toBe(503)
  } finally {
    await low.close()
  }
})

/** Says how large the files of an import are, so that no test writes gigabytes. */
const setKeptBytes = (id: number, bytes: number) =>
  server.app.db.write((connection) =>
    connection.updateTable('imports').set({ file_bytes: bytes }).where('id', '=', id).execute(),
  )
