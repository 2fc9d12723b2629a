// Rules about words: no phrase that has to be read twice, and no file that opens with half a question.

import type { RepositoryFile, Violation } from './rule.ts'

/** The space between two words, also where a comment goes on in the next line. Phrases write it `_`, or they would find themselves. */
const GAP = '[\\s/*#>]+'
const toPhrase = (words: string, flags = '') => new RegExp(`\\b${words.replaceAll('_', GAP)}\\b`, flags)

const PHRASES = [
  // Case matters: these are wrong at the beginning of a sentence only.
  toPhrase('For_so_long'),
  toPhrase('So_(?:often|many)'),
  toPhrase('(?:Of|From)_what'),
  toPhrase('Who(?:ever)'),
  toPhrase('What\\b[^.?!:;{}()=\'"`]{1,80}\\bhas_not'),
  toPhrase('in_vain', 'i'),
  toPhrase('is_told_of', 'i'),
  toPhrase('anybody_may', 'i'),
  toPhrase('must_not_know', 'i'),
]

const HALF_QUESTION =
  /^(?:#!.*\n)?\/[/*]+\s*(?:What|How|Whether|Which|Who\w*|Why|Says|Tells|Of|From\swhat|For\sso|So\s(?:often|many)|As\smany)\b/

const WRITTEN = /\.(?:tsx?|m?js|css|md|ya?ml|sh)$/

export function checkWords({ path, text }: RepositoryFile): Violation[] {
  if (!WRITTEN.test(path)) return []
  const found = PHRASES.flatMap((phrase) => {
    const match = phrase.exec(text)
    if (!match) return []
    const words = match[0].replace(new RegExp(GAP, 'g'), ' ')
    const line = text.slice(0, match.index).split('\n').length
    return { line, message: `"${words}" has to be read twice: begin with the thing, then say what it does` }
  })
  if (HALF_QUESTION.test(text)) {
    found.push({ line: 1, message: 'open the file with a noun phrase or an imperative' })
  }
  return found.map((violation) => ({ ...violation, rule: 'words', file: path, what: '' }))
}
