// Rules about sizes: the lines of a function and of a file, and the files of a folder.

import { posix } from 'node:path'
import { isTest, type Violation } from './rule.ts'
import { listFunctions, type SourceFile } from './typescript-source.ts'

export const FUNCTION_LINES_MAX = 70
const FILE_LINES_MAX = 600
const FOLDER_FILES_MAX = 40

/** A migration is data: the tables of its day, one after the other. */
const hasLengthRule = (path: string) => !path.includes('/migrations/')

/** Functions with more lines than the rule allows, inner functions included. */
export function listLongFunctions(source: SourceFile) {
  if (!hasLengthRule(source.path)) return []
  return listFunctions(source).filter(({ lines }) => lines > FUNCTION_LINES_MAX)
}

export function checkLengths(source: SourceFile): Violation[] {
  const { path, text } = source
  const found: Violation[] = []
  const add = (what: string, line: number, lines: number, max: number) => {
    const message = `${what} has ${lines} lines, more than ${max}`
    found.push({ rule: 'length', file: path, line, what, lines, message })
  }
  for (const { name, line, lines } of listLongFunctions(source))
    add(name || '(callback)', line, lines, FUNCTION_LINES_MAX)
  const fileLines = text.trimEnd().split('\n').length
  if (hasLengthRule(path) && fileLines > FILE_LINES_MAX) add('the file', 1, fileLines, FILE_LINES_MAX)
  return found
}

export function checkFolders(paths: string[]): Violation[] {
  const counts = new Map<string, number>()
  for (const path of paths) {
    if (!/^(server|dashboard|snippet|packages|tests)\/.*\.tsx?$/.test(path) || isTest(path)) continue
    const folder = posix.dirname(path)
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts].flatMap(([folder, count]) => {
    if (count <= FOLDER_FILES_MAX) return []
    const message = `${folder}/ has ${count} files side by side, more than ${FOLDER_FILES_MAX}: give it rooms`
    return [{ rule: 'folders' as const, file: folder, line: 1, what: '', message }]
  })
}
