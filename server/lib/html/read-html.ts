// Reads the HTML of an answer: its type, encoding and charset, with the rules of browsers.

import { parseCharset } from '../formats/charset.ts'

export type HtmlAnswer =
  | { html: string }
  /** `value` is the header with the reason. */
  | { problem: 'not_html' | 'compressed'; value: string }

export function readHtml({ headers, body }: { headers: Headers; body: Uint8Array }): HtmlAnswer {
  const type = headers.get('content-type') ?? ''
  if (type !== '' && !/^\s*(text\/html|application\/xhtml\+xml)\s*(;|$)/i.test(type))
    return { problem: 'not_html', value: type }
  const encoding = headers.get('content-encoding')?.trim() ?? ''
  if (encoding !== '' && encoding.toLowerCase() !== 'identity')
    return { problem: 'compressed', value: encoding }
  return { html: decode(body, findCharset(body, type)) }
}

/** Browsers look for a meta element with a charset in as many bytes. */
const META_BYTES = 1024
const META_CHARSET = /<meta\s[^>]*charset\s*=\s*["']?\s*([\w-]+)/i

/** A byte order mark wins, then the header, then the page itself; else it is UTF-8. */
function findCharset(body: Uint8Array, type: string): string {
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be'
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le'
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8'
  const inPage = () => META_CHARSET.exec(new TextDecoder('latin1').decode(body.subarray(0, META_BYTES)))?.[1]
  return parseCharset(type) ?? inPage() ?? 'utf-8'
}

function decode(body: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset as 'utf-8').decode(body)
  } catch {
    // An unknown charset. Browsers guess one too.
    return new TextDecoder().decode(body)
  }
}
