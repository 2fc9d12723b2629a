// Every page of the dashboard as it is drawn: for those who cannot see or use no mouse (axe), on a phone, in the dark,
// with and without data, and under a policy that allows nothing but our own files.

import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type DashboardWindow, onDashboard, waitUntilDrawn } from '../support/browser/dashboard-browser.ts'
import { fillWorkspace } from '../support/users/fill-workspace.ts'

const AXE = Bun.resolveSync('axe-core/axe.min.js', import.meta.dir)

const PAGES = [
  '/links',
  '/links?new=1',
  '/links?archived=true',
  '/links/{link}',
  '/analytics',
  '/forms',
  '/forms?new=1',
  '/forms/{form}',
  '/forms/{form}?tab=settings',
  '/forms/{form}?tab=doctor',
  '/forms/{form}?tab=losses',
  '/inbox',
  '/inbox?open={submission}',
  '/tags',
  '/channels',
  '/channels?new=1',
  '/deliveries',
  '/settings',
  '/settings?tab=members',
  '/settings?tab=keys',
  '/settings?tab=account',
]
const OPEN_PAGES = ['/sign-in', '/sign-up', '/forgot', '/reset', '/reset?token=x', '/join?token=x']

const DESKTOP = { width: 1280, height: 800 }
const PHONE = { width: 360, height: 740 }

interface AxeAnswer {
  violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[]
}

/** What axe holds to be serious or critical, with where it is. */
async function violations(page: Page): Promise<string[]> {
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(await Bun.file(AXE).text())
  const answer = await page.evaluate<AxeAnswer>('axe.run()')
  return answer.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    )
}

const tooWide = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')

onDashboard('the dashboard', (desk) => {
  const themes = [
    ['light', DESKTOP],
    ['dark', PHONE],
  ] as const

  /** Opens pages one after the other. @returns what is wrong with them */
  async function wrongWith(paths: string[], { page, open }: DashboardWindow): Promise<string[]> {
    const origins = new Set<string>()
    page.on('request', (request) => origins.add(new URL(request.url()).origin))
    const found: string[] = []
    for (const path of paths) {
      await open(path)
      for (const one of await violations(page)) found.push(`${path}: ${one}`)
      if ((await tooWide(page)) > 0) found.push(`${path}: is wider than the window`)
    }
    // Pictures that the page makes itself have none.
    for (const origin of origins) {
      if (origin !== desk().server.origin && origin !== 'null') found.push(`asks ${origin}`)
    }
    return found
  }

  test.each(themes)(
    'has no barrier, no error and nothing foreign on any page, full of data, in the %s',
    async (colorScheme, viewport) => {
      const person = await desk().signUp()
      const known = await fillWorkspace(desk().server, person)
      const window = await desk().openWindow(person, { colorScheme, viewport })
      const paths = PAGES.map((path) =>
        path.replace(/\{(\w+)\}/g, (_, name) => String(known[name as keyof typeof known])),
      )
      expect(await wrongWith(paths, window)).toEqual([])
      // Violations of the policy are among them.
      expect(window.errors).toEqual([])
      await window.close()
    },
    120_000,
  )

  test('is as good in an empty workspace', async () => {
    const window = await desk().openWindow(await desk().signUp(), { viewport: PHONE })
    const paths = PAGES.filter((path) => !path.includes('{'))
    expect(await wrongWith(paths, window)).toEqual([])
    expect(window.errors).toEqual([])
    await window.close()
  }, 120_000)

  test('allows scripts and styles from its own files alone, and text to become no markup', async () => {
    const policy = (await desk().server.call('/app')).headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("require-trusted-types-for 'script'")
    expect(policy).not.toContain('unsafe')
  })

  test('has no barrier where nobody has signed in, and leads there', async () => {
    const { page, errors, close } = await desk().openWindow(undefined, { viewport: PHONE })
    const found: string[] = []
    for (const path of OPEN_PAGES) {
      await page.goto(`${desk().server.origin}/app${path}`)
      await waitUntilDrawn(page)
      for (const one of await violations(page)) found.push(`${path}: ${one}`)
      if ((await tooWide(page)) > 0) found.push(`${path}: is wider than the window`)
    }
    expect(found).toEqual([])
    // A token that is none is a 404, which the browser writes into its console.
    expect(errors.filter((text) => !text.includes('404'))).toEqual([])

    await page.goto(`${desk().server.origin}/app/1/inbox?status=new`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(new URL(page.url()).searchParams.get('next')).toBe('/app/1/inbox?status=new')
    await close()
  }, 60_000)
})
