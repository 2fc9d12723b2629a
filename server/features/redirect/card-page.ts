// The page that unfurlers get in place of a redirect: the link's own card as Open Graph (https://ogp.me) and X tags, and
// a refresh that leads everybody else who gets it to the destination.

import { html } from 'hono/html'
import { renderHtmlPage } from '../../http/html-page.ts'
import type { LinkCard } from '../links/cache.ts'

interface CardTarget {
  /** Where the redirect would lead. */
  destination: string
  shortUrl: string
}

export function cardPage(card: LinkCard, { destination, shortUrl }: CardTarget) {
  const { description, image } = card
  const { host } = new URL(destination)
  // A card needs a title. The link's own `title` is for the team.
  const title = card.title ?? (host || shortUrl)
  // Facebook reads `property`, and X reads `name`: https://developer.x.com/en/docs/x-for-websites/cards/overview/markup
  const head = html`
<link rel="canonical" href="${shortUrl}">
<meta http-equiv="refresh" content="0; url=${destination}">
<meta property="og:type" content="website">
<meta property="og:url" content="${shortUrl}">
<meta property="og:title" content="${title}">
<meta name="twitter:card" content="${image === null ? 'summary' : 'summary_large_image'}">
<meta name="twitter:title" content="${title}">${
    description === null
      ? ''
      : html`
<meta name="description" content="${description}">
<meta property="og:description" content="${description}">
<meta name="twitter:description" content="${description}">`
  }${
    image === null
      ? ''
      : html`
<meta property="og:image" content="${image}">
<meta name="twitter:image" content="${image}">`
  }`
  const content = html`<h1>${title}</h1>${description === null ? '' : html`\n<p>${description}</p>`}
<a class="button" href="${destination}" rel="noopener nofollow ugc">Continue${host && ` to ${host}`}</a>`
  return renderHtmlPage(200, title, content, {}, { head })
}
