// The health of the server in the settings: for owners of the first workspace, with the keyboard, and on a small screen.

import { afterEach, expect, test } from 'bun:test'
import { addMember } from '../../server/features/accounts/workspaces/add-member.ts'
import { type DashboardWindow, onDashboard } from '../support/browser/dashboard-browser.ts'
import { full } from '../support/suite.ts'

onDashboard('the health of the server', (dashboard) => {
  let window: DashboardWindow | undefined
  afterEach(() => window?.close())

  test('is shown to owners of the first workspace, who check again with the keyboard', async () => {
    const owner = await dashboard().signUp()
    window = await dashboard().openWindow(owner, { viewport: { width: 360, height: 740 } })
    const { page, open, errors } = window
    await open('/settings')
    await page.getByRole('link', { name: 'Health' }).click()
    const row = page.getByRole('listitem').filter({ hasText: 'Row store' })
    await row.getByRole('img', { name: 'OK' }).waitFor()
    expect(
      await page.getByRole('listitem').filter({ hasText: 'BACKUP_DIR is not set' }).textContent(),
    ).toContain('Set BACKUP_DIR')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    const asked = page.waitForRequest((request) => request.url().endsWith('/v1/doctor'))
    await page.getByRole('button', { name: 'Check again' }).focus()
    await page.keyboard.press('Enter')
    await asked
    await page
      .getByRole('status')
      .filter({ hasText: /problem|warning|All is well/ })
      .waitFor()
    expect(errors).toEqual([])
  })

  full('is shown to its owners from each of their workspaces', async () => {
    const { server } = dashboard()
    const { id } = await server.app.db.read
      .selectFrom('workspaces')
      .select('id')
      .orderBy('id')
      .executeTakeFirstOrThrow()
    const owner = await dashboard().signUp()
    await addMember(
      { db: server.app.db, now: server.now },
      { workspaceId: id, email: owner.email, role: 'owner' },
    )
    window = await dashboard().openWindow(owner)
    const { page, open, errors } = window
    await open('/links')
    await page.getByRole('button', { name: 'Help' }).click()
    await page.getByRole('menuitem', { name: 'Server health' }).click()
    await page.getByRole('listitem').filter({ hasText: 'Row store' }).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/app/${owner.workspaceId}/settings`)
    expect(errors).toEqual([])
  })

  full('is not shown to owners of other workspaces, and says why at its address', async () => {
    const other = await dashboard().signUp()
    window = await dashboard().openWindow(other)
    const { page, open, errors } = window
    await open('/settings?tab=health')
    await page.getByRole('heading', { name: 'Only the operator can see this' }).waitFor()
    expect(await page.getByRole('link', { name: 'Health' }).count()).toBe(0)
    expect(errors).toEqual([])
  })

  full('offers to try again when the report cannot be loaded', async () => {
    const { server } = dashboard()
    const { id } = await server.app.db.read
      .selectFrom('workspaces')
      .select('id')
      .orderBy('id')
      .executeTakeFirstOrThrow()
    const owner = await dashboard().signUp()
    await addMember(
      { db: server.app.db, now: server.now },
      { workspaceId: id, email: owner.email, role: 'owner' },
    )
    window = await dashboard().openWindow({ ...owner, workspaceId: id })
    const { page, open } = window
    let fails = true
    await page.route('**/v1/doctor', (route) =>
      fails ? route.fulfill({ status: 503, body: '{"error":"Temporarily unavailable"}' }) : route.continue(),
    )
    await open('/settings?tab=health')
    await page.getByRole('alert').getByText('Temporarily unavailable').waitFor()
    fails = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('listitem').filter({ hasText: 'Row store' }).waitFor()
  })
})
