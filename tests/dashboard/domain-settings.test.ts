// The settings of a domain as texts, and the names of its DNS records.

import { expect, test } from 'bun:test'
import type { DomainResource } from '../../dashboard/api/domains.ts'
import {
  toDomainChanges,
  toDomainDraft,
  validateDomainDraft,
} from '../../dashboard/pages/domains/domain-draft.ts'
import { guessZone, toRelativeName } from '../../dashboard/pages/domains/record-name.ts'

const DOMAIN = {
  rootUrl: 'https://example.com/',
  notFoundUrl: null,
  expiredUrl: null,
  assetLinks: [{ relation: ['x'] }],
  appleAppSiteAssociation: null,
} as unknown as DomainResource

test('untouched settings change nothing', () => {
  expect(toDomainChanges(DOMAIN, toDomainDraft(DOMAIN))).toEqual({})
})

test('changed texts become URLs, JSON and null', () => {
  const draft = {
    ...toDomainDraft(DOMAIN),
    rootUrl: ' ',
    notFoundUrl: 'example.com/search?q={slug}',
    assetLinks: '',
    appleAppSiteAssociation: ' {"applinks": {}} ',
  }
  expect(toDomainChanges(DOMAIN, draft)).toEqual({
    rootUrl: null,
    notFoundUrl: 'https://example.com/search?q={slug}',
    assetLinks: null,
    appleAppSiteAssociation: { applinks: {} },
  })
})

test('a text that is no JSON is named at its field', () => {
  const draft = { ...toDomainDraft(DOMAIN), assetLinks: '[{]', appleAppSiteAssociation: '{}' }
  expect(validateDomainDraft(draft)).toEqual({
    assetLinks: expect.stringContaining('This isn’t valid JSON: '),
  })
})

test.each([
  ['go.example.com', '_towpath.go.example.com', '_towpath.go'],
  ['example.com', 'example.com', '@'],
  ['example.com', '_towpath.example.com', '_towpath'],
  ['l.shop.co.uk', '_towpath.l.shop.co.uk', '_towpath.l'],
  ['shop.co.uk', 'shop.co.uk', '@'],
  ['a.b.xn--bcher-kva.de', 'a.b.xn--bcher-kva.de', 'a.b'],
])('a provider that adds the zone of %p is given %p as %p', (domain, name, relative) =>
  expect(toRelativeName(name, guessZone(domain))).toBe(relative),
)
