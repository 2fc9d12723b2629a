// A typed domain name: its ASCII form (IDNA), in lower case and without a trailing dot, or its mistake. Each mistake
// has its own message.

import { isIP } from 'node:net'
import { domainToUnicode } from 'node:url'
import { getPublicSuffix } from 'tldts'
import { isCleanText } from '../../../lib/text.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import type { Site } from '../link.ts'

/** DNS has room for 253 characters (RFC 1035 §2.3.4), and the TXT record has a longer name. */
const NAME_MAX = 253 - '_towpath.'.length
const LABEL_MAX = 63

/** A browser takes each of them for a dot (https://www.unicode.org/reports/tr46/#Notation). */
const DOTS = /[.\u3002\uff0e\uff61]/

/** Endings of an IPv4 address (https://url.spec.whatwg.org/#ends-in-a-number-checker). */
const NUMBER = /^(?:\d+|0x[\da-f]*)$/i

/**
 * Names with private suffixes, such as `github.io`, are refused as well: their owners give parts of them away.
 * @returns the stored name
 */
export function parseDomainName(
  text: string,
  site: Pick<Site, 'isOwnHost'>,
): { name: string } | { wrong: string } {
  const typed = text.trim().replace(/\.$/, '')
  const wrong = findTypingMistake(typed)
  if (wrong !== undefined) return { wrong }
  const ascii = parseUrl(`http://${typed}`)?.hostname
  if (ascii === undefined) return { wrong: 'is not a name that browsers can open (IDNA)' }
  const problem = findNameProblem(ascii) ?? findScriptProblem(ascii) ?? findHolderProblem(ascii, site)
  return problem === undefined ? { name: ascii } : { wrong: problem }
}

function findTypingMistake(typed: string): string | undefined {
  if (!isCleanText(typed) || typed === '') return 'must be a name, such as go.example.com'
  if (isIP(typed.replace(/^\[|\]$/g, '')) > 0 || typed.startsWith('[')) return NO_ADDRESS
  if (/[/\\?#@]/.test(typed))
    return 'must be a name alone, such as go.example.com, without https:// and a path'
  if (typed.includes(':')) return 'must not have a port: a domain answers on each port of this server'
  if (typed.includes('*')) return 'must not have a wildcard: add each name by itself'
  if (typed.includes('_')) return 'must not have an underscore: the names of hosts have none'
  if (/[\s%]/.test(typed)) return 'must not have spaces or encodings with %'
  const labels = typed.split(DOTS)
  if (labels.includes('')) return 'must not have an empty part before, between or after its dots'
  return NUMBER.test(labels.at(-1) ?? '') ? NO_ADDRESS : undefined
}

const NO_ADDRESS = 'must be a name, not an IP address'

function findNameProblem(ascii: string): string | undefined {
  if (isIP(ascii) > 0) return NO_ADDRESS
  const labels = ascii.split('.')
  if (labels.includes('')) return 'must not have an empty part before, between or after its dots'
  if (labels.length === 1) return 'must have a dot, as go.example.com has'
  if (labels.some((label) => label.length > LABEL_MAX))
    return `must have at most ${LABEL_MAX} characters between two dots`
  if (ascii.length > NAME_MAX)
    return `must be at most ${NAME_MAX} characters: DNS has room for 253, and _towpath. stands before it`
  if (labels.some((label) => label.startsWith('-') || label.endsWith('-')))
    return 'must not have a hyphen at the beginning or the end of a part'
  if (!/^[a-z0-9.-]+$/.test(ascii)) return 'may have letters, digits, hyphens and dots only'
  return undefined
}

/**
 * Writing systems of living languages (https://www.unicode.org/reports/tr31/#Table_Recommended_Scripts). One part of a name
 * has one of them. East Asian languages mix theirs, and with Latin letters ("highly restrictive",
 * https://www.unicode.org/reports/tr39/#Restriction_Level_Detection).
 */
const SCRIPTS = [
  'Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Hebrew Kannada Khmer Lao',
  'Malayalam Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan',
]
  .join(' ')
  .split(' ')
  .map((script) => [script])
const MIXES = [
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
]
const ONE_SCRIPT = [...SCRIPTS, ...MIXES].map((scripts) => {
  const letters = ['Common', 'Inherited', ...scripts].map((script) => `\\p{Script_Extensions=${script}}`)
  return new RegExp(`^[${letters.join('')}]+$`, 'u')
})

function findScriptProblem(ascii: string): string | undefined {
  if (!ascii.includes('xn--')) return undefined
  const unicode = domainToUnicode(ascii)
  if (parseUrl(`http://${unicode}`)?.hostname !== ascii) return 'is not a name that browsers can open (IDNA)'
  const mixed = unicode.split('.').find((label) => !ONE_SCRIPT.some((script) => script.test(label)))
  if (mixed === undefined) return undefined
  return 'must not mix letters of several scripts in one part: it could be taken for another name'
}

function findHolderProblem(ascii: string, { isOwnHost }: Pick<Site, 'isOwnHost'>): string | undefined {
  if (isOwnHost(ascii)) return 'is a name of this server, which every workspace can use'
  if (getPublicSuffix(ascii, { allowPrivateDomains: true }) !== ascii) return undefined
  return `is a public suffix, below which everybody has names: add a name such as go.${ascii}`
}
