// Suspensions by the operator in the dashboard, with their reason.

import { expect, test } from 'bun:test'
import { suspendWorkspace } from '../../server/features/accounts/workspaces/suspend-workspace.ts'
import { suspendLink } from '../../server/features/links/suspend.ts'
import { onDashboard } from '../support/browser/dashboard-browser.ts'

const LONG_REASON = `Phishing, reported by ${'averylongname'.repeat(8)}@example.com on 22 November`

onDashboard('what is suspended', (dashboard) => {
  test('has a badge and a reason, on a phone too', async () => {
    const { server, signUp, openWindow } = dashboard()
    const person = await signUp()
    const needs = { db: server.app.db, now: server.now, origin: server.origin }
    const body = { slug: 'spring', destinationUrl: 'https://example.com/' }
    const { id } = (await person.api('/links', { method: 'POST', body })).json.data
    await suspendLink(needs, { id }, LONG_REASON)

    const viewport = { width: 360, height: 740 }
    const { page, open, errors, close } = await openWindow(person, { viewport, colorScheme: 'dark' })
    await open('/links')
    await page.getByText('Suspended', { exact: true }).waitFor()
    await open(`/links/${id}`)
    await page.getByRole('note').getByText(`Reason: ${LONG_REASON}`).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width)
    expect(errors).toEqual([])

    await suspendWorkspace(needs, person.workspaceId, 'Spam')
    await open('/links')
    await page.getByText('The operator of this server has suspended this workspace: Spam').first().waitFor()
    await close()
  })
})
