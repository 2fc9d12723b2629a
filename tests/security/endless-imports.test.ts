// A file that is hard to read holds neither the imports of other workspaces, nor its own cancellation, nor the server for
// ever. A reader that the kernel has stopped stands for one that is stuck in a file.

import { afterEach, expect, test } from 'bun:test'
import { postImport, runImport, waitForImport } from '../support/imports/import-client.ts'
import { listReaderProcesses } from '../support/processes/worker-processes.ts'
import { full, quick } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { onSqlite, type TestWorkspace } from '../support/world.ts'

const UNREADABLE =
  'The file could not be read: twice it took too long at one place, or too much memory. Split the file, and try again.'
const SMALL = { source: 'csv', file: 'slug,url\nsmall,https://example.com/\n' }

const toFile = ({ id }: TestWorkspace, links: number) =>
  ['slug,url', ...Array.from({ length: links }, (_, i) => `w${id}-${i},https://example.com/${i}`)].join('\n')

const stopped = new Set<number>()

/** Stops the next reader, and keeps it stopped. */
async function stopReader(): Promise<number> {
  const pid = await until('a process that reads', () =>
    listReaderProcesses(process.pid).find((each) => !stopped.has(each)),
  )
  process.kill(pid, 'SIGSTOP')
  stopped.add(pid)
  return pid
}

const isGone = (pid: number) => !listReaderProcesses(process.pid).includes(pid)

async function startStuckImport(ws: TestWorkspace, links = 2_000): Promise<{ id: number; pid: number }> {
  const { json } = await postImport(ws, { source: 'csv', file: toFile(ws, links) })
  return { id: json.data.id, pid: await stopReader() }
}

/** A reader in the process of the test cannot be stopped. */
const AS_A_PROCESS = { reading: {} }

afterEach(() => stopped.clear())

onSqlite(
  'an import of a hostile file',
  (server) => {
    test('of sixty block comments, as long as a file may be for it, ends with a sentence', async () => {
      const ws = await server().createWorkspace()
      const file = `${`/*${'-'.repeat(4_000)}*/\n`.repeat(60)}CREATED`
      const failed = await runImport(ws, { source: 'yourls', file })
      expect([failed.status, failed.problem]).toEqual([
        'failed',
        expect.stringContaining('This is not a list of links from YOURLS.'),
      ])
    })

    test('is canceled at once, although its reader is stuck', async () => {
      const ws = await server().createWorkspace()
      const { id, pid } = await startStuckImport(ws)
      const { status } = await ws.api(`/imports/${id}`, { method: 'DELETE' })
      expect(status).toBe(200)
      expect((await waitForImport(ws, id)).status).toBe('undone')
      expect(isGone(pid)).toBe(true)
    })

    full('ends where another process has canceled it, and where its workspace is gone', async () => {
      const [canceled, deleted] = [await server().createWorkspace(), await server().createWorkspace()]
      const first = await startStuckImport(canceled)
      const second = await startStuckImport(deleted)
      const { db } = server().app
      await db.write(async (connection) => {
        await connection.updateTable('imports').set({ stage: 'undo' }).where('id', '=', first.id).execute()
        await connection.deleteFrom('imports').where('id', '=', second.id).execute()
      })
      expect((await waitForImport(canceled, first.id)).status).toBe('undone')
      await until('the end of both readers', () => isGone(first.pid) && isGone(second.pid))
    })
  },
  AS_A_PROCESS,
)

onSqlite(
  'a reader that is stuck for longer than its deadline',
  (server) => {
    quick('ends its import at the second time, with a sentence', async () => {
      const ws = await server().createWorkspace()
      const { id } = await startStuckImport(ws)
      await stopReader()
      const failed = await waitForImport(ws, id)
      expect([failed.status, failed.problem]).toEqual(['failed', UNREADABLE])
      // On a slow machine, a reader may need longer than this deadline to start.
      await until('a file that is read', async () => (await runImport(ws, SMALL)).status === 'done')
    })
  },
  { reading: { deadlineMs: 2_000 } },
)

onSqlite(
  'an import of one workspace',
  (server) => {
    full('comes to its end while those of two others are stuck, and these go on later', async () => {
      const others = [await server().createWorkspace(), await server().createWorkspace()]
      const stuck: [TestWorkspace, number][] = []
      for (const other of others) stuck.push([other, (await startStuckImport(other, 300)).id])
      expect((await runImport(await server().createWorkspace(), SMALL)).status).toBe('done')
      for (const [other, id] of stuck)
        expect(await waitForImport(other, id)).toMatchObject({ status: 'done', created: 300 })
    })

    full('comes to its end among three that all take longer than their first slices', async () => {
      const workspaces = [1, 2, 3].map(() => server().createWorkspace())
      const running = (await Promise.all(workspaces)).map((ws) =>
        runImport(ws, { source: 'csv', file: toFile(ws, 400) }),
      )
      for (const done of await Promise.all(running))
        expect(done).toMatchObject({ status: 'done', created: 400, failed: 0, skipped: 0 })
    })
  },
  { reading: { sliceMs: 100 } },
)

onSqlite(
  'a look into a file',
  (server) => {
    const inspect = (ws: TestWorkspace, file = SMALL.file) =>
      ws.api('/imports/inspect', { method: 'POST', body: { file } })

    test('of a workspace waits for its other one, and not for those of other workspaces', async () => {
      const create = () => server().createWorkspace()
      const [first, second, third] = [await create(), await create(), await create()]
      const stuck = [inspect(first, toFile(first, 20_000))]
      await stopReader()
      const again = await inspect(first)
      expect([again.status, again.json.error, again.headers.get('retry-after')]).toEqual([
        429,
        'Another file of this workspace is being inspected. Try again in 5 seconds.',
        '5',
      ])
      expect((await inspect(second)).status).toBe(200)
      // Its process must not be taken for the next one.
      await until('its process is gone', () =>
        listReaderProcesses(process.pid).every((pid) => stopped.has(pid)),
      )
      stuck.push(inspect(second, toFile(second, 20_000)))
      await stopReader()
      await until('a place for the third workspace', async () => (await inspect(third)).status === 200)
      expect([(await stuck[0])?.status, (await stuck[0])?.json.error]).toEqual([
        429,
        'Files of other workspaces are being inspected. Try again in 5 seconds.',
      ])
      for (const pid of listReaderProcesses(process.pid)) process.kill(pid, 'SIGCONT')
      expect((await stuck[1])?.status).toBe(200)
    })
  },
  { reading: { sliceMs: 300 } },
)
