import { describe, expect, test } from 'bun:test'
import {
  type CspDirective,
  findForbiddingDirective,
  matchesSource,
  readContentPolicies,
} from './content-policy.ts'

const PAGE = 'https://site.test/contact'
const OURS = 'https://go.example/f/abc'

// source, address, page, whether it matches
const SOURCES: [string, string, string | null, boolean][] = [
  ['*', OURS, PAGE, true],
  ["'none'", OURS, PAGE, false],
  ["'self'", OURS, PAGE, false],
  ["'self'", 'https://site.test/x', PAGE, true],
  ["'SELF'", 'https://site.test/x', PAGE, true],
  ["'self'", 'https://site.test:8443/x', PAGE, false],
  ["'self'", 'https://site.test/x', 'http://site.test/', true],
  ["'self'", 'http://site.test/x', PAGE, false],
  ["'self'", OURS, null, false],
  ["'unsafe-inline'", OURS, PAGE, false],
  ['https:', OURS, PAGE, true],
  ['HTTPS:', OURS, PAGE, true],
  ['http:', OURS, PAGE, true],
  ['https:', 'http://go.example/f/abc', PAGE, false],
  ['data:', OURS, PAGE, false],
  ['go.example', OURS, PAGE, true],
  ['GO.Example', OURS, PAGE, true],
  ['go.example', 'http://go.example/', PAGE, false],
  ['go.example', 'http://go.example/', 'http://site.test/', true],
  ['go.example', OURS, 'http://site.test/', true],
  ['go.example', 'http://go.example/', null, true],
  ['https://go.example', OURS, PAGE, true],
  ['http://go.example', OURS, PAGE, true],
  ['https://go.example', 'http://go.example/', 'http://site.test/', false],
  ['ws://go.example', OURS, PAGE, false],
  ['go.example.evil', OURS, PAGE, false],
  ['o.example', OURS, PAGE, false],
  ['*.example', OURS, PAGE, true],
  ['*.go.example', OURS, PAGE, false],
  ['*.go.example', 'https://a.b.go.example/', PAGE, true],
  ['https://*.example', OURS, PAGE, true],
  ['https://*', OURS, PAGE, true],
  ['https://*:*', 'https://go.example:8443/', PAGE, true],
  ['g*.example', OURS, PAGE, false],
  ['go.example:443', OURS, PAGE, true],
  ['go.example:80', OURS, PAGE, true],
  ['go.example:8443', OURS, PAGE, false],
  ['go.example', 'https://go.example:8443/', PAGE, false],
  ['go.example:8443', 'https://go.example:8443/', PAGE, true],
  ['go.example:*', 'https://go.example:8443/', PAGE, true],
  ['http://go.example:80', OURS, PAGE, true],
  ['go.example/', OURS, PAGE, true],
  ['go.example/f/', OURS, PAGE, true],
  ['go.example/f/abc', OURS, PAGE, true],
  ['go.example/f', OURS, PAGE, false],
  ['go.example/F/abc', OURS, PAGE, false],
  ['go.example/f/%61bc', OURS, PAGE, true],
  ['go.example/f/abc/', OURS, PAGE, false],
  ['192.168.1.5:3000', 'http://192.168.1.5:3000/f/x', 'http://site.test/', true],
  ['[::1]:3000', 'http://[::1]:3000/f/x', 'http://site.test/', true],
  ['go.example;', OURS, PAGE, false],
  ['//go.example', OURS, PAGE, false],
]

test.each(SOURCES)('the source %s and the address %s on %s: %p', (source, address, page, matches) => {
  expect(matchesSource(source, new URL(address), page === null ? null : new URL(page))).toBe(matches)
})

const NONCE = { nonce: 'abc' }
const POLICIES: [string, CspDirective, string | undefined, object?][] = [
  ['', 'form-action', undefined],
  ["default-src 'none'", 'form-action', undefined],
  ["default-src 'none'", 'connect-src', 'default-src'],
  ["default-src 'none'", 'script-src', 'default-src'],
  ["default-src 'none'", 'frame-src', 'default-src'],
  ["default-src 'none'; connect-src go.example", 'connect-src', undefined],
  ["default-src go.example; connect-src 'self'", 'connect-src', 'connect-src'],
  ["script-src 'self'; script-src-elem go.example", 'script-src', undefined],
  ["script-src go.example; script-src-elem 'self'", 'script-src', 'script-src-elem'],
  ["child-src 'self'", 'frame-src', 'child-src'],
  ["form-action 'self'", 'form-action', 'form-action'],
  ["form-action 'self' https://go.example", 'form-action', undefined],
  ['form-action', 'form-action', 'form-action'],
  ["form-action 'none' https://go.example", 'form-action', undefined],
  ["FORM-ACTION 'self'", 'form-action', 'form-action'],
  ["form-action *; form-action 'none'", 'form-action', undefined],
  ["form-action *, form-action 'self'", 'form-action', 'form-action'],
  ["script-src 'self' 'nonce-abc'", 'script-src', undefined, NONCE],
  ["script-src 'self' 'nonce-xyz'", 'script-src', 'script-src', NONCE],
  ["script-src go.example 'strict-dynamic'", 'script-src', 'script-src'],
  ["script-src 'strict-dynamic' 'nonce-abc'", 'script-src', undefined, NONCE],
  ["script-src 'sha256-aaa='", 'script-src', undefined, { integrity: 'sha256-aaa=' }],
  ["script-src 'sha256-aaa='", 'script-src', 'script-src', { integrity: 'sha256-aaa= sha384-bbb=' }],
  ["connect-src 'nonce-abc'", 'connect-src', 'connect-src', NONCE],
]

describe('a policy', () => {
  const rows = POLICIES.map(([policy, directive, by, load = {}]) => [policy, directive, by, load] as const)
  test.each(rows)('%p on %s is stopped by %p', (policy, directive, by, load) => {
    const policies = readContentPolicies(policy)
    expect(findForbiddingDirective(policies, directive, new URL(OURS), new URL(PAGE), load)).toBe(by)
  })
})
