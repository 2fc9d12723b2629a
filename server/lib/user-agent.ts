// Reads from a User-Agent header what a redirect needs at once: the device for targeting rules, and whether it only
// prefetches.

export type TargetDevice = 'ios' | 'android' | 'desktop'

/**
 * iPadOS asks for desktop sites with a Mac's user agent. Only the web views of its apps add `Mobile`, and those count as
 * iOS. Everything that is neither iOS nor Android is a desktop; so is a Windows phone, whose user agent names both.
 */
export function deviceForTargeting(userAgent: string): TargetDevice {
  if (/Windows Phone|IEMobile/i.test(userAgent)) return 'desktop'
  if (/iPhone|iPad|iPod/.test(userAgent) || isMacWithMobile(userAgent)) return 'ios'
  if (/Android/i.test(userAgent)) return 'android'
  return 'desktop'
}

function isMacWithMobile(userAgent: string): boolean {
  const mac = userAgent.indexOf('Macintosh;')
  return mac >= 0 && userAgent.includes('Mobile/', mac)
}

/** Whether the browser fetches ahead, before a person clicks: `Sec-Purpose`, or the header of an older browser. */
export function isPrefetch(header: (name: string) => string | null): boolean {
  const purpose = header('sec-purpose') ?? header('purpose') ?? header('x-purpose') ?? header('x-moz') ?? null
  return purpose !== null && /prefetch|prerender|preview/i.test(purpose)
}
