// The headers of a channel of type http: which ones it may have, and how answers show them.

import type { BodyType } from './body-template.ts'

export const HIDDEN_VALUE = '(hidden)'
const CONTENT_TYPE = 'content-type'
const DEFAULT_CONTENT_TYPE = 'application/json; charset=utf-8'

export type RequestHeaders = Record<string, string>

/** RFC 9110, section 5.6.2. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
/** Visible ASCII, with blanks between: no line break, and nothing that a receiver reads in two ways. */
const VALUE = /^(?:[!-~](?:[ \t!-~]*[!-~])?)?$/

/** The connection's own (RFC 9110, section 7.6.1), those that frame the message, and those that name another receiver. */
const REFUSED =
  /^(?:host|content-length|content-encoding|accept-encoding|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|via|forwarded|proxy-.*|x-forwarded-.*|:.*)$/i

/** @returns mistakes by field */
export function findHeaderMistakes(headers: RequestHeaders): Record<string, string> {
  const mistakes: Record<string, string> = {}
  const names = Object.keys(headers)
  const folded = names.map((name) => name.toLowerCase())
  for (const [i, name] of names.entries()) {
    const mistake = findHeaderMistake(name, headers[name] as string, folded.indexOf(folded[i] as string) < i)
    if (mistake) mistakes[`headers.${name.slice(0, 100)}`] = mistake
  }
  return mistakes
}

function findHeaderMistake(name: string, value: string, isRepeated: boolean): string | undefined {
  if (!NAME.test(name)) return 'is not the name of a header'
  if (REFUSED.test(name)) return 'is set by the connection'
  if (isRepeated) return 'is there twice: names of headers have no case'
  if (!VALUE.test(value))
    return 'must be visible ASCII without line breaks, and not begin or end with a blank'
  if (value.includes('{{')) return 'has no placeholders: only the body has'
  if (name.toLowerCase() === CONTENT_TYPE && !toBodyType(value))
    return 'must be application/json, application/x-www-form-urlencoded or text/plain'
  return undefined
}

const BODY_TYPE_BY_MEDIA: Record<string, BodyType> = {
  'application/json': 'json',
  'application/x-www-form-urlencoded': 'form',
  'text/plain': 'text',
}

const MEDIA_TYPE = /^([a-z]+\/[a-z0-9.+-]+)\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

function toBodyType(contentType: string): BodyType | undefined {
  const media = MEDIA_TYPE.exec(contentType)?.[1]?.toLowerCase()
  if (media === undefined) return undefined
  return media.startsWith('application/') && media.endsWith('+json') ? 'json' : BODY_TYPE_BY_MEDIA[media]
}

const findContentType = (headers: RequestHeaders) =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === CONTENT_TYPE)?.[1]

/** The type of the body, which decides how placeholders are escaped. */
export const readBodyType = (headers: RequestHeaders): BodyType =>
  toBodyType(findContentType(headers) ?? DEFAULT_CONTENT_TYPE) ?? 'json'

/** With the type of the body, which every receiver needs. */
export const addContentType = (headers: RequestHeaders): RequestHeaders =>
  findContentType(headers) === undefined ? { 'content-type': DEFAULT_CONTENT_TYPE, ...headers } : headers

/** Any other header may hold a secret. */
export const hideHeaders = (headers: RequestHeaders): RequestHeaders =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      name.toLowerCase() === CONTENT_TYPE ? value : HIDDEN_VALUE,
    ]),
  )

/** A hidden value of an answer that comes back keeps the stored one. */
export function restoreHidden(headers: RequestHeaders, stored: RequestHeaders): RequestHeaders {
  const known = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]))
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      value === HIDDEN_VALUE ? (known.get(name.toLowerCase()) ?? value) : value,
    ]),
  )
}
