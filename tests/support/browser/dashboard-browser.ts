// The dashboard in a real browser: a server, people who have signed up, and windows in which what goes wrong is kept.

import { afterAll, beforeAll, describe } from 'bun:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { startServer, type TestServer, type TestServerOptions } from '../server/test-server.ts'
import { type SignedUpUser, type SignUpDetails, signUpOverHttp } from '../users/sign-up.ts'
import { CHROMIUM_INSTALL_MS, launchChromium } from './chromium.ts'

export interface DashboardBrowser {
  server: TestServer
  browser: Browser
  /** Somebody with a workspace of their own, or who was invited. */
  signUp(given?: SignUpDetails): Promise<SignedUpUser>
  /** A window in which they are signed in; without a person nobody is. */
  openWindow(person?: SignedUpUser, options?: BrowserContextOptions): Promise<DashboardWindow>
}

export interface DashboardWindow {
  page: Page
  /** Errors in the console, uncaught ones, violated policies, dialogs. None of them may ever be. */
  errors: string[]
  /** Opens a page of the person's workspace, such as `/links`, and waits until it is drawn. */
  open(path: string): Promise<void>
  close(): Promise<void>
}

/** One server and one browser for the tests of a file; sign-up is open. */
export function onDashboard(
  name: string,
  tests: (desk: () => DashboardBrowser) => void,
  options: TestServerOptions = {},
) {
  describe(name, () => {
    let desk: DashboardBrowser
    beforeAll(async () => {
      const server = await startServer('sqlite', {
        ...options,
        environment: { SIGNUP: 'open', ...options.environment },
      })
      const browser = await launchChromium()
      desk = {
        server,
        browser,
        signUp: (given) => signUpOverHttp(server, given),
        openWindow: (person, more) => openWindow(server, browser, person, more),
      }
    }, CHROMIUM_INSTALL_MS)
    afterAll(async () => {
      await desk?.browser.close()
      await desk?.server.close()
    })
    tests(() => desk)
  })
}

// As an init script, so that it listens before anything of the page does.
const REPORT_CSP_VIOLATIONS = `addEventListener('securitypolicyviolation', (event) =>
  console.error('violated: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample))`

async function openWindow(
  server: TestServer,
  browser: Browser,
  person?: SignedUpUser,
  options: BrowserContextOptions = {},
): Promise<DashboardWindow> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options })
  const cookies = (person?.cookie ?? '').split('; ').filter(Boolean)
  await context.addCookies(
    cookies.map((cookie) => {
      const at = cookie.indexOf('=')
      return { name: cookie.slice(0, at), value: cookie.slice(at + 1), url: server.origin }
    }),
  )
  await context.addInitScript(REPORT_CSP_VIOLATIONS)
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const errors: string[] = []
  const wrong = (text: string) => errors.push(`${new URL(page.url()).pathname}: ${text}`)
  page.on('console', (message) => {
    if (message.type() === 'error') wrong(message.text())
  })
  page.on('pageerror', (error) => wrong(error.message))
  page.on('dialog', (dialog) => {
    wrong(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  return {
    page,
    errors,
    async open(path) {
      await page.goto(`${server.origin}/app/${person?.workspaceId}${path}`)
      await waitUntilDrawn(page)
    },
    close: () => context.close(),
  }
}

// What stands below the window is loaded when it comes into sight. The page looks by itself: to be asked every few
// milliseconds costs three processes more than it takes to draw.
const WAIT_WHILE_LOADING = `new Promise((resolve, reject) => {
  const last = Date.now() + 60_000
  const look = () => {
    const loading = [...document.querySelectorAll('[role=status][aria-label=Loading]')]
    if (!loading.some((one) => one.getBoundingClientRect().top < innerHeight)) resolve()
    else if (Date.now() > last) reject(new Error('waited 60 s for the page to be drawn'))
    else setTimeout(look, 40)
  }
  look()
})`

/** Resolves when the page has its heading and nothing in sight still loads. */
export async function waitUntilDrawn(page: Page): Promise<void> {
  await page.locator('h1').filter({ visible: true }).first().waitFor()
  await page.evaluate(WAIT_WHILE_LOADING)
}
