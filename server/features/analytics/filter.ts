// The grammar of a filter: `US` is, `US,BR` any of, a leading `-` all but these, `\,` a comma, `\-` a leading dash.
// And how what people write becomes what is stored.

import { foldCase } from '../../lib/text.ts'
import { HIT_CLASSES, HIT_TRIGGERS, type HitClass, type HitDimension } from '../../storage/hits/hit.ts'

export type ClickFilterName = HitDimension | 'linkId' | 'tagId' | 'domain' | 'slug'
export type FilterName = ClickFilterName | 'form' | 'page'

export interface FilterValues {
  /** Any of these; null is a hit without a value. */
  values: (string | number | null)[]
  negate: boolean
}

/** What a missing value is called, in answers and in filters. */
export const toNullLabel = (name: FilterName | 'class') =>
  name === 'referrer' || name === 'referrerUrl' ? '(direct)' : 'Unknown'

/**
 * @param written each occurrence of the parameter: repeating it means any of, too.
 * @returns what is wrong, as a string, when something is.
 */
export function readFilter(name: FilterName, written: string[]): FilterValues | string {
  const split = splitValues(written)
  if (typeof split === 'string') return split
  const values = new Set<string | number | null>()
  for (const text of split.texts) {
    const read = readValue(name, text)
    if ('problem' in read) return read.problem
    for (const value of read.values) values.add(value)
  }
  return { values: [...values], negate: split.negate }
}

/** `all` is every class. */
export function readClasses(written: string[]): HitClass[] | string {
  const split = splitValues(written)
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
    case 'slug':
      return { values: [foldCase(text)] }
    case 'trigger':
      return HIT_TRIGGERS.some((each) => each === text.toLowerCase())
        ? { values: [text.toLowerCase()] }
        : { problem: `must be any of ${HIT_TRIGGERS.join(', ')}` }
  }
  // Somebody may have sent the very word; answers cannot tell the two apart, so neither does the filter.
  if (text === toNullLabel(name)) return { values: [null, text] }
  if (name === 'country' || name === 'continent') return { values: [text.toUpperCase()] }
  if (name === 'referrer') return { values: [text.toLowerCase().replace(/^www\./, '')] }
  return { values: [text] }
}

interface SplitFilter {
  texts: string[]
  negate: boolean
}

function splitValues(written: string[]): SplitFilter | string {
  const parts = written.flatMap((text) => {
    const [first = '', ...rest] = splitAtCommas(text)
    // The dash at the front of a list is about all of it; later dashes may repeat it.
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

/** Cuts at commas that no backslash precedes; escapes stay, so that `\-` is still told from `-`. */
const splitAtCommas = (text: string) =>
  [...text.matchAll(/(?:^|,)((?:\\[\s\S]|[^,\\]|\\$)*)/g)].map((match) => match[1] as string)
