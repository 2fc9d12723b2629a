// A link while it is edited: its destination with the UTM values, the request that saves it, and what another person has
// changed meanwhile.

import { describe, expect, test } from 'bun:test'
import { NO_CHANGES, toChanges, validateBulk } from '../../dashboard/pages/links/bulk-edit/bulk-draft.ts'
import {
  isUrl,
  NO_UTM,
  readUtm,
  splitUrl,
  withForwardedQuery,
  withScheme,
  withUtm,
} from '../../dashboard/pages/links/editor/destination-url.ts'
import {
  createCountryTarget,
  fillUtm,
  isChanged,
  LINK_DEFAULTS,
  type LinkDraft,
  setDestination,
  setUtm,
  toDestinationUrl,
  toDraft,
  toDuplicateDraft,
  toNewDraft,
  toRequestBody,
  validateDraft,
} from '../../dashboard/pages/links/editor/link-draft.ts'
import { listChanges } from '../../dashboard/pages/links/editor/list-changes.ts'
import {
  addVariant,
  createSplitDraft,
  createVariantDraft,
  removeVariant,
  sumWeights,
  withEvenWeights,
} from '../../dashboard/pages/links/editor/split-draft.ts'
import { toTypedSlug, toTypedSlugAt } from '../../dashboard/pages/links/editor/typed-slug.ts'
import { toLinkName } from '../../dashboard/pages/links/link/link-name.ts'
import type { LinkResource } from '../../server/features/links/schema.ts'

const LINK = {
  destinationUrl: 'https://shop.example/?utm_source=news&a=1',
  domain: 'go.example',
  slug: 'sale',
  title: 'Sale',
  tags: [{ id: 3, name: 'Press', color: 'teal' }],
  comments: 'For May',
  externalId: 'x1',
  deviceTargeting: { ios: 'https://a.example/' },
  rules: [],
  split: null,
  splitEndsAt: null,
  extraPath: 'ignore',
  publicStats: false,
  geoTargeting: { DE: 'https://de.example/' },
  startsAt: '2026-03-04T05:06:00.000Z',
  expiresAt: null,
  expiredUrl: null,
  clickLimit: 5,
  leadLimit: null,
  passwordProtected: true,
  forwardQuery: true,
  trackConversions: false,
  redirectStatus: 307,
  previewTitle: 'Card',
  previewDescription: null,
  previewImage: null,
  archived: false,
} as unknown as LinkResource

const B = { url: 'https://b.example/', weight: 60, label: 'B' }

describe('a destination', () => {
  test.each([
    ['', ''],
    [' example.com/x ', 'https://example.com/x'],
    ['//example.com', 'https://example.com'],
    ['localhost:3000', 'https://localhost:3000'],
    ['mailto:a@b.c', 'mailto:a@b.c'],
    ['HTTP://x.y', 'HTTP://x.y'],
  ])('%p becomes %p', (text, url) => expect(withScheme(text)).toBe(url))

  test('has UTM values in their place, and nothing else of it is written anew', () => {
    const typed = 'https://x.y/a b?b=%7e&utm_source=old&utm_source=twice&c#end?utm_term=no'
    expect(readUtm(typed)).toEqual({ ...NO_UTM, utm_source: 'old' })
    const url = withUtm(typed, { ...NO_UTM, utm_source: 'ä b', utm_medium: 'mail' })
    expect(url).toBe('https://x.y/a b?b=%7e&utm_source=%C3%A4+b&c&utm_medium=mail#end?utm_term=no')
    expect(withUtm('https://x.y?utm_source=a', NO_UTM)).toBe('https://x.y')
    expect(withUtm('https://x.y#h', { ...NO_UTM, utm_term: 't' })).toBe('https://x.y?utm_term=t#h')
  })

  test('gets the query of the short link, except what it has itself', () => {
    expect(withForwardedQuery('https://x.y/?a=1#h', '?a=2&b=3&b=4')).toBe('https://x.y/?a=1&b=4#h')
    expect(splitUrl('https://x.y/p?q=1#h')).toEqual({ base: 'https://x.y/p', query: 'q=1', hash: '#h' })
    expect(['x.y', 'http://', 'a b'].map(isUrl)).toEqual([true, false, false])
  })
})

