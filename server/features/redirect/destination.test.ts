import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Selectable } from 'kysely'
import type { Links } from '../../storage/database/tables/link-tables.ts'
import { type CachedLink, toCachedLink } from '../links/cache.ts'
import {
  chooseDestination,
  type DestinationChoice,
  type RedirectContext,
  type RedirectReason,
  withClickId,
} from './destination.ts'

const NOW = Date.UTC(2026, 0, 15, 12)
const TARGET = 'https://example.com/landing'
const FALLBACK = 'https://example.com/over'

const ROW: Selectable<Links> = {
  id: 7,
  workspace_id: 1,
  domain: '',
  slug: 'sale',
  slug_key: 'sale',
  destination_url: TARGET,
  title: null,
  comments: null,
  external_id: null,
  archived: 0,
  starts_at: null,
  expires_at: null,
  expired_url: null,
  click_limit: null,
  clicks_used: 0,
  lead_limit: null,
  password_hash: null,
  forward_query: 0,
  track_conversions: 0,
  geo_targeting: '{}',
  device_targeting: '{}',
  rules: '[]',
  extra_path: 'ignore',
  public_stats: 0,
  split: null,
  split_started_at: null,
  split_ends_at: null,
  split_result: null,
  redirect_status: 302,
  preview_title: null,
  preview_description: null,
  preview_image: null,
  clicks: 0,
  clicks_before: 0,
  leads: 0,
  last_clicked_at: null,
  search_text: '',
  created_at: 0,
  updated_at: 0,
  deleted_at: null,
  purged_at: null,
  suspended_at: null,
  suspended_reason: null,
}

const link = (change: Partial<Selectable<Links>> = {}): CachedLink => toCachedLink({ ...ROW, ...change })
const visit = (change: Partial<RedirectContext> = {}): RedirectContext => ({
  at: NOW,
  device: 'ios',
  country: 'DE',
  query: '',
  unlocked: false,
  clicksUsedUp: true,
  schemes: [],
  ...change,
})

const goes = (rule: RedirectReason, url: string, status = 302): DestinationChoice => ({
  kind: 'go',
  rule,
  url,
  status,
  outcome: 'redirect',
  addClickId: false,
})

/**
 * The rules in the order of docs/contract.md §4, with the setting that turns each on and its answer to an iPhone in
 * Germany.
 */
const RULES: { rule: RedirectReason; on: Partial<Selectable<Links>>; answer: DestinationChoice }[] = [
  {
    rule: 'archived',
    on: { archived: 1 },
    answer: { kind: 'notFound', rule: 'archived', outcome: 'missing' },
  },
  {
    rule: 'notStarted',
    on: { starts_at: NOW + 1 },
    answer: { kind: 'notFound', rule: 'notStarted', outcome: 'missing' },
  },
  { rule: 'expired', on: { expires_at: NOW }, answer: { kind: 'gone', rule: 'expired', outcome: 'expired' } },
  {
    rule: 'clickLimit',
    on: { click_limit: 3 },
    answer: { kind: 'gone', rule: 'clickLimit', outcome: 'expired' },
  },
  {
    rule: 'leadLimit',
    on: { lead_limit: 2, leads: 2 },
    answer: { kind: 'gone', rule: 'leadLimit', outcome: 'expired' },
  },
  {
    rule: 'password',
    on: { password_hash: '$argon2id$' },
    answer: { kind: 'password', rule: 'password', outcome: 'password' },
  },
  {
    rule: 'device',
    on: { device_targeting: '{"ios":"https://example.com/ios"}' },
    answer: goes('device', 'https://example.com/ios'),
  },
  {
    rule: 'geo',
    on: { geo_targeting: '{"DE":"https://example.com/de"}' },
    answer: goes('geo', 'https://example.com/de'),
  },
  { rule: 'destination', on: {}, answer: goes('destination', TARGET) },
]

const PAIRS = RULES.flatMap((first, i) => RULES.slice(i + 1).map((second) => ({ first, second })))

