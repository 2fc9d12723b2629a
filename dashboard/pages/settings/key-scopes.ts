// Descriptions of API key scopes, for people: the scopes of docs/contract.md §16.

import type { KeyResource } from '../../api/workspace.ts'

export type KeyScope = KeyResource['scopes'][number]
type NamedScope = Exclude<KeyScope, '*'>

export const SCOPE_LABELS: Record<NamedScope, string> = {
  'links:read': 'Read links and tags',
  'links:write': 'Create, change and delete links and tags',
  'analytics:read': 'Read analytics and export clicks',
  'analytics:write': 'Save and share views of analytics',
  'forms:read': 'Read forms',
  'forms:write': 'Create and change forms',
  'submissions:read': 'Read and export submissions',
  'submissions:write': 'Change, delete and erase submissions',
  'channels:write': 'Read and change channels and deliveries',
}

export const NAMED_SCOPES = Object.keys(SCOPE_LABELS) as NamedScope[]
export const READ_SCOPES = NAMED_SCOPES.filter((scope) => scope.endsWith(':read'))

/** One line for the list of keys. */
export function toScopeText(scopes: readonly KeyScope[]): string {
  if (scopes.includes('*')) return 'Full access'
  const isReadOnly =
    scopes.length === READ_SCOPES.length && READ_SCOPES.every((scope) => scopes.includes(scope))
  return isReadOnly ? 'Read only' : scopes.join(', ')
}
