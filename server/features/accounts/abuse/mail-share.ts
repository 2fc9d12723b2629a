// Shares the mails of a day out: among the kinds of mails, and for each kind among the workspaces. No kind and no workspace
// can use up the mails of the others (docs/contract.md §16).

export const MAIL_KINDS = ['accounts', 'signUps', 'notifications', 'confirmations', 'replies'] as const
export type MailKind = (typeof MAIL_KINDS)[number]

export interface MailsOfDay {
  /** `MAIL_PER_DAY` */
  perDay: number
  sent: Record<MailKind, number>
}

export interface MailShare {
  /** The number of emails of this kind that the workspace has sent today. */
  own: number
  /** Whether it is the only workspace of the server, which can use the whole day. */
  isAlone: boolean
}

/**
 * A workspace may send three times the remaining number: one busy workspace gets three quarters, ten get 3/31 each.
 */
const TIMES_WHAT_IS_LEFT = 3

/**
 * Whether an email of this kind may leave now. A workspace may send while it has sent at most three times the number
 * that remains for its kind. Workspaces that need more than that end with equal shares, and some emails always remain
 * for the next one. (The dynamic threshold of shared buffers: https://doi.org/10.1109/90.664262)
 */
export function mayTakeMails(
  day: MailsOfDay,
  { kind, mails }: { kind: MailKind; mails: number },
  share: MailShare,
): boolean {
  const left = countMailsLeft(day, kind) - mails
  if (left < 0) return false
  return kind === 'accounts' || share.isAlone || share.own <= TIMES_WHAT_IS_LEFT * left
}

/**
 * The number of emails of this kind that the whole server may still send. Each kind has a reserved part of the day.
 * Emails about accounts are few, and take from all parts.
 */
export function countMailsLeft({ perDay, sent }: MailsOfDay, kind: MailKind): number {
  const left = perDay - sum(MAIL_KINDS, (each) => sent[each])
  if (kind === 'accounts') return left
  const kept = keepParts(perDay)
  const keptByOthers = sum(MAIL_KINDS, (each) => (each === kind ? 0 : Math.max(0, kept[each] - sent[each])))
  return left - keptByOthers
}

/** Replies, which any stranger causes, thus get half of the day at most. */
function keepParts(perDay: number): Record<MailKind, number> {
  const twentieth = Math.floor(perDay / 20)
  const notifications = Math.floor(perDay / 2) - 2 * twentieth
  return { accounts: twentieth, signUps: 0, notifications, confirmations: twentieth, replies: twentieth }
}

const sum = (kinds: readonly MailKind[], toNumber: (kind: MailKind) => number) =>
  kinds.reduce((total, kind) => total + toNumber(kind), 0)
