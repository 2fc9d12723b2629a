import { expect, test } from 'bun:test'
import { BROWSER_USER_AGENT, onBothEngines } from '../../../tests/support/world.ts'
import { useCheapHashes } from '../../lib/crypto/cheap-hashes.fixture.ts'

const OVER = 'https://example.com/over'
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded', 'User-Agent': BROWSER_USER_AGENT }

useCheapHashes()

onBothEngines.quick('A link with a click limit', (server) => {
  const statuses = async (slug: string, times: number) => {
    const seen: number[] = []
    for (let n = 0; n < times; n++) seen.push((await server().click(slug)).status)
    return seen
  }
  const used = async (id: number) => (await server().row('links', { id })).clicks_used

  test('redirects exactly that many of many parallel visitors', async () => {
    const ws = await server().createWorkspace()
    const { id, slug } = await ws.createLink({ clickLimit: 10 })
    const answers = await Promise.all(Array.from({ length: 50 }, () => server().click(slug)))
    const count = (status: number) => answers.filter((answer) => answer.status === status).length
    expect([count(302), count(410)]).toEqual([10, 40])
    expect((await server().click(slug)).status).toBe(410)
    await server().waitUntilShipped()
    expect((await ws.api(`/links/${id}`)).json.data.clicks).toBe(10)
    expect(await used(id)).toBe(10)
  })

  test('redirects all later visitors to its expiredUrl', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({ clickLimit: 2, expiredUrl: OVER, redirectStatus: 308 })
    const answers = await Promise.all(Array.from({ length: 5 }, () => server().click(slug)))
    const went = answers.map(({ status, headers }) => `${status} ${headers.get('location')}`).sort()
    expect(went).toEqual([...Array(3).fill(`302 ${OVER}`), ...Array(2).fill('308 https://example.com/')])
  })

  test('is used up by a person in an app whose user agent has a word of robots', async () => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink({ clickLimit: 1 })
    const wechat =
      'Mozilla/5.0 (Linux; Android 12; LGE-AN10; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/86.0 Mobile Safari/537.36 MicroMessenger/8.0.24.2180 WeChat/arm64 Process/tools'
    const open = async () => (await server().call(`/${slug}`, { headers: { 'User-Agent': wechat } })).status
    expect([await open(), await open()]).toEqual([302, 410])
  })

  test.each([
    ['robots', { headers: { 'User-Agent': 'Slackbot-LinkExpanding 1.0' } }, ''],
    ['programs', { headers: { 'User-Agent': 'curl/8.5.0' } }, ''],
    [
      'referrer spam',
      { headers: { 'User-Agent': BROWSER_USER_AGENT, Referer: 'https://www.0n-line.tv/' } },
      '',
    ],
    ['prefetching', { headers: { 'User-Agent': BROWSER_USER_AGENT, 'Sec-Purpose': 'prefetch' } }, ''],
    ['HEAD', { method: 'HEAD', headers: { 'User-Agent': BROWSER_USER_AGENT } }, ''],
    ['previews', { headers: { 'User-Agent': BROWSER_USER_AGENT } }, '+'],
    [
      'links in Office',
      { headers: { 'User-Agent': 'Mozilla/4.0 (compatible; ms-office; MSOffice 16)' } },
      '',
    ],
  ])('is not used up by %s, which gets the same answer as a person', async (_, call, suffix) => {
    const ws = await server().createWorkspace()
    const { id, slug } = await ws.createLink({ clickLimit: 1 })
    const open = suffix === '' ? 302 : 200
    for (let n = 0; n < 3; n++) expect((await server().call(`/${slug}${suffix}`, call)).status).toBe(open)
    expect(await used(id)).toBe(0)
    expect(await statuses(slug, 2)).toEqual([302, 410])
    expect((await server().call(`/${slug}${suffix}`, call)).status).toBe(410)
  })

  test('is not used up by the password page or a wrong password, and is checked before both', async () => {
    const ws = await server().createWorkspace()
    const { id, slug } = await ws.createLink({ clickLimit: 1, password: 'x' })
    const submit = (password: string) => server().post(`/${slug}`, `password=${password}`, FORM)
    expect(await statuses(slug, 2)).toEqual([200, 200])
    expect((await submit('y')).status).toBe(403)
    expect(await used(id)).toBe(0)
    expect((await submit('x')).status).toBe(303)
    expect(await used(id)).toBe(1)
    expect((await server().click(slug)).status).toBe(410)
    expect((await submit('x')).status).toBe(410)
    expect((await submit('y')).status).toBe(410)
  })

  test('is not used up before the link starts or after it expires', async () => {
    const ws = await server().createWorkspace()
    const early = await ws.createLink({ clickLimit: 1, startsAt: '2100-01-01T00:00:00.000Z' })
    const late = await ws.createLink({ clickLimit: 1, expiresAt: '2020-01-01T00:00:00.000Z' })
    expect(await statuses(early.slug, 2)).toEqual([404, 404])
    expect(await statuses(late.slug, 2)).toEqual([410, 410])
    expect([await used(early.id), await used(late.id)]).toEqual([0, 0])
  })

  test('counts earlier clicks when it is set later', async () => {
    const ws = await server().createWorkspace()
    const { id, slug } = await ws.createLink({})
    expect(await statuses(slug, 3)).toEqual([302, 302, 302])
    await server().waitUntilShipped()
    const limit = (clickLimit: number | null) => ws.patch(`/links/${id}`, { clickLimit })
    await limit(5)
    expect(await statuses(slug, 3)).toEqual([302, 302, 410])
    await limit(6)
    expect(await statuses(slug, 2)).toEqual([302, 410])
    await limit(2)
    expect(await statuses(slug, 1)).toEqual([410])
    await limit(null)
    expect(await statuses(slug, 2)).toEqual([302, 302])
  })

  test('redirects everybody once another process removes the limit, even from a stale cache', async () => {
    const ws = await server().createWorkspace()
    const { id, slug } = await ws.createLink({ clickLimit: 1 })
    expect(await statuses(slug, 2)).toEqual([302, 410])
    // Written directly to the rows, so that this process does not learn of it.
    const lift = { click_limit: null }
    await server().app.db.write((connection) =>
      connection.updateTable('links').set(lift).where('id', '=', id).execute(),
    )
    expect(await statuses(slug, 2)).toEqual([302, 302])
    expect((await server().call(`/${slug}`, { method: 'HEAD' })).status).toBe(302)
  })
})
