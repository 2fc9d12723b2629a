// The types of fields: what browsers accept in their inputs, with a limit where a browser accepts what nobody can use.

import { isEmail } from '../../../lib/email.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import type { FieldType } from './schema.ts'

/** @param text trimmed, not empty */
export const isOfType = (type: FieldType, text: string): boolean => CHECKS[type](text)

/** A valid floating-point number: https://html.spec.whatwg.org/multipage/common-microsyntaxes.html#floating-point-numbers */
const NUMBER = /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?$/
/** A valid date string: https://html.spec.whatwg.org/multipage/common-microsyntaxes.html#valid-date-string */
const DATE = /^(\d{4,6})-(\d\d)-(\d\d)$/
/**
 * Digits with the usual signs between them, and an extension. Browsers accept any text in `<input type=tel>`
 * (https://html.spec.whatwg.org/multipage/input.html#telephone-state-(type=tel)), because so many notations exist.
 */
const PHONE = /^[+(]?[\d\s()./+-]*(?:(?:ext\.?|x|#)\s*\d{1,6})?$/i
/** From emergency numbers to the 15 digits of ITU-T E.164, with a prefix to dial abroad and an extension. */
const PHONE_DIGITS = { min: 3, max: 25 }
const TEXT_MAX = 2_048

const CHECKS: Record<FieldType, (text: string) => boolean> = {
  email: isEmail,
  /**
   * An absolute URL: https://html.spec.whatwg.org/multipage/input.html#url-state-(type=url). Only http and https: others
   * read what was sent and open it, and `javascript:` is a URL, too.
   */
  url(text) {
    const url = text.length <= TEXT_MAX && /^https?:\/\//i.test(text) && !/\s/.test(text) && parseUrl(text)
    return Boolean(url && url.hostname !== '')
  },
  tel(text) {
    if (text.length > TEXT_MAX || !PHONE.test(text)) return false
    const digits = text.replace(/\D/g, '').length
    return digits >= PHONE_DIGITS.min && digits <= PHONE_DIGITS.max
  },
  /** As for the input, a number that is too large for a computer is none. */
  number: (text) => text.length <= TEXT_MAX && NUMBER.test(text) && Number.isFinite(Number(text)),
  date(text) {
    const [, year, month, day] = (DATE.exec(text) ?? []).map(Number)
    if (!year || !month || !day || month > 12) return false
    // Day 0 of the next month is the last day of this one. The years before 100 need setUTCFullYear.
    const last = new Date(0)
    last.setUTCFullYear(year, month, 0)
    return day <= last.getUTCDate()
  },
}
