// Conflicts between links, with the messages of docs/contract.md §1 and the field of each.

import { Failure } from '../../lib/failure.ts'

const FIELDS = {
  'Slug already in use': 'slug',
  'Slug is reserved': 'slug',
  'External id already in use': 'externalId',
} as const

export const linkConflict = (message: keyof typeof FIELDS) => new Failure('conflict', message)

/** The field that a failure is about, for the `errors` of a bulk request. */
export function toErrorField({ code, message }: Failure): string {
  if (code === 'not_found') return 'id'
  return FIELDS[message as keyof typeof FIELDS] ?? 'link'
}
