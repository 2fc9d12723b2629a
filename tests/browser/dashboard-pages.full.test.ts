// Every page of the dashboard in a real browser: accessibility (axe), a phone's width, the dark theme, with and
// without data, at every width and under a Content-Security-Policy that allows only the server's own files.

import { expect, test } from 'bun:test'
import { findBarriers } from '../support/browser/accessibility.ts'
import { type DashboardWindow, onDashboard, waitUntilDrawn } from '../support/browser/dashboard-browser.ts'
import { EMPTY_PATHS, listPaths, measureOverflow, PUBLIC_PAGES } from '../support/browser/dashboard-paths.ts'
import { until } from '../support/until.ts'
import { fillWorkspace } from '../support/users/fill-workspace.ts'

const DESKTOP = { width: 1280, height: 800 }
const PHONE = { width: 360, height: 740 }

onDashboard('the dashboard', (dashboard) => {
  const themes = [
    ['light', DESKTOP],
    ['dark', PHONE],
  ] as const

  /** Goes from page to page. @returns their problems */
  async function findProblems(paths: string[], { page, visit }: DashboardWindow): Promise<string[]> {
    const origins = new Set<string>()
    page.on('request', (request) => origins.add(new URL(request.url()).origin))
    const problems: string[] = []
    for (const path of paths) {
      await visit(path)
      // A list of before is pale until the new one is there.
      await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
      for (const violation of await findBarriers(page)) problems.push(`${path}: ${violation}`)
      if ((await measureOverflow(page)) > 0) problems.push(`${path}: is wider than the window`)
    }
    // Images that the page creates itself have the origin "null".
    for (const origin of origins) {
      if (origin !== dashboard().server.origin && origin !== 'null') problems.push(`requests ${origin}`)
    }
    return problems
  }

  test.each(themes)(
    'has no accessibility violation, no error and no foreign request on any page with data, in the %s theme',
    async (colorScheme, viewport) => {
      const person = await dashboard().signUp()
      const ids = await fillWorkspace(dashboard().server, person)
      const window = await dashboard().openWindow(person, { colorScheme, viewport })
      expect(await findProblems(listPaths(ids), window)).toEqual([])
      // Violations of the policy are among the errors.
      expect(window.errors).toEqual([])
      await window.close()
    },
    120_000,
  )

  test('keeps the rows of a long list inside its dialog at every width', async () => {
    const person = await dashboard().signUp()
    await fillWorkspace(dashboard().server, person, 'a title that is much longer than the dialog is wide')
    const { page, open, close } = await dashboard().openWindow(person, { viewport: DESKTOP })
    await open('/analytics')
    await page.getByRole('button', { name: 'All links' }).click()
    await page.getByRole('dialog').getByRole('list').waitFor()
    for (const width of [2560, 1440, 1280, 768, 360, 320]) {
      await page.setViewportSize({ width, height: 800 })
      // The chart takes its new size some frames after the window's.
      await until(`a page of ${width} pixels`, async () => (await measureOverflow(page)) <= 0)
    }
    await close()
  }, 120_000)

  test('has no accessibility violation and no error in an empty workspace', async () => {
    const window = await dashboard().openWindow(await dashboard().signUp(), { viewport: PHONE })
    expect(await findProblems(EMPTY_PATHS, window)).toEqual([])
    expect(window.errors).toEqual([])
    await window.close()
  }, 120_000)

  test('has no accessibility violation on the pages before sign-in', async () => {
    const { page, errors, close } = await dashboard().openWindow(undefined, { viewport: PHONE })
    const problems: string[] = []
    for (const path of PUBLIC_PAGES) {
      await page.goto(`${dashboard().server.origin}/app${path}`)
      await waitUntilDrawn(page)
      for (const violation of await findBarriers(page)) problems.push(`${path}: ${violation}`)
      if ((await measureOverflow(page)) > 0) problems.push(`${path}: is wider than the window`)
    }
    expect(problems).toEqual([])
    // The invalid token is answered with a 404, which the browser writes into its console.
    expect(errors.filter((text) => !text.includes('404'))).toEqual([])
    await close()
  }, 120_000)
})
