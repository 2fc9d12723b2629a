// Suspension by the operator on the command line: it takes effect within seconds, beside a running server, and
// everything comes back whole.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { expectVisitorPage, readRecordedHits } from '../../server/features/redirect/redirect.fixture.ts'
import { SCRIPT_HEADERS } from '../support/form-requests.ts'
import { openShell } from '../support/processes/command-shell.ts'
import { retryWhile503 } from '../support/server/retry-503.ts'
import { quick } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { toCookieHeader } from '../support/users/sign-up.ts'
import { createSignedInUser, createTeam } from '../support/users/signed-in-user.ts'
import { onBothEngines, onSqlite, type TestServer } from '../support/world.ts'

setDefaultTimeout(120_000)

/** Runs commands beside the server. A command that succeeds prints JSON. */
function openCommands(server: () => TestServer) {
  let shell: ReturnType<typeof openShell>
  beforeAll(() => {
    shell = openShell({
      DATA_DIR: server().dataDir,
      DATABASE_URL: server().databaseUrl,
      TOWPATH_URL: server().origin,
    })
  })
  afterAll(() => shell?.end())
  return {
    run: (...words: string[]) => shell.run(...words),
    async get(...words: string[]) {
      const { code, out, err } = await shell.run(...words)
      expect([code, err.replace(/^Data directory: .*\n/, '')]).toEqual([0, ''])
      return JSON.parse(out)
    },
  }
}

/** The command is another process: a server that runs must follow it within a few seconds. */
const untilClicked = (server: TestServer, slug: string, status: number) =>
  until(`/${slug} answers ${status}`, async () => (await server.click(slug)).status === status, 10_000)

