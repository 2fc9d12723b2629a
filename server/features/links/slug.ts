// What a slug may be, how it is matched, and how one is made up.

import { randomFrom } from '../../lib/random.ts'
import { countCharacters, foldCase } from '../../lib/text.ts'

export const SLUG_MAX = 190

/** No 0/o, 1/l/i: a slug is read aloud and typed from paper. Also the alphabet of form keys. */
export const SLUG_ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'
const RANDOM_LENGTH = 7

// Marks belong to letters in many scripts; without them Hindi or Thai words could not be typed. Some letters and marks
// are invisible: two slugs that look the same must be the same.
const SLUG = /^(?:(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{N}._-])+$/u

/** First segments of mounted paths and names that browsers and crawlers ask for by themselves; more in `Site`. */
export const RESERVED_SLUGS: ReadonlySet<string> = new Set([
  'v1',
  'f',
  't.js',
  'e',
  'app',
  'api',
  'docs',
  'livez',
  'readyz',
  'version',
  'metrics',
  'thanks',
  'robots.txt',
  'favicon.ico',
  'sitemap.xml',
  '.well-known',
])

/** @returns what is wrong with a slug that is already NFC, or undefined. */
export function findSlugProblem(slug: string): string | undefined {
  const length = countCharacters(slug)
  if (length < 1 || length > SLUG_MAX) return `must be 1 to ${SLUG_MAX} characters`
  // "." and ".." never reach a server: URL parsers resolve them away.
  if (!SLUG.test(slug) || slug === '.' || slug === '..')
    return 'may contain letters, digits, "-", "_" and "." only'
  return undefined
}

/** What uniqueness and look-up go by. */
export const toSlugKey = foldCase

/** With what the operator calls by another name; the usual names stay reserved, so that they can come back. */
export const toReservedSlugs = (renamed: string[]): ReadonlySet<string> =>
  new Set([...RESERVED_SLUGS, ...renamed.map(toSlugKey)])

export const generateSlug = () => randomFrom(SLUG_ALPHABET, RANDOM_LENGTH)
