// Finds the texts for people in a source file of the dashboard: JSX text, and string literals that look like text.
// docs/languages.md has the rules.

import { parseSync } from 'oxc-parser'
import { CODE_CALLS, CODE_NAMES, looksLikeText, readsAsText, TEXT_NAMES, trimKey } from './text-rules.ts'

interface Range {
  start: number
  end: number
}

/** A part of a message that a translation can move: an expression, or an element around a part of the text. */
type Slot = (Range & { kind: 'value' }) | { kind: 'element'; open: Range; close: Range | undefined }

export interface Message extends Range {
  /** The English text, with `{0}` for an expression and `<1>…</1>` for an element. */
  key: string
  slots: Slot[]
  /** The syntax to replace: a literal, an attribute, the children of an element, the two forms of a count. */
  kind: 'literal' | 'attribute' | 'template' | 'children' | 'plural'
  /** White space around the text. */
  before: string
  after: string
  line: number
}

// biome-ignore lint/suspicious/noExplicitAny: nodes of ESTree with JSX and TypeScript, walked by their names
type Node = any

/** `text`: always a text for people. `code`: never. `open`: the rules decide by the string. */
type Position = 'text' | 'code' | 'open'

interface Walk {
  source: string
  messages: Message[]
  /** Strings that are not texts for people by the rules. */
  others: string[]
  /** Strings in comparisons, which must not be translated. */
  compared: string[]
  lines: number[]
}

export const findMessages = (path: string, source: string) => readTexts(path, source).messages