describe('the draft of a link', () => {
  const draft = toDraft(LINK)
  const change = (part: Partial<LinkDraft>) => toRequestBody(draft, { ...draft, ...part })

  test('of a stored link has its values, and sends nothing while they are the same', () => {
    expect(draft).toMatchObject({ title: 'Sale', ios: 'https://a.example/', android: '', clickLimit: '5' })
    expect(draft).toMatchObject({ leadLimit: '', expiresAt: '', password: null, redirectStatus: 307 })
    expect(draft.utm.utm_source).toBe('news')
    expect(draft.countries).toMatchObject([{ code: 'DE', url: 'https://de.example/' }])
    expect(draft.startsAt).toMatch(/^2026-03-0\dT\d\d:\d6$/)
    expect(change({})).toEqual({})
    expect(isChanged(draft, draft)).toBe(false)
  })

  test.each<[Partial<LinkDraft>, object]>([
    [{ destinationUrl: 'x.y' }, { destinationUrl: 'https://x.y?utm_source=news' }],
    [{ slug: ' new ' }, { slug: 'new' }],
    [{ title: ' ' }, { title: null }],
    [{ comments: ' a ' }, { comments: 'a' }],
    [{ externalId: '' }, { externalId: null }],
    [{ tags: [] }, { tagIds: [] }],
    [{ tags: [{ id: 0, name: 'New', color: 'gray' }] }, { tagNames: ['New'] }],
    [
      { ios: '', android: 'b.c', desktop: 'd.e' },
      { deviceTargeting: { android: 'https://b.c', desktop: 'https://d.e' } },
    ],
    [
      { countries: [createCountryTarget('', 'x'), createCountryTarget('FR', 'f.r')] },
      { geoTargeting: { FR: 'https://f.r' } },
    ],
    [
      { split: [createVariantDraft({ url: 'a.b ', weight: 40, label: ' A ' }), createVariantDraft(B)] },
      { split: [{ url: 'https://a.b', weight: 40, label: 'A' }, B] },
    ],
    [{ splitEndsAt: '2026-05-01T10:00' }, { splitEndsAt: new Date(2026, 4, 1, 10).toISOString() }],
    [{ startsAt: '' }, { startsAt: null }],
    [{ expiresAt: '2026-05-01T10:00' }, { expiresAt: new Date(2026, 4, 1, 10).toISOString() }],
    [{ expiredUrl: 'o.v' }, { expiredUrl: 'https://o.v' }],
    [{ clickLimit: '' }, { clickLimit: null }],
    [{ leadLimit: '7' }, { leadLimit: 7 }],
    [{ password: '' }, { password: null }],
    [{ password: 'secret' }, { password: 'secret' }],
    [{ forwardQuery: false }, { forwardQuery: false }],
    [{ trackConversions: true }, { trackConversions: true }],
    [{ redirectStatus: 302 }, { redirectStatus: 302 }],
    [{ previewTitle: '' }, { previewTitle: null }],
    [{ previewDescription: 'd' }, { previewDescription: 'd' }],
    [{ previewImage: 'i.j/k.png' }, { previewImage: 'https://i.j/k.png' }],
  ])('a changed draft sends only the change: %#', (part, body) => {
    expect(change(part)).toEqual(body as never)
    expect(isChanged(draft, { ...draft, ...part })).toBe(true)
  })

  test('of a new link tracks conversions, and of a duplicate has no slug of its own', () => {
    const fresh = toNewDraft({ destinationUrl: 'https://x.y?utm_term=t', slug: 's' })
    expect(fresh).toMatchObject({ slug: 's', domain: '', trackConversions: true, utm: { utm_term: 't' } })
    expect(toRequestBody(LINK_DEFAULTS, fresh)).toEqual({
      destinationUrl: 'https://x.y?utm_term=t',
      slug: 's',
      trackConversions: true,
    })
    expect(toDuplicateDraft(LINK)).toMatchObject({ slug: '', externalId: '', title: 'Sale', password: null })
  })

  test('keeps the UTM fields and the destination alike while either is typed', () => {
    const typed = { ...LINK_DEFAULTS, utm: { ...NO_UTM, utm_term: 'waits' } }
    expect(toDestinationUrl(typed)).toBe('')
    expect(setUtm(typed, 'utm_source', 'a')).toEqual({
      destinationUrl: '',
      utm: { ...typed.utm, utm_source: 'a' },
    })
    expect(setDestination(typed, 'x.y?utm_source=b').utm).toEqual({ ...typed.utm, utm_source: 'b' })
    const removed = setDestination({ ...draft, destinationUrl: 'x?utm_source=news' }, 'x')
    expect(removed).toEqual({ destinationUrl: 'x', utm: NO_UTM })
    expect(setUtm(draft, 'utm_source', '').destinationUrl).toBe('https://shop.example/?a=1')
  })

  test('is checked before it is sent', () => {
    const [whole, noCode, noUrl] = [
      createCountryTarget('DE', 'x'),
      createCountryTarget('', 'x'),
      createCountryTarget('FR'),
    ]
    const wrong = {
      ...LINK_DEFAULTS,
      destinationUrl: ' ',
      countries: [whole, noCode, noUrl, createCountryTarget()],
    }
    expect(validateDraft(wrong)).toEqual({
      destinationUrl: 'Enter a destination URL.',
      [`geoTargeting.${noCode.key}`]: 'Choose a country for this destination.',
      'geoTargeting.FR': 'Enter a destination for this country.',
    })
    expect(validateDraft(draft)).toEqual({})
    expect(isChanged(draft, { ...draft, countries: [...draft.countries, noCode] })).toBe(true)
  })
})

