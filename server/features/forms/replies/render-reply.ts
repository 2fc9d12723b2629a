// Fills the template of a reply. Only placeholders bring in text of the sender, and that text can make no link: neither by
// itself, nor together with another placeholder or with the text around it.

import { cutCharacters, isLink, normalizeText, toInertText } from './inert-text.ts'

/** docs/contract.md §13. */
const VALUE_MAX = 100
const SUBJECT_MAX = 250
/** The limit for all values of a text together, because a template of placeholders repeats no letter. */
const VALUES_MAX = 10_000

/** `{{confirm}}` and `{{unsubscribe}}` are links of this server, and never fields. */
const CONFIRM = 'confirm'
const UNSUBSCRIBE = 'unsubscribe'

const PLACEHOLDER = /\{\{([^{}\r\n]{0,256})\}\}/g
/** A word of the template: all up to the next white space outside of a placeholder. */
const WORD = /(?:\{\{[^{}\r\n]{0,256}\}\}|\S)+/g
/**
 * A link of the template with a complete host before the first placeholder: `https://example.com/orders/{{number}}`.
 */
const PATH_OF_LINK = /^[^{}]*?\bhttps?:\/\/[^\s/?#\\{}@]+[/?#]/i

export interface ReplyValues {
  fields: ReadonlyMap<string, string>
  /** The only recipient. */
  email: string
  confirmUrl?: string
  stopUrl: string
}

export function renderReply(
  template: { subject: string; text: string },
  values: ReplyValues,
): { subject: string; text: string } {
  const getValue = createValueReader(values)
  const links = new Map([
    [CONFIRM, values.confirmUrl ?? ''],
    [UNSUBSCRIBE, values.stopUrl],
  ])
  const noLinks = new Map([...links.keys()].map((name) => [name, '']))
  const subject = fillTemplate(template.subject, getValue, noLinks)
  return {
    subject: cutCharacters(toOneLine(subject), SUBJECT_MAX),
    text: fillTemplate(addConfirmLink(template.text, values), getValue, links),
  }
}

/** The owner's own text may have links; it may not have what breaks a header. */
const toOneLine = (text: string) =>
  text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
    .trim()

/** Without the link, the mail would be for nothing. */
function addConfirmLink(text: string, { confirmUrl }: ReplyValues): string {
  const usesLink = text.matchAll(PLACEHOLDER).some(([, name]) => name?.trim() === CONFIRM)
  return confirmUrl === undefined || usesLink ? text : `${text.trimEnd()}\n\n{{${CONFIRM}}}\n`
}

/** The same address as in `To` tells the recipient nothing new. Other addresses are links. */
const PLAIN_LOCAL_PART = /^[a-z0-9._+-]+@/i

function createValueReader({ fields, email }: ReplyValues) {
  const read = new Map<string, string>()
  return (name: string): string => {
    const known = read.get(name)
    if (known !== undefined) return known
    const sent = fields.get(name) ?? ''
    const isRecipient = sent.trim() === email && PLAIN_LOCAL_PART.test(email)
    const value = isRecipient ? email.slice(0, VALUE_MAX) : toInertText(sent, VALUE_MAX)
    read.set(name, value)
    return value
  }
}

function fillTemplate(
  template: string,
  getValue: (name: string) => string,
  links: ReadonlyMap<string, string>,
): string {
  let room = VALUES_MAX
  return template.replace(WORD, (word) => {
    if (!word.includes('{{')) return word
    const filled = fillWord(word, room > 0 ? getValue : () => '', links)
    room -= filled.length
    return filled
  })
}

function fillWord(
  word: string,
  getValue: (name: string) => string,
  links: ReadonlyMap<string, string>,
): string {
  const names = [...word.matchAll(PLACEHOLDER)].map(([, name]) => (name as string).trim())
  const fill = (toText: (name: string) => string) =>
    word.replace(PLACEHOLDER, (_, name: string) => links.get(name.trim()) ?? toText(name.trim()))
  const withoutValues = () => fill(() => '')
  if (names.some((name) => links.get(name))) return withoutValues()
  const own = word.replace(PLACEHOLDER, '')
  if (isLink(normalizeText(own)))
    return PATH_OF_LINK.test(word) ? fill((name) => encodeURIComponent(getValue(name))) : withoutValues()
  const filled = fill(getValue)
  const values = names.map(getValue)
  // The recipient's own address alone may look like a link.
  if (values.length === 1 && isOwnWord(word, values[0] ?? '')) return filled
  return filled.split(/\s+/).some((part) => isLink(normalizeText(part))) ? withoutValues() : filled
}

/** The placeholder stands alone, or between punctuation such as `({{email}}),`. */
const isOwnWord = (word: string, value: string) =>
  PLAIN_LOCAL_PART.test(value) && /^[("']*\{\{[^{}]*\}\}[)"'.,;:!?]*$/.test(word)
