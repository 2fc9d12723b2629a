import { describe, expect, test } from 'bun:test'
import { retryWhile503 } from '../../../tests/support/server/retry-503.ts'
import { atScale } from '../../../tests/support/suite.ts'
import { onBothEngines } from '../../../tests/support/world.ts'
import { generateSlug, isPossibleSlug, RESERVED_SLUGS, SLUG_ALPHABET } from './slug.ts'

const U = 'https://example.com/'
const LETTERS = 'may contain letters, digits, emoji, "-", "_", "." and "/" only'
const SEGMENTS = 'must have 1 to 8 segments separated by "/", none of them empty, "." or ".."'
const LENGTH = 'must be 1 to 190 characters'

describe('generated slugs', () => {
  test('have seven characters that people do not confuse', () => {
    expect(SLUG_ALPHABET).toBe('23456789abcdefghjkmnpqrstuvwxyz')
    const slugs = Array.from({ length: 1000 }, generateSlug)
    for (const slug of slugs) expect(slug).toMatch(/^[23456789abcdefghjkmnpqrstuvwxyz]{7}$/)
    expect(new Set(slugs).size).toBe(slugs.length)
    expect(new Set(slugs.join('')).size).toBe(SLUG_ALPHABET.length)
  })
})

describe('a requested slug', () => {
  test.each([
    'a',
    'Mixed-Case_1.x',
    'Größe',
    'Größe'.normalize('NFD'),
    'ΟΔΟΣ',
    'क्षि',
    'x'.repeat(190),
    'ǰ'.repeat(190),
    'a/b',
    'a/b/c/d/e/f/g/h',
    '❤',
    '❤️',
    '👩‍❤‍👨/👍🏽/🇩🇪/1️⃣',
  ])('"%s" may be a link’s', (slug) => {
    expect(isPossibleSlug(slug)).toBe(true)
    expect(isPossibleSlug(slug.normalize('NFD'))).toBe(true)
  })

  test.each([
    '',
    'a b',
    'a//b',
    '/a',
    'a/',
    'a/../b',
    'a/b/c/d/e/f/g/h/i',
    'a%2fb',
    'a\\b',
    'a+',
    'a\0',
    'a\ud800',
    '\u200b',
    'wp-login.php?',
    'x'.repeat(191),
    'é'.repeat(191),
  ])('"%s" is no link’s', (slug) => expect(isPossibleSlug(slug)).toBe(false))
})

