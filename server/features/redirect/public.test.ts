import { expect, test } from 'bun:test'
import { onBothEngines, onSqlite } from '../../../tests/support/world.ts'
import { expectVisitorPage, readRecordedHits, sendRawGet, sendRawRequest } from './redirect.fixture.ts'

const PAST = '2020-01-01T00:00:00.000Z'
const FUTURE = '2100-01-01T00:00:00.000Z'

onBothEngines('A short link', (server) => {
  test.each([301, 302, 307, 308])(
    'redirects with its status %i, kept by no cache',
    async (redirectStatus) => {
      const ws = await server().createWorkspace()
      const { slug } = await ws.createLink({
        redirectStatus,
        destinationUrl: 'https://example.com/a%20b?x=%C3%A9#top',
      })
      const answer = await server().click(slug)
      expect(answer.status).toBe(redirectStatus)
      expect(answer.headers.get('location')).toBe('https://example.com/a%20b?x=%C3%A9#top')
      expect(answer.headers.get('cache-control')).toBe('private, no-store')
      expect(answer.headers.get('set-cookie')).toBeNull()
      expect(answer.text).toBe('')
    },
  )

  test('answers HEAD as it answers GET, without a body', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({ redirectStatus: 308 })
    const head = await server().call(`/${slug}`, { method: 'HEAD' })
    expect(head.status).toBe(308)
    expect(head.headers.get('location')).toBe('https://example.com/')
    const missing = await server().call('/nothing-here', { method: 'HEAD' })
    expect(missing.status).toBe(404)
    expect(missing.text).toBe('')
  })

  test('is found whatever its trailing slash, query and case', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({ slug: `Mixed-${ws.id}.Case_x` })
    const ways = [
      slug.toLowerCase(),
      slug.toUpperCase(),
      `${slug}/`,
      `${slug}//`,
      `${slug}?a=1&b=/x`,
      `${slug}/?a=1`,
      `${slug}?`,
      `%${slug.charCodeAt(0).toString(16)}${slug.slice(1)}`,
    ]
    for (const way of ways) expect([way, (await server().click(way)).status]).toEqual([way, 302])
    expect((await server().click(`${slug}/more`)).status).toBe(404)
    expect((await server().click(`${slug}-`)).status).toBe(404)
  })

  test.each([
    ['broken percent encoding', '/%zz'],
    ['half a character', '/%E0%A4%A'],
    ['half a character and a slash', '/%E0%A4%A/'],
    ['a lone percent', '/%'],
    ['bytes that are not UTF-8', '/%ff%fe'],
    ['a surrogate in UTF-8', '/%ED%A0%80'],
    ['NUL', '/%00'],
    ['NUL inside', '/abc%00def'],
    ['an encoded slash', '/a%2Fb'],
    ['a doubled slash', '//x'],
    ['a parent', '/..'],
    ['a parent in front', '/../x'],
    ['an encoded parent', '/%2e%2e'],
    ['a backslash', '/a\\b'],
    ['a line break', '/a%0d%0aSet-Cookie:%20x=1'],
    ['4,000 characters', `/${'a'.repeat(4000)}`],
    ['4,000 encoded characters', `/${'%C3%A9'.repeat(4000 / 6)}`],
    ['only a plus', '/+'],
    ['a quote', "/a'b--"],
    ['markup', '/%3Cscript%3Ealert(1)%3C%2Fscript%3E'],
    ['raw bytes', '/\u00ff\u00fe'],
    ['a query without end', `/x?${'&'.repeat(3000)}`],
  ])('answers 404 for the unknown slug %s', async (_, target) => {
    const answer = await sendRawGet(server(), target)
    expect(answer.status).toBe(404)
    expect(answer.text).not.toMatch(/set-cookie|<script/i)
  })

  test('redirects without a host, and not where the Host header has none', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({})
    for (const host of ['', 'a b', '[::1', '%zz', 'a@b', '<script>']) {
      const answer = await sendRawRequest(
        server(),
        `GET /${slug}?a=1 HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      )
      expect([host, answer.status]).toEqual([host, host === '' ? 302 : 400])
    }
  })

  test.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'POST', 'PROPFIND'])('refuses %s', async (method) => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({})
    for (const path of [`/${slug}`, `/${slug}/`, `/${slug}?a=1`]) {
      const answer = await server().call(path, { method })
      expect([path, answer.status]).toEqual([path, 405])
      expect(answer.headers.get('allow')).toBe('GET, HEAD')
      expect(answer.headers.get('location')).toBeNull()
      expectVisitorPage(answer)
    }
    const json = await server().call(`/${slug}`, { method, headers: { Accept: 'application/json' } })
    expect(json.json).toEqual({ error: 'Method not allowed' })
  })

  test('answers any method with 307 and 308, whose clients repeat it', async () => {
    const ws = await server().createWorkspace()
    const destinationUrl = 'https://example.com/hook'
    for (const redirectStatus of [307, 308]) {
      const { slug } = await ws.createLink({ destinationUrl, redirectStatus })
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
        const { status, headers } = await server().call(`/${slug}?a=1`, { method })
        expect([method, status, headers.get('location')]).toEqual([method, redirectStatus, destinationUrl])
      }
      const over = await ws.createLink({ destinationUrl, redirectStatus, archived: true })
      expect((await server().put(`/${over.slug}`)).status).toBe(404)
      const locked = await ws.createLink({ destinationUrl, redirectStatus, password: 'open sesame' })
      const refused = await server().put(`/${locked.slug}`)
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST'])
    }
    const expired = await ws.createLink({ redirectStatus: 307, expiresAt: PAST, expiredUrl: destinationUrl })
    const answer = await server().post(`/${expired.slug}`)
    expect([answer.status, answer.headers.get('location')]).toEqual([303, destinationUrl])
  })
})

onBothEngines('What a program glues to a link', (server) => {
  test('is dropped where no link has the longer slug', async () => {
    const ws = await server().createWorkspace()
    const short = await ws.createLink({ destinationUrl: 'https://example.com/short' })
    const longer = await ws.createLink({
      destinationUrl: 'https://example.com/longer',
      slug: `${short.slug}2.`,
    })
    const nested = await ws.createLink({
      destinationUrl: 'https://example.com/nested',
      slug: `${short.slug}/a`,
    })
    const glued =
      ', ; : ! ? ) ] } > * _ . ~ ` \' " ... ., ", %22 %20 %20%20 %C2%A0 %E2%80%8B %E2%80%9D %C2%BB %E3%80%82 %0D%0A %3E /, %22/'
    for (const tail of glued.split(' ')) {
      if (tail === '?') continue
      const url = `${server().origin}/${short.slug}${tail}`
      const answer = await fetch(url, { redirect: 'manual' })
      expect([tail, answer.headers.get('location')]).toEqual([tail, 'https://example.com/short'])
    }
    for (const [path, location] of [
      [`${short.slug}2.`, longer.destinationUrl],
      [`${short.slug}2.,`, longer.destinationUrl],
      [`${short.slug}/a.`, nested.destinationUrl],
      [`${short.slug}-`, null],
      [`${short.slug}x.`, null],
      ['%20', null],
    ]) {
      const answer = await fetch(`${server().origin}/${path}`, { redirect: 'manual' })
      expect([path, answer.headers.get('location')]).toEqual([path, location])
    }
  })
})

