// Makes invisible characters in strangers' texts visible: each one, and each one that changes the order of others,
// gets a name.

const HIDDEN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu

/** `a[U+200B]b`. The joiners inside an emoji stay, because they hold it together. */
export const toVisibleText = (text: string): string =>
  text.toWellFormed().replace(HIDDEN, (character, index: number, whole: string) => {
    const before = whole.slice(0, index)
    const isOfEmoji =
      (character === '\u200d' && /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)$/u.test(before)) ||
      (character === '\ufe0f' && /\p{Emoji}$/u.test(before))
    if (isOfEmoji) return character
    return `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`
  })
