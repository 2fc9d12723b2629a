// The cookie of a visitor who has given the password of a shared page. It names the page and the password, so that
// neither another page nor an older password opens anything.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { SHARE_PATH, type ViewRow } from '../view.ts'

const COOKIE = 'towpath_share'
const AGE_MS = 12 * 60 * 60_000

type ProtectedView = Pick<ViewRow, 'share_token' | 'share_password_hash'>

export type SharePass = ReturnType<typeof createSharePass>

export function createSharePass(secret: string, origin: string) {
  const sign = ({ share_token, share_password_hash }: ProtectedView, until: number) =>
    createHmac('sha256', secret)
      .update(`towpath share ${share_token} ${share_password_hash} ${until}`)
      .digest('base64url')
  // A page in a frame of another site has its cookie only so (https://developer.mozilla.org/docs/Web/Privacy/Guides/Privacy_sandbox/Partitioned_cookies).
  const isHttps = origin.startsWith('https:')
  const site = isHttps ? 'SameSite=None; Secure; Partitioned' : 'SameSite=Lax'
  return {
    /** @returns a Set-Cookie header */
    issue(view: ProtectedView, now: number): string {
      const until = now + AGE_MS
      const path = `${SHARE_PATH}${view.share_token}`
      return `${COOKIE}=${until}.${sign(view, until)}; Path=${path}; Max-Age=${AGE_MS / 1000}; HttpOnly; ${site}`
    },

    isValid(view: ProtectedView, cookies: string | null, now: number): boolean {
      for (const cookie of cookies?.split(';') ?? []) {
        const [, until = '', signature = ''] =
          /^\s*towpath_share=(\d{1,15})\.([\w-]{43})\s*$/.exec(cookie) ?? []
        if (until === '' || Number(until) <= now) continue
        const [given, expected] = [signature, sign(view, Number(until))].map((text) => Buffer.from(text))
        if (given && expected && timingSafeEqual(given, expected)) return true
      }
      return false
    },
  }
}
