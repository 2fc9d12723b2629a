// Saved views and their shared pages, through HTTP.

import { expect, test } from 'bun:test'
import { full, quick } from '../../../tests/support/suite.ts'
import {
  addToWorkspace,
  createSignedInUser,
  createTeam,
} from '../../../tests/support/users/signed-in-user.ts'
import {
  BROWSER_USER_AGENT,
  onSqlite,
  type TestServer,
  type TestWorkspace,
} from '../../../tests/support/world.ts'
import { LeadParameters } from '../analytics/leads-schema.ts'
import { ClickParameters } from '../analytics/schema.ts'
import { appendProofs } from '../proofs/proof-chain.ts'

const JSON_ACCEPT = { Accept: 'application/json' }

type Fields = Record<string, unknown>

const post = async (ws: TestWorkspace, fields: Fields) => ws.post('/views', { name: 'View', ...fields })
const patch = (ws: TestWorkspace, id: number, body: unknown) => ws.patch(`/views/${id}`, body)

async function share(ws: TestWorkspace, fields: Fields) {
  const { status, json } = await post(ws, { share: {}, ...fields })
  if (status !== 201) throw new Error(JSON.stringify(json))
  return { id: json.data.id as number, path: new URL(json.data.share.url).pathname }
}

let visitors = 0
/** Each as another visitor. */
const see = (server: TestServer, path: string, headers: Record<string, string> = JSON_ACCEPT) =>
  server.call(path, { headers: { 'X-Forwarded-For': `198.51.100.${visitors++ % 250}`, ...headers } })

const sendPassword = (server: TestServer, path: string, password: string, address = '192.0.2.1') =>
  server.post(path, new URLSearchParams({ password }).toString(), {
    'Content-Type': 'application/x-www-form-urlencoded',
    'X-Forwarded-For': address,
  })

let filled: ReturnType<typeof createFilledWorkspace> | undefined
const fillWorkspace = (server: TestServer) => {
  filled ??= createFilledWorkspace(server)
  return filled
}

/** Two links, of which the first has a tag. It has three clicks of people and one of a robot; the other two. */
async function createFilledWorkspace(server: TestServer) {
  const ws = await server.createWorkspace()
  const [own, other] = [
    await ws.createLink({ tagNames: ['Own'], destinationUrl: 'https://secret.example/own' }),
    await ws.createLink({ tagNames: ['Other'], destinationUrl: 'https://secret.example/other' }),
  ]
  const form = await ws.createForm()
  await server.submit(form.formKey, { message: 'what a person wrote' })
  await server.click(own.slug)
  await server.click(own.slug, { Referer: 'https://news.example/a' })
  await server.click(`${own.slug}?qr=1`)
  await server.click(own.slug, { 'User-Agent': 'Googlebot/2.1' })
  await server.click(other.slug)
  await server.click(other.slug, { Referer: 'https://forum.example/b' })
  await server.waitUntilShipped()
  return { ws, own, other, form }
}