describe('the rule that answers', () => {
  test('an unknown slug is missing', () => {
    expect(chooseDestination(null, visit())).toEqual({
      kind: 'notFound',
      rule: 'unknown',
      outcome: 'missing',
    })
  })

  test.each(RULES)('$rule answers when it is the only rule', ({ on, answer }) => {
    expect(chooseDestination(link(on), visit())).toEqual(answer)
  })

  test.each(PAIRS)('$first.rule comes before $second.rule', ({ first, second }) => {
    expect(chooseDestination(link({ ...second.on, ...first.on }), visit())).toEqual(first.answer)
  })

  test.each([
    ['startsAt', -1, 'notStarted', { starts_at: NOW }],
    ['startsAt', 0, 'destination', { starts_at: NOW }],
    ['expiresAt', -1, 'destination', { expires_at: NOW }],
    ['expiresAt', 0, 'expired', { expires_at: NOW }],
  ] as const)('%s: %i ms from it the rule is %s', (_, offset, rule, on) => {
    expect(chooseDestination(link(on), visit({ at: NOW + offset })).rule).toBe(rule)
  })

  test.each([
    ['clicks are left', { click_limit: 3 }, { clicksUsedUp: false }],
    ['a lead is left', { lead_limit: 2, leads: 1 }, {}],
    ['the password was given', { password_hash: 'x' }, { unlocked: true }],
    ['the target is for another device', { device_targeting: '{"android":"https://a.example/"}' }, {}],
    ['the target is for another country', { geo_targeting: '{"FR":"https://a.example/"}' }, {}],
    ['the country is unknown', { geo_targeting: '{"DE":"https://a.example/"}' }, { country: null }],
  ] as const)('the destination answers when %s', (_, on, change) => {
    expect(chooseDestination(link(on), visit(change))).toEqual(goes('destination', TARGET))
  })

  test('a closed link redirects to its expiredUrl with 302 and counts no click', () => {
    for (const { rule, on } of RULES.filter(({ answer }) => answer.kind === 'gone')) {
      const over = link({
        ...on,
        expired_url: FALLBACK,
        redirect_status: 301,
        track_conversions: 1,
        forward_query: 1,
      })
      expect([rule, chooseDestination(over, visit({ query: 'a=1' }))]).toEqual([
        rule,
        { kind: 'go', rule: 'expiredUrl', url: FALLBACK, status: 302, outcome: 'expired', addClickId: false },
      ])
    }
  })

  test('an expiredUrl changes nothing where the link is missing, locked or open', () => {
    for (const { on, answer } of RULES.filter(({ answer }) => answer.kind !== 'gone')) {
      expect(chooseDestination(link({ ...on, expired_url: FALLBACK }), visit())).toEqual(answer)
    }
  })

  test.each([301, 302, 307, 308])('a redirect has the status of its link: %i', (status) => {
    expect(chooseDestination(link({ redirect_status: status }), visit())).toEqual(
      goes('destination', TARGET, status),
    )
  })

  test('trackConversions adds a click id', () => {
    expect(chooseDestination(link({ track_conversions: 1 }), visit())).toMatchObject({ addClickId: true })
  })
})

describe('an unsafe stored URL', () => {
  const HOSTILE = [
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    ' https://example.com/',
    'java\nscript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    '//example.com/',
    'myapp:open',
    '',
  ]

  test.each(HOSTILE)('%p is never redirected to', (url) => {
    const unsafe: DestinationChoice = { kind: 'gone', rule: 'unsafe', outcome: 'expired' }
    expect(chooseDestination(link({ destination_url: url }), visit())).toEqual(unsafe)
    expect(chooseDestination(link({ destination_url: url, archived: 0, forward_query: 1 }), visit())).toEqual(
      unsafe,
    )
    expect(chooseDestination(link({ device_targeting: JSON.stringify({ ios: url }) }), visit())).toEqual(
      unsafe,
    )
    expect(chooseDestination(link({ geo_targeting: JSON.stringify({ DE: url }) }), visit())).toEqual(unsafe)
    expect(chooseDestination(link({ expires_at: NOW, expired_url: url }), visit())).toEqual({
      kind: 'gone',
      rule: 'expired',
      outcome: 'expired',
    })
  })

  test('is any URL with a scheme that the operator does not list', () => {
    const deep = link({ destination_url: 'myapp:open' })
    expect(chooseDestination(deep, visit({ schemes: ['myapp:'] }))).toEqual(goes('destination', 'myapp:open'))
    expect(chooseDestination(deep, visit({ schemes: ['app:', 'other:'] })).rule).toBe('unsafe')
  })
})