test('the weights of a split test stay even, or what the others leave', () => {
  const weights = (split: ReturnType<typeof createSplitDraft>) => split.map(({ weight }) => weight).join()
  const two = createSplitDraft('https://a.example/')
  expect(two.map(({ label, url }) => `${label} ${url}`)).toEqual(['A https://a.example/', 'B '])
  const three = addVariant(two)
  expect([weights(two), weights(three), three[2]?.label]).toEqual(['50,50', '34,33,33', 'C'])
  expect(weights(removeVariant(three, three[0]?.key ?? 0))).toBe('50,50')
  let eight = three
  while (eight.length < 8) eight = addVariant(eight)
  expect([weights(eight), sumWeights(eight)]).toEqual(['13,13,13,13,12,12,12,12', 100])
  const uneven = two.map((variant, index) => ({ ...variant, weight: index === 0 ? '70' : '' }))
  expect([weights(addVariant(uneven)), sumWeights(uneven)]).toEqual(['70,,30', 70])
  expect(weights(removeVariant(addVariant(uneven), uneven[1]?.key ?? 0))).toBe('70,30')
  expect(weights(withEvenWeights(uneven))).toBe('50,50')
  // A label that is free again is used again.
  expect(addVariant(three.slice(1)).map(({ label }) => label)).toEqual(['B', 'C', 'A'])
  const draft = { ...toDraft(LINK), split: two }
  expect(validateDraft(draft)).toEqual({ 'split.1.url': 'Enter a destination for this variant.' })
})

