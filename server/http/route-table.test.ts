import { describe, expect, test } from 'bun:test'
import { Hono } from 'hono'
import type { RouteFacts } from './route-facts.ts'
import { declareFacts, listRoutes, methodsOf, routeFor, routeTable } from './route-table.ts'

const routesAt = routeTable(() => [
  { method: 'ALL', path: '/v1/*' },
  { method: 'GET', path: '/v1/links' },
  { method: 'POST', path: '/v1/links' },
  { method: 'GET', path: '/v1/links/:id' },
  { method: 'DELETE', path: '/v1/links/{id}' },
  { method: 'POST', path: '/v1/links/bulk' },
  { method: 'GET', path: '/v1/a.b' },
])

test.each([
  ['/v1/links', ['GET', 'POST']],
  ['/v1/links/7', ['GET', 'DELETE']],
  // A path without a parameter is no id.
  ['/v1/links/bulk', ['POST']],
  ['/v1/a.b', ['GET']],
  // Middleware mounts no path; a dot is a dot; a parameter is one segment.
  ['/v1/other', []],
  ['/v1/aXb', []],
  ['/v1/links/', []],
  ['/v1/links/7/8', []],
  ['/v1', []],
])('%s knows %p', (path, methods) => {
  expect(methodsOf(routesAt(path))).toEqual(methods)
})

describe('a route that declares facts', () => {
  const facts: RouteFacts = {
    by: 'person',
    scopes: [],
    shows: [],
    body: 'none',
    idempotent: false,
    secretInAnswer: true,
    slow: true,
    fresh: false,
  }
  const other = { ...facts, by: 'member' as const }
  const feature = new Hono()
    .patch('/links/bulk', declareFacts(facts), (c) => c.text('bulk'))
    .patch('/links/:id', declareFacts(other), (c) => c.text('one'))
    .get('/links/:id', (c) => c.text('read'))
  const app = new Hono().basePath('/v1').route('/', feature)
  const find = (method: string, path: string) => routeFor(routeTable(() => app.routes)(path), method)

  test('is answered by its own handler', async () => {
    expect(await (await app.request('/v1/links/bulk', { method: 'PATCH' })).text()).toBe('bulk')
  })

  test('is listed once, with its facts', () => {
    expect(listRoutes(app.routes)).toEqual([
      { method: 'PATCH', path: '/v1/links/bulk', facts },
      { method: 'PATCH', path: '/v1/links/:id', facts: other },
      { method: 'GET', path: '/v1/links/:id', facts: undefined },
    ])
  })

  test('is found by method and path: of two that fit, the one that answers', () => {
    expect(find('PATCH', '/v1/links/bulk')?.facts).toBe(facts)
    expect(find('PATCH', '/v1/links/7')?.facts).toBe(other)
    expect(find('HEAD', '/v1/links/7')?.method).toBe('GET')
    expect(find('PUT', '/v1/links/7')).toBeUndefined()
  })
})
