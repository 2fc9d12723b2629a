// Effects of an API key with one scope: the answers it reads and the rows it writes and deletes match the words of the
// scope.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { createKey } from '../../server/features/accounts/access/keys.ts'
import { createSubmissionPruner } from '../../server/features/forms/erasure/prune-submissions.ts'
import { KEY_SCOPES, type KeyScope } from '../../server/http/key-scope.ts'
import { DAY_MS } from '../../server/lib/utc-day.ts'
import {
  documentedOperations,
  findBodySchema,
  getOperation,
  listSchemaErrors,
  type Operation,
  resolveSchema,
} from '../api/openapi-document.ts'
import {
  createTestResources,
  getSampleRequest,
  isSessionOnly,
  type SampleRequest,
  toFirstBody,
  toRequestUrl,
} from '../api/sample-requests.ts'
import { readAllRows } from '../support/readers/read-all-rows.ts'
import { addVerifiedDomain, putLinkOnDomain } from '../support/server/verified-domain.ts'
import { quick } from '../support/suite.ts'
import { createTeam, type Team } from '../support/users/signed-in-user.ts'
import { DEAD_MAIL_SERVER, onSqlite } from '../support/world.ts'

setDefaultTimeout(120_000)

type Kind = 'links' | 'forms' | 'submissions' | 'channels' | 'views'

/** Texts of stored resources, by the first word of the scopes that read them. */
const toStoredTexts = (mark: string): Record<Kind, string[]> => ({
  links: [
    `${mark} title`,
    `${mark}.example/`,
    `${mark}-slug`,
    `${mark}-external`,
    `${mark} tag`,
    `${mark} template`,
    `go.${mark}.`,
  ],
  forms: [`${mark} form`],
  submissions: [`${mark} message`, `${mark}@example.com`, `${mark} file`, `friend.${mark}`],
  channels: [`${mark} channel`, `hook/${mark}`],
  views: [`${mark} view`],
})

const TABLES: Record<Kind | 'deliveries' | 'imports', string[]> = {
  links: ['links', 'link_tags', 'tags', 'domains', 'utm_templates'],
  imports: ['imports', 'import_rows'],
  forms: ['forms'],
  submissions: [
    'submissions',
    'submission_assignees',
    'team_replies',
    'touches',
    'outcomes',
    'submission_files',
    'allowed_senders',
  ],
  channels: ['channels'],
  views: ['views'],
  deliveries: ['deliveries', 'delivery_attempts'],
}
const OTHER_TABLES = ['workspaces', 'users', 'members', 'invitations', 'api_keys']
const COMPARED = new RegExp(`^(?!(?:${[...Object.values(TABLES).flat(), ...OTHER_TABLES].join('|')})$)`)

interface Effect {
  reads: Kind[]
  changes: (Kind | 'deliveries' | 'imports')[]
}

/**
 * The words of docs/contract.md §16. Analytics and submissions name the links and forms that they are about. A submission goes
 * with its deliveries, and a channel leaves the forms that name it.
 */
const EFFECTS: Record<(typeof KEY_SCOPES)[number], Effect> = {
  'links:read': { reads: ['links'], changes: [] },
  'links:write': { reads: [], changes: ['links', 'imports'] },
  'analytics:read': { reads: ['links', 'forms', 'views'], changes: [] },
  'analytics:write': { reads: [], changes: ['views'] },
  'forms:read': { reads: ['forms'], changes: [] },
  'forms:write': { reads: [], changes: ['forms'] },
  'submissions:read': { reads: ['submissions', 'forms', 'links'], changes: [] },
  'submissions:write': { reads: [], changes: ['submissions', 'deliveries', 'imports'] },
  'channels:write': { reads: ['channels', 'forms'], changes: ['channels', 'deliveries', 'forms'] },
}

const forKeys = documentedOperations.filter((operation) => !isSessionOnly(operation))

/** The sample; of a PATCH also the body that changes nothing. It comes first, while all texts are as they were. */
function listSamples(operation: Operation, sample: SampleRequest): SampleRequest[] {
  const takesNothing = operation.method === 'PATCH' && !operation.path.endsWith('/bulk')
  return [...(takesNothing ? [{ ...sample, bodies: [{}] }] : []), sample]
}

