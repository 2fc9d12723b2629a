// The dashboard by role: a viewer finds no button that changes something, and an owner finds scopes, expiry and the
// audit log.

import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { chooseOption } from '../support/browser/choose-option.ts'
import { onDashboard, waitUntilDrawn } from '../support/browser/dashboard-browser.ts'
import { fillWorkspace } from '../support/users/fill-workspace.ts'

const CHANGE =
  /^(New|Edit|Delete|Save|Test$|Retry|Send again|Archive|Mark|Invite|Revoke|Rename|Create|Erase|Remove|Add|Check)\b/

/** The visible buttons that would change something. */
const listChangeButtons = async (page: Page) => {
  const names = await page.evaluate<string[]>(
    `[...document.querySelectorAll('main button, main [role=button]')]
      .filter((button) => button.offsetParent !== null && !button.matches(':disabled'))
      .map((button) => button.getAttribute('aria-label') ?? button.textContent.trim())`,
  )
  return names.filter((name) => CHANGE.test(name))
}

onDashboard('the dashboard by role', (dashboard) => {
  test('offers a viewer every page and nothing that changes something, and says why', async () => {
    const owner = await dashboard().signUp()
    const { link, domain, form, submission } = await fillWorkspace(dashboard().server, owner)
    const invited = await owner.api('/invitations', {
      method: 'POST',
      body: { email: 'vera@example.com', role: 'viewer' },
    })
    const invitation = new URL(invited.json.data.url).searchParams.get('token') as string
    const viewer = await dashboard().signUp({ name: 'Vera', email: 'vera@example.com', invitation })
    const { page, open, visit, errors, close } = await dashboard().openWindow(viewer)
    const paths = [
      '/links',
      '/links/trash',
      '/links/missing',
      '/links/destinations',
      `/links/${link}`,
      '/forms',
      `/forms/${form}?tab=settings`,
      '/inbox',
      `/inbox?open=${submission}`,
      '/settings/tags',
      '/domains',
      `/domains/${domain}`,
      '/notifications',
      '/notifications/deliveries',
      '/settings/transfer',
      '/settings/transfer?tab=export',
      '/settings',
      '/settings?tab=members',
      '/settings?tab=keys',
      '/settings?tab=audit',
    ]
    for (const path of paths) {
      await visit(path)
      expect([path, await page.getByText('You have view-only access to this workspace').count()]).toEqual([
        path,
        1,
      ])
      expect([path, await listChangeButtons(page)]).toEqual([path, []])
    }
    for (const path of [
      '/links?new=1',
      `/links?edit=${link}`,
      '/forms?new=1',
      '/settings/tags?new=1',
      '/domains?new=1',
      '/notifications?new=1',
    ]) {
      await visit(path)
      await page.getByRole('dialog', { name: 'You can’t change this' }).waitFor()
    }
    // Shortcuts that change something do nothing; the others work.
    await open('/links')
    await page.keyboard.press('n')
    await page.keyboard.press('?')
    const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await shortcuts.waitFor()
    expect(await shortcuts.getByText('New link').count()).toBe(0)
    expect(await shortcuts.getByText('Copy link').count()).toBe(1)
    // Opening a submission does not try to mark it as read.
    expect(errors).toEqual([])
    await close()
  }, 120_000)

  test('lets an owner create a key with scopes and an expiry, and see it in the audit log', async () => {
    const owner = await dashboard().signUp()
    const { page, open, errors, close } = await dashboard().openWindow(owner)
    await open('/settings?tab=keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('Build server')
    await chooseOption(page.getByLabel('Access'), 'Custom')
    await page.getByLabel('Create, change and delete links and tags').check()
    await page.getByLabel('Read links and tags').check()
    await chooseOption(page.getByLabel('Expires'), 'In 30 days')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog', { name: 'Your new API key' }).waitFor()
    await page.getByRole('button', { name: 'I saved it' }).click()
    await page.getByText('links:read, links:write').waitFor()
    const [key] = (await owner.api('/keys')).json.data
    expect(key).toMatchObject({ name: 'Build server', scopes: ['links:read', 'links:write'] })
    const days = (Date.parse(key.expiresAt) - dashboard().server.now()) / (24 * 60 * 60 * 1000)
    expect(Math.round(days)).toBe(30)

    await page.getByRole('link', { name: 'Workspace', exact: true }).click()
    await page.getByRole('heading', { name: 'Security' }).waitFor()
    await page.getByRole('link', { name: 'Audit log' }).click()
    const events = page.getByRole('list', { name: 'Events' })
    await events.getByText('API key created').waitFor()
    await chooseOption(page.getByLabel('Action'), 'Signed in')
    await events.getByText('API key created').waitFor({ state: 'detached' })
    expect(new URL(page.url()).searchParams.get('action')).toBe('sign_in')
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByRole('menuitem', { name: 'NDJSON' }).click()
    expect((await download).suggestedFilename()).toBe(`audit-${owner.workspaceId}.ndjson`)
    await page.getByLabel('By').fill('nobody@example.com')
    await page.getByText('No matches').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await events.getByText('API key created').waitFor()
    await waitUntilDrawn(page)
    expect(errors).toEqual([])
    await close()
  }, 120_000)
})
