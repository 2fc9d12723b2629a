import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseUserAgent } from './user-agent.ts'
import { BOT_USER_AGENTS, BROWSER_USER_AGENTS } from './user-agents.fixture.ts'

describe('a person is told by device, browser and system as people call them', () => {
  test.each(BROWSER_USER_AGENTS)('%s', (userAgent, device, browser, os) => {
    expect(parseUserAgent(userAgent)).toEqual({ bot: false, device, browser, os })
  })
})

describe('a program is a bot', () => {
  test.each(BOT_USER_AGENTS)('"%s"', (userAgent) => expect(parseUserAgent(userAgent).bot).toBe(true))
})

test('no user agent is too strange to be read, and none takes long', () => {
  const pieces = [
    'Mozilla/5.0 ',
    '(',
    ')',
    ';',
    '/',
    ' ',
    'Version/',
    'Chrome/1',
    'Android',
    '\u202e',
    '9'.repeat(99),
  ]
  const strange = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 512 }),
    fc.array(fc.constantFrom(...pieces), { maxLength: 80 }).map((each) => each.join('').slice(0, 512)),
  )
  fc.assert(
    fc.property(strange, (userAgent) => {
      const start = performance.now()
      parseUserAgent(userAgent)
      expect(performance.now() - start).toBeLessThan(2_000)
    }),
    { numRuns: 500 },
  )
})
