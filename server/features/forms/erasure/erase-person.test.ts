// Erasing the submissions of an email address: what is deleted, and what stays.

import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../../../tests/support/until.ts'
import { watchWrites } from '../../../../tests/support/watch-writes.ts'
import { onBothEngines, type TestServer, type TestWorkspace } from '../../../../tests/support/world.ts'
import { insertSubmissions, type TestSubmission } from '../submissions/submission.fixture.ts'

async function newForm(server: TestServer, workspace: TestWorkspace) {
  const { json } = await workspace.post('/forms', { name: 'Contact' })
  const { db } = server.app
  const { formKey } = json.data
  const { id: formId } = await server.row('forms', { form_key: formKey })
  const store = (sent: TestSubmission[]) =>
    db.write((connection) => insertSubmissions(connection, { workspaceId: workspace.id, formId }, sent))
  return { formKey, store }
}

const from = (email: string | null): TestSubmission => ({
  email,
  fields: [
    ['email', email ?? ''],
    ['message', `from ${email}`],
  ],
})

const erase = ({ api }: TestWorkspace, email: string) =>
  api(`/submissions?${new URLSearchParams({ email })}`, { method: 'DELETE' })

const idsIn = async (server: TestServer, workspaceId: number) =>
  (await server.rows('submissions', { workspace_id: workspaceId })).map(({ id }) => id)

/** Tries a delivery of a submission once, and retries it with an Idempotency-Key. @returns the answer of the retry */
async function deliver({ app: { db } }: TestServer, workspaceId: number, submissionId: number, said: string) {
  await db.write(async (connection) => {
    const channel = await connection
      .insertInto('channels')
      .values({
        workspace_id: workspaceId,
        type: 'webhook',
        name: 'Hook',
        created_at: 1,
        updated_at: 1,
      } as never)
      .returning('id')
      .executeTakeFirstOrThrow()
    const delivery = await connection
      .insertInto('deliveries')
      .values({
        workspace_id: workspaceId,
        channel_id: channel.id,
        submission_id: submissionId,
        event: 'submission.created',
        message_id: `msg_${submissionId}`,
        status: 'delivered',
        created_at: 1,
      } as never)
      .returning('id')
      .executeTakeFirstOrThrow()
    await connection
      .insertInto('delivery_attempts')
      .values({
        delivery_id: delivery.id,
        workspace_id: workspaceId,
        attempt: 1,
        outcome: 'delivered',
        answer: said,
        took_ms: 1,
        at: 1,
      } as never)
      .execute()
    await connection
      .insertInto('idempotency_keys')
      .values({
        workspace_id: workspaceId,
        key: `again-${delivery.id}`,
        path: `/v1/deliveries/${delivery.id}/retry`,
        body_hash: '',
        status: 200,
        body: JSON.stringify({ data: { attempts: [{ answer: said }] } }),
        created_at: 1,
      })
      .execute()
  })
}

const TABLES = ['touches', 'deliveries', 'delivery_attempts', 'idempotency_keys'] as const
async function countsIn({ app: { db } }: TestServer, workspaceId: number) {
  const counted = TABLES.map(async (table) => {
    const found = await db.read
      .selectFrom(table)
      .select('workspace_id')
      .where('workspace_id', '=', workspaceId)
      .execute()
    return [table, found.length]
  })
  return Object.fromEntries(await Promise.all(counted))
}

const touch = (workspaceId: number, submissionId: number) => ({
  submission_id: submissionId,
  position: 0,
  touches: 1,
  workspace_id: workspaceId,
  at: 1,
  kind: 'direct',
})

