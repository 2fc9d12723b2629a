// The sentences about the origin of a submission, for every combination of known facts.

import { describe, expect, test } from 'bun:test'
import { isSiteOnly, tellAttribution } from '../../dashboard/pages/inbox/reader/attribution-story.ts'

const ATTRIBUTIONS = ['measured', 'inferred', 'pending', 'none'] as const
const ALL = ATTRIBUTIONS.flatMap((attribution) =>
  [true, false].flatMap((sessionLinked) =>
    [true, false, undefined].map((track) => ({ attribution, sessionLinked, track })),
  ),
)

describe('the story of a submission', () => {
  test.each<[(typeof ATTRIBUTIONS)[number], boolean, boolean | undefined, string]>([
    [
      'measured',
      true,
      true,
      'The snippet on your page recorded the visit, and the address of a page named the click.',
    ],
    ['measured', false, true, 'The address of the form’s page named the click.'],
    [
      'inferred',
      true,
      false,
      'The snippet on your page recorded the visit, but no page’s address named the click: conversion tracking is off for the link. The same visitor clicked the link shortly before.',
    ],
    [
      'inferred',
      true,
      true,
      'The snippet on your page recorded the visit, but no page’s address named the click: it was removed on the way, the first page wasn’t recorded, or conversion tracking was still off for the link at that time. The same visitor clicked the link shortly before.',
    ],
    [
      'inferred',
      true,
      undefined,
      'The snippet on your page recorded the visit, but no page’s address named the click. The same visitor clicked the link shortly before.',
    ],
    [
      'inferred',
      false,
      false,
      'No visit was recorded: the page of the form has no snippet, or the snippet couldn’t report the visit. The same visitor clicked the link shortly before.',
    ],
    [
      'pending',
      true,
      undefined,
      'The snippet on your page recorded the visit. Attribution is pending: analytics are catching up.',
    ],
    ['pending', false, undefined, 'Attribution is pending: analytics are catching up.'],
    ['none', true, undefined, 'The snippet on your page recorded the visit. No known link brought it.'],
    [
      'none',
      false,
      undefined,
      'No known link brought this submission. No visit was recorded either: the page of the form has no snippet, the snippet couldn’t report the visit, or the visitor’s browser asks not to be tracked (Global Privacy Control).',
    ],
  ])('%s, visit recorded: %p, conversion tracking: %p', (attribution, sessionLinked, track, sentence) => {
    expect(tellAttribution({ attribution, sessionLinked }, track).sentence).toBe(sentence)
  })

  test.each(ALL)('never contradicts what is known: %j', ({ attribution, sessionLinked, track }) => {
    const { sentence, offersSwitch } = tellAttribution({ attribution, sessionLinked }, track)
    expect(sentence.includes('recorded the visit')).toBe(sessionLinked)
    // Nobody can know that a page has no snippet; the snippet may have been blocked.
    if (sentence.includes('has no snippet')) expect(sentence).toContain('couldn’t report')
    if (sessionLinked) expect(sentence).not.toMatch(/no snippet|Privacy/)
    // Under Global Privacy Control nothing is measured, inferred or pending.
    expect(sentence.includes('Privacy')).toBe(attribution === 'none' && !sessionLinked)
    expect(sentence.includes('is off for the link')).toBe(offersSwitch)
    expect(offersSwitch).toBe(attribution === 'inferred' && sessionLinked && track === false)
    if (attribution === 'none' || attribution === 'pending') expect(sentence).not.toMatch(/clicked|named/)
  })
})

test.each<[pageUrl: string | null, landingUrl: string | null, sessionLinked: boolean, siteOnly: boolean]>([
  ['https://shop.example/', null, false, true],
  ['https://shop.example/contact', null, false, false],
  [null, null, false, false],
  // The snippet has recorded the home page.
  ['https://shop.example/', 'https://shop.example/spring', true, false],
  // The visit was of another site.
  ['https://shop.example/', 'https://blog.example/', true, true],
  ['not a url', null, false, false],
])('the page %p after landing on %p, visit recorded: %p, is the site only: %p', (...row) => {
  const [pageUrl, landingUrl, sessionLinked, siteOnly] = row
  expect(isSiteOnly({ pageUrl, landingUrl, sessionLinked })).toBe(siteOnly)
})
