// Redirect rules of links and paths after their slugs, as visitors and the API meet them.

import { describe, expect } from 'bun:test'
import fc from 'fast-check'
import { quick } from '../../../tests/support/suite.ts'
import { onSqlite } from '../../../tests/support/world.ts'
import { compileRules, findRule, type RuleVisitor } from '../links/redirect-rules/find-rule.ts'
import { findRuleWarnings } from '../links/redirect-rules/find-warnings.ts'
import { type RedirectRule, RULE_DEVICES, RULE_SYSTEMS } from '../links/redirect-rules/schema.ts'

const at = (place: string) => `https://example.com/${place}`
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'
const IPAD =
  'Mozilla/5.0 (iPad; CPU OS 12_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1.2 Mobile/15E148 Safari/604.1'
const CHROMEBOOK =
  'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'
const WINDOWS =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'

onSqlite('A link with rules', (server) => {
  const follow = async (path: string, headers: Record<string, string> = {}) =>
    (await server().click(path, headers)).headers.get('location')

  quick('leads to the target of the first rule that matches, before other targeting', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink({
      rules: [
        { when: { query: { ref: 'partner', vip: '*' } }, to: at('partner') },
        { when: { os: ['ios'], device: ['tablet'] }, to: at('ipad') },
        { when: { os: ['chromeos', 'windows'], language: ['DE', 'fr'] }, to: at('de-desktop') },
        { when: { after: '2020-01-01T00:00:00Z', before: '2021-01-01T00:00:00Z' }, to: at('past') },
        { when: { language: ['pt'] }, to: at('pt') },
      ],
      deviceTargeting: { ios: at('ios') },
    })
    for (const [path, headers, target] of [
      ['?ref=partner&vip=', { 'User-Agent': IPAD }, 'partner'],
      ['?vip=1&ref=other', { 'User-Agent': IPAD }, 'ipad'],
      ['', { 'User-Agent': IPAD, 'Accept-Language': 'de' }, 'ipad'],
      ['', { 'User-Agent': IPHONE }, 'ios'],
      ['', { 'User-Agent': CHROMEBOOK, 'Accept-Language': 'de-AT,de;q=0.9,en;q=0.8' }, 'de-desktop'],
      ['', { 'User-Agent': WINDOWS, 'Accept-Language': 'en;q=0.7, FR-ca, *;q=0.5' }, 'de-desktop'],
      ['', { 'User-Agent': WINDOWS, 'Accept-Language': 'en,de;q=0.9' }, ''],
      ['', { 'User-Agent': WINDOWS, 'Accept-Language': 'de;q=0' }, ''],
      ['', { 'User-Agent': WINDOWS, 'Accept-Language': 'de;q=2,pt-BR;q=0.1' }, 'pt'],
      ['', { 'User-Agent': WINDOWS }, ''],
    ] as [string, Record<string, string>, string][])
      expect([path, headers, await follow(link.slug + path, headers)]).toEqual([path, headers, at(target)])
  })

  quick('says in `resolve` which rule decides', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink({
      rules: [
        { when: { country: ['uk', 'DE'], language: ['de'] }, to: at('de') },
        { when: { os: ['android'], device: ['mobile'], query: { a: '1' } }, to: at('phone') },
        { when: { before: '2030-01-01T00:00:00+01:00' }, to: at('early') },
      ],
    })
    expect(link).toMatchObject({
      rules: [
        { when: { country: ['GB', 'DE'], language: ['de'] } },
        {},
        { when: { before: '2029-12-31T23:00:00.000Z' } },
      ],
      ruleWarnings: [],
    })
    for (const [query, rule] of [
      ['country=UK&language=de-CH,en', 'rules.0'],
      ['country=FR&language=de&at=2031-01-01T00:00:00Z', 'destination'],
      ['device=android&query=a%3D1', 'rules.1'],
      ['os=android&query=b%3D1&at=2031-01-01T00:00:00Z', 'destination'],
      ['os=android&device=tablet&query=a%3D1', 'rules.2'],
    ] as const) {
      const { json: body } = await ws.api(`/links/${link.id}/resolve?${query}`)
      expect([query, body.data.rule]).toEqual([query, rule])
    }
  })

  quick('tells of rules that can never match, and refuses what is no rule', async () => {
    const ws = await server().createWorkspace()
    const { ruleWarnings } = await ws.createLink({
      rules: [
        { when: { country: ['DE', 'AT'], query: { a: '*' } }, to: at('1') },
        { when: { country: ['AT'], os: ['ios'], query: { a: '5', b: '1' } }, to: at('2') },
        { when: { country: ['ZZ'] }, to: at('3') },
        { when: { after: '2031-01-01T00:00:00Z', before: '2030-01-01T00:00:00Z' }, to: at('4') },
        { when: {}, to: at('5') },
        { when: { device: ['mobile'] }, to: at('6') },
      ],
    })
    expect(ruleWarnings.map(({ rule }: { rule: number }) => rule)).toEqual([1, 2, 3, 5])
    const everybody = { when: {}, to: at('') }
    for (const [rules, field] of [
      [Array(21).fill(everybody), 'rules'],
      [[{ when: {} }], 'rules.0.to'],
      [[everybody, { when: {}, to: 'javascript:alert(1)' }], 'rules.1.to'],
      [[{ when: {}, to: server().origin }], 'rules.0.to'],
      [[{ when: { country: ['Germany'] }, to: at('') }], 'rules.0.when.country.0'],
      [[{ when: { country: [] }, to: at('') }], 'rules.0.when.country'],
      [[{ when: { device: ['ios'] }, to: at('') }], 'rules.0.when.device.0'],
      [[{ when: { language: ['x'.repeat(10_000)] }, to: at('') }], 'rules.0.when.language.0'],
      [[{ when: { query: {} }, to: at('') }], 'rules.0.when.query'],
      [[{ when: { query: { a: 1 } }, to: at('') }], 'rules.0.when.query.a'],
      [[{ when: { after: 'tomorrow' }, to: at('') }], 'rules.0.when.after'],
      [[{ when: { weather: 'rain' }, to: at('') }], 'rules.0.when.weather'],
      [{}, 'rules'],
    ] as const) {
      const { status, json: body } = await ws.post('/links', { destinationUrl: at(''), rules })
      expect([status, Object.keys(body.errors ?? {})]).toEqual([422, [field]])
    }
  })

  quick('takes a path after its slug to its destination, and never above it', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({
      destinationUrl: 'https://example.com/docs?from=link#top',
      extraPath: 'append',
      slug: 'manual/v1',
    })
    const plain = await ws.createLink({ slug: 'plain' })
    for (const [path, target] of [
      [slug, 'https://example.com/docs?from=link#top'],
      [`${slug}?c=1`, 'https://example.com/docs?from=link#top'],
      [`${slug}/a/b?c`, 'https://example.com/docs/a/b?from=link&c#top'],
      [`${slug}/a%20b/%C3%BC+/`, 'https://example.com/docs/a%20b/%C3%BC+/?from=link#top'],
      [`${slug}/a?from=me&qr=1&d=%20`, 'https://example.com/docs/a?from=link&d=%20#top'],
      [`${slug}/1/2/3/4/5/6/7/8/9`, 'https://example.com/docs/1/2/3/4/5/6/7/8/9?from=link#top'],
      [`${slug}/v1..2/.well-known/...`, 'https://example.com/docs/v1..2/.well-known/...?from=link#top'],
      [`${slug}/a%2f..%2f..%2fb`, null],
      [`${slug}/%252e%252e/b`, null],
      [`${slug}/..%5c..%5cb`, null],
      [`${slug}/..;/b`, null],
      [`${slug}/%c0%ae%c0%ae/b`, null],
      [`${slug}/a%00`, null],
      [`${plain.slug}/a`, null],
    ] as const)
      expect([path, await follow(path)]).toEqual([path, target])
  })
})

