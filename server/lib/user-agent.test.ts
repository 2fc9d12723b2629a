import { describe, expect, test } from 'bun:test'
import { deviceForTargeting, isPrefetch } from './user-agent.ts'

const cases: [string, string, ReturnType<typeof deviceForTargeting>][] = [
  ['iPhone', 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Mobile/15E148 Safari/604.1', 'ios'],
  ['iPad', 'Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) Mobile/15E148 Safari/604.1', 'ios'],
  ['a web view on iPadOS', 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Mobile/15E148', 'ios'],
  ['Mac', 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/17.5 Safari/605.1.15', 'desktop'],
  ['Android phone', 'Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/126.0 Mobile Safari/537.36', 'android'],
  ['Windows phone', 'Mozilla/5.0 (Windows Phone 10.0; Android 6.0.1; Microsoft) Mobile iPhone', 'desktop'],
  ['Windows', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/126.0 Safari/537.36', 'desktop'],
  ['nothing', '', 'desktop'],
]

describe('the device that targeting rules mean', () => {
  for (const [name, userAgent, device] of cases)
    test(`${name} is ${device}`, () => expect(deviceForTargeting(userAgent)).toBe(device))
})

describe('fetching ahead', () => {
  const said = (headers: Record<string, string>) => isPrefetch((name) => headers[name] ?? null)
  test('is recognized by each header that browsers have used', () => {
    expect(said({ 'sec-purpose': 'prefetch;prerender' })).toBe(true)
    expect(said({ 'sec-purpose': 'prefetch' })).toBe(true)
    expect(said({ purpose: 'prefetch' })).toBe(true)
    expect(said({ 'x-purpose': 'preview' })).toBe(true)
    expect(said({ 'x-moz': 'prefetch' })).toBe(true)
  })
  test('is not assumed for an ordinary request', () => {
    expect(said({})).toBe(false)
    expect(said({ purpose: 'navigation' })).toBe(false)
  })
})
