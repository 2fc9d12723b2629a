// The API reference in a real browser: a key pasted as it is signs in, "Try it out" and "Execute" are enough, and screen
// readers, keyboards and phones get along with it.

import { expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { findBarriers } from '../support/browser/accessibility.ts'
import { type CustomerSite, onCustomerSite } from '../support/browser/customer-site.ts'
import { until } from '../support/until.ts'

const measureOverflow = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')

onCustomerSite('the API reference', (site) => {
  test('executes its examples with nothing but a pasted key, and is free of serious findings on the way', async () => {
    const own = await site().server.createWorkspace()
    const { page, errors, close } = await openReference(site())
    expect((await page.locator('h3.opblock-tag').first().textContent()) ?? '').toStartWith('Links')

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy for your assistant' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(copied).toContain('- POST /v1/links: Create a link')
    expect(copied).toContain(`${site().server.origin}/v1/openapi.json`)
    expect(copied).not.toContain('/v1/invitations')
    expect(copied.length).toBeLessThan(20_000)

    await page.locator('.btn.authorize').click()
    const dialog = page.getByRole('dialog', { name: 'Authorize' })
    expect(await dialog.locator('input').count()).toBe(1)
    expect(await page.evaluate('document.activeElement.tagName')).toBe('INPUT')
    const found = await findBarriers(page, '.dialog-ux')
    await page.keyboard.type(own.key)
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Logout' }).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })

    // In the order of the work. All of them need nothing but what the page has filled in.
    const answers: Record<string, string> = {}
    for (const [tag, id] of EXECUTED) answers[id] = await execute(page, tag, id)
    expect(answers).toEqual(Object.fromEntries(EXECUTED.map(([, id, status]) => [id, status])))
    found.push(...(await findBarriers(page)))

    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 360, height: 740 })
    // The same elements in other colors.
    found.push(...(await findBarriers(page, ':root', 'color-contrast')))
    expect(found).toEqual([])
    expect(await measureOverflow(page)).toBe(0)

    const forPeople = page.locator('#operations-API_keys-createApiKey')
    await scrollTo(page, forPeople)
    await forPeople.locator('.opblock-summary-control').click()
    await forPeople.getByText('Only for people who are signed in').waitFor()
    expect(await forPeople.locator('.try-out__btn').count()).toBe(0)
    expect(errors).toEqual([])
    await close()
  })

  test('has recipes in three languages, free of serious findings in light and dark', async () => {
    const { page, errors, close } = await site().openVisitor()
    await page.goto(`${site().server.origin}/docs/recipes`)
    const shown = page.locator('section figure:visible')
    expect(await shown.count()).toBe(await page.locator('section').count())
    const found = await findBarriers(page)
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 360, height: 740 })
    await page.getByLabel('Python').first().check()
    expect(await shown.first().textContent()).toContain('urlopen')
    found.push(...(await findBarriers(page)))
    expect(found).toEqual([])
    expect(await measureOverflow(page)).toBe(0)
    expect(errors).toEqual([])
    await close()
  })
})

const EXECUTED: [tag: string, id: string, status: string][] = [
  ['Links', 'createLink', '201'],
  ['Analytics', 'countClicks', '200'],
]

async function openReference(site: CustomerSite) {
  const visitor = await site.openVisitor()
  // A color that is still fading in has no contrast yet.
  await visitor.page.emulateMedia({ reducedMotion: 'reduce' })
  await visitor.page.goto(`${site.server.origin}/docs`)
  await visitor.page.locator('.opblock').first().waitFor()
  return visitor
}

/** Swagger UI draws the operations that a reader comes near to. */
const scrollTo = (page: Page, block: Locator) =>
  until('the operation', async () => (await block.count()) > 0 || page.mouse.wheel(0, 1000))

/** Opens an operation, tries it out and executes it with what is filled in. @returns the status of the answer */
async function execute(page: Page, tag: string, id: string): Promise<string> {
  const block = page.locator(`#operations-${tag}-${id}`)
  await scrollTo(page, block)
  await block.locator('.opblock-summary-control').click()
  await block.locator('.try-out__btn').click()
  await block.locator('.execute').click()
  const status = block.locator('.live-responses-table .response-col_status').nth(1)
  const text = (await status.textContent()) ?? ''
  return /\d{3}/.exec(text)?.[0] ?? text
}
