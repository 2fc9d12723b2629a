// Drops what a text or a mail has around a pasted address: blanks, quotes and angle brackets.

import type { ChangeEvent } from 'react'

const AROUND = /^[\s<>"'`“”„‘’‚«»‹›\u200b\ufeff]+|[\s<>"'`“”„‘’‚«»‹›\u200b\ufeff]+$/g

export const stripAroundUrl = (text: string) => text.replace(AROUND, '')

/** An address may have a quote in it, which is its last character while a person types. */
const isTyped = ({ inputType = '', data }: Partial<InputEvent>) =>
  inputType === 'insertText' ? data?.length === 1 : /^(insertComposition|delete|history)/.test(inputType)

export function stripPastedUrl({ target, nativeEvent }: ChangeEvent<HTMLInputElement>): void {
  if (isTyped(nativeEvent as Partial<InputEvent>)) return
  const stripped = stripAroundUrl(target.value)
  // Assigning the same text would move the cursor to its end.
  if (stripped !== target.value) target.value = stripped
}
