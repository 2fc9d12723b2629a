// Many patterns in one text: compared with a regular expression for each, and bounded in time.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { measureProcessorMs } from '../../../../tests/support/processor-time.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { NO_SPAM_RULES } from '../settings/form-defaults.ts'
import { checkRules } from './check-rules.ts'
import { foldWords, toWordPattern } from './fold-words.ts'
import { compilePatterns } from './pattern-matcher.ts'

const toRegExp = (pattern: string) => new RegExp(pattern.replaceAll('*', '[^ ]*').replace(/[.]/g, '\\.'))

test('finds the same as a regular expression for each pattern', async () => {
  const word = fc.stringMatching(/^[ab*]{1,4}$/).filter((text) => /[ab]/.test(text))
  const phrase = fc.stringMatching(/^\*?[ab]{1,2} [ab]{1,2}\*?$/)
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.oneof(word, phrase), { minLength: 1, maxLength: 8 }),
      fc.stringMatching(/^[ab ]{0,24}$/),
      async (rules, sent) => {
        const text = foldWords(sent)
        const patterns = rules.map((rule) => ({ rule, text: toWordPattern(rule) }))
        const found = await (await compilePatterns(patterns)).find(text, 100)
        const expected = patterns.filter((one) => toRegExp(one.text).test(text)).map(({ rule }) => rule)
        expect([...new Set(found.map(({ rule }) => rule))].sort()).toEqual(expected.sort())
      },
    ),
    { numRuns: atScale({ quick: 200, full: 500, soak: 20_000 }) },
  )
})

const RULES = 500
/** Fields of 64 KB each. */
const FIELDS = atScale({ quick: 2, full: 16, soak: 16 })
const TEXTS = {
  letters: 'a'.repeat(65_536),
  words: 'a '.repeat(32_768),
  nearly: 'bicycle saddle casin '.repeat(3_120),
  oneWord: 'casin'.repeat(13_000),
  links: 'www.a.a '.repeat(8_192),
  invisible: '​'.repeat(65_536),
  wide: 'ﷺ'.repeat(21_000),
  brackets: ']('.repeat(32_768),
}
const range = (toRule: (i: number) => string) => Array.from({ length: RULES }, (_, i) => toRule(i))
const HOSTILE = {
  words: range((i) => `casino${i}`),
  prefixes: range((i) => `${'a'.repeat(1 + (i % 190))}b${i}*`),
  suffixes: range((i) => `*${'a'.repeat(1 + (i % 190))}b`),
  phrases: range((i) => `${'a '.repeat(1 + (i % 90))}b${i}`),
  shared: range((i) => (i < 100 ? `*casin*z${i}` : `z${i}`)),
  stars: range((i) => (i < 100 ? `*a*a*a*a*b${i}` : `z${i}`)),
}

test.each(Object.entries(HOSTILE))(
  'takes bounded time for many letters and 500 rules: %s',
  async (_, rules) => {
    const domains = range((i) => (i % 2 ? `*.a${i}.example` : `${'a.'.repeat(i % 60)}a`))
    const spam = { ...NO_SPAM_RULES, words: rules, domains, emails: range((i) => `*${i}@*.x`), maxLinks: 0 }
    for (const text of Object.values(TEXTS)) {
      const fields = new Map(Array.from({ length: FIELDS }, (_, i) => [`f${i}`, text]))
      const ms = await measureProcessorMs(() => checkRules({ spam }, fields))
      // Some 150 ms on a slow machine. Comparing every rule with every letter would take a minute.
      expect(ms).toBeLessThan(2_000)
    }
  },
  120_000,
)
