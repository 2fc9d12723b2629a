// Every text of the dashboard is in the catalog of each language, and nothing else is.

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the cases are code

import { describe, expect, test } from 'bun:test'
import { createErrorTranslator } from '../../dashboard/api/error-translator.ts'
import { API_MESSAGES, pickMessages } from '../../dashboard/texts/api-messages.ts'
import { listLanguages, readCatalog } from '../../dashboard/texts/catalogs.ts'
import { findMessages, readTexts } from '../../dashboard/texts/find-messages.ts'
import { FINDING_MESSAGES } from '../../dashboard/texts/finding-messages.ts'
import { listMessages, listSources } from '../../dashboard/texts/list-messages.ts'
import { listPlaceholders, translateSource } from '../../dashboard/texts/translate-source.ts'

/** Strings with a blank that nobody reads: keys of queries and of deletions, media queries, examples of code. */
const CODE = new Set([
  ' required',
  'a, button, input, label, select, textarea, summary',
  '{0} MB',
  'GoDaddy, Namecheap, IONOS',
  '{0} · Towpath',
  'allowed senders',
  'export person',
  'file preview',
  'of form',
  'regular expressions',
  'row totals',
  'submission change',
  'submissions ',
])

/** What the API and browsers say as well: a value of analytics, a key. */
const DATA = new Set(['Unknown', 'Delete'])

