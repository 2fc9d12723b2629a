// Fetches a destination and reads its own card, which services show for a link without a custom card.

import { readHtml } from '../../../lib/html/read-html.ts'
import { countCharacters, quote } from '../../../lib/text.ts'
import { checkUrl, parseUrl } from '../../../lib/web-url.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import type { Site } from '../link.ts'
import { CARD_DESCRIPTION_MAX, CARD_TITLE_MAX } from '../schema.ts'
import { type FetchNeeds, type FetchProblem, fetchFollowing } from './fetch-following.ts'
import type { PageCard } from './read-card.ts'
import type { DestinationCardResource } from './schema.ts'

/** The tags of a card are in the head. Services read about as much: Facebook 1 MB, X and Slack less. */
const HTML_BYTES_MAX = 512 * 1024
const SITE_NAME_MAX = 100

const NOTHING = { url: null, title: null, description: null, image: null, siteName: null }

/** @throws Failure `invalid`, `too_many` */
export async function fetchDestinationCard(
  needs: FetchNeeds,
  actor: Actor,
  address: string,
): Promise<DestinationCardResource> {
  allow(actor, 'links:write')
  return needs.limit(actor.workspaceId, async () => {
    const limits = { accept: 'text/html,application/xhtml+xml', maxBytes: HTML_BYTES_MAX }
    const fetched = await fetchFollowing(needs, address, limits)
    if ('code' in fetched) return { ...NOTHING, findings: [fetched] }
    const { url, answer } = fetched
    const read = readHtml(answer)
    if ('problem' in read) return { ...NOTHING, url, findings: [PROBLEMS[read.problem](read.value)] }
    // Imported on first use: the HTML tokenizer takes 10 MB of memory.
    const { readCard } = await import('./read-card.ts')
    return toDestinationCard(needs.site, url, await readCard(read.html))
  })
}

function toDestinationCard(site: Site, url: string, page: PageCard): DestinationCardResource {
  const { image, problem } = resolveImage(page, url, site)
  const card = {
    title: cutCharacters(page.title, CARD_TITLE_MAX),
    description: cutCharacters(page.description, CARD_DESCRIPTION_MAX),
    image,
  }
  const missing = (['title', 'description', 'image'] as const).filter((name) => card[name] === null)
  const siteName = cutCharacters(page.siteName, SITE_NAME_MAX)
  if (missing.length === 3 && !problem) return { url, ...card, siteName, findings: [NO_CARD] }
  const findings = missing.map((name) =>
    name === 'image' && problem
      ? problem
      : { code: `no_${name}`, message: `The page has no ${name} for a card.` },
  )
  return { url, ...card, siteName, findings }
}

const NO_CARD = { code: 'no_card', message: 'The page has no title, description or image for a card.' }

const PROBLEMS = {
  not_html: (value: string) => ({
    code: 'not_html',
    message: `It answers with ${quote(value)}, not with a page.`,
  }),
  compressed: (value: string) => ({
    code: 'compressed',
    message: `It is compressed (${quote(value)}), although the request did not accept that.`,
  }),
}

function resolveImage(
  { image, baseHref = '' }: PageCard,
  url: string,
  site: Site,
): { image: string | null; problem?: FetchProblem } {
  if (image === null) return { image: null }
  const base = parseUrl(baseHref, url)?.href ?? url
  const target = parseUrl(image, base)
  const checked = checkUrl(target?.href ?? image, { ...site, schemes: [] })
  if ('href' in checked && target?.protocol === 'https:') return { image: checked.href }
  const wrong = 'wrong' in checked ? checked.wrong : 'must be an https URL'
  const message = `Its image ${quote(image)} cannot be used: the address ${wrong}.`
  return { image: null, problem: { code: 'image_unusable', message } }
}

/** The maximum length of a link's field. */
function cutCharacters(text: string | null, max: number): string | null {
  if (text === null || countCharacters(text) <= max) return text
  // A character has at most two units.
  return `${Array.from(text.slice(0, 2 * max))
    .slice(0, max - 1)
    .join('')
    .trimEnd()}…`
}
