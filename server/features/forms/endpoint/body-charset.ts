// Finds the charset of a form's body, and decodes its texts without losing a letter.

import { isUtf8 } from 'node:buffer'
import { decodeText, findEncoding, parseCharset } from '../../../lib/formats/charset.ts'
import { EndpointError } from './endpoint-error.ts'

/** Browsers fill in the charset of the body: https://html.spec.whatwg.org/multipage/form-control-infrastructure.html */
export const isCharsetField = (name: string) => name.length === 9 && name.toLowerCase() === '_charset_'

export interface BodyCharset {
  /** Undefined where the body names none. */
  encoding: string | undefined
  /** A page in this charset sends `&#20320;` for a character that the charset lacks. */
  isLegacy: boolean
}

/**
 * @param sent the value of `_charset_`, which overrides the header
 * @param texts those in the charset of the body
 */
export function findBodyCharset(
  contentType: string,
  sent: string | undefined,
  texts: Uint8Array[],
): BodyCharset {
  const encoding = toFormEncoding(findEncoding(sent) ?? findEncoding(parseCharset(contentType)))
  const isUnicode = encoding === undefined || encoding === 'utf-8'
  return { encoding, isLegacy: !isUnicode || !texts.every((text) => isUtf8(text)) }
}

/** Forms of pages in UTF-16 send UTF-8: https://encoding.spec.whatwg.org/#get-an-output-encoding */
export const toFormEncoding = (encoding: string | undefined) =>
  encoding?.startsWith('utf-16') ? 'utf-8' : encoding

/** @throws EndpointError 400 */
export function readText(bytes: Uint8Array, { encoding, isLegacy }: BodyCharset): string {
  const text = decodeText(bytes, encoding)
  if (text === undefined)
    throw new EndpointError(400, `The body is not in the charset ${encoding}, as it says`)
  return isLegacy ? text.replace(/&#(\d{3,7});/g, toCharacter) : text
}

/** Up to U+00FF a person has typed the reference: every legacy charset of this range has the character itself. */
function toCharacter(reference: string, digits: string): string {
  const code = Number(digits)
  const isCharacter = code > 0xff && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
  return isCharacter ? String.fromCodePoint(code) : reference
}
