// The scopes of API keys (docs/contract.md §16). `*` is full access.

export const KEY_SCOPES = [
  'links:read',
  'links:write',
  'analytics:read',
  'analytics:write',
  'forms:read',
  'forms:write',
  'submissions:read',
  'submissions:write',
  'channels:write',
] as const

/** The scopes that a route can require. */
export type RouteScope = (typeof KEY_SCOPES)[number]

/** The scopes that a key can have. */
export type KeyScope = RouteScope | '*'

/** The scopes that a route asks for and a key lacks. */
export const findMissingScopes = (
  asked: readonly RouteScope[],
  granted: readonly KeyScope[],
): RouteScope[] => (granted.includes('*') ? [] : asked.filter((scope) => !granted.includes(scope)))

/** The scope that reads what a scope writes. Channels have one scope for both. */
export function toReadScope(scope: RouteScope): RouteScope {
  const read = scope.replace(/:write$/, ':read')
  return KEY_SCOPES.find((each) => each === read) ?? scope
}

/** @param stored `*`, or scopes separated by commas; a word that this version does not know grants nothing */
export const parseStoredScopes = (stored: string): KeyScope[] =>
  stored === '*' ? ['*'] : KEY_SCOPES.filter((scope) => stored.split(',').includes(scope))

/** In the order of the list, each once. Full access needs no other scope beside it. */
export const toStoredScopes = (scopes: readonly KeyScope[]): string =>
  scopes.includes('*') ? '*' : KEY_SCOPES.filter((scope) => scopes.includes(scope)).join(',')
