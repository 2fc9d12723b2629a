import { expect, test } from 'bun:test'
import { onSqlite } from '../../../tests/support/world.ts'
import { expectVisitorPage, readRecordedHits } from './redirect.fixture.ts'

const PAST = '2020-01-01T00:00:00.000Z'

onSqlite('A short link with a plus', (server) => {
  test('shows its destination and does not redirect', async () => {
    const ws = await server().createWorkspace()
    const { slug, shortUrl } = await ws.createLink({
      title: 'Spring sale',
      destinationUrl: 'https://example.com/a?b=1&c=2',
    })
    for (const path of [`${slug}+`, `${slug}%2B`, `${slug}+/`, `${slug.toUpperCase()}+?utm_source=x`]) {
      const answer = await server().click(path)
      expect([path, answer.status]).toEqual([path, 200])
      expectVisitorPage(answer)
      expect(answer.headers.get('location')).toBeNull()
      expect(answer.text).toContain('<h1>Spring sale</h1>')
      expect(answer.text).toContain(
        '<a href="https://example.com/a?b=1&amp;c=2" rel="noopener nofollow ugc">',
      )
      expect(answer.text).toContain(`<a class="button" href="${shortUrl}"`)
    }
  })

  test('escapes hostile titles and URLs', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({
      title: '"><script>alert(1)</script><img src=x onerror=alert(2)>',
      destinationUrl: `https://example.com/'"><script>alert(3)</script>?q='onmouseover='alert(4)`,
    })
    const answer = await server().click(`${slug}+`)
    expect(answer.status).toBe(200)
    expect(answer.text).not.toMatch(/<script|<img/)
    expect(answer.text).toContain('&lt;script&gt;alert(1)')
    const targets = [...answer.text.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)
    expect(targets).toHaveLength(2)
    expect(targets[0]).toStartWith('https://example.com/')
    expect(answer.text).not.toMatch(/<a [^>]*\sonmouseover/)
  })

  test('shows neither destination nor title of a link with a password', async () => {
    const ws = await server().createWorkspace()
    const fields = { password: 'x', title: 'Merger', destinationUrl: 'https://hidden.example/' }
    const { slug } = await ws.createLink({
      ...fields,
      deviceTargeting: { ios: 'https://hidden.example/ios' },
    })
    const answer = await server().click(`${slug}+`)
    expect(answer.status).toBe(200)
    expectVisitorPage(answer)
    expect(answer.text).not.toMatch(/hidden\.example|Merger/)
    expect(answer.text).toContain('asks for a password')
  })

  test('shows the destination that this visitor would get', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({
      deviceTargeting: { ios: 'https://ios.example/' },
      trackConversions: true,
    })
    const answer = await server().click(`${slug}+`)
    expect(answer.text).toContain('href="https://ios.example/"')
    expect(answer.text).not.toContain('tp_cid')
  })

  test('answers 404 or 410 where the link does', async () => {
    const ws = await server().createWorkspace()
    const archived = await ws.createLink({ archived: true })
    const expired = await ws.createLink({ expiresAt: PAST })
    const used = await ws.createLink({ clickLimit: 1 })
    expect((await server().click(used.slug)).status).toBe(302)
    expect((await server().click('nothing-here+')).status).toBe(404)
    expect((await server().click(`${archived.slug}+`)).status).toBe(404)
    expect((await server().click(`${expired.slug}+`)).status).toBe(410)
    expect((await server().click(`${used.slug}+`)).status).toBe(410)
    expect((await server().click(`${used.slug}++`)).status).toBe(404)
  })

  test('shows the expiredUrl of a closed link', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({ expiresAt: PAST, expiredUrl: 'https://example.com/over' })
    const answer = await server().click(`${slug}+`)
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('href="https://example.com/over"')
  })

  test('records a preview and counts no click', async () => {
    const ws = await server().createWorkspace()
    const { id, slug } = await ws.createLink({})
    await server().click(`${slug}+?utm_source=x&qr=1`)
    const hits = (await readRecordedHits(server())).filter(({ linkId }) => linkId === id)
    expect(hits).toMatchObject([{ outcome: 'preview', class: 'human', trigger: 'qr', utmSource: 'x' }])
    expect((await ws.api(`/links/${id}`)).json.data).toMatchObject({ clicks: 0, lastClickedAt: null })
    expect((await ws.api(`/analytics/clicks?linkId=${id}&class=all`)).json.data.clicks).toBe(0)
  })
})
