// Slugs: the rules, the key for matching, the reserved names, and random slugs (docs/adr/0044-slugs.md).

import { randomFrom } from '../../lib/crypto/random.ts'
import { countCharacters, foldCase, normalizeUnicode, percentDecode } from '../../lib/text.ts'
import { dropSelectors, qualifyEmoji, replaceEmoji } from './names/emoji.ts'
import { findMixedWord } from './names/look-alikes.ts'

export const SLUG_MAX = 190
export const SEGMENTS_MAX = 8

/** Without 0, o, 1, l and i: people read slugs aloud and type them from paper. Form keys use this alphabet too. */
export const SLUG_ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'
const RANDOM_LENGTH = 7

// Marks (\p{M}) are needed to write Hindi or Thai words. Invisible letters and marks are excluded, because two slugs
// that look the same must be the same.
const CHARACTERS = /^(?:(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{N}._/-])*$/u
const ASCII = /^[\0-\x7f]*$/

/** First segments of the server's paths, and names that browsers and crawlers request. `Site.reserved` has more. */
export const RESERVED_SLUGS: ReadonlySet<string> = new Set([
  'v1',
  'f',
  't.js',
  'e',
  's',
  'app',
  'api',
  'mcp',
  'docs',
  'livez',
  'readyz',
  'version',
  'metrics',
  'thanks',
  'tls',
  'robots.txt',
  'favicon.ico',
  'sitemap.xml',
  '.well-known',
])

/** First segments that answer on a domain of a workspace. `Site.reservedOnDomains` has more. */
const RESERVED_ON_DOMAINS = ['f', 't.js', 'e', 'thanks', 'robots.txt', 'favicon.ico', '.well-known']

/** A slug as it is stored: composed (NFC), and its emoji qualified. */
export const normalizeSlug = (slug: string) =>
  ASCII.test(slug) ? slug : qualifyEmoji(normalizeUnicode(slug, 'NFC'))

/** @param slug normalized @returns the error message, or undefined for a slug that a link may get */
export function findSlugProblem(slug: string): string | undefined {
  const length = countCharacters(slug)
  if (length < 1 || length > SLUG_MAX) return `must be 1 to ${SLUG_MAX} characters`
  if (!hasSlugCharacters(slug)) return 'may contain letters, digits, emoji, "-", "_", "." and "/" only'
  if (!hasSegments(slug))
    return `must have 1 to ${SEGMENTS_MAX} segments separated by "/", none of them empty, "." or ".."`
  const mixed = findMixedWord(slug)
  return mixed && `mixes ${mixed.alphabets.join(' and ')} letters that look alike in "${mixed.word}"`
}

const hasSlugCharacters = (slug: string) => CHARACTERS.test(ASCII.test(slug) ? slug : replaceEmoji(slug, 'x'))

/** URL parsers remove the segments "." and ".." (https://url.spec.whatwg.org/#path-state). */
function hasSegments(slug: string): boolean {
  const segments = slug.split('/', SEGMENTS_MAX + 1)
  return segments.length <= SEGMENTS_MAX && segments.every((segment) => !/^\.{0,2}$/.test(segment))
}

/** A letter can take four UTF-16 units in decomposed form (NFD). */
const REQUESTED_MAX = SLUG_MAX * 4
const USUAL_SLUG = new RegExp(`^[\\w.-]{1,${SLUG_MAX}}$`)

/**
 * Whether a link can have this slug. Requests for other slugs need no look-up. Words of mixed alphabets pass: older links may
 * have them.
 * @param slug as a visitor typed it
 */
export function isPossibleSlug(requested: string): boolean {
  if (USUAL_SLUG.test(requested)) return true
  if (requested.length > REQUESTED_MAX) return false
  const slug = normalizeSlug(requested)
  return countCharacters(slug) <= SLUG_MAX && hasSlugCharacters(slug) && hasSegments(slug)
}

/**
 * The slug that a request asks for. An encoded slash (`%2f`) separates no segments: it stays encoded, and no slug has a "%".
 * @param path of the request's URL, with its first slash; slashes at its end do not count
 */
export function readRequestedSlug(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end--
  return percentDecode(path.slice(1, end).replaceAll(/%2f/gi, '%252f'))
}

/**
 * Characters that an email or chat program adds to a link. Hyphens stay, because they do not end a sentence; a "+"
 * requests a preview.
 */
const GLUED = /(?:(?![-@#%])[\p{P}\p{Z}\p{C}<>|~^`=$/]){1,10}$/u
/** Those of them that cannot end a slug. */
const GLUED_ONLY = /(?:(?![-@#%._])[\p{P}\p{Z}\p{C}<>|~^`=$/]){1,10}$/u

/** Shorter slugs to try when the full one has no link, longest first. */
export function findShorterSlugs(slug: string): string[] {
  if (slug.length > REQUESTED_MAX || !GLUED.test(slug)) return []
  return [slug.replace(GLUED_ONLY, ''), slug.replace(GLUED, '')].filter((shorter) => shorter !== slug)
}

/** The form of a slug that is unique and that look-ups use. @param caseSensitive as the slug's domain is */
export function toSlugKey(slug: string, caseSensitive = false): string {
  if (ASCII.test(slug)) return caseSensitive ? slug : slug.toLowerCase()
  const text = dropSelectors(slug)
  return caseSensitive ? normalizeUnicode(text, 'NFC') : foldCase(text)
}

const toFirstSegment = (slug: string) => slug.split('/', 1)[0] as string

export interface ReservedNames {
  /** First segments that no slug of the default domain may have, in lower case. */
  reserved: ReadonlySet<string>
  /** The same for domains of workspaces. */
  reservedOnDomains: ReadonlySet<string>
}

/** Whether a page other than links answers below the first segment. @param domain '' is the default domain */
export function isReserved(
  { reserved, reservedOnDomains }: ReservedNames,
  domain: string,
  slug: string,
): boolean {
  const segment = toFirstSegment(slug)
  return (
    segment.length <= REQUESTED_MAX && (domain === '' ? reserved : reservedOnDomains).has(toSlugKey(segment))
  )
}

/**
 * Adds paths that the operator has renamed. The default names stay reserved, so that the operator can return to them.
 */
export const toReservedSlugs = (renamed: string[]): ReadonlySet<string> =>
  new Set([...RESERVED_SLUGS, ...renamed.map((name) => toSlugKey(name))])

/** The same for domains of workspaces, where less is mounted. */
export const toReservedOnDomains = (renamed: string[]): ReadonlySet<string> =>
  new Set([...RESERVED_ON_DOMAINS, ...renamed.map((name) => toSlugKey(name))])

export const generateSlug = () => randomFrom(SLUG_ALPHABET, RANDOM_LENGTH)

/** Numbers after a slug that are tried before random letters. */
const NUMBERED_MAX = 8

/** Slugs to try in place of one that is taken. */
export function* listSimilarSlugs(slug: string): Generator<string> {
  const append = (end: string) => slug.slice(0, SLUG_MAX - end.length) + end
  for (let number = 2; number < 2 + NUMBERED_MAX; number++) yield append(`-${number}`)
  yield append(`-${generateSlug()}`)
}
