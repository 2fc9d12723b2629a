// Rules about words: no phrase that must be read twice, and no file that opens with half a question.

import type { RepositoryFile, Violation } from './rule.ts'

/**
 * The space between two words, also across lines of a comment. Phrases write it as `_`, because they would find
 * themselves.
 */
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
  toPhrase('for_want_of', 'i'),
  toPhrase('taken_for_spam', 'i'),
  toPhrase('dropped_in_silence', 'i'),
]

/** Phrases of screens, emails and pages that docs/voice.md has replaced. */
const SCREEN_PHRASES = [
  toPhrase('(?:page|link|domain|domains|site)_of_(?:yours|your_own)', 'i'),
  toPhrase('Files_at_most'),
  toPhrase('Have_a_certificate'),
  toPhrase('Mail_the_owners_when'),
  toPhrase('What_you_sent_has_arrived', 'i'),
  toPhrase('Looked_for_in', 'i'),
  toPhrase('deleted_for_good', 'i'),
  toPhrase('this_server_sends_no_mail', 'i'),
  toPhrase('you_need_to_do_nothing', 'i'),
  toPhrase('Your_forms_(?:refuse|have_paused)'),
  toPhrase('(?:colour|behaviour|favourite|organisation|recognise|cancelled|catalogue)s?', 'i'),
]

/** Code with texts for people. Comments are included. */
const SPEAKS = /^(?:dashboard|snippet|server\/(?:cli|config|features|http))\/(?!.*\.(?:test|fixture)\.)/

/** The page that lists the replaced phrases. */
const VOICE = 'docs/voice.md'

const HALF_QUESTION =
  /^(?:#!.*\n)?\/[/*]+\s*(?:What|How|Whether|Which|Who\w*|Why|Says|Tells|Of|From\swhat|For\sso|So\s(?:often|many)|As\smany)\b/

const WRITTEN = /\.(?:tsx?|m?js|css|md|ya?ml|sh)$/

export function checkWords({ path, text }: RepositoryFile): Violation[] {
  if (!WRITTEN.test(path) || path === VOICE) return []
  const phrases = SPEAKS.test(path) ? [...PHRASES, ...SCREEN_PHRASES] : PHRASES
  const found = phrases.flatMap((phrase) => {
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
