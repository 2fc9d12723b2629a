// A workspace's domain answers links, forms and the snippet, and a name that nobody has verified answers nothing: no session,
// key, dashboard or operation is reached under either, by whatever path (docs/adr/0042-hosts.md, 0047-across-domains.md).

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { closeMailers } from '../../server/http/mail/smtp.ts'
import { listRoutes } from '../../server/http/route-table.ts'
import { documentedOperations } from '../api/openapi-document.ts'
import { startMailServer } from '../support/fake-servers/mail-server.ts'
import type { HttpAnswer, HttpCall } from '../support/server/http-call.ts'
import {
  addVerifiedDomain,
  callHost,
  changeDomain,
  putLinkOnDomain,
} from '../support/server/verified-domain.ts'
import { until } from '../support/until.ts'
import { type SignedUpUser, signUpOverHttp } from '../support/users/sign-up.ts'
import {
  BROWSER_USER_AGENT,
  onSqlite,
  startServer,
  type TestServer,
  type TestWorkspace,
} from '../support/world.ts'

setDefaultTimeout(120_000)

/** The dashboard and a domain of a workspace on one site, which browsers call `same-site`. */
const APP = 'app.brand.example'
const OWN = 'go.brand.example'
const UNKNOWN = 'go.stranger.example'
const ALIAS = 'old.brand.example'
const TARGET = 'https://shop.example/'

const mail = await startMailServer()
afterAll(async () => {
  closeMailers()
  await mail.stop()
})

const ENVIRONMENT = {
  TOWPATH_URL: `https://${APP}`,
  TOWPATH_ALIASES: ALIAS,
  SMTP_URL: mail.url(),
  MAIL_FROM: 'go@brand.example',
}

interface House {
  server: TestServer
  own: TestWorkspace
  other: TestWorkspace
  user: SignedUpUser
  ownForm: string
  otherForm: string
  domainId: number
}

async function fill(server: TestServer): Promise<House> {
  const user = await signUpOverHttp(server, { email: 'ada@example.com' })
  const [own, other] = [await server.createWorkspace(), await server.createWorkspace()]
  const domainId = await addVerifiedDomain(server, own.id, OWN)
  const createForm = async ({ api }: TestWorkspace) =>
    (await api('/forms', { method: 'POST', body: { name: 'Contact' } })).json.data.formKey as string
  const [ownForm, otherForm] = [await createForm(own), await createForm(other)]
  return { server, own, other, user, ownForm, otherForm, domainId }
}

const toPath = (path: string) =>
  path
    .replace(/[:{][\w-]+\}?/g, '1')
    .replace('*', 'x')
    .replace('/f/x', '/f/zzzzzzzzzz')

/** Each mounted path, each route behind one, each operation of the API, and some that no map has. */
function listRequests({ app }: TestServer): [method: string, path: string][] {
  const { map, routes, site } = app
  const mounted = map.flatMap(([, methods, path]) =>
    (methods === 'all' ? 'GET, POST' : methods).split(', ').map((method) => [method, toPath(path)] as const),
  )
  const behind = listRoutes(Object.values(routes).flat()).map(
    ({ method, path }) => [method === 'ALL' ? 'GET' : method, toPath(path)] as const,
  )
  const operations = documentedOperations.map(
    ({ method, path }) => [method.toUpperCase(), `/v1${toPath(path).replace(/^\/v1(?=\/)/, '')}`] as const,
  )
  const reserved = [...site.reserved].map((name) => ['GET', `/${name}`] as const)
  const more = [
    '/v1/openapi.json',
    '/app/settings/domains',
    '/app/assets/x.js',
    '/docs/recipes',
    '/api/auth/get-session',
  ]
  const spellings = [
    '/APP',
    '/v1/',
    '/v1//links',
    '/./v1/links',
    '/x/../v1/links',
    '/%76%31/links',
    '//v1/links',
    '/app/',
  ]
  const all = [
    ...mounted,
    ...behind,
    ...operations,
    ...reserved,
    ...[...more, ...spellings].map((path) => ['GET', path] as const),
  ]
  return [
    ...new Map(
      all.map(([method, path]) => [`${method} ${path}`, [method, path] as [string, string]]),
    ).values(),
  ]
}

