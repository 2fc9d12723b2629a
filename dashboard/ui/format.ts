// Numbers, times, country names and URLs as texts, in the page's language and the viewer's time zone.

import { locale } from '../api/language.ts'
import { t } from './text.ts'

const fullNumber = new Intl.NumberFormat(locale)
const shortNumber = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })
const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
const moment = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
const exactTime = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long' })
const plural = new Intl.PluralRules(locale)
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })

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
  new Intl.NumberFormat(locale, { style: 'currency', currency }).format(value as `${number}`)
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
  return t('just now')
}

const regions = new Intl.DisplayNames(locale, { type: 'region', fallback: 'code' })

/** `Germany` for `DE`. A text that is no country code stays as it is. */
export const formatCountryName = (code: string) =>
  /^[A-Z]{2}$/.test(code) ? (regions.of(code) ?? code) : code

/** The flag emoji of a two-letter code; '' for any other text. */
export const toFlagEmoji = (code: string) =>
  /^[A-Z]{2}$/.test(code)
    ? String.fromCodePoint(...[...code].map((letter) => 0x1f1e6 + letter.charCodeAt(0) - 65))
    : ''

const BYTE_UNITS = [t('bytes'), t('KB'), t('MB'), t('GB'), t('TB')]
const BYTE_STEP = 1024
/** `3.4 MB` */
export function formatBytes(bytes: number): string {
  const unit =
    bytes > 0 ? Math.min(Math.floor(Math.log(bytes) / Math.log(BYTE_STEP)), BYTE_UNITS.length - 1) : 0
  return `${shortNumber.format(bytes / BYTE_STEP ** unit)} ${BYTE_UNITS[unit]}`
}

const orList = new Intl.ListFormat(locale, { type: 'disjunction' })
const andList = new Intl.ListFormat(locale, { type: 'conjunction' })
/** `A, B or C` */
export const formatOr = (texts: string[]) => orList.format(texts)
/** `A, B and C` */
export const formatAnd = (texts: string[]) => andList.format(texts)

/**
 * `1 link`, `2 links`
 * @param one or all forms in the order of `pluralCategories`, which the build writes for languages that have more than two
 */
export function formatCount(n: number, one: string | string[], many = `${one}s`) {
  const form = plural.select(n)
  const text =
    typeof one === 'string'
      ? form === 'one'
        ? one
        : many
      : one[plural.resolvedOptions().pluralCategories.indexOf(form)]
  return `${formatNumber(n)} ${text}`
}

/** `example.com/sale` for `https://www.example.com/sale/`. */
export const toReadableUrl = (url: string) => url.replace(/^https?:\/\/(www\.)?/, '').replace(/\/$/, '')
