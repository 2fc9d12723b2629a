// What only a channel's owner may know is unreadable in the rows, in their backups and in their files.

import { randomBytes } from 'node:crypto'
import { createTextSealer } from '../../../lib/sealing.ts'
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

/** @param secret the installation's own */
export function createSealing(secret: string): Sealing {
  const sealer = createTextSealer(secret, 'towpath channel secrets 1')
  const opened = new Map<string, SealedSecrets>()

  function unseal(sealed: string, owner: string): SealedSecrets {
    const plain = sealer.open(sealed, owner)
    if (plain === undefined) {
      throw new Error('The secrets of a channel cannot be read: is TOWPATH_SECRET another one than before?')
    }
    return JSON.parse(plain)
  }

  return {
    seal: (secrets, owner) => sealer.seal(JSON.stringify(secrets), ownerText(owner)),
    open(sealed, owner) {
      const name = `${ownerText(owner)} ${sealed}`
      const known = opened.get(name) ?? unseal(sealed, ownerText(owner))
      if (opened.size >= OPENED_MAX) opened.clear()
      opened.set(name, known)
      return known
    },
  }
}

const ownerText = ({ workspaceId, channelId }: SecretOwner) => `${workspaceId}/${channelId}`

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
