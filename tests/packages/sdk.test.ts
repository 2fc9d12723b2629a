// @towpath/sdk against a real server: every operation of the document, errors, pages, tries and idempotency keys. The client
// is generated here as the build does it, so it cannot be older than the document.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateClient } from '../../packages/build/generate-client.ts'
import type { ClientOptions, TowpathClient } from '../../packages/sdk/client.ts'
import { onSqlite } from '../support/world.ts'

// biome-ignore lint/suspicious/noExplicitAny: the module has no types before it is generated; packages.full.test.ts checks them
type Untyped = Record<string, any>
type Sdk = Untyped & { Towpath: new (options: ClientOptions) => TowpathClient & Untyped }

interface DocumentedOperation {
  operationId: string
  parameters?: { name: string; in: string; schema: { type?: string } }[]
}

onSqlite('@towpath/sdk', (server) => {
  const dir = mkdtempSync(join(tmpdir(), 'towpath-sdk-test-'))
  let sdk: Sdk
  // biome-ignore lint/suspicious/noExplicitAny: as above
  let document: any
  beforeAll(async () => {
    document = (await server().call('/v1/openapi.json')).json
    await Bun.write(join(dir, 'sdk.ts'), generateClient(document))
    sdk = await import(join(dir, 'sdk.ts'))
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  const open = async (options: Partial<ClientOptions> = {}) => {
    const ws = await server().createWorkspace()
    return { ws, towpath: new sdk.Towpath({ url: server().origin, apiKey: ws.key, ...options }) }
  }
  /** A client whose server answers what the test says, and records what it is asked. */
  const openFake = (
    answers: (() => Response | Promise<Response>)[],
    options: Partial<ClientOptions> = {},
  ) => {
    const asked: { url: string; init: RequestInit }[] = []
    const fetch = async (url: string, init: RequestInit) => {
      asked.push({ url, init })
      const next = answers.length > 1 ? answers.shift() : answers[0]
      return (next as () => Response)()
    }
    return {
      asked,
      towpath: new sdk.Towpath({ url: 'https://go.example', apiKey: 'tp_x', fetch, ...options }),
    }
  }
  const ok = () => Response.json({ data: { id: 1 }, nextCursor: null, total: 0 })
  const fail =
    (status: number, headers: Record<string, string> = {}) =>
    () =>
      Response.json({ error: `Refused ${status}` }, { status, headers })
  const catchError = (work: Promise<unknown>) => work.then(() => undefined).catch((error) => error)

  test('has a method for every operation, which asks for its method and path', async () => {
    const { asked, towpath } = openFake([ok])
    const expected: string[] = []
    for (const [path, methods] of Object.entries(
      document.paths as Record<string, Record<string, DocumentedOperation>>,
    ))
      for (const [method, { operationId, parameters = [] }] of Object.entries(methods)) {
        const named = parameters.filter((each) => each.in === 'path').map(({ name }) => [name, 'a b'])
        const call = towpath[operationId](Object.fromEntries(named))
        await (call instanceof sdk.Pages ? call.first() : call)
        expected.push(`${method.toUpperCase()} https://go.example${path.replace(/\{\w+\}/g, 'a%20b')}`)
      }
    expect(asked.map(({ url, init }) => `${init.method} ${url}`)).toEqual(expected)
    expect(expected.length).toBeGreaterThan(90)
  })

  test('makes, finds, changes and deletes links, and reads pages as one list', async () => {
    const { towpath } = await open()
    for (let n = 0; n < 5; n++)
      await towpath.createLink({ destinationUrl: `https://example.com/${n}`, title: 'Sale' })
    const pages = towpath.listLinks({ limit: 2, search: 'sale', archived: false })
    expect(await pages.first()).toMatchObject({ total: 5, nextCursor: expect.any(String) })
    const found: { id: number; destinationUrl: string }[] = await pages.toArray()
    expect(found.map((each) => each.destinationUrl.at(-1))).toEqual(['4', '3', '2', '1', '0'])
    expect(await pages.toArray(3)).toHaveLength(3)
    const { id } = found[0] as { id: number }
    expect(await towpath.updateLink({ id, title: null })).toMatchObject({ id, title: null })
    expect(await towpath.deleteLink({ id })).toMatchObject({ id })
    const file: Response = await towpath.exportLinks({ format: 'csv' })
    expect(await file.text()).toContain('https://example.com/0')
  })

  test('reads a feed to its end, and says where to go on', async () => {
    const page = (ids: number[], after: string, hasMore: boolean) => () =>
      Response.json({ data: ids.map((id) => ({ id })), after, hasMore })
    const { asked, towpath } = openFake([page([1, 2], 'a', true), page([3], 'b', false)])
    const seen: [number, string][] = []
    for await (const { data, after } of towpath.listLinkClicks({ id: 7, after: 'latest' }).pages())
      seen.push([data.length, after])
    expect(seen).toEqual([
      [2, 'a'],
      [1, 'b'],
    ])
    expect(asked.map(({ url }) => new URL(url).search)).toEqual(['?after=latest', '?after=a'])
    const { towpath: real } = await open()
    const { id } = await real.createLink({ destinationUrl: 'https://example.com/' })
    expect(await real.listLinkClicks({ id }).first()).toMatchObject({ data: [], hasMore: false })
  })

  test('writes numbers, instants and lists into the query', async () => {
    const { asked, towpath } = openFake([ok])
    const parameters = { start: new Date(0), groupBy: 'link', linkId: [1, 17], slug: undefined, limit: 5 }
    await towpath.countClicks(parameters)
    const query = 'start=1970-01-01T00%3A00%3A00.000Z&groupBy=link&linkId=1&linkId=17&limit=5'
    expect(asked[0]?.url).toBe(`https://go.example/v1/analytics/clicks?${query}`)
  })

  test('sends a random Idempotency-Key with every POST that takes one, and the same key with each try', async () => {
    const { asked, towpath } = openFake([fail(503, { 'Retry-After': '0' }), ok])
    await towpath.createLink({ destinationUrl: 'https://example.com/' })
    await towpath.createLink({ destinationUrl: 'https://example.com/' }, { idempotencyKey: 'mine' })
    const keys = asked.map(({ init }) => (init.headers as Record<string, string>)['Idempotency-Key'])
    expect(keys).toEqual([keys[0], keys[0], 'mine'])
    expect(keys[0]).toMatch(/^[\w-]{36}$/)
    const { towpath: real, ws } = await open()
    const input = { destinationUrl: 'https://example.com/once' }
    const [first, second] = [
      await real.createLink(input, { idempotencyKey: 'k' }),
      await real.createLink(input, { idempotencyKey: 'k' }),
    ]
    expect(second).toEqual(first)
    expect((await ws.api('/links')).json.total).toBe(1)
  })

  test.each([
    ['429 after Retry-After', 'deleteLink', [fail(429, { 'Retry-After': '0' }), ok], 2],
    ['429 that asks for too long', 'getLink', [fail(429, { 'Retry-After': '3600' })], 1],
    ['503 of a read', 'getLink', [fail(503, { 'Retry-After': '0' }), ok], 2],
    ['503 of a deletion, which may have happened', 'deleteLink', [fail(503, { 'Retry-After': '0' })], 1],
    ['404', 'getLink', [fail(404)], 1],
    ['500', 'getLink', [fail(500)], 1],
    ['at most twice', 'getLink', [fail(429, { 'Retry-After': '0' })], 3],
  ] as const)('tries again: %s', async (_, method, answers, tries) => {
    const { asked, towpath } = openFake([...answers])
    await catchError(towpath[method]({ id: 1 }))
    expect(asked).toHaveLength(tries)
  })

  test('throws an error of its own for each kind of failure', async () => {
    const { towpath } = await open({ maxRetries: 0 })
    const invalid = await catchError(towpath.createLink({ destinationUrl: 'javascript:alert(1)' }))
    expect(invalid).toBeInstanceOf(sdk.InvalidRequestError)
    expect(invalid).toMatchObject({ status: 422, errors: { destinationUrl: expect.any(String) } })
    expect(invalid.requestId).toBeString()
    const missing = await catchError(towpath.getLink({ id: 999 }))
    expect([missing instanceof sdk.NotFoundError, missing.message]).toEqual([true, 'Link not found'])
    await towpath.createLink({ destinationUrl: 'https://example.com/', slug: 'sdk-taken' })
    const taken = await catchError(
      towpath.createLink({ destinationUrl: 'https://example.com/', slug: 'sdk-taken' }),
    )
    expect(taken).toBeInstanceOf(sdk.ConflictError)
    const stranger = new sdk.Towpath({ url: server().origin, apiKey: 'tp_wrong' })
    expect(await catchError(stranger.getWorkspace())).toBeInstanceOf(sdk.AuthenticationError)
    const { towpath: limited } = openFake([fail(429, { 'Retry-After': '7' })], { maxRetries: 0 })
    expect(await catchError(limited.getWorkspace())).toMatchObject({ name: 'RateLimitError', retryAfter: 7 })
  })

  test('says so where no Towpath server answers, and sends the key nowhere else', async () => {
    const cases: [answer: () => Response | Promise<Response>, message: string][] = [
      [() => new Response('<h1>Hello</h1>'), 'answered HTTP 200, and not as a Towpath server'],
      [() => Response.json([1]), 'answered HTTP 200, and not as a Towpath server'],
      [() => Response.redirect('https://evil.example/', 307), 'answered HTTP 307'],
      [() => new Response('no', { status: 404 }), 'answered HTTP 404, and not as a Towpath server'],
      [() => Promise.reject(new TypeError('refused')), 'https://go.example cannot be reached: refused'],
    ]
    for (const [answer, message] of cases) {
      const { asked, towpath } = openFake([answer], { maxRetries: 0 })
      const error = await catchError(towpath.getWorkspace())
      expect([error instanceof sdk.ConnectionError, error.message]).toEqual([
        true,
        expect.stringContaining(message),
      ])
      expect(asked.map(({ init }) => init.redirect)).toEqual(['manual'])
    }
    const hanging = (_: string, { signal }: RequestInit) =>
      new Promise<Response>((_resolve, reject) =>
        signal?.addEventListener('abort', () => reject(new Error('aborted'))),
      )
    const { towpath } = openFake([], { fetch: hanging, timeoutMs: 1, maxRetries: 0 })
    expect((await catchError(towpath.getWorkspace())).message).toContain('no answer within 1 ms')
    const reason = new Error('enough')
    expect(await catchError(towpath.getWorkspace({}, { signal: AbortSignal.abort(reason) }))).toBe(reason)
  })

  test('refuses wrong options, and parameters that would name another path', async () => {
    const wrong = [
      { url: 'go.example', apiKey: 'x' },
      { url: 'https://go.example', apiKey: '' },
      { url: 'ftp://a', apiKey: 'x' },
    ]
    for (const options of wrong) expect(() => new sdk.Towpath(options)).toThrow(TypeError)
    const { asked, towpath } = openFake([ok])
    for (const id of ['..', '.', '', undefined])
      expect(await catchError(towpath.getLink({ id }))).toBeInstanceOf(TypeError)
    await towpath.getLink({ id: 'a/../b?c#d' })
    expect(asked.map(({ url }) => url)).toEqual(['https://go.example/v1/links/a%2F..%2Fb%3Fc%23d'])
  })
})
