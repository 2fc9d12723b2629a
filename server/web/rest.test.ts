import { describe, expect, test } from 'bun:test'
import type { HttpCall } from '../../tests/support/server/http-call.ts'
import { quick } from '../../tests/support/suite.ts'
import { onBothEngines, type TestWorkspace } from '../../tests/support/world.ts'

const MIB = 1024 * 1024
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const LINK = { destinationUrl: 'https://example.com/' }
const post = (body: unknown, headers?: Record<string, string>): HttpCall => ({
  method: 'POST',
  body,
  headers,
})

onBothEngines('the REST API', (server) => {
  const raw = async (
    workspace: TestWorkspace,
    body: RequestInit['body'],
    headers: Record<string, string> = {},
  ) => {
    const response = await fetch(`${server().origin}/v1/links`, {
      method: 'POST',
      body,
      headers: { Authorization: `Bearer ${workspace.key}`, 'Content-Type': 'application/json', ...headers },
    })
    return { status: response.status, text: await response.text(), headers: response.headers }
  }
  const nothingStored = async ({ api }: TestWorkspace) => {
    expect((await api('/links?archived=false')).json.total).toBe(0)
    expect((await api('/tags')).json.total).toBe(0)
  }

  describe('errors', () => {
    const GET: HttpCall = {}
    const FAILURES: [string, number, string, string, HttpCall][] = [
      ['text that is not JSON', 400, 'Invalid JSON body', '/links', post('{"destinationUrl":')],
      ['an empty body to create from', 400, 'Invalid JSON body', '/links', post('')],
      ['a list', 400, 'Request body must be a JSON object', '/links', post([LINK])],
      ['a string', 400, 'Request body must be a JSON object', '/links', post('"text"')],
      ['a number', 400, 'Request body must be a JSON object', '/links', post('1')],
      ['null', 400, 'Request body must be a JSON object', '/links', post('null')],
      ['a string where a list may be', 400, 'Request body must be a JSON object', '/links/bulk', post('"x"')],
      ['an unknown link', 404, 'Link not found', '/links/123456789', GET],
      ['an id that is none', 404, 'Link not found', '/links/abc', GET],
      ['an id out of range', 404, 'Link not found', '/links/99999999999999999999', GET],
      ['a path that cannot be decoded', 404, 'Link not found', '/links/%zz', GET],
      ['an unknown tag', 404, 'Tag not found', '/tags/123456789', { method: 'PATCH', body: { name: 'x' } }],
      ['an unknown path', 404, 'Not found', '/nothing', GET],
      ['a path too deep', 404, 'Not found', '/links/1/2/3', GET],
      ['a slash at the end', 404, 'Not found', '/links/', GET],
      ['no path', 404, 'Not found', '', GET],
      ['a known path with the wrong method', 405, 'Method not allowed', '/tags', { method: 'PUT', body: {} }],
      ['a name where ids have another method', 405, 'Method not allowed', '/links/bulk', GET],
      ['a reserved slug', 409, 'Slug is reserved', '/links', post({ ...LINK, slug: 'docs' })],
      [
        'plain text',
        415,
        'Content-Type must be application/json',
        '/links',
        post('{}', { 'Content-Type': 'text/plain' }),
      ],
      [
        'a form',
        415,
        'Content-Type must be application/json',
        '/links',
        post('a=1', { 'Content-Type': 'application/x-www-form-urlencoded' }),
      ],
      [
        'a type that only begins like JSON',
        415,
        'Content-Type must be application/json',
        '/links',
        post('{}', { 'Content-Type': 'application/jsonp' }),
      ],
      ['a missing field', 422, 'destinationUrl: is required', '/links', post({})],
      [
        'a wrong field',
        422,
        'destinationUrl: must be an http or https URL',
        '/links',
        post({ destinationUrl: 'x' }),
      ],
      ['an unknown field', 422, 'colour: is not a known field', '/links', post({ ...LINK, colour: 'red' })],
      ['a parameter without a name', 422, 'query: has a parameter without a name', '/links?=1', GET],
      [
        'a parameter that is not UTF-8',
        422,
        'search: is not percent-encoded UTF-8',
        '/links?search=%C3%28',
        GET,
      ],
      ['an unknown parameter', 422, 'colour: is not a known parameter', '/links?colour=red', GET],
      [
        'a bad cursor',
        422,
        'cursor: is not a cursor of this list; start again without it',
        '/links?cursor=x',
        GET,
      ],
      ['a limit out of range', 422, 'limit: must be from 1 to 100', '/links?limit=101', GET],
    ]
    test.each(FAILURES)('%s: %d %s', async (_, status, message, path, call) => {
      const workspace = await server().createWorkspace()
      const answer = await workspace.api(path, call)
      expect([answer.status, answer.json?.error]).toEqual([status, message])
      expectFailureShape(answer)
      await nothingStored(workspace)
    })

    test.each([
      ['slug', { slug: 'Taken-1' }, { slug: 'taken-1' }, 'Slug already in use'],
      ['external id', { externalId: 'e1' }, { externalId: 'e1' }, 'External id already in use'],
    ])('a taken %s: 409', async (_, first, second, message) => {
      const workspace = await server().createWorkspace()
      await workspace.createLink(first)
      const answer = await workspace.api('/links', post({ ...LINK, ...second }))
      expect([answer.status, answer.json]).toEqual([409, { error: message }])
      expect((await workspace.api('/links')).json.total).toBe(1)
    })

    test('a taken tag name, without regard to case: 409', async () => {
      const { api } = await server().createWorkspace()
      expect((await api('/tags', post({ name: 'Spring' }))).status).toBe(201)
      const answer = await api('/tags', post({ name: 'sPRING' }))
      expect([answer.status, answer.json]).toEqual([409, { error: 'Tag name already in use' }])
    })

    test('reports several wrong fields at once', async () => {
      const { api } = await server().createWorkspace()
      const { status, json } = await api('/links', post({ destinationUrl: 7, clickLimit: 0, colour: 1 }))
      expect(status).toBe(422)
      expect(Object.keys(json.errors).sort()).toEqual(['clickLimit', 'colour', 'destinationUrl'])
    })

    test('another workspace’s link gets the same answer as an unknown link, byte for byte', async () => {
      const [one, other] = [await server().createWorkspace(), await server().createWorkspace()]
      const { id } = await one.createLink()
      for (const call of [{}, { method: 'PATCH', body: {} }, { method: 'DELETE' }] as HttpCall[]) {
        const [theirs, none] = [
          await other.api(`/links/${id}`, call),
          await other.api('/links/987654321', call),
        ]
        expect([theirs.status, theirs.text]).toEqual([404, none.text])
        expect([...theirs.headers.keys()]).toEqual([...none.headers.keys()])
      }
      expect((await one.api(`/links/${id}`)).status).toBe(200)
    })
  })

  describe('without a key', () => {
    test.each([
      ['/v1', 'GET'],
      ['/v1/links', 'GET'],
      ['/v1/links', 'POST'],
      ['/v1/nothing', 'GET'],
      ['/v1/links', 'PUT'],
      ['/v1/links', 'OPTIONS'],
      ['/v1/openapi.json', 'POST'],
    ])('%s (%s) is 401, for unknown paths too', async (path, method) => {
      const answer = await server().call(path, { method })
      expect([answer.status, answer.text]).toEqual([401, '{"error":"Missing API key"}'])
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
      expectFailureShape(answer)
    })

    test('only the API description is open', async () => {
      const { status, headers, json } = await server().call('/v1/openapi.json')
      expect([status, json.openapi]).toEqual([200, '3.1.0'])
      expect(headers.get('x-request-id')).toMatch(UUID)
      expect(headers.get('x-ratelimit-limit')).toBeNull()
    })
  })

  quick('every path answers a wrong method with 405 and the allowed methods', async () => {
    const routes = server().app.routes.rest.filter(({ method }) => method !== 'ALL')
    expect(routes.length).toBeGreaterThan(10)
    const byPath = Map.groupBy(routes, ({ path }) => path.replace(/:\w+|\{\w+\}/g, '123456'))
    for (const [path, known] of byPath) {
      const workspace = await server().createWorkspace()
      // A stream has no end without a time.
      const url = path.endsWith('/live') ? `${path}?seconds=0` : path
      const ask = (method: string) =>
        server().call(url, { method, headers: { Authorization: `Bearer ${workspace.key}` } })
      const refused = await ask('OPTIONS')
      expect([path, refused.status, refused.text]).toEqual([path, 405, '{"error":"Method not allowed"}'])
      expectFailureShape(refused)
      const allowed = refused.headers.get('allow')?.split(', ') ?? []
      expect(allowed).toEqual(expect.arrayContaining([...new Set(known.map(({ method }) => method))]))
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const { status, headers } = await ask(method)
        expect([path, method, status === 405]).toEqual([path, method, !allowed.includes(method)])
        expect(headers.get('allow')).toBe(status === 405 ? allowed.join(', ') : null)
      }
    }
  })

  describe('request bodies', () => {
    test.each([
      ['Content-Length', new Uint8Array(MIB + 1).fill(32)],
      ['Content-Length', `{"destinationUrl":"https://example.com/","comments":"${'x'.repeat(2 * MIB)}"}`],
      ['chunks', chunked(MIB + 1)],
      ['chunks', chunked(8 * MIB)],
    ])('more than 1 MiB, with %s: 413', async (_, body) => {
      const workspace = await server().createWorkspace()
      const answer = await raw(workspace, body)
      expect([answer.status, answer.text]).toEqual([413, '{"error":"Request body too large"}'])
      expectFailureShape(answer)
      await nothingStored(workspace)
    })

    test('exactly 1 MiB is read', async () => {
      const workspace = await server().createWorkspace()
      const json = JSON.stringify(LINK)
      const { status } = await raw(workspace, json + ' '.repeat(MIB - json.length))
      expect(status).toBe(201)
      expect((await raw(workspace, chunked(MIB, json))).status).toBe(201)
    })

    test('checks the size before the type, and the type before the content', async () => {
      const workspace = await server().createWorkspace()
      expect((await raw(workspace, new Uint8Array(MIB + 1), { 'Content-Type': 'text/plain' })).status).toBe(
        413,
      )
      expect((await raw(workspace, '{', { 'Content-Type': 'text/plain' })).status).toBe(415)
    })

    test('not UTF-8: 400', async () => {
      const workspace = await server().createWorkspace()
      const text = Buffer.from(JSON.stringify({ ...LINK, title: '#' }))
      text[text.indexOf('#')] = 0xff
      const answer = await raw(workspace, text)
      expect([answer.status, answer.text]).toEqual([400, '{"error":"Invalid JSON body"}'])
      await nothingStored(workspace)
    })

    test.each([
      '{"destinationUrl":"https://example.com/","__proto__":{"archived":true}}',
      '{"destinationUrl":"https://example.com/","geoTargeting":{"__proto__":{"DE":"https://a.example"}}}',
      '{"destinationUrl":"https://example.com/","geoTargeting":{"__pr\\u006fto__":"https://a.example"}}',
    ])('__proto__ is no field: 422 %s', async (body) => {
      const workspace = await server().createWorkspace()
      const { status, text } = await raw(workspace, body)
      expect([status, text]).toEqual([
        422,
        '{"error":"__proto__: is not a known field","errors":{"__proto__":"is not a known field"}}',
      ])
      await nothingStored(workspace)
    })

    test('nested deeper than 32 levels: 400; up to there the field is wrong', async () => {
      const workspace = await server().createWorkspace()
      const nest = (levels: number) => `{"destinationUrl":${'['.repeat(levels)}${']'.repeat(levels)}}`
      expect((await raw(workspace, nest(31))).status).toBe(422)
      for (const levels of [32, 100_000]) expect((await raw(workspace, nest(levels))).status).toBe(400)
    })

    test('with more than 1,000 entries in one list, or 50,000 values: 422 at body', async () => {
      const workspace = await server().createWorkspace()
      const ones = (count: number) => Array.from({ length: count }, () => 1)
      for (const value of [ones(1001), Array.from({ length: 60 }, () => ones(900))]) {
        const answer = await raw(workspace, JSON.stringify({ destinationUrl: value }))
        expect([answer.status, Object.keys(JSON.parse(answer.text).errors)]).toEqual([422, ['body']])
      }
      const many = await raw(
        workspace,
        JSON.stringify(Object.fromEntries(ones(900).map((_, i) => [`k${i}`, 1]))),
      )
      expect(Object.keys(JSON.parse(many.text).errors)).toHaveLength(100)
    })

    test('without a content type: 415', async () => {
      const { key } = await server().createWorkspace()
      const response = await fetch(`${server().origin}/v1/links`, {
        method: 'POST',
        body: new TextEncoder().encode(JSON.stringify(LINK)),
        headers: { Authorization: `Bearer ${key}` },
      })
      expect([response.status, await response.json()]).toEqual([
        415,
        { error: 'Content-Type must be application/json' },
      ])
    })

    test.each([
      'application/json',
      'application/json; charset=utf-8',
      'application/json ;charset=utf-8',
      'application/json;',
      'Application/JSON',
      'application/merge-patch+json',
    ])('as %s', async (type) => {
      const workspace = await server().createWorkspace()
      const { status, text } = await raw(workspace, JSON.stringify({ ...LINK, title: 'Grüße 🎈' }), {
        'Content-Type': type,
      })
      expect([status, JSON.parse(text).data.title]).toEqual([201, 'Grüße 🎈'])
    })

    test('a PATCH with an empty body, or an empty object, changes nothing and is 200', async () => {
      const { createLink, key, api } = await server().createWorkspace()
      const made = await createLink({ title: 'stays' })
      const bare = (headers: Record<string, string>, body?: string) =>
        fetch(`${server().origin}/v1/links/${made.id}`, {
          method: 'PATCH',
          headers: { Authorization: `Bearer ${key}`, ...headers },
          body,
        })
      for (const response of [
        await bare({}),
        await bare({ 'Content-Type': 'application/json' }, ''),
        await bare({ 'Content-Type': 'application/json' }, '{}'),
      ]) {
        expect([response.status, await response.json()]).toEqual([200, { data: made }])
      }
      expect((await api(`/links/${made.id}`)).json.data).toEqual(made)
    })
  })

  describe('request ids', () => {
    const id = (answer: { headers: Headers }) => answer.headers.get('x-request-id') ?? ''

    test('keeps the caller’s id where it is harmless, on success and on every failure', async () => {
      const { api } = await server().createWorkspace()
      const headers = { 'X-Request-Id': 'order-4711-a' }
      for (const answer of [
        await api('/links', { headers }),
        await api('/links', { method: 'POST', body: LINK, headers }),
        await api('/links', { method: 'POST', body: '{', headers }),
        await api('/links/7', { headers }),
        await api('/nothing', { headers }),
        await api('/links?limit=0', { headers }),
        await server().call('/v1/links', { headers }),
        await server().call('/v1/openapi.json', { headers }),
      ]) {
        expect([answer.status, id(answer)]).toEqual([answer.status, 'order-4711-a'])
      }
    })

    test('makes a new id otherwise', async () => {
      const { api } = await server().createWorkspace()
      const seen = new Set<string>()
      for (const given of [
        undefined,
        'short',
        'a'.repeat(65),
        'with space here',
        'quote"quote',
        'under_score_',
      ]) {
        const answer = await api('/links', { headers: given === undefined ? {} : { 'X-Request-Id': given } })
        expect(id(answer)).toMatch(UUID)
        seen.add(id(answer))
      }
      expect(seen.size).toBe(6)
    })
  })

  test('HEAD is GET without the body', async () => {
    const { api } = await server().createWorkspace()
    const { status, text, headers } = await api('/links', { method: 'HEAD' })
    expect([status, text]).toEqual([200, ''])
    expect(headers.get('x-ratelimit-remaining')).toBe('299')
    // A length would have to be that of the GET.
    expect(headers.get('content-length')).toBeNull()
    expect((await api('/links/7', { method: 'HEAD' })).status).toBe(404)
  })

  test('pages of other sites cannot read answers', async () => {
    const { api } = await server().createWorkspace()
    const headers = { Origin: 'https://evil.example' }
    for (const answer of [
      await api('/links', { headers }),
      await api('/links', { method: 'OPTIONS', headers }),
    ]) {
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    }
  })
})

/** A body without a Content-Length: `start`, then spaces, `size` bytes in all. */
function chunked(size: number, start = ''): ReadableStream<Uint8Array> {
  let left = size - start.length
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(start || ' '))
    },
    pull(controller) {
      const part = Math.min(left, 64 * 1024)
      if (part <= 0) return controller.close()
      left -= part
      controller.enqueue(new Uint8Array(part).fill(32))
    },
  })
}

/** Every failure is JSON with `error`, at most `errors` beside it, and no detail of the implementation. */
function expectFailureShape({ status, text, headers }: { status: number; text: string; headers: Headers }) {
  const body = JSON.parse(text)
  expect(Object.keys(body)).toEqual(status === 422 ? ['error', 'errors'] : ['error'])
  expect(headers.get('content-type')).toMatch(/^application\/json/)
  expect(headers.get('x-request-id')).toMatch(UUID)
  expect(headers.has('www-authenticate')).toBe(status === 401)
  expect(headers.has('allow')).toBe(status === 405)
  expect(headers.has('retry-after')).toBe(status === 429 || status === 503)
  expect(text).not.toMatch(/ at |\.ts|sql|select|node_modules/i)
}
