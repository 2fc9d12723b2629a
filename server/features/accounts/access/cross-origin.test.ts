import { expect, test } from 'bun:test'
import { Failure } from '../../../lib/failure.ts'
import { refuseCrossOrigin } from './cross-origin.ts'

const ORIGIN = 'https://go.example'

function isLetIn(headers: Record<string, string>, method = 'POST'): boolean {
  try {
    refuseCrossOrigin({ method, headers: new Headers({ host: '10.0.0.5:3000', ...headers }) }, ORIGIN)
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(Failure)
    expect([(error as Failure).code, (error as Failure).message]).toEqual([
      'forbidden',
      'Cross-origin request refused',
    ])
    return false
  }
}

test.each([
  [{ 'sec-fetch-site': 'same-origin' }, true],
  [{ 'sec-fetch-site': 'none' }, true],
  [{ 'sec-fetch-site': 'same-site' }, false],
  [{ 'sec-fetch-site': 'cross-site' }, false],
  [{ 'sec-fetch-site': '' }, false],
  // What the browser says outweighs the origin, either way.
  [{ 'sec-fetch-site': 'cross-site', origin: ORIGIN }, false],
  [{ 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }, true],
  // Plain http: by the host it was asked by, or the public one.
  [{ origin: 'http://10.0.0.5:3000' }, true],
  [{ origin: 'https://10.0.0.5:3000' }, true],
  [{ origin: ORIGIN }, true],
  [{ origin: 'http://10.0.0.5:3001' }, false],
  [{ origin: 'https://go.example:444' }, false],
  [{ origin: 'https://go.example.evil.example' }, false],
  [{ origin: 'https://evil.example' }, false],
  [{ origin: 'null' }, false],
  [{ origin: '' }, false],
  [{ origin: 'file://' }, false],
  // No browser.
  [{}, true],
] as const)('%j may change something: %p', (headers, may) => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) expect(isLetIn(headers, method)).toBe(may)
})

test('whoever only asks may come from anywhere', () => {
  for (const method of ['GET', 'HEAD', 'OPTIONS']) {
    expect(isLetIn({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, method)).toBe(true)
  }
})
