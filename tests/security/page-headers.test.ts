// Every path of the route map under hostile heads, methods and spellings: no fault of ours, nothing of the request in the
// answer, no redirect to elsewhere, and the headers that keep a browser from misusing an answer.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { sendRawRequest } from '../../server/features/redirect/redirect.fixture.ts'
import { listRoutes } from '../../server/http/route-table.ts'
import { quick } from '../support/suite.ts'
import { onSqlite, type TestServer } from '../support/world.ts'

setDefaultTimeout(120_000)

const EVIL = 'evil.example'
const CANARY = 'cAnArY-of-the-request'

interface RawAnswer {
  status: number
  headers: Headers
  body: string
  /** Head and body. */
  text: string
}

async function send(server: TestServer, line: string, headers: string[]): Promise<RawAnswer> {
  const head = [`${line}`, ...headers, 'Connection: close'].join('\r\n')
  const { status, text } = await sendRawRequest(server, `${head}\r\n\r\n`)
  const end = text.indexOf('\r\n\r\n')
  const fields = text.slice(0, end).split('\r\n').slice(1)
  return {
    status,
    headers: new Headers(fields.map((field) => field.split(/:\s*(.*)/s).slice(0, 2) as [string, string])),
    body: text.slice(end + 4),
    text,
  }
}

/** One path for each entry of the route map, one for each route behind it, a link, and a form. */
async function listPaths(server: TestServer): Promise<string[]> {
  const ws = await server.createWorkspace()
  const { slug } = await ws.createLink({})
  const locked = await ws.createLink({ password: 'x' })
  const { formKey } = (await ws.api('/forms', { method: 'POST', body: { name: 'a' } })).json.data
  const { map, routes, site } = server.app
  const mounted = map.map(([, , path]) =>
    path.replace('/:slug', `/${slug}`).replace(':file', 'x').replace('*', 'x'),
  )
  const behind = listRoutes([...routes.pages, ...routes.rest, ...routes.signIn]).map(({ path }) =>
    path.replace(/[:{]\w+\}?/g, '1').replace('*', 'x'),
  )
  const extra = [`/${slug}+`, `/${slug}/`, `/${locked.slug}`, `/f/${formKey}`, '/nothing-here', '/a/b/c']
  return [...new Set([...mounted, ...behind, ...extra, ...[...site.reserved].map((name) => `/${name}`)])]
}

/** @returns what is wrong with an answer, after the name of its request */
function findProblems(name: string, { status, headers, body, text }: RawAnswer): string[] {
  const problems: string[] = []
  // 505: the version of HTTP is not supported. 0: the connection is ended, as for a method that nobody knows.
  if (status >= 500 && status !== 505) problems.push(`status ${status}`)
  if (/^\s+at .+:\d+:\d+\)?$|node_modules|\/server\/[\w/-]+\.ts/m.test(body)) problems.push('a stack')
  if (text.includes(EVIL)) problems.push(`repeats the host: ${text.slice(0, 500)}`)
  if (text.includes(CANARY)) problems.push('repeats the request')
  if (headers.has('server') || headers.has('x-powered-by')) problems.push('names its software')
  const type = headers.get('content-type') ?? ''
  if (body !== '' && headers.get('x-content-type-options') !== 'nosniff') problems.push('no nosniff')
  if (/html/.test(type)) {
    const policy = headers.get('content-security-policy') ?? ''
    for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"])
      if (!policy.includes(part)) problems.push(`no ${part}`)
    if (!/^'(self|none)'$/.test(/script-src ([^;]*)/.exec(policy)?.[1] ?? "'none'"))
      problems.push('unsafe scripts')
    if (!/^(no-referrer|strict-origin-when-cross-origin)$/.test(headers.get('referrer-policy') ?? ''))
      problems.push('no Referrer-Policy')
    if (type.toLowerCase() !== 'text/html; charset=utf-8') problems.push(`type ${type}`)
    if (/<script(?![^>]*\bsrc=)/.test(body)) problems.push('an inline script')
  }
  const location = headers.get('location')
  if (location !== null && !/^\/(?![/\\])|^https:\/\/example\.com\/$/.test(location))
    problems.push(`leads to ${location}`)
  return problems.map((problem) => `${name}: ${problem}`)
}

const HEADS: Record<string, string[]> = {
  plain: ['Host: localhost'],
  'another host': [`Host: ${EVIL}`],
  'forwarded hosts': [
    'Host: localhost',
    `X-Forwarded-Host: ${EVIL}`,
    `X-Forwarded-Server: ${EVIL}`,
    `X-Host: ${EVIL}`,
    `Forwarded: for=1.2.3.4;host=${EVIL};proto=https`,
    'X-Forwarded-Proto: javascript',
    `X-Forwarded-Prefix: //${EVIL}`,
    'X-Forwarded-Port: 99999',
    'X-Forwarded-For: 127.0.0.1, <script>',
  ],
  'another path': [
    'Host: localhost',
    `X-Original-URL: /${CANARY}`,
    `X-Rewrite-URL: /${CANARY}`,
    `Referer: https://${EVIL}/${CANARY}`,
    `Origin: https://${EVIL}`,
  ],
  'a browser': ['Host: localhost', 'Accept: text/html', `Cookie: towpath_session=${CANARY}; a=b`],
  'a program': ['Host: localhost', 'Accept: application/json', `Authorization: Bearer ${CANARY}`],
  'a broken host': [`Host: "><svg/onload=${CANARY}>`],
  'an empty host': ['Host:'],
}