onBothEngines('slugs', (server) => {
  test('are stored as typed and matched without regard to case or composition', async () => {
    const ws = await server().createWorkspace()
    const tag = server().engine
    for (const [slug, ...spellings] of [
      [`Mixed-Case_1.${tag}`, `mixed-case_1.${tag}`, `MIXED-CASE_1.${tag.toUpperCase()}`],
      [`Größe-${tag}`, `GRÖSSE-${tag}`.replace('SS', 'ẞ'), `Gro\u0308ße-${tag}`],
      [`ΟΔΟΣ-${tag}`, `οδος-${tag}`, `οδοσ-${tag}`],
      [`Guides/Größe/${tag}`, `guides/gro\u0308ße/${tag}`],
      [`❤️-${tag}`, `❤-${tag}`],
      [`👩‍❤️‍👨/1️⃣/👍🏽/🇩🇪/${tag}`, `👩‍❤‍👨/1⃣/👍🏽\ufe0f/🇩🇪/${tag}`],
      [`क्षि-${tag}`],
      [`价格-${tag}`],
    ] as [string, ...string[]][]) {
      const link = await ws.createLink({ slug, destinationUrl: `${U}${encodeURIComponent(slug)}` })
      expect(link.slug).toBe(slug.normalize('NFC'))
      const path = link.slug.split('/').map(encodeURIComponent).join('/')
      expect(link.shortUrl).toBe(`${server().origin}/${path}`)
      for (const spelling of [slug, slug.normalize('NFD'), ...spellings]) {
        const { status, headers } = await server().click(encodeURI(spelling))
        expect([spelling, status, headers.get('location')]).toEqual([spelling, 302, link.destinationUrl])
        const again = await ws.post('/links', { destinationUrl: U, slug: spelling })
        expect([again.status, again.json]).toEqual([409, { error: 'Slug already in use' }])
      }
    }
  })

  test.each([
    ['', LENGTH],
    ['x'.repeat(191), LENGTH],
    ['𝒜'.repeat(191), LENGTH],
    ['.', SEGMENTS],
    ['..', SEGMENTS],
    ['a//b', SEGMENTS],
    ['/a', SEGMENTS],
    ['a/', SEGMENTS],
    ['a/./b', SEGMENTS],
    ['a/..', SEGMENTS],
    ['a/b/c/d/e/f/g/h/i', SEGMENTS],
    ['a b', LETTERS],
    ['a?b', LETTERS],
    ['a#b', LETTERS],
    ['a%62', LETTERS],
    ['a+', LETTERS],
    ['a\\b', LETTERS],
    ['a\0', LETTERS],
    ['a\n', LETTERS],
    ['🇩', LETTERS],
    ['#️⃣', LETTERS],
    ['👨\u200dx', LETTERS],
    ['❤\ufe0e', LETTERS],
    ['\u202egnp', LETTERS],
    ['a\u2066b', LETTERS],
    ['می\u200cخواهم', LETTERS],
    ['sаle', 'mixes Latin and Cyrillic letters that look alike in "sаle"'],
    ['big/ΟΔΟΣx', 'mixes Latin and Greek letters that look alike in "ΟΔΟΣx"'],
    ['\ud83d', LETTERS],
    ['a\u200bb', LETTERS],
    // Invisible characters: a letter (Hangul filler) and a mark (variation selector).
    ['a\u3164b', LETTERS],
    ['a\ufe0f', LETTERS],
  ])('refuse %p', async (slug, wrong) => {
    const ws = await server().createWorkspace()
    const { status, json } = await ws.post('/links', { destinationUrl: U, slug })
    expect([status, json.errors]).toEqual([422, { slug: wrong }])
    expect((await ws.api('/links')).json.total).toBe(0)
  })

  test('reserve the first segment of every route, in any case', async () => {
    const { app } = server()
    const mounted = [...Object.keys(app.serve.routes), ...app.routes.rest.map(({ path }) => path)]
    const segments = new Set(
      mounted.map((path) => path.split('/')[1] ?? '').filter((one) => !/^$|^[:*]/.test(one)),
    )
    expect([...segments].filter((one) => !RESERVED_SLUGS.has(one))).toEqual([])
    expect(segments.has('v1')).toBe(true)
    const documented =
      'v1 f t.js e app api docs livez readyz version metrics robots.txt favicon.ico sitemap.xml .well-known'
    for (const name of documented.split(' ')) expect([name, RESERVED_SLUGS.has(name)]).toEqual([name, true])

    const ws = await server().createWorkspace()
    const link = await ws.createLink()
    const reserved = [409, { error: 'Slug is reserved' }]
    for (const name of RESERVED_SLUGS) {
      for (const slug of [name, name.toUpperCase()]) {
        const { status, json } = await ws.post('/links', { destinationUrl: U, slug })
        expect([slug, status, json]).toEqual([slug, ...reserved])
      }
    }
    const renamed = await ws.patch(`/links/${link.id}`, { slug: 'Docs' })
    expect([renamed.status, renamed.json]).toEqual(reserved)
    expect((await ws.api('/links')).json.data).toEqual([link])
  })

  test('belong to one workspace at a time', async () => {
    const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const link = await ws.createLink({ slug: 'Theirs' })
    const taken = [409, { error: 'Slug already in use' }]
    const create = await other.post('/links', { destinationUrl: U, slug: 'theirs' })
    expect([create.status, create.json]).toEqual(taken)
    const own = await other.createLink()
    const rename = await other.patch(`/links/${own.id}`, { slug: 'THEIRS', title: 'x' })
    expect([rename.status, rename.json]).toEqual(taken)
    expect((await other.api('/links')).json.data).toEqual([own])
    await ws.delete(`/links/${link.id}`)
    await ws.delete('/links/trash')
    expect((await other.createLink({ slug: 'tHEIRS' })).slug).toBe('tHEIRS')
  })

  test("may change to another case of the link's own slug", async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink({ slug: 'launch' })
    const { status, json } = await ws.patch(`/links/${link.id}`, { slug: 'LAUNCH' })
    expect([status, json.data.slug, json.data.shortUrl]).toEqual([200, 'LAUNCH', `${server().origin}/LAUNCH`])
    expect((await server().click('launch')).status).toBe(302)
  })
})

const CREATES = atScale({ quick: 40, full: 200, soak: 200 })

onBothEngines.quick('one slug', (server) => {
  test('make exactly one link for many concurrent creates of one slug', async () => {
    const ws = await server().createWorkspace()
    const answers = await Promise.all(
      Array.from({ length: CREATES }, (_, i) => {
        const body = { destinationUrl: `${U}${i}`, slug: i % 2 ? 'Race' : 'rACE' }
        // On a busy machine some wait too long for a connection: a 503 has created nothing.
        return retryWhile503(() => ws.post('/links', body))
      }),
    )
    const won = answers.filter(({ status }) => status === 201)
    expect(won).toHaveLength(1)
    expect(
      answers.filter(({ status, json }) => status === 409 && json.error === 'Slug already in use'),
    ).toHaveLength(CREATES - 1)
    expect((await ws.api('/links')).json).toMatchObject({ total: 1, data: [won[0]?.json.data] })
    expect((await server().click('race')).headers.get('location')).toBe(won[0]?.json.data.destinationUrl)
  })
})
