// Rules about names and openings: names describe things, and each file opens with its purpose.

import type { RuleName, Violation } from './rule.ts'
import { listExportedNames, type SourceFile } from './typescript-source.ts'

const EMPTY_NAMES = /^(.*[-.])?(utils?|helpers?|services?|managers?|repositor(y|ies)|common|misc|shared)$/

/** The file that opens the stores and wires the features. Services is the field's word for both. */
const WIRING = 'server/start/services.ts'

const toViolation = (rule: RuleName, file: string, line: number, what: string, message: string) => {
  return { rule, file, line, what, message }
}

export function checkPathNames(path: string): Violation[] {
  const found: Violation[] = []
  const add = (message: string) => found.push(toViolation('names', path, 1, '', message))
  if (/^(server|dashboard|snippet|packages|tests|bench)\//.test(path) && path !== WIRING) {
    const parts = path.split('/').map((part) => part.replace(/(\.test)?\.\w+$/, ''))
    for (const part of parts) if (EMPTY_NAMES.test(part)) add(`"${part}" says nothing: name the thing`)
  }
  if (/^server\/(features|lib|http)\/(.*\/)?index\.ts$/.test(path))
    add('no barrels: import from the file that has it')
  if (/\.(test|spec)\.tsx?$/.test(path) && !/^(server|tests)\//.test(path)) {
    add('bunfig.toml has tests run in server/ and tests/ only: this one would never run')
  }
  return found
}

/** Bare participles: words that end in -ed, and a list of all others. */
const PARTICIPLE =
  /^(?:Begun|Bound|Brought|Chosen|Done|Found|Given|Going|Gone|Held|Kept|Known|Left|Lost|Made|Meant|Said|Seen|Sent|Shown|Sought|Spent|Taken|Told|Understood|Written|(?!Embed$)[A-Z][a-z]+[^aeiou]ed)$/

/** A type is a noun: `Delivery`, `DeliveryResult`, and not `Sent`. */
export function checkTypeNames(source: SourceFile): Violation[] {
  return listExportedNames(source)
    .filter(({ name, kind }) => /^(?:type|interface|class)$/.test(kind) && PARTICIPLE.test(name))
    .map(({ name, line }) =>
      toViolation('names', source.path, line, name, `the type ${name} is a participle: name it by a noun`),
    )
}

const toTree = (path: string) => (path.includes('.fixture.') ? 'tests' : path.split('/')[0])

/** Exports with the same name in different files of one tree: server/, dashboard/, snippet/, packages/, tests/ … */
export function listDoubleExports(sources: SourceFile[]) {
  const byName = Map.groupBy(
    sources.flatMap((source) => {
      const names = Map.groupBy(listExportedNames(source), ({ name }) => name)
      return [...names].map(([name, [first]]) => ({ name, file: source.path, line: first?.line ?? 1 }))
    }),
    ({ name, file }) => `${toTree(file)} ${name}`,
  )
  return [...byName.values()].filter(({ length }) => length > 1)
}

export function checkDoubleExports(sources: SourceFile[]): Violation[] {
  return listDoubleExports(sources).flatMap((exports) =>
    exports.map(({ name, file, line }) => {
      const others = exports.flatMap((other) => (other.file === file ? [] : other.file))
      return toViolation('exports', file, line, name, `${name} is also exported by ${others.join(', ')}`)
    }),
  )
}

/** A file opens with a comment that begins with a sentence, which may go on in the next line. */
export function checkOpening({ path, text }: SourceFile): Violation[] {
  const [comment] = /^(?:\/\/.*\n?)+|^\/\*[\s\S]*?\*\//.exec(text.replace(/^#!.*\n/, '')) ?? ['']
  const lines = comment
    .split('\n')
    .map((line) => line.replace(/^\s*\/?\*{0,2}\/?\/?\s?|\s*\*\/$/g, '').trim())
  const [first = ''] = lines.filter(Boolean)
  const isSentence = /^[^\w]*[A-Z0-9]/.test(first) && /[.!?:][)"”]?(?:\s|$)/.test(lines.join(' '))
  if (isSentence && first.split(/\s+/).length >= 4) return []
  return [toViolation('openings', path, 1, '', 'begin the file with a sentence that says what it is for')]
}
