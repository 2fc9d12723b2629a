// The house rules of ARCHITECTURE.md as a pure function over files. A rule that cannot hold somewhere has an entry in
// a list of exceptions with its reason; an entry that is no longer needed is itself a violation.

import { posix } from 'node:path'
import { checkLengths, checkNames } from './size-and-names.ts'
import { listImports, parseSource, type SourceFile, toLineNumber } from './typescript-source.ts'
import { checkWorkspaceScope } from './workspace-scope.ts'

export interface RepositoryFile {
  path: string
  text: string
}

export interface Violation {
  rule: RuleName
  file: string
  line: number
  /** The function or file part that an exception can name. */
  what: string
  message: string
}

export type RuleName =
  | 'layers'
  | 'features'
  | 'entrances'
  | 'environment'
  | 'drivers'
  | 'fetch'
  | 'dashboard'
  | 'snippet'
  | 'workspace'
  | 'allow'
  | 'length'
  | 'names'
  | 'exceptions'

export interface RuleException {
  rule: RuleName
  file: string
  /** As in the violation; absent means the whole file. */
  what?: string
  /** For `length`: it may shrink below this, never grow beyond it. */
  lines?: number
  why: string
}

export function findViolations(files: RepositoryFile[], exceptions: RuleException[] = []): Violation[] {
  const sources = files
    .filter(({ path }) => /\.(ts|tsx)$/.test(path))
    .map(({ path, text }) => parseSource(path, text))
  const product = sources.filter(({ path }) => isProduct(path))
  const server = product.filter(({ path }) => path.startsWith('server/'))
  const all = [
    ...server.flatMap(checkImports),
    ...server.flatMap(checkForbiddenCalls),
    ...product.flatMap(checkFrontEndImports),
    ...checkWorkspaceScope(server),
    ...product.flatMap((source) => checkLengths(source, exceptions)),
    ...files.flatMap(({ path }) => checkNames(path)),
  ]
  const covers = (exception: RuleException, one: Violation) =>
    exception.rule === one.rule &&
    exception.file === one.file &&
    (exception.what === undefined || exception.what === one.what) &&
    exception.lines === undefined
  const stale = exceptions
    .filter((exception) => exception.lines === undefined && !all.some((one) => covers(exception, one)))
    .map(({ rule, file, what }) => ({
      rule: 'exceptions' as const,
      file,
      line: 1,
      what: what ?? '',
      message: `the exception from "${rule}" ${what ? `for ${what} ` : ''}is no longer needed`,
    }))
  return [...all.filter((one) => !exceptions.some((exception) => covers(exception, one))), ...stale]
}

const isTest = (path: string) => /\.test\.tsx?$/.test(path)
const isProduct = (path: string) => /^(server|dashboard|snippet)\//.test(path) && !isTest(path)

/** Which layer may use which. `wiring` is main, app, jobs and config: the files directly in server/. */
const LAYERS: Record<string, string[]> = {
  wiring: ['wiring', 'cli', 'features', 'storage', 'http', 'lib'],
  cli: ['wiring', 'cli', 'features', 'storage', 'http', 'lib'],
  features: ['features', 'storage', 'http', 'lib'],
  storage: ['storage', 'lib'],
  http: ['http', 'lib'],
  lib: ['lib'],
}

/** Anyone may use accounts. An arrow more is a decision: docs/adr/ says why. */
export const ALLOWED_FEATURE_IMPORTS: Record<string, string[]> = {
  accounts: [],
  links: [],
  redirect: ['links', 'hits', 'visitors'],
  visitors: [],
  hits: ['visitors'],
  analytics: ['links', 'forms', 'attribution'],
  forms: ['attribution', 'notify', 'hits', 'visitors'],
  tracking: ['hits', 'visitors'],
  attribution: ['tracking', 'hits', 'links', 'visitors'],
  notify: [],
}

function findLayer(path: string): string | undefined {
  const [, first, second] = path.split('/')
  if (second === undefined) return 'wiring'
  return first !== undefined && first !== 'wiring' && Object.hasOwn(LAYERS, first) ? first : undefined
}

const findFeature = (path: string) => /^server\/features\/([^/]+)\//.exec(path)?.[1]

function listLocalImports(source: SourceFile) {
  return listImports(source)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map((one) => ({
      ...one,
      target: posix.normalize(posix.join(posix.dirname(source.path), one.specifier)),
    }))
}