const landed = (destination: string, query: string, change: Partial<Selectable<Links>> = {}) => {
  const choice = chooseDestination(
    link({ destination_url: destination, forward_query: 1, ...change }),
    visit({ query }),
  )
  return choice.kind === 'go' ? choice.url : choice
}

describe('forwardQuery', () => {
  test.each([
    ['nothing to forward', TARGET, '', TARGET],
    ['a query', TARGET, 'a=1', `${TARGET}?a=1`],
    ['joined to a query', `${TARGET}?x=1`, 'a=1', `${TARGET}?x=1&a=1`],
    ['joined to an empty query', `${TARGET}?`, 'a=1', `${TARGET}?a=1`],
    ["the destination's own key wins", `${TARGET}?a=own`, 'a=1&b=2', `${TARGET}?a=own&b=2`],
    ['however it is written', `${TARGET}?%61=own`, 'a=1', `${TARGET}?%61=own`],
    ['an own key without a value wins too', `${TARGET}?a`, 'a=1', `${TARGET}?a`],
    ['repeated keys, in order', TARGET, 'a=1&b=2&a=3', `${TARGET}?a=1&b=2&a=3`],
    ['before the fragment', `${TARGET}#top`, 'a=1', `${TARGET}?a=1#top`],
    ['a question mark in a fragment is no query', `${TARGET}#/?x=1`, 'a=1', `${TARGET}?a=1#/?x=1`],
    [
      "the destination's encoding stays",
      `${TARGET}/a%20b/%7e?q=a+b%20%C3%A9&e=`,
      'u=1',
      `${TARGET}/a%20b/%7e?q=a+b%20%C3%A9&e=&u=1`,
    ],
    ['our own qr mark stays here', TARGET, 'qr=1&a=1', `${TARGET}?a=1`],
    ['only our own', TARGET, 'qr=12', `${TARGET}?qr=12`],
    [
      'nothing of it breaks out',
      TARGET,
      'a=%0d%0aSet-Cookie:x%23&b=<>',
      `${TARGET}?a=%0d%0aSet-Cookie:x%23&b=<>`,
    ],
    ['broken encoding', TARGET, 'a=%zz&%=1', `${TARGET}?a=%zz&%=1`],
    ...[
      'flag',
      'a=',
      '=a',
      'a%20b=c%20d',
      'a=b+c',
      'x=1;y=2',
      'arr[]=1&arr[]=2',
      'a=1&&b=2&',
      'a=b=c',
      '?a=1',
      'q=%E4',
      'q=%c3%a9&r=%C3%A9',
      'u=https://a.example/?b=1',
      "a=~!$'()*,:@",
    ].map((query): [string, string, string, string] => [
      `the bytes of ${query}`,
      TARGET,
      query,
      `${TARGET}?${query}`,
    ]),
    ['an own name in other bytes', `${TARGET}?a%20b=1`, 'a+b=2&c', `${TARGET}?a%20b=1&c`],
    ['every copy of an own name is dropped', `${TARGET}?a`, 'a&b&a=2', `${TARGET}?a&b`],
  ])('%s', (_, destination, query, expected) => {
    expect(landed(destination, query)).toBe(expected)
  })

  test('is off unless the link says so', () => {
    expect(landed(TARGET, 'a=1', { forward_query: 0 })).toBe(TARGET)
  })

  test('applies to device and country targets too', () => {
    expect(landed(TARGET, 'a=1', { device_targeting: '{"ios":"https://example.com/ios?a=2"}' })).toBe(
      'https://example.com/ios?a=2',
    )
    expect(landed(TARGET, 'a=1', { geo_targeting: '{"DE":"https://example.com/de"}' })).toBe(
      'https://example.com/de?a=1',
    )
  })

  test("the link's own tp_cid replaces a forwarded one", () => {
    expect(landed(TARGET, 'tp_cid=stolen&a=1', { track_conversions: 1 })).toBe(`${TARGET}?a=1`)
    expect(landed(TARGET, 'tp_cid=other&a=1')).toBe(`${TARGET}?tp_cid=other&a=1`)
  })

  test.each(['tel:+491', 'mailto:a@example.com', 'sms:+491', 'myapp://open/1'])(
    'a click id is never added to %s',
    (url) => {
      const some = link({ destination_url: url, track_conversions: 1, forward_query: 1 })
      expect(
        chooseDestination(some, visit({ query: 'tp_cid=x', schemes: ['tel:', 'mailto:', 'sms:', 'myapp:'] })),
      ).toMatchObject({ kind: 'go', url, addClickId: false })
    },
  )

  test('for any query, the destination’s own parameters stay first and unchanged, and all others follow once', () => {
    const pairs = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'utm_source', 'qr', ''), fc.string()))
    fc.assert(
      fc.property(pairs, pairs, fc.boolean(), (own, given, withHash) => {
        const bare = own.length > 0 ? `${TARGET}?${new URLSearchParams(own)}` : TARGET
        const query = new URLSearchParams(given).toString()
        const url = landed(withHash ? `${bare}#part` : bare, query) as string
        expect(url.startsWith(bare)).toBe(true)
        expect(url.endsWith('#part')).toBe(withHash)
        const names = new Set(own.map(([name]) => name))
        const added = given.filter(([name, value]) => !names.has(name) && !(name === 'qr' && value === '1'))
        expect([...new URL(url).searchParams]).toEqual([
          ...new URLSearchParams([...own, ...added].map((pair) => pair)),
        ])
      }),
    )
  })
})

