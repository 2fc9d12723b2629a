// Answers with the bytes of a file that a stranger sent: as a download, which no browser shows or runs under our origin.

import type { FileStore } from '../../../storage/files/file-store.ts'
import { openFile, type StoredFileRow } from './find-file.ts'

/** Browsers may keep the type of these to name the program that opens them. Markup and scripts never keep theirs. */
const HARMLESS_TYPE =
  /^(?:image\/(?!svg)[\w.+-]+|audio\/[\w.+-]+|video\/[\w.+-]+|font\/[\w.+-]+|text\/plain|application\/(?:pdf|zip|gzip|json|x-[\w.+-]+|vnd\.[\w.+-]+))$/
const MARKUP = /xml|html|script|flash|java/

const toSafeType = (type: string) => {
  if (!HARMLESS_TYPE.test(type) || (MARKUP.test(type) && !type.includes('openxmlformats')))
    return 'application/octet-stream'
  return type === 'text/plain' ? 'text/plain; charset=utf-8' : type
}

/** A client that takes no byte for this long is disconnected. */
export const SENDING_IDLE_SECONDS = 60

/** For every answer with bytes of a stranger. */
export const UNTRUSTED_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "sandbox; default-src 'none'",
  'Cache-Control': 'private, no-store',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
}

/** RFC 6266: the name in ASCII for old programs, and as RFC 8187 for all others. */
export function toAttachment(name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

interface FileRequest {
  method: string
  headers: Headers
}

/** @throws Failure `not_found`, `unavailable` */
export async function toFileResponse(
  store: Pick<FileStore, 'read'>,
  file: StoredFileRow,
  { method, headers: asked }: FileRequest,
): Promise<Response> {
  const etag = `"${file.sha256}"`
  const headers: Record<string, string> = {
    ...UNTRUSTED_HEADERS,
    'Content-Type': toSafeType(file.type),
    'Content-Disposition': toAttachment(file.name),
    'Accept-Ranges': 'bytes',
    ETag: etag,
  }
  const ifRange = asked.get('if-range')
  const isSame = ifRange === null || ifRange === etag
  const range = method === 'GET' && isSame ? readByteRange(asked.get('range'), file.bytes) : undefined
  if (range === 'outside')
    return new Response(null, {
      status: 416,
      headers: { ...headers, 'Content-Range': `bytes */${file.bytes}` },
    })
  const length = range ? range.end - range.start : file.bytes
  headers['Content-Length'] = String(length)
  if (range) headers['Content-Range'] = `bytes ${range.start}-${range.end - 1}/${file.bytes}`
  const body = method === 'HEAD' ? null : await openFile(store, file, range)
  return new Response(body, { status: range ? 206 : 200, headers })
}

/** Bytes, the end exclusive. */
interface ByteRange {
  start: number
  end: number
}

/**
 * Parses a range request (RFC 9110 §14): browsers use it to resume a download.
 * @returns undefined for the whole file, also for several ranges, which a server may ignore
 */
export function readByteRange(header: string | null, bytes: number): ByteRange | 'outside' | undefined {
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined
  const start = from === '' ? Math.max(0, bytes - Number(to)) : Number(from)
  const end = from === '' || to === '' ? bytes : Math.min(bytes, Number(to) + 1)
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined
  return start < end ? { start, end } : 'outside'
}
