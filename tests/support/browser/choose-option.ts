// Chooses an option of a list as a person does: opens the list and clicks the option.

import type { Locator } from 'playwright-core'
import { until } from '../until.ts'

const CLICK_MS = 1_000

/** @param name the option's text, or a part of it that no other option has */
export async function chooseOption(control: Locator, name: string | RegExp): Promise<void> {
  await control.click()
  const option = control.page().getByRole('option', { name, exact: true })
  await option.waitFor()
  // The list has the control's name until it is gone. While it opens, it ignores clicks.
  await until('the end of the list', async () => {
    await option.click({ timeout: CLICK_MS }).catch(() => {})
    return (await option.count()) === 0
  })
}

/** The text of the chosen option. */
export const readChoice = async (control: Locator) => ((await control.textContent()) ?? '').trim()
