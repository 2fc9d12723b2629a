// Chooses an option of a list as a person does: opens the list and clicks the option.

import type { Locator } from 'playwright-core'

/** @param name the option's text, or a part of it that no other option has */
export async function chooseOption(control: Locator, name: string | RegExp): Promise<void> {
  await control.click()
  const option = control.page().getByRole('option', { name, exact: true })
  await option.click()
  // The list has the control's name until it is gone.
  await option.waitFor({ state: 'detached' })
}

/** The text of the chosen option. */
export const readChoice = async (control: Locator) => ((await control.textContent()) ?? '').trim()
