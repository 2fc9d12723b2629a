// Conflicts between links, with the messages of docs/contract.md §1 and the field of each.

import { Failure } from '../../lib/failure.ts'

const FIELDS = {
  'Slug already in use': 'slug',
  'Slug is reserved': 'slug',
  'External id already in use': 'externalId',
} as const

/** @param errors says more about a field */
export const linkConflict = (message: keyof typeof FIELDS, errors?: Record<string, string>) =>
  new Failure('conflict', message, { errors })

/** The field that a failure is about, for the `errors` of a bulk request. */
export function toErrorField({ code, message }: Failure): string {
  if (code === 'not_found') return 'id'
  return FIELDS[message as keyof typeof FIELDS] ?? 'link'
}
