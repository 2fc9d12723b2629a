// One person's copy and erasure: what is found, what the file has, and how an erasure is proven.

import { expect, test } from 'bun:test'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { type Entry, fromBuffer, type Options, type ZipFile } from 'yauzl'
import { onBothEngines, type TestServer, type TestWorkspace } from '../../../../tests/support/world.ts'
import { insertSubmissions, type TestSubmission } from '../submissions/submission.fixture.ts'
import { exportPerson } from './export-person.ts'

const ADA = 'ada@example.com'

async function newForm(server: TestServer, workspace: TestWorkspace) {
  const { json } = await workspace.post('/forms', { name: 'Contact' })
  const { db } = server.app
  const { id: formId } = await server.row('forms', { form_key: json.data.formKey })
  const store = (sent: TestSubmission[]) =>
    db.write((connection) => insertSubmissions(connection, { workspaceId: workspace.id, formId }, sent))
  return { formId, store }
}

const withFields = (fields: [string, string][], email: string | null = null): TestSubmission => ({
  email,
  fields,
})

/** Gives each submission a delivery to a channel, a reply and a file. */
async function addTraces({ app: { db } }: TestServer, workspaceId: number, submissionIds: number[]) {
  await db.write(async (connection) => {
    const owned = { workspace_id: workspaceId, created_at: 1, updated_at: 1 }
    const [channel, replies] = await connection
      .insertInto('channels')
      .values([
        { ...owned, type: 'slack', name: 'Sales', shown_url: 'https://hooks.slack.com/…cret', sealed: null },
        { ...owned, type: 'reply', name: 'Replies to senders' },
      ])
      .returning('id')
      .execute()
    for (const id of submissionIds) {
      const delivery = {
        workspace_id: workspaceId,
        submission_id: id,
        status: 'delivered',
        created_at: 1,
        finished_at: 2,
      }
      await connection
        .insertInto('deliveries')
        .values([
          {
            ...delivery,
            channel_id: channel?.id as number,
            event: 'submission.created',
            message_id: `msg_${workspaceId}_${id}`,
          },
          {
            ...delivery,
            channel_id: replies?.id as number,
            event: 'reply',
            message_id: `msg_r${workspaceId}_${id}`,
          },
        ])
        .execute()
      await connection
        .insertInto('submission_files')
        .values({
          workspace_id: workspaceId,
          submission_id: id,
          field: 'cv',
          name: `../cv-${id}.txt`,
          type: 'text/plain',
          bytes: 5,
          sha256: '',
          key: `2026-11-23/${workspaceId}-${id}`,
          created_at: 1,
        })
        .execute()
    }
  })
}

/** @returns the texts of its files by name, in its order */
async function unzip(bytes: Uint8Array): Promise<Map<string, string>> {
  const zip = await promisify<Buffer, Options, ZipFile>(fromBuffer)(Buffer.from(bytes), { lazyEntries: true })
  const files = new Map<string, string>()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  zip.on('error', reject)
  zip.on('end', resolve)
  zip.on('entry', (entry: Entry) => {
    zip.openReadStream(entry, async (error, stream) => {
      if (error) return reject(error)
      const chunks: Uint8Array[] = []
      for await (const chunk of stream) chunks.push(chunk)
      files.set(entry.fileName, Buffer.concat(chunks).toString())
      zip.readEntry()
    })
  })
  zip.readEntry()
  await promise
  return files
}