const METHODS = ['HEAD', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'PATCH', 'DELETE', 'BREW', 'get', 'GET\t']

/** Each of them is a path to something else in some server. */
const TRICKS = String.raw`
  // //${EVIL}/ //${EVIL}/.. //${EVIL}/%2e%2e /\${EVIL} /%5c${EVIL} /app//${EVIL} /${EVIL}/..//
  /..;/v1/links /;/v1/links /v1;x=1/links /v1%2flinks /v1/%2e%2e/v1/links /%2e%2e/%2e%2e/etc/passwd
  /../../etc/passwd /docs/..%2f..%2fpackage.json /docs/%2e%2e/%2e%2e/package.json /docs/..\..\package.json
  /app/assets/..%2f..%2fpackage.json /app/assets/../../../package.json /e/..%2f..%2ftowpath.db
  /e/%2e%2e%2fsecret /e/t-0000000000000000.js%00.png /robots.txt/ /robots.txt%00 /% /%ff /%00
  /%0d%0aSet-Cookie:%20a=b /%e2%80%ae /. /.. /... /? /# /* * /constructor /__proto__ /v1/__proto__
  /v1/links/constructor /api/auth/__proto__ /api/auth/callback/oidc /api/auth/sign-in/../get-session
  http://${EVIL}/ http://${EVIL}/v1/links http://${EVIL}:0/app https://${EVIL}
`
  .trim()
  .split(/\s+/)

onSqlite('Every path', (server) => {
  quick('answers hostile heads without a fault, and repeats nothing of them', async () => {
    const problems: string[] = []
    const paths = await listPaths(server())
    expect(paths.length).toBeGreaterThan(60)
    for (const path of paths)
      for (const [name, headers] of Object.entries(HEADS)) {
        const answer = await send(server(), `GET ${path}?a=${CANARY} HTTP/1.1`, headers)
        problems.push(...findProblems(`GET ${path} with ${name}`, answer))
      }
    expect(problems).toEqual([])
  })

  quick('answers other methods without a fault, and echoes no request', async () => {
    const problems: string[] = []
    for (const path of await listPaths(server()))
      for (const method of METHODS) {
        const headers = ['Host: localhost', `X-Secret: ${CANARY}`, `Cookie: towpath_session=${CANARY}`]
        const answer = await send(server(), `${method} ${path} HTTP/1.1`, headers)
        problems.push(...findProblems(`${method} ${path}`, answer))
        if (method === 'TRACE' && answer.status === 200) problems.push(`TRACE ${path}: answered`)
      }
    expect(problems).toEqual([])
  })

  test('takes its method from the request line only', async () => {
    const ws = await server().createWorkspace()
    const { id } = await ws.createLink({})
    for (const name of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']) {
      const answer = await send(server(), `GET /v1/links/${id}?_method=DELETE HTTP/1.1`, [
        'Host: localhost',
        `Authorization: Bearer ${ws.key}`,
        `${name}: DELETE`,
      ])
      expect([name, answer.status]).toEqual([name, 422])
    }
    expect((await ws.api(`/links/${id}`)).status).toBe(200)
  })

  test('is not reached by another spelling of a path', async () => {
    const problems: string[] = []
    for (const target of TRICKS)
      for (const method of ['GET', 'POST']) {
        const headers = ['Host: localhost', ...(method === 'POST' ? ['Content-Length: 0'] : [])]
        const answer = await send(server(), `${method} ${target} HTTP/1.1`, headers)
        problems.push(...findProblems(`${method} ${target}`, answer))
        expect(answer.text).not.toMatch(/root:|"dependencies"|SQLite format|set-cookie/i)
        if (/links/.test(target)) expect([target, answer.status >= 400]).toEqual([target, true])
      }
    expect(problems).toEqual([])
  })

  test.each([
    '/livez',
    '/robots.txt',
    '/docs',
    '/thanks',
    '/app',
    '/v1/openapi.json',
    '/api/auth/get-session',
  ])('needs no Host in HTTP/1.0: %s', async (path) => {
    expect((await send(server(), `GET ${path} HTTP/1.0`, [])).status).toBe(200)
  })

  test('refuses an older or newer version with sense', async () => {
    const problems: string[] = []
    for (const [version, headers] of [
      ['HTTP/1.0', []],
      ['HTTP/1.1', []],
      ['HTTP/0.9', ['Host: localhost']],
      ['HTTP/3.7', ['Host: localhost']],
    ] as const)
      problems.push(
        ...findProblems(version, await send(server(), `GET /robots.txt ${version}`, [...headers])),
      )
    expect(problems).toEqual([])
  })
})