const visitors: fc.Arbitrary<RuleVisitor> = fc.record({
  at: fc.integer({ min: 0, max: 6 }),
  country: fc.constantFrom('DE', 'AT', null),
  device: fc.constantFrom(...RULE_DEVICES),
  os: fc.constantFrom(...RULE_SYSTEMS, null),
  language: fc.constantFrom('de', 'en', null),
  query: fc.constantFrom('', 'a=1', 'a=2&b=1'),
})
const someOf = (...values: string[]) => fc.subarray(values, { minLength: 1 })
const moment = fc.integer({ min: 0, max: 6 }).map((ms) => new Date(ms).toISOString())
const rules = fc.array(
  fc.record(
    {
      country: someOf('DE', 'AT', 'ZZ'),
      device: someOf(...RULE_DEVICES),
      os: someOf('ios', 'windows', 'linux'),
      language: someOf('de', 'en'),
      query: fc.constantFrom({ a: '*' }, { a: '1' }, { a: '2', b: '*' }),
      after: moment,
      before: moment,
    },
    { requiredKeys: [] },
  ),
  { maxLength: 6 },
)

describe('a rule with a warning', () => {
  quick('decides for no visitor', () => {
    fc.assert(
      fc.property(rules, fc.array(visitors, { minLength: 40, maxLength: 40 }), (conditions, people) => {
        const stored = conditions.map((when) => ({ when, to: at('') }) as RedirectRule)
        const compiled = compileRules(stored)
        const warned = findRuleWarnings(stored).map(({ rule }) => rule)
        for (const visitor of people)
          expect(warned).not.toContain(compiled ? findRule(compiled, visitor) : -1)
      }),
    )
  })
})
