// House rules about size and names: a long function or file is a place to think, an empty name a place to hide.

import type { RuleException, Violation } from './find-violations.ts'
import { listFunctions, type SourceFile } from './typescript-source.ts'

const FUNCTION_LINES_MAX = 70
const FILE_LINES_MAX = 400

export function checkLengths(source: SourceFile, exceptions: RuleException[]): Violation[] {
  const { path, text } = source
  // A migration is data: the tables of its day, one after the other.
  if (path.startsWith('server/storage/database/migrations/')) return []
  const parts = listFunctions(source).map(({ name, line, ownLines }) => {
    return { what: name || '(callback)', line, lines: ownLines, max: FUNCTION_LINES_MAX }
  })
  parts.push({ what: 'the file', line: 1, lines: text.trimEnd().split('\n').length, max: FILE_LINES_MAX })
  const ratchet = (what: string) =>
    exceptions.find((one) => one.rule === 'length' && one.file === path && one.what === what)
  return parts.flatMap(({ what, line, lines, max }) => {
    const granted = ratchet(what)?.lines
    const violation = (rule: 'length' | 'exceptions', message: string) => [
      { rule, file: path, line, what, message },
    ]
    if (lines > (granted ?? max))
      return violation('length', `${what} has ${lines} lines, more than ${granted ?? max}`)
    if (granted !== undefined && lines <= max) {
      return violation('exceptions', `${what} has ${lines} lines: the exception is no longer needed`)
    }
    return []
  })
}

const EMPTY_NAMES = /^(.*[-.])?(utils?|helpers?|services?|managers?|repositor(y|ies)|common|misc|shared)$/

export function checkNames(path: string): Violation[] {
  const found: Violation[] = []
  const add = (message: string) => found.push({ rule: 'names', file: path, line: 1, what: '', message })
  if (/^(server|dashboard|snippet|tests|bench)\//.test(path)) {
    const parts = path.split('/').map((part) => part.replace(/(\.test)?\.\w+$/, ''))
    // The one file that opens the stores and wires the features is called by the field's word for both.
    const isWiring = path === 'server/services.ts'
    for (const part of parts)
      if (EMPTY_NAMES.test(part) && !isWiring) add(`"${part}" says nothing: name the thing`)
  }
  if (/^server\/(features|lib|http)\/(.*\/)?index\.ts$/.test(path))
    add('no barrels: import from the file that has it')
  if (/\.(test|spec)\.tsx?$/.test(path) && !/^(server|tests)\//.test(path)) {
    add('bunfig.toml has tests run in server/ and tests/ only: this one would never run')
  }
  return found
}