onBothEngines('one person', (server) => {
  const query = (email: string) => `?${new URLSearchParams({ email })}`
  const erase = async ({ api }: TestWorkspace, email: string) =>
    (await api(`/submissions${query(email)}`, { method: 'DELETE' })).json.data
  async function download({ key }: TestWorkspace, email: string) {
    const answer = await fetch(`${server().origin}/v1/submissions/person${query(email)}`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/zip'])
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename=person-[\d-]{10}\.zip$/)
    return unzip(await answer.bytes())
  }
  const toData = (text: string | undefined) => JSON.parse(text ?? '').data

  async function setUp() {
    const own = await server().createWorkspace()
    const [first, second] = [await newForm(server(), own), await newForm(server(), own)]
    const [byEmail] = await first.store([
      withFields(
        [
          ['email', 'Ada@Example.com'],
          ['message', 'Call me'],
        ],
        'Ada@Example.com',
      ),
    ])
    const [byField] = await second.store([
      withFields([
        ['contact', ' ADA@example.com '],
        ['note', 'again'],
      ]),
    ])
    const others = await second.store([
      withFields([['message', `ask ${ADA}`]], 'bo@example.com'),
      withFields([['all', `${ADA}, bo@example.com`]]),
      withFields([['email', `x${ADA}`]], `x${ADA}`),
    ])
    const found = [byEmail, byField] as [number, number]
    await addTraces(server(), own.id, [...found, ...others])
    return { own, found, others }
  }

  test('is copied with everything of theirs, and nothing of others', async () => {
    const { own, found } = await setUp()
    const won = { submissionId: found[0], stage: 'won', value: '5.00', currency: 'EUR' }
    expect((await own.post('/outcomes', won)).status).toBe(201)
    const files = await download(own, 'aDa@example.com')
    expect([...files.keys()]).toEqual(['submissions.json', 'deliveries.json', 'README.txt'])
    const submissions = toData(files.get('submissions.json'))
    expect(submissions.map(({ id }: { id: number }) => id)).toEqual(found)
    expect(submissions[0]).toMatchObject({ fields: { message: 'Call me' }, consent: null, touches: [] })
    const { submissionId: _, ...outcome } = won
    const at = expect.any(String)
    expect(submissions[0].outcomes).toEqual([{ ...outcome, at, externalId: null }])
    expect(submissions[0].replies).toEqual([])
    expect(toData(files.get('deliveries.json'))).toEqual(
      found.flatMap((submissionId) => [
        expect.objectContaining({
          submissionId,
          event: 'submission.created',
          channel: 'Sales',
          type: 'slack',
        }),
        expect.objectContaining({
          submissionId,
          event: 'reply',
          channel: 'Replies to senders',
          status: 'delivered',
        }),
      ]),
    )
    const all = [...files.values()].join('\n')
    const other = await server().createWorkspace()
    expect((await download(other, ADA)).get('submissions.json')).toBe('{"data":[\n]}\n')
    for (const foreign of ['bo@example.com', `x${ADA}`, 'hooks.slack.com']) expect(all).not.toContain(foreign)
    expect(files.get('README.txt')).toContain('It has 2 submissions')
    // The audit log says that it happened, without the address.
    const { rows } = await sql`select * from audit_events where workspace_id = ${own.id}`.execute(
      server().app.db.read,
    )
    expect(JSON.stringify(rows)).toContain('submission.person_exported')
    expect(JSON.stringify(rows).toLowerCase()).not.toContain(ADA)
  })

  test('is copied with the files that were sent', async () => {
    const { own, found } = await setUp()
    const read = async (key: string) => new Response(`file ${key}`).body as ReadableStream<Uint8Array>
    const { origin, app } = server()
    const needs = {
      db: app.db,
      origin,
      now: server().now,
      fileStore: { read },
      resolvePendingAttribution: async () => {},
    }
    const actor = { kind: 'operator', workspaceId: own.id, plan: 'enterprise', keyId: null } as const
    const chunks = await Array.fromAsync(exportPerson(needs, actor, ADA, new AbortController().signal))
    const files = await unzip(Buffer.concat(chunks))
    const names = [...files.keys()].filter((name) => name.startsWith('files/'))
    expect(names.map((name) => name.replace(/\d+-_/, '_'))).toEqual(
      found.map((id) => `files/${id}/__cv-${id}.txt`),
    )
    expect(files.get(names[0] as string)).toBe(`file 2026-11-23/${own.id}-${found[0]}`)
  })

  test('is erased with everything of theirs, and a receipt proves it without the address', async () => {
    const { own, others } = await setUp()
    const { receipt, ...erased } = await erase(own, ADA)
    expect(erased).toEqual({ email: ADA, erased: 2 })
    expect(receipt).toMatchObject({ submissions: 2, files: 2, deliveries: 2, replies: 2 })
    const left = await server().rows('submissions', { workspace_id: own.id })
    expect(left.map(({ id }) => id)).toEqual(others)
    const { rows } = await sql<{ key: string }>`select key from erased_files`.execute(server().app.db.read)
    expect(rows.filter(({ key }) => key.startsWith(`2026-11-23/${own.id}-`)).length).toBe(2)
    const again = await erase(own, ADA.toUpperCase())
    expect(again).toMatchObject({
      erased: 0,
      receipt: { submissions: 0, files: 0, deliveries: 0, replies: 0 },
    })

    const list = async (workspace: TestWorkspace, filter = '') =>
      (await workspace.api(`/submissions/erasures${filter}`)).json
    const all = await list(own)
    expect(all).toMatchObject({ total: 2, nextCursor: null })
    expect(all.data[1]).toEqual({ ...receipt, emailHash: expect.stringMatching(/^[\w-]{43}$/) })
    expect((await list(own, query('ADA@example.com'))).total).toBe(2)
    expect((await list(own, query('bo@example.com'))).total).toBe(0)
    const page = await list(own, '?limit=1')
    expect((await list(own, `?cursor=${page.nextCursor}`)).data).toEqual([all.data[1]])
    // Another workspace has another hash for the address.
    const other = await server().createWorkspace()
    await erase(other, ADA)
    expect((await list(other)).data[0].emailHash).not.toBe(all.data[0].emailHash)
    expect((await list(other)).total).toBe(1)
  })

  test('whose erasure was interrupted is erased by the next request, on the same receipt', async () => {
    const { own } = await setUp()
    const receipts = server().app.db.read.selectFrom('erasure_receipts').where('workspace_id', '=', own.id)
    const done = await erase(own, ADA)
    // As it is after a kill in the middle: some rows are gone, and nobody has ended the receipt.
    await server().update('erasure_receipts', { id: done.receipt.id }, { finished_at: null })
    expect((await own.api(`/submissions/erasures${query(ADA)}`)).json.total).toBe(0)
    const [form] = await server().rows('forms', { workspace_id: own.id })
    await server().app.db.write((connection) =>
      insertSubmissions(connection, { workspaceId: own.id, formId: form?.id as number }, [
        withFields([], ADA),
      ]),
    )
    const resumed = await erase(own, ADA)
    expect(resumed).toMatchObject({ erased: 1, receipt: { id: done.receipt.id, submissions: 3 } })
    expect((await receipts.select('id').execute()).length).toBe(1)
  })

  test('of whom nothing is stored has an empty copy', async () => {
    const own = await server().createWorkspace()
    const { json } = await own.api('/submissions/person?email=nobody')
    expect(json.errors).toEqual({ email: 'must be an email address' })
    expect((await download(own, 'nobody@example.com')).get('submissions.json')).toBe('{"data":[\n]}\n')
  })
})
