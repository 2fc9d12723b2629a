// Reads the path of a request, also where its Host header is broken and `new URL` would throw, and says which mounted path has it.

/** With a broken Host header, the URL of a request is only its path, or a text that cannot be parsed. */
export function pathOf(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('//') + 2)
  return start < 0 ? '/' : (/^[^?#]*/.exec(url.slice(start))?.[0] ?? '/')
}

/**
 * Bun matches a path as it was sent, and resolves its dots afterwards: `/f/../app` reaches `/f/*` as `/app`.
 * @returns whether a resolved path matches the mounted path, such as `/:slug` or `/f/*`
 */
export function createPathMatcher(mounted: string): (path: string) => boolean {
  const prefix = mounted.split(/[:*]/, 1)[0] as string
  if (prefix === mounted) return (path) => path === mounted
  if (mounted.endsWith('*')) return (path) => path.startsWith(prefix) || `${path}/` === prefix
  return (path) => path.startsWith(prefix) && !path.includes('/', prefix.length)
}
