// The links in emails to senders: one confirms a submission, one stops the replies of a workspace. A link is sealed,
// so it cannot be forged, and it reveals nothing.

import { createTextSealer } from '../../../lib/crypto/sealing.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'

/** Counts from the sending of the mail. Unconfirmed submissions are erased after the same time (docs/contract.md §13). */
export const CONFIRM_WITHIN_MS = 7 * DAY_MS

export interface ConfirmLink {
  workspaceId: number
  submissionId: number
  /** In milliseconds. */
  expiresAt: number
}

export interface ReplyStopLink {
  workspaceId: number
  /** The hash of the mailbox. */
  address: string
}

export interface ReplyLinks {
  toConfirmUrl(link: ConfirmLink): string
  /** @returns undefined for a token that is not ours */
  readConfirmToken(token: string): ConfirmLink | undefined
  toStopUrl(link: ReplyStopLink): string
  readStopToken(token: string): ReplyStopLink | undefined
}

const TOKEN_MAX = 400

/** @param secret `TOWPATH_SECRET` @param origin `https://go.example` */
export function createReplyLinks(secret: string, origin: string): ReplyLinks {
  const sealer = createTextSealer(secret, 'towpath replies 1')
  const seal = (kind: LinkKind, content: unknown[]) => sealer.seal(JSON.stringify(content), kind)
  const open = (kind: LinkKind, token: string) => {
    const content = token.length > TOKEN_MAX ? undefined : sealer.open(token, kind)
    return content === undefined ? undefined : JSON.parse(content)
  }
  return {
    toConfirmUrl: ({ workspaceId, submissionId, expiresAt }) =>
      `${origin}/f/confirm/${seal('confirm', [workspaceId, submissionId, expiresAt])}`,
    readConfirmToken(token) {
      const content = open('confirm', token)
      if (!content) return undefined
      const [workspaceId, submissionId, expiresAt] = content
      return { workspaceId, submissionId, expiresAt }
    },
    toStopUrl: ({ workspaceId, address }) => `${origin}/f/stop/${seal('stop', [workspaceId, address])}`,
    readStopToken(token) {
      const content = open('stop', token)
      if (!content) return undefined
      const [workspaceId, address] = content
      return { workspaceId, address }
    },
  }
}

export type LinkKind = 'confirm' | 'stop'

/** @param path the path after `/f`. No form key has a slash. */
export function parseLinkPath(path: string): { kind: LinkKind; token: string } | undefined {
  const [, kind, token] = /^\/+(confirm|stop)\/+([\w.-]+)\/*$/.exec(path) ?? []
  return kind === undefined ? undefined : { kind: kind as LinkKind, token: token as string }
}