onBothEngines('A slug without an open link', (server) => {
  test('answers people with a page', async () => {
    const answer = await server().click('nothing-here', { Accept: 'text/html,*/*;q=0.8' })
    expect(answer.status).toBe(404)
    expectVisitorPage(answer)
    expect(answer.text).toContain('<title>Link not found</title>')
  })

  test('answers programs in JSON where they ask for it', async () => {
    const answer = await server().click('nothing-here', { Accept: 'application/json' })
    expect(answer.status).toBe(404)
    expect(answer.json).toEqual({ error: 'Link not found' })
    expect(answer.headers.get('x-robots-tag')).toBe('noindex')
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
  })

  test('gets the same answer for an unknown, archived, deleted or not yet started link', async () => {
    const ws = await server().createWorkspace()
    const archived = await ws.createLink({ archived: true })
    const notStarted = await ws.createLink({ startsAt: FUTURE, expiredUrl: 'https://example.com/over' })
    const deleted = await ws.createLink({})
    expect((await server().click(deleted.slug)).status).toBe(302)
    await ws.delete(`/links/${deleted.id}`)
    const unknown = await server().click('nothing-here')
    for (const { slug } of [archived, notStarted, deleted]) {
      const answer = await server().click(slug)
      expect([answer.status, answer.text]).toEqual([404, unknown.text])
    }
  })
})

onBothEngines('A closed link', (server) => {
  test('answers with a page, or with JSON where a program asks for it', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({ expiresAt: PAST })
    const answer = await server().click(slug)
    expect(answer.status).toBe(410)
    expectVisitorPage(answer)
    expect(answer.text).not.toContain('example.com')
    const json = await server().click(slug, { Accept: 'application/json' })
    expect([json.status, json.json]).toEqual([410, { error: 'Link expired' }])
  })
})

onBothEngines(
  'A deep link',
  (server) => {
    test('is redirected to where the operator allows its scheme', async () => {
      const ws = await server().createWorkspace()
      const { slug } = await ws.createLink({ destinationUrl: 'myapp:open?x=1', forwardQuery: true })
      expect((await server().click(`${slug}?a=1`)).headers.get('location')).toBe('myapp:open?x=1&a=1')
    })
  },
  { environment: { DESTINATION_SCHEMES: 'myapp' } },
)

