// Reads the path of a request, also where its Host header is broken and `new URL` would throw.

/** With a broken Host header, the URL of a request is its path alone, or a text that no parser takes. */
export function pathOf(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('//') + 2)
  return start < 0 ? '/' : (/^[^?#]*/.exec(url.slice(start))?.[0] ?? '/')
}
