// Every operation refuses invalid input as docs/contract.md §1 says, in every parameter, header and body field, and
// stores nothing of it.

import { beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRandom } from '../support/random.ts'
import { readAllRows } from '../support/readers/read-all-rows.ts'
import { retryWhile503 } from '../support/server/retry-503.ts'
import { atScale, quick } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { createTeam, type Team } from '../support/users/signed-in-user.ts'
import { onBothEngines, type TestServer } from '../support/world.ts'
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

const SECONDS = 1000
const LIMIT = 300

/** The part of each pool of hostile values that an operation gets. */
const SHARE = atScale({ quick: 1 / 5, full: 1, soak: 1 })
/** Cases that the server may accept, and random JSON bodies, for each operation. */
const ODD_CASES = atScale({ quick: 3, full: 15, soak: 40 })
const RUNS = { sqlite: atScale({ quick: 4, full: 15, soak: 40 }), postgres: atScale({ full: 8, soak: 20 }) }

/** Picks random items, for each operation others. */
function createPicker({ id }: Operation): PickSome {
  const random = createRandom(`bad input of ${id}`)
  return (pool, count) =>
    pool
      .map((item) => ({ item, order: random() }))
      .sort((a, b) => a.order - b.order)
      .slice(0, Math.max(4, Math.ceil(count * SHARE)))
      .map(({ item }) => item)
}

/** The server counts its rate limits on this clock: a test sends more requests than the limit of many minutes. */
let minutes = 0
const clock = () => performance.now() + minutes * 60 * SECONDS

async function startNextMinute({ app }: TestServer) {
  minutes += 1
  if (app.db.engine !== 'postgres') return
  await app.db.write(async (connection) => {
    await connection.deleteFrom('rate_limits').execute()
    await connection.deleteFrom('rate_windows').execute()
  })
}

/**
 * Tables that change without the tested request: rate limits, migrations, the salt of tomorrow, how far links were looked at for their end, and counts of submissions, which
 * the server writes a second after the preparation of a test sent them.
 */
const IGNORED_TABLES =
  /^(leases|nodes|event_marks|rate_limits|rate_windows|visitor_salts|internal_visitors|form_attempts|erased_files|kysely_migration(_lock)?|sqlite_\w+)$/

