// The address of a page as a visitor's browser reported it. Only web addresses become links.

import { toReadableUrl } from '../../../ui/format.ts'
import { findWebUrl } from '../state/display-text.ts'

interface Props {
  url: string
  /** The browser told the site, but not the page. */
  isSiteOnly?: boolean
}

export const PageUrl = ({ url, isSiteOnly }: Props) =>
  isSiteOnly ? (
    <span className="text-sm text-soft">
      <Address url={url} /> (site only: browsers don’t send the page)
    </span>
  ) : (
    <Address url={url} />
  )

function Address({ url }: { url: string }) {
  const webUrl = findWebUrl(url)
  if (!webUrl) return <span className="break-all">{url}</span>
  return (
    <a
      href={webUrl}
      target="_blank"
      rel="noreferrer noopener nofollow"
      className="text-sm break-all text-soft underline underline-offset-2 hover:text-ink"
    >
      {toReadableUrl(url)}
    </a>
  )
}
