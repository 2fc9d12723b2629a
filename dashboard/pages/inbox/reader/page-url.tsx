// The address of a page as a visitor's browser reported it. Only web addresses become links.

import { toReadableUrl } from '../../../ui/format.ts'
import { findWebUrl } from '../state/display-text.ts'

export function PageUrl({ url }: { url: string }) {
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
