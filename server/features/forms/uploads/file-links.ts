// The links in notifications that open a file without signing in. A link is signed, so it cannot be forged, and a
// forged one is refused without a database lookup.

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { DAY_MS } from '../../../lib/utc-day.ts'

const VALID_DAYS = 7
/** After `/f`. */
export const FILE_LINK_PATH = '/files/'
/** Day and name of the file's key, end of the link, signature. */
const TOKEN = /^(\d{4}-\d{2}-\d{2})\.([0-9a-f]{32})\.([0-9a-z]{1,9})\.([\w-]{43})$/

export interface FileLink {
  /** Not the id: after the restore of an older backup, another file may get the same id. */
  key: string
  /** In milliseconds. */
  expiresAt: number
}

export interface FileLinks {
  /** Works for seven days, to the end of the last one: on one day (UTC), a file always gets the same link. */
  toUrl(key: string, now: number): string
  /** @returns undefined for a token that is not ours */
  readToken(token: string): FileLink | undefined
}

/** @param secret `TOWPATH_SECRET` */
export function createFileLinks(secret: string, origin: string): FileLinks {
  const signingKey = Buffer.from(hkdfSync('sha256', secret, '', 'towpath file links 1', 32))
  const sign = (text: string) => createHmac('sha256', signingKey).update(text).digest('base64url')
  return {
    toUrl(key, now) {
      const expiresAt = (Math.floor(now / DAY_MS) + VALID_DAYS + 1) * DAY_MS
      const content = `${key.replace('/', '.')}.${expiresAt.toString(36)}`
      return `${origin}/f${FILE_LINK_PATH}${content}.${sign(content)}`
    },
    readToken(token) {
      const [, day, name, end, signature] = TOKEN.exec(token) ?? []
      if (day === undefined || end === undefined || signature === undefined) return undefined
      const expected = sign(`${day}.${name}.${end}`)
      if (!timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) return undefined
      return { key: `${day}/${name}`, expiresAt: Number.parseInt(end, 36) }
    },
  }
}