onSqlite(
  'views',
  (server) => {
    test('keep what they were given, and have its defaults', async () => {
      const ws = await server().createWorkspace()
      const fresh = (await post(ws, { name: 'Fresh' })).json.data
      expect(fresh).toEqual({
        id: expect.any(Number),
        name: 'Fresh',
        filters: {},
        interval: '30d',
        start: null,
        end: null,
        timezone: 'UTC',
        model: 'last',
        share: null,
        embed: [],
        report: null,
        alert: null,
        nextReportAt: null,
        createdBy: null,
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      })
      const cases: [Fields, Fields][] = [
        [
          { start: '2026-03-01', end: '2026-03-29' },
          { interval: null, start: '2026-03-01', end: '2026-03-29' },
        ],
        [{ end: null }, { interval: null, start: '2026-03-01', end: null }],
        [{ interval: '7d' }, { interval: '7d', start: null, end: null }],
        [{ interval: null }, { interval: '30d' }],
        [{ filters: { country: '-US,BR', class: 'bot' } }, { filters: { country: '-US,BR', class: 'bot' } }],
        [
          { timezone: 'Europe/Berlin', model: 'linear' },
          { timezone: 'Europe/Berlin', model: 'linear' },
        ],
        [
          { timezone: null, model: null, filters: null },
          { timezone: 'UTC', model: 'last', filters: {} },
        ],
        [{ name: ' Trimmed ' }, { name: 'Trimmed' }],
        [{ embed: ['https://EXAMPLE.com/', 'https://example.com'] }, { embed: ['https://example.com'] }],
        [{}, { embed: ['https://example.com'] }],
      ]
      for (const [input, expected] of cases) {
        const { status, json } = await patch(ws, fresh.id, input)
        expect([input, status, json.data]).toEqual([input, 200, expect.objectContaining(expected)])
      }
      expect((await ws.api(`/views/${fresh.id}`)).json.data.embed).toEqual(['https://example.com'])
      expect((await ws.api('/views')).json).toMatchObject({
        total: 1,
        nextCursor: null,
        data: [{ id: fresh.id }],
      })
      expect((await ws.delete(`/views/${fresh.id}`)).status).toBe(200)
      expect((await ws.api(`/views/${fresh.id}`)).json).toEqual({ error: 'View not found' })
    })

    test.each<[Fields, string]>([
      [{ name: '' }, 'name'],
      [{ name: ' ' }, 'name'],
      [{ filters: { color: 'red' } }, 'filters.color'],
      [{ filters: { groupBy: 'link' } }, 'filters.groupBy'],
      [{ filters: { linkId: 'x' } }, 'filters.linkId'],
      [{ filters: { country: 'US,-BR' } }, 'filters.country'],
      [{ filters: { country: 5 } }, 'filters.country'],
      [{ filters: [] }, 'filters'],
      [{ interval: '2d' }, 'interval'],
      [{ interval: '7d', start: '2026-03-01' }, 'interval'],
      [{ start: '2026-03-32' }, 'start'],
      [{ start: '2026-03-02', end: '2026-03-01' }, 'start'],
      [{ timezone: 'Mars/Base' }, 'timezone'],
      [{ model: 'middle' }, 'model'],
      [{ share: true }, 'share'],
      [{ share: { password: '' } }, 'share.password'],
      [{ share: { expiresAt: 'tomorrow' } }, 'share.expiresAt'],
      [{ share: { url: 'https://example.com' } }, 'share.url'],
      [{ embed: ['example.com'] }, 'embed.0'],
      [{ embed: ["https://x.example; script-src 'unsafe-inline'"] }, 'embed.0'],
      [{ createdBy: 1 }, 'createdBy'],
    ])('refuse %j', async (fields, field) => {
      const ws = await server().createWorkspace()
      const { status, json } = await post(ws, fields)
      expect([status, Object.keys(json.errors ?? {})]).toEqual([422, [field]])
    })

    test('belong to a workspace and to the person who made them, and are changed by members', async () => {
      const team = await createTeam(server())
      const other = await server().createWorkspace()
      const viewer = await createSignedInUser(server(), 'Vera')
      await addToWorkspace(server(), team.id, viewer, 'viewer')
      const made = await team.member.in(team.id).post('/views', { name: 'Mine' })
      const { id, createdBy } = made.json.data
      expect(createdBy).toEqual({ userId: team.member.id, name: 'Max' })
      const change = { method: 'PATCH', body: { share: {} } }
      expect((await viewer.apiIn(team.id, `/views/${id}`)).status).toBe(200)
      expect((await viewer.apiIn(team.id, `/views/${id}`, change)).status).toBe(403)
      expect((await other.api(`/views/${id}`, change)).status).toBe(404)
      expect((await team.owner.apiIn(team.id, `/views/${id}`, change)).status).toBe(200)
    })

    test('have one page at most, whose address is another one after it was taken away', async () => {
      const ws = await server().createWorkspace()
      const { id } = (await post(ws, {})).json.data
      const urls = []
      for (const share of [{}, { password: 'pass' }, { showLeads: true }, { password: null }, null, {}]) {
        const { json } = await patch(ws, id, { share })
        expect(JSON.stringify(json)).not.toContain('pass"')
        urls.push(json.data.share && [json.data.share.url, json.data.share.passwordProtected])
      }
      const [url] = urls[0]
      expect(url).toMatch(new RegExp(`^${server().origin}/s/[\\w-]{22}$`))
      expect(urls.slice(0, 5)).toEqual([[url, false], [url, true], [url, true], [url, false], null])
      expect(urls[5][0]).not.toBe(url)
      expect((await see(server(), new URL(url).pathname)).status).toBe(404)
    })

    quick(
      'show figures to everybody on their page, and nothing of submissions and destinations',
      async () => {
        const { ws, own } = await fillWorkspace(server())
        const { path } = await share(ws, { name: 'A <b>view</b>', share: { showLeads: true } })
        const proof = { kind: 'closed', reason: null, hits: 98_765, removed: null, digest: 'd' } as const
        await appendProofs(server().app.db, ws.id, [{ day: '2026-03-29', ...proof }], 1)
        const { status, json, headers } = await see(server(), path)
        expect([status, json.data]).toEqual([
          200,
          expect.objectContaining({ name: 'A <b>view</b>', clicks: 5, leads: 1, metric: 'clicks' }),
        ])
        const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
        expect(json.data.proof).toEqual({ day: '2026-03-29', hash })
        expect(headers.get('x-robots-tag')).toBe('noindex')
        expect(json.data.groups.linkId[0]).toMatchObject({ value: String(own.id), count: 3 })
        const total = (await ws.api('/analytics/clicks')).json.data
        expect([json.data.clicks, json.data.visitors]).toEqual([total.clicks, total.visitors])
        const page = await see(server(), path, { Accept: 'text/html' })
        expect(page.text).toContain('A &lt;b&gt;view&lt;/b&gt;')
        expect(page.text).toContain(json.data.proof.hash)
        for (const hidden of ['secret.example', 'what a person wrote', '<script', '98,765'])
          expect([hidden, page.text.includes(hidden), JSON.stringify(json).includes(hidden)]).toEqual([
            hidden,
            false,
            false,
          ])
        const policy = page.headers.get('content-security-policy') ?? ''
        expect(policy).toContain("default-src 'none'")
        expect(policy).toContain("frame-ancestors 'none'")
        expect(page.headers.get('x-robots-tag')).toBe('noindex')
        expect(page.headers.get('referrer-policy')).toBe('no-referrer')
        // Links of the page lead to the page.
        for (const [, href] of page.text.matchAll(/href="([^"]*)"/g)) expect(href).toStartWith('?')
        // Another card keeps the tab that the visitor has chosen.
        expect((await see(server(), `${path}?tabs=tagId`, { Accept: 'text/html' })).text).toContain(
          'tabs=tagId%2Cchannel"',
        )
      },
    )

    full('never widen on their page, whatever parameter asks', async () => {
      const { ws, own, other, form } = await fillWorkspace(server())
      const { path } = await share(ws, { filters: { linkId: String(own.id) }, interval: '7d', share: {} })
      const values: Record<string, string[]> = {
        linkId: [String(other.id), `-${own.id}`],
        tagId: ['1', '-1'],
        slug: [other.slug],
        domain: ['x'],
        class: ['human', 'bot', 'all', '-human'],
        imported: ['true', 'false'],
        trigger: ['qr', '-qr'],
        interval: ['24h', 'all', '1y'],
        start: ['2000-01-01'],
        end: ['2099-01-01'],
        timezone: ['Asia/Tokyo'],
        groupBy: ['link', 'time'],
        granularity: ['minute'],
        limit: ['1000'],
        explain: ['1'],
        model: ['first', 'linear'],
        currency: ['EUR'],
        form: [form.formKey],
        channel: ['direct', '-direct'],
        metric: ['leads'],
        workspaceId: ['1'],
        tabs: ['tagId'],
        share: ['x'],
      }
      const names = new Set([...Object.keys(ClickParameters.shape), ...Object.keys(LeadParameters.shape)])
      for (const name of [...names, ...Object.keys(values)])
        for (const value of values[name] ?? ['-Unknown']) {
          const { status, json, text } = await see(server(), `${path}?${name}=${encodeURIComponent(value)}`)
          const asked = `${name}=${value}`
          expect([asked, [200, 422].includes(status)]).toEqual([asked, true])
          expect([asked, text.includes(other.slug)]).toEqual([asked, status === 422 && name === 'slug'])
          if (status !== 200) continue
          expect([asked, json.data.leads, (json.data.clicks ?? 0) <= 3]).toEqual([asked, null, true])
        }
    })

    quick('narrow on their page', async () => {
      const { ws, own, other, form } = await fillWorkspace(server())
      const { path } = await share(ws, { filters: { linkId: String(own.id) }, interval: '7d', share: {} })
      const cases: [string, number | null][] = [
        ['', 3],
        ['trigger=qr', 1],
        ['referrer=news.example', 1],
        ['referrer=news.example&referrer=forum.example', 1],
        ['referrer=forum.example', 0],
        [`linkId=${other.id}`, 0],
        [`linkId=${own.id},${other.id}`, 3],
        [`slug=${other.slug}`, 0],
        ['class=human', 3],
        ['imported=false', 3],
        ['start=2000-01-01', 3],
        ['interval=24h', 3],
        ['fbclid=abc', 3],
        [`form=${form.formKey}`, null],
      ]
      for (const [query, clicks] of cases)
        expect([query, (await see(server(), `${path}?${query}`)).json.data?.clicks]).toEqual([query, clicks])
      for (const query of ['class=bot', 'end=2001-01-01', 'interval=2d', 'country=US,-BR', 'timezone=Mars'])
        expect([query, (await see(server(), `${path}?${query}`)).status]).toEqual([query, 422])
    })

    quick('have kept parameters among their filters, and narrow by them on their page', async () => {
      const team = await createTeam(server())
      const body = { keptParams: ['aff'] }
      await team.owner.in(team.id).patch('/workspace', body)
      const { slug } = await team.createLink()
      for (const query of ['?aff=ann', '?aff=bob', '']) await server().click(slug + query)
      await server().waitUntilShipped()
      const all = await share(team, { share: { showLeads: true } })
      const own = await share(team, { filters: { 'param.aff': 'ann' }, share: { showLeads: true } })
      const cases: [string, string, number, number | null][] = [
        [all.path, '', 3, 0],
        [all.path, '?param.aff=ann,bob', 2, null],
        [all.path, '?param.aff=-bob', 2, null],
        [own.path, '', 1, null],
        [own.path, '?param.aff=bob', 0, null],
        [own.path, '?param.aff=ann,bob', 1, null],
      ]
      for (const [path, query, clicks, leads] of cases) {
        const { data } = (await see(server(), path + query)).json
        expect([query, data.clicks, data.leads]).toEqual([query, clicks, leads])
      }
      expect((await see(server(), `${own.path}?param.aff=a,-b`)).status).toBe(422)
      for (const name of ['param.', 'param.a b', 'param'])
        expect((await post(team, { filters: { [name]: 'x' } })).json.errors).toHaveProperty([
          `filters.${name}`,
        ])
    })

    test('end their page with the next request', async () => {
      const ws = await server().createWorkspace()
      const soon = new Date(server().now() + 60_000).toISOString()
      const [revoked, deleted, suspended, expiring] = [
        await share(ws, {}),
        await share(ws, {}),
        await share(await server().createWorkspace(), {}),
        await share(ws, { share: { expiresAt: soon } }),
      ]
      const pages = [revoked, deleted, suspended, expiring].map(({ path }) => path)
      const statuses = async () => Promise.all(pages.map(async (path) => (await see(server(), path)).status))
      expect(await statuses()).toEqual([200, 200, 200, 200])
      await patch(ws, revoked.id, { share: null })
      await ws.delete(`/views/${deleted.id}`)
      const { workspace_id } = await server().row('views', { id: suspended.id })
      await server().update('workspaces', { id: workspace_id }, { suspended_at: 1 })
      server().advanceClock(61_000)
      expect(await statuses()).toEqual([404, 404, 404, 404])
      for (const path of ['/s', '/s/x', '/s/AAAAAAAAAAAAAAAAAAAAAA', `${pages[0]}/`, `${pages[0]}x`])
        expect([path, (await see(server(), path)).status]).toEqual([path, 404])
      expect((await server().delete(pages[0] as string)).status).toBe(405)
    })

    quick('ask for their password, and take five tries a minute', async () => {
      const ws = await server().createWorkspace()
      const { id, path } = await share(ws, { share: { password: 'open sesame' } })
      const other = await share(ws, { share: { password: 'open sesame' } })
      const locked = await see(server(), `${path}?country=US`)
      expect([locked.status, locked.json]).toEqual([401, { error: 'This page has a password' }])
      const page = await see(server(), path, { Accept: 'text/html' })
      expect(page.text).toContain('type="password"')
      expect(page.text).not.toContain('Clicks')
      const right = await sendPassword(server(), `${path}?country=US`, 'open sesame')
      expect([right.status, right.headers.get('location')]).toEqual([303, `${path}?country=US`])
      const cookie = right.headers.get('set-cookie') ?? ''
      expect(cookie).toContain(`Path=${path}; `)
      expect(cookie).toContain('HttpOnly')
      const Cookie = cookie.split(';')[0] as string
      expect((await see(server(), path, { ...JSON_ACCEPT, Cookie })).status).toBe(200)
      expect((await see(server(), other.path, { ...JSON_ACCEPT, Cookie })).status).toBe(401)
      const forged = Cookie.replace(/=\d+/, `=${server().now() + 1e9}`)
      expect((await see(server(), path, { ...JSON_ACCEPT, Cookie: forged })).status).toBe(401)
      const tries = []
      for (let i = 0; i < 6; i++)
        tries.push((await sendPassword(server(), path, 'wrong', '192.0.2.9')).status)
      expect(tries).toEqual([403, 403, 403, 403, 403, 429])
      expect((await sendPassword(server(), path, 'open sesame', '192.0.2.9')).status).toBe(429)
      const row = await server().row('views', { id })
      expect(row.share_password_hash).toStartWith('$argon2id$')
      await patch(ws, id, { share: { password: 'another' } })
      expect((await see(server(), path, { ...JSON_ACCEPT, Cookie })).status).toBe(401)
    })

    test('may be framed by the pages that they name', async () => {
      const ws = await server().createWorkspace()
      const embed = ['https://example.com', 'https://*.agency.example']
      const { path } = await share(ws, { embed, share: { password: 'x' } })
      const { headers } = await see(server(), path, { Accept: 'text/html' })
      expect(headers.get('content-security-policy')).toContain(`frame-ancestors ${embed.join(' ')}`)
      expect(headers.get('x-frame-options')).toBeNull()
    })
  },
  { environment: { TRUST_PROXY: '127.0.0.1/32' } },
)

onSqlite('the preview page of a link', (server) => {
  test('shows its clicks only where the link says so', async () => {
    const ws = await server().createWorkspace()
    const shown = await ws.createLink({ publicStats: true })
    const hidden = await ws.createLink()
    const locked = await ws.createLink({
      publicStats: true,
      password: 'x',
      destinationUrl: 'https://secret.example/',
    })
    for (const { slug } of [shown, hidden]) await server().click(slug, { Referer: 'https://news.example/' })
    await server().waitUntilShipped()
    const pages = []
    for (const { slug } of [shown, hidden, locked]) {
      const headers = { Accept: 'text/html', 'User-Agent': BROWSER_USER_AGENT }
      pages.push((await server().call(`/${slug}+`, { headers })).text)
    }
    expect(pages.map((text) => text.includes('Last 30 days'))).toEqual([true, false, true])
    expect(pages[0]).toContain('Clicks <b>1</b>')
    expect(pages[0]).toContain('news.example')
    expect(pages[2]).not.toContain('secret.example')
    await ws.patch(`/links/${shown.id}`, { publicStats: false })
    expect((await server().call(`/${shown.slug}+`)).text).not.toContain('Last 30 days')
  })
})
