// Turns zod's issues into the errors that callers read: one short message per field (docs/contract.md §1).

import { invalid } from '../lib/failure.ts'

interface Issue {
  code?: string
  path: PropertyKey[]
  message: string
  keys?: string[]
  errors?: Issue[][]
}

/** The members that may hold the list of a bulk body. A list as the whole body has the same names of fields. */
const LIST_MEMBERS = new Set(['links', 'outcomes'])

/** Maximum number of messages: a body can have tens of thousands of errors. */
const ERRORS_MAX = 100

/**
 * @param what is validated, for the message about unknown names
 * @returns at most ERRORS_MAX messages, such as `{"destinationUrl": "must be …"}`. Dots join the names of a deeper field
 *   (`geoTargeting.DE`). A field of a bulk body starts with the index of its item (`2.slug`).
 */
export function fieldErrors(issues: Issue[], what: 'field' | 'parameter'): Record<string, string> {
  // No plain object: it has names already (`constructor`, `toString`), and callers send such names too.
  const errors = new Map<string, string>()
  for (const { field, message } of listMessages(issues, what)) {
    if (!errors.has(field)) errors.set(field, message)
    if (errors.size === ERRORS_MAX) break
  }
  return Object.fromEntries(errors)
}

function* listMessages(
  issues: Issue[],
  what: 'field' | 'parameter',
): Generator<{ field: string; message: string }> {
  for (const outer of issues) {
    for (const issue of flatten(outer)) {
      const path = issue.path.map(String)
      if (LIST_MEMBERS.has(path[0] ?? '') && path.length > 1) path.shift()
      const isUnknown = issue.code === 'unrecognized_keys'
      const message = isUnknown ? `is not a known ${what}` : issue.message
      const names = isUnknown ? (issue.keys ?? []).map((key) => [...path, key]) : [path]
      for (const name of names) yield { field: name.join('.') || 'body', message }
    }
  }
}

/** For a union, keeps the issues of the branch that matched deepest: the caller most likely meant that branch. */
function flatten(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union' || !issue.errors?.length) return [issue]
  const depth = (branch: Issue[]) => Math.max(0, ...branch.map((inner) => inner.path.length))
  const deepest = issue.errors.reduce((best, branch) => (depth(branch) > depth(best) ? branch : best))
  if (depth(deepest) === 0 && deepest.every((inner) => inner.code !== 'unrecognized_keys')) return [issue]
  return deepest.flatMap(flatten).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
}

/** For OpenAPIHono's `defaultHook`. @throws Failure `invalid` */
export function refuseInvalid(result: { success: boolean; target?: string; error?: unknown }): undefined {
  if (result.success) return undefined
  const { issues } = result.error as { issues: Issue[] }
  throw invalid(fieldErrors(issues, result.target === 'query' ? 'parameter' : 'field'))
}

/**
 * Refuses what the router or a schema would accept silently: parameters without a name, "__proto__", and text that is not percent-encoded UTF-8,
 * which the router would not decode.
 * @throws Failure `invalid`
 */
export function refuseBrokenQuery(url: string): void {
  const query = /\?([^#]*)/.exec(url)?.[1] ?? ''
  for (const part of query.split('&')) {
    const name = part.split('=', 1)[0] ?? ''
    if (name === '' && part !== '') throw invalid({ query: 'has a parameter without a name' })
    if (!isEncoded(part))
      throw invalid({ [isEncoded(name) ? name : 'query']: 'is not percent-encoded UTF-8' })
    // No route has it, and a schema that takes names that it does not know leaves this one out.
    if (decodeURIComponent(name) === '__proto__') throw invalid({ ['__proto__']: 'is not a known parameter' })
  }
}

function isEncoded(text: string): boolean {
  try {
    return decodeURIComponent(text).isWellFormed()
  } catch {
    return false
  }
}
