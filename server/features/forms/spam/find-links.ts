// Finds the links in a text, as people and programs write them: http(s) URLs, `www.`, Markdown and BBCode.

import { trimEnd } from '../../../lib/clean-text.ts'
import { toAsciiHost } from '../../../lib/web-url.ts'

export interface FoundLink {
  /** In lower case and ASCII; '' where the link has none. */
  host: string
  start: number
  end: number
}

const BEGINNING = /https?:\/\/|(?<![\p{L}\p{N}.\-/@])www\.|\]\(|\[url[=\]]/giu
const AUTHORITY_END = /[\s/?#\\<>"'()[\]{}|^`]/
const TARGET_END = /[\s<>"'()[\]{}|^`]/
const URL_BEGINNING = /^["']?(?:https?:\/\/|www\.)/i
const HOST_MAX = 253
/** The most characters that are read of a link. */
const LINK_MAX = 2048

/** Each beginning has one of these parts. Most texts have none, and this look is fast. */
const PART_OF_BEGINNING = /\/\/|www|\]\(|\[url/i

/** A Markdown or BBCode link is one link with the URL in it. */
export function* findLinks(text: string): Generator<FoundLink> {
  if (!PART_OF_BEGINNING.test(text)) return
  let readUntil = 0
  for (const { 0: beginning, index } of text.matchAll(BEGINNING)) {
    if (index < readUntil) continue
    const isUrl = beginning.endsWith('//')
    const isBare = beginning.endsWith('.')
    const from = isBare ? index : index + beginning.length
    const target = text.slice(from, from + LINK_MAX)
    // The URL in it is found next.
    if (!isUrl && !isBare && URL_BEGINNING.test(target)) continue
    const address = cutAt(target, TARGET_END)
    if (address === '' || (beginning === '](' && !address.includes('.'))) continue
    readUntil = from + address.length
    yield { host: toHost(cutAt(target, AUTHORITY_END)), start: index, end: readUntil }
  }
}

function cutAt(text: string, end: RegExp): string {
  const at = text.search(end)
  return at === -1 ? text : text.slice(0, at)
}

/** A name and a port around the host do not change where the link leads. */
function toHost(authority: string): string {
  const host = authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d*$/, '')
  return normalizeHost(host)
}

/** @returns '' for text that is not a host */
export function normalizeHost(text: string): string {
  const host = trimEnd(text, '.').toLowerCase()
  if (host === '' || host.length > HOST_MAX) return ''
  return /^[a-z0-9.-]+$/.test(host) ? host : toAsciiHost(host)
}