onBothEngines('erasing an email address', (server) => {
  test('deletes its submissions in every form of the workspace, in upper and lower case, and counts them', async () => {
    const [own, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const [first, second] = [await newForm(server(), own), await newForm(server(), own)]
    const theirs = await newForm(server(), other)
    await first.store([from('Ada@Example.com'), from('ADA@EXAMPLE.COM')])
    const kept = await first.store([
      from(null),
      from('xada@example.com'),
      from('ada@example.com.au'),
      from('a_a@example.com'),
      // Another person's submission that mentions her address stays.
      { ...from('bo@example.com'), fields: [['message', 'ask ada@example.com']] },
    ])
    await second.store([from('ada@example.com')])
    const foreign = await theirs.store([from('ada@example.com')])
    const answer = await erase(own, 'aDa@example.com')
    const receipt = {
      id: expect.any(Number),
      at: expect.any(String),
      submissions: 3,
      files: 0,
      deliveries: 0,
      replies: 0,
    }
    expect([answer.status, answer.json]).toEqual([
      200,
      { data: { email: 'aDa@example.com', erased: 3, receipt } },
    ])
    expect(await idsIn(server(), own.id)).toEqual(kept)
    expect(await idsIn(server(), other.id)).toEqual(foreign)
    expect((await erase(own, 'ada@example.com')).json.data.erased).toBe(0)
  })

  test('deletes touches, deliveries, attempts and stored answers with them, and no others', async () => {
    const own = await server().createWorkspace()
    const { store } = await newForm(server(), own)
    const [gone, kept] = (await store([from('ada@example.com'), from('bo@example.com')])) as [number, number]
    for (const id of [gone, kept]) {
      await server().insert('touches', touch(own.id, id) as never)
      await deliver(server(), own.id, id, `thanks, ${id}`)
    }
    await own.post('/tags', { name: 'ada' }, { 'Idempotency-Key': 'tag' })
    const before = { touches: 2, deliveries: 2, delivery_attempts: 2, idempotency_keys: 3 }
    expect(await countsIn(server(), own.id)).toEqual(before)
    expect((await erase(own, 'ada@example.com')).json.data.erased).toBe(1)
    const after = { touches: 1, deliveries: 1, delivery_attempts: 1, idempotency_keys: 2 }
    expect(await countsIn(server(), own.id)).toEqual(after)
    expect((await own.delete(`/submissions/${kept}`)).status).toBe(200)
    expect(await countsIn(server(), own.id)).toEqual({
      touches: 0,
      deliveries: 0,
      delivery_attempts: 0,
      idempotency_keys: 1,
    })
  })

  test('runs in many small steps, with other writes in between', async () => {
    const own = await server().createWorkspace()
    const { store } = await newForm(server(), own)
    await store(Array.from({ length: 500 }, () => from('ada@example.com')))
    const left = await watchWrites(
      server().app.db,
      async () => (await idsIn(server(), own.id)).length,
      async () => expect((await erase(own, 'ada@example.com')).json.data.erased).toBe(500),
    )
    expect(left.filter((count) => count < 500)).toEqual(
      Array.from({ length: 25 }, (_, step) => 480 - step * 20),
    )
  })

  test('deletes submissions that are larger than a step', async () => {
    const own = await server().createWorkspace()
    const { store } = await newForm(server(), own)
    const big: TestSubmission = { email: 'ada@example.com', fields: [['message', 'x'.repeat(400_000)]] }
    await store([big, from('ada@example.com'), big, big])
    expect((await erase(own, 'ada@example.com')).json.data.erased).toBe(4)
    expect(await idsIn(server(), own.id)).toEqual([])
  })

  test.each([
    ['', 'is required'],
    ['?email=', 'must be an email address'],
    ['?email=ada', 'must be an email address'],
    ['?email=%25@example.com%00', 'must be an email address'],
    ['?email=a@example.com&email=a@example.com', 'must be given once'],
  ])('is rejected without exactly one address: %s', async (query, email) => {
    const own = await server().createWorkspace()
    const { store } = await newForm(server(), own)
    const kept = await store([from(null), from('a@example.com')])
    const { status, json } = await own.delete(`/submissions${query}`)
    expect([status, json]).toEqual([422, { error: expect.any(String), errors: { email } }])
    expect(await idsIn(server(), own.id)).toEqual(kept)
  })

  describe('leaves no byte of it', () => {
    test('in the files of the data directory, after the write-ahead log is checkpointed', async () => {
      if (server().engine === 'postgres') return
      const own = await server().createWorkspace()
      const { store } = await newForm(server(), own)
      const name = 'byte.by.byte@example.com'
      const long = `${name} `.repeat(3000)
      await store([from(name), { email: name, fields: [['message', long]] }])
      const path = join(server().dataDir, 'towpath.db')
      // A write of the server may be halfway, and ends only while this test waits.
      const writeBack = () =>
        until('the checkpoint', () => {
          const database = new Database(path)
          const [{ busy }] = database.query('PRAGMA wal_checkpoint(TRUNCATE)').all() as [{ busy: number }]
          database.close()
          return busy === 0
        })
      const holding = () =>
        readdirSync(server().dataDir, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name))
          .filter((file) => readFileSync(file).includes(name))
      await writeBack()
      expect(holding()).toEqual([path])
      await erase(own, name)
      await writeBack()
      expect(holding()).toEqual([])
    })
  })
})
