// A session that ends while somebody writes: a dialog in place, the same request again, and nothing typed is lost.

import { afterAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { setUpApp, showCode } from '../../server/features/accounts/second-factor/second-factor.fixture.ts'
import { type DashboardWindow, onDashboard } from '../support/browser/dashboard-browser.ts'
import { startIdentityProvider } from '../support/fake-servers/identity-provider.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'
import type { SignedUpUser } from '../support/users/sign-up.ts'

const provider = startIdentityProvider()
afterAll(() => provider.close())

onDashboard(
  'a session that ends while somebody writes',
  (dashboard) => {
    const endSessions = (email: string) =>
      dashboard().server.app.db.write((connection) =>
        connection
          .deleteFrom('sessions')
          .where('user_id', 'in', (e) => e.selectFrom('users').select('id').where('email', '=', email))
          .execute(),
      )
    const dialog = (page: Page) => page.getByRole('dialog', { name: 'Sign in again' })
    const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
    const signIn = async (page: Page, { email, password }: Pick<SignedUpUser, 'email' | 'password'>) => {
      await dialog(page).getByLabel('Email').fill(email)
      await dialog(page).getByLabel('Password').fill(password)
      await dialog(page).getByRole('button', { name: 'Sign in', exact: true }).click()
    }
    /** The answers to requests of the page for rows. */
    const watch = ({ page }: DashboardWindow) => {
      const seen: string[] = []
      page.on('response', (response) => {
        const { pathname } = new URL(response.url())
        if (!pathname.startsWith('/v1/')) return
        seen.push(`${response.request().method()} ${pathname} ${response.status()}`)
      })
      return seen
    }
    const findRow = (page: Page, tag: string) => page.locator('main').getByText(tag, { exact: true })
    const listPosts = (seen: string[]) => seen.filter((line) => line.startsWith('POST'))
    /** Types into the dialog of a new tag, and ends the person's session. */
    async function write(person: SignedUpUser, name: string) {
      const opened = await dashboard().openWindow(person)
      await opened.open('/settings/tags?new=1')
      await opened.page.getByLabel('Name').fill(name)
      await endSessions(person.email)
      return opened
    }

    test('gets one dialog in place, keeps the text when it is closed, and sends the request again once', async () => {
      const person = await dashboard().signUp()
      const opened = await write(person, 'Autumn')
      const { page, close } = opened
      const seen = watch(opened)
      await press(page, 'Create tag')
      await dialog(page).waitFor()
      expect(await dialog(page).getByLabel('Email').inputValue()).toBe(person.email)
      expect(await page.evaluate('document.activeElement.type')).toBe('password')
      await page.keyboard.press('Escape')
      await page.getByText('You’re signed out, so nothing was saved. Your input is still here.').waitFor()
      expect(await page.getByText('Missing API key').count()).toBe(0)
      await page.getByText('nothing is saved until you sign in').waitFor()
      // The notice leads back to the dialog. Neither a press nor a key closes the dialog with the text below it.
      await press(page, 'Sign in')
      await signIn(page, { ...person, password: 'not the password' })
      await dialog(page).getByText('Wrong email address or password').waitFor()
      await page.keyboard.press('Escape')
      expect(await page.getByLabel('Name').inputValue()).toBe('Autumn')
      // The next try is sent once the person has signed in.
      await press(page, 'Create tag')
      await signIn(page, person)
      await findRow(page, 'Autumn').waitFor()
      expect(listPosts(seen)).toEqual(['POST /v1/tags 401', 'POST /v1/tags 201'])
      expect(await page.locator('dialog[open]').count()).toBe(0)
      expect(await page.getByText('nothing is saved until you sign in').count()).toBe(0)
      await close()
    })

    full('shows a second factor too, and is told when the workspace is not theirs any more', async () => {
      const person = await dashboard().signUp()
      const { secret } = await setUpApp(person, dashboard().server.now)
      const { page, close } = await write(person, 'Spring')
      await press(page, 'Create tag')
      await signIn(page, person)
      await dialog(page).getByLabel('Code').fill(showCode(secret, dashboard().server.now()))
      await page.keyboard.press('Enter')
      await findRow(page, 'Spring').waitFor()

      await press(page, 'New tag')
      await page.getByLabel('Name').fill('Mine')
      await dashboard().server.app.db.write((connection) =>
        connection.deleteFrom('members').where('workspace_id', '=', person.workspaceId).execute(),
      )
      await press(page, 'Create tag')
      await page.getByText('you aren’t a member anymore. Ask an owner to invite you again.').waitFor()
      expect(await page.getByLabel('Name').inputValue()).toBe('Mine')
      await press(page, 'Leave this page')
      await page.getByText('You can’t open this workspace').waitFor()
      await close()
    })

    full(
      'is asked once by a page that polls, which then waits, and loads again for another person',
      async () => {
        const [person, other] = [await dashboard().signUp(), await dashboard().signUp()]
        const opened = await dashboard().openWindow(person, { inNewProfile: true })
        const { page, open, close } = opened
        await page.clock.install()
        await open('/links')
        const seen = watch(opened)
        await endSessions(person.email)
        // The first steps ask every two seconds whether the link was clicked, and so does the list.
        await page.clock.runFor(10_000)
        await dialog(page).waitFor()
        const refused = seen.length
        await page.clock.runFor(60_000)
        expect([seen.length, await page.locator('dialog[open]').count()]).toEqual([refused, 1])
        await page.evaluate('window.isOldPage = true')
        await signIn(page, other)
        await page.getByText('You can’t open this workspace').waitFor()
        expect(await page.evaluate('window.isOldPage')).toBeUndefined()
        await close()
      },
    )

    full('offers the identity provider in another tab', async () => {
      provider.identity = { sub: 'olga', email: 'olga@acme.example', email_verified: true, name: 'Olga' }
      const { page, close } = await dashboard().openWindow()
      await page.goto(`${dashboard().server.origin}/app/sign-in`)
      await press(page, 'Continue with Acme')
      await page.waitForURL(/\/app\/(\d+\/links|new-workspace)/)
      if (page.url().endsWith('/new-workspace')) {
        await page.getByLabel('Name').fill('Acme')
        await press(page, 'Create workspace')
      }
      await page.waitForURL(/\/app\/\d+\/links/)
      await page.goto(page.url().replace(/links.*/, 'tags?new=1'))
      await page.getByLabel('Name').fill('Summer')
      await endSessions('olga@acme.example')
      await press(page, 'Create tag')
      await dialog(page).getByRole('button', { name: 'Continue with Acme' }).click()
      await findRow(page, 'Summer').waitFor()
      await until('the tab is closed', () => page.context().pages().length === 1)
      await close()
    })
  },
  {
    environment: {
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: provider.clientId,
      OIDC_CLIENT_SECRET: provider.clientSecret,
      OIDC_NAME: 'Acme',
    },
  },
)