/** Credentials of every kind: nothing on another host takes one. */
const withCredentials = ({ user, own }: House): Record<string, string> => ({
  Cookie: `${user.cookie}; towpath_session=x`,
  Authorization: `Bearer ${own.key}`,
  'X-Workspace': String(own.id),
  'Sec-Fetch-Site': 'same-origin',
  Accept: 'application/json',
})

const call = (
  { server }: Pick<House, 'server'>,
  host: string,
  [method, path]: [string, string],
  more: HttpCall = {},
) => callHost(server, host, path, { method, ...more })

/** @returns what no answer of another host may have, after the name of its request */
function findLeaks(name: string, { headers, text }: HttpAnswer): string[] {
  const leaks: string[] = []
  if (headers.has('set-cookie')) leaks.push('sets a cookie')
  if (headers.has('access-control-allow-credentials')) leaks.push('takes credentials of other sites')
  if (headers.has('x-ratelimit-limit') || headers.has('www-authenticate')) leaks.push('is the API')
  if (headers.get('strict-transport-security') !== 'max-age=31536000') leaks.push('has no HSTS')
  if (text.includes('"data"') || /towpath_\w+ \d|"openapi"/.test(text))
    leaks.push(`tells ${text.slice(0, 80)}`)
  if (text.includes('/app/assets/')) leaks.push('is the dashboard')
  return leaks.map((leak) => `${name}: ${leak}`)
}

