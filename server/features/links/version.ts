// The version of a link's settings, for concurrent edits: `updatedAt` as ETag, and `If-Match`. Every edit gets a new
// version; clicks and leads do not change it.

import { Failure } from '../../lib/failure.ts'
import { toIso } from '../../lib/iso-time.ts'
import type { LinkRow } from './link.ts'

/** The time of an edit, later than the last one: two edits can happen in the same millisecond. */
export const toNextVersion = ({ updated_at }: Pick<LinkRow, 'updated_at'>, now: number) =>
  Math.max(now, updated_at + 1)

/** @param updatedAt as the resource has it, so that a link of a list can be used for `If-Match` too */
export const toEtag = (updatedAt: string) => `"${updatedAt}"`

/**
 * @param ifMatch the header of the request: `*`, or ETags separated by commas. A weak ETag is accepted, because
 * proxies that compress answers make ETags weak
 * @throws Failure `changed_since` when another person has changed the link
 */
export function requireVersion({ updated_at }: Pick<LinkRow, 'updated_at'>, ifMatch: string | undefined) {
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  const tags = ifMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  if (tags.includes(toEtag(toIso(updated_at)))) return
  throw new Failure(
    'changed_since',
    'The link has changed since you read it. Read it again, and repeat your change with its new ETag.',
  )
}
