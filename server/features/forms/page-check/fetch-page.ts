// Fetches the page that has a form, as a browser sees it. It uses `safeRequest`, because strangers choose the address.

import { type SafeRequest, safeRequest } from '../../../http/safe-request.ts'
import { readHtml } from '../../../lib/html/read-html.ts'
import { quote } from '../../../lib/text.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import { type Finding, foundError, foundWarning } from './finding.ts'

export type FetchPageNeeds = Pick<SafeRequest, 'allow' | 'resolve'>

export interface FetchedPage {
  html: string
  headers: Headers
}

/** The same limit holds for a page that is given as text. */
export const PAGE_BYTES_MAX = 900 * 1024

const HEADERS = { Accept: 'text/html,application/xhtml+xml', 'User-Agent': 'Towpath form check' }
const SEND_AS_TEXT = 'Or send the page as text: {"html": "…", "pageUrl": "…"}.'

/** @returns the page, or findings that say why it cannot be read; both where only a part of it was read */
export async function fetchPage(
  needs: FetchPageNeeds,
  url: string,
): Promise<{ page?: FetchedPage; findings: Finding[] }> {
  const answer = await safeRequest({ ...needs, url, headers: HEADERS, maxBytes: PAGE_BYTES_MAX })
  const failed = (code: string, message: string, fix: string) => {
    return { findings: [foundError(code, message, `${fix} ${SEND_AS_TEXT}`)] }
  }
  if (!answer.ok) {
    const code = answer.reason === 'refused-address' ? 'page_private' : 'page_unreachable'
    return failed(
      code,
      `${answer.message}.`,
      FIXES[answer.reason] ?? 'Check that the page opens in a browser.',
    )
  }
  const { status, headers, body, cut } = answer
  if (status >= 300 && status < 400) {
    const target = parseUrl(headers.get('location') ?? '', url)
    const to = target ? quote(target.href) : 'another page'
    return failed('page_redirects', `The page answers ${status} and leads to ${to}.`, 'Check that address.')
  }
  if (status < 200 || status > 299) {
    return failed('page_status', `The page answers ${status}.`, 'Check an address that people can open.')
  }
  const read = readHtml(answer)
  if ('problem' in read) {
    const value = quote(read.value)
    if (read.problem === 'not_html') {
      const message = `The address answers with ${value}, not with a page.`
      return failed('page_not_html', message, 'Check the page itself.')
    }
    const message = `The page is compressed (${value}), although the request did not accept that.`
    return failed('page_compressed', message, 'Configure the server to respect Accept-Encoding.')
  }
  return {
    page: { html: read.html, headers },
    findings: cut ? [createCutFinding(cut, body.byteLength)] : [],
  }
}

const FIXES: Record<string, string> = {
  'refused-address': 'Check the public address of the page.',
  dns: 'Check the spelling of the address.',
  tls: 'Renew or repair the certificate of the site: browsers refuse it too.',
  timeout: 'Check that the page answers within 15 seconds.',
}

function createCutFinding(cut: 'size' | 'time' | 'broken', bytes: number): Finding {
  const why = { size: 'it is larger', time: 'it loads too slowly', broken: 'the connection broke off' }[cut]
  const message = `Only the first ${Math.ceil(bytes / 1024)} KB of the page were read, because ${why}: a form further down is missed.`
  return foundWarning('page_cut', message, `Send the part with the form. ${SEND_AS_TEXT}`)
}