onSqlite(
  'another host than the default domain',
  (server) => {
    let house: House
    beforeAll(async () => {
      house = await fill(server())
    })

    test('answers every path with 404 where nobody has verified it, whoever asks', async () => {
      const found: string[] = []
      const requests = listRequests(server())
      expect(requests.length).toBeGreaterThan(120)
      for (const request of requests) {
        const body = ['GET', 'HEAD'].includes(request[0]) ? undefined : {}
        const answer = await call(house, UNKNOWN, request, { body, headers: withCredentials(house) })
        const name = request.join(' ')
        found.push(...findLeaks(name, answer))
        if (answer.status !== 404 || answer.json?.error !== 'Unknown domain')
          found.push(`${name}: ${answer.status} ${answer.text}`)
        if (answer.headers.get('access-control-allow-origin')) found.push(`${name}: other sites may read it`)
      }
      expect(found).toEqual([])
    })

    test('shows people a page about it, and repeats nothing of the host', async () => {
      const { status, text, headers } = await call(house, UNKNOWN, ['GET', '/x'], {
        headers: { Accept: 'text/html' },
      })
      expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
      expect(text).toContain('Unknown domain')
      expect(text + JSON.stringify([...headers])).not.toContain('stranger')
    })

    test('answers on a workspace’s domain only links, forms, the snippet and files for crawlers', async () => {
      const { paths } = server().app
      const allowed = new Set([
        '/',
        '/f',
        '/f/zzzzzzzzzz',
        '/thanks',
        `/${paths.snippetPath}`,
        `/${paths.intakePath}`,
        `/${paths.intakePath}/1`,
        `/${paths.intakePath}/forms`,
        '/robots.txt',
        '/favicon.ico',
        '/.well-known',
        '/.well-known/x',
        '/f/zzzzzzzzzz/thanks',
        '/f/files/x',
        '/f/logo/x',
      ])
      const found: string[] = []
      for (const request of listRequests(server())) {
        const [method, path] = request
        const body = ['GET', 'HEAD'].includes(method) ? undefined : {}
        const answer = await call(house, OWN, request, { body, headers: withCredentials(house) })
        found.push(...findLeaks(request.join(' '), answer))
        if (allowed.has(path)) continue
        // The answer for an unknown slug, and nothing else.
        const expected = await call(house, OWN, [method, '/no-such-slug'], {
          body,
          headers: { Accept: 'application/json' },
        })
        if (answer.status !== expected.status || answer.text !== expected.text)
          found.push(`${request.join(' ')}: ${answer.status} ${answer.text.slice(0, 100)}`)
      }
      expect(found).toEqual([])
    })

    test('is free there for links whose slugs are paths of the default domain', async () => {
      for (const slug of [
        'app',
        'v1',
        'docs',
        'api',
        'metrics',
        'livez',
        'v1/links',
        'api/auth/get-session',
        'tls/ask',
      ]) {
        await putLinkOnDomain(server(), house.own, OWN, { slug, destinationUrl: TARGET })
        const { status, headers } = await call(house, OWN, ['GET', `/${slug}`], {
          headers: withCredentials(house),
        })
        expect([slug, status, headers.get('location')]).toEqual([slug, 302, TARGET])
      }
      expect((await call(house, APP, ['GET', '/v1/links'], { headers: withCredentials(house) })).status).toBe(
        200,
      )
      expect((await call(house, APP, ['GET', '/metrics'])).text).not.toBe('')
    })

    test('signs nobody in, makes no account, and takes no token', async () => {
      const { email, password } = house.user
      for (const host of [OWN, UNKNOWN])
        for (const [path, body] of [
          ['/sign-in/email', { email, password }],
          ['/sign-up/email', { name: 'Eve', email: 'eve@example.com', password: 'a long password of eve' }],
          ['/request-password-reset', { email }],
          ['/sign-out', {}],
        ] as const) {
          const answer = await call(house, host, ['POST', `/api/auth${path}`], {
            body,
            headers: { Origin: `https://${host}` },
          })
          expect([host, path, answer.status >= 404, answer.headers.getSetCookie()]).toEqual([
            host,
            path,
            true,
            [],
          ])
        }
      expect((await house.user.api('/workspaces')).status).toBe(200)
      expect(mail.mails.filter(({ to }) => to.includes(email))).toEqual([])
    })

    test('is another origin than the dashboard’s: its pages cannot call the API with a cookie', async () => {
      const headers = {
        Cookie: house.user.cookie,
        'X-Workspace': String(house.user.workspaceId),
        Origin: `https://${OWN}`,
      }
      const create = (more: Record<string, string>) =>
        call(house, APP, ['POST', '/v1/tags'], { body: { name: 'forged' }, headers: { ...headers, ...more } })
      for (const site of ['same-site', 'cross-site']) {
        const { status, json } = await create({ 'Sec-Fetch-Site': site })
        expect([site, status, json.error]).toEqual([site, 403, 'Cross-origin request refused'])
      }
      // Over plain http, browsers send `Origin` only. A proxy may pass the visitor's host on beside the one that it asks for.
      expect((await create({})).status).toBe(403)
      expect((await create({ 'X-Forwarded-Host': OWN })).status).toBe(403)
      const signIn = { email: house.user.email, password: house.user.password }
      for (const Origin of [`https://${OWN}`, `https://${UNKNOWN}`, 'null']) {
        const answer = await call(house, APP, ['POST', '/api/auth/sign-in/email'], {
          body: signIn,
          headers: { Origin, 'Sec-Fetch-Site': 'same-site' },
        })
        expect([Origin, answer.status, answer.headers.getSetCookie()]).toEqual([Origin, 403, []])
      }
      // A page there may send such a request without a preflight, but cannot read the answer.
      const read = await call(house, APP, ['GET', '/v1/tags'], {
        headers: { ...headers, 'Sec-Fetch-Site': 'same-site' },
      })
      expect(read.headers.get('access-control-allow-origin')).toBeNull()
      expect(read.text).not.toContain('forged')
    })

    test('reads forms and page views of scripts on any site, with the same CORS as the default domain', async () => {
      const asks = async (host: string, request: [string, string], more: HttpCall = {}) => {
        const { status, headers } = await call(house, host, request, more)
        const cors = [...headers].filter(([name]) => /^access-control|^cross-origin|^vary$/.test(name))
        return JSON.stringify([status, cors.sort()])
      }
      const Origin = 'https://shop.example'
      const preflight = {
        headers: {
          Origin,
          'Access-Control-Request-Method': 'POST',
          'Access-Control-Request-Headers': 'content-type',
        },
      }
      for (const [request, more] of [
        [['OPTIONS', `/f/${house.ownForm}`], preflight],
        [['OPTIONS', '/e'], preflight],
        [['POST', `/f/${house.ownForm}`], { body: { a: 'b' }, headers: { Origin } }],
        [['POST', '/e'], { body: '{}', headers: { Origin } }],
        [['GET', `/e/forms?keys=${house.ownForm}`], { headers: { Origin } }],
        [['GET', '/t.js'], { headers: { Origin } }],
      ] as [[string, string], HttpCall][])
        expect([request, await asks(OWN, request, more)]).toEqual([request, await asks(APP, request, more)])
    })

    test('shows nothing of another workspace', async () => {
      const { other, otherForm } = house
      const { slug } = await other.createLink({ slug: 'of-another' })
      await putLinkOnDomain(server(), other, OWN, {
        slug: 'claimed-before',
        destinationUrl: 'https://evil.example/',
      })
      for (const path of [`/${slug}`, '/claimed-before', `/${slug}+`, `/f/${otherForm}/thanks`]) {
        const { status, headers } = await call(house, OWN, ['GET', path])
        expect([path, status, headers.get('location')]).toEqual([path, 404, null])
      }
      const sent = await call(house, OWN, ['POST', `/f/${otherForm}`], {
        body: { a: 'b', _next: 'https://evil.example/' },
      })
      expect([sent.status, sent.json]).toEqual([404, { error: 'Form not found' }])
      const page = await call(house, OWN, ['GET', `/f/${otherForm}`], { headers: { Accept: 'text/html' } })
      expect(page.text).not.toContain(otherForm)
    })

    test('is read from the request by one rule: no header of a stranger changes it', async () => {
      const forwarded = (host: string) => ({
        'X-Forwarded-Host': host,
        'X-Host': host,
        'X-Original-Host': host,
        Forwarded: `host=${host}`,
        Accept: 'application/json',
      })
      const status = async (host: string, path: string, headers: Record<string, string>) =>
        (await call(house, host, ['GET', path], { headers })).status
      expect(await status(UNKNOWN, '/livez', forwarded(APP))).toBe(404)
      expect(await status(OWN, '/v1/openapi.json', forwarded(APP))).toBe(404)
      expect(await status(APP, '/v1/openapi.json', forwarded(OWN))).toBe(200)
      expect(await status(APP, '/v1/openapi.json', forwarded(UNKNOWN))).toBe(200)
      expect(await status(`${OWN}:8443`, '/v1/openapi.json', {})).toBe(404)
      expect(await status(`${OWN.toUpperCase()}.`, '/v1/openapi.json', {})).toBe(404)
      expect(await status(`${APP}.`, '/v1/openapi.json', {})).toBe(200)
      for (const host of [`${APP}.${UNKNOWN}`, `x${APP}`, `${UNKNOWN}:443`, `www.${OWN}`])
        expect([host, await status(host, '/v1/openapi.json', {})]).toEqual([host, 404])
      for (const host of [
        `${APP}@${UNKNOWN}`,
        `${UNKNOWN}/${APP}`,
        `${UNKNOWN}#${APP}`,
        `${APP} ${UNKNOWN}`,
        `${APP}, ${OWN}`,
      ])
        expect([host, await status(host, '/v1/openapi.json', {})]).toEqual([host, 400])
    })

    test('is in no answer that a cache may keep', async () => {
      const found: string[] = []
      for (const host of [OWN, `${OWN}:8443`, `${ALIAS}:1`, UNKNOWN, `${APP}:8443`])
        for (const request of listRequests(server()).filter(([method]) => method === 'GET')) {
          const { headers, text } = await call(house, host, request)
          const cache = headers.get('cache-control') ?? ''
          const isPrivate = /no-store|private|no-cache/.test(cache)
          const name = `${host} ${request.join(' ')}`
          const said = (text + JSON.stringify([...headers])).toLowerCase()
          if (!isPrivate && said.includes(host))
            found.push(`${name}: says its host, with ${cache || 'no Cache-Control'}`)
          if (/:(8443|1)\b/.test(host) && said.includes(host))
            found.push(`${name}: says a port that a stranger chose`)
        }
      expect(found).toEqual([])
    })

    test('never is in a mail', async () => {
      const { email } = house.user
      const forwarded = { 'X-Forwarded-Host': OWN, Origin: `https://${APP}` }
      for (const host of [ALIAS, '127.0.0.1', `${APP}:8443`, APP]) {
        await call(house, host, ['POST', '/api/auth/request-password-reset'], {
          body: { email },
          headers: forwarded,
        })
        const invited = await call(house, host, ['POST', '/v1/invitations'], {
          body: { email: `guest-${host.length}@example.com`, role: 'member' },
          headers: {
            Cookie: house.user.cookie,
            'X-Workspace': String(house.user.workspaceId),
            'Sec-Fetch-Site': 'same-origin',
            ...forwarded,
          },
        })
        expect([host, invited.status]).toEqual([host, 201])
      }
      const mails = await until('the mails', () => (mail.mails.length >= 5 ? mail.mails : undefined))
      for (const { parsed } of mails) {
        const links = (parsed.text ?? '').match(/https?:\/\/[\w.:-]+\w/g) ?? []
        expect(new Set(links)).toEqual(new Set([`https://${APP}`]))
      }
    })

    test('makes no metric, whatever strangers write into it', async () => {
      const count = async () => (await call(house, APP, ['GET', '/metrics'])).text.split('\n').length
      let strangers = 0
      const countMadeBy300 = async () => {
        const before = await count()
        for (let n = 0; n < 300; n++, strangers++)
          await call(house, `${strangers}.${UNKNOWN}`, ['GET', `/x${strangers}`])
        return (await count()) - before
      }
      await call(house, UNKNOWN, ['GET', '/x'])
      await call(house, OWN, ['GET', '/x'])
      // Some metrics come once their value is known, which may be in between. A metric of strangers would come each time.
      await until('300 strangers who make no metric', async () => (await countMadeBy300()) === 0)
      const text = (await call(house, APP, ['GET', '/metrics'])).text
      expect(/stranger\.example|go\.brand/.test(text)).toBe(false)
    })

    test('stops with the domain at once: links, forms and the snippet', async () => {
      await putLinkOnDomain(server(), house.own, OWN, { slug: 'last', destinationUrl: TARGET })
      const statuses = () =>
        Promise.all(
          ['/last', '/', '/t.js', '/thanks', '/robots.txt', `/e/forms?keys=${house.ownForm}`].map(
            async (path) => (await call(house, OWN, ['GET', path])).status,
          ),
        )
      expect(await statuses()).toEqual([302, 200, 200, 200, 200, 200])
      await changeDomain(server(), house.domainId, { verified_at: null })
      expect(new Set(await statuses())).toEqual(new Set([404]))
      await changeDomain(server(), house.domainId, { verified_at: 1 })
      expect(await statuses()).toEqual([302, 200, 200, 200, 200, 200])
    })
  },
  { environment: ENVIRONMENT },
)

