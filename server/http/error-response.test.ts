import { afterAll, expect, spyOn, test } from 'bun:test'
import { Hono } from 'hono'
import { Failure, type FailureCode, invalid, notFound, unavailable } from '../lib/failure.ts'
import { setLogLevel } from '../lib/log.ts'
import { toErrorResponse } from './error-response.ts'

setLogLevel('error')
const logged: string[] = []
const stderr = spyOn(process.stderr, 'write').mockImplementation((text) => logged.push(String(text)) > 0)
afterAll(() => {
  stderr.mockRestore()
  setLogLevel('silent')
})

/** The answer of an app whose only handler fails so. */
async function failing(error: unknown) {
  logged.length = 0
  const app = new Hono()
    .get('/', () => {
      throw error
    })
    .onError((thrown) => toErrorResponse(thrown, 'request-1'))
  const response = await app.request('/')
  return { status: response.status, headers: response.headers, text: await response.text() }
}

test.each([
  ['an error', new Error('ENOENT: /secret/place tp_abc')],
  ['a driver’s error', Object.assign(new Error('syntax error at or near "secret"'), { code: '42601' })],
  ['a type error', new TypeError('undefined is not a secret')],
])('%s of ours shows nothing of itself; the log has it under the name of the request', async (_, error) => {
  const { status, headers, text } = await failing(error)
  expect([status, text]).toEqual([500, '{"error":"Internal server error"}'])
  expect([...headers.keys()]).toEqual(['content-type'])
  expect(logged).toHaveLength(1)
  expect(JSON.parse(logged[0] ?? '')).toMatchObject({
    level: 'error',
    event: 'request_failed',
    requestId: 'request-1',
    error: error.message,
    stack: expect.stringContaining('error-response.test.ts'),
  })
})

test('an unavailable store is a 503 with Retry-After; only the log has the reason', async () => {
  const { status, headers, text } = await failing(
    unavailable(new Error('connect ECONNREFUSED 10.0.0.5:5432')),
  )
  expect([status, text]).toEqual([503, '{"error":"Temporarily unavailable"}'])
  expect(headers.get('retry-after')).toBe('5')
  expect(JSON.parse(logged[0] ?? '')).toMatchObject({
    event: 'store_unavailable',
    requestId: 'request-1',
    error: 'connect ECONNREFUSED 10.0.0.5:5432',
  })
})

const STATUSES: [FailureCode, number][] = [
  ['invalid_json', 400],
  ['not_an_object', 400],
  ['missing_key', 401],
  ['invalid_key', 401],
  ['plan_too_low', 403],
  ['forbidden', 403],
  ['not_found', 404],
  ['method_not_allowed', 405],
  ['conflict', 409],
  ['too_large', 413],
  ['not_json', 415],
  ['invalid', 422],
  ['too_many', 429],
  ['unavailable', 503],
]
test.each(STATUSES)('%s is %d, in its own words, and no fault for the log', async (code, expected) => {
  const { status, headers, text } = await failing(new Failure(code, 'In these words'))
  expect([status, text]).toEqual([expected, '{"error":"In these words"}'])
  expect(headers.get('www-authenticate')).toBe(expected === 401 ? 'Bearer' : null)
  if (code !== 'unavailable') expect(logged).toEqual([])
})

test('sends the details of a failure', async () => {
  const many = await failing(new Failure('too_many', 'Later', { retryAfter: 7 }))
  expect(many.headers.get('retry-after')).toBe('7')
  const method = await failing(new Failure('method_not_allowed', 'No', { allow: 'GET, POST' }))
  expect(method.headers.get('allow')).toBe('GET, POST')
  const fields = await failing(invalid({ slug: 'is too long', title: 'must be a string' }))
  expect(JSON.parse(fields.text)).toEqual({
    error: 'slug: is too long',
    errors: { slug: 'is too long', title: 'must be a string' },
  })
  expect((await failing(notFound('Link'))).text).toBe('{"error":"Link not found"}')
  expect((await failing(notFound(''))).text).toBe('{"error":"Not found"}')
})
