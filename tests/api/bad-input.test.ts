// Whatever a stranger writes into any place of any operation is refused in the words of docs/contract.md §1, and
// leaves nothing.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Tables } from '../../server/storage/database/tables.ts'
import { atScale } from '../support/scale.ts'
import { retryWhile503 } from '../support/server/retry-503.ts'
import { onBothEngines, type TestServer } from '../support/server/test-server.ts'
import { createTeam, type Team } from '../support/users/signed-in-user.ts'
import { LONG_TEXT, ODD_TEXTS } from './hostile-input.ts'
import {
  documentedOperations,
  findBodySchema,
  listSchemaErrors,
  type Operation,
  openApi,
  resolveSchema,
} from './openapi-document.ts'
import type { PickSome, RequestCase } from './request-case.ts'
import { createRequestCases } from './request-cases.ts'
import {
  createTestResources,
  getSampleRequest,
  SAMPLE_REQUESTS,
  toAuthHeaders,
  toRequestUrl,
} from './sample-requests.ts'

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000)
const SECONDS = 1000
const LIMIT = 300

/** xorshift32: the same seed (and operation) picks the same cases. */
function picker(seed: number): PickSome {
  let state = (seed * 2_654_435_761 + 1) | 0 || 1
  const random = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
  return (pool, count) =>
    pool
      .map((item) => ({ item, order: random() }))
      .sort((a, b) => a.order - b.order)
      .slice(0, count)
      .map(({ item }) => item)
}

/** Bodies of any JSON for each operation. */
const RUNS = { sqlite: atScale({ test: 15, soak: 40 }), postgres: atScale({ test: 8, soak: 20 }) }

/** The server's limits are counted on this clock: a test needs many minutes' worth of requests. */
let minutes = 0
const clock = () => performance.now() + minutes * 60 * SECONDS

async function anotherMinute({ app }: TestServer) {
  minutes += 1
  if (app.db.engine === 'postgres')
    await app.db.write((connection) => connection.deleteFrom('rate_windows').execute())
}

/**
 * Not what was asked for: the windows of the limits, when a key was last used, which migrations have run, and how many
 * submissions were sent while a test was prepared, which is written a second later.
 */
const ASIDE = /^(rate_windows|form_attempts|kysely_migration(_lock)?|sqlite_\w+)$/

/** Everything that is stored, whatever tables there are. */
async function everyRow({ app }: TestServer): Promise<Record<string, unknown[]>> {
  const connection = app.db.read
  const tables = (await connection.introspection.getTables())
    .map(({ name }) => name)
    .filter((name) => !ASIDE.test(name))
  expect(tables).toEqual(
    expect.arrayContaining([
      'links',
      'tags',
      'link_tags',
      'forms',
      'submissions',
      'idempotency_keys',
      'api_keys',
    ]),
  )
  const contents = tables.map(async (table) => {
    const rows = await connection
      .selectFrom(table as keyof Tables)
      .selectAll()
      .execute()
    return [table, rows.map((row) => JSON.stringify({ ...row, last_used_at: null })).sort()]
  })
  return Object.fromEntries(await Promise.all(contents))
}

/** @returns what is wrong with the answer, if anything is */
async function send(
  server: TestServer,
  workspace: Team,
  operation: Operation,
  one: RequestCase,
): Promise<string[]> {
  const response = await retryWhile503(() =>
    fetch(server.origin + one.url, {
      method: operation.method,
      headers: {
        ...(one.headers ?? (one.body === undefined ? {} : { 'Content-Type': 'application/json' })),
        ...toAuthHeaders(operation, workspace),
      },
      body: one.body as string | undefined,
    }),
  )
  const text = await response.text()
  const wrong = verdict(operation, one, response, text)
  return wrong ? [`${one.description} → ${response.status} ${text.slice(0, 150)}: ${wrong}`] : []
}

function verdict(
  operation: Operation,
  one: RequestCase,
  { status, headers }: Response,
  text: string,
): string | undefined {
  if (status >= 500) return 'a fault of ours'
  if (status === 429) return 'the test asked too often'
  if (status < 400) return one.mustBeRefused ? 'is not refused' : undefined
  if (one.status !== undefined && status !== one.status) return `should be ${one.status}`
  if (!headers.get('content-type')?.startsWith('application/json')) return 'is no JSON'
  if (!headers.get('x-request-id')) return 'has no X-Request-Id'
  const { schemas } = openApi.document.components
  const documented = operation.responses[status]?.content?.['application/json']?.schema
  // What is not the path of the operation any more is answered by no operation.
  const schema = documented ?? ([404, 405].includes(status) ? schemas.Error : undefined)
  if (!schema) return 'is a status that the document does not give this operation'
  return listSchemaErrors(schema, JSON.parse(text)).join(', ') || undefined
}

async function sendAll(server: TestServer, workspace: Team, operation: Operation, cases: RequestCase[]) {
  const wrong: string[] = []
  const asked = [...cases]
  while (asked.length > 0) {
    await anotherMinute(server)
    const minute = asked.splice(0, LIMIT)
    while (minute.length > 0) {
      const answers = minute.splice(0, 20).map((one) => send(server, workspace, operation, one))
      wrong.push(...(await Promise.all(answers)).flat())
    }
  }
  return wrong
}

test('every operation has a sample, and every sample an operation', () => {
  expect(Object.keys(SAMPLE_REQUESTS).sort()).toEqual(documentedOperations.map(({ id }) => id).sort())
})

