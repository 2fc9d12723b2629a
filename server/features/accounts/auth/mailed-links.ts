// Links in emails that prove who opens them, such as the link to reset a password. Each link works once. The database
// has only the hash of its token.

import { randomToken } from '../../../lib/crypto/random.ts'
import { sha256Hex } from '../../../lib/crypto/sha256.ts'
import type { Connection } from '../../../storage/database/open-database.ts'

export type MailedLinkKind = 'reset' | 'sign-up' | 'email' | 'email-undo'

const toIdentifier = (kind: MailedLinkKind, token: string) => `${kind}:${sha256Hex(token)}`

/**
 * @param link.value starts with its owner: a user id or an email address. After a space, more may follow.
 * @returns the token of the link
 */
export async function addMailedLink(
  connection: Connection,
  kind: MailedLinkKind,
  { value, at, validMs }: { value: string; at: number; validMs: number },
): Promise<string> {
  const token = randomToken(32)
  await connection
    .insertInto('verifications')
    .values({
      identifier: toIdentifier(kind, token),
      value,
      expires_at: at + validMs,
      created_at: at,
      updated_at: at,
    })
    .execute()
  return token
}

/** @returns the value of the link, or undefined for a link that is unknown, used or expired */
export async function readMailedLink(
  connection: Connection,
  kind: MailedLinkKind,
  { token, now }: { token: string; now: number },
): Promise<string | undefined> {
  const link = await connection
    .selectFrom('verifications')
    .select('value')
    .where('identifier', '=', toIdentifier(kind, token))
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return link?.value
}

/**
 * Deletes the link: of two requests with the same link only one gets it.
 * @returns undefined for a link that is unknown, used or expired
 */
export const takeMailedLink = (
  connection: Connection,
  kind: MailedLinkKind,
  { token, now }: { token: string; now: number },
) =>
  connection
    .deleteFrom('verifications')
    .where('identifier', '=', toIdentifier(kind, token))
    .where('expires_at', '>', now)
    .returning(['value', 'created_at'])
    .executeTakeFirst()

/** @param owner a user id or an email address */
export async function deleteMailedLinks(
  connection: Connection,
  kinds: readonly MailedLinkKind[],
  owner: string,
): Promise<void> {
  await connection
    .deleteFrom('verifications')
    .where((e) => e.or(kinds.map((kind) => e('identifier', 'like', `${kind}:%`))))
    .where((e) => e.or([e('value', '=', owner), e('value', 'like', `${owner} %`)]))
    .execute()
}
