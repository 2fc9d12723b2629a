// Lists possible one-line mistakes in a source file: a reversed comparison, a negated condition, a forgotten call.
// Tests should detect most of them.

import { parseSync, Visitor } from 'oxc-parser'

export interface SourceMutant {
  file: string
  line: number
  /** The characters that are replaced. */
  start: number
  end: number
  from: string
  to: string
  /** Whether the replaced code is an expression, so that a call that records its execution can stand before it. */
  isExpression: boolean
}

const OPERATORS: Record<string, string> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '-': '+',
  '*': '/',
  '&&': '||',
  '||': '&&',
}

interface Place {
  start: number
  end: number
}

/** @returns every mutant of the file whose change is within one line */
export function listMutants(file: string, text: string): SourceMutant[] {
  const found: SourceMutant[] = []
  const read = ({ start, end }: Place) => text.slice(start, end)
  function add(place: Place, to: string, isExpression = true) {
    const from = read(place)
    if (from.includes('\n') || from === to) return
    const line = text.slice(0, place.start).split('\n').length
    found.push({ file, line, start: place.start, end: place.end, from, to, isExpression })
  }
  function swapOperator(node: Place & { left: Place; right: Place; operator: string }) {
    const other = OPERATORS[node.operator]
    if (other) add(node, `${read(node.left)} ${other} ${read(node.right)}`)
    // A sum of texts has no difference.
    else if (node.operator === '+' && /^\d+$/.test(read(node.right)))
      add(node, `${read(node.left)} - ${read(node.right)}`)
    else if (node.operator === '??') add(node, read(node.right))
  }
  const keys = new Set<number>()
  new Visitor({
    Property: (node) => void keys.add(node.key.start),
    BinaryExpression: (node) => swapOperator(node),
    LogicalExpression: (node) => swapOperator(node),
    UnaryExpression(node) {
      if (node.operator === '!') add(node, read(node.argument))
    },
    ConditionalExpression: (node) => add(node.test, `!(${read(node.test)})`),
    IfStatement: (node) => add(node.test, `!(${read(node.test)})`),
    Literal(node) {
      if (typeof node.value === 'boolean') add(node, String(!node.value))
      else if (typeof node.value === 'number' && Number.isSafeInteger(node.value))
        add(node, String(node.value + 1))
    },
    ExpressionStatement(node) {
      const { type } = node.expression
      const isCall = type === 'CallExpression' || type === 'AwaitExpression'
      if (isCall && !/^(await )?(log|say)\b/.test(read(node))) add(node, ';', false)
    },
    MemberExpression(node) {
      if (read(node) === 'Math.min') add(node, 'Math.max')
      if (read(node) === 'Math.max') add(node, 'Math.min')
    },
  }).visit(parseSync(file, text).program)
  return found.filter(({ start }) => !keys.has(start) && !isInType(text, start))
}

/** A number in a type changes nothing that runs: `type Version = 2`, `version: 2` in an interface. */
const isInType = (text: string, at: number) =>
  /^\s*(export )?(type|interface) |^\s*(readonly )?\w+\??: $/.test(
    text.slice(text.lastIndexOf('\n', at) + 1, at),
  ) && !/^[^\n]*,\s*$/m.test(text.slice(at).split('\n')[0] ?? '')

/** Puts the mutant into the text of its file. */
export const applyMutant = (text: string, { start, end, to }: SourceMutant) =>
  text.slice(0, start) + to + text.slice(end)

// In a page, a test's window reads the console. In a process, the environment says where to write.
const NOTE = `
function __noteMutant(n) {
  if (typeof document !== 'undefined') return console.debug('__mutant ' + n)
  const { TEST_REACH: path, TEST_FILE: by = '' } = globalThis.process.env
  const seen = (globalThis.__seenMutants ??= new Set())
  const line = n + ' ' + by
  if (!path || seen.has(line)) return
  seen.add(line)
  globalThis.process.getBuiltinModule('node:fs').appendFileSync(path, line + '\\n')
}
`

/**
 * Adds to the text of a file, at the place of each mutant, a call that appends its number and the running test file
 * (TEST_FILE) to the file TEST_REACH.
 * @param mutants by their numbers, all of this file
 */
export function noteReach(text: string, mutants: Map<number, SourceMutant>): string {
  let noted = text
  for (const [n, { start, end, isExpression }] of [...mutants].sort(([, a], [, b]) => b.start - a.start)) {
    const inside = noted.slice(start, end)
    const call = `__noteMutant(${n})`
    noted = `${noted.slice(0, start)}${isExpression ? `(${call}, ${inside})` : `{ ${call}; ${inside} }`}${noted.slice(end)}`
  }
  return noted + NOTE
}
