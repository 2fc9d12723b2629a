// What only a channel's owner may know is unreadable in the rows, in their backups and in their files.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { ChannelSecrets } from './contract.ts'

/** As it is sealed: a webhook's former secret signs beside the present one until its time is over. */
export interface SealedSecrets {
  url?: string
  botToken?: string
  secret?: string
  former?: { secret: string; until: number }
}

/** Whose secrets they are: sealed text that is put into another row does not open there. */
export interface SecretOwner {
  workspaceId: number
  channelId: number
}

export interface Sealing {
  seal(secrets: SealedSecrets, owner: SecretOwner): string
  /** @throws when it was sealed for another, with another key, or was changed */
  open(sealed: string, owner: SecretOwner): SealedSecrets
}

// Each delivery asks for its channel's, which seldom change.
const OPENED_MAX = 1_000

const VERSION = '1.'
const IV_BYTES = 12
const TAG_BYTES = 16

/** @param secret the installation's own */
export function createSealing(secret: string): Sealing {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'towpath channel secrets 1', 32))
  const bound = ({ workspaceId, channelId }: SecretOwner) => Buffer.from(`${workspaceId}/${channelId}`)
  const opened = new Map<string, SealedSecrets>()

  function unseal(sealed: string, owner: SecretOwner): SealedSecrets {
    if (!sealed.startsWith(VERSION)) throw unreadable()
    const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url')
    const text = bytes.subarray(IV_BYTES + TAG_BYTES)
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES))
        .setAAD(bound(owner))
        .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
      const plain = Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8')
      return JSON.parse(plain)
    } catch (cause) {
      throw unreadable(cause)
    }
  }

  return {
    seal(secrets, owner) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(bound(owner))
      const hidden = Buffer.concat([cipher.update(JSON.stringify(secrets), 'utf8'), cipher.final()])
      return VERSION + Buffer.concat([iv, cipher.getAuthTag(), hidden]).toString('base64url')
    },
    open(sealed, owner) {
      const name = `${bound(owner)} ${sealed}`
      const known = opened.get(name) ?? unseal(sealed, owner)
      if (opened.size >= OPENED_MAX) opened.clear()
      opened.set(name, known)
      return known
    },
  }
}

const unreadable = (cause?: unknown) =>
  new Error('The secrets of a channel cannot be read: is TOWPATH_SECRET another one than before?', { cause })

/** What a sender needs of it now. */
export function toChannelSecrets(
  { url, botToken, secret, former }: SealedSecrets,
  now: number,
): ChannelSecrets {
  const valid = former && former.until > now ? [former.secret] : []
  return { url, botToken, secrets: secret === undefined ? undefined : [secret, ...valid] }
}

/** 32 bytes, as Standard Webhooks writes them. */
export const newWebhookSecret = () => `whsec_${randomBytes(32).toString('base64')}`
