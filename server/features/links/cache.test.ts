import { describe, expect, test } from 'bun:test'
import { atScale } from '../../../tests/support/suite.ts'
import { type CachedLink, createLinkCache } from './cache.ts'

const link = (slug: string) => ({ slug, plain: true }) as CachedLink

describe('the cache of links', () => {
  test('is empty at first, then knows links and slugs without a link', () => {
    const cache = createLinkCache()
    expect(cache.get('', 'a')).toBeUndefined()
    cache.set('', 'a', link('a'), cache.version())
    cache.set('', 'b', null, cache.version())
    expect(cache.get('', 'a')).toMatchObject(link('a'))
    expect(cache.get('', 'b')).toBeNull()
  })

  test('keeps the domains apart, also for a slug with a slash', () => {
    const cache = createLinkCache()
    cache.set('', 'go.example/a', null, cache.version())
    cache.set('', 'a', link('default'), cache.version())
    expect(cache.get('go.example', 'a')).toBeUndefined()
    cache.set('go.example', 'a', link('own'), cache.version())
    expect(cache.get('go.example', 'a')).toMatchObject(link('own'))
    expect(cache.get('', 'go.example/a')).toBeNull()
    expect(cache.get('', 'a')).toMatchObject(link('default'))
  })

  test('returns every property of a link', () => {
    const cache = createLinkCache()
    const usual = {
      id: 1,
      workspaceId: 2,
      slug: 'a',
      destinationUrl: 'https://example.com/',
      leads: 0,
    }
    const other = {
      ...usual,
      slug: 'Ä',
      archived: true,
      redirectStatus: 308,
      plain: false,
      leads: 3,
    }
    for (const each of [usual, other] as CachedLink[]) {
      cache.set('', each.slug, each, cache.version())
      const found = cache.get('', each.slug) as CachedLink
      for (const name of Object.keys(each) as (keyof CachedLink)[]) expect(found[name]).toEqual(each[name])
    }
  })

  test('does not store a link that was read before a change', () => {
    const cache = createLinkCache()
    const readAt = cache.version()
    cache.invalidate('', 'a')
    cache.set('', 'a', link('old'), readAt)
    expect(cache.get('', 'a')).toBeUndefined()
    cache.set('', 'a', link('new'), cache.version())
    expect(cache.get('', 'a')).toMatchObject(link('new'))
  })

  test('holds two generations at most, and keeps links that are used', () => {
    const cache = createLinkCache({ entriesMax: 10 })
    cache.set('', 'busy', link('busy'), cache.version())
    for (let n = 0; n < 1000; n++) {
      cache.set('', `l-${n}`, link(`l-${n}`), cache.version())
      expect(cache.get('', 'busy')).toMatchObject(link('busy'))
    }
    const known = Array.from({ length: 1000 }, (_, n) => cache.get('', `l-${n}`)).filter(Boolean)
    expect(known.length).toBeLessThanOrEqual(20)
    expect(cache.get('', 'l-0')).toBeUndefined()
  })

  test('keeps links that nobody uses while strangers ask for any number of unknown slugs', () => {
    const cache = createLinkCache({ entriesMax: 10, missesMax: 10 })
    for (let n = 0; n < 10; n++) cache.set('', `l-${n}`, link(`l-${n}`), cache.version())
    for (let n = 0; n < 2_000; n++) cache.set('', `miss-${n}`, null, cache.version())
    for (let n = 0; n < 10; n++) expect(cache.get('', `l-${n}`)).toMatchObject(link(`l-${n}`))
    const known = Array.from({ length: 2_000 }, (_, n) => cache.get('', `miss-${n}`)).filter(
      (l) => l === null,
    )
    expect(known.length).toBeLessThanOrEqual(20)
  })

  test('weighs no more than its bounds, whatever slugs strangers ask for and however long destinations are', () => {
    const cache = createLinkCache({ bytesMax: 100_000 })
    const long = `https://example.com/${'x'.repeat(8000)}`
    for (let n = 0; n < 1000; n++) {
      cache.set('', `l-${n}`, { ...link(`l-${n}`), destinationUrl: long }, cache.version())
      expect(cache.bytes()).toBeLessThanOrEqual(200_000)
    }
    expect(cache.bytes()).toBeGreaterThan(100_000)
    expect(cache.get('', 'l-999')).toMatchObject({ destinationUrl: long })
    // 472,000 of them took a server from 103 to 522 MB once.
    const misses = atScale({ quick: 60_000, full: 472_000, soak: 472_000 })
    for (let n = 0; n < misses; n++) cache.set('', `${n}-${'x'.repeat(180)}`, null, cache.version())
    expect(cache.bytes()).toBeLessThanOrEqual(200_000 + 8 * 1024 * 1024)
  })

  test('knows no miss any more once there is a link', () => {
    const cache = createLinkCache()
    cache.set('', 'a', null, cache.version())
    cache.set('', 'a', link('a'), cache.version())
    expect(cache.get('', 'a')).toMatchObject(link('a'))
    cache.set('', 'a', null, cache.version())
    expect(cache.get('', 'a')).toBeNull()
  })

  test('invalidates entries of both generations', () => {
    const cache = createLinkCache({ entriesMax: 1 })
    cache.set('', 'a', link('a'), cache.version())
    cache.set('', 'b', link('b'), cache.version())
    cache.invalidate('', 'a')
    expect(cache.get('', 'a')).toBeUndefined()
    expect(cache.get('', 'b')).toMatchObject(link('b'))
  })
})

