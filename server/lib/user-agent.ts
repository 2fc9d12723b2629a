// What a redirect must know of a browser at once: which device its targeting rules mean, and whether a person is there.

export type TargetDevice = 'ios' | 'android' | 'desktop'

/**
 * iPadOS asks for desktop sites with a Mac's user agent; only apps' web views say `Mobile` then, and those are taken
 * for what they are. Whatever is neither iOS nor Android is a desktop, Windows phones too, which name both others.
 */
export function deviceForTargeting(userAgent: string): TargetDevice {
  if (/Windows Phone|IEMobile/i.test(userAgent)) return 'desktop'
  if (/iPhone|iPad|iPod/.test(userAgent) || /Macintosh;.*Mobile\//.test(userAgent)) return 'ios'
  if (/Android/i.test(userAgent)) return 'android'
  return 'desktop'
}

/** Whether the browser fetches ahead of its person: `Sec-Purpose` today, the others in older browsers. */
export function isPrefetch(header: (name: string) => string | null): boolean {
  const purpose = header('sec-purpose') ?? header('purpose') ?? header('x-purpose') ?? header('x-moz') ?? null
  return purpose !== null && /prefetch|prerender|preview/i.test(purpose)
}
