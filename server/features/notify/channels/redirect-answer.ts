// An answer that is a redirect. Redirects are not followed, but some services say with one that the message has arrived.

import { parseUrl } from '../../../lib/web-url.ts'

interface RedirectingService {
  host: string
  path: RegExp
  /** The destination of the redirect when the service took the message. */
  to: string
}

const ACCEPT_WITH_REDIRECT: RedirectingService[] = [
  // The script has run, and the redirect leads to its output. One that the sender may not run leads to a page for signing
  // in: https://developers.google.com/apps-script/guides/content#redirects
  {
    host: 'script.google.com',
    path: /^\/(?:a\/)?macros\/(?:[^/]+\/)?s\/[^/]+\/exec$/,
    to: 'script.googleusercontent.com',
  },
]

export interface RedirectAnswer {
  /** The service took the message. */
  isDelivered: boolean
  /** A sentence for people. */
  text: string
}

/** @returns undefined where the answer is no redirect */
export function readRedirect(
  sentTo: string,
  { status, headers }: { status: number; headers: Pick<Headers, 'get'> },
): RedirectAnswer | undefined {
  const location = headers.get('location')
  if (status < 300 || status > 399 || location === null) return undefined
  const target = parseUrl(location, sentTo)
  const from = parseUrl(sentTo)
  const isDelivered = ACCEPT_WITH_REDIRECT.some(
    ({ host, path, to }) => from?.host === host && path.test(from.pathname) && target?.host === to,
  )
  const text = `answered with a redirect to ${target?.href ?? location}; redirects are not followed`
  return { isDelivered, text: isDelivered ? 'The script has run' : text }
}
