// Rules about workspaces: every query on a workspace's rows names the workspace, and a verb that writes calls `allow`
// first. Both rules read text, so they see the usual shape of a query and no other.

import type { Violation } from './rule.ts'
import {
  listFunctions,
  readCallChain,
  type SourceFile,
  type SourceFunction,
  toLineNumber,
} from './typescript-source.ts'

/** The files that name the tables and their columns. */
export const TABLES = /^server\/storage\/database\/tables(\/[\w-]+)?\.ts$/

export function checkWorkspaceScope(server: SourceFile[]): Violation[] {
  const tables = server.filter(({ path }) => TABLES.test(path))
  const owned = new Set(listWorkspaceTables(tables.map(({ text }) => text).join('\n')))
  const queried = server.filter(({ path }) => !path.startsWith('server/storage/'))
  return [
    ...queried.flatMap((source) => findUnscopedQueries(source, owned)),
    ...queried.flatMap((source) => findUnscopedSql(source, owned)),
    ...findUnauthorizedWrites(queried.filter(({ path }) => path.startsWith('server/features/'))),
  ]
}

/** The tables whose rows have a `workspace_id`, by the names that queries use. */
export function listWorkspaceTables(tables: string): string[] {
  const bodies = new Map<string, string>()
  for (const match of tables.matchAll(/^export interface (\w+) \{\n([\s\S]*?)^\}/gm)) {
    bodies.set(match[1] as string, match[2] as string)
  }
  return [...(bodies.get('Tables') ?? '').matchAll(/^\s*(\w+): (?:\w+\.)?(\w+)/gm)].flatMap(
    ([, table, row]) =>
      /^\s*workspace_id\b/m.test(bodies.get(row as string) ?? '') ? [table as string] : [],
  )
}

/** Calls that read or write a column, and set no condition on it. */
const NO_CONDITION = /^(select\w*|returning\w*|groupBy|orderBy|distinctOn|set|values)$/
const JOIN = /Join\w*$/

function findUnscopedQueries(source: SourceFile, owned: Set<string>): Violation[] {
  const queries = [...source.code.matchAll(/\.\s*(selectFrom|updateTable|deleteFrom)\s*\(/g)].map((match) => {
    const { calls, end } = readCallChain(source, match[1] as string, match.index + match[0].length - 1)
    const conditions = calls.slice(1).filter(({ name, args }) => {
      return !NO_CONDITION.test(name) && (!JOIN.test(name) || args.includes('=>'))
    })
    return {
      start: match.index,
      end,
      tables: [...(calls[0]?.args ?? '').matchAll(/['"](\w+)(?: as \w+)?['"]/g)].map(
        ([, table]) => table as string,
      ),
      scoped: conditions.some(({ args }) => /\bworkspace_id\b/.test(args)),
    }
  })
  return queries
    .filter(
      (query) =>
        !queries.some((outer) => outer.start <= query.start && query.end <= outer.end && outer.scoped),
    )
    .flatMap(({ start, tables }) =>
      tables
        .filter((table) => owned.has(table))
        .map((table) => toViolation(source, start, `reads or writes ${table}`)),
    )
}

function findUnscopedSql(source: SourceFile, owned: Set<string>): Violation[] {
  return source.templates.flatMap(({ start, end }) => {
    if (!/\bsql\s*(<[^`]*>)?\s*$/.test(source.code.slice(Math.max(0, start - 300), start))) return []
    const sql = source.text.slice(start, end)
    if (/\bworkspace_id\b/.test(sql)) return []
    return [...sql.matchAll(/\b(?:from|join|update)\s+"?(\w+)/gi)]
      .filter(([, table]) => owned.has(table as string))
      .map(([, table]) => toViolation(source, start, `reads or writes ${table} in SQL`))
  })
}

function toViolation(source: SourceFile, at: number, does: string): Violation {
  const what = findVerbAround(listFunctions(source), at)?.name ?? ''
  const line = toLineNumber(source.text, at)
  return { rule: 'workspace', file: source.path, line, what, message: `${does} without naming the workspace` }
}

const findVerbAround = <F extends SourceFunction>(functions: F[], at: number): F | undefined =>
  functions.filter(({ start, end }) => start <= at && at <= end).sort((a, b) => a.start - b.start)[0]

const QUERY = /\.\s*(?:selectFrom|insertInto|updateTable|deleteFrom)\s*\(/

/**
 * A verb is authorized when it calls `allow` before its first query, or calls an authorized verb: `createLink` opens
 * the transaction, and `createLinkIn` calls `allow`. A function that is not exported writes for a verb of its file.
 */
function findUnauthorizedWrites(all: SourceFile[]): Violation[] {
  // Tables of nodes, which belong to no workspace and no actor.
  const features = all.filter(({ path }) => !path.startsWith('server/features/cluster/'))
  const verbs = features.flatMap((source) => {
    const functions = listFunctions(source)
    const outermost = functions.filter((verb) => findVerbAround(functions, verb.start) === verb)
    return outermost.map((verb) => ({ ...verb, source, code: source.code.slice(verb.start, verb.end) }))
  })
  const authorized = new Set<(typeof verbs)[number]>()
  const findCall = (name: string, code: string) =>
    code.search(new RegExp(`(?<![\\w$.])${RegExp.escape(name)}\\s*\\(`))
  const isAuthorized = ({ code, source }: (typeof verbs)[number]) => {
    const allow = findCall('allow', code)
    if (allow >= 0) return allow < (QUERY.exec(code)?.index ?? code.length)
    const visible = [...authorized].filter((other) => other.exported || other.source === source)
    return visible.some(({ name }) => findCall(name, code) >= 0)
  }
  for (let before = -1; before < authorized.size; ) {
    before = authorized.size
    for (const verb of verbs) if (verb.name !== '' && isAuthorized(verb)) authorized.add(verb)
  }
  return features.flatMap((source) =>
    [...source.code.matchAll(/\bdb\s*\.\s*write\s*[<(]/g)].flatMap(({ index }) => {
      const own = verbs.filter((verb) => verb.source === source)
      const verb = findVerbAround(own, index)
      const responsible = verb?.exported ? [verb] : own
      if (responsible.some((owner) => authorized.has(owner))) return []
      const what = verb?.name ?? ''
      const line = toLineNumber(source.text, index)
      const message = `${what || 'this file'} writes and does not call allow() first`
      return [{ rule: 'allow' as const, file: source.path, line, what, message }]
    }),
  )
}
