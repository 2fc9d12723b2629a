// The dashboard's API client: queries, errors at the fields of a form, and a workspace that is gone.

import { describe, expect, spyOn, test } from 'bun:test'
import {
  ApiError,
  createWorkspaceApi,
  queryString,
  type RequestOptions,
  request,
  setConfirmation,
  toFieldErrors,
} from '../../dashboard/api/client.ts'
import { askEarly } from '../../dashboard/api/early-answers.ts'
import { toChunks } from '../../dashboard/api/pages.ts'
import { findItemError } from '../../dashboard/pages/forms/settings/controls/item-error.ts'
import { findFieldError } from '../../dashboard/ui/forms/form-error.tsx'

/** A call whose answers are these, one after another, and the addresses that it asked. */
function answering(...answers: [status: number, body: unknown][]) {
  const asked: [url: string, headers: Record<string, string>][] = []
  const send: RequestOptions['send'] = async (url, headers) => {
    asked.push([url, headers])
    const [status, body] = answers[asked.length - 1] ?? [200, {}]
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status })
  }
  return { call: { send }, asked }
}

const fail = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: ApiError) => error,
  )

test('a query leaves out what is empty, and repeats lists', () => {
  expect(queryString({ a: 'x y', b: ['1', '2'], c: '', d: null, e: undefined, f: 0, g: false })).toBe(
    '?a=x+y&b=1&b=2&f=0&g=false',
  )
  expect(queryString({ a: '' })).toBe('')
  expect(queryString()).toBe('')
})

test('many things go in parts of a hundred', () => {
  expect(toChunks(Array.from({ length: 201 }, (_, n) => n)).map(({ length }) => length)).toEqual([
    100, 100, 1,
  ])
  expect(toChunks([])).toEqual([])
})

describe('a request', () => {
  test('names its workspace, and gives the data of the answer', async () => {
    const { call, asked } = answering([200, { data: [1], total: 1, nextCursor: null }], [200, { data: 2 }])
    const api = createWorkspaceApi(7)
    expect(await api.page('/tags', { ...call, query: { search: 'a' } })).toEqual({
      data: [1],
      total: 1,
      nextCursor: null,
    })
    expect(await api.get<number>('/tags/1', call)).toBe(2)
    expect(asked).toEqual([
      ['/v1/tags?search=a', { 'X-Workspace': '7' }],
      ['/v1/tags/1', { 'X-Workspace': '7' }],
    ])
  })

  test.each<[string, [number, unknown], object]>([
    ['its own sentence', [409, { error: 'Taken' }], { status: 409, message: 'Taken', errors: {} }],
    ['the sentence of the sign-in', [400, { message: 'No' }], { message: 'No' }],
    ['no JSON', [502, '<html>'], { status: 502, message: 'The server responded with status 502.' }],
    [
      'fields',
      [422, { error: 'Invalid', errors: { expiresAt: 'must be after startsAt' } }],
      { message: 'Expires: must be after “Starts”', errors: { expiresAt: 'Must be after “Starts”' } },
    ],
    [
      'no session',
      [401, { error: 'Missing API key' }],
      { status: 401, message: expect.stringContaining('You’re signed out') },
    ],
    [
      'a lost workspace',
      [404, { error: 'Workspace not found' }],
      { message: expect.stringContaining('no longer open') },
    ],
    ['another thing that is lost', [404, { error: 'Link not found' }], { message: 'Link not found' }],
  ])('that is refused with %s says so', async (_, answer, error) => {
    expect(await fail(createWorkspaceApi(7).get('/x', answering(answer).call))).toMatchObject(error)
  })

  test('of somebody who signs in keeps the reason of a 401', async () => {
    const { call } = answering([401, { error: 'Wrong password' }])
    expect(await fail(request('/x', { ...call, anonymous: true }))).toMatchObject({
      message: 'Wrong password',
    })
  })

  test('without a server says so, unless it was canceled', async () => {
    const send = () => Promise.reject(new TypeError('fetch failed'))
    expect(await fail(request('/x', { send }))).toMatchObject({
      status: 0,
      message: expect.stringContaining('connection'),
    })
    expect(await fail(request('/x', { send, signal: AbortSignal.abort() }))).toBeInstanceOf(TypeError)
  })

  test('takes the answer that was asked for early, once, and none after a change', async () => {
    const fetched = spyOn(globalThis, 'fetch').mockImplementation((async () =>
      Response.json({ n: fetched.mock.calls.length })) as unknown as typeof fetch)
    const ask = async (method: 'GET' | 'POST' = 'GET') => {
      await (await request('/v1/workspaces', { query: { limit: 100 }, method })).json()
      return fetched.mock.calls.length
    }
    const open = (pathname: string, search = '') => askEarly({ pathname, search })
    for (const path of ['/app/sign-in', '/app/join', '/app/newer', '/other/1']) open(path)
    expect(fetched.mock.calls).toEqual([])
    open('/app/7/links', '?search=a')
    expect([await ask(), await ask()]).toEqual([2, 3])
    for (const path of ['/app', '/app/', '/app/new', '/app/7']) open(path)
    // Somebody has signed in: what was asked before that is wrong now.
    expect([await ask('POST'), await ask()]).toEqual([12, 13])
    open('/app/7/links')
    expect(fetched.mock.calls.length).toBe(16)
    for (const [workspace, asked] of [
      [8, 17],
      [7, 17],
      [7, 18],
    ] as const) {
      await createWorkspaceApi(workspace).page('/links', { query: { limit: 100 } })
      expect([workspace, fetched.mock.calls.length]).toEqual([workspace, asked])
    }
    fetched.mockRestore()
  })

  test('is sent again once the person has confirmed that it is them', async () => {
    const refusal: [number, unknown] = [403, { error: 'Confirm', code: 'confirmation_required' }]
    for (const isConfirmed of [true, false]) {
      const { call, asked } = answering(refusal, [200, {}])
      setConfirmation(async () => isConfirmed)
      const error = await fail(request('/x', { ...call, method: 'POST' }))
      expect([asked.length, error?.code]).toEqual(isConfirmed ? [2, undefined] : [1, 'confirmation_required'])
    }
  })
})

describe('the errors of a form', () => {
  const error = new ApiError(422, 'Invalid', {
    name: 'Is missing',
    'geo.DE': 'Is wrong',
    clickLimit: 'Must be more',
  })

  test('stand at their fields, and those of other fields above the form', () => {
    expect(toFieldErrors(null)).toEqual({})
    expect(toFieldErrors(new Error('No'))).toEqual({ general: 'No' })
    expect(toFieldErrors(error)).toEqual(error.errors)
    expect(toFieldErrors(error, ['name', 'geo'])).toEqual({
      name: 'Is missing',
      'geo.DE': 'Is wrong',
      general: 'Click limit: must be more',
    })
  })

  test('are found for a field and for an item of its list', () => {
    const errors = { 'hosts.1': 'Must be a host', 'to[0]': 'Is wrong', name: 'No' }
    expect(['hosts', 'to', 'name', 'host'].map((field) => findFieldError(errors, field))).toEqual([
      'Must be a host',
      'Is wrong',
      'No',
      undefined,
    ])
    expect(findItemError(errors, 'hosts', ['a', 'b c'])).toBe('“b c”: must be a host')
    expect(findItemError(errors, 'name', [])).toBe('No')
    expect(findItemError(errors, 'other', [])).toBeUndefined()
  })
})
