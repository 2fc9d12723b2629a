// Words that mix alphabets to look like another word: "sаle" with a Cyrillic "а" is not "sale", and no reader sees it
// (https://www.unicode.org/reports/tr39/).

const ALPHABETS = [
  ['Latin', /\p{Script=Latin}/u],
  ['Greek', /\p{Script=Greek}/u],
  ['Cyrillic', /\p{Script=Cyrillic}/u],
  ['Armenian', /\p{Script=Armenian}/u],
] as const

/**
 * Letters that look like a Latin one in usual typefaces (confusables.txt of UTS 39). Other letters of these alphabets may stand
 * beside Latin ones: "kΩ", and words of languages that borrow "θ" or "δ".
 */
const LOOK_ALIKES = new RegExp(
  `[${['ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγικνορυϲϳ', 'АВЕЅІЈКМНОРСТУХҮԌԚԜӀаеѕіјкорсухвмнтѵҮүһӏԁԛԝг', 'ՕՍՏԼօոսհցզ'].join('')}]`,
  'u',
)

const WORD = /[\p{L}\p{M}]+/gu

/** @returns the first word that mixes alphabets with a letter that looks like another, and its alphabets */
export function findMixedWord(text: string): { word: string; alphabets: string[] } | undefined {
  for (const word of text.match(WORD) ?? []) {
    if (!LOOK_ALIKES.test(word)) continue
    const alphabets = ALPHABETS.filter(([, letter]) => letter.test(word)).map(([name]) => name)
    if (alphabets.length > 1) return { word, alphabets }
  }
  return undefined
}