onBothEngines(
  `bad input, SEED=${SEED}`,
  (server) => {
    async function filled() {
      await anotherMinute(server())
      const workspace = await createTeam(server())
      return { workspace, things: await createTestResources(server(), workspace, `w${workspace.id}`) }
    }

    /** For requests that change nothing, or whose changes are nobody's business. */
    let common: ReturnType<typeof filled> | undefined

    async function prepared(operation: Operation, apart = operation.method !== 'GET') {
      common ??= filled()
      const { workspace, things } = await (apart ? filled() : common)
      await anotherMinute(server())
      return { workspace, sample: getSampleRequest(operation, things) }
    }

    /**
     * What the store never sees is the same over either: over PostgreSQL there are a few for each operation, and some of
     * those with a text that PostgreSQL cannot hold, should they come so far.
     */
    function sent(cases: RequestCase[], pick: PickSome): RequestCase[] {
      const [bad, odd] = [cases.filter((one) => one.mustBeRefused), cases.filter((one) => !one.mustBeRefused)]
      if (server().engine === 'sqlite') return [...bad, ...pick(odd, atScale({ test: 15, soak: 40 }))]
      const unwritable = cases.filter(({ description }) => /\\u0000|\\ud[89a-f]/.test(description))
      return [...new Set([...pick(unwritable, 10), ...pick(bad, 10), ...pick(odd, 10)])]
    }

    test.each(documentedOperations)(
      '$method $path refuses what is wrong and stores nothing of it, and breaks on nothing',
      async (operation) => {
        const { workspace, sample } = await prepared(operation)
        const pick = picker(SEED + documentedOperations.indexOf(operation))
        const cases = sent(createRequestCases(operation, sample, pick), pick)
        const bad = cases.filter((one) => one.mustBeRefused)
        // An operation that takes nothing has the fewest: names that it does not know.
        expect(bad.length).toBeGreaterThanOrEqual(8)
        const before = await everyRow(server())
        const wrong = await sendAll(server(), workspace, operation, bad)
        const after = await everyRow(server())
        const odd = cases.filter((one) => !one.mustBeRefused)
        wrong.push(...(await sendAll(server(), workspace, operation, odd)))
        expect(wrong).toEqual([])
        expect(after).toEqual(before)
      },
      120 * SECONDS,
    )

    test('a body in pieces is cut off after a megabyte, and a head after 16 KB', async () => {
      const { workspace } = await prepared(documentedOperations[0] as Operation)
      const before = await everyRow(server())
      const pieces = new ReadableStream({
        async pull(controller) {
          controller.enqueue(new Uint8Array(64 * 1024).fill(32))
        },
      })
      const headers = { Authorization: `Bearer ${workspace.key}`, 'Content-Type': 'application/json' }
      const answer = await fetch(`${server().origin}/v1/links`, { method: 'POST', headers, body: pieces })
      expect(answer.status).toBe(413)
      for (const path of [`/links?search=${LONG_TEXT}`, `/links/${LONG_TEXT}`]) {
        expect((await workspace.api(path)).status).toBe(431)
      }
      expect((await workspace.api('/links', { headers: { 'X-Long': LONG_TEXT } })).status).toBe(431)
      expect((await workspace.api('/links')).status).toBe(200)
      expect(await everyRow(server())).toEqual(before)
    })

    test('odd text that is well-formed comes back to the letter, and is found', async () => {
      const { workspace } = await prepared(documentedOperations[0] as Operation)
      const texts = ODD_TEXTS.filter((text) => text.trim() !== '' && text.length <= 50)
      const links = texts.map((text, i) => {
        const externalId = `${i}${text}`
        return {
          destinationUrl: 'https://example.com/',
          title: text,
          comments: text,
          externalId,
          tagNames: [text.trim()],
        }
      })
      const { status, json } = await workspace.api('/links/bulk', { method: 'POST', body: links })
      expect(status).toBe(201)
      for (const [i, { title, comments, externalId, tagNames }] of links.entries()) {
        const { data } = (await workspace.api(`/links/${json.data[i].id}`)).json
        const tags = data.tags.map(({ name }: { name: string }) => name)
        expect([data.title, data.comments, data.externalId, tags]).toEqual([
          title,
          comments,
          externalId,
          tagNames,
        ])
        const query = new URLSearchParams({ search: title, externalId })
        expect((await workspace.api(`/links?${query}`)).json.total).toBe(1)
      }
    })

    test.each(documentedOperations.filter(findBodySchema))(
      '$method $path never fails on a body of any JSON',
      async (operation) => {
        const { workspace, sample } = await prepared(operation, false)
        const names = Object.keys(
          resolveSchema(findBodySchema(operation) ?? {}).properties ?? { links: 1, ids: 1, data: 1 },
        )
        const value = fc.jsonValue({ stringUnit: 'binary', maxDepth: 3 })
        const body = fc.oneof(
          value,
          fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 5 }),
          fc.array(fc.dictionary(fc.constantFrom('id', 'destinationUrl', 'slug', 'tagIds'), value), {
            maxLength: 3,
          }),
        )
        const url = toRequestUrl(operation, sample)
        const property = fc.asyncProperty(body, async (json) => {
          const one = { description: 'any JSON', mustBeRefused: false, url, body: JSON.stringify(json) }
          expect(await send(server(), workspace, operation, one)).toEqual([])
        })
        await fc.assert(property, { numRuns: RUNS[server().engine], seed: SEED })
      },
      120 * SECONDS,
    )
  },
  { clock },
)
