// The field of a record that names the domain of its short link.

import type { FieldReader } from '../files/fields.ts'
import { toHost } from './short-url.ts'

/** @returns null where the field is empty, and where it is no host: that is a problem */
export function readDomainName(fields: FieldReader, name: string): string | null {
  const text = fields.text(name)
  const host = text === null ? null : toHost(text)
  if (text !== null && host === null)
    fields.add(name, text, 'This is not a domain. Write it as go.example.com.')
  return host
}
