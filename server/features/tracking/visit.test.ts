import { describe, expect, test } from 'bun:test'
import { createPageViewReader } from './page-view.ts'
import { addPageView, isVisitOver, startVisit, type Visit } from './visit.ts'

const AT = Date.parse('2026-05-10T12:00:00Z')
const ownHosts = new Set(['go.example', 'localhost:3000'])
// Any id of link n is `click<n>`.
const linkOf = (text: string) => Number(/^click(\d+)$/.exec(text)?.[1] ?? Number.NaN) || undefined
const reader = createPageViewReader(ownHosts)
const read = (url: string, referrer = '', at = AT) => reader({ at, url, referrer }, linkOf)

const SHOP = 'https://shop.example'
const SEARCH = 'https://www.search.example/?q=secret'

describe('a page view', () => {
  test.each<[string, string, string, object]>([
    ['directly', `${SHOP}/a?x=1#y`, '', { kind: 'direct', referrer: null, landingUrl: `${SHOP}/a` }],
    ['from another site', `${SHOP}/`, SEARCH, { kind: 'referrer', referrer: 'search.example' }],
    ['from the same site', `${SHOP}/b`, `${SHOP}/a`, { kind: 'direct', referrer: null }],
    [
      'from the same site with www',
      `${SHOP}/b`,
      'http://www.shop.example/a',
      { kind: 'direct', referrer: null },
    ],
    ['from a short link that names itself', `${SHOP}/`, 'https://go.example/x', { kind: 'direct' }],
    ['from an app', `${SHOP}/`, 'android-app://com.mail/', { kind: 'referrer', referrer: 'com.mail' }],
    ['from nonsense', `${SHOP}/`, 'javascript:alert(1)', { kind: 'direct', referrer: null }],
    [
      'by a campaign',
      `${SHOP}/?utm_source=news&utm_campaign=sp+ring&token=s3`,
      SEARCH,
      { kind: 'campaign', utmSource: 'news', utmCampaign: 'sp ring', referrer: 'search.example' },
    ],
    ['by a campaign without a value', `${SHOP}/?utm_source=`, '', { kind: 'direct', utmSource: null }],
    [
      'by a click',
      `${SHOP}/?utm_source=news&tp_cid=click7`,
      '',
      { kind: 'click', linkId: 7, clickId: 'click7', utmSource: 'news' },
    ],
    ['by a click that is not ours', `${SHOP}/?tp_cid=nonsense`, '', { kind: 'direct', clickId: null }],
    ['by a click in another name', `${SHOP}/?xtp_cid=click7`, '', { kind: 'direct', linkId: null }],
    [
      'by an advertisement',
      `${SHOP}/?gclid=abc`,
      'https://www.google.com/',
      { kind: 'campaign', utmSource: 'google', utmMedium: 'cpc', referrer: 'google.com' },
    ],
    [
      'by an advertisement that says more itself',
      `${SHOP}/?msclkid=abc&utm_source=own`,
      '',
      { kind: 'campaign', utmSource: 'own', utmMedium: 'cpc' },
    ],
    [
      'by an advertisement whose medium is named',
      `${SHOP}/?gclid=abc&utm_medium=email`,
      '',
      { utmSource: 'google', utmMedium: 'email' },
    ],
    [
      'by an advertisement on Facebook',
      `${SHOP}/?fbclid=abc`,
      '',
      { utmSource: 'facebook', utmMedium: 'cpc' },
    ],
    [
      'by a page that names itself',
      `${SHOP}/?ref=producthunt`,
      '',
      { kind: 'campaign', utmSource: 'producthunt' },
    ],
  ])('%s', (_, url, referrer, expected) => {
    expect(read(url, referrer)?.touch).toMatchObject({ at: AT, ...expected })
  })

  test('gives its hit no secrets and no personal ids', () => {
    const view = read(`${SHOP}/a?token=secret&utm_source=n&gclid=person&tp_cid=click7#frag`, SEARCH)
    expect(view).toMatchObject({ utm: 'utm_source=n&gclid=1', referrer: 'https://www.search.example/' })
    expect(JSON.stringify(view)).not.toMatch(/secret|person|frag/)
  })

  test('from a domain is direct from the moment on at which it redirects for this server', () => {
    const from = 'https://brand.example:8443/x'
    const kindOf = () => read(`${SHOP}/`, from)?.touch.kind
    expect(kindOf()).toBe('referrer')
    ownHosts.add('brand.example')
    expect(kindOf()).toBe('direct')
    expect(read(`${SHOP}/`, 'https://www.brand.example/x')?.touch.referrer).toBe('brand.example')
    ownHosts.delete('brand.example')
    expect(kindOf()).toBe('referrer')
    expect(read(`${SHOP}/`, 'http://localhost:5173/')?.touch.referrer).toBe('localhost')
  })

  test.each(['', 'x', '/a', 'javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'https://'])(
    'of %j is none',
    (url) => expect(read(url)).toBeUndefined(),
  )
})

/** A visit of these pages, each an address, where it was come from, and the minutes after the one before. */
function visitOf(...pages: [url: string, referrer?: string, minutes?: number][]): Visit {
  let visit: Visit | undefined
  let at = AT
  for (const [url, referrer, minutes = 1] of pages) {
    at += minutes * 60_000
    const view = read(url, referrer, at)
    if (!view) throw new Error(`no page: ${url}`)
    visit = visit ? addPageView(visit, view) : startVisit(view, 1, 'v')
  }
  return visit as Visit
}

describe('the touches of a visit', () => {
  const FIRST = `${SHOP}/?utm_source=first`
  const SECOND = `${SHOP}/?utm_source=second`
  const NEXT = `${SHOP}/next`
  const kinds = ({ first, last }: Visit) => [
    first.utmSource ?? first.clickId ?? first.kind,
    last.utmSource ?? last.clickId ?? last.kind,
  ]

  test.each<[string, Parameters<typeof visitOf>, string[]]>([
    ['one page', [[FIRST]], ['first', 'first']],
    ['further pages change nothing', [[FIRST], [NEXT, FIRST], [NEXT, NEXT]], ['first', 'first']],
    ['direct never overwrites', [[FIRST], [NEXT]], ['first', 'first']],
    ['a new campaign is the last touch', [[FIRST], [SECOND]], ['first', 'second']],
    ['direct does not overwrite that either', [[FIRST], [SECOND], [NEXT]], ['first', 'second']],
    ['what came after direct is the last touch', [[NEXT], [FIRST]], ['direct', 'first']],
    ['another site is a touch', [[FIRST], [NEXT, SEARCH]], ['first', 'referrer']],
    [
      'a page that is loaded again is none',
      [
        [FIRST, SEARCH],
        [FIRST, SEARCH],
      ],
      ['first', 'first'],
    ],
    ['the way back to the first page is none', [[FIRST], [SECOND], [FIRST]], ['first', 'second']],
    [
      'a second click is a touch',
      [[`${NEXT}?tp_cid=click1`], [`${NEXT}?tp_cid=click2`]],
      ['click1', 'click2'],
    ],
    [
      'the same click twice is one',
      [[`${NEXT}?tp_cid=click1`], [`${SHOP}/?tp_cid=click1`]],
      ['click1', 'click1'],
    ],
  ])('%s', (_, pages, expected) => {
    const visit = visitOf(...pages)
    expect(kinds(visit)).toEqual(expected)
    expect(visit.first.at).toBe(visit.startedAt)
    expect(visit.views).toBe(pages.length)
    expect(visit.last === visit.first).toBe(expected[0] === expected[1])
  })

  test('a visit ends after half an hour without a page view', () => {
    const visit = visitOf([FIRST], [NEXT, '', 29], [NEXT, '', 29])
    expect(visit.seenAt - visit.startedAt).toBe(58 * 60_000)
    expect([29, 30, 31].map((minutes) => isVisitOver(visit, visit.seenAt + minutes * 60_000))).toEqual([
      false,
      true,
      true,
    ])
  })
})
