// Links on domains of workspaces: creation, moves, slugs with and without case, and all that names a link by its slug.

import { beforeEach, expect, test } from 'bun:test'
import { addVerifiedDomain, callHost, changeDomain } from '../../../tests/support/server/verified-domain.ts'
import { onBothEngines, onSqlite, type TestWorkspace } from '../../../tests/support/world.ts'
import { suspendLink } from './suspend.ts'

const U = 'https://example.com/'
let names = 0
const newName = () => `go${++names}.acme.example`

onBothEngines('links on domains', (server) => {
  let ws: TestWorkspace
  let own: string
  let exact: string
  let ownId: number
  beforeEach(async () => {
    ws = await server().createWorkspace()
    own = newName()
    exact = newName()
    ownId = await addVerifiedDomain(server(), ws.id, own)
    await addVerifiedDomain(server(), ws.id, exact, { case_sensitive: 1 })
  })
  const get = async (host: string, path: string) => {
    const { status, headers } = await callHost(server(), host, path)
    return status === 302 ? headers.get('location') : status
  }
  const post = (body: object) => ws.post('/links', { destinationUrl: U, ...body })
  const patch = (id: number, body: object) => ws.patch(`/links/${id}`, body)
  const defaultDomain = () => new URL(server().origin).host

  test('are made on the primary domain, unless another one is named', async () => {
    expect((await post({})).json.data.domain).toBe(defaultDomain())
    await changeDomain(server(), ownId, { is_primary: 1 })
    const { json } = await post({ slug: 'docs/Größe' })
    const port = new URL(server().origin).port
    expect(json.data).toMatchObject({
      domain: own,
      shortUrl: `http://${own}:${port}/docs/Gr%C3%B6%C3%9Fe`,
    })
    expect(await get(own, '/Docs/gr%C3%B6%C3%9Fe')).toBe(U)
    expect((await post({ domain: null })).json.data.domain).toBe(own)
    expect((await post({ domain: defaultDomain() })).json.data.domain).toBe(defaultDomain())
    expect((await post({ domain: exact.toUpperCase() })).json.data.domain).toBe(exact)
    await changeDomain(server(), ownId, { verified_at: null })
    expect((await post({})).json.data.domain).toBe(defaultDomain())
  })

  test('are found by their short URL, on each domain alone', async () => {
    const slug = 'Zürich'
    const domains = [own, exact, defaultDomain()]
    const found: unknown[] = []
    for (const domain of domains) {
      const link = await ws.createLink({ slug, domain })
      for (const text of [
        link.shortUrl,
        link.shortUrl.replace('http://', ''),
        `${domain.toUpperCase()}/zurich`,
      ])
        found.push([text, link.id, (await ws.api(`/links?search=${encodeURIComponent(text)}`)).json.data])
    }
    for (const [text, id, data] of found as [string, number, { id: number }[]][])
      expect([text, data.map((link) => link.id)]).toEqual([text, [id]])
  })

  test('need a verified domain of the workspace, and the refusal says what to do', async () => {
    const other = await server().createWorkspace()
    const theirs = newName()
    await addVerifiedDomain(server(), other.id, theirs)
    await changeDomain(server(), ownId, { verified_at: null })
    const unknown = `is not a domain of this workspace; use ${defaultDomain()} or ${exact}`
    const unverified = `is not verified yet: set the DNS records that the page of ${own} shows`
    const link = await ws.createLink({ slug: `s${names}` })
    for (const [domain, problem] of [
      [theirs, unknown],
      ['nobody.example', unknown],
      ['a b', unknown],
      ['..', unknown],
      [own, unverified],
    ] as const) {
      for (const { status, json } of [await post({ domain }), await patch(link.id, { domain })])
        expect([domain, status, json.errors]).toEqual([domain, 422, { domain: problem }])
      const { json } = await ws.api(`/links/slug-availability?slug=x&domain=${encodeURIComponent(domain)}`)
      expect(json.errors).toEqual({ domain: problem })
    }
    expect((await ws.api('/links')).json.data).toEqual([link])
  })

  test('move with their slug, and both names know at once', async () => {
    const slug = `Move/${names}`
    const { id } = await ws.createLink({ slug })
    expect([await get(defaultDomain(), `/${slug}`), await get(own, `/${slug}`)]).toEqual([U, 404])
    expect((await patch(id, { domain: own })).json.data).toMatchObject({ slug, domain: own })
    expect([await get(defaultDomain(), `/${slug}`), await get(own, `/${slug}`)]).toEqual([404, U])
    const { json } = await ws.patch('/links/bulk', { ids: [id], data: { domain: exact } })
    expect(json.data[0]).toMatchObject({ slug, domain: exact })
    expect([
      await get(own, `/${slug}`),
      await get(exact, `/${slug}`),
      await get(exact, `/${slug.toLowerCase()}`),
    ]).toEqual([404, U, 404])
    await changeDomain(server(), ownId, { is_primary: 1 })
    expect((await patch(id, { domain: null })).json.data.domain).toBe(own)
    expect([await get(exact, `/${slug}`), await get(own, `/${slug.toLowerCase()}`)]).toEqual([404, U])
  })

  test('keep the case of their slugs where the domain tells it apart, and a move names the conflict', async () => {
    const upper = await ws.createLink({ slug: 'Sale/ÉΣ', domain: exact, destinationUrl: `${U}upper` })
    const lower = await ws.createLink({ slug: 'sale/éσ', domain: exact, destinationUrl: `${U}lower` })
    expect((await post({ slug: 'Sale/E\u0301Σ', domain: exact })).json.error).toBe('Slug already in use')
    expect([await get(exact, encodeURI('/Sale/ÉΣ')), await get(exact, encodeURI('/sale/éσ'))]).toEqual([
      `${U}upper`,
      `${U}lower`,
    ])
    expect(await get(exact, encodeURI('/SALE/ÉΣ'))).toBe(404)
    const available = async (slug: string) =>
      (await ws.api(`/links/slug-availability?slug=${encodeURIComponent(slug)}&domain=${exact}`)).json.data
    expect(await available('SALE/ÉΣ')).toMatchObject({ available: true, domain: exact })
    expect(await available('Sale/ÉΣ')).toMatchObject({ reason: 'taken', linkId: upper.id })

    expect((await patch(upper.id, { domain: own })).status).toBe(200)
    const conflict = await patch(lower.id, { domain: own })
    expect([conflict.status, conflict.json]).toEqual([
      409,
      { error: 'Slug already in use', errors: { slug: `link ${upper.id} has "Sale/ÉΣ" on ${own}` } },
    ])
    const bulk = await ws.patch('/links/bulk', [{ id: lower.id, domain: own }])
    expect([bulk.status, Object.keys(bulk.json.errors)]).toEqual([409, ['0.slug']])
    expect(await get(exact, encodeURI('/sale/éσ'))).toBe(`${U}lower`)
    expect((await patch(lower.id, { domain: own, slug: 'Sale/2' })).status).toBe(200)
    expect(await get(own, '/sALE/2')).toBe(`${U}lower`)
  })

  test('may not begin with what answers on their domain', async () => {
    const slugs = (domain: string) => ({
      reserved: async (...all: string[]) => {
        for (const slug of all)
          expect([slug, (await post({ slug, domain })).json.error]).toEqual([slug, 'Slug is reserved'])
      },
      free: async (...all: string[]) => {
        for (const slug of all) {
          expect([slug, (await post({ slug, domain })).status]).toEqual([slug, 201])
          expect([slug, await get(domain, `/${slug}`)]).toEqual([slug, U])
        }
      },
    })
    await slugs(own).free('app', 'v1', 'v1/links', 'docs/a', 'api/auth/x', 'livez', 'metrics', 'sitemap.xml')
    await slugs(own).reserved(
      'f',
      'f/a',
      'F/a',
      'thanks',
      't.js',
      'e/forms',
      'robots.txt',
      'favicon.ico',
      '.well-known/a',
    )
    await slugs(defaultDomain()).reserved(
      'app/a',
      'V1/links',
      'docs/a/b/c',
      'f/a',
      'tls/ask',
      '.well-known/a',
    )
    await slugs(defaultDomain()).free(`apps/${names}`, `a/app/${names}`)
    const { id } = await ws.createLink({ slug: 'app/x', domain: own })
    expect((await patch(id, { domain: defaultDomain() })).json.error).toBe('Slug is reserved')
    const { json } = await ws.api(`/links/slug-availability?slug=app/y&domain=${defaultDomain()}`)
    expect(json.data.reason).toBe('reserved')
    for (const path of ['/app/x', '/docs/a/b/c', '/v1/a/b', '/f/a/b/c'])
      expect([path, await get(defaultDomain(), path)]).not.toEqual([path, U])
  })

  test('are found by domain, and by domain and destination', async () => {
    const link = await ws.createLink({ domain: own, slug: 'a' })
    await ws.createLink({ slug: `a${names}` })
    const list = async (domain: string) =>
      (await ws.api(`/links?domain=${domain}`)).json.data.map(({ id }: { id: number }) => id)
    expect(await list(own.toUpperCase())).toEqual([link.id])
    expect(await list(exact)).toEqual([])
    expect(await list('%20')).toEqual([])
    const upsert = async (body: object) =>
      (await ws.put('/links/upsert', { destinationUrl: U, ...body })).json.data
    expect(await upsert({ domain: own, title: 'x' })).toMatchObject({ id: link.id, title: 'x' })
    const other = await upsert({ domain: exact })
    expect([other.domain, other.id === link.id]).toEqual([exact, false])
    const many = await ws.post(
      '/links/bulk',
      [own, exact].map((domain) => ({ destinationUrl: U, slug: 'many/b', domain })),
    )
    expect(many.json.data.map(({ domain }: { domain: string }) => domain)).toEqual([own, exact])
  })

  test('return from the trash, and are suspended by their short URL', async () => {
    const { id, shortUrl } = await ws.createLink({ domain: exact, slug: 'Gone/1' })
    await ws.createLink({ domain: exact, slug: 'gone/1', destinationUrl: `${U}other` })
    await ws.delete(`/links/${id}`)
    expect(await get(exact, '/Gone/1')).toBe(404)
    expect((await post({ domain: exact, slug: 'Gone/1' })).json.error).toBe('Slug already in use')
    await ws.post(`/links/${id}/restore`)
    expect(await get(exact, '/Gone/1')).toBe(U)
    const needs = { db: server().app.db, now: server().now, origin: server().origin }
    const suspended = await suspendLink(needs, { domain: exact, slug: 'Gone/1' }, null)
    expect([suspended.id, suspended.shortUrl]).toEqual([id, shortUrl])
    expect([await get(exact, '/Gone/1'), await get(exact, '/gone/1')]).toEqual([451, `${U}other`])
    expect((await patch(id, { domain: own })).status).toBe(403)
  })
})

