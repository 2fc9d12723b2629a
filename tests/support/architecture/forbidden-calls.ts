// Rules about calls and packages: where the environment, the engines' drivers, the network and the clock may be used.

import type { RuleName, Violation } from './rule.ts'
import { listImports, type SourceFile, toLineNumber } from './typescript-source.ts'

const DRIVERS = /^(bun:sqlite|pg|pg-[\w-]+|postgres|better-sqlite3|@duckdb\/[\w-]+|@clickhouse\/[\w-]+)(\/|$)/

const FORBIDDEN_CALLS: { rule: RuleName; pattern: RegExp; allowedIn: RegExp; message: string }[] = [
  {
    rule: 'environment',
    pattern:
      /\b(process|Bun)\s*\.\s*env\b|\bimport\.meta\.env\b|\{[^{}]*\benv\b[^{}]*\}\s*=\s*(process|Bun)\b/g,
    allowedIn: /^server\/config\/config\.ts$/,
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
    // Allowed: `fetch(request) {`, which declares a server's handler, and `app.fetch(`, which stays in the process.
    pattern: /(?<![\w$.])fetch\s*\(|\b(globalThis|Bun|self)\s*\.\s*fetch\b/g,
    // The operator has chosen the addresses of ClickHouse (CLICKHOUSE_URL) and of the bucket (UPLOADS_S3_URL), which are
    // often private ones.
    allowedIn: /^server\/storage\/(hits\/clickhouse\/client|files\/bucket-client)\.ts$/,
    message: 'bare fetch ignores the address check: use safeRequest()',
  },
  {
    rule: 'texts',
    pattern: /\.\s*normalize\s*\(/g,
    allowedIn: /^server\/lib\/text\.ts$/,
    message: 'takes quadratic time for the text of a stranger: use normalizeUnicode()',
  },
  {
    rule: 'texts',
    pattern: /\bURL\s*\.\s*(?:parse|canParse)\s*\(|\bdomainToASCII\s*\(/g,
    allowedIn: /^server\/lib\/web-url\.ts$/,
    message: 'takes quadratic time for a long host: use parseUrl() or toAsciiHost()',
  },
]

export function checkForbiddenCalls(source: SourceFile): Violation[] {
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
    const environment = /^(node:)?process$/.test(specifier) && path !== 'server/config/config.ts'
    if (environment)
      add('environment', line, 'process is a global; its environment is read in config.ts only')
  }
  return found
}

const CHANCE = /\bMath\s*\.\s*random\b/g
const CLOCKS =
  /\bDate\s*\.\s*now\b|\bnew\s+Date\s*\(\s*\)|\bBun\s*\.\s*sleep(?:Sync)?\b|(?<![\w$.])setTimeout\s*\(/g

/**
 * A quick test that reads a clock fails at midnight or on a slow machine. A test with unseeded random choices cannot
 * be repeated.
 */
export function checkClocks({ path, code }: SourceFile): Violation[] {
  if (!/\.test\.tsx?$/.test(path)) return []
  const find = (pattern: RegExp, message: string) =>
    [...code.matchAll(pattern)].map(({ index, 0: what }): Violation => {
      return { rule: 'clocks', file: path, line: toLineNumber(code, index), what, message }
    })
  return [
    ...find(CHANCE, 'cannot be repeated: use createRandom() of tests/support/random.ts'),
    ...(path.includes('.full.test.')
      ? []
      : find(CLOCKS, 'depends on the clock: wait with until(), or move the clock of tests/support/world.ts')),
  ]
}