describe('a change', () => {
  const later = () => Promise.withResolvers<CachedLink | null>()
  const of = (slug: string, workspaceId: number) => ({ ...link(slug), workspaceId })

  test('voids its own key and no other, also for reads in flight', async () => {
    const cache = createLinkCache()
    const [a, b, miss] = [later(), later(), later()]
    const reads = [
      cache.read('', 'a', () => a.promise),
      cache.read('', 'b', () => b.promise),
      cache.read('', 'miss', () => miss.promise),
    ]
    cache.set('', 'known', link('known'), cache.version())
    for (const key of ['a', 'unrelated']) cache.invalidate('', key)
    a.resolve(link('old'))
    b.resolve(link('b'))
    miss.resolve(null)
    expect(await Promise.all(reads)).toMatchObject([link('old'), link('b'), null] as never)
    expect(cache.get('', 'a')).toBeUndefined()
    expect(cache.get('', 'b')).toMatchObject(link('b'))
    expect(cache.get('', 'miss')).toBeNull()
    expect(cache.get('', 'known')).toMatchObject(link('known'))
  })

  test('that creates a link voids what was known of its slug, also in the moment of a read', async () => {
    const cache = createLinkCache()
    cache.set('', 'a', null, cache.version())
    const read = later()
    const reading = cache.read('', 'b', () => read.promise)
    for (const key of ['a', 'b']) cache.invalidate('', key)
    read.resolve(null)
    await reading
    expect([cache.get('', 'a'), cache.get('', 'b')]).toEqual([undefined, undefined])
  })

  test('of a workspace voids its links and not those of others, also for reads in flight', async () => {
    const cache = createLinkCache()
    for (const [slug, workspaceId] of [
      ['a', 1],
      ['b', 2],
    ] as const)
      cache.set('', slug, of(slug, workspaceId), cache.version())
    const [c, d] = [later(), later()]
    const reads = [cache.read('', 'c', () => c.promise), cache.read('', 'd', () => d.promise)]
    cache.invalidateWorkspace(1)
    // Nobody who comes after the change gets what was read before it.
    const again = cache.read('', 'c', async () => of('new', 1))
    c.resolve(of('c', 1))
    d.resolve(of('d', 2))
    await Promise.all(reads)
    expect(await again).toMatchObject({ slug: 'new' })
    const known = ['a', 'b', 'd'].map((slug) => cache.get('', slug)?.slug)
    expect(known).toEqual([undefined, 'b', 'd'])
  })

  test('that was missed voids everything', async () => {
    const cache = createLinkCache()
    cache.set('', 'a', link('a'), cache.version())
    cache.set('', 'b', null, cache.version())
    const read = later()
    const reading = cache.read('', 'c', () => read.promise)
    cache.invalidateAll()
    read.resolve(link('c'))
    await reading
    expect(['a', 'b', 'c'].map((key) => cache.get('', key))).toEqual([undefined, undefined, undefined])
  })

  test('a hundred concurrent misses are one read', async () => {
    const cache = createLinkCache()
    let loads = 0
    const load = async () => {
      loads++
      await Promise.resolve()
      return link('a')
    }
    const answers = await Promise.all(Array.from({ length: 100 }, () => cache.read('', 'a', load)))
    expect([answers.length, loads]).toEqual([100, 1])
    expect(cache.get('', 'a')).toMatchObject(link('a'))
  })
})

