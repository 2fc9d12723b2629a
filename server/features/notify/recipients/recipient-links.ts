// The links with which recipients confirm or stop mails. A link is sealed: it names the workspace and the addresses, and
// nobody else can make one.

import { createTextSealer } from '../../../lib/crypto/sealing.ts'

export interface RecipientLink {
  workspaceId: number
  /** Lower case. */
  emails: string[]
}

export interface RecipientLinks {
  createToken(link: RecipientLink): string
  /** @returns undefined for a token that is not ours */
  readToken(token: string): RecipientLink | undefined
  /** The page of the dashboard where the person decides. */
  toPage(token: string): string
  /** The address that mail programs post to when the person unsubscribes (RFC 8058). */
  toOneClick(token: string): string
}

const OWNER = 'recipient'

/** @param secret `TOWPATH_SECRET` */
export function createRecipientLinks(secret: string, origin: string): RecipientLinks {
  const sealer = createTextSealer(secret, 'towpath mail recipients 1')
  return {
    createToken: ({ workspaceId, emails }) => sealer.seal(JSON.stringify([workspaceId, ...emails]), OWNER),
    readToken(token) {
      const content = sealer.open(token, OWNER)
      if (content === undefined) return undefined
      const [workspaceId, ...emails] = JSON.parse(content) as [number, ...string[]]
      return { workspaceId, emails }
    },
    toPage: (token) => `${origin}/app/mail?token=${encodeURIComponent(token)}`,
    toOneClick: (token) => `${origin}/api/mail/unsubscribe?token=${encodeURIComponent(token)}`,
  }
}
