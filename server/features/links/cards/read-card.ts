// Reads the card of a page: Open Graph (https://ogp.me), then X's own tags, then the title and description that the page
// has for search engines. So do the services that show cards.

import { cleanText } from '../../../lib/clean-text.ts'
import { readTags, type Tag } from '../../../lib/html/read-tags.ts'

export interface PageCard {
  title: string | null
  description: string | null
  /** As the page has it; it may be relative. */
  image: string | null
  siteName: string | null
  baseHref: string | undefined
}

/** By `property` or `name`, the best one first. */
const NAMES: Record<'title' | 'description' | 'image' | 'siteName', readonly string[]> = {
  title: ['og:title', 'twitter:title'],
  description: ['og:description', 'twitter:description', 'description'],
  image: ['og:image:secure_url', 'og:image', 'og:image:url', 'twitter:image', 'twitter:image:src'],
  siteName: ['og:site_name', 'application-name'],
}
const KNOWN = new Set(Object.values(NAMES).flat())

/** Real titles are shorter, and a hostile one must not fill the memory. */
const TITLE_MAX = 2_000

export async function readCard(html: string): Promise<PageCard> {
  const metas = new Map<string, string>()
  const title = createTitleReader()
  let baseHref: string | undefined
  const onTag = (tag: Tag) => {
    title.onTag(tag)
    if (tag.end) return
    if (tag.name === 'base') baseHref ??= tag.attributes.get('href')
    if (tag.name !== 'meta') return
    const content = toLine(tag.attributes.get('content'))
    // Some pages write `name` where Open Graph requires `property`, and vice versa. Services read both.
    for (const key of [tag.attributes.get('property'), tag.attributes.get('name')]) {
      const name = key?.trim().toLowerCase() ?? ''
      if (content !== null && KNOWN.has(name) && !metas.has(name)) metas.set(name, content)
    }
  }
  await readTags(html, onTag, { onText: title.onText })
  const find = (names: readonly string[]) =>
    names.map((name) => metas.get(name)).find((value) => value !== undefined) ?? null
  return {
    title: find(NAMES.title) ?? toLine(title.read()),
    description: find(NAMES.description),
    image: find(NAMES.image),
    siteName: find(NAMES.siteName),
    baseHref,
  }
}

/** The text of the first `title`. The one of a picture (`svg`) is no title of the page. */
function createTitleReader() {
  let text: string | undefined
  let isOpen = false
  let pictures = 0
  return {
    onTag({ name, end }: Tag) {
      if (name === 'svg') pictures = Math.max(0, pictures + (end ? -1 : 1))
      if (name !== 'title') return
      isOpen = !end && pictures === 0 && text === undefined
      if (isOpen) text = ''
    },
    onText(piece: string) {
      if (isOpen && text !== undefined && text.length < TITLE_MAX) text += piece
    },
    read: () => text,
  }
}

/** One line without control characters; null when it is blank. */
function toLine(text: string | undefined): string | null {
  const line = text?.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  return cleanText(line ?? null, 16 * 1024)
}
