// Links on a domain of a workspace: its answers, its fallback targets, and the owners of its links.

import { beforeAll, expect, test } from 'bun:test'
import {
  addVerifiedDomain,
  callHost,
  changeDomain,
  putLinkOnDomain,
} from '../../../tests/support/server/verified-domain.ts'
import { onBothEngines, type TestWorkspace } from '../../../tests/support/world.ts'
import type { ShortDomain } from '../links/names/domain-directory.ts'
import { resolveLink } from '../links/resolve.ts'
import { expectVisitorPage, readRecordedHits } from './redirect.fixture.ts'

const PAST = '2020-01-01T00:00:00.000Z'

onBothEngines('A domain of a workspace', (server, engine) => {
  const name = `links-${engine}.example`
  let ws: TestWorkspace
  let domain: number
  const ask = (path: string, call = {}) => callHost(server(), name, path, call)
  const put = (link: { slug: string; [field: string]: unknown }) => putLinkOnDomain(server(), ws, name, link)
  const set = (fields: Parameters<typeof changeDomain>[2]) => changeDomain(server(), domain, fields)
  beforeAll(async () => {
    ws = await server().createWorkspace()
    domain = await addVerifiedDomain(server(), ws.id, name)
  })

  test('redirects its links, with any port, in any case and with a dot at its end', async () => {
    const id = await put({ slug: 'Sale', destinationUrl: 'https://example.com/sale' })
    for (const host of [name, name.toUpperCase(), `${name}.`, `${name}:8443`, `${name}.:80`]) {
      const { status, headers } = await callHost(server(), host, '/sale?utm_source=x')
      expect([host, status, headers.get('location')]).toEqual([host, 302, 'https://example.com/sale'])
      expect([headers.get('x-robots-tag'), headers.get('cache-control')]).toEqual([
        'noindex',
        'private, no-store',
      ])
    }
    const hits = (await readRecordedHits(server())).filter(({ linkId }) => linkId === id)
    expect(hits).toHaveLength(5)
  })

  test('has the same slugs as the default domain, and each leads on its own way', async () => {
    await put({ slug: 'both', destinationUrl: 'https://example.com/own' })
    const other = await server().createWorkspace()
    const slug = `both-${engine}`
    await other.createLink({ slug, destinationUrl: 'https://example.com/default' })
    await put({ slug, destinationUrl: 'https://example.com/own' })
    const locations = [await ask(`/${slug}`), await server().click(slug)].map(({ headers }) =>
      headers.get('location'),
    )
    expect(locations).toEqual(['https://example.com/own', 'https://example.com/default'])
    expect((await server().click('both')).status).toBe(404)
  })

  test('has links where the default domain has pages, and none of these', async () => {
    for (const [slug, path] of [
      ['app', '/app'],
      ['v1/links', '/v1/links'],
      ['docs', '/docs/'],
      ['metrics', '/metrics'],
      ['api/auth/options', '/api/auth/options'],
    ]) {
      expect([path, (await ask(path as string)).status]).toEqual([path, 404])
      await put({ slug: slug as string, destinationUrl: `https://example.com/${slug}` })
      expect((await ask(path as string)).headers.get('location')).toBe(`https://example.com/${slug}`)
    }
    for (const path of ['/tls/ask?domain=a', '/%6Civez', '/livez/', '/.well-known/x', '/.well-known'])
      expect([path, (await ask(path)).status]).toEqual([path, 404])
  })

  test('shows its own short URL where a link previews, asks for a password or is to be reported', async () => {
    const shortUrl = `http://${name}:${new URL(server().origin).port}/report`
    await put({ slug: 'report', destinationUrl: 'https://example.com/' })
    const preview = await ask('/report+')
    expectVisitorPage(preview)
    expect(preview.text).toContain(`<a class="button" href="${shortUrl}"`)
    expect(preview.text).not.toContain(server().origin)
    await put({ slug: 'secret', password: 'x' })
    expectVisitorPage(await ask('/secret'))
    const body = 'password=x'
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    expect((await ask('/secret', { method: 'POST', body, headers })).status).toBe(303)
  })

  test('answers its root with a plain page, and then with its URL', async () => {
    const page = await ask('/')
    expect(page.status).toBe(200)
    expectVisitorPage(page)
    expect(page.text).toContain(`<h1>${name}</h1>`)
    await set({ root_url: 'https://example.com/home' })
    const { status, headers } = await ask('/?a=b')
    expect([status, headers.get('location'), headers.get('x-robots-tag')]).toEqual([
      302,
      'https://example.com/home',
      'noindex',
    ])
    expect((await ask('/', { method: 'POST' })).status).toBe(405)
    await set({ root_url: null })
  })

  test('sends visitors of unknown links to its own page, and counts them as missing on it', async () => {
    await put({ slug: 'archived', archived: true })
    expectVisitorPage(await ask('/unknown'))
    expect((await ask('/unknown', { headers: { Accept: 'application/json' } })).json).toEqual({
      error: 'Link not found',
    })
    await set({ not_found_url: 'https://example.com/search?q={slug}#{slug}' })
    const locations = []
    for (const path of '/Unknown /a%20b&c /archived /Unknown+ /%E2%9C%93/%F0%9F%8E%89 /a%0d%0aX:%20y /%ff'.split(
      ' ',
    ))
      locations.push((await ask(path)).headers.get('location'))
    const sent = 'Unknown a%20b%26c archived Unknown %E2%9C%93%2F%F0%9F%8E%89 a%0D%0AX%3A%20y %25ff'.split(
      ' ',
    )
    expect(locations).toEqual(sent.map((slug) => `https://example.com/search?q=${slug}#${slug}`))
    expect((await ask(`/${'x'.repeat(4000)}`)).headers.get('location')?.length).toBeLessThan(450)
    await set({ not_found_url: null })
    await server().app.misses.flush()
    const misses = await server().rows('misses', { domain: name })
    expect(misses.find(({ slug }) => slug === 'unknown')).toMatchObject({ hits: 4, visitors: 1 })
    expect(misses.find(({ slug }) => slug === 'archived')).toBeUndefined()
  })

  test('sends visitors of links that are over to its own page, unless the link has one', async () => {
    const over = await put({ slug: 'over', expiresAt: PAST })
    const id = await put({ slug: 'over-elsewhere', expiresAt: PAST, expiredUrl: 'https://example.com/link' })
    expect((await ask('/over')).status).toBe(410)
    await set({ expired_url: 'https://example.com/over/{slug}' })
    expect((await ask('/over')).headers.get('location')).toBe('https://example.com/over/over')
    const rule = { rule: 'expiredUrl', status: 302, destinationUrl: 'https://example.com/over/over' }
    expect((await ws.api(`/links/${over}/resolve`)).json.data).toEqual(rule)
    expect((await ask('/over-elsewhere')).headers.get('location')).toBe('https://example.com/link')
    expect((await ws.api(`/links/${id}/resolve`)).json.data.destinationUrl).toBe('https://example.com/link')
    await set({ expired_url: null })
  })

  test('sends nobody to a short domain of this server, where it could redirect in a loop', async () => {
    const loops = {
      root_url: `https://${name}/`,
      not_found_url: `https://${name}./{slug}`,
      expired_url: `https://${name}/x`,
    }
    await put({ slug: 'over-again', expiresAt: PAST })
    await set(loops)
    expect((await ask('/')).status).toBe(200)
    expect((await ask('/unknown')).status).toBe(404)
    expect((await ask('/over-again')).status).toBe(410)
    await set({ root_url: null, not_found_url: null, expired_url: null })
  })

  test('keeps the case of slugs where it was made so', async () => {
    const sensitive = `case-${engine}.example`
    await addVerifiedDomain(server(), ws.id, sensitive, { case_sensitive: 1 })
    const id = await putLinkOnDomain(server(), ws, sensitive, { slug: 'Ab' })
    await server().update('links', { workspace_id: ws.id, id }, { slug_key: 'Ab' })
    // The second answer is that of memory.
    for (const path of ['/Ab', '/Ab', '/ab', '/ab'])
      expect([path, (await callHost(server(), sensitive, path)).status]).toEqual([
        path,
        path === '/Ab' ? 302 : 404,
      ])
  })

  test('answers with the links of the workspace that has it now, also after it has changed hands', async () => {
    const shared = `shared-${engine}.example`
    const [first, second] = [ws, await server().createWorkspace()]
    const call = async (path: string) => (await callHost(server(), shared, path)).headers.get('location')
    const firstDomain = await addVerifiedDomain(server(), first.id, shared)
    await putLinkOnDomain(server(), first, shared, { slug: 'a', destinationUrl: 'https://first.example/' })
    await putLinkOnDomain(server(), first, shared, { slug: 'b', destinationUrl: 'https://first.example/' })
    await putLinkOnDomain(server(), second, shared, { slug: 'b', destinationUrl: 'https://second.example/' })
    await putLinkOnDomain(server(), second, shared, { slug: 'c', destinationUrl: 'https://second.example/' })
    // The second time, memory answers.
    for (const _ of [1, 2])
      expect([await call('/a'), await call('/b'), await call('/c')]).toEqual([
        'https://first.example/',
        'https://first.example/',
        null,
      ])
    await changeDomain(server(), firstDomain, { verified_at: null })
    expect(
      (await callHost(server(), shared, '/a', { headers: { Accept: 'application/json' } })).json,
    ).toEqual({ error: 'Unknown domain' })
    await addVerifiedDomain(server(), second.id, shared)
    for (const _ of [1, 2])
      expect([await call('/a'), await call('/b'), await call('/c')]).toEqual([
        null,
        'https://second.example/',
        'https://second.example/',
      ])
  })

  test('does not answer with a link that a request has read for the workspace that had the domain before', async () => {
    const { app } = server()
    const former = await server().createWorkspace()
    const current = app.domains.get(name) as ShortDomain
    // The fast path does not read the second one.
    for (const [slug, path] of [
      ['read-late', '/read-late'],
      ['read-later', '/read-later/'],
    ] as const) {
      await putLinkOnDomain(server(), former, name, { slug, destinationUrl: 'https://former.example/' })
      const link = await resolveLink(app.redirects, { ...current, workspaceId: former.id }, slug)
      expect(link?.destinationUrl).toBe('https://former.example/')
      expect([path, (await ask(path)).status]).toEqual([path, 404])
      await put({ slug, destinationUrl: 'https://current.example/' })
      expect((await ask(path)).headers.get('location')).toBe('https://current.example/')
    }
  })

  test('is refused as a destination of links, of every workspace', async () => {
    const other = await server().createWorkspace()
    for (const url of [`https://${name}/x`, `http://${name.toUpperCase()}:8443/`, `https://${name}./`]) {
      const body = { destinationUrl: url, expiredUrl: url }
      const { status, json } = await other.post('/links', body)
      const wrong = 'must not point to a short domain of this server'
      expect([url, status, json.errors]).toEqual([url, 422, { destinationUrl: wrong, expiredUrl: wrong }])
    }
    await other.createLink({ destinationUrl: `https://sub.${name}/` })
  })
})
