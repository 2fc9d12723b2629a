import { expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import {
  getImport,
  postImport,
  runImport,
  uploadImport,
  waitForImport,
} from '../../../../tests/support/imports/import-client.ts'
import { quick } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import {
  onBothEngines,
  onSqlite,
  type TestServer,
  type TestWorkspace,
} from '../../../../tests/support/world.ts'
import { deleteWorkspace } from '../../accounts/workspaces/delete-workspace.ts'
import { UNDO_DAYS } from '../schema.ts'
import { failAbandonedImports, pruneImportFiles, pruneImportRows } from './prune-imports.ts'

const DAY = 86_400_000

const toLongFile = (name: string, links: number) =>
  ['slug,url', ...Array.from({ length: links }, (_, i) => `${name}-${i},https://example.com/${i}`)].join('\n')

const listUploads = ({ dataDir }: TestServer) => {
  const path = join(dataDir, 'imports')
  return existsSync(path) ? readdirSync(path) : []
}

/** @param links enough that something can happen in the middle */
async function startLongImport(ws: TestWorkspace, links = 400): Promise<number> {
  const { json } = await postImport(ws, { source: 'csv', file: toLongFile(`long-${ws.id}`, links) })
  await until('the first links', async () => (await getImport(ws, json.data.id)).created > 0)
  return json.data.id
}

onBothEngines('an import that runs', (server) => {
  test('is canceled with everything that it has created', async () => {
    const ws = await server().createWorkspace()
    const id = await startLongImport(ws)
    expect((await ws.delete(`/imports/${id}`)).status).toBe(200)
    const undone = await waitForImport(ws, id)
    expect([undone.status, undone.kept]).toEqual(['undone', []])
    expect((await ws.api('/links')).json.total).toBe(0)
    await until('no files', () => listUploads(server()).length === 0)
  })

  test('ends with its workspace, and its files are gone', async () => {
    const ws = await server().createWorkspace()
    await startLongImport(ws)
    await deleteWorkspace({ db: server().app.db, now: server().now }, ws.id)
    await until('no files', () => listUploads(server()).length === 0)
    const left = await server().rows('import_rows', { workspace_id: ws.id })
    expect(left).toEqual([])
  })

  quick('waits for its turn behind four others, and a sixth one is refused', async () => {
    const ws = await server().createWorkspace()
    const ids = [await startLongImport(ws, 3_000)]
    for (let i = 0; i < 4; i++)
      ids.push((await postImport(ws, { source: 'csv', file: 'url\nhttps://example.com/\n' })).json.data.id)
    const refused = await postImport(ws, { source: 'csv', file: 'url\nhttps://example.com/\n' })
    expect([refused.status, refused.json.error]).toEqual([
      429,
      '5 imports wait already. Try again when one is done.',
    ])
    const canceled = await ws.delete(`/imports/${ids[4]}`)
    expect([canceled.json.data.status, canceled.json.data.created]).toEqual(['undone', 0])
    await ws.delete(`/imports/${ids[0]}`)
    for (const id of ids) await waitForImport(ws, id)
    expect((await ws.api('/links')).json.total).toBe(1)
  })
})

onBothEngines('what an import leaves behind', (server) => {
  test('is pruned: rows after 30 days, when it cannot be undone any more, and files that nobody needs', async () => {
    const ws = await server().createWorkspace()
    const dry = await runImport(ws, { source: 'csv', file: 'url\nhttps://example.com/\n', dryRun: true })
    const done = await runImport(ws, { from: dry.id, dryRun: false })
    expect(done.created).toBe(1)
    const { db, spool } = server().app
    const { dataDir } = server()
    const inDays = (days: number) => {
      const now = () => server().now() + days * DAY
      return { db, now, dataDir, node: spool.node }
    }
    // The dry run may be imported again.
    await pruneImportFiles(inDays(0.9) as never)
    expect(listUploads(server())).toHaveLength(1)
    await pruneImportFiles(inDays(1.1) as never)
    expect(listUploads(server())).toEqual([])
    const late = await postImport(ws, { from: dry.id })
    expect(late.status).toBe(202)
    const failed = await waitForImport(ws, late.json.data.id)
    expect(failed.problem).toBe('The file is not on this server any more. Send it again.')

    await pruneImportRows(db, server().now() + UNDO_DAYS * DAY - DAY)
    expect((await ws.api(`/imports/${done.id}/rows`)).json.total).toBe(1)
    await pruneImportRows(db, server().now() + UNDO_DAYS * DAY + DAY)
    expect((await ws.api(`/imports/${done.id}/rows`)).json.total).toBe(0)
    await server().update('imports', { id: done.id }, { created_at: server().now() - (UNDO_DAYS + 1) * DAY })
    const { status, json } = await ws.delete(`/imports/${done.id}`)
    expect([status, json.error]).toEqual([
      409,
      'An import can be undone for 30 days. Delete its links by hand.',
    ])
  })

  test('is a failed import where its server does not come back', async () => {
    const ws = await server().createWorkspace()
    const { id } = await runImport(ws, { source: 'csv', file: 'url\nhttps://example.com/\n' })
    const { db, spool } = server().app
    await server().update('imports', { id }, { node: 'ffffffffffffffff', status: 'running', stage: 'links' })
    const inTwoHours = () => server().now() + 2 * 60 * 60_000
    await failAbandonedImports({ db, node: spool.node, now: inTwoHours }, inTwoHours())
    const failed = await getImport(ws, id)
    expect([failed.status, failed.problem]).toEqual([
      'failed',
      'The server with the files is gone. Created items stay. Send the files again: nothing is created twice.',
    ])
    await ws.delete(`/imports/${id}`)
    expect((await waitForImport(ws, id)).status).toBe('undone')
    expect((await ws.api('/links')).json.total).toBe(0)
  })
})

onSqlite('an upload', (server) => {
  test('that ends in its middle, or is no form, leaves nothing behind', async () => {
    const ws = await server().createWorkspace()
    const send = async (body: string, type = 'multipart/form-data; boundary=x') => {
      const { status, json } = await server().post('/v1/imports', body, {
        Authorization: `Bearer ${ws.key}`,
        'Content-Type': type,
      })
      return [status, json?.errors ?? json?.error]
    }
    const part = (name: string, rest: string) =>
      `--x\r\nContent-Disposition: form-data; name="${name}"${rest}\r\n`
    const broken = [422, { body: 'is not a complete multipart form' }]
    expect(await send(part('file', '; filename="a.csv"\r\n\r\nurl\r\nhttps://exa'))).toEqual(broken)
    expect(await send('nothing')).toEqual(broken)
    expect(await send('nothing', 'multipart/form-data')).toEqual(broken)
    expect(await send('nothing', 'text/csv')).toEqual([
      415,
      'Content-Type must be multipart/form-data or application/json',
    ])
    await breakOff(server(), ws)
    await until('no files', () => listUploads(server()).length === 0)
    expect((await ws.api('/imports')).json.total).toBe(0)
  })

  test('has the name of its file, however the client wrote it', async () => {
    const ws = await server().createWorkspace()
    const nameOf = async (written: string) => {
      const body =
        '--x\r\nContent-Disposition: form-data; name="source"\r\n\r\ncsv\r\n' +
        `--x\r\nContent-Disposition: form-data; name="file"; ${written}\r\n\r\nurl\r\nhttps://example.com/\r\n--x--\r\n`
      const { status, json } = await server().post('/v1/imports', body, {
        Authorization: `Bearer ${ws.key}`,
        'Content-Type': 'multipart/form-data; boundary=x',
      })
      expect(status).toBe(202)
      await waitForImport(ws, json.data.id)
      return json.data.fileName
    }
    expect(await nameOf('filename="links.csv"')).toBe('links.csv')
    expect(await nameOf('filename="C:\\exports\\links.csv"')).toBe('links.csv')
    expect(await nameOf("filename*=UTF-8''my%20links.csv")).toBe('my links.csv')
    expect(await nameOf("filename*=UTF-8''%E0%A4%A")).toBe("UTF-8''%E0%A4%A")
  })

  test('of a file that is too large is refused while it comes', async () => {
    const ws = await server().createWorkspace()
    const large = new Blob([new Uint8Array(64 * 1024 ** 2 + 1)])
    const { status, json } = await uploadImport(server(), ws, [
      ['source', 'csv'],
      ['file', large],
    ])
    expect([status, json.error]).toEqual([
      413,
      'file is larger than 64 MiB. On the server, "npx towpath import" takes files of any size.',
    ])
    expect(listUploads(server())).toEqual([])
  })
})

/** Sends half of an upload, and closes the connection once the server has a part of it. */
async function breakOff(server: TestServer, { key }: TestWorkspace): Promise<void> {
  const { port, hostname } = new URL(server.origin)
  const socket = connect(Number(port), hostname)
  const head = [
    'POST /v1/imports HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${key}`,
    'Content-Type: multipart/form-data; boundary=x',
    'Content-Length: 1000000',
  ]
  const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
  socket.write(`${head.join('\r\n')}\r\n\r\n${part}${'a'.repeat(200_000)}`)
  await until('a part of the upload', () => listUploads(server).length > 0)
  socket.destroy()
}
