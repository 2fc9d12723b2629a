// Fetches the icon of a site: /favicon.ico, then the icon that its page names. Detects the type from the bytes, not
// from the server's header. SVG is not allowed, because it can contain scripts.

import { readHtml } from '../../../lib/html/read-html.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import { findImageType } from '../cards/fetch-card-image.ts'
import { type FollowNeeds, fetchFollowing } from '../cards/fetch-following.ts'

export type FaviconNeeds = Pick<FollowNeeds, 'site' | 'allow' | 'resolve'>

/** An icon of 64 pixels has 16 KB without compression. */
const ICON_BYTES_MAX = 32 * 1024
/** Icons are named in the head. */
const PAGE_BYTES_MAX = 128 * 1024
const TIME_MAX_MS = 4_000

/** The first bytes of an icon (https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern). */
const ICO = '\0\0\x01\0'

/** @returns a `data:` URL; null where there is none that could be shown */
export async function fetchFavicon(needs: FaviconNeeds, origin: string): Promise<string | null> {
  const usual = await fetchIcon(needs, `${origin}/favicon.ico`)
  if (usual) return usual
  const named = await findNamedIcon(needs, `${origin}/`)
  return named === undefined ? null : fetchIcon(needs, named)
}

async function fetchIcon(needs: FaviconNeeds, url: string): Promise<string | null> {
  const body = await fetchWhole(needs, url, 'image/png, image/x-icon, image/*', ICON_BYTES_MAX)
  if (!body) return null
  const start = Buffer.from(body.subarray(0, ICO.length)).toString('latin1')
  const type = start === ICO ? 'image/x-icon' : findImageType(body)
  return type ? `data:${type};base64,${Buffer.from(body).toString('base64')}` : null
}

/** @returns undefined for a failed request, and for a body that is too large */
async function fetchWhole(needs: FaviconNeeds, url: string, accept: string, maxBytes: number) {
  const found = await fetchFollowing({ ...needs, timeMaxMs: TIME_MAX_MS }, url, { accept, maxBytes }).catch(
    () => undefined,
  )
  return found && 'answer' in found && !found.answer.cut ? found.answer.body : undefined
}

/** The last one wins in browsers; the first one that is no SVG is as good. */
async function findNamedIcon(needs: FaviconNeeds, url: string): Promise<string | undefined> {
  const found = await fetchFollowing({ ...needs, timeMaxMs: TIME_MAX_MS }, url, {
    accept: 'text/html',
    maxBytes: PAGE_BYTES_MAX,
  }).catch(() => undefined)
  if (!found || !('answer' in found)) return undefined
  const page = readHtml(found.answer)
  if (!('html' in page)) return undefined
  // Imported on first use: the HTML tokenizer takes 10 MB of memory.
  const { readTags } = await import('../../../lib/html/read-tags.ts')
  let icon: string | undefined
  await readTags(page.html, ({ name, end, attributes }) => {
    if (name !== 'link' || end || icon !== undefined) return
    const href = attributes.get('href') ?? ''
    const isIcon = (attributes.get('rel') ?? '').toLowerCase().split(/\s+/).includes('icon')
    const isSvg = attributes.get('type') === 'image/svg+xml' || /\.svg(?:[?#]|$)/i.test(href)
    if (isIcon && !isSvg && href !== '') icon = parseUrl(href, found.url)?.href
  })
  return icon
}
