// The dashboard in German on a phone: no page has English words, is wider than the window or has a barrier.

import { expect, test } from 'bun:test'
import { findBarriers } from '../support/browser/accessibility.ts'
import { onDashboard } from '../support/browser/dashboard-browser.ts'
import { listPaths, measureOverflow } from '../support/browser/dashboard-paths.ts'
import { until } from '../support/until.ts'
import { fillWorkspace } from '../support/users/fill-workspace.ts'

/** Words that every English sentence has one of, and no German one. */
const ENGLISH = /\b(?:the|and|of|your|you|with|this|that|are|is|not|has|have|to|no)\b/i
/** What is English everywhere: code, addresses, what the workspace itself has, and news. */
const DATA = 'code, pre, kbd, [lang], [translate=no], a[href^="http"], textarea, input'

const readTexts = `[...document.querySelectorAll('main *, aside *, [role=dialog] *')]
  .filter((element) => !element.closest(${JSON.stringify(DATA)}))
  .flatMap((element) => [
    ...[...element.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data.trim()),
    element.getAttribute('aria-label'),
    element.getAttribute('title'),
  ])
  .filter(Boolean)`

onDashboard('the dashboard in German', (dashboard) => {
  test('has no English words, no barrier, and room for its words on a phone', async () => {
    const person = await dashboard().signUp()
    const ids = await fillWorkspace(dashboard().server, person)
    const answer = await person.auth('/update-user', { method: 'POST', body: { language: 'de' } })
    expect(answer.status).toBe(200)
    const { page, open, visit, errors, close } = await dashboard().openWindow(person, {
      inNewProfile: true,
      viewport: { width: 390, height: 780 },
    })
    await page.goto(`${dashboard().server.origin}/app`)
    const isGerman = `document.documentElement.lang === 'de' && document.querySelector('main h1') !== null`
    // The page is loaded again meanwhile.
    await until('German', () => page.evaluate<boolean>(isGerman).catch(() => false))
    await open('/links')
    const problems: string[] = []
    for (const path of listPaths(ids)) {
      await visit(path)
      const texts = await page.evaluate<string[]>(readTexts)
      for (const text of new Set(texts)) if (ENGLISH.test(text)) problems.push(`${path}: ${text}`)
      if ((await measureOverflow(page)) > 0) problems.push(`${path}: is wider than the window`)
      for (const barrier of await findBarriers(page)) problems.push(`${path}: ${barrier}`)
    }
    expect(problems).toEqual([])
    expect(errors).toEqual([])
    await close()
  }, 240_000)
})
