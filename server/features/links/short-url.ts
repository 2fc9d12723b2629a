// The URL that visitors call for a link.

/** @param origin the public origin of this server, for links of its default domain */
export function toShortUrl(
  { origin }: { origin: string },
  { domain, slug }: { domain: string; slug: string },
): string {
  return `${domain === '' ? origin : `https://${domain}`}/${encodeURIComponent(slug)}`
}
