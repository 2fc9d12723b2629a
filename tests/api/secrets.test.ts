// Secrets that an answer shows once: which routes say that they show one, and what is stored of such an answer.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { onBothEngines, startServer, type TestServer } from '../support/server/test-server.ts'
import { createTeam, type Team } from '../support/users/signed-in-user.ts'
import { documentedOperations, factsOf, type Operation } from './openapi-document.ts'
import {
  createTestResources,
  getSampleRequest,
  type TestResources,
  toAuthHeaders,
  toFirstBody,
  toRequestUrl,
} from './sample-requests.ts'

const SECRETS = {
  'a signing secret of Standard Webhooks': /whsec_[\w+/=]+/,
  'an API key': /\btp_[0-9A-Za-z]{20,}/,
  'the link of an invitation': /[?&#/](?:token|invitation)[=/][\w-]{16,}/,
}

const secretsIn = (text: string): string[] =>
  Object.values(SECRETS).flatMap((secret) => secret.exec(text)?.[0] ?? [])

const showSecret = documentedOperations.filter((operation) => factsOf(operation).secretInAnswer)
const showNone = documentedOperations.filter((operation) => !factsOf(operation).secretInAnswer)

/** A good request, with the owner's cookie where API keys may not ask. */
async function ask(server: TestServer, operation: Operation, own: Team, things: TestResources, key?: string) {
  const sample = getSampleRequest(operation, things)
  return server.call(toRequestUrl(operation, sample), {
    method: operation.method,
    body: toFirstBody(sample),
    headers: {
      'Content-Type': 'application/json',
      ...toAuthHeaders(operation, own),
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
    },
  })
}

/** Every column of every row. */
const storedAnswers = async ({ app }: TestServer) =>
  JSON.stringify(await app.db.read.selectFrom('idempotency_keys').selectAll().execute())

test('the routes that say that their answer has a secret', () => {
  expect(showSecret.map(({ id }) => id).sort()).toEqual([
    'createApiKey',
    'createChannel',
    'createInvitation',
    'rotateChannelSecret',
  ])
})

onBothEngines('an answer that has a secret', (server) => {
  describe('is sealed where it is stored, and replayed as it was', () => {
    test.each(showSecret.filter((one) => factsOf(one).idempotent))('$method $path', async (operation) => {
      const own = await createTeam(server())
      const things = await createTestResources(server(), own, `sealed${own.id}`)
      const first = await ask(server(), operation, own, things, 'once')
      const [secret = 'none'] = secretsIn(first.text)
      expect([Math.floor(first.status / 100), secret]).toEqual([2, expect.stringMatching(/^.{16,}$/)])

      const stored = await storedAnswers(server())
      expect(stored).toContain(`"workspace_id":${own.id}`)
      expect(secretsIn(stored)).toEqual([])
      for (const encoding of ['base64', 'base64url', 'hex'] as const) {
        expect(stored).not.toContain(Buffer.from(secret).toString(encoding))
      }

      const again = await ask(server(), operation, own, things, 'once')
      expect([again.status, again.headers.get('idempotency-replayed'), again.text]).toEqual([
        first.status,
        'true',
        first.text,
      ])
      expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'))
    })
  })

  describe('is not stored at all where the route takes no Idempotency-Key', () => {
    test.each(showSecret.filter((one) => !factsOf(one).idempotent))('$method $path', async (operation) => {
      const own = await createTeam(server())
      const things = await createTestResources(server(), own, `unstored${own.id}`)
      const refused = await ask(server(), operation, own, things, 'once')
      expect([refused.status, refused.json.errors]).toEqual([
        422,
        { 'Idempotency-Key': 'is not taken here: the answer is told once' },
      ])
      const answer = await ask(server(), operation, own, things)
      expect([Math.floor(answer.status / 100), secretsIn(answer.text)]).toEqual([2, [expect.any(String)]])
      expect(await storedAnswers(server())).not.toContain(`"workspace_id":${own.id}`)
    })
  })

  describe('in one row opens in no other', () => {
    const body = { type: 'webhook', name: 'Hook', url: 'http://127.0.0.1:1/hook' }
    const create = ({ api }: Team, key: string) =>
      api('/channels', { method: 'POST', body, headers: { 'Idempotency-Key': key } })
    const change = (from: [number, string], to: [number, string]) =>
      server().app.db.write(async (connection) => {
        const row = await connection
          .selectFrom('idempotency_keys')
          .select('body')
          .where('workspace_id', '=', from[0])
          .where('key', '=', from[1])
          .executeTakeFirstOrThrow()
        await connection
          .updateTable('idempotency_keys')
          .set(row)
          .where('workspace_id', '=', to[0])
          .where('key', '=', to[1])
          .execute()
      })

    test('neither of the workspace nor of another one', async () => {
      const [own, other] = [await createTeam(server()), await createTeam(server())]
      await create(own, 'a')
      await create(own, 'b')
      await create(other, 'a')
      await change([own.id, 'a'], [own.id, 'b'])
      await change([own.id, 'a'], [other.id, 'a'])
      for (const answer of [await create(own, 'b'), await create(other, 'a')]) {
        expect([answer.status, answer.text]).toEqual([500, '{"error":"Internal server error"}'])
      }
      expect((await create(own, 'a')).status).toBe(201)
    })

    test('what an earlier release stored as it was is still replayed', async () => {
      const own = await createTeam(server())
      const first = await create(own, 'old')
      await server().app.db.write((connection) =>
        connection
          .updateTable('idempotency_keys')
          .set({ body: first.text })
          .where('workspace_id', '=', own.id)
          .execute(),
      )
      const again = await create(own, 'old')
      expect([again.status, again.text]).toEqual([201, first.text])
    })
  })
})

describe('no other answer', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer('sqlite')
  })
  afterAll(() => server?.close())

  test.each(showNone)('of $method $path has anything like a secret', async (operation) => {
    const own = await createTeam(server)
    const things = await createTestResources(server, own, `plain${own.id}`)
    const key = factsOf(operation).idempotent ? 'once' : undefined
    const answer = await ask(server, operation, own, things, key)
    expect([operation.id, Math.floor(answer.status / 100), secretsIn(answer.text)]).toEqual([
      operation.id,
      2,
      [],
    ])
    const known = [own.key, things.token, own.owner.cookie.split('=')[1] as string]
    expect(known.filter((secret) => answer.text.includes(secret))).toEqual([])
    expect(secretsIn(await storedAnswers(server))).toEqual([])
  })
})
