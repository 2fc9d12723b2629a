// The dashboard's own controls in a real browser: lists of options and the field of a color, by keyboard and on a phone.

import { expect, test } from 'bun:test'
import { findBarriers } from '../support/browser/accessibility.ts'
import { chooseOption, readChoice } from '../support/browser/choose-option.ts'
import { onDashboard } from '../support/browser/dashboard-browser.ts'
import { until } from '../support/until.ts'

const FOCUSED = `document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.id`

onDashboard('controls', (dashboard) => {
  test('a list of options opens, is searched and is closed by keyboard', async () => {
    const person = await dashboard().signUp()
    const { page, open, errors, close } = await dashboard().openWindow(person)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await person.api('/links', { method: 'POST', body: { destinationUrl: 'https://example.com/' } })
    await open('/links')
    const sort = page.getByRole('combobox', { name: 'Sort by' })
    await sort.focus()
    for (const key of ['ArrowDown', 'Enter', ' ']) {
      await page.keyboard.press(key)
      await page.getByRole('listbox', { name: 'Sort by' }).waitFor()
      expect(await findBarriers(page, '[role=listbox]')).toEqual([])
      await page.keyboard.press('Escape')
      await page.getByRole('listbox').waitFor({ state: 'detached' })
      expect(await page.evaluate<string>(FOCUSED)).toBe('Sort by')
    }
    await page.keyboard.press('ArrowDown')
    await until('the focus in the list', () =>
      page.evaluate<boolean>(`document.activeElement?.role === 'option'`),
    )
    await page.keyboard.press('m')
    await page.keyboard.press('Enter')
    await until('the order', async () => new URL(page.url()).searchParams.get('sort') === 'clicks')
    // A closed list takes letters too.
    await sort.and(page.locator(':focus')).waitFor()
    await page.keyboard.press('a')
    await until('the order', async () => new URL(page.url()).searchParams.get('sort') === 'slug')
    expect(await readChoice(sort)).toBe('A to Z')
    // The shortcuts of the page are for everything else.
    await page.keyboard.press('c')
    expect(await page.getByRole('dialog').count()).toBe(0)

    await open('/links?new=1')
    await page.getByText('Targeting', { exact: true }).click()
    await page.getByRole('button', { name: 'Add country' }).click()
    const country = page.getByRole('combobox', { name: 'Country' })
    await country.press('ArrowUp')
    await page.getByRole('combobox', { name: 'Search' }).and(page.locator(':focus')).waitFor()
    for (const [typed, first] of [
      ['ger', 'Germany'],
      ['cote', 'Côte d’Ivoire'],
      ['states', 'United States'],
    ] as const) {
      await page.keyboard.type(typed)
      await until('the match', async () =>
        ((await page.getByRole('option').first().textContent()) ?? '').includes(first),
      )
      await page.keyboard.press('ControlOrMeta+a')
    }
    await page.keyboard.type('germ')
    expect(await findBarriers(page, '[role=listbox]')).toEqual([])
    await page.keyboard.press('Enter')
    await until('the country', async () => (await readChoice(country)).includes('Germany'))
    await country.press('Enter')
    await page.getByRole('option').first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('option').first().waitFor({ state: 'detached' })
    expect(await page.getByRole('dialog', { name: 'New link' }).count()).toBe(1)
    expect(errors).toEqual([])
    await close()
  })

  test('a color is typed, picked and slid, and nothing is wider than a phone', async () => {
    const person = await dashboard().signUp()
    const { page, open, errors, close } = await dashboard().openWindow(person, {
      viewport: { width: 390, height: 844 },
      colorScheme: 'dark',
    })
    await open('/settings')
    const color = page.getByLabel('Color', { exact: true })
    await color.fill('#17624a')
    await page.getByRole('button', { name: 'Choose: Color' }).click()
    const panel = page.getByRole('dialog', { name: 'Choose: Color' })
    await panel.getByRole('button', { name: 'Blue', exact: true }).click()
    expect(await color.inputValue()).toBe('#175cd3')
    await panel.getByRole('slider', { name: 'Lightness' }).press('End')
    expect(await color.inputValue()).toBe('#ffffff')
    // White has no hue: the slider keeps its own.
    await panel.getByRole('slider', { name: 'Lightness' }).press('ArrowLeft')
    expect(await color.inputValue()).toBe('#fafcfe')
    expect(await findBarriers(page, '[role=dialog]')).toEqual([])
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })

    // Away from a color that is not saved.
    await page.getByRole('button', { name: 'Discard' }).click()
    await open('/settings?tab=keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await chooseOption(page.getByLabel('Access'), 'Custom')
    await page.getByLabel('Expires').click()
    const list = page.getByRole('listbox', { name: 'Expires' })
    await list.waitFor()
    const box = await list.boundingBox()
    expect((box?.x ?? -1) >= 0 && (box?.x ?? 0) + (box?.width ?? 391) <= 390).toBe(true)
    expect(errors).toEqual([])
    await close()
  })
})
