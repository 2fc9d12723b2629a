// Reads the path of a request, also where its Host header is broken and `new URL` would throw.

import { percentDecode } from '../lib/text.ts'

/** With a broken Host header, the URL of a request is its path alone, or a text that no parser takes. */
export function pathOf(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('//') + 2)
  return start < 0 ? '/' : (/^[^?#]*/.exec(url.slice(start))?.[0] ?? '/')
}

/**
 * The slug that a request asks for. An encoded slash (`%2f`) separates no segments: it stays encoded, and no slug has a "%".
 * @param path of the request's URL, with its first slash; slashes at its end do not count
 */
export function readRequestedSlug(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end--
  return percentDecode(path.slice(1, end).replaceAll(/%2f/gi, '%252f'))
}
