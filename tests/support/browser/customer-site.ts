// Opens a customer's website in a real browser. Its pages have their own origin and post to a Towpath server.

import { afterAll, beforeAll } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { quick } from '../suite.ts'
import { startServer, type TestServer, type TestServerOptions, type TestWorkspace } from '../world.ts'
import { CHROMIUM_INSTALL_MS, closeWindows, openChromium } from './chromium.ts'

export interface CustomerSite {
  server: TestServer
  browser: Browser
  /** The origin of the pages. It differs from the server's, which the site also proxies at `/tp/`. */
  origin: string
  /** The same pages under a name that is no secure context over plain http. */
  plainOrigin: string
  /** The server under a name that is no secure context over plain http. */
  plainServer: string
  /** Puts a page on the site. @returns its address */
  addPage(html: string, headers?: Record<string, string>, path?: string): string
  /** The site's requests so far: method and path. */
  requests: string[]
  /** Opens a page, and waits until the snippet knows the forms on it. */
  open(visitor: SiteVisitor, url: string): Promise<void>
  /** Opens a window with an empty browser profile. Its `errors` collect the errors of its pages. */
  openVisitor(): Promise<SiteVisitor>
  /** Creates a workspace, with the snippet's tag for its pages. */
  createWorkspace(): Promise<SiteWorkspace>
}

export interface SiteWorkspace {
  id: number
  publicId: string
  /** Calls `/v1` + path with the workspace's key. */
  api: TestWorkspace['api']
  /** The snippet's tag. */
  tag: string
  /** Creates a form in the workspace. @returns its key and its endpoint */
  createForm(fields?: Record<string, unknown>): Promise<{ key: string; endpoint: string }>
  /** The fields of every stored submission of a form, oldest first. */
  listStoredFields(key: string): Promise<Record<string, string>[]>
  /** The submissions of a form as the API answers them, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read them in every shape
  listSubmissions(key: string): Promise<any[]>
}

export interface SiteVisitor {
  context: BrowserContext
  page: Page
  /** Uncaught errors, rejected promises and violations of the Content-Security-Policy. */
  errors: string[]
  close(): Promise<void>
}

const toHtmlDocument = (body: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title><link rel="icon" href="data:,"></head><body>${body}</body></html>`

/** Runs the tests with one server, one site and one browser. */
export function onCustomerSite(
  name: string,
  tests: (site: () => CustomerSite) => void,
  options?: TestServerOptions,
) {
  // The budget of the quick suite is for tests without a browser.
  quick.describe(name, () => {
    let site: CustomerSite & { close(): Promise<void> }
    beforeAll(async () => {
      site = await startSite(options)
    }, CHROMIUM_INSTALL_MS)
    afterAll(() => site?.close())
    tests(() => site)
  })
}

const PLAIN_SERVER = 'go.test'

async function startSite(options?: TestServerOptions): Promise<CustomerSite & { close(): Promise<void> }> {
  const server = await startServer('sqlite', {
    ...options,
    environment: { TOWPATH_ALIASES: PLAIN_SERVER, ...options?.environment },
  })
  const browser = await openChromium()
  const pages = new Map<string, { html: string; headers: Record<string, string> }>()
  const requests: string[] = []
  const host = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (pathname.startsWith('/tp/')) {
        // The site proxies a folder, as a customer's web server would.
        return fetch(server.origin + pathname.slice('/tp'.length) + search, {
          method: request.method,
          headers: request.headers,
          body: request.body,
          redirect: 'manual',
          decompress: false,
        })
      }
      requests.push(`${request.method} ${pathname}${search}`)
      const page = pages.get(pathname)
      const html = page?.html ?? toHtmlDocument('<h1>The site</h1>')
      return new Response(html, { headers: { 'Content-Type': 'text/html', ...page?.headers } })
    },
  })
  const origin = `http://localhost:${host.port}`
  let count = 0

  return {
    server,
    browser,
    origin,
    plainOrigin: `http://shop.test:${host.port}`,
    plainServer: `http://${PLAIN_SERVER}:${new URL(server.origin).port}`,
    requests,
    addPage(html, headers = {}, path = `/page-${++count}`) {
      pages.set(path, { html: toHtmlDocument(html), headers })
      return origin + path
    },
    async open({ page }, url) {
      const facts = page.waitForResponse(/\/forms\?keys=/)
      await page.goto(url)
      await (await facts).finished()
    },
    openVisitor: () => newVisitor(browser),
    createWorkspace: () => newWorkspace(server),
    async close() {
      await closeWindows(browser)
      await host.stop(true)
      await server.close()
    },
  }
}

// An init script runs before all scripts of the page.
const REPORT_PAGE_ERRORS = `
  addEventListener('error', (event) => console.error('PAGE ' + event.message))
  addEventListener('unhandledrejection', (event) => console.error('PAGE rejected: ' + event.reason))
  addEventListener('securitypolicyviolation', (event) =>
    console.error('PAGE violated: ' + event.violatedDirective + ' ' + event.blockedURI))
`

// A headless browser's own User-Agent counts as a bot's.
const toUserAgent = (version: string) =>
  `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version} Safari/537.36`

async function newVisitor(browser: Browser): Promise<SiteVisitor> {
  const context = await browser.newContext({ userAgent: toUserAgent(browser.version()) })
  const errors: string[] = []
  await context.addInitScript(REPORT_PAGE_ERRORS)
  context.on('console', (message) => {
    if (message.text().startsWith('PAGE ')) errors.push(message.text().slice(5))
  })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  return { context, page, errors, close: () => context.close() }
}

async function newWorkspace(server: TestServer): Promise<SiteWorkspace> {
  const { id, api } = await server.createWorkspace()
  const { public_id: publicId } = await server.app.db.read
    .selectFrom('workspaces')
    .select('public_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return {
    id,
    publicId,
    api,
    tag: `<script defer src="${server.origin}/t.js" data-workspace="${publicId}"></script>`,
    async createForm(fields = {}) {
      const { status, text, json } = await api('/forms', {
        method: 'POST',
        body: { name: 'Contact', ...fields },
      })
      if (status !== 201) throw new Error(`the form was not created: ${status} ${text}`)
      return { key: json.data.formKey, endpoint: json.data.endpoint }
    },
    async listSubmissions(key) {
      const { json } = await api(`/forms/${key}/submissions`)
      return json.data.toReversed()
    },
    async listStoredFields(key) {
      // Tests poll this. The API has a rate limit, and the database has none.
      const rows = await server.app.db.read
        .selectFrom('submissions')
        .innerJoin('forms', 'forms.id', 'submissions.form_id')
        .select('submissions.fields')
        .where('form_key', '=', key)
        .orderBy('submissions.id')
        .execute()
      return rows.map(({ fields }) => Object.fromEntries(JSON.parse(fields) as [string, string][]))
    },
  }
}