/** Names of classes, media queries, markup, commands, and lists of codes. */
const READS_AS_CODE =
  /[-[\]<>=|/*]|^[(.:#][\w(]|^(?:[A-Z]{2} )|^(?:npx|curl) |\d(?:px|%)|^[\s{}\d"'#.,:;·()…–]*$/
/** Words that are names of classes by themselves. */
const CLASSES =
  /^(?:absolute|relative|block|grid|flex|fixed|truncate|underline|italic|uppercase|pulse|\{\d+\}|\s)+$/

const messages = listMessages()
const sources = listSources().map(({ path, source }) => ({ path, ...readTexts(path, source) }))

describe('texts of the dashboard', () => {
  test('no string with several words is outside of the catalog', () => {
    const outside = sources.flatMap(({ path, others }) =>
      others
        .filter((text) => /\p{L}{2,}\s+\S|\s\p{L}{2,}/u.test(text))
        .filter((text) => !CODE.has(text) && !READS_AS_CODE.test(text) && !CLASSES.test(text))
        .map((text) => `${path}: ${text}`),
    )
    expect(outside).toEqual([])
  })

  test('no text is compared: in another language it is another one', () => {
    const found = sources.flatMap(({ path, compared }) =>
      compared
        .filter((text) => /^\p{Lu}/u.test(text) && messages.has(text) && !DATA.has(text))
        .map((text) => `${path}: ${text}`),
    )
    expect(found).toEqual([])
  })

  test.each(listLanguages())(
    'the catalog of %s has each text, no other, and the same placeholders',
    (language) => {
      const catalog = readCatalog(language)
      expect(Object.keys(catalog).filter((key) => !messages.has(key))).toEqual([])
      expect([...messages.keys()].filter((key) => !catalog[key])).toEqual([])
      const differs = (key: string) =>
        String(listPlaceholders(catalog[key] as string)) !== String(listPlaceholders(key)) ||
        (catalog[key] as string).split(' | ').length !== key.split(' | ').length
      expect(Object.keys(catalog).filter(differs)).toEqual([])
    },
  )

  test('messages of the API are those that the server has', async () => {
    const files = [...new Bun.Glob('server/{features,http,lib}/**/*.ts').scanSync()]
    const sources = (await Promise.all(files.map((path) => Bun.file(path).text()))).join('\n')
    const hasMessage = (message: string) => {
      const parts = message.split(/\{\d+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      return new RegExp(parts.join('\\$\\{[^\\n]+?\\}')).test(sources)
    }
    expect(API_MESSAGES.filter((message) => !hasMessage(message))).toEqual([])
  })
})

const CATALOG = {
  'Sent to {0} on <1>day {2}</1>.': 'Am <1>Tag {2}</1> an {0} gesendet.',
  '<0/>Help': '<0/>Hilfe',
  'Save changes': 'Änderungen „speichern“',
  '{0} of {1}': '{1}, davon {0}',
  'link | links': 'Link | Links',
  sent: 'gesendet',
  'Show {0}': '{0} `zeigen`',
  Today: 'Heute',
}

test.each([
  [
    '<p>Sent to {name} on <b>day {day}</b>.</p>',
    '<p>{"Am "}<b>{"Tag "}{day}</b>{" an "}{name}{" gesendet."}</p>',
  ],
  ['<a><Icon />\n  Help\n</a>', '<a><Icon />{"Hilfe"}</a>'],
  [
    '<Button label="Save changes" className="Today" />',
    '<Button label={"Änderungen „speichern“"} className="Today" />',
  ],
  ['<p>{a} of {b}</p>', '<p>{b}{", davon "}{a}</p>'],
  ['<p>{isNow ? "Today" : day}</p>', '<p>{isNow ? "Heute" : day}</p>'],
  ["formatCount(n, 'link')", 'formatCount(n, "Link", "Links")'],
  ["t('sent')", 't("gesendet")'],
  ['const label = `Show ${`${a} of ${b}`}`', 'const label = `${`${b}, davon ${a}`} \\`zeigen\\``'],
  ["key === 'Today' && <p className='Today'>{x['Today']}</p>", undefined],
  ["import { Today } from 'Today'", undefined],
  ['type Day = "Today"; const a = "unknown text"', undefined],
])('translates %s', (code, translated) => {
  expect(translateSource('a.tsx', code, CATALOG)).toBe(translated ?? code)
})

test.each([
  ['<p>Text{" "}\n  <b>bold</b> and{" "}\n  {value}</p>', ['Text <0>bold</0> and {1}']],
  ["cond && ' — more. '", ['— more.']],
  ['x = "Several words of text"', ['Several words of text']],
  ['x = `${n} deleted`', ['{0} deleted']],
  ['x = `${base} truncate-1 grow`', []],
  ["addEventListener('Change')", []],
  ["throw new Error('no root here, and nothing is shown')", []],
  ['x = "flex items-center gap-2"', []],
  ["header('Content-Type', 'Escape')", []],
  ['<input placeholder="https://example.com" />', []],
  ['x = "Braces {a} and <b>"', ['Braces \\{a\\} and \\<b>']],
])('finds the texts of %s', (code, keys) => {
  expect(findMessages('a.tsx', code).map(({ key }) => key)).toEqual(keys)
})

test.each([
  [
    'Form 2 of the page: The form has no submit button.',
    'Formular 2 der Seite: Das Formular hat keine Schaltfläche zum Absenden.',
  ],
  ['A finding that the catalog lacks.', 'A finding that the catalog lacks.'],
])('translates the finding %s', (finding, translated) => {
  expect(createErrorTranslator(pickMessages(readCatalog('de'), FINDING_MESSAGES))(finding)).toBe(translated)
})

test.each([
  ['must be from 1 to 40', 'muss von 1 bis 40 sein'],
  ['is required', 'ist erforderlich'],
  ['is required, unless html is given', 'is required, unless html is given'],
  [
    'may contain letters, digits, emoji, "-", "_", "." and "/" only',
    'darf nur Buchstaben, Ziffern, Emoji, „-“, „_“, „.“ und „/“ enthalten',
  ],
  [
    'example.com is a domain of this workspace already',
    'example.com ist bereits eine Domain dieses Workspace',
  ],
])('translates the message of the API %s', (message, translated) => {
  expect(createErrorTranslator(pickMessages(readCatalog('de')))(message)).toBe(translated)
})
