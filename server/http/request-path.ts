// The path of a request, also where its Host header is broken and `new URL` would throw.

/** By hand: with a broken Host header a request's URL is its path alone, or one that no parser takes. */
export function pathOf(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('//') + 2)
  return start < 0 ? '/' : (/^[^?#]*/.exec(url.slice(start))?.[0] ?? '/')
}

export function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Nobody was given this name; it is looked up as it stands.
    return text
  }
}
