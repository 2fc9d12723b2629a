// Pages of a form in a frame of its own site: the page tells its parent whether the submission has arrived.

import type { PageExtras } from '../../../http/html-page.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import type { FormSettings } from '../settings/form-settings.ts'

export interface FramedForm extends Pick<FormSettings, 'formKey' | 'pageUrl' | 'allowedOrigins' | 'brand'> {}

/** The form, and the request for its page. */
export interface FrameRequest {
  form: FramedForm
  headers: Pick<Headers, 'get'>
}

/**
 * Only the sites that the form names may frame its pages. Without such a list, framing is refused.
 * @returns the allowed sites, and the script of the page
 */
export function toFrame(
  { form: { formKey, pageUrl, allowedOrigins }, headers }: FrameRequest,
  outcome: 'accepted' | 'refused',
): Pick<PageExtras, 'frames' | 'script'> {
  const page = pageUrl === null ? undefined : parseUrl(pageUrl)?.origin
  const frames = [...new Set([...(page === undefined ? [] : [page]), ...allowedOrigins])]
  if (frames.length === 0) return {}
  // Browsers say so themselves (https://w3c.github.io/webappsec-fetch-metadata/#sec-fetch-dest-header).
  if (!/^i?frame$/.test(headers.get('sec-fetch-dest') ?? '')) return { frames }
  // Only an allowed site can be the parent, and the message contains no submitted text.
  const message = JSON.stringify({ towpath: outcome, formKey })
  return { frames, script: `if (parent !== self) parent.postMessage(${message}, '*');` }
}
