// Applies every rule of ARCHITECTURE.md to the files of the repository. Exceptions cover violations by name and with a
// reason. An exception that covers nothing is itself a violation.

import { checkFileCircles, checkRoomCircles } from './circles.ts'
import { checkClocks, checkForbiddenCalls } from './forbidden-calls.ts'
import { checkFrontEndImports } from './front-end-imports.ts'
import { checkEntrances, checkLayers } from './layers.ts'
import { checkDoubleExports, checkOpening, checkPathNames, checkTypeNames } from './names.ts'
import { isProduct, type RepositoryFile, type RuleException, type Violation } from './rule.ts'
import { checkFolders, checkLengths } from './sizes.ts'
import { parseSource } from './typescript-source.ts'
import { checkWords } from './words.ts'
import { checkWorkspaceScope } from './workspace-scope.ts'

export function findViolations(files: RepositoryFile[], exceptions: RuleException[] = []): Violation[] {
  const sources = files
    .filter(({ path }) => /\.(ts|tsx)$/.test(path))
    .map(({ path, text }) => parseSource(path, text))
  const product = sources.filter(({ path }) => isProduct(path))
  const server = product.filter(({ path }) => path.startsWith('server/'))
  const named = sources.filter(({ path }) => !path.includes('.test.'))
  const all = [
    ...server.flatMap(checkLayers),
    ...checkEntrances(server),
    ...server.flatMap(checkForbiddenCalls),
    ...sources.flatMap(checkClocks),
    ...product.flatMap(checkFrontEndImports),
    ...checkRoomCircles(server),
    ...checkFileCircles(sources),
    ...checkWorkspaceScope(server),
    ...product.flatMap(checkLengths),
    ...checkFolders(files.map(({ path }) => path)),
    ...files.flatMap(({ path }) => checkPathNames(path)),
    ...checkDoubleExports(named),
    ...named.flatMap(checkTypeNames),
    ...product.flatMap(checkOpening),
    ...files.flatMap(checkWords),
  ]
  return [
    ...all.filter((violation) => !exceptions.some((exception) => covers(exception, violation))),
    ...findStaleExceptions(all, exceptions),
  ]
}

const concerns = ({ rule, file, what }: RuleException, violation: Violation) =>
  rule === violation.rule && file === violation.file && (what === undefined || what === violation.what)

const covers = (exception: RuleException, violation: Violation) =>
  concerns(exception, violation) && (violation.lines ?? 0) <= (exception.lines ?? Number.POSITIVE_INFINITY)

const findStaleExceptions = (all: Violation[], exceptions: RuleException[]): Violation[] =>
  exceptions
    .filter((exception) => !all.some((violation) => concerns(exception, violation)))
    .map(({ rule, file, what = '' }) => {
      const message = `the exception from "${rule}" ${what && `for ${what} `}is no longer needed`
      return { rule: 'exceptions', file, line: 1, what, message }
    })