/** All rows of all tables, without the time at which a key was last used. */
async function readRows(server: TestServer): Promise<Record<string, string[]>> {
  const rows = await readAllRows(server, IGNORED_TABLES)
  expect(Object.keys(rows)).toEqual(
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
  return rows
}

/** @returns the problem with the answer, if there is requestCase */
async function send(
  server: TestServer,
  workspace: Team,
  operation: Operation,
  requestCase: RequestCase,
): Promise<string[]> {
  const response = await retryWhile503(() =>
    fetch(server.origin + requestCase.url, {
      method: operation.method,
      headers: {
        ...(requestCase.headers ??
          (requestCase.body === undefined ? {} : { 'Content-Type': 'application/json' })),
        ...toAuthHeaders(operation, workspace),
      },
      body: requestCase.body as string | undefined,
    }),
  )
  const text = await response.text()
  if (CREATE_IMPORTS.includes(operation.id) && response.ok) await waitForImports(server)
  const wrong = findProblem(operation, requestCase, response, text)
  return wrong ? [`${requestCase.description} → ${response.status} ${text.slice(0, 150)}: ${wrong}`] : []
}

/** Few imports may wait at once, and one that runs changes its row. */
const waitForImports = ({ app }: TestServer) =>
  until('the end of all imports', async () => {
    const open = app.db.read.selectFrom('imports').where('status', 'in', ['queued', 'running'])
    return (await open.select('id').executeTakeFirst()) === undefined
  })

function findProblem(
  operation: Operation,
  requestCase: RequestCase,
  { status, headers }: Response,
  text: string,
): string | undefined {
  if (status >= 500) return 'is a server error'
  if (status === 429) return 'exceeds the rate limit, so that the test sends too many requests'
  if (status < 400) return requestCase.mustBeRefused && !refusesEachItem(text) ? 'is not refused' : undefined
  if (requestCase.status !== undefined && status !== requestCase.status)
    return `should be ${requestCase.status}`
  if (!headers.get('content-type')?.startsWith('application/json')) return 'is not JSON'
  if (!headers.get('x-request-id')) return 'has no X-Request-Id'
  const { schemas } = openApi.document.components
  const documented = operation.responses[status]?.content?.['application/json']?.schema
  // A changed path may belong to no operation. The server then answers 404 or 405.
  const schema = documented ?? ([404, 405].includes(status) ? schemas.Error : undefined)
  if (!schema) return 'is a status that the document does not list for this operation'
  if (status === 422 && VALIDATOR_MESSAGE.test(text)) return 'is not a message of ours'
  return listSchemaErrors(schema, JSON.parse(text)).join(', ') || undefined
}

/** A bulk edit answers for each link: one that stays as it is has its reason. */
function refusesEachItem(text: string): boolean {
  const { changed, failed } = JSON.parse(text || '{}').data ?? {}
  return changed?.length === 0 && failed?.length > 0
}

/** The words of zod, for values of which a schema says nothing. */
const VALIDATOR_MESSAGE = /Invalid (input|option|string|key)|Too (big|small)/

/** Each needs a process of its own, and few may run at once. */
const CREATE_IMPORTS = ['createImport', 'importSubmissions']
const ONE_BY_ONE = [...CREATE_IMPORTS, 'inspectImport']

async function sendAll(server: TestServer, workspace: Team, operation: Operation, cases: RequestCase[]) {
  const wrong: string[] = []
  const waiting = [...cases]
  while (waiting.length > 0) {
    await startNextMinute(server)
    const minute = waiting.splice(0, LIMIT)
    while (minute.length > 0) {
      const answers = minute
        .splice(0, ONE_BY_ONE.includes(operation.id) ? 1 : 20)
        .map((requestCase) => send(server, workspace, operation, requestCase))
      wrong.push(...(await Promise.all(answers)).flat())
    }
  }
  return wrong
}

test('every operation has a sample request, and every sample request has an operation', () => {
  expect(Object.keys(SAMPLE_REQUESTS).sort()).toEqual(documentedOperations.map(({ id }) => id).sort())
})

onBothEngines(
  'bad input',
  (server) => {
    async function createFilledTeam() {
      await startNextMinute(server())
      const workspace = await createTeam(server())
      return { workspace, things: await createTestResources(server(), workspace, `w${workspace.id}`) }
    }

    /** Where every operation is called that deletes nothing, or whose request is refused. */
    let shared: Awaited<ReturnType<typeof createFilledTeam>>
    beforeAll(async () => {
      shared = await createFilledTeam()
    })

    async function prepare(operation: Operation, { workspace, things } = shared) {
      await startNextMinute(server())
      const pick = createPicker(operation)
      const sample = getSampleRequest(operation, things)
      return { workspace, sample, cases: selectCases(createRequestCases(operation, sample, pick), pick) }
    }

    /**
     * Validation does not depend on the database. PostgreSQL therefore gets few cases for each operation, some of them
     * with text that PostgreSQL cannot store.
     */
    function selectCases(cases: RequestCase[], pick: PickSome): RequestCase[] {
      const [bad, odd] = [
        cases.filter((requestCase) => requestCase.mustBeRefused),
        cases.filter((requestCase) => !requestCase.mustBeRefused),
      ]
      if (server().engine === 'sqlite') return [...bad, ...pick(odd, ODD_CASES / SHARE)]
      const unwritable = cases.filter(({ description }) => /\\u0000|\\ud[89a-f]/.test(description))
      return [...new Set([...pick(unwritable, 10), ...pick(bad, 10), ...pick(odd, 10)])]
    }

    test.each(documentedOperations)(
      '$method $path refuses invalid input, stores none of it, and never answers 500',
      async (operation) => {
        // What was sent before may have become the name that the deletion asks for.
        const isOwn = operation.method === 'DELETE' && operation.path.endsWith('/workspace')
        const { workspace, cases } = await prepare(operation, isOwn ? await createFilledTeam() : shared)
        const bad = cases.filter((requestCase) => requestCase.mustBeRefused)
        // An operation without parameters has the fewest cases: unknown names.
        expect(bad.length).toBeGreaterThanOrEqual(4)
        const before = await readRows(server())
        const wrong = await sendAll(server(), workspace, operation, bad)
        const after = await readRows(server())
        if (cases.length > bad.length) {
          const place = operation.method === 'DELETE' ? await createFilledTeam() : shared
          const odd = (await prepare(operation, place)).cases.filter(({ mustBeRefused }) => !mustBeRefused)
          wrong.push(...(await sendAll(server(), place.workspace, operation, odd)))
        }
        expect(wrong).toEqual([])
        expect(after).toEqual(before)
      },
      120 * SECONDS,
    )

    test('refuses a chunked body over a megabyte with 413, and headers over 16 KB with 431', async () => {
      const { workspace } = shared
      await startNextMinute(server())
      const before = await readRows(server())
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
      expect(await readRows(server())).toEqual(before)
    })

    test('stores well-formed odd text unchanged, and finds it', async () => {
      const { workspace } = shared
      await startNextMinute(server())
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

    quick.each(documentedOperations.filter(findBodySchema))(
      '$method $path never answers 500 to a random JSON body',
      async (operation) => {
        const { workspace, sample } = await prepare(operation)
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
          const requestCase = {
            description: 'any JSON',
            mustBeRefused: false,
            url,
            body: JSON.stringify(json),
          }
          expect(await send(server(), workspace, operation, requestCase)).toEqual([])
        })
        await fc.assert(property, { numRuns: RUNS[server().engine] })
      },
      120 * SECONDS,
    )
  },
  { clock },
)