onSqlite('slugs of several segments and of emoji', (server) => {
  test('are found, counted and exported as they are written', async () => {
    const ws = await server().createWorkspace()
    const exact = newName()
    await addVerifiedDomain(server(), ws.id, exact, { case_sensitive: 1 })
    const slug = '❤️/-Frühling/👩‍❤️‍👨'
    const link = await ws.createLink({ slug, utmSource: 'mail' })
    const upper = await ws.createLink({ slug: 'Sale/A', domain: exact })
    const lower = await ws.createLink({ slug: 'sale/a', domain: exact })
    const clicks = [encodeURI('❤/-fru\u0308hling/👩‍❤‍👨'), encodeURI(`${slug}?qr=1`)]
    for (const path of clicks)
      expect((await server().click(path)).headers.get('location')).toBe(link.destinationUrl)
    for (const { slug: text } of [upper, upper, lower]) await callHost(server(), exact, `/${text}`)
    await server().waitUntilShipped()
    const ask = async (query: string) => (await ws.api(`/analytics/clicks?${query}`)).json.data
    const filtered = async (text: string) => (await ask(`slug=${encodeURIComponent(text)}`)).clicks
    expect(await filtered(slug)).toBe(2)
    expect(await filtered('❤/\\-FRÜHLING/👩‍❤‍👨')).toBe(2)
    expect([await filtered('Sale/A'), await filtered('sale/a'), await filtered('SALE/A')]).toEqual([2, 1, 0])
    expect(await filtered(`-${slug}`)).toBe(3)
    expect((await ask(`domain=${exact}`)).clicks).toBe(3)
    const groups = await ask('groupBy=slug')
    expect(
      groups.map((group: { slug: string; clicks: number }) => [group.slug, group.clicks]).sort(),
    ).toEqual(
      [
        ['Sale/A', 2],
        ['sale/a', 1],
        [slug, 2],
      ].sort(),
    )
    const csv = (await ws.api('/analytics/clicks/export?format=csv')).text
    expect(csv.split('\n').filter((line) => line.includes(slug))).toHaveLength(2)
    for (const search of [slug, '/-früh', '❤'])
      expect((await ws.api(`/links?search=${encodeURIComponent(search)}`)).json.data).toHaveLength(1)
    const qr = await ws.api(`/links/${link.id}/qr`)
    expect([qr.status, qr.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  })
})
