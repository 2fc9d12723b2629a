// The bookmarklet: from the settings to the form of a new link, for who has signed in and for who has not.

import { expect, test } from 'bun:test'
import { onDashboard } from '../support/browser/dashboard-browser.ts'
import { full } from '../support/suite.ts'

const URLS = [
  'https://example.com/a?b=1&c=%20d#e',
  'https://example.com/ü?q="x"',
  "javascript:alert('no')",
  `https://example.com/${'long/'.repeat(500)}`,
]

onDashboard('the bookmarklet', (dashboard) => {
  test('opens the form of a new link to the page, in the workspace that was open last', async () => {
    const person = await dashboard().signUp()
    const { origin } = dashboard().server
    const { page, errors, open, close } = await dashboard().openWindow(person)
    await open('/settings?tab=tools')
    const button = page.getByRole('link', { name: 'Shorten with Towpath' })
    const bookmarklet = (await button.getAttribute('href')) ?? ''
    expect(bookmarklet).toStartWith(`javascript:void open('${origin}/app/new?url='`)
    await button.click()
    await page.getByText('Drag it to your bookmarks bar').waitFor()
    for (const url of URLS) {
      // The address that the bookmarklet opens on a page with this address.
      const address = new Function(
        'open',
        'location',
        `return ${bookmarklet.replace(/^javascript:void /, '')}`,
      )
      await page.goto(address((to: string) => to, { href: url }))
      await page.waitForURL(new RegExp(`/app/${person.workspaceId}/links\\?new=1`))
      expect(await page.getByLabel('Destination URL', { exact: true }).inputValue()).toBe(url)
    }
    expect(errors).toEqual([])
    await close()
  })

  full('asks to sign in first, and opens the form then', async () => {
    const person = await dashboard().signUp()
    const { page, close } = await dashboard().openWindow()
    await page.goto(`${dashboard().server.origin}/app/new?url=${encodeURIComponent(URLS[0] as string)}`)
    await page.getByLabel('Email').fill(person.email)
    await page.getByLabel('Password', { exact: true }).fill(person.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL(new RegExp(`/app/${person.workspaceId}/links\\?new=1`))
    expect(await page.getByLabel('Destination URL', { exact: true }).inputValue()).toBe(URLS[0] as string)
    await close()
  })
})
