// A person's account in a real browser: authenticator app, recovery codes, passkeys with a virtual authenticator, the
// dialog that asks people to confirm that it is them, another address, and the end of the account.

import { afterAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { closeMailers } from '../../server/http/mail/smtp.ts'
import { computeTotpCode, toTotpStep } from '../../server/lib/crypto/totp.ts'
import { type DashboardWindow, onDashboard, waitUntilDrawn } from '../support/browser/dashboard-browser.ts'
import { startMailServer } from '../support/fake-servers/mail-server.ts'
import { findFreePort } from '../support/processes/free-port.ts'
import { full, quick } from '../support/suite.ts'
import { until } from '../support/until.ts'
import type { SignedUpUser } from '../support/users/sign-up.ts'

const MINUTE = 60_000
let shift = 0
const START = Date.UTC(2027, 4, 3, 10)
const now = () => START + shift
/** Browsers offer passkeys on https pages and on localhost, not on 127.0.0.1. */
const PORT = String(findFreePort())
const SITE = `http://localhost:${PORT}`

const mail = await startMailServer()
afterAll(async () => {
  closeMailers()
  await mail.stop()
})

onDashboard(
  'an account',
  (dashboard) => {
    /** A window at the address that has passkeys, with a device that has a fingerprint reader. */
    async function openDevice(): Promise<DashboardWindow> {
      const opened = await dashboard().openWindow()
      const devtools = await opened.page.context().newCDPSession(opened.page)
      await devtools.send('WebAuthn.enable')
      await devtools.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          protocol: 'ctap2',
          transport: 'internal',
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true,
        },
      })
      const close = async () => {
        await devtools.detach()
        await opened.close()
      }
      return { ...opened, close }
    }
    const signIn = async (page: Page, { email, password }: SignedUpUser) => {
      await page.goto(`${SITE}/app/sign-in`)
      await page.getByLabel('Email').fill(email)
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    }
    const openAccount = async (page: Page, { workspaceId }: SignedUpUser) => {
      await page.goto(`${SITE}/app/${workspaceId}/settings?tab=account`)
      await waitUntilDrawn(page)
    }
    const waitForDashboard = (page: Page) => page.waitForURL(/\/app\/\d+\/links/)
    const showCode = (secret: string) => computeTotpCode(secret, toTotpStep(now()))

    full('gets an authenticator app, and then asks for its code, or for a recovery code', async () => {
      const person = await dashboard().signUp()
      const { page, errors, close } = await openDevice()
      await signIn(page, person)
      await waitForDashboard(page)
      await openAccount(page, person)
      await page.getByRole('button', { name: 'Set up app' }).click()
      await page.getByAltText('QR code for the authenticator app').waitFor()
      const secret = (
        await page
          .locator('code')
          .filter({ hasText: /^[A-Z2-7 ]{39}$/ })
          .allInnerTexts()
      )
        .join('')
        .replaceAll(' ', '')
      await page.getByLabel('Type the code').fill('000000')
      await page.getByRole('button', { name: 'Turn on' }).click()
      await page.getByText('This is wrong or was used already').waitFor()
      await page.getByLabel('Type the code').fill(showCode(secret))
      await page.getByRole('button', { name: 'Turn on' }).click()
      await page.getByText('Save your recovery codes').waitFor()
      const [recoveryCode = ''] = await page.getByRole('dialog').locator('li').allInnerTexts()
      expect(recoveryCode).toMatch(/^\w{5}-\w{5}$/)
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download' }).click(),
      ])
      expect(await Bun.file(await file.path()).text()).toContain(recoveryCode)
      await page.getByRole('button', { name: 'I saved them' }).click()
      await page.getByText('10 left').waitFor()
      // With a second factor a shorter password will do, and the page says the server's own rule.
      await page.getByText('At least 8 characters.').waitFor()

      shift += MINUTE
      await signIn(page, person)
      await page.getByRole('heading', { name: 'Two-factor sign-in' }).waitFor()
      expect(await page.getByLabel('Code').getAttribute('autocomplete')).toBe('one-time-code')
      await page.getByLabel('Code').fill(showCode(secret))
      await page.keyboard.press('Enter')
      await waitForDashboard(page)

      await signIn(page, person)
      await page.getByRole('button', { name: 'Use a recovery code' }).click()
      await page.getByLabel('Recovery code').fill(recoveryCode)
      await page.keyboard.press('Enter')
      await waitForDashboard(page)
      // The browser reports each refused code.
      expect(errors.filter((error) => !error.includes('422'))).toEqual([])
      await close()
    })

    quick('gets a passkey, for the second step and in place of the password', async () => {
      const person = await dashboard().signUp()
      const { page, errors, close } = await openDevice()
      await signIn(page, person)
      await waitForDashboard(page)
      await openAccount(page, person)
      await page.getByRole('button', { name: 'Add a passkey' }).click()
      await page.getByLabel('Name', { exact: true }).last().fill('My laptop')
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('button', { name: 'I saved them' }).click()
      await page.getByText('My laptop').waitFor()
      await page.getByRole('button', { name: 'Rename My laptop' }).click()
      await page.getByLabel('Name', { exact: true }).last().fill('The laptop')
      await page.getByRole('button', { name: 'Save', exact: true }).last().click()
      await page.getByText('The laptop').waitFor()

      await signIn(page, person)
      await page.getByRole('button', { name: 'Use a passkey' }).click()
      await waitForDashboard(page)

      await page.context().clearCookies()
      await page.goto(`${SITE}/app/sign-in`)
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
      await waitForDashboard(page)

      // A recorded answer of the browser works only once.
      let recorded = ''
      page.on('request', (request) => {
        if (request.url().endsWith('/sign-in/passkey')) recorded = request.postData() ?? ''
      })
      await page.context().clearCookies()
      await page.goto(`${SITE}/app/sign-in`)
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
      await waitForDashboard(page)
      const send = (body: unknown) =>
        dashboard().server.call('/api/auth/sign-in/passkey', { method: 'POST', body })
      const replayed = await send(recorded)
      expect([replayed.status, replayed.headers.getSetCookie()]).toEqual([422, []])
      const unknown = JSON.parse(recorded)
      unknown.passkey.id = 'AAAA'
      expect((await send(unknown)).status).toBe(422)

      await openAccount(page, person)
      await page.getByRole('button', { name: 'Remove The laptop' }).click()
      await page.getByRole('button', { name: 'Remove passkey' }).click()
      await page.getByText('Passkey removed').waitFor()
      // Its row is gone: the keyboard goes on in the same card.
      await until('the focus', () => page.evaluate(`document.activeElement.textContent === 'Set up app'`))
      await signIn(page, person)
      await waitForDashboard(page)
      // Requests on their way lose their session when the test deletes the cookie.
      expect(errors.filter((error) => !error.includes('401'))).toEqual([])
      await close()
    })

    test('asks who it is before a key is made, and the request goes on afterwards', async () => {
      const person = await dashboard().signUp()
      const { page, close } = await openDevice()
      await signIn(page, person)
      await waitForDashboard(page)
      shift += 16 * MINUTE
      await page.goto(`${SITE}/app/${person.workspaceId}/settings?tab=keys`)
      await waitUntilDrawn(page)
      const create = async () => {
        await page.getByRole('button', { name: 'New key' }).click()
        await page.getByLabel('Name').fill('for the shop')
        await page.getByRole('button', { name: /^Create/ }).click()
        return page.getByRole('dialog', { name: 'Confirm it’s you' })
      }
      const question = await create()
      await question.getByLabel('Your password').waitFor()
      // Escape closes the question only: what was typed is still there.
      await page.keyboard.press('Escape')
      await question.waitFor({ state: 'detached' })
      expect(await page.getByLabel('Name').inputValue()).toBe('for the shop')
      await page.getByRole('button', { name: /^Create/ }).click()
      await question.getByLabel('Your password').fill('not the password')
      await page.keyboard.press('Enter')
      await question.getByText('This is not your password').waitFor()
      await question.getByLabel('Your password').fill(person.password)
      await question.getByRole('button', { name: 'Confirm' }).click()
      await page.getByText(/^tp_\w{36}$/).waitFor()
      await close()
    })

    full('moves to another address, goes back to the old one, and is deleted', async () => {
      const person = await dashboard().signUp()
      const { page, errors, close } = await openDevice()
      const openLink = async (to: string, subject: string) => {
        const find = () => mail.mails.find((each) => each.to.includes(to) && each.parsed.subject === subject)
        const { parsed } = await until(subject, find)
        await page.goto(/http\S+token=\S+/.exec(parsed.text ?? '')?.[0] ?? '')
      }
      await signIn(page, person)
      await waitForDashboard(page)
      await openAccount(page, person)
      await page.getByLabel('New email address').fill('moved@example.com')
      await page.getByRole('button', { name: 'Change', exact: true }).click()
      await page.getByText('Open the link we sent to moved@example.com').waitFor()
      await openLink('moved@example.com', 'Confirm your new email address')
      await page.getByRole('button', { name: 'Confirm address' }).click()
      await page.getByRole('heading', { name: 'Email address changed' }).waitFor()

      await openLink(person.email, 'Your email address was changed')
      await page.getByRole('button', { name: 'Recover my account' }).click()
      await page.getByLabel('New password').fill('only the owner knows this')
      await page.getByRole('button', { name: 'Set password' }).click()
      await page.getByRole('heading', { name: 'Password changed' }).waitFor()

      await signIn(page, { ...person, password: 'only the owner knows this' })
      await waitForDashboard(page)
      await openAccount(page, person)
      await page.getByRole('button', { name: 'Delete account' }).click()
      const question = page.getByRole('dialog', { name: 'Delete your account?' })
      await question.getByText('They’re deleted too').waitFor()
      await question.getByRole('textbox').fill(person.email)
      await question.getByRole('button', { name: 'Delete permanently' }).click()
      await page.waitForURL(/\/app\/sign-in$/)
      expect((await person.auth('/get-session')).json).toBeNull()
      expect(errors.filter((error) => !error.includes('401'))).toEqual([])
      await close()
    })

    test('is led to the set-up by a workspace that requires a second factor', async () => {
      const owner = await dashboard().signUp()
      const { page, close } = await openDevice()
      await signIn(page, owner)
      await waitForDashboard(page)
      await dashboard().server.app.db.write((connection) =>
        connection
          .updateTable('workspaces')
          .set({ require_two_factor: 1 })
          .where('id', '=', owner.workspaceId)
          .execute(),
      )
      await page.goto(`${SITE}/app/${owner.workspaceId}/links`)
      await page.getByRole('heading', { name: 'Set up two-factor sign-in' }).waitFor()
      await page.getByRole('button', { name: 'Add a passkey' }).click()
      await page.getByLabel('Name', { exact: true }).fill('My phone')
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('button', { name: 'I saved them' }).click()
      await page.getByRole('heading', { name: 'Links' }).first().waitFor()
      await until('the list of links', async () => (await page.getByText('New link').count()) > 0)
      await close()
    })
  },
  {
    now,
    clock: () => performance.now() + shift,
    environment: { PORT, TOWPATH_URL: SITE, SMTP_URL: mail.url(), MAIL_FROM: 'towpath@example.com' },
  },
)
