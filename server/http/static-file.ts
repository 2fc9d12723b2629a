// Answers requests for static files: compression, validation by ETag, HEAD and Content-Length in one place.

export interface StaticFile {
  /** The Content-Type. */
  type: string
  content: Uint8Array<ArrayBuffer> | Bun.BunFile
  /** The same content compressed; absent for a file that is only sent as it is. */
  gzip?: Uint8Array<ArrayBuffer> | Bun.BunFile
  /** A weak ETag (`W/"…"`): it stands for both encodings. */
  etag?: string
}

/** @param headers in addition to the headers about the content */
export function sendStaticFile(
  request: Request,
  { type, content, gzip, etag }: StaticFile,
  headers: Record<string, string>,
): Response {
  const common = {
    'X-Content-Type-Options': 'nosniff',
    ...(etag !== undefined && { ETag: etag }),
    ...(gzip && { Vary: 'Accept-Encoding' }),
    ...headers,
  }
  if (etag !== undefined && matchesEtag(request.headers.get('if-none-match'), etag))
    return new Response(null, { status: 304, headers: common })
  const zipped = gzip && acceptsGzip(request.headers.get('accept-encoding')) ? gzip : undefined
  const body = zipped ?? content
  return new Response(request.method === 'HEAD' ? null : body, {
    headers: {
      ...common,
      'Content-Type': type,
      'Content-Length': String('byteLength' in body ? body.byteLength : body.size),
      ...(zipped && { 'Content-Encoding': 'gzip' }),
    },
  })
}

/** Compares as RFC 9110 §8.8.3.2 says for If-None-Match: a strong and a weak tag of the same text are equal. */
const matchesEtag = (ifNoneMatch: string | null, etag: string) =>
  (ifNoneMatch?.split(',') ?? []).some((text) => {
    const tag = text.trim()
    return tag === '*' || tag.replace(/^(W\/)?/, 'W/') === etag
  })

/** `gzip;q=0` refuses gzip (RFC 9110 §12.5.3). */
export const acceptsGzip = (acceptEncoding: string | null | undefined) =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(acceptEncoding ?? '')
