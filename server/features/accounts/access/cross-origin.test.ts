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
  // Sec-Fetch-Site decides, whatever Origin says.
  [{ 'sec-fetch-site': 'cross-site', origin: ORIGIN }, false],
  [{ 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }, true],
  // Over plain http: compare with the Host of the request, or with the public host.
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
  // Not a browser.
  [{}, true],
] as const)('%j may ask: %p', (headers, may) => {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])
    expect(isLetIn(headers, method)).toBe(may)
})

test('a link on any site may lead to a read, and to nothing else', () => {
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
  for (const [method, may] of [
    ['GET', true],
    ['HEAD', true],
    ['POST', false],
    ['DELETE', false],
  ] as const)
    expect(isLetIn(link, method)).toBe(may)
})