function checkImports(source: SourceFile): Violation[] {
  const { path } = source
  const found: Violation[] = []
  const add = (rule: RuleName, line: number, message: string) =>
    found.push({ rule, file: path, line, what: '', message })
  const layer = findLayer(path)
  if (!layer) add('layers', 1, 'the house has no such room')
  const feature = findFeature(path)
  if (layer === 'features' && (!feature || !ALLOWED_FEATURE_IMPORTS[feature]))
    add('features', 1, 'the house has no such feature')
  for (const { target, typeOnly, line } of listLocalImports(source)) {
    if (!target.startsWith('server/')) {
      if (layer !== 'wiring') add('layers', line, `reaches out of server/ to ${target}`)
      continue
    }
    const other = findLayer(target)
    if (layer && other && !LAYERS[layer]?.includes(other))
      add('layers', line, `${layer} may not use ${other} (${target})`)
    const used = findFeature(target)
    const known = feature && used && used !== feature && used !== 'accounts'
    if (known && !ALLOWED_FEATURE_IMPORTS[feature]?.includes(used)) {
      add('features', line, `${feature} may not use ${used} (${target})`)
    }
    const entrance = /^server\/features\/[^/]+\/(api|public)\.ts$/.test(target)
    if (entrance && !typeOnly && path !== 'server/app.ts')
      add('entrances', line, `only app.ts mounts ${target}`)
  }
  return found
}

const DRIVERS = /^(bun:sqlite|pg|pg-[\w-]+|postgres|better-sqlite3|@duckdb\/[\w-]+|@clickhouse\/[\w-]+)(\/|$)/

const FORBIDDEN_CALLS: { rule: RuleName; pattern: RegExp; allowedIn: RegExp; message: string }[] = [
  {
    rule: 'environment',
    pattern:
      /\b(process|Bun)\s*\.\s*env\b|\bimport\.meta\.env\b|\{[^{}]*\benv\b[^{}]*\}\s*=\s*(process|Bun)\b/g,
    allowedIn: /^server\/config\.ts$/,
    message: 'the environment is read in config.ts only',
  },
  {
    rule: 'drivers',
    pattern: /\bBun\s*\.\s*(SQL|sql)\b/g,
    allowedIn: /^server\/storage\//,
    message: 'engine drivers stay in storage/',
  },
  {
    rule: 'fetch',
    // Not `fetch(request) {`, which is how a server says what it does; nor `app.fetch(`, which stays in the process.
    pattern: /(?<![\w$.])fetch\s*\(|\b(globalThis|Bun|self)\s*\.\s*fetch\b/g,
    allowedIn: /^$/,
    message: 'bare fetch ignores the address check: use safeRequest()',
  },
]

function checkForbiddenCalls(source: SourceFile): Violation[] {
  const { path, code, bracketPartners } = source
  const found: Violation[] = []
  const add = (rule: RuleName, line: number, message: string) =>
    found.push({ rule, file: path, line, what: '', message })
  for (const { rule, pattern, allowedIn, message } of FORBIDDEN_CALLS) {
    if (allowedIn.test(path)) continue
    for (const match of code.matchAll(pattern)) {
      const close = bracketPartners.get(match.index + match[0].length - 1)
      const declares = close !== undefined && /^\s*(:[^\n]*)?\{/.test(code.slice(close + 1))
      if (!declares) add(rule, toLineNumber(code, match.index), message)
    }
  }
  for (const { specifier, line } of listImports(source)) {
    if (DRIVERS.test(specifier) && !path.startsWith('server/storage/')) {
      add('drivers', line, `the driver ${specifier} stays in storage/`)
    }
    const environment = /^(node:)?process$/.test(specifier) && path !== 'server/config.ts'
    if (environment)
      add('environment', line, 'process is a global; its environment is read in config.ts only')
  }
  return found
}

function checkFrontEndImports(source: SourceFile): Violation[] {
  const { path } = source
  if (path.startsWith('dashboard/')) {
    return listLocalImports(source)
      .filter(({ target, typeOnly }) => {
        if (!target.startsWith('server/')) return false
        const may = typeOnly
          ? /^server\/features\/[^/]+\/(schema|api)\.ts$/
          : /^server\/features\/[^/]+\/schema\.ts$/
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
