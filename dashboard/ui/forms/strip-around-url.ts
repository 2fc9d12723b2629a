// Drops the characters that a text or an email puts around a pasted address: blanks, quotes and angle brackets.

import type { ChangeEvent } from 'react'

const AROUND = /^[\s<>`\p{QMark}\u200b]+|[\s<>`\p{QMark}\u200b]+$/gu

export const stripAroundUrl = (text: string) => text.replace(AROUND, '')

export function stripPastedUrl({ target, nativeEvent }: ChangeEvent<HTMLInputElement>): void {
  // A single letter is typed. An address may have a quote in it, which is its last character for a moment.
  if ((nativeEvent as InputEvent).data?.length !== 1) target.value = stripAroundUrl(target.value)
}
