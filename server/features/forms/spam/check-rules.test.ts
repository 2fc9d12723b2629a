// The spam rules of a form, one submission after the other: each broken rule with its sentence.

import { describe, expect, test } from 'bun:test'
import { NO_SPAM_RULES } from '../settings/form-defaults.ts'
import { checkRules } from './check-rules.ts'
import { findLinks } from './find-links.ts'
import type { SpamSettings } from './schema.ts'

const check = (spam: Partial<SpamSettings>, fields: Record<string, string>, rules = {}) =>
  checkRules({ spam: { ...NO_SPAM_RULES, ...spam }, rules }, new Map(Object.entries(fields)))
const breaks = async (spam: Partial<SpamSettings>, value: string) =>
  (await check(spam, { m: value })).length > 0

describe('a word rule', () => {
  test.each([
    ['casino', 'CASINO', true],
    ['casino', 'best casino!', true],
    ['casino', 'casinos', false],
    ['casino', 'online-casino', true],
    ['casino', 'ca​si­no', true],
    ['casino', 'ｃａｓｉｎｏ 𝐛𝐨𝐧𝐮𝐬', true],
    ['ΚΑΖΊΝΟΣ', 'καζίνος', true],
    ['make money', 'MAKE,  money now', true],
    ['make money', 'make more money', false],
    ['crypto*', 'cryptocurrency', true],
    ['crypto*', 'mycrypto', false],
    ['*coin', 'bitcoin', true],
    ['*coin', 'coins', false],
    ['*bet*', 'alphabetical', true],
    ['v*gra', 'v1agra', true],
    ['v*gra', 'vi agra', false],
    ['100%', 'earn 100%!', true],
    ['100%', '100 people', false],
    ["don't", 'I don’t', true],
    ['赌场', '最好的 赌场', true],
    ['a', '', false],
  ])('%p in %p: %p', async (rule, text, expected) => {
    expect(await breaks({ words: [rule] }, text)).toBe(expected)
  })
})

describe('a domain rule', () => {
  test.each([
    ['spam.example', 'see https://spam.example/x', true],
    ['spam.example', 'see HTTPS://Shop.SPAM.example', true],
    ['spam.example', 'see https://notspam.example', false],
    ['spam.example', 'see https://good.example@spam.example:8080/', true],
    ['spam.example', 'see https://spam.example.good.example', false],
    ['spam.example', '[click](spam.example/x)', true],
    ['spam.example', '[url=spam.example]x[/url]', true],
    ['spam.example', 'www.spam.example', true],
    ['spam.example', 'bob@spam.example', true],
    ['*.example', 'https://a.example', true],
    ['*.example', 'https://example', false],
    ['casino*.example', 'https://casino77.example', true],
    ['bücher.example', 'https://xn--bcher-kva.example', true],
    ['xn--bcher-kva.example', 'https://bücher.example', true],
  ])('%p in %p: %p', async (rule, text, expected) => {
    expect(await breaks({ domains: [rule] }, text)).toBe(expected)
  })
})

describe('an address rule', () => {
  test.each([
    ['bob@spam.example', 'BOB@spam.example ', true],
    ['*@spam.example', 'bob@spam.example', true],
    ['@spam.example', 'bob@spam.example', true],
    ['*@spam.example', 'bob@sub.spam.example', false],
    ['bob*@*.example', 'bob77@x.example', true],
    ['*@spam.example', 'write to bob@spam.example', false],
  ])('%p for %p: %p', async (rule, value, expected) => {
    expect(await breaks({ emails: [rule] }, value)).toBe(expected)
  })
})

test.each([
  ['https://a.example http://b.example www.c.example', 3],
  ['http://www.a.example', 1],
  ['[one](https://a.example) [two](b.example/x)', 2],
  ['[url=https://a.example]x[/url] [url]b.example[/url]', 2],
  ['<a href="https://a.example">x</a>', 1],
  ['see (this](that) and www. and http://', 1],
  ['awww.example, a.example, ftp://x.example', 0],
])('counts the links of %p', (text, count) => {
  expect([...findLinks(text)]).toHaveLength(count)
})

test('counts the links of all fields but those that are for a URL, and names where they are', async () => {
  const fields = { website: 'https://mine.example', a: 'https://x.example', b: 'www.y.example www.z.example' }
  expect(await check({ maxLinks: 3 }, fields)).toEqual([
    'The 3 fields with links have 4 links; this form allows 3.',
  ])
  expect(await check({ maxLinks: 3 }, fields, { website: { type: 'url' } })).toEqual([])
  expect(await check({ maxLinks: 0 }, { a: 'https://x.example' })).toEqual([
    'The field "a" has 1 link; this form allows 0.',
  ])
})

test('gives at most three reasons of a kind, and cuts long names', async () => {
  const words = ['one', 'two', 'three', 'four']
  const reasons = await check({ words }, { ['n'.repeat(200)]: 'one two three four' })
  expect(reasons).toHaveLength(3)
  expect(reasons[0]).toBe(`The word "one" in the field "${'n'.repeat(60)}…" is on the list of this form.`)
})
