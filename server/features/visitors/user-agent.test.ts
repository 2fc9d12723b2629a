import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { measureProcessorMs } from '../../../tests/support/processor-time.ts'
import { atScale } from '../../../tests/support/suite.ts'
import { parseUserAgent } from './user-agent.ts'
import { BOT_USER_AGENTS, BROWSER_USER_AGENTS } from './user-agents.fixture.ts'

describe('parseUserAgent names device, browser and system', () => {
  test.each(BROWSER_USER_AGENTS)('%s', (userAgent, device, browser, os) => {
    expect(parseUserAgent(userAgent)).toEqual({ bot: false, device, browser, os })
  })
})

describe('parseUserAgent recognizes a bot', () => {
  test.each(BOT_USER_AGENTS)('"%s"', (userAgent) => expect(parseUserAgent(userAgent).bot).toBe(true))
})

test('parseUserAgent never throws and is quick, whatever the text', async () => {
  const pieces = [...'();/ \u202e', 'Mozilla/5.0 ', 'Version/', 'Chrome/1', 'Android', '9'.repeat(99)]
  const strange = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 512 }),
    fc.array(fc.constantFrom(...pieces), { maxLength: 80 }).map((each) => each.join('').slice(0, 512)),
  )
  await fc.assert(
    fc.asyncProperty(strange, async (userAgent) => {
      expect(await measureProcessorMs(() => parseUserAgent(userAgent))).toBeLessThan(2_000)
    }),
    { numRuns: atScale({ quick: 50, full: 500, soak: 500 }) },
  )
})
