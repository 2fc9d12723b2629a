// Shlink: the CSV of its web client and of its command line, and the JSON of its API. The formats: fixtures/shlink/README.md.

import { toPlainName } from '../../files/fields.ts'
import type { ImportSource } from '../source.ts'
import { toShlinkClick } from './shlink-click.ts'
import { toShlinkLink } from './shlink-link.ts'

export const shlink: ImportSource = {
  name: 'shlink',
  title: 'Shlink',
  links: { lists: ['data'], tables: [] },
  clicks: { lists: ['data'], tables: [] },
  // In the mode `strict`, which is the default. In the mode `loose` no two codes differ in case only.
  isCaseSensitive: true,
  isLinkFile(columns) {
    const has = createLookup(columns)
    return (
      (has('shortCode') && (has('longUrl') || has('originalUrl'))) ||
      (has('shortUrl') && has('longUrl') && has('visits'))
    )
  },
  isClickFile(columns) {
    const has = createLookup(columns)
    if (!has('date') || !has('referer')) return false
    // The first visits that the web client exported had no more than these.
    const isOld = ['date', 'referer', 'browser', 'os', 'city'].every((name) => columns.includes(name))
    return has('potentialBot') || has('visitLocation') || isOld
  },
  toLink: toShlinkLink,
  toClick: toShlinkClick,
}

function createLookup(columns: string[]): (name: string) => boolean {
  const names = new Set(columns.map(toPlainName))
  return (name) => names.has(toPlainName(name))
}
