// The pages for new people and recipients, in a real browser: set-up, open sign-up, confirmation of notifications.

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { ensureDemoUser } from '../../server/features/accounts/auth/demo-user.ts'
import { toSetupUrl } from '../../server/features/accounts/auth/first-account.ts'
import { closeMailers } from '../../server/http/mail/smtp.ts'
import { CHROMIUM_INSTALL_MS, closeWindows, openChromium } from '../support/browser/chromium.ts'
import { startMailServer } from '../support/fake-servers/mail-server.ts'
import { full, quick } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { startServer, type TestServer } from '../support/world.ts'

const SECRET = 'q8Vw2nLx7Rb4Tz9Kp3Md6Yc1Hs5Jf0Ga'
const smtp = await startMailServer()

quick.describe('new people', () => {
  let server: TestServer
  let browser: Browser
  beforeAll(async () => {
    server = await startServer('sqlite', {
      environment: {
        SIGNUP: 'open',
        SMTP_URL: smtp.url(),
        MAIL_FROM: 'Towpath <go@towpath.example>',
        TOWPATH_SECRET: SECRET,
      },
    })
    browser = await openChromium()
  }, CHROMIUM_INSTALL_MS)
  afterAll(async () => {
    if (browser) await closeWindows(browser)
    await server?.close()
    closeMailers()
    await smtp.stop()
  })

  let page: Page
  beforeAll(async () => {
    // Requests come through a proxy.
    const context = await browser.newContext({
      viewport: { width: 360, height: 740 },
      colorScheme: 'dark',
      extraHTTPHeaders: { 'X-Forwarded-For': '203.0.113.7' },
    })
    page = await context.newPage()
    page.setDefaultTimeout(60_000)
  })
  /** The next test is about somebody else. */
  afterEach(() => page.context().clearCookies())

  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  const linkFor = async (email: string) => {
    const mail = await until('the mail', () => smtp.mails.findLast(({ to }) => to.includes(email)))
    return /https?:\S+token=\S+/.exec(mail.parsed.text ?? '')?.[0] as string
  }
  let channels = ''

  test('the operator sets the server up with the printed address, and its token goes nowhere else', async () => {
    const leaks: string[] = []
    page.on('request', (request) => {
      if (request.headers().referer?.includes('token')) leaks.push(request.url())
    })
    await page.goto(`${server.origin}/app`)
    await page.getByText('This server isn’t set up yet').waitFor()
    await page.goto(`${server.origin}/app/setup?token=wrong`)
    await page.getByText('This address doesn’t work').waitFor()
    await page.goto(toSetupUrl({ origin: server.origin, secret: SECRET }))
    await page.getByLabel('Your name').fill('Ada')
    expect(page.url()).toBe(`${server.origin}/app/setup`)
    await page.getByLabel('Email').fill('ada@boats.example')
    await page.getByLabel('Password').fill('ada@boats.example')
    await press(page, 'Create account')
    await page.getByText('too close to your name').waitFor()
    await page.getByLabel('Password').fill('seven quiet herons wade')
    await press(page, 'Create account')
    await page.waitForURL('**/links**')
    expect(leaks).toEqual([])

    channels = page.url().replace(/links.*$/, 'channels')
    await page.goto(`${channels}?new=1`)
    await page.getByLabel('Email addresses').fill('team@boats.example')
    await press(page, 'Create channel')
    await page.getByText('Waiting for confirmation: team@boats.example').waitFor()
    await linkFor('team@boats.example')
    await press(page, 'Send again')
    await page.getByText('The link was sent again').waitFor()
  })

  test('a recipient confirms, and stops the mails', async () => {
    await page.goto(await linkFor('team@boats.example'))
    await page.getByText('You get no emails unless you confirm.').waitFor()
    await press(page, 'Confirm')
    await page.getByText('You get these emails.').waitFor()
    await press(page, 'Stop these emails')
    await page.getByText('You get no more of these emails.').waitFor()
  })

  test('a stranger gets a link by mail, and then an account', async () => {
    await page.goto(`${server.origin}/app/sign-up`)
    await page.getByLabel('Email').fill('bob@people.example')
    await press(page, 'Send link')
    await page.getByText('Check your email').waitFor()
    await press(page, 'Send again')
    await page.getByText('Sent. Send once more').waitFor()
    await page.goto(await linkFor('bob@people.example'))
    await page.getByLabel('Your name').fill('Bob')
    expect(page.url()).toBe(`${server.origin}/app/confirm`)
    await page.getByLabel('Password').fill('nine grey locks open')
    await press(page, 'Create account')
    await page.waitForURL('**/links**')
  })
})

quick.describe('the demo account', () => {
  let server: TestServer
  let browser: Browser
  beforeAll(async () => {
    server = await startServer('sqlite')
    browser = await openChromium()
  }, CHROMIUM_INSTALL_MS)
  afterAll(async () => {
    if (browser) await closeWindows(browser)
    await server?.close()
  })

  full('signs in where nobody else has an account, and others read how to get one', async () => {
    const { db } = server.app
    const { password } = await ensureDemoUser({ db, now: server.now })
    const context = await browser.newContext({ extraHTTPHeaders: { 'X-Forwarded-For': '203.0.113.7' } })
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)
    await page.goto(`${server.origin}/app`)
    await page.getByText('at the address printed at startup').waitFor()
    await server.createWorkspace()
    await page.goto(`${server.origin}/app`)
    await page.getByText('npx towpath user create').waitFor()
    await page.getByLabel('Email').fill('demo@towpath.example')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL((url) => !url.pathname.includes('sign-in'))
  })
})