onBothEngines('A suspended link', (server) => {
  const commands = openCommands(server)

  quick('answers 451 within seconds although the cache has it, and shows no destination', async () => {
    const ws = await server().createWorkspace()
    const { id, slug, shortUrl } = await ws.createLink({ destinationUrl: 'https://phish.example/login' })
    expect((await server().click(slug)).status).toBe(302)
    expect(await commands.get('link', 'suspend', `${shortUrl}+?a=1`, '--reason', 'Phishing')).toEqual({
      id,
      shortUrl,
      destinationUrl: 'https://phish.example/login',
      workspaceId: ws.id,
      suspended: true,
      reason: 'Phishing',
    })
    await untilClicked(server(), slug, 451)
    for (const path of [slug, `${slug}+`, `${slug}/`, `${slug}?x=1`]) {
      const answer = await server().click(path)
      expect([path, answer.status]).toEqual([path, 451])
      expectVisitorPage(answer)
      expect(answer.text).toContain('<h1>Link suspended</h1>')
      expect(answer.text).not.toMatch(/phish\.example|Phishing/)
      expect(answer.headers.get('location')).toBeNull()
      expect(answer.headers.get('link')).toBe(`<${server().origin}>; rel="blocked-by"`)
    }
    expect((await server().call(`/${slug}`, { method: 'HEAD' })).status).toBe(451)
    const json = await server().click(slug, { Accept: 'application/json' })
    expect([json.status, json.json]).toEqual([451, { error: 'Link suspended' }])

    expect(await commands.get('link', 'restore', slug)).toMatchObject({ id, suspended: false, reason: null })
    await untilClicked(server(), slug, 302)
  })

  test('shows the suspension and its reason to its owner, who cannot end it', async () => {
    const ws = await server().createWorkspace()
    const { id, slug } = await ws.createLink({})
    expect((await ws.api(`/links/${id}`)).json.data).toMatchObject({
      suspended: false,
      suspendedReason: null,
    })
    await commands.get('link', 'suspend', slug, '--reason', 'Malware')
    const shown = (await ws.api(`/links/${id}`)).json.data
    expect(shown).toMatchObject({ suspended: true, suspendedReason: 'Malware' })
    expect((await ws.api(`/links/${id}/resolve`)).json.data).toEqual({
      rule: 'suspended',
      status: 451,
      destinationUrl: null,
    })
    const change = (body: object) => ws.api(`/links/${id}`, { method: 'PATCH', body })
    for (const field of ['suspended', 'suspendedReason'])
      expect((await change({ [field]: null })).json.errors).toHaveProperty(field)
    // A link with a new slug, or a new link with the old slug, would end the suspension.
    const sentence = /^The operator of this server has suspended this link: it keeps its slug/
    expect(await change({ slug: `free-${id}` })).toMatchObject({
      status: 403,
      json: { error: expect.stringMatching(sentence) },
    })
    expect((await ws.api(`/links/${id}`, { method: 'DELETE' })).status).toBe(403)
    expect((await ws.api(`/links/bulk?ids=${id}`, { method: 'DELETE' })).status).toBe(403)
    expect((await change({ title: 'Mine', destinationUrl: 'https://example.com/better' })).status).toBe(200)
    await untilClicked(server(), slug, 451)
    await commands.get('link', 'restore', slug)
    expect((await ws.api(`/links/${id}`, { method: 'DELETE' })).status).toBe(200)
  })

  test('keeps its workspace: a new workspace could have a new link with its slug', async () => {
    const team = await createTeam(server())
    const { slug } = await team.createLink({})
    await commands.get('link', 'suspend', slug)
    const remove = () => team.owner.apiIn(team.id, '/workspace?confirm=Test', { method: 'DELETE' })
    expect(await remove()).toMatchObject({
      status: 403,
      json: { error: expect.stringContaining(`suspended the link /${slug}`) },
    })
    await commands.get('link', 'restore', slug)
    expect((await remove()).status).toBe(200)
  })

  test('comes before every other rule of the link, and takes no password', async () => {
    const ws = await server().createWorkspace()
    const PAST = '2020-01-01T00:00:00.000Z'
    const links = await Promise.all([
      ws.createLink({ archived: true }),
      ws.createLink({ expiresAt: PAST, expiredUrl: 'https://example.com/over' }),
      ws.createLink({ password: 'hunter2' }),
      ws.createLink({ geoTargeting: { DE: 'https://example.com/de' }, clickLimit: 5 }),
    ])
    for (const { slug } of links) await commands.get('link', 'suspend', slug)
    for (const { slug } of links) await untilClicked(server(), slug, 451)
    const posted = await server().call(`/${links[2].slug}`, {
      method: 'POST',
      body: 'password=hunter2',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    })
    expect([posted.status, posted.headers.get('location')]).toEqual([451, null])
  })

  test('counts no click: its visitors are recorded as those of a closed link', async () => {
    const ws = await server().createWorkspace()
    const { id, slug } = await ws.createLink({})
    await commands.get('link', 'suspend', slug)
    await untilClicked(server(), slug, 451)
    await server().click(slug)
    const hits = (await readRecordedHits(server())).filter(({ linkId }) => linkId === id)
    const afterwards = hits.slice(hits.findIndex(({ outcome }) => outcome !== 'redirect'))
    expect(afterwards.length).toBeGreaterThan(0)
    expect(new Set(afterwards.map(({ outcome }) => outcome))).toEqual(new Set(['expired']))
    const { json } = await retryWhile503(() => ws.api(`/analytics/clicks?linkId=${id}&class=all`))
    expect(json.data.clicks).toBe(hits.length - afterwards.length)
  })

  test('is named by id, slug or short URL, and never by guessing', async () => {
    const ws = await server().createWorkspace()
    const { id, slug } = await ws.createLink({ slug: `Käse-${ws.id}` })
    for (const name of [String(id), `id:${id}`, slug, `/${slug}`, `${server().origin}/${encodeURI(slug)}/`])
      expect(await commands.get('link', 'suspend', name)).toMatchObject({ id })
    const other = await ws.createLink({ slug: String(id) })
    expect(await commands.run('link', 'suspend', String(id))).toMatchObject({
      code: 1,
      err: `There is a link with the id ${id} and one with the slug ${id}: write id:${id} or /${id}.\n`,
    })
    expect(await commands.get('link', 'suspend', `/${id}`)).toMatchObject({ id: other.id })
    expect(await commands.get('link', 'suspend', `id:${id}`)).toMatchObject({ id })
    for (const [words, err] of [
      [['link', 'suspend', 'nothing-here'], 'Link not found'],
      [['link', 'restore', '99999999'], 'Link not found'],
      [['link', 'suspend'], 'A link is named by its id, its slug or its short URL.'],
      [
        ['link', 'suspend', 'https://elsewhere.example/x'],
        'https://elsewhere.example/x is not a short URL of this server',
      ],
      [['link', 'suspend', slug, '--reason', ' '], '--reason must be 1 to 500 characters.'],
      [['workspace', 'suspend', '999999'], 'Workspace not found'],
      [['user', 'suspend', 'nobody@example.com'], 'User not found'],
    ] as const) {
      const result = await commands.run(...words)
      expect([words, result.code, result.out]).toEqual([words, 1, ''])
      expect(result.err).toStartWith(err)
    }
  })
})

onSqlite(
  'A suspended link without the fast path',
  (server) => {
    const commands = openCommands(server)

    test('answers 451 within seconds', async () => {
      const ws = await server().createWorkspace()
      const { slug } = await ws.createLink({})
      expect((await server().click(slug)).status).toBe(302)
      await commands.get('link', 'suspend', slug)
      await untilClicked(server(), slug, 451)
    })
  },
  { environment: { FAST_PATH: 'off' } },
)