test('what another person has changed is named as the form names it', () => {
  const after = {
    ...LINK,
    title: null,
    tags: [],
    geoTargeting: { DE: 'https://de.example/', FR: 'https://fr.example/' },
    split: [B],
    startsAt: null,
    passwordProtected: false,
    forwardQuery: false,
    archived: true,
  } as unknown as LinkResource
  expect(listChanges(LINK, LINK)).toEqual([])
  expect(listChanges(LINK, after).map(({ name, before, after }) => [name, before, after])).toEqual([
    ['Title', 'Sale', 'none'],
    ['Tags', 'Press', 'none'],
    ['Split test', 'none', 'B 60\u202f%: https://b.example/'],
    [expect.any(String), 'DE: https://de.example/', 'DE: https://de.example/, FR: https://fr.example/'],
    ['Starts', expect.stringContaining('2026'), 'none'],
    ['Password', 'set', 'none'],
    [expect.any(String), 'on', 'off'],
    [expect.any(String), 'off', 'on'],
  ])
  expect([toLinkName(LINK), toLinkName(after)]).toEqual(['Sale', 'go.example/sale'])
})

test.each([
  ['Spring sale 2026', 'Spring-sale-2026'],
  ['what’s new? 50% off & more!', 'whats-new-50-off-more'],
  ['a – b', 'a-b'],
  ['docs/install.html', 'docs/install.html'],
  ['snake_case-', 'snake_case-'],
  ['two--hyphens', 'two--hyphens'],
  ['Sale - 50 %', 'Sale-50-'],
  ['https://go.example/Spring?x=1', 'Springx1'],
  ['//docs//install', 'docs/install'],
  ['हिन्दी नमस्ते', 'हिन्दी-नमस्ते'],
  ['é', 'é'],
  ['tab\tline\nend', 'tab-line-end'],
  ['☕ größe', '☕-größe'],
])('the typed text %p becomes the slug %p', (text, slug) => {
  expect(toTypedSlug(text)).toBe(slug)
  expect(toTypedSlug(slug)).toBe(slug)
})

test.each([
  ['spring| sale', 'spring| sale'],
  ['spring |sale', 'spring-|sale'],
  ['a?|b', 'a|b'],
  ['ab|', 'ab|'],
  ['a  |b', 'a-|b'],
  ['|x y', '|x-y'],
])('the caret of %p stays where it was', (before, after) => {
  const typed = toTypedSlugAt(before.replace('|', ''), before.indexOf('|'))
  const expected = after.replaceAll(' ', '-')
  expect(`${typed.slug.slice(0, typed.caret)}|${typed.slug.slice(typed.caret)}`).toBe(expected)
})

test('a UTM template fills empty fields, and names the values that differ', () => {
  const template = {
    utmSource: 'news',
    utmMedium: 'email',
    utmCampaign: null,
    utmTerm: null,
    utmContent: null,
  }
  const own = { ...NO_UTM, utm_source: 'own', utm_campaign: 'kept' }
  const { filled, conflicts } = fillUtm(own, template)
  expect(filled).toEqual({ ...own, utm_medium: 'email' })
  expect(conflicts.map(({ name }) => name)).toEqual(['utm_source'])
  expect(fillUtm(own, template, { replace: true }).filled).toEqual({ ...filled, utm_source: 'news' })
  expect(fillUtm(filled, { ...template, utmSource: 'own' }).conflicts).toEqual([])
})

test('a change of many links has only what was chosen', () => {
  const draft = { ...NO_CHANGES, url: 'x.example', find: 'a', utmValues: { ...NO_UTM, utm_term: ' y ' } }
  expect(toChanges(draft)).toEqual({})
  expect(toChanges({ ...draft, destination: 'set', utm: 'set' })).toEqual({
    destinationUrl: 'https://x.example',
    utmTerm: 'y',
  })
  expect(toChanges({ ...draft, destination: 'replace', utm: 'remove', expiration: 'remove' })).toEqual({
    replace: { find: 'a', with: '' },
    utmSource: null,
    utmMedium: null,
    utmCampaign: null,
    utmTerm: null,
    utmContent: null,
    expiresAt: null,
  })
  expect(
    Object.keys(validateBulk({ ...NO_CHANGES, destination: 'set', utm: 'set', expiration: 'set' })),
  ).toEqual(['url', 'utm', 'expiresAt'])
})
