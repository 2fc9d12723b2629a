// Deduplication keys of imported links, by which later imports of the same tool, and click histories, find them.

import { createHash } from 'node:crypto'
import { foldCase } from '../../../lib/text.ts'
import type { ImportSource, SourceClick, SourceLink } from './source.ts'

type Tool = Pick<ImportSource, 'isCaseSensitive'>

/** @returns undefined without a slug. Links of a file without hosts have the host ''. */
export function toShortLinkKey(
  { isCaseSensitive }: Tool,
  host: string | null,
  slug: string | null,
): string | undefined {
  if (slug === null || slug === '') return undefined
  return `short:${host ?? ''}/${isCaseSensitive ? slug : foldCase(slug)}`
}

/** The possible keys of a click's link, the most reliable one first. */
export function toClickKeys(tool: Tool, click: Pick<SourceClick, 'sourceKey' | 'host' | 'slug'>): string[] {
  const short = toShortLinkKey(tool, click.host, click.slug)
  return [...(click.sourceKey === null ? [] : [click.sourceKey]), ...(short === undefined ? [] : [short])]
}

/**
 * The keys of the links of one file, in its order. The key of a link without an id and without a slug is a hash of its content
 * with its rank among rows of the same content.
 */
export function createLinkKeys(tool: Tool): (link: SourceLink) => string[] {
  const seen = new Map<string, number>()
  return (link) => {
    const keys = toClickKeys(tool, link)
    if (keys.length > 0) return [...new Set(keys)]
    const { clicks: _, ...content } = link
    const hash = createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22)
    const times = (seen.get(hash) ?? 0) + 1
    seen.set(hash, times)
    return [`content:${hash}:${times}`]
  }
}
