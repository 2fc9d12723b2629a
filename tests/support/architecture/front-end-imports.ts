// Rules about imports in dashboard/, snippet/ and packages/: the modules that the browser's code may use.

import { listLocalImports } from './import-graph.ts'
import type { Violation } from './rule.ts'
import { listImports, type SourceFile } from './typescript-source.ts'

/** Texts are data, which import nothing. */
const LANGUAGE = /^server\/features\/[^/]+\/rules\/languages\/[a-z-]+\.json$/
const MARKUP = /^server\/features\/[^/]+\/markup\.ts$/

export function checkFrontEndImports(source: SourceFile): Violation[] {
  const { path } = source
  if (path.startsWith('dashboard/')) {
    return listLocalImports(source)
      .filter(({ target, typeOnly }) => {
        if (!target.startsWith('server/') || LANGUAGE.test(target)) return false
        const may = typeOnly
          ? /^server\/features\/(?:[^/]+\/){1,2}(schema|api)\.ts$/
          : // What a page shows on both sides: `markup.ts` imports nothing, so nothing of the server comes with it.
            /^server\/features\/(?:[^/]+\/){1,2}(schema|markup)\.ts$/
        return !may.test(target)
      })
      .map(({ target, line, typeOnly }) => ({
        rule: 'dashboard' as const,
        file: path,
        line,
        what: '',
        message: `the dashboard may not take ${typeOnly ? 'types' : 'values'} from ${target}`,
      }))
  }
  if (MARKUP.test(path)) {
    return listImports(source).map(({ specifier, line }) => ({
      rule: 'dashboard' as const,
      file: path,
      line,
      what: '',
      message: `the dashboard takes values from here, so this imports nothing, not ${specifier}`,
    }))
  }
  if (path.startsWith('packages/')) return checkPackageImports(source)
  if (!path.startsWith('snippet/')) return []
  const own = new Set(
    listLocalImports(source).flatMap(({ target, specifier }) =>
      target.startsWith('snippet/') ? specifier : [],
    ),
  )
  return listImports(source)
    .filter(({ specifier }) => !own.has(specifier))
    .map(({ specifier, line }) => ({
      rule: 'snippet' as const,
      file: path,
      line,
      what: '',
      message: `the snippet imports nothing, not ${specifier}`,
    }))
}

/** Other projects install the packages, so they contain all their code, except React, which the page already has. */
function checkPackageImports(source: SourceFile): Violation[] {
  const { path } = source
  // Files of the build, which are in no package.
  if (path.startsWith('packages/build')) return []
  const own = new Set(
    listLocalImports(source).flatMap(({ target, specifier }) =>
      /^(?:snippet|packages)\//.test(target) ? specifier : [],
    ),
  )
  return listImports(source)
    .filter(({ specifier }) => !own.has(specifier))
    .filter(({ specifier }) => !(specifier === 'react' && path.startsWith('packages/react/')))
    .map(({ specifier, line }) => ({
      rule: 'packages' as const,
      file: path,
      line,
      what: '',
      message: `a package imports the snippet only, not ${specifier}`,
    }))
}
