// Normalizes an address to its mailbox, and detects mailboxes that a program reads. Limits know a mailbox by its HMAC
// only.

import { createHmac } from 'node:crypto'

const HASH_CHARACTERS = 32

/** One mailbox has many addresses: in upper and lower case, and with `+tag` in most mail systems. */
export function toMailbox(email: string): string {
  const [local, domain] = splitAddress(email)
  // An address that begins with the plus has no name before a tag.
  return `${local.replace(/(?<=.)\+.*$/, '')}@${domain}`
}

function splitAddress(email: string): [local: string, domain: string] {
  const at = email.lastIndexOf('@')
  return [email.slice(0, at).toLowerCase(), email.slice(at + 1).toLowerCase()]
}

/** Programs read these, and some answer: two programs that answer each other never stop (RFC 3834 §2). */
const PROGRAMS = [
  /^(?:no|do[-_.]?not|dont|never)[-_.]?reply/,
  /^(?:mail(?:er)?[-_.]?daemon|daemon|postmaster|root|bounced?|bounces|auto[-_.]?(?:reply|respon[ds]er?|response)|listserv|majordomo|mailman|null|devnull|unsubscribe)\d*$/,
  // The senders of mailing lists, and addresses that a forwarder has rewritten.
  /^(?:owner|bounces?|prvs|srs\d)[-+=]/,
  /[-+](?:owner|request|bounces?|errors|noreply|no-reply)$/,
]

/**
 * True for an address whose mail a person may read. `%` and `!` name a further mail server in the ways of before RFC 1123: some servers
 * still send such a mail on. A name with a dot at an end, or two in a row, is none in SMTP (RFC 5321 §4.1.2).
 */
export function isAnswerable(email: string): boolean {
  const [local, domain] = splitAddress(email)
  if (/[%!]|^\.|\.\.|\.$/.test(local) || !/[a-z]/.test(domain.split('.').at(-1) ?? '')) return false
  return !PROGRAMS.some((program) => program.test(local))
}

/** Gmail ignores dots: without this, one person could be mailed at any number of addresses. */
function dropDots(mailbox: string): string {
  const [local, domain] = splitAddress(mailbox)
  return /^g(?:oogle)?mail\.com$/.test(domain) ? `${local.replaceAll('.', '')}@gmail.com` : mailbox
}

/** The hash reveals nothing without the server's secret, and differs between workspaces. */
export type AddressHasher = (workspaceId: number, email: string) => string

/** @param secret `TOWPATH_SECRET` */
export const createAddressHasher =
  (secret: string): AddressHasher =>
  (workspaceId, email) =>
    createHmac('sha256', secret)
      .update(`towpath reply address ${workspaceId} ${dropDots(toMailbox(email))}`)
      .digest('base64url')
      .slice(0, HASH_CHARACTERS)
