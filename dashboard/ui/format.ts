// Numbers, times, country names and URLs as texts, in the viewer's language and time zone.

const fullNumber = new Intl.NumberFormat()
const shortNumber = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const exactTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })

export const viewerZone = Intl.DateTimeFormat().resolvedOptions().timeZone

export const formatNumber = (value: number) => fullNumber.format(value)
/** `12.3K` for 12,345, where space is short. */
export const formatShort = (value: number) => shortNumber.format(value)
const UNREAD_MAX = 99
/** A number of unread things for a badge: `99+` above 99. */
export const formatUnread = (count: number) => (count > UNREAD_MAX ? `${UNREAD_MAX}+` : String(count))
/** @param part from 0 to 1 */
export const formatPercent = (part: number) => percent.format(part)
/** Exact: the text is no floating-point number on its way. */
export const formatMoney = (value: string, currency: string) =>
  new Intl.NumberFormat(undefined, { style: 'currency', currency }).format(value as `${number}`)
export const formatDay = (iso: string) => day.format(new Date(iso))
export const formatTime = (iso: string) => moment.format(new Date(iso))
export const formatExactly = (iso: string) => exactTime.format(new Date(iso))

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

/** `3 minutes ago` */
export function formatAgo(iso: string, now = Date.now()): string {
  const seconds = (Date.parse(iso) - now) / 1000
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit)
  }
  return 'just now'
}

const regions = new Intl.DisplayNames(undefined, { type: 'region', fallback: 'code' })

/** `Germany` for `DE`. A text that is no country code stays as it is. */
export const formatCountryName = (code: string) =>
  /^[A-Z]{2}$/.test(code) ? (regions.of(code) ?? code) : code

/** The flag emoji of a two-letter code; '' for any other text. */
export const toFlagEmoji = (code: string) =>
  /^[A-Z]{2}$/.test(code)
    ? String.fromCodePoint(...[...code].map((letter) => 0x1f1e6 + letter.charCodeAt(0) - 65))
    : ''

const BYTE_UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB']
const BYTE_STEP = 1024
/** `3.4 MB` */
export function formatBytes(bytes: number): string {
  const unit =
    bytes > 0 ? Math.min(Math.floor(Math.log(bytes) / Math.log(BYTE_STEP)), BYTE_UNITS.length - 1) : 0
  return `${shortNumber.format(bytes / BYTE_STEP ** unit)} ${BYTE_UNITS[unit]}`
}

/** `1 link`, `2 links` */
export const formatCount = (n: number, one: string, many = `${one}s`) =>
  `${formatNumber(n)} ${n === 1 ? one : many}`

/** `example.com/sale` for `https://www.example.com/sale/`. */
export const toReadableUrl = (url: string) => url.replace(/^https?:\/\/(www\.)?/, '').replace(/\/$/, '')
