// What two links cannot both have, in the words of docs/contract.md §1, and the field it is about.

import { Failure } from '../../lib/failure.ts'

const FIELDS = {
  'Slug already in use': 'slug',
  'Slug is reserved': 'slug',
  'External id already in use': 'externalId',
} as const

export const linkConflict = (message: keyof typeof FIELDS) => new Failure('conflict', message)

/** For bulk answers, which name the field of every mistake. */
export function toErrorField({ code, message }: Failure): string {
  if (code === 'not_found') return 'id'
  return FIELDS[message as keyof typeof FIELDS] ?? 'link'
}