describe('the click id', () => {
  test.each([
    [TARGET, `${TARGET}?tp_cid=new`],
    [`${TARGET}?a=1#top`, `${TARGET}?a=1&tp_cid=new#top`],
    [`${TARGET}?tp_cid=old`, `${TARGET}?tp_cid=new`],
    [`${TARGET}?a=%20&tp_cid=old&b=+&tp_cid=older#tp_cid=x`, `${TARGET}?a=%20&b=+&tp_cid=new#tp_cid=x`],
    [`${TARGET}?xtp_cid=1&tp_cidx=2`, `${TARGET}?xtp_cid=1&tp_cidx=2&tp_cid=new`],
    [`${TARGET}#?tp_cid=old`, `${TARGET}?tp_cid=new#?tp_cid=old`],
  ])('%s becomes %s', (url, expected) => {
    expect(withClickId(url, 'new')).toBe(expected)
  })
})

describe('the short cut for plain links', () => {
  const mostly = <T>(off: T, on: fc.Arbitrary<T>) =>
    fc.oneof({ weight: 12, arbitrary: fc.constant(off) }, { weight: 1, arbitrary: on })
  const time = fc.integer({ min: NOW - 2, max: NOW + 2 })
  const few = fc.integer({ min: 1, max: 3 })
  const url = fc.constantFrom(TARGET, 'http://a.example/?x=1#y', 'javascript:alert(1)', 'myapp:open', '')
  const row = fc.record({
    destination_url: url,
    archived: mostly(0, fc.constant(1)),
    starts_at: mostly<number | null>(null, time),
    expires_at: mostly<number | null>(null, time),
    expired_url: fc.option(url, { nil: null }),
    click_limit: mostly<number | null>(null, few),
    clicks_used: few,
    lead_limit: mostly<number | null>(null, few),
    leads: few,
    password_hash: mostly<string | null>(null, fc.constant('$argon2id$')),
    forward_query: mostly(0, fc.constant(1)),
    track_conversions: mostly(0, fc.constant(1)),
    geo_targeting: mostly(
      '{}',
      url.map((DE) => JSON.stringify({ DE })),
    ),
    device_targeting: mostly(
      '{}',
      url.map((ios) => JSON.stringify({ ios })),
    ),
    redirect_status: fc.constantFrom(301, 302, 307, 308),
  })
  const anyVisit = fc.record<RedirectContext>({
    at: time,
    device: fc.constantFrom('ios', 'android', 'desktop'),
    country: fc.constantFrom('DE', 'US', null),
    query: fc.constantFrom('', 'a=1&qr=1', 'tp_cid=x'),
    unlocked: fc.boolean(),
    clicksUsedUp: fc.boolean(),
    schemes: fc.constantFrom([], ['myapp:']),
  })

  test('gives the same answer as the full decision', () => {
    let plain = 0
    fc.assert(
      fc.property(row, anyVisit, (change, seen) => {
        const some = link(change)
        if (some.plain) plain++
        expect(chooseDestination(some, seen)).toEqual(chooseDestination({ ...some, plain: false }, seen))
      }),
      { numRuns: 2000 },
    )
    expect(plain).toBeGreaterThan(200)
  })
})