describe('a cache with a time to live', () => {
  const aged = () => {
    let now = 0
    const cache = createLinkCache({ timeToLiveMs: 2000, clock: () => now })
    return { cache, pass: (ms: number) => (now += ms) }
  }

  test('answers until each entry expires', () => {
    const { cache, pass } = aged()
    cache.set('', 'a', link('a'), cache.version())
    pass(1500)
    cache.set('', 'b', null, cache.version())
    pass(499)
    expect(cache.get('', 'a')).toMatchObject(link('a'))
    pass(1)
    expect(cache.get('', 'a')).toBeUndefined()
    expect(cache.get('', 'b')).toBeNull()
    pass(1500)
    expect(cache.get('', 'b')).toBeUndefined()
  })

  test('does not need it while the changes of others are followed, and does again when they are not', () => {
    let now = 0
    let followed = 0
    const cache = createLinkCache({ timeToLiveMs: 2000, clock: () => now, followedUntil: () => followed })
    cache.set('', 'a', link('a'), cache.version())
    cache.set('', 'b', null, cache.version())
    followed = now = 3_600_000
    expect(cache.get('', 'a')).toMatchObject(link('a'))
    expect(cache.get('', 'b')).toBeNull()
    now += 1_999
    expect(cache.get('', 'a')).toMatchObject(link('a'))
    now += 1
    expect([cache.get('', 'a'), cache.get('', 'b')]).toEqual([undefined, undefined])
    followed = now
    expect(cache.get('', 'a')).toMatchObject(link('a'))
  })

  test('keeps an expired link for when the database is down, but no slug without a link', () => {
    const { cache, pass } = aged()
    cache.set('', 'a', link('a'), cache.version())
    cache.set('', 'b', null, cache.version())
    pass(60_000)
    expect(cache.lastKnown('', 'b')).toBeUndefined()
    expect(cache.lastKnown('', 'c')).toBeUndefined()
    expect(cache.lastKnown('', 'a')).toMatchObject(link('a'))
    expect(cache.get('', 'a')).toMatchObject(link('a'))
    pass(2000)
    expect(cache.get('', 'a')).toBeUndefined()
  })

  test('drops an expired link after a change', () => {
    const { cache, pass } = aged()
    cache.set('', 'a', link('a'), cache.version())
    cache.set('', 'b', link('b'), cache.version())
    pass(2000)
    cache.invalidate('', 'a')
    expect(cache.lastKnown('', 'a')).toBeUndefined()
    // The link changed during the read: neither the read link nor the entry may stay.
    const readAt = cache.version()
    expect(cache.lastKnown('', 'b')).toMatchObject(link('b'))
    cache.invalidate('', 'b')
    cache.set('', 'b', link('newer'), readAt)
    expect(cache.get('', 'b')).toBeUndefined()
    expect(cache.lastKnown('', 'b')).toBeUndefined()
  })
})
