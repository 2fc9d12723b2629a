// The journeys of people who use the dashboard, from the first sign-up to a lead, in a real browser and with the
// dashboard's own buttons only.

import { expect, test } from 'bun:test'
import { readXlsx } from 'hucre/xlsx'
import { onDashboard } from '../support/browser/dashboard-browser.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { BROWSER_USER_AGENT } from '../support/world.ts'

onDashboard('a user of the dashboard', (dashboard) => {
  full(
    'signs up, creates an API key and a link with it, and sees a click arrive without a reload',
    async () => {
      const { server } = dashboard()
      const { page, errors, close } = await dashboard().openWindow(undefined, {
        viewport: { width: 1280, height: 1200 },
      })
      await page.goto(server.origin)
      // Nobody has an account: the first screen makes the first one, with the server's rule for passwords.
      await page.getByRole('heading', { name: 'Set up Towpath' }).waitFor()
      await page.getByText('At least 12 characters. A few random words').waitFor()
      await page.getByLabel('Your name').fill('Ada')
      await page.getByLabel('Email').fill('ada@example.com')
      await page.getByLabel('Password').fill('correct horse battery')
      await page.getByRole('button', { name: 'Create account' }).click()
      await page.getByRole('heading', { name: 'Get started' }).waitFor()
      await page.keyboard.press('n')
      await page.getByRole('dialog', { name: 'New link' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })

      await page.getByRole('link', { name: 'Settings' }).click()
      await page.getByRole('link', { name: 'API keys' }).click()
      await page.getByRole('button', { name: 'New key' }).click()
      await page.getByLabel('Name').fill('Website')
      await page.getByRole('button', { name: 'Create key' }).click()
      const key = await page.getByText(/^tp_[0-9A-Za-z]{36}$/).textContent()
      await page.getByRole('button', { name: 'I saved it' }).click()
      const headers = { Authorization: `Bearer ${key}` }
      const created = await server.call('/v1/links', {
        method: 'POST',
        headers,
        body: { slug: 'spring', destinationUrl: 'https://example.com/sale' },
      })
      expect(created.status).toBe(201)

      // A test click with a tool is a robot's, and the first steps say so.
      await server.click('spring', { 'User-Agent': 'curl/8.14.1' })
      await page.getByRole('link', { name: 'Links', exact: true }).click()
      await page.getByText('Your click was counted as a bot’s because the program that opened').waitFor()

      await page.getByRole('link', { name: 'Analytics' }).click()
      await page.getByRole('heading', { name: 'Analytics' }).waitFor()
      await server.click('spring', { 'User-Agent': BROWSER_USER_AGENT })
      // The page is not reloaded: new data appears by itself.
      await page.getByText('/spring').first().waitFor()

      await page.getByRole('link', { name: 'Settings' }).click()
      await page.getByRole('link', { name: 'API keys' }).click()
      await page.getByRole('button', { name: 'Revoke' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
      await page.getByText('No API keys yet').waitFor()
      expect((await server.call('/v1/links', { headers })).status).toBe(401)
      expect(errors).toEqual([])
      await close()
    },
    120_000,
  )

  test('creates a form, sends it from the preview and from a page, and finds both submissions in the inbox and one in a workbook', async () => {
    const { server } = dashboard()
    const person = await dashboard().signUp()
    const { page, errors, open, close } = await dashboard().openWindow(person)
    await open('/forms?new=1')
    await page.getByRole('dialog').getByLabel('Name').fill('Contact')
    await page.getByRole('dialog').locator('[type=submit]').click()
    await page.getByRole('heading', { name: 'Contact' }).waitFor()

    const preview = page.locator('form').filter({ has: page.getByRole('button', { name: 'Send' }) })
    await preview.locator('[name=email]').fill('grace@example.com')
    await preview.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('region', { name: 'Stored submission' }).getByText('grace@example.com').waitFor()

    // Like the HTML example on that page: a plain form without a script.
    const formKey = /\/forms\/([^/?]+)/.exec(page.url())?.[1]
    const native = await server.call(`/f/${formKey}`, {
      method: 'POST',
      body: 'email=alan%40example.com&message=Hello',
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        'User-Agent': BROWSER_USER_AGENT,
        Accept: 'text/html',
        'Sec-Fetch-Mode': 'navigate',
        Referer: 'https://shop.example/contact?utm_source=newsletter',
      },
    })
    expect(native.status).toBe(303)

    await page.getByRole('link', { name: /^Inbox( \d+ unread)?$/ }).click()
    await page.getByText('alan@example.com').first().waitFor()
    await page.getByText('grace@example.com').first().waitFor()
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Export submissions' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('dialog').locator('[type=submit]').click()
    const { sheets } = await readXlsx(await Bun.file(await (await download).path()).bytes())
    const cells = sheets[0]?.rows.flat()
    expect(cells).toContain('alan@example.com')
    // A test is in no export.
    expect(cells).not.toContain('grace@example.com')
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    await page.getByRole('region', { name: 'Open submission' }).getByText('Hello').waitFor()
    await page.keyboard.press('e')
    await until('the first submission to be archived', async () => {
      const { json } = await person.api(`/forms/${formKey}/submissions?status=archived`)
      return json.total === 1
    })
    expect(errors).toEqual([])
    await close()
  }, 120_000)

  test('invites a member, who sees links but cannot create API keys or rename the workspace', async () => {
    const owner = await dashboard().signUp()
    const { page, errors, open, close } = await dashboard().openWindow(owner)
    await open('/settings?tab=members')
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('dialog').getByLabel('Email').fill('max@example.com')
    await page.getByRole('dialog').locator('[type=submit]').click()
    const url = await page.getByText(/\/app\/join\?token=/).textContent()

    expect(errors).toEqual([])
    await close()

    const guest = await dashboard().openWindow()
    await guest.page.goto(url ?? '')
    await guest.page.getByLabel('Your name').fill('Max')
    await guest.page.getByLabel('Password').fill('another long password')
    await guest.page.getByRole('button', { name: /^Join / }).click()
    await guest.page.getByRole('heading', { name: 'Links' }).waitFor()
    await guest.page.getByRole('link', { name: 'Settings' }).click()
    await guest.page.getByRole('link', { name: 'API keys' }).click()
    await guest.page.getByRole('heading', { name: 'Only owners can create API keys' }).waitFor()
    await guest.page.getByRole('link', { name: 'Workspace', exact: true }).click()
    await guest.page.getByText('Only owners can change the name.').waitFor()
    expect(await guest.page.getByRole('button', { name: 'Delete workspace' }).count()).toBe(0)

    // The invitation works once.
    await guest.page.goto(url ?? '')
    await guest.page.getByRole('heading', { name: 'This invitation isn’t valid' }).waitFor()
    // The answer to the used token is a 404.
    expect(guest.errors.filter((text) => !text.includes('404'))).toEqual([])
    await guest.close()
  }, 120_000)

  test('sees nothing of another user’s workspace', async () => {
    const owner = await dashboard().signUp()
    const created = await owner.api('/links', {
      method: 'POST',
      body: { destinationUrl: 'https://example.com', title: 'Secret plan' },
    })
    const stranger = await dashboard().signUp()
    const { page, close } = await dashboard().openWindow(stranger)
    for (const path of ['/links', `/links/${created.json.data.id}`, '/inbox', '/settings?tab=keys']) {
      await page.goto(`${dashboard().server.origin}/app/${owner.workspaceId}${path}`)
      await page.getByRole('heading', { name: 'You can’t open this workspace' }).waitFor()
      expect(await page.getByText('Secret plan').count()).toBe(0)
    }
    await close()
  }, 120_000)
})
