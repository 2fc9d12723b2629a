// Emoji in slugs. Keyboards, browsers and apps write one emoji in several ways; here all of them become one
// (https://www.unicode.org/reports/tr51/).

/** U+FE0F, which draws the character before it as an emoji. Programs add it to emoji that need none, and leave it out. */
const SELECTOR = '\ufe0f'
const SELECTOR_OF_EMOJI = /(?<=\p{Emoji})\ufe0f/gu

/** Characters that are an emoji only with the selector. A digit is one only as a keycap, where U+20E3 follows. */
const UNQUALIFIED =
  /(?:[0-9*](?=\u20e3)|[\p{Emoji}--\p{Emoji_Presentation}--[0-9*#]](?!\p{Emoji_Modifier}))/gv

/** Excludes the keycap of "#", because a typed "#" begins the fragment of a URL. */
const EMOJI = /[\p{RGI_Emoji}--\q{#\ufe0f\u20e3}]/gv

/** Each emoji as Unicode recommends it for interchange ("fully-qualified"). A selector elsewhere stays. */
export const qualifyEmoji = (text: string) =>
  text.replace(SELECTOR_OF_EMOJI, '').replace(UNQUALIFIED, `$&${SELECTOR}`)

/** The form for comparison: browsers and people leave the selector out, or add it. */
export const dropSelectors = (text: string) => text.replaceAll(SELECTOR, '')

/**
 * Puts a letter in the place of each qualified emoji. The longest sequence at a place counts, in one pass: a pattern that
 * could divide a sequence in two ways would try all of them.
 */
export const replaceEmoji = (text: string, letter: string) => text.replace(EMOJI, letter)
