import { expect, test } from 'bun:test'
import { createMethodTable } from './method-table.ts'

const methodsOf = createMethodTable(() => [
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
  ['/v1/links/bulk', ['GET', 'DELETE', 'POST']],
  ['/v1/a.b', ['GET']],
  // Middleware mounts no path; a dot is a dot; a parameter is one segment.
  ['/v1/other', []],
  ['/v1/aXb', []],
  ['/v1/links/', []],
  ['/v1/links/7/8', []],
  ['/v1', []],
])('%s knows %p', (path, methods) => {
  expect(methodsOf(path)).toEqual(methods)
})
