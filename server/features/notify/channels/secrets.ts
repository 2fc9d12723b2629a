// Seals the secrets of channels, so that nobody can read them in the database, its files or its backups.

import { randomBytes } from 'node:crypto'
import { createTextSealer } from '../../../lib/crypto/sealing.ts'
import type { ChannelSecrets } from './contract.ts'

/** The sealed content. The former secret of a webhook signs beside the current one until `until`. */
export interface SealedSecrets {
  url?: string
  botToken?: string
  secret?: string
  /** Of a channel of type http. */
  headers?: Record<string, string>
  former?: { secret: string; until: number }
}

/** The row that the secrets belong to. A sealed text that somebody copies into another row does not open there. */
export interface SecretOwner {
  workspaceId: number
  channelId: number
}

export interface Sealing {
  seal(secrets: SealedSecrets, owner: SecretOwner): string
  /** @throws when the text was sealed for another owner or with another key, or was changed */
  open(sealed: string, owner: SecretOwner): SealedSecrets
}

/** @param secret `TOWPATH_SECRET` */
export function createSealing(secret: string): Sealing {
  const sealer = createTextSealer(secret, 'towpath channel secrets 1')
  return {
    seal: (secrets, owner) => sealer.seal(JSON.stringify(secrets), ownerText(owner)),
    open(sealed, owner) {
      const plain = sealer.open(sealed, ownerText(owner))
      if (plain !== undefined) return JSON.parse(plain)
      throw new Error('The secrets of a channel cannot be read: has TOWPATH_SECRET changed?')
    },
  }
}

const ownerText = ({ workspaceId, channelId }: SecretOwner) => `${workspaceId}/${channelId}`

/** The secrets that a sender needs at this time. */
export function toChannelSecrets(
  { url, botToken, secret, headers, former }: SealedSecrets,
  now: number,
): ChannelSecrets {
  const valid = former && former.until > now ? [former.secret] : []
  return { url, botToken, headers, secrets: secret === undefined ? undefined : [secret, ...valid] }
}

/** 32 random bytes in the format of Standard Webhooks. */
export const newWebhookSecret = () => `whsec_${randomBytes(32).toString('base64')}`
