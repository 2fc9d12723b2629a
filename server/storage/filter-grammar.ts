// Parses filters: `US` is one value, `US,BR` any of several, a leading `-` excludes them, `\,` is a comma, and `\-` is
// a leading dash. Turns the values into the form that is stored.

import { toCountryFilter } from '../lib/country-code.ts'
import { foldCase } from '../lib/text.ts'
import { HIT_CLASSES, HIT_TRIGGERS, type HitClass, type HitDimension } from './hits/hit.ts'
import type { ParamColumn } from './hits/kept-params.ts'
import type { OriginDimension } from './sources/origin-sql.ts'
import { readSource, TRAFFIC_CHANNELS } from './sources/traffic-channel.ts'

export type ClickFilterName =
  | HitDimension
  | ParamColumn
  | OriginDimension
  | 'linkId'
  | 'tagId'
  | 'domain'
  | 'slug'
export type FilterName = ClickFilterName | 'form' | 'page'

export interface FilterValues {
  /** Any of these values; null means no value. */
  values: (string | number | null)[]
  negate: boolean
}

/**
 * The name of a missing value, in answers, filters and roll-ups. In a roll-up, a hit with this text as value is in the
 * same row.
 */
export const toNullLabel = (name: FilterName | 'class') =>
  name === 'referrer' || name === 'referrerUrl' || name === 'source' ? '(direct)' : 'Unknown'

/**
 * @param written each occurrence of the parameter; a repeated parameter matches any of its values
 * @returns the filter, or the error message as a string
 */
export function readFilter(name: FilterName, written: string[]): FilterValues | string {
  const split = splitFilter(written)
  if (typeof split === 'string') return split
  const values = new Set<string | number | null>()
  for (const text of split.texts) {
    const read = readValue(name, text)
    if ('problem' in read) return read.problem
    for (const value of read.values) values.add(value)
  }
  return { values: [...values], negate: split.negate }
}

/** Parses the parameter `class`; `all` means every class. @returns the classes, or the error message as a string */
export function readClasses(written: string[]): HitClass[] | string {
  const split = splitFilter(written)
  if (typeof split === 'string') return split
  const words = split.texts.map((text) => text.toLowerCase())
  const unknown = words.some((word) => word !== 'all' && !HIT_CLASSES.some((each) => each === word))
  if (unknown) return `must be any of ${HIT_CLASSES.join(', ')}, or all`
  return HIT_CLASSES.filter((each) => (words.includes('all') || words.includes(each)) !== split.negate)
}

type ReadValue = { values: (string | number | null)[] } | { problem: string }

function readValue(name: FilterName, text: string): ReadValue {
  switch (name) {
    case 'linkId':
    case 'tagId':
      return /^\d{1,15}$/.test(text)
        ? { values: [Number(text)] }
        : { problem: 'must be ids (whole numbers) separated by commas' }
    case 'domain':
      return { values: [foldCase(text)] }
    case 'slug':
      return { values: [text] }
    case 'trigger':
      return readOption(text, HIT_TRIGGERS)
    case 'channel':
      return readOption(text, TRAFFIC_CHANNELS)
  }
  // A client may have sent the label itself as a value. Answers do not distinguish the two, so the filter matches both.
  if (text === toNullLabel(name)) return { values: [null, text] }
  if (name === 'country') return { values: [toCountryFilter(text)] }
  if (name === 'continent') return { values: [text.toUpperCase()] }
  if (name === 'source') return { values: [readSource(text)] }
  if (name === 'referrer') return { values: [text.toLowerCase().replace(/^www\./, '')] }
  return { values: [text] }
}

function readOption(text: string, options: readonly string[]): ReadValue {
  const word = text.toLowerCase()
  return options.includes(word) ? { values: [word] } : { problem: `must be any of ${options.join(', ')}` }
}

/** The values of a filter as they are written, without escapes. */
interface SplitFilter {
  texts: string[]
  negate: boolean
}

/** Writes values as a filter. */
export const writeFilter = ({ texts, negate }: SplitFilter): string =>
  (negate ? '-' : '') + texts.map((text) => text.replace(/[\\,]/g, '\\$&').replace(/^-/, '\\-')).join(',')

/** @returns the error message as a string if the values cannot be combined */
export function splitFilter(written: string[]): SplitFilter | string {
  const parts = written.flatMap((text) => {
    const [first = '', ...rest] = splitAtCommas(text)
    // The dash before the first value excludes all values. Later values can begin with a dash too.
    const negate = first.startsWith('-')
    return [first, ...rest].map((raw) => ({ raw: negate ? raw.replace(/^-/, '') : raw, negate }))
  })
  const negate = parts[0]?.negate ?? false
  if (parts.some((part) => part.negate !== negate || (!negate && part.raw.startsWith('-')))) {
    return 'cannot mix values with and without a leading "-"; write "\\-" for a value that begins with one'
  }
  if (parts.some((part) => part.raw === '')) return 'must not be empty'
  return { texts: parts.map((part) => part.raw.replace(/\\([\\,-])/g, '$1')), negate }
}

/** Splits at commas without a backslash. Escapes stay, so that `\-` still differs from `-`. */
const splitAtCommas = (text: string) =>
  [...text.matchAll(/(?:^|,)((?:\\[\s\S]|[^,\\]|\\$)*)/g)].map((match) => match[1] as string)
