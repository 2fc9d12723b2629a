// The house rules of ARCHITECTURE.md as a pure function over files. A rule that cannot hold somewhere has an entry in
// a list of exceptions with its reason; an entry that is no longer needed is itself a violation.

import { checkFileCircles, checkRoomCircles } from './circles.ts'
import { checkForbiddenCalls } from './forbidden-calls.ts'
import { checkFrontEndImports } from './front-end-imports.ts'
import { checkLayers } from './layers.ts'
import { checkDoubleExports, checkOpening, checkPathNames, checkTypeNames } from './names.ts'
import { isProduct, type RepositoryFile, type RuleException, type Violation } from './rule.ts'
import { checkFolders, checkLengths } from './sizes.ts'
import { parseSource } from './typescript-source.ts'
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
    ...server.flatMap(checkForbiddenCalls),
    ...product.flatMap(checkFrontEndImports),
    ...checkRoomCircles(server),
    ...checkFileCircles(product),
    ...checkWorkspaceScope(server),
    ...product.flatMap(checkLengths),
    ...checkFolders(files.map(({ path }) => path)),
    ...files.flatMap(({ path }) => checkPathNames(path)),
    ...checkDoubleExports(named),
    ...named.flatMap(checkTypeNames),
    ...product.flatMap(checkOpening),
  ]
  return [
    ...all.filter((one) => !exceptions.some((exception) => covers(exception, one))),
    ...findStaleExceptions(all, exceptions),
  ]
}

const concerns = ({ rule, file, what }: RuleException, one: Violation) =>
  rule === one.rule && file === one.file && (what === undefined || what === one.what)

const covers = (exception: RuleException, one: Violation) =>
  concerns(exception, one) && (one.lines ?? 0) <= (exception.lines ?? Number.POSITIVE_INFINITY)

const findStaleExceptions = (all: Violation[], exceptions: RuleException[]): Violation[] =>
  exceptions
    .filter((exception) => !all.some((one) => concerns(exception, one)))
    .map(({ rule, file, what = '' }) => {
      const message = `the exception from "${rule}" ${what && `for ${what} `}is no longer needed`
      return { rule: 'exceptions', file, line: 1, what, message }
    })