describe('behind a proxy that is trusted', () => {
  let server: TestServer
  let house: House
  beforeAll(async () => {
    server = await startServer('sqlite', { environment: { ...ENVIRONMENT, TRUST_PROXY: '127.0.0.1' } })
    house = await fill(server)
    await putLinkOnDomain(server, house.own, OWN, { slug: 'proxied', destinationUrl: TARGET })
  })
  afterAll(() => server?.close())

  test('the host that the proxy was asked for decides', async () => {
    const ask = (forwarded: string, path: string, headers = {}) =>
      server.call(path, {
        headers: {
          Host: APP,
          'X-Forwarded-Host': forwarded,
          'User-Agent': BROWSER_USER_AGENT,
          Accept: 'application/json',
          ...headers,
        },
      })
    expect((await ask(OWN, '/proxied')).headers.get('location')).toBe(TARGET)
    for (const path of ['/v1/links', '/app', '/metrics', '/livez', '/api/auth/get-session', '/docs'])
      for (const forwarded of [OWN, UNKNOWN]) {
        const answer = await ask(forwarded, path, withCredentials(house))
        expect([forwarded, path, answer.status]).toEqual([forwarded, path, 404])
        expect(findLeaks(path, answer)).toEqual([])
      }
    expect((await ask(APP, '/v1/openapi.json')).status).toBe(200)
    const page = await ask(OWN, `/f/${house.otherForm}/thanks`)
    expect(page.status).toBe(404)
  })

  test('a page on a workspace’s domain does not become one of the dashboard by its headers', async () => {
    const answer = await server.call('/v1/tags', {
      method: 'POST',
      body: { name: 'forged' },
      headers: {
        Host: OWN,
        'X-Forwarded-Host': APP,
        Origin: `https://${OWN}`,
        Cookie: house.user.cookie,
        'X-Workspace': String(house.user.workspaceId),
      },
    })
    expect([answer.status, answer.json.error]).toEqual([403, 'Cross-origin request refused'])
  })
})
