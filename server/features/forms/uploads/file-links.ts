// The links in notifications that open a file without signing in, for seven days. A link is sealed, so nobody else can
// make one, and a forged one is refused without a look into the database.

import { createTextSealer } from '../../../lib/crypto/sealing.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'

const VALID_MS = 7 * DAY_MS
const OWNER = 'file'
/** After `/f`. */
export const FILE_LINK_PATH = '/files/'

export interface FileLink {
  /** Not the id: after the restore of an older backup, another file may get the same id. */
  key: string
  /** In milliseconds. */
  expiresAt: number
}

export interface FileLinks {
  toUrl(key: string, at: number): string
  /** @returns undefined for a token that is not ours */
  readToken(token: string): FileLink | undefined
}

/** @param secret `TOWPATH_SECRET` */
export function createFileLinks(secret: string, origin: string): FileLinks {
  const sealer = createTextSealer(secret, 'towpath file links 1')
  return {
    toUrl: (key, at) =>
      `${origin}/f${FILE_LINK_PATH}${sealer.seal(JSON.stringify([key, at + VALID_MS]), OWNER)}`,
    readToken(token) {
      const content = sealer.open(token, OWNER)
      if (content === undefined) return undefined
      const [key, expiresAt] = JSON.parse(content) as [string, number]
      return { key, expiresAt }
    },
  }
}