onSqlite(
  'an API key with one scope',
  (server) => {
    const makeKey = async (id: number, scopes: KeyScope[]) =>
      (await createKey({ db: server().app.db, now: server().now }, id, 'one', { scopes })).key
    const ask = (key: string, path: string, method = 'GET', body?: string, headers = {}) =>
      server().call(path, {
        method,
        body,
        headers: {
          Authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
      })
    const patch = (key: string, path: string, body: unknown) => ask(key, path, 'PATCH', JSON.stringify(body))

    let places = 0
    async function createPlace(scope: KeyScope) {
      const own = await createTeam(server())
      const mark = `m${places++}x`
      const things = await createTestResources(server(), own, mark)
      // The failed test of the channel becomes the failed delivery of the submission: nothing attempts it again.
      const { submissionId, deliveryId, channelId } = things
      await server().app.db.write((connection) =>
        connection
          .updateTable('deliveries')
          .set({ event: 'submission.created', submission_id: submissionId })
          .where('id', '=', deliveryId)
          .execute(),
      )
      await own.api(`/forms/${things.formKey}`, { method: 'PATCH', body: { channelIds: [channelId] } })
      return { own, mark, things, key: await makeKey(own.id, [scope]) }
    }

    /** The rows of a place, without those that work in the background changes in others. */
    async function readRows({ id }: Team): Promise<Record<string, string[]>> {
      const other = new RegExp(`"workspace_id":(?!${id}\\b)`)
      const tables = Object.entries(await readAllRows(server(), COMPARED))
      return Object.fromEntries(
        // Nobody sees the hidden channel that mails to senders go through.
        tables.map(([table, rows]) => [
          table,
          rows.filter((row) => !other.test(row) && !(table === 'channels' && row.includes('"type":"reply"'))),
        ]),
      )
    }

    /** @returns the kinds of resources whose rows are others than before */
    function findChanged(before: Record<string, string[]>, after: Record<string, string[]>): string[] {
      const changed = Object.keys(before).filter((table) => !Bun.deepEquals(before[table], after[table]))
      const kinds = Object.entries(TABLES).filter(([, tables]) =>
        tables.some((table) => changed.includes(table)),
      )
      return [...kinds.map(([kind]) => kind), ...changed.filter((table) => OTHER_TABLES.includes(table))]
    }

    for (const scope of KEY_SCOPES) {
      quick(`${scope}: each operation reads and changes what the scope says`, async () => {
        const { reads, changes } = EFFECTS[scope]
        const wrong: unknown[] = []
        let answered = 0
        let place = await createPlace(scope)
        let before = await readRows(place.own)
        for (const operation of forKeys) {
          for (const sample of listSamples(operation, getSampleRequest(operation, place.things))) {
            const { key, mark, own } = place
            const { status, text, json, headers } = await ask(
              key,
              toRequestUrl(operation, sample),
              operation.method,
              toFirstBody(sample),
            )
            // Values of the request itself do not count as read.
            const sent = decodeURIComponent(`${toRequestUrl(operation, sample)} ${toFirstBody(sample)}`)
            const read = Object.entries(toStoredTexts(mark))
              .filter(([, texts]) => texts.some((stored) => text.includes(stored) && !sent.includes(stored)))
              .map(([kind]) => kind)
            // A refusal comes before any work: what it would change nevertheless is seen with the next answer.
            const after = status === 403 ? before : await readRows(own)
            const changed = findChanged(before, after)
            before = after
            const isWrong =
              (status !== 403 && status >= 300) ||
              read.some((kind) => status === 403 || !(reads as string[]).includes(kind)) ||
              // Deliveries and imports that a request has begun go on behind the next ones.
              changed.some((kind) => !(changes as string[]).includes(kind))
            if (isWrong) wrong.push({ id: operation.id, status, read, changed, text: text.slice(0, 300) })
            if (status === 403) continue
            answered++
            const schema = operation.responses[status]?.content?.['application/json']?.schema
            if (schema && json && headers.get('content-type') === 'application/json')
              expect([operation.id, listSchemaErrors(schema, json)]).toEqual([operation.id, []])
            if (operation.method !== 'DELETE') continue
            place = await createPlace(scope)
            before = await readRows(place.own)
          }
        }
        wrong.push(...findChanged(before, await readRows(place.own)))
        expect(wrong).toEqual([])
        expect(answered).toBeGreaterThan(2)
      })
    }

    test('gets the id of what it writes and may not read, and of a new thing the address too', async () => {
      const { things, own, key } = await createPlace('submissions:write')
      const path = `/v1/submissions/${things.submissionId}`
      for (const body of [{}, { status: 'read' }])
        expect((await patch(key, path, body)).json).toEqual({ data: { id: things.submissionId } })
      const both = await makeKey(own.id, ['submissions:read', 'submissions:write'])
      expect((await patch(both, path, {})).json.data.fields.email).toBe(things.email)

      const links = await makeKey(own.id, ['links:write'])
      const link = { id: things.linkId, updatedAt: expect.any(String) }
      expect((await patch(links, `/v1/links/${things.linkId}`, {})).json).toEqual({ data: link })
      const all = await ask(links, `/v1/links/bulk?ids=${things.linkId}`, 'DELETE')
      expect(all.json).toEqual({ data: [link] })
      const made = await ask(links, '/v1/tags', 'POST', JSON.stringify({ name: 'mine' }))
      expect([made.status, Object.keys(made.json.data)]).toEqual([201, ['id']])

      const forms = await makeKey(own.id, ['forms:write'])
      const form = await ask(forms, '/v1/forms', 'POST', JSON.stringify({ name: 'Mine' }))
      expect(Object.keys(form.json.data)).toEqual(['formKey', 'endpoint', 'updatedAt'])
      expect((await patch(forms, `/v1/forms/${things.formKey}`, {})).json).toEqual({
        data: { formKey: things.formKey, updatedAt: expect.any(String) },
      })

      const channels = await makeKey(own.id, ['channels:write'])
      const hook = JSON.stringify({ type: 'webhook', name: 'Mine', url: 'https://example.com/hook' })
      expect((await ask(channels, '/v1/channels', 'POST', hook)).json.data.secret).toStartWith('whsec_')
    })

    test('does not get a stored answer that a key with other scopes got', async () => {
      const { own, key } = await createPlace('links:write')
      const send = (by: string) =>
        ask(by, '/v1/links', 'POST', JSON.stringify({ destinationUrl: 'https://example.com/' }), {
          'Idempotency-Key': 'same',
        })
      const first = await send(await makeKey(own.id, ['links:read', 'links:write']))
      const other = await send(key)
      const again = await send(await makeKey(own.id, ['links:write']))
      expect([other, again].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true'])
      expect(Object.keys(other.json.data)).toEqual(['id', 'shortUrl', 'updatedAt'])
      expect(other.json.data.id).not.toBe(first.json.data.id)
      expect(again.text).toBe(other.text)
    })

    /** A form that keeps its submissions for ten years, with a submission and one that is spam. */
    async function createFormToKeep(own: Team) {
      const make = { name: 'Kept', retentionDays: 3650, spamRetentionDays: 3650 }
      const { formKey, endpoint } = (await own.api('/forms', { method: 'POST', body: make })).json.data
      for (const message of ['one', 'two'])
        await fetch(endpoint, { method: 'POST', body: new URLSearchParams({ message }) })
      const list = async () => (await own.api(`/forms/${formKey}/submissions`)).json.data as { id: number }[]
      await own.api(`/submissions/${(await list())[0]?.id}`, { method: 'PATCH', body: { status: 'spam' } })
      return { path: `/v1/forms/${formKey}`, list }
    }

    test('of forms cannot have a job delete submissions, whichever setting it changes', async () => {
      const { own, key } = await createPlace('forms:write')
      const { path, list } = await createFormToKeep(own)
      const schema = resolveSchema(findBodySchema(getOperation('updateForm')) ?? {})
      const answers: Record<string, number> = {}
      for (const [name, { type }] of Object.entries(schema.properties ?? {})) {
        answers[`${name}: null`] = (await patch(key, path, { [name]: null })).status
        if ([type].flat().includes('integer'))
          answers[`${name}: 1`] = (await patch(key, path, { [name]: 1 })).status
      }
      await createSubmissionPruner({ db: server().app.db, now: () => server().now() + 60 * DAY_MS }).run()
      expect(await list()).toHaveLength(2)
      expect(Object.keys(answers).length).toBeGreaterThan(20)
      expect(Object.entries(answers).filter(([, status]) => status === 403)).toEqual([
        ['spamRetentionDays: null', 403],
        ['spamRetentionDays: 1', 403],
        ['retentionDays: 1', 403],
      ])
    })

    test('of forms lengthens the retention of submissions, and shortens it with the scope that deletes them', async () => {
      const { own, key } = await createPlace('forms:write')
      const { path } = await createFormToKeep(own)
      const refused = await patch(key, path, { retentionDays: 3649 })
      expect(refused.json).toEqual({ error: 'This API key lacks the scope submissions:write' })
      // As it is, and longer.
      expect((await patch(key, path, { retentionDays: 3650, spamRetentionDays: 3650 })).status).toBe(200)
      expect((await patch(key, path, { retentionDays: null })).status).toBe(200)
      const both = await makeKey(own.id, ['forms:write', 'submissions:write'])
      expect((await patch(both, path, { retentionDays: 1, spamRetentionDays: null })).status).toBe(200)
      expect((await own.api(path.slice('/v1'.length))).json.data.retentionDays).toBe(1)
    })

    test('of channels does not read the mail to a sender, nor what is answered about it', async () => {
      const { own, things, mark, key } = await createPlace('channels:write')
      const { deliveryId } = things
      const said = { answer: `550 <${things.email}>`, request: JSON.stringify({ body: `${mark} message` }) }
      await server().app.db.write(async (connection) => {
        const reply = { event: 'reply', last_error: said.answer }
        await connection.updateTable('deliveries').set(reply).where('id', '=', deliveryId).execute()
        await connection
          .updateTable('delivery_attempts')
          .set(said)
          .where('delivery_id', '=', deliveryId)
          .execute()
      })
      for (const path of ['/deliveries', `/deliveries/${deliveryId}`]) {
        expect((await own.api(path)).text).toContain(things.email)
        const { text } = await ask(key, `/v1${path}`)
        for (const hidden of toStoredTexts(mark).submissions) expect(text).not.toContain(hidden)
      }
    })

    test('of links does not find the import of a whole workspace, which names people and undoes forms', async () => {
      const { own, things } = await createPlace('links:read')
      await server().app.db.write((connection) =>
        connection
          .updateTable('imports')
          .set({ source: 'towpath' })
          .where('id', '=', things.importId)
          .execute(),
      )
      const key = await makeKey(own.id, ['links:read', 'links:write'])
      const path = `/v1/imports/${things.importId}`
      for (const [method, each] of [
        ['GET', path],
        ['GET', `${path}/rows`],
        ['GET', `${path}/errors`],
        ['DELETE', path],
      ] as const) {
        const { status, json } = await ask(key, each, method)
        expect([each, status, json]).toEqual([each, 404, { error: 'Import not found' }])
      }
      expect((await ask(key, '/v1/imports')).json).toEqual({ data: [], nextCursor: null, total: 0 })
      expect((await own.api(`/imports/${things.importId}`)).json.data.status).toBe('done')
    })

    test('of links learns from a refusal nothing that it may not read', async () => {
      const { own, mark, key, things } = await createPlace('links:write')
      const [name, slug] = [`secret.${mark}.example`, `secret-${mark}`]
      const domainId = await addVerifiedDomain(server(), own.id, name)
      const onDomain = await putLinkOnDomain(server(), own, name, { slug })
      await own.createLink({ slug })
      const refusals = [
        await ask(key, `/v1/domains/${domainId}`, 'DELETE'),
        await ask(key, `/v1/domains/${domainId}?moveTo=default`, 'DELETE'),
        await patch(key, `/v1/links/${things.linkId}`, { domain: 'nowhere.example' }),
        await patch(key, `/v1/links/${onDomain}`, { domain: new URL(server().origin).host }),
      ]
      expect(refusals.map(({ status }) => status)).toEqual([409, 409, 422, 409])
      for (const { text } of refusals) expect(text).not.toContain('secret')
      const own409 = await own.api(`/domains/${domainId}`, { method: 'DELETE' })
      expect(own409.json.error).toStartWith(`${name} has 1 link`)
    })
  },
  { environment: DEAD_MAIL_SERVER },
)
