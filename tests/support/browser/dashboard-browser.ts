// Opens the dashboard in a real browser, with a server, users who sign up over HTTP, and windows that collect errors.

import { afterAll, beforeAll } from 'bun:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { findFreePort } from '../processes/free-port.ts'
import { quick } from '../suite.ts'
import { type SignedUpUser, type SignUpDetails, signUpOverHttp } from '../users/sign-up.ts'
import { startServer, type TestServer, type TestServerOptions } from '../world.ts'
import {
  CHROMIUM_INSTALL_MS,
  closeWindows,
  giveWindowBack,
  LOCALE,
  openChromium,
  takeWindow,
} from './chromium.ts'

export interface DashboardBrowser {
  server: TestServer
  browser: Browser
  /** Creates a user with a new workspace, or in the workspace of an invitation. */
  signUp(details?: SignUpDetails): Promise<SignedUpUser>
  /** Opens a window in which the person is signed in; without a person nobody is signed in. */
  openWindow(person?: SignedUpUser, options?: WindowOptions): Promise<DashboardWindow>
}

interface WindowOptions extends Pick<BrowserContextOptions, 'viewport' | 'colorScheme' | 'permissions'> {
  /** For a test that leaves something behind in its profile, such as a clock. */
  inNewProfile?: boolean
  javaScriptEnabled?: boolean
}

export interface DashboardWindow {
  page: Page
  /** Console errors, uncaught errors, violations of the Content-Security-Policy, and dialogs. */
  errors: string[]
  /** Opens a page of the user's workspace, such as `/links`, and waits until it is drawn. */
  open(path: string): Promise<void>
  /** Goes to a page as a click on a link does, and waits until it is drawn: a third of the work of loading it anew. */
  visit(path: string): Promise<void>
  close(): Promise<void>
}

/** Each server of this process has the same address, so that the browser knows the app already. */
const port = findFreePort()

/** Runs the tests with one server, where sign-up is open, and one browser. */
export function onDashboard(
  name: string,
  tests: (dashboard: () => DashboardBrowser) => void,
  options: TestServerOptions = {},
) {
  // The budget of the quick suite is for tests without a browser.
  quick.describe(name, () => {
    let dashboard: DashboardBrowser
    const windows: DashboardWindow[] = []
    beforeAll(async () => {
      const server = await startServer('sqlite', {
        ...options,
        environment: { SIGNUP: 'open', PORT: String(port), ...options.environment },
      })
      const browser = await openChromium()
      dashboard = {
        server,
        browser,
        signUp: (details) => signUpOverHttp(server, details),
        async openWindow(person, more) {
          const window = await openWindow(server, browser, person, more)
          windows.push(window)
          return window
        },
      }
    }, CHROMIUM_INSTALL_MS)
    afterAll(async () => {
      for (const window of windows) await window.close()
      if (dashboard) await closeWindows(dashboard.browser)
      await dashboard?.server.close()
    })
    tests(() => dashboard)
  })
}

const DESKTOP = { width: 1280, height: 720 }

// An init script runs before all scripts of the page.
const REPORT_CSP_VIOLATIONS = `addEventListener('securitypolicyviolation', (event) =>
  console.error('violated: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample))`

async function openWindow(
  server: TestServer,
  browser: Browser,
  person?: SignedUpUser,
  options: WindowOptions = {},
): Promise<DashboardWindow> {
  const { inNewProfile = false, javaScriptEnabled = true, viewport, colorScheme = 'light' } = options
  const shared = inNewProfile || !javaScriptEnabled ? undefined : await takeWindow(browser)
  const context = shared?.context ?? (await browser.newContext({ ...LOCALE, javaScriptEnabled }))
  await context.grantPermissions(options.permissions ?? [])
  const cookies = (person?.cookie ?? '').split('; ').filter(Boolean)
  await context.addCookies(
    cookies.map((cookie) => {
      const at = cookie.indexOf('=')
      return { name: cookie.slice(0, at), value: cookie.slice(at + 1), url: server.origin }
    }),
  )
  const page = shared?.page ?? (await context.newPage())
  await page.setViewportSize(viewport ?? DESKTOP)
  await page.emulateMedia({ colorScheme })
  await page.addInitScript(REPORT_CSP_VIOLATIONS)
  page.setDefaultTimeout(60_000)
  const errors: string[] = []
  const addError = (text: string) => errors.push(`${new URL(page.url()).pathname}: ${text}`)
  page.on('console', (message) => {
    if (message.type() === 'error') addError(message.text())
  })
  page.on('pageerror', (error) => addError(error.message))
  page.on('dialog', (dialog) => {
    addError(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  let isClosed = false
  const toAddress = (path: string) => `/app/${person?.workspaceId}${path}`
  async function open(path: string) {
    await page.goto(server.origin + toAddress(path))
    await waitUntilDrawn(page)
  }
  return {
    page,
    errors,
    open,
    async visit(path) {
      if (!page.url().startsWith(`${server.origin}/app/`)) return open(path)
      await page.evaluate(goTo(toAddress(path)))
      await waitUntilDrawn(page)
    },
    async close() {
      if (isClosed) return
      isClosed = true
      await (shared ? giveWindowBack(shared, server.origin) : context.close())
    },
  }
}

// The app's router (https://tanstack.com/router) puts itself there. A page may change the address once more.
const goTo = (address: string) => `(async () => {
  const router = __TSR_ROUTER__
  const deadline = Date.now() + 60_000
  router.history.push(${JSON.stringify(address)})
  await router.load()
  while (router.state.status !== 'idle' || router.state.resolvedLocation?.href !== router.state.location.href) {
    if (Date.now() > deadline) throw new Error('waited 60 s for the page')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
})()`

// Content below the window loads when it is scrolled into view. The page itself polls: a question over the DevTools
// protocol every few milliseconds would cost three processes more than the drawing.
const WAIT_WHILE_LOADING = `new Promise((resolve, reject) => {
  const deadline = Date.now() + 60_000
  const check = () => {
    const loading = [...document.querySelectorAll('[role=status][aria-label=Loading], [role=status][aria-label=Lädt], [role=status][aria-label=Chargement], [role=status][aria-label=Cargando]')]
    if (!loading.some((element) => element.getBoundingClientRect().top < innerHeight)) resolve()
    else if (Date.now() > deadline) reject(new Error('waited 60 s for the page to be drawn'))
    else setTimeout(check, 40)
  }
  check()
})`

/** Resolves when the page has a heading and nothing in the window is loading. */
export async function waitUntilDrawn(page: Page): Promise<void> {
  await page.locator('h1').filter({ visible: true }).first().waitFor()
  await page.evaluate(WAIT_WHILE_LOADING)
}