onBothEngines('A suspended workspace', (server) => {
  const commands = openCommands(server)

  test('stops its links and forms, refuses its keys and members, and loses nothing', async () => {
    const team = await createTeam(server())
    const other = await server().createWorkspace()
    const [mine, theirs] = [await team.createLink({}), await other.createLink({})]
    const form = (await team.api('/forms', { method: 'POST', body: { name: 'Contact' } })).json.data
    const send = (email: string) =>
      server().call(`/f/${form.formKey}`, { method: 'POST', body: { email }, headers: SCRIPT_HEADERS })
    expect((await send('before@example.com')).status).toBe(200)
    for (const { slug } of [mine, theirs]) expect((await server().click(slug)).status).toBe(302)

    const words = ['workspace', 'suspend', String(team.id), '--reason', 'Spam']
    expect(await commands.get(...words)).toMatchObject({ id: team.id, suspended: true, reason: 'Spam' })
    const refused = {
      status: 403,
      json: { error: 'The operator of this server has suspended this workspace: Spam' },
    }
    expect(await team.api('/links')).toMatchObject(refused)
    expect(await team.owner.apiIn(team.id, '/links')).toMatchObject(refused)
    expect(
      await team.api('/links', { method: 'POST', body: { destinationUrl: 'https://a.example' } }),
    ).toMatchObject(refused)
    await untilClicked(server(), mine.slug, 451)
    expect((await server().click(theirs.slug)).status).toBe(302)
    expect((await other.api('/links')).status).toBe(200)
    // Nobody gets a success for a submission that is not stored.
    expect(await send('during@example.com')).toMatchObject({
      status: 403,
      json: { error: 'Form is suspended by the operator of this server' },
    })
    const info = await server().call(`/e/forms?keys=${form.formKey}`)
    expect(info.json).toEqual({ forms: {} })

    await commands.get('workspace', 'restore', String(team.id))
    await untilClicked(server(), mine.slug, 302)
    expect((await send('after@example.com')).status).toBe(200)
    const { data } = (await team.api(`/forms/${form.formKey}/submissions`)).json
    expect(data.map(({ email }: { email: string }) => email).sort()).toEqual([
      'after@example.com',
      'before@example.com',
    ])
    expect((await team.owner.apiIn(team.id, '/links')).status).toBe(200)
  })
})

onBothEngines('A suspended person', (server) => {
  const commands = openCommands(server)

  test('loses every session and cannot sign in; the keys of their workspace go on', async () => {
    const ws = await server().createWorkspace()
    const email = `mallory-${ws.id}@example.com`
    const { url } = await commands.get('user', 'create', email, '--workspace', String(ws.id))
    const token = new URL(url).searchParams.get('token')
    const post = (path: string, body: object) => server().call(`/api/auth${path}`, { method: 'POST', body })
    const password = 'seven quiet herons at the lock'
    expect((await post('/reset-password', { token, newPassword: password })).status).toBe(200)
    const signedIn = await post('/sign-in/email', { email, password })
    const headers = { Cookie: toCookieHeader(signedIn) }
    expect((await server().call('/v1/workspaces', { headers })).status).toBe(200)

    expect(await commands.get('user', 'suspend', email.toUpperCase(), '--reason', 'Fraud')).toMatchObject({
      email,
      suspended: true,
      reason: 'Fraud',
      sessionsEnded: 1,
    })
    expect((await server().call('/v1/workspaces', { headers })).status).toBe(401)
    const refused = await post('/sign-in/email', { email, password })
    expect(refused).toMatchObject({
      status: 403,
      json: { error: 'The operator of this server has suspended this account: Fraud' },
    })
    expect(refused.headers.getSetCookie().filter((cookie) => !/max-age=0/i.test(cookie))).toEqual([])
    // Who does not know the password learns nothing.
    expect((await post('/sign-in/email', { email, password: 'wrong password 1' })).status).toBe(401)
    expect((await ws.api('/links')).status).toBe(200)

    await commands.get('user', 'restore', email)
    expect((await post('/sign-in/email', { email, password })).status).toBe(200)
  })

  test('has no use of a session that was not ended', async () => {
    const person = await createSignedInUser(server(), 'Eve')
    expect((await person.api('/workspaces')).status).toBe(200)
    const suspend = (suspended_at: number | null) =>
      server().app.db.write((connection) =>
        connection.updateTable('users').set({ suspended_at }).where('id', '=', person.id).execute(),
      )
    await suspend(1)
    expect((await person.api('/workspaces')).status).toBe(401)
    await suspend(null)
    expect((await person.api('/workspaces')).status).toBe(200)
  })
})
