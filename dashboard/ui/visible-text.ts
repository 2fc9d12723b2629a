// Makes invisible characters in texts of strangers visible: those that nobody sees, or that change the order of others,
// get a name.

const HIDDEN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu

/** `a[U+200B]b`. The joiners inside an emoji stay: without them it would fall apart. */
export const toVisibleText = (text: string): string =>
  text.toWellFormed().replace(HIDDEN, (character, index: number, whole: string) => {
    const before = whole.slice(0, index)
    const isOfEmoji =
      (character === '\u200d' && /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)$/u.test(before)) ||
      (character === '\ufe0f' && /\p{Emoji}$/u.test(before))
    if (isOfEmoji) return character
    return `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`
  })
