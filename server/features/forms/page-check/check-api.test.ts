import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { addVerifiedDomain } from '../../../../tests/support/server/verified-domain.ts'
import { until } from '../../../../tests/support/until.ts'
import { onBothEngines, type TestServer, type TestWorkspace } from '../../../../tests/support/world.ts'
import type { ResolveHost } from '../../../http/safe-request.ts'
import { type Network, parseNetwork } from '../../../lib/ip-network.ts'
import { restApi } from '../../../web/api.ts'
import { createRateLimiter } from '../../accounts/access/rate-limiter.ts'
import { createFormCheckApi } from './check-api.ts'

const ORIGIN = 'https://go.example'
const LOOPBACK = [parseNetwork('127.0.0.0/8') as Network]
const local: ResolveHost = async () => [{ address: '127.0.0.1', family: 4 }]

/** The API with this operation only, over the server's rows, as if the operator had allowed the networks `allow`. */
function createPageCheck({ app }: TestServer, allow: Network[]) {
  const feature = createFormCheckApi({ origin: ORIGIN, turnstile: false, allow, resolve: local })
  const limiter = createRateLimiter(app.db)
  const rest = restApi(
    { db: app.db, limiter, now: () => 1, origin: ORIGIN, secret: 'a secret', version: '0' },
    [feature],
  )
  return async (
    workspace: TestWorkspace,
    formKey: string,
    body: unknown,
    headers: Record<string, string> = {},
  ) => {
    const request = new Request(`${ORIGIN}/v1/forms/${formKey}/check`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${workspace.key}`, 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    const answer = await rest.fetch(request)
    // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
    return { status: answer.status, json: (await answer.json()) as any }
  }
}

async function formOf({ app }: TestServer, workspace: TestWorkspace, columns: Record<string, unknown> = {}) {
  const formKey = [...crypto.getRandomValues(new Uint8Array(10))].map((n) => 'abcdefgh'[n % 8]).join('')
  const fresh = {
    workspace_id: workspace.id,
    form_key: formKey,
    name: 'Contact',
    created_at: 1,
    updated_at: 1,
  }
  await app.db.write((connection) =>
    connection
      .insertInto('forms')
      .values({ ...fresh, ...columns })
      .execute(),
  )
  return formKey
}

const goodPage = (formKey: string) => `<meta charset="utf-8"><meta name="referrer" content="unsafe-url">
  <form action="${ORIGIN}/f/${formKey}" method="post"><input name="email"><input type="hidden" name="_gotcha">
  <button>Send</button></form>`

const codesOf = (json: { data: { findings: { code: string }[] } }) =>
  json.data.findings.map(({ code }) => code)

onBothEngines('the check of a form on its page', (server) => {
  let site: ReturnType<typeof Bun.serve>
  let formKey: string
  let workspace: TestWorkspace
  let ask: ReturnType<typeof createPageCheck>
  let requests: string[] = []
  const pages = new Map<string, () => Promise<string>>()

  beforeAll(async () => {
    workspace = await server().createWorkspace()
    formKey = await formOf(server(), workspace)
    ask = createPageCheck(server(), LOOPBACK)
    site = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        requests.push(request.headers.get('user-agent') ?? '')
        const { pathname } = new URL(request.url)
        const page = pages.get(pathname)
        if (page)
          return page().then((text) => new Response(text, { headers: { 'Content-Type': 'text/html' } }))
        const html = (body: string, headers = {}) =>
          new Response(body, { headers: { 'Content-Type': 'text/html; charset=utf-8', ...headers } })
        if (pathname === '/good') return html(goodPage(formKey))
        if (pathname === '/csp')
          return html(goodPage(formKey), { 'Content-Security-Policy': "form-action 'self'" })
        if (pathname === '/large') return html(`${' '.repeat(950_000)}${goodPage(formKey)}`)
        if (pathname === '/latin')
          return html('<p>\xe9', { 'Content-Type': 'text/html; charset=x-nobody-knows' })
        if (pathname === '/moved') return new Response(null, { status: 302, headers: { Location: '/good' } })
        if (pathname === '/data') return Response.json({})
        if (pathname === '/zip') return html(goodPage(formKey), { 'Content-Encoding': 'br' })
        return new Response('Not here', { status: 404 })
      },
    })
  })
  afterAll(() => site?.stop(true))

  const at = (path: string) => `http://site.test:${site.port}${path}`

  test('knows the domains of the workspace, and of no other one', async () => {
    const own = `go-${server().engine}.brand.example`
    const foreign = `go-${server().engine}.stranger.example`
    await addVerifiedDomain(server(), workspace.id, own)
    await addVerifiedDomain(server(), (await server().createWorkspace()).id, foreign)
    const check = async (formHost: string, snippetHost: string) => {
      const form = goodPage(formKey).replace(`${ORIGIN}/f/`, `https://${formHost}/f/`)
      const html = `<script defer src="https://${snippetHost}/t.js" data-workspace="ws_1"></script>${form}`
      const { data } = (await ask(workspace, formKey, { html })).json
      return [data.hasForm, data.findings.map(({ code }: { code: string }) => code)]
    }
    const plain = await check('go.example', 'go.example')
    expect(plain).toEqual([true, expect.not.arrayContaining(['snippet_missing'])])
    expect(await check(own, own)).toEqual(plain)
    expect(await check(own, 'go.example')).toEqual(plain)
    expect(await check('go.example', own)).toEqual(plain)
    expect(await check(foreign, own)).toEqual([false, expect.arrayContaining(['action_host'])])
  })

  test('reads the page at an address', async () => {
    requests = []
    const { status, json } = await ask(workspace, formKey, { url: at('/good') })
    expect(status).toBe(200)
    expect(json).toEqual({
      data: {
        url: at('/good'),
        hasForm: true,
        labels: expect.anything(),
        ok: true,
        findings: expect.anything(),
      },
    })
    expect(codesOf(json)).toEqual(['errors_unseen', 'snippet_missing'])
    expect(requests).toEqual(['Towpath form check'])
  })

  test('uses the headers of the page', async () => {
    const { json } = await ask(workspace, formKey, { url: at('/csp') })
    expect(json.data.ok).toBe(false)
    expect(codesOf(json)).toContain('csp_form_action')
  })

  test('reads a page that is given as text', async () => {
    const first = await ask(workspace, formKey, { html: goodPage(formKey) })
    expect(first.json.data).toMatchObject({ url: null, ok: true })
    const pageUrl = 'https://site.test/contact'
    const second = await ask(workspace, formKey, { html: '<p>ü', pageUrl })
    expect(second.status).toBe(200)
    expect(second.json.data).toMatchObject({ url: pageUrl, hasForm: false, ok: false })
    expect(codesOf(second.json)).toContain('form_missing')
  })

  test("uses the form's settings and the workspace's public id", async () => {
    const strict = await formOf(server(), workspace, {
      captcha: 1,
      enabled: 0,
      required_fields: '["company"]',
      allowed_origins: '["https://other.test"]',
    })
    const { json } = await ask(workspace, strict, { html: goodPage(strict), pageUrl: 'https://site.test/' })
    const errors = ['form_disabled', 'origin_not_allowed', 'required_field_missing', 'snippet_missing']
    expect(codesOf(json).sort()).toEqual(errors)
    expect(JSON.stringify(json)).toContain(`data-workspace=\\"${workspace.publicId}\\"`)
  })

  test.each([
    ['/none', 'page_status'],
    ['/moved', 'page_redirects'],
    ['/data', 'page_not_html'],
    ['/zip', 'page_compressed'],
  ])('says why %s cannot be read', async (path, code) => {
    requests = []
    const { status, json } = await ask(workspace, formKey, { url: at(path) })
    expect(status).toBe(200)
    expect(json.data).toMatchObject({ url: at(path), ok: false })
    expect(codesOf(json)).toEqual([code])
    // The check does not follow a redirect.
    expect(requests).toHaveLength(1)
    if (code === 'page_redirects') expect(json.data.findings[0].message).toContain(at('/good'))
  })

  test('says that it read only a part of the page, and decodes any charset', async () => {
    const large = await ask(workspace, formKey, { url: at('/large') })
    expect(codesOf(large.json)).toEqual(['form_missing', 'page_cut', 'snippet_missing'])
    const odd = await ask(workspace, formKey, { url: at('/latin') })
    expect(codesOf(odd.json)).toContain('form_missing')
  })

  test('never fetches from a private network, and says so', async () => {
    requests = []
    const guarded = createPageCheck(server(), [])
    for (const host of ['127.0.0.1', 'site.test', '0x7f.1', '[::ffff:7f00:1]']) {
      const { status, json } = await guarded(workspace, formKey, { url: `http://${host}:${site.port}/good` })
      expect(status).toBe(200)
      expect(json.data.ok).toBe(false)
      expect(codesOf(json)).toEqual(['page_private'])
    }
    expect(requests).toHaveLength(0)
  })

  test('says that no server answers', async () => {
    const { json } = await ask(workspace, formKey, { url: 'http://127.0.0.1:1/' })
    expect(codesOf(json)).toEqual(['page_unreachable'])
  })

  test.each([
    [{}, 'url'],
    [{ url: 'https://a.test/', html: '<p>' }, 'html'],
    [{ url: 'https://a.test/', pageUrl: 'https://a.test/' }, 'pageUrl'],
    [{ url: 'nowhere' }, 'url'],
    [{ url: 'ftp://a.test/' }, 'url'],
    [{ url: 'https://user:secret@a.test/' }, 'url'],
    [{ url: `https://a.test/${'x'.repeat(2048)}` }, 'url'],
    [{ url: 7 }, 'url'],
    [{ html: '' }, 'html'],
    [{ html: 'x'.repeat(921_601) }, 'html'],
    [{ html: 'ü'.repeat(460_801) }, 'html'],
    [{ html: '<p>', pageUrl: 'javascript:alert(1)' }, 'pageUrl'],
    [{ html: '<p>\0' }, 'html'],
    [{ html: '<p>', other: 1 }, 'other'],
  ])('rejects a body without a usable page: %j', async (body, name) => {
    const { status, json } = await ask(workspace, formKey, body)
    expect(status).toBe(422)
    expect(Object.keys(json.errors)).toContain(name)
  })

  test('blocks no write while it waits for a page, and repeats its answer for the same Idempotency-Key', async () => {
    requests = []
    const gate = Promise.withResolvers<void>()
    pages.set('/slow', async () => {
      await gate.promise
      return goodPage(formKey)
    })
    const asking = () => ask(workspace, formKey, { url: at('/slow') }, { 'Idempotency-Key': 'slow' })
    const answers = Promise.all([asking(), asking()])
    await until('the page to be asked for', () => requests.length === 1)
    const { status } = await server()
      .createWorkspace()
      .then((other) => other.api('/tags'))
    expect(status).toBe(200)
    gate.resolve()
    const [first, twin] = await answers
    expect(first.status).toBe(200)
    expect(twin).toEqual(first)
    expect(await asking()).toEqual(first)
    expect(requests).toHaveLength(1)
    const other = await ask(workspace, formKey, { html: '<p>' }, { 'Idempotency-Key': 'slow' })
    expect(other.status).toBe(422)
    expect(Object.keys(other.json.errors)).toEqual(['Idempotency-Key'])
  })
})

describe('the check in the API reference', () => {
  test('says that url and html exclude each other', async () => {
    const rows = {} as never
    const feature = createFormCheckApi({ origin: ORIGIN, turnstile: false, allow: [] })
    const rest = restApi(
      { db: rows, limiter: {} as never, now: () => 1, origin: ORIGIN, secret: 'a secret', version: '0' },
      [feature],
    )
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const document: any = await (await rest.fetch(new Request(`${ORIGIN}/v1/openapi.json`))).json()
    const { oneOf, dependentRequired } = document.components.schemas.CheckForm
    expect(oneOf).toEqual([{ required: ['url'] }, { required: ['html'] }])
    expect(dependentRequired).toEqual({ pageUrl: ['html'] })
  })
})
