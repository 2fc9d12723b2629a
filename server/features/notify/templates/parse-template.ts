// The grammar of templates: text with placeholders in double braces. A template is parsed before values are put in, so that
// no value can be a placeholder.

/** The placeholders of a text, as messages name them. `files` is the list of the files that were sent. */
const IN_TEXT = ['form', 'fields', 'attribution', 'files', 'url'] as const
const IN_SUBJECT = ['form', 'attribution'] as const
export type Placeholder = (typeof IN_TEXT)[number]

export type TemplatePart =
  | { kind: 'literal'; text: string }
  | { kind: 'placeholder'; name: Placeholder }
  | { kind: 'field'; name: string }

const FIELD = 'field:'
/** No part of it can match in two ways, so its time is linear. */
const PLACEHOLDER = /\{\{([^{}]*)\}\}/g

export function parseTemplate(template: string): TemplatePart[] {
  const parts: TemplatePart[] = []
  let at = 0
  for (const match of template.matchAll(PLACEHOLDER)) {
    if (match.index > at) parts.push({ kind: 'literal', text: template.slice(at, match.index) })
    parts.push(toPart(match[1] ?? ''))
    at = match.index + match[0].length
  }
  if (at < template.length) parts.push({ kind: 'literal', text: template.slice(at) })
  return parts
}

function toPart(inside: string): TemplatePart {
  const name = inside.trim()
  return name.startsWith(FIELD)
    ? { kind: 'field', name: name.slice(FIELD.length).trim() }
    : { kind: 'placeholder', name: name as Placeholder }
}

/** Each of them may stand for a long text. */
const PLACEHOLDERS_MAX = 50

/** @returns what is wrong with a template, as a message for its field; undefined where nothing is */
export function findTemplateMistake(template: string, part: 'subject' | 'text'): string | undefined {
  const known: readonly string[] = part === 'subject' ? IN_SUBJECT : IN_TEXT
  const pieces = parseTemplate(template)
  if (pieces.filter(({ kind }) => kind !== 'literal').length > PLACEHOLDERS_MAX)
    return `has more than ${PLACEHOLDERS_MAX} placeholders`
  const lists = pieces.filter((piece) => piece.kind === 'placeholder' && piece.name === 'fields')
  if (lists.length > 1) return 'has {{fields}} more than once'
  for (const piece of pieces) {
    if (piece.kind === 'placeholder' && !known.includes(piece.name))
      return `has the unknown placeholder ${quotePlaceholder(piece.name)}; ${listKnown(known)}`
    if (piece.kind === 'field' && piece.name === '')
      return `has a placeholder without the name of a field; ${listKnown(known)}`
    if (piece.kind === 'literal' && piece.text.includes('{{'))
      return `has "{{" without "}}" after it; ${listKnown(known)}`
  }
  return undefined
}

const quotePlaceholder = (name: string) => `{{${name.length > 50 ? `${name.slice(0, 50)}…` : name}}}`

const listKnown = (known: readonly string[]) =>
  `known are ${[...known.map((name) => `{{${name}}}`), `{{${FIELD}name}}`].join(', ')}`