export function readTexts(path: string, source: string): Omit<Walk, 'source' | 'lines'> {
  const { program, errors } = parseSync(path, source)
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`)
  const lines = [...source.matchAll(/\n/g)].map(({ index }) => index)
  const walk: Walk = { source, messages: [], others: [], compared: [], lines }
  visit(walk, program, 'open')
  walk.messages.sort((a, b) => a.start - b.start || b.end - a.end)
  return walk
}

const lineOf = ({ lines }: Walk, at: number) => lines.findLastIndex((end) => end < at) + 2

function add(walk: Walk, { start, end }: Range, kind: Message['kind'], text: string, slots: Slot[]) {
  const { before, key, after } = trimKey(text)
  walk.messages.push({ start, end, kind, key, before, after, slots, line: lineOf(walk, start) })
}

const WRAPPERS = /^(?:TSAs|TSSatisfies|TSNonNull|Parenthesized)Expression$/

/** Visits a node with the step of its kind, else with `visitChildren`. */
function visit(walk: Walk, node: Node, position: Position): void {
  if (node === null || typeof node !== 'object') return
  if (Array.isArray(node)) {
    for (const each of node) visit(walk, each, position)
    return
  }
  const step = STEPS[node.type as string]
  if (step) step(walk, node, position)
  else if (WRAPPERS.test(node.type)) visit(walk, node.expression, position)
  else if (!node.type?.startsWith('TS')) visitChildren(walk, node, position === 'code' ? 'code' : 'open')
}

function visitChildren(walk: Walk, node: Node, position: Position) {
  for (const [name, child] of Object.entries(node)) {
    if (name !== 'parent' && typeof child === 'object') visit(walk, child, position)
  }
}

function isText({ others }: Walk, text: string, position: Position): boolean {
  if (position === 'code') return false
  const found = position === 'text' ? readsAsText(text) : looksLikeText(text)
  if (!found) others.push(text)
  return found
}

const nameOf = (node: Node): string => node?.name?.name ?? node?.name ?? node?.value ?? ''

const STEPS: Record<string, (walk: Walk, node: Node, position: Position) => void> = {
  ImportDeclaration() {},
  ImportExpression() {},
  ExportAllDeclaration() {},
  ExportNamedDeclaration: (walk, node) => visit(walk, node.declaration, 'open'),
  TaggedTemplateExpression: (walk, { quasi }) => visit(walk, quasi.expressions, 'open'),
  MemberExpression: (walk, { object }, position) => visit(walk, object, position),
  SwitchCase(walk, { test, consequent }) {
    visit(walk, test, 'code')
    visit(walk, consequent, 'open')
  },
  Literal(walk, node, position) {
    if (typeof node.value === 'string' && isText(walk, node.value, position))
      add(walk, node, 'literal', escapeKey(node.value), [])
  },
  TemplateLiteral(walk, node, position) {
    visitText(walk, node, position, toTemplateParts(node))
  },
  BinaryExpression(walk, node, position) {
    if (node.operator !== '+') {
      const isComparison = /[=<>]|^in/.test(node.operator)
      if (isComparison)
        walk.compared.push(...[node.left, node.right].filter(isString).map(({ value }) => value))
      visit(walk, node.left, isComparison ? 'code' : 'open')
      visit(walk, node.right, isComparison ? 'code' : 'open')
      return
    }
    const parts = toSumParts(node)
    if (parts.some((part) => typeof part === 'string')) visitText(walk, node, position, parts)
    else visitChildren(walk, node, 'open')
  },
  ConditionalExpression(walk, { test, consequent, alternate }, position) {
    visit(walk, test, 'open')
    visit(walk, consequent, position)
    visit(walk, alternate, position)
  },
  LogicalExpression(walk, { operator, left, right }, position) {
    visit(walk, left, operator === '&&' ? 'open' : position)
    visit(walk, right, position)
  },
  Property(walk, { key, value, computed }, position) {
    if (computed) visit(walk, key, 'open')
    visit(walk, value, positionOfName(nameOf(key), position))
  },
  PropertyDefinition: (walk, { value }) => visit(walk, value, 'open'),
  CallExpression: visitCall,
  NewExpression: visitCall,
  JSXElement: visitElement,
  JSXFragment: visitElement,
  JSXAttribute(walk, { name, value }) {
    if (!value) return
    const position = positionOfName(nameOf(name), 'open')
    if (value.type !== 'Literal') visit(walk, value, position)
    else if (isText(walk, value.value, position)) add(walk, value, 'attribute', escapeKey(value.value), [])
  },
  JSXExpressionContainer: (walk, { expression }, position) => visit(walk, expression, position),
}

function positionOfName(name: string, position: Position): Position {
  if (position === 'code' || CODE_NAMES.test(name)) return 'code'
  return TEXT_NAMES.test(name) ? 'text' : 'open'
}

/** `formatCount(n, 'link')` has the singular and the plural of a count. `t('sent')` marks a text that does not look like one. */
function visitCall(walk: Walk, node: Node, position: Position) {
  const name = node.callee.property?.name ?? nameOf(node.callee)
  const [first, ...others] = node.arguments
  if (name === 'formatCount' && others.length > 0 && others.every(isString)) {
    const [one, many] = others.map((each: Node) => each.value)
    const range = { start: others[0].start, end: others.at(-1).end }
    add(walk, range, 'plural', `${one} | ${many ?? `${one}s`}`, [])
    visit(walk, first, 'open')
    return
  }
  visit(walk, node.callee, 'open')
  // Errors for programmers begin with a small letter.
  if (name === 'Error' && first && /^\p{Ll}/u.test(first.value ?? first.quasis?.[0].value.cooked)) return
  if (name === 't') visit(walk, node.arguments, 'text')
  else visit(walk, node.arguments, CODE_CALLS.test(name) || position === 'code' ? 'code' : 'open')
}

const isString = ({ type, value }: Node) => type === 'Literal' && typeof value === 'string'

type Part = string | Node

const toTemplateParts = ({ quasis, expressions }: Node): Part[] =>
  quasis.flatMap((quasi: Node, index: number) => [
    quasi.value.cooked,
    ...(index < expressions.length ? [expressions[index]] : []),
  ])

/** The parts of `'…' + x + '…'`. */
function toSumParts(node: Node): Part[] {
  if (node.type === 'BinaryExpression' && node.operator === '+')
    return [...toSumParts(node.left), ...toSumParts(node.right)]
  if (isString(node)) return [node.value]
  return node.type === 'TemplateLiteral' ? toTemplateParts(node) : [node]
}

function visitText(walk: Walk, node: Node, position: Position, parts: Part[]) {
  const slots: Slot[] = []
  let text = ''
  for (const part of parts) {
    if (typeof part === 'string') text += escapeKey(part)
    else text += `{${slots.push({ kind: 'value', start: part.start, end: part.end }) - 1}}`
  }
  const found = isText(walk, text, position)
  if (found) add(walk, node, 'template', text, slots)
  for (const part of parts) if (typeof part !== 'string') visit(walk, part, found ? 'text' : position)
}

/** Escapes braces and angle brackets of the text itself. */
const escapeKey = (text: string) => text.replace(/[{}<]/g, '\\$&')

function visitElement(walk: Walk, node: Node) {
  if (node.openingElement) visit(walk, node.openingElement.attributes, 'open')
  if (!hasOwnText(node)) {
    visit(walk, node.children, 'text')
    return
  }
  const slots: Slot[] = []
  const text = readChildren(walk, node, slots)
  const start = node.children[0].start
  if (readsAsText(text)) add(walk, { start, end: node.children.at(-1).end }, 'children', text, slots)
}

const hasOwnText = ({ children }: Node) => children.some((child: Node) => toChildText(child)?.trim())

/** The text of a child as React shows it; undefined for a child that is not text. */
function toChildText(child: Node): string | undefined {
  if (child.type === 'JSXText') return collapse(child.value)
  if (child.type === 'JSXExpressionContainer' && isString(child.expression)) return child.expression.value
  return undefined
}

/** Collapses white space like JSX: lines are trimmed and joined by one space, and empty lines are dropped. */
function collapse(text: string): string {
  const lines = text.split('\n')
  return lines
    .map((line, index) => {
      const left = index === 0 ? line : line.replace(/^[ \t]+/, '')
      return index === lines.length - 1 ? left : left.replace(/[ \t]+$/, '')
    })
    .filter((line) => line !== '')
    .join(' ')
}

/** Writes the children of an element as one text, and visits its slots. */
function readChildren(walk: Walk, node: Node, slots: Slot[]): string {
  let text = ''
  for (const child of node.children) {
    const own = toChildText(child)
    if (own !== undefined) text += escapeKey(own)
    else if (child.type === 'JSXExpressionContainer') {
      if (child.expression.type === 'JSXEmptyExpression') continue
      const { start, end } = child.expression
      text += `{${slots.push({ kind: 'value', start, end }) - 1}}`
      visit(walk, child.expression, 'text')
    } else text += readElement(walk, child, slots)
  }
  return text
}

function readElement(walk: Walk, node: Node, slots: Slot[]): string {
  if (!hasOwnText(node)) {
    const index = slots.push({ kind: 'element', open: node, close: undefined }) - 1
    visit(walk, node, 'text')
    return `<${index}/>`
  }
  const { openingElement: open, closingElement: close } = node
  const index =
    slots.push({
      kind: 'element',
      open: open ?? node.openingFragment,
      close: close ?? node.closingFragment,
    }) - 1
  if (open) visit(walk, open.attributes, 'open')
  return `<${index}>${readChildren(walk, node, slots)}</${index}>`
}
