// Slugs: the rules, the key for matching, the reserved names, and random slugs.

import { randomFrom } from '../../lib/crypto/random.ts'
import { countCharacters, foldCase } from '../../lib/text.ts'

export const SLUG_MAX = 190

/** Without 0, o, 1, l and i: people read slugs aloud and type them from paper. Form keys use this alphabet too. */
export const SLUG_ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'
const RANDOM_LENGTH = 7

// Marks (\p{M}) are needed to write Hindi or Thai words. Invisible letters and marks are excluded, because two slugs
// that look the same must be the same.
const SLUG = /^(?:(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{N}._-])+$/u

/** First segments of the server's paths, and names that browsers and crawlers request. `Site.reserved` has more. */
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

/** @param slug in NFC @returns the error message, or undefined for a valid slug */
export function findSlugProblem(slug: string): string | undefined {
  const length = countCharacters(slug)
  if (length < 1 || length > SLUG_MAX) return `must be 1 to ${SLUG_MAX} characters`
  // URL parsers remove the path segments "." and ".." (https://url.spec.whatwg.org/#path-state).
  if (!SLUG.test(slug) || slug === '.' || slug === '..')
    return 'may contain letters, digits, "-", "_" and "." only'
  return undefined
}

/** A letter can take four UTF-16 units in decomposed form (NFD). */
const REQUESTED_MAX = SLUG_MAX * 4
const USUAL_SLUG = new RegExp(`^[\\w.-]{1,${SLUG_MAX}}$`)

/** Whether a link can have this slug. Requests for other slugs need no look-up. @param slug as a visitor typed it */
export const isPossibleSlug = (slug: string): boolean =>
  USUAL_SLUG.test(slug) ||
  (slug.length <= REQUESTED_MAX && findSlugProblem(slug.normalize('NFC')) === undefined)

/** The form of a slug that is unique and that look-ups use. */
export const toSlugKey = foldCase

/**
 * Adds paths that the operator has renamed. The default names stay reserved, so that the operator can return to them.
 */
export const toReservedSlugs = (renamed: string[]): ReadonlySet<string> =>
  new Set([...RESERVED_SLUGS, ...renamed.map(toSlugKey)])

export const generateSlug = () => randomFrom(SLUG_ALPHABET, RANDOM_LENGTH)
