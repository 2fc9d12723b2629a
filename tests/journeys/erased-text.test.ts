// Text that was erased is in no file of the data directory soon after, while the server keeps running: not in SQLite's file
// and its log, not in the analytics and their batches, not in the spool (docs/privacy.md).

import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { insertSubmissions } from '../../server/features/forms/submissions/submission.fixture.ts'
import { createRandom } from '../../server/lib/seeded-random.ts'
import { BEHIND_PROXY, JSON_TYPE, nextSenderAddress, SCRIPT_HEADERS } from '../support/form-requests.ts'
import { towpath } from '../support/processes/command-shell.ts'
import { parseMetrics } from '../support/read-metrics.ts'
import { quick } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { onSqlite, type TestServer, type TestWorkspace } from '../support/world.ts'

// On an operator's server it is minutes.
const EMPTY_LOG_EVERY_MS = 200

/** In a process of its own: when this one closes a file of SQLite, the kernel drops the locks that the server has on it. */
function findFilesWith({ dataDir }: TestServer, text: string): string[] {
  const { stdout } = Bun.spawnSync(['grep', '-rlaFs', text, dataDir])
  return stdout.toString().split('\n').filter(Boolean)
}

const untilGone = (server: TestServer, text: string) =>
  until(`no file to have ${text}`, () => findFilesWith(server, text).length === 0, 30_000)

async function createForm({ api }: TestWorkspace): Promise<string> {
  return (await api('/forms', { method: 'POST', body: { name: 'Contact' } })).json.data.formKey
}

async function submit(server: TestServer, formKey: string, canary: string) {
  const { status } = await server.call(`/f/${formKey}`, {
    method: 'POST',
    headers: { ...SCRIPT_HEADERS, 'Content-Type': JSON_TYPE, 'X-Forwarded-For': nextSenderAddress() },
    body: { email: `${canary}@example.com`, message: `I am ${canary}. `.repeat(500) },
  })
  expect(status).toBe(200)
}

