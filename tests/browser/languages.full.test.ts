// The dashboard in each language on a phone: no page has English words, is wider than the window or has a barrier.

import { expect, test } from 'bun:test'
import { listLanguages } from '../../dashboard/texts/catalogs.ts'
import { findBarriers } from '../support/browser/accessibility.ts'
import { onDashboard } from '../support/browser/dashboard-browser.ts'
import { listPaths, measureOverflow } from '../support/browser/dashboard-paths.ts'
import { until } from '../support/until.ts'
import { fillWorkspace } from '../support/users/fill-workspace.ts'

/** Words that most English sentences have one of, and no other language. */
const ENGLISH = /\b(?:the|and|of|your|you|with|this|that|are|is|not|have|to)\b/i
/** What is English everywhere: code, addresses, what the workspace itself has, and news. */
const DATA = 'code, pre, kbd, :not(html)[lang], [translate=no], a[href^="http"], textarea, input'

/** Names of visitors' pages, which are English, and the reason of a touch, which the server writes. */
const OF_VISITORS = /[„«“][^“”»]*[“»”]|^The same visitor .*/g

const readTexts = `[...document.querySelectorAll('main *, aside *, [role=dialog] *')]
  .filter((element) => !element.closest(${JSON.stringify(DATA)}))
  .flatMap((element) => [
    ...[...element.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data.trim()),
    element.getAttribute('aria-label'),
    element.getAttribute('title'),
  ])
  .filter(Boolean)`

onDashboard('the dashboard in another language', (dashboard) => {
  test.each(listLanguages())(
    'has no English words, no barrier, and room for its words: %s',
    async (language) => {
      const person = await dashboard().signUp()
      const ids = await fillWorkspace(dashboard().server, person)
      const answer = await person.auth('/update-user', { method: 'POST', body: { language } })
      expect(answer.status).toBe(200)
      const { page, open, visit, errors, close } = await dashboard().openWindow(person, {
        inNewProfile: true,
        viewport: { width: 390, height: 780 },
      })
      await page.goto(`${dashboard().server.origin}/app`)
      const isTranslated = `document.documentElement.lang === '${language}' && document.querySelector('main h1') !== null`
      // The page is loaded again meanwhile.
      await until(language, () => page.evaluate<boolean>(isTranslated).catch(() => false))
      await open('/links')
      const problems: string[] = []
      let read = 0
      // The health of the server is the output of a command for its operator.
      for (const path of listPaths(ids).filter((each) => !each.includes('tab=health'))) {
        await visit(path)
        const texts = await page.evaluate<string[]>(readTexts)
        read += texts.length
        for (const text of new Set(texts))
          if (ENGLISH.test(text.replace(OF_VISITORS, ''))) problems.push(`${path}: ${text}`)
        if ((await measureOverflow(page)) > 0) problems.push(`${path}: is wider than the window`)
        for (const barrier of await findBarriers(page)) problems.push(`${path}: ${barrier}`)
      }
      expect(problems).toEqual([])
      expect(read).toBeGreaterThan(1000)
      expect(errors).toEqual([])
      await close()
    },
    240_000,
  )
})
