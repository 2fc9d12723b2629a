// Secrets that an answer shows once: their routes declare them, and their answers are stored encrypted.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTeam, type Team } from '../support/users/signed-in-user.ts'
import { DEAD_MAIL_SERVER, onBothEngines, startServer, type TestServer } from '../support/world.ts'
import { documentedOperations, getRouteFacts, type Operation } from './openapi-document.ts'
import {
  createTestResources,
  getSampleRequest,
  isForOperator,
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

const findSecrets = (text: string): string[] =>
  Object.values(SECRETS).flatMap((secret) => secret.exec(text)?.[0] ?? [])

const withSecret = documentedOperations.filter((operation) => getRouteFacts(operation).secretInAnswer)
const withoutSecret = documentedOperations.filter(
  (operation) => !getRouteFacts(operation).secretInAnswer && !isForOperator(operation),
)

/** Sends the sample request, with the owner's cookie when API keys may not call the operation. */
async function sendSample(
  server: TestServer,
  operation: Operation,
  own: Team,
  things: TestResources,
  key?: string,
) {
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

/** All stored answers, with every column, as JSON. */
const readStoredAnswers = async ({ app }: TestServer) =>
  JSON.stringify(await app.db.read.selectFrom('idempotency_keys').selectAll().execute())

test('four routes declare a secret in their answer', () => {
  expect(withSecret.map(({ id }) => id).sort()).toEqual([
    'createApiKey',
    'createChannel',
    'createInvitation',
    'rotateChannelSecret',
  ])
})

onBothEngines('an answer that has a secret', (server) => {
  describe('is stored sealed, and replayed unchanged', () => {
    test.each(withSecret.filter((one) => getRouteFacts(one).idempotent))(
      '$method $path',
      async (operation) => {
        const own = await createTeam(server())
        const things = await createTestResources(server(), own, `sealed${own.id}`)
        const first = await sendSample(server(), operation, own, things, 'once')
        const [secret = 'none'] = findSecrets(first.text)
        expect([Math.floor(first.status / 100), secret]).toEqual([2, expect.stringMatching(/^.{16,}$/)])

        const stored = await readStoredAnswers(server())
        expect(stored).toContain(`"workspace_id":${own.id}`)
        expect(findSecrets(stored)).toEqual([])
        for (const encoding of ['base64', 'base64url', 'hex'] as const) {
          expect(stored).not.toContain(Buffer.from(secret).toString(encoding))
        }

        const again = await sendSample(server(), operation, own, things, 'once')
        expect([again.status, again.headers.get('idempotency-replayed'), again.text]).toEqual([
          first.status,
          'true',
          first.text,
        ])
        expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'))
      },
    )
  })

  describe('is not stored when the route takes no Idempotency-Key', () => {
    test.each(withSecret.filter((one) => !getRouteFacts(one).idempotent))(
      '$method $path',
      async (operation) => {
        const own = await createTeam(server())
        const things = await createTestResources(server(), own, `unstored${own.id}`)
        const refused = await sendSample(server(), operation, own, things, 'once')
        expect([refused.status, refused.json.errors]).toEqual([
          422,
          { 'Idempotency-Key': 'is not taken here: the answer is told once' },
        ])
        const answer = await sendSample(server(), operation, own, things)
        expect([Math.floor(answer.status / 100), findSecrets(answer.text)]).toEqual([2, [expect.any(String)]])
        expect(await readStoredAnswers(server())).not.toContain(`"workspace_id":${own.id}`)
      },
    )
  })

  describe('opens only in its own row', () => {
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

    test('not in another row of the same workspace, nor in one of another workspace', async () => {
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

    test('replays an answer that an earlier release stored unsealed', async () => {
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
  /** For all operations that delete nothing. */
  let shared: Awaited<ReturnType<typeof createFilledTeam>>
  beforeAll(async () => {
    server = await startServer('sqlite', { environment: DEAD_MAIL_SERVER })
    shared = await createFilledTeam()
  })
  afterAll(() => server?.close())

  async function createFilledTeam() {
    const own = await createTeam(server)
    return { own, things: await createTestResources(server, own, `plain${own.id}`) }
  }

  test.each(withoutSecret)('contains a secret: $method $path', async (operation) => {
    const { own, things } = operation.method === 'DELETE' ? await createFilledTeam() : shared
    const key = getRouteFacts(operation).idempotent ? operation.id : undefined
    const answer = await sendSample(server, operation, own, things, key)
    expect([operation.id, Math.floor(answer.status / 100), findSecrets(answer.text)]).toEqual([
      operation.id,
      2,
      [],
    ])
    const known = [own.key, things.token, own.owner.cookie.split('=')[1] as string]
    expect(known.filter((secret) => answer.text.includes(secret))).toEqual([])
    expect(findSecrets(await readStoredAnswers(server))).toEqual([])
  })
})
