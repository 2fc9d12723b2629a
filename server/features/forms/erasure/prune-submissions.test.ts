import { expect, test } from 'bun:test'
import { watchWrites } from '../../../../tests/support/watch-writes.ts'
import { onBothEngines } from '../../../../tests/support/world.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { insertSubmissions, type TestSubmission } from '../submissions/submission.fixture.ts'
import { createSubmissionPruner } from './prune-submissions.ts'

const NOW = Date.parse('2026-10-01T12:00:00Z')
const aged = (days: number, status = 'new'): TestSubmission => ({
  created_at: NOW - days * DAY_MS - 1,
  status,
})

onBothEngines('the retention of submissions', (server) => {
  const prune = (now = NOW) => {
    const pruner = createSubmissionPruner({ db: server().app.db, now: () => now })
    return pruner
      .run()
      .then(() => Object.fromEntries(pruner.metrics().map(({ labels, value }) => [labels?.reason, value])))
  }

  async function setUp(settings: Record<string, unknown> = {}) {
    const own = await server().createWorkspace()
    const { json } = await own.post('/forms', { name: 'Contact', ...settings })
    const { db } = server().app
    const { id: formId } = await server().row('forms', { form_key: json.data.formKey })
    const store = (sent: TestSubmission[]) =>
      db.write((connection) => insertSubmissions(connection, { workspaceId: own.id, formId }, sent))
    const left = async () => (await server().rows('submissions', { form_id: formId })).map(({ id }) => id)
    const events = async () => {
      const rows = await server().rows('audit_events', { workspace_id: own.id, action: 'submission.expired' })
      return rows.map(({ detail, ...row }) => ({ ...row, detail: JSON.parse(detail) }))
    }
    return { own, formKey: json.data.formKey as string, store, left, events }
  }

  test('is for ever without a setting, but for spam and what nobody confirmed', async () => {
    const { formKey, store, left, events } = await setUp()
    const ids = await store([
      aged(5000),
      aged(29, 'spam'),
      aged(30, 'spam'),
      aged(6, 'unconfirmed'),
      aged(7, 'unconfirmed'),
      aged(5000, 'archived'),
    ])
    expect(await prune()).toEqual({ retention: 0, spam: 1, unconfirmed: 1 })
    expect(await left()).toEqual([ids[0], ids[1], ids[3], ids[5]] as number[])
    const detail = { retention: 0, spam: 1, unconfirmed: 1 }
    expect(await events()).toMatchObject([
      { action: 'submission.expired', actor_type: 'system', target_id: formKey, detail },
    ])
    expect(await prune()).toEqual({ retention: 0, spam: 0, unconfirmed: 0 })
    expect((await events()).length).toBe(1)
  })

  test('is as long as the form says, with whatever belongs to a submission', async () => {
    const { own, store, left } = await setUp({ retentionDays: 90, spamRetentionDays: 2 })
    const other = await setUp()
    const kept = await other.store([aged(400)])
    const ids = (await store([
      aged(89),
      aged(90),
      aged(91, 'read'),
      aged(2, 'spam'),
      aged(1, 'spam'),
    ])) as number[]
    const { db } = server().app
    await db.write(async (connection) => {
      const channel = await connection
        .insertInto('channels')
        .values({ workspace_id: own.id, type: 'webhook', name: 'Hook', created_at: 1, updated_at: 1 })
        .returning('id')
        .executeTakeFirstOrThrow()
      const submission = { workspace_id: own.id, submission_id: ids[1] as number, created_at: 1 }
      await connection
        .insertInto('deliveries')
        .values({
          ...submission,
          channel_id: channel.id,
          event: 'submission.created',
          message_id: `msg_${own.id}`,
          status: 'failed',
        })
        .execute()
      const file = {
        field: 'cv',
        name: 'cv',
        type: 'text/plain',
        bytes: 1,
        sha256: '',
        key: `2026-01-01/old-${own.id}`,
      }
      await connection
        .insertInto('submission_files')
        .values({ ...submission, ...file })
        .execute()
    })
    expect(await prune()).toEqual({ retention: 2, spam: 1, unconfirmed: 0 })
    expect(await left()).toEqual([ids[0], ids[4]] as number[])
    expect(await other.left()).toEqual(kept)
    const count = async (table: 'deliveries' | 'submission_files') =>
      (await db.read.selectFrom(table).select('id').where('workspace_id', '=', own.id).execute()).length
    expect([await count('deliveries'), await count('submission_files')]).toEqual([0, 0])
    const erased = await server().rows('erased_files')
    expect(erased.map(({ key }) => key)).toContain(`2026-01-01/old-${own.id}`)
  })

  test('runs in small steps, with other writes in between', async () => {
    const { store, left } = await setUp({ retentionDays: 1 })
    await store(Array.from({ length: 300 }, () => aged(3)))
    const seen = await watchWrites(
      server().app.db,
      async () => (await left()).length,
      async () => expect(await prune()).toMatchObject({ retention: 300 }),
    )
    expect(seen.filter((count) => count < 300)).toEqual(
      Array.from({ length: 15 }, (_, step) => 280 - step * 20),
    )
  })
})
