// The email about unknown slugs that many people ask for. Strangers choose the slugs, so the email shows them as
// addresses on our own domains, percent-encoded: no mail program makes a link to another site of one.

import { toShortUrl } from '../../../lib/web-url.ts'

export interface ReportedSlug {
  domain: string
  slugKey: string
  hits: number
  visitors: number
  /** The slug of the link that is most like it. */
  closest: string | null
}

interface MissingMail {
  origin: string
  workspaceId: number
  above: number
  slugs: ReportedSlug[]
}

/** A long slug is cut: its link to create it has all of it. */
const SHOWN_MAX = 120

export function toMissingMail({ origin, workspaceId, above, slugs }: MissingMail) {
  const workspace = `${origin}/app/${workspaceId}`
  const show = (domain: string, slug: string) => {
    const url = toShortUrl({ origin }, { domain, slug })
    return url.length > SHOWN_MAX ? `${url.slice(0, SHOWN_MAX)}…` : url
  }
  const defaultDomain = new URL(origin).host
  const toEditor = (domain: string, slug: string) =>
    `${workspace}/links/missing?${new URLSearchParams({ slug, domain: domain || defaultDomain })}`
  const describe = ({ domain, slugKey, hits, visitors, closest }: ReportedSlug) => [
    show(domain, slugKey),
    `  Asked for ${hits} times, by ${visitors === 1 ? '1 visitor' : `${visitors} visitors`}.`,
    closest === null ? '  No similar link.' : `  Similar link: ${show(domain, closest)}`,
    `  Create it: ${toEditor(domain, slugKey)}`,
    '',
  ]
  return {
    subject: 'Frequent 404s on your short links',
    text: [
      `In the last 24 hours, people opened a short link that doesn’t exist more than ${above} times.`,
      '',
      ...slugs.flatMap(describe),
      'All 404s, and the setting for this email:',
      `${workspace}/links/missing`,
      '',
    ].join('\n'),
  }
}