onSqlite('A short link with a plus', (server) => {
  test('shows its destination and does not redirect', async () => {
    const ws = await server().createWorkspace()
    const { slug, shortUrl } = await ws.createLink({
      previewTitle: 'The spring blend',
      previewDescription: 'Washed, from Huila.',
      destinationUrl: 'https://example.com/a?b=1&c=2',
    })
    for (const path of [`${slug}+`, `${slug}%2B`, `${slug}+/`, `${slug.toUpperCase()}+?utm_source=x`]) {
      const answer = await server().click(path)
      expect([path, answer.status]).toEqual([path, 200])
      expectVisitorPage(answer)
      expect(answer.headers.get('location')).toBeNull()
      expect(answer.text).toContain('<h1>The spring blend</h1>\n<p>Washed, from Huila.</p>')
      expect(answer.text).toContain(
        '<a href="https://example.com/a?b=1&amp;c=2" rel="noopener nofollow ugc">',
      )
      expect(answer.text).toContain(`<a class="button" href="${shortUrl}"`)
    }
  })

  test.each([
    ['an https URL', 'https://shop.example.com:8443/x', 'shop.example.com:8443'],
    ['a host of other letters', 'https://bücher.example/', 'xn--bcher-kva.example'],
  ])('is headed by the host of the destination where it has no card: %s', async (_, destinationUrl, host) => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({ destinationUrl })
    const { text } = await server().click(`${slug}+`)
    expect(text).toContain(`<title>${host}</title>`)
    expect(text).toContain(`<h1>${host}</h1>`)
  })

  test('keeps title and comments of every link for the team, on every page that visitors get', async () => {
    const ws = await server().createWorkspace()
    const team = { title: 'Secret title', comments: 'Secret comment' }
    const cases: Record<string, unknown>[] = [
      {},
      { previewDescription: 'A card without a title' },
      { password: 'x' },
      { archived: true },
      { startsAt: '2999-01-01T00:00:00Z' },
      { clickLimit: 1 },
    ]
    for (const fields of cases) {
      const { slug } = await ws.createLink({ ...team, ...fields })
      for (const path of [`${slug}+`, slug, slug])
        for (const agent of ['Mozilla/5.0', 'Slackbot-LinkExpanding 1.0']) {
          const answer = await server().call(`/${path}`, { headers: { 'User-Agent': agent } })
          expect(`${answer.text}${JSON.stringify([...answer.headers])}`).not.toContain('Secret')
        }
    }
  })

  test('escapes hostile titles and URLs', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({
      previewTitle: '"><script>alert(1)</script><img src=x onerror=alert(2)>',
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

  test('shows neither destination nor card of a link with a password', async () => {
    const ws = await server().createWorkspace()
    const fields = { password: 'x', previewTitle: 'Merger', destinationUrl: 'https://hidden.example/' }
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

const REPORT = '>Report this link</a>'
const findReport = (text: string) =>
  /<a href="([^"]*)">Report this link/.exec(text)?.[1]?.replaceAll('&#39;', "'").replaceAll('&amp;', '&')

onSqlite(
  'With ABUSE_EMAIL a visitor',
  (server) => {
    test('can report a link from its preview and its password page, which name the link', async () => {
      const ws = await server().createWorkspace()
      const plain = await ws.createLink({ slug: `été-${ws.id}` })
      const locked = await ws.createLink({ password: 'x' })
      for (const [path, { shortUrl }] of [
        [`${encodeURIComponent(plain.slug)}+`, plain],
        [`${locked.slug}+`, locked],
        [locked.slug, locked],
      ] as const) {
        const answer = await server().click(path)
        expectVisitorPage(answer)
        const report = new URL(findReport(answer.text) as string)
        expect([report.protocol, decodeURIComponent(report.pathname)]).toEqual([
          'mailto:',
          `o'neil+abuse&co@example.com`,
        ])
        // Nothing of the link can add a field to the mail.
        expect([...report.searchParams]).toEqual([['subject', `Report of ${shortUrl}`]])
      }
      const wrong = await server().post(`/${locked.slug}`, 'password=y', {
        'Content-Type': 'application/x-www-form-urlencoded',
      })
      expect(wrong.status).toBe(403)
      expect(wrong.text).toContain(REPORT)
    })

    test('finds whom to ask about a suspended link', async () => {
      const ws = await server().createWorkspace()
      const { id, slug } = await ws.createLink({})
      await server().update('links', { id }, { suspended_at: 1 })
      const { status, text } = await server().click(slug)
      expect(status).toBe(451)
      expect(text).toContain(`write to <a href="mailto:`)
      expect(text).not.toContain(REPORT)
    })
  },
  { environment: { ABUSE_EMAIL: "o'neil+abuse&co@example.com" } },
)

onSqlite('Without ABUSE_EMAIL a visitor', (server) => {
  test('gets no link to report', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({ password: 'x' })
    for (const path of [slug, `${slug}+`]) {
      const { text } = await server().click(path)
      expect(text).not.toMatch(/Report this link|mailto:/)
    }
  })
})
