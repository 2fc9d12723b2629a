// Reads the facts that a redirect needs from a User-Agent header: the device for targeting rules, and whether it is a
// prefetch.

export type TargetDevice = 'ios' | 'android' | 'desktop'

/** Phones of other systems. Their user agents also contain iPhone and Android for compatibility. */
const OTHER_PHONE = /\bWindows Phone\b|\bIEMobile\b|\bTizen\b|\bKAIOS\b|\bBada\b|\bSymb(?:ian)?OS\b/i
/** Whole words: a `MiPad` is no iPad. */
const ANDROID = /\bAndroid(?![a-z])|\bAdr \d/i
const APPLE = /\biP(?:hone|ad|od)(?![a-z])|\biOS\b/

/**
 * iPadOS asks for desktop sites with a Mac's user agent. Only the web views of its apps add `Mobile`, and those count as
 * iOS. An Android phone may have `iPhone` in the name of its model, and no Apple device names Android. Everything else is a
 * desktop.
 */
export function deviceForTargeting(userAgent: string): TargetDevice {
  if (OTHER_PHONE.test(userAgent)) return 'desktop'
  if (ANDROID.test(userAgent)) return 'android'
  return APPLE.test(userAgent) || isMacWithMobile(userAgent) ? 'ios' : 'desktop'
}

function isMacWithMobile(userAgent: string): boolean {
  const mac = userAgent.indexOf('Macintosh;')
  return mac >= 0 && userAgent.includes('Mobile/', mac)
}

/** Whether the request is a prefetch: `Sec-Purpose`, or the header of an older browser. */
export function isPrefetch(header: (name: string) => string | null): boolean {
  const purpose = header('sec-purpose') ?? header('purpose') ?? header('x-purpose') ?? header('x-moz') ?? null
  return purpose !== null && /prefetch|prerender|preview/i.test(purpose)
}