onSqlite(
  'erased text is in no file any more',
  (server) => {
    test('after one submission was deleted', async () => {
      const own = await server().createWorkspace()
      const formKey = await createForm(own)
      await submit(server(), formKey, 'canary-one')
      expect(findFilesWith(server(), 'canary-one')).not.toEqual([])
      const { json } = await own.api(`/forms/${formKey}/submissions`)
      expect((await own.api(`/submissions/${json.data[0].id}`, { method: 'DELETE' })).status).toBe(200)
      await untilGone(server(), 'canary-one')
    })

    test('after a person was erased, beside a process that reads the database for long', async () => {
      const own = await server().createWorkspace()
      const formKey = await createForm(own)
      const link = await own.createLink()
      for (let i = 0; i < 3; i++) await submit(server(), formKey, 'canary-two')
      const reading = `
        const { Database } = require('bun:sqlite')
        const database = new Database(process.argv[1], { readonly: true })
        database.run('BEGIN')
        database.query('select count(*) from submissions').get()
        console.log('reading')
        process.stdin.once('data', () => process.exit())`
      const reader = Bun.spawn([process.execPath, '-e', reading, join(server().dataDir, 'towpath.db')], {
        stdin: 'pipe',
        stdout: 'pipe',
      })
      try {
        await reader.stdout.getReader().read()
        await own.api('/submissions?email=canary-two@example.com', { method: 'DELETE' })
        // Forms and redirects go on beside it.
        await submit(server(), formKey, 'somebody-else')
        expect((await server().click(link.slug)).status).toBe(302)
        // The reader sees the rows as they were, so they are still there.
        expect(findFilesWith(server(), 'canary-two')).not.toEqual([])
        reader.stdin.write('end\n')
        reader.stdin.flush()
        await reader.exited
        await untilGone(server(), 'canary-two')
      } finally {
        reader.kill()
      }
    })

    test('after a person was erased whose message went out in a digest, and whom only another field names', async () => {
      const own = await server().createWorkspace()
      const { db } = server().app
      const chat = { type: 'slack', name: 'Chat', url: 'http://127.0.0.1:9/hooks/aaaaaaaaaaaaaaaaaaaaaaaaaa' }
      const channel = (await own.api('/channels', { method: 'POST', body: { ...chat, digest: 'hour' } })).json
        .data
      const form = { name: 'Contact', channelIds: [channel.id] }
      const { formKey } = (await own.api('/forms', { method: 'POST', body: form })).json.data
      for (const contact of ['canary-five@example.com', 'somebody@example.com']) {
        const { status } = await server().call(`/f/${formKey}`, {
          method: 'POST',
          headers: { ...SCRIPT_HEADERS, 'Content-Type': JSON_TYPE, 'X-Forwarded-For': nextSenderAddress() },
          body: { contact, message: `I am ${contact}` },
        })
        expect(status).toBe(200)
      }
      await db.write((connection) =>
        connection.updateTable('deliveries').set({ due_at: 1 }).where('workspace_id', '=', own.id).execute(),
      )
      const readAttempts = () =>
        db.read.selectFrom('delivery_attempts').select('id').where('workspace_id', '=', own.id).execute()
      await until('an attempt of the digest', async () => (await readAttempts()).length > 0)
      // The sent part: a private address is refused before the first byte.
      const request = JSON.stringify({ body: 'I am canary-five@example.com' })
      await db.write((connection) =>
        connection
          .updateTable('delivery_attempts')
          .set({ request })
          .where('workspace_id', '=', own.id)
          .execute(),
      )
      const { json } = await own.api('/submissions?email=canary-five@example.com', { method: 'DELETE' })
      expect(json.data).toMatchObject({ erased: 1, receipt: { submissions: 1, deliveries: 1 } })
      await untilGone(server(), 'canary-five')
      expect(findFilesWith(server(), 'somebody@example.com')).not.toEqual([])
    })

    quick('after a workspace was deleted, with its links, its clicks and its submissions', async () => {
      const own = await server().createWorkspace()
      const { slug } = await own.createLink({ destinationUrl: 'https://example.com/canary-three' })
      await server().click(`${slug}?utm_campaign=canary-three`)
      await submit(server(), await createForm(own), 'canary-three')
      await server().waitUntilShipped()
      expect(findFilesWith(server(), 'canary-three').length).toBeGreaterThan(1)
      const command = ['workspace', 'delete', String(own.id), '--yes']
      expect(await towpath({ DATA_DIR: server().dataDir }, command)).toMatchObject({ code: 0 })
      await untilGone(server(), 'canary-three')
    })

    quick('after a compaction, which gives the room back, too', async () => {
      const before = statSync(join(server().dataDir, 'towpath.db')).size
      const compact = () => towpath({ DATA_DIR: server().dataDir }, ['compact'])
      expect(await compact()).toMatchObject({ code: 1, err: expect.stringContaining('A server runs') })
      const own = await server().createWorkspace()
      const formKey = await createForm(own)
      const { db } = server().app
      // Addresses in no order, which SQLite moves between the pages of the index.
      const { id: formId } = await db.read
        .selectFrom('forms')
        .select('id')
        .where('form_key', '=', formKey)
        .executeTakeFirstOrThrow()
      const random = createRandom(7)
      for (let part = 0; part < 20; part++) {
        const rows = Array.from({ length: 200 }, () => {
          const email = `${random().toString(36)}.canary-four@example.com`
          return { email, fields: [['email', email]] as [string, string][] }
        })
        await db.write((connection) => insertSubmissions(connection, { workspaceId: own.id, formId }, rows))
      }
      await db.write((connection) =>
        connection.deleteFrom('submissions').where('workspace_id', '=', own.id).execute(),
      )
      const dataDir = mkdtempSync(join(tmpdir(), 'towpath-compact-'))
      await until('the log to be empty', () => statSync(join(server().dataDir, 'towpath.db-wal')).size === 0)
      Bun.spawnSync(['cp', join(server().dataDir, 'towpath.db'), dataDir])
      const grown = statSync(join(dataDir, 'towpath.db')).size
      expect(grown).toBeGreaterThan(before + 500_000)
      expect(await towpath({ DATA_DIR: dataDir }, ['compact'])).toMatchObject({ code: 0, err: '' })
      expect(statSync(join(dataDir, 'towpath.db')).size).toBeLessThan(grown - 500_000)
      expect(readFileSync(join(dataDir, 'towpath.db')).includes('canary-four')).toBe(false)
      rmSync(dataDir, { recursive: true })
    })

    test('and the sizes of the files are in the metrics', async () => {
      const read = async () => parseMetrics((await server().call('/metrics')).text)
      const find = (samples: Awaited<ReturnType<typeof read>>, name: string) =>
        samples.find((sample) => sample.name === name)?.value
      await until('the log to be empty', async () => find(await read(), 'towpath_wal_bytes') === 0)
      const samples = await read()
      expect(find(samples, 'towpath_database_bytes')).toBeGreaterThan(100_000)
      expect(find(samples, 'towpath_database_free_bytes')).toBeGreaterThan(0)
    })
  },
  { ...BEHIND_PROXY, emptyLogEveryMs: EMPTY_LOG_EVERY_MS },
)
