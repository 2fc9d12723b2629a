// Seals texts and bytes with AES-256-GCM, so that only this installation can read or write them.

import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
export const IV_BYTES = 12
export const TAG_BYTES = 16

/** The parts of a sealed message. The caller chooses their order when it stores them. */
export interface SealedParts {
  iv: Buffer
  text: Buffer
  tag: Buffer
}

export interface Sealer {
  /** @param owner is not part of the message; `open` must name the same owner */
  seal(plain: Buffer, owner?: string): SealedParts
  /** @returns undefined when the message was changed, was sealed with another key, or belongs to another owner */
  open(parts: SealedParts, owner?: string): Buffer | undefined
}

/**
 * @param secret `TOWPATH_SECRET`
 * @param purpose gives each use a key of its own (HKDF, RFC 5869): a message of one use does not open in another
 */
export function createSealer(secret: string, purpose: string): Sealer {
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', purpose, 32)))
  const nextIv = createIvs()
  return {
    seal(plain, owner = '') {
      const iv = nextIv()
      const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(owner))
      const text = cipher.update(plain)
      cipher.final()
      return { iv, text, tag: cipher.getAuthTag() }
    },
    open({ iv, text, tag }, owner = '') {
      if (iv.length !== IV_BYTES || tag.length !== TAG_BYTES) return undefined
      const decipher = createDecipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(owner)).setAuthTag(tag)
      const plain = decipher.update(text)
      try {
        decipher.final()
      } catch {
        return undefined
      }
      return plain
    },
  }
}

export interface TextSealer {
  seal(plain: string, owner: string): string
  /** @returns undefined like `Sealer`, and for a text that is not sealed */
  open(sealed: string, owner: string): string | undefined
}

/** The prefix of every sealed text. No JSON starts with it. */
const VERSION = '1.'

/** Seals texts for columns of the database, as `1.` and base64url. */
export function createTextSealer(secret: string, purpose: string): TextSealer {
  const sealer = createSealer(secret, purpose)
  return {
    seal(plain, owner) {
      const { iv, text, tag } = sealer.seal(Buffer.from(plain), owner)
      return VERSION + Buffer.concat([iv, tag, text]).toString('base64url')
    },
    open(sealed, owner) {
      if (!sealed.startsWith(VERSION)) return undefined
      const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url')
      const [tagAt, textAt] = [IV_BYTES, IV_BYTES + TAG_BYTES]
      const parts = {
        iv: bytes.subarray(0, tagAt),
        tag: bytes.subarray(tagAt, textAt),
        text: bytes.subarray(textAt),
      }
      return sealer.open(parts, owner)?.toString('utf8')
    },
  }
}

/**
 * GCM must never use one IV twice with one key (NIST SP 800-38D, section 8). An IV has 64 random bits and a 32-bit
 * counter. With 96 random bits instead, a key would be safe for 2^32 messages in its whole life.
 */
function createIvs(): () => Buffer {
  let run = randomBytes(8)
  let count = 0
  return () => {
    if (count === 2 ** 32) {
      run = randomBytes(8)
      count = 0
    }
    const iv = Buffer.allocUnsafe(IV_BYTES)
    run.copy(iv)
    iv.writeUInt32BE(count++, 8)
    return iv
  }
}
