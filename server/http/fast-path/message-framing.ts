// Finds the end of an HTTP message of a relayed connection (RFC 9112 §6) from the relayed bytes. An ambiguous message
// is `uncertain`, and stays so.

import type { Bytes } from './header-fields.ts'
import { HEAD_BYTES_MAX } from './header-fields.ts'

/** `complete` means that the message ended with the last byte that passed. */
export type FramingState = 'head' | 'body' | 'complete' | 'uncertain'

export interface MessageFraming {
  state: FramingState
  /** The first bytes of a head that arrives in several pieces. */
  head: Bytes | null
  /** Remaining bytes of a body of known length. */
  bodyLeft: number
}

export const createMessageFraming = (): MessageFraming => ({ state: 'head', head: null, bodyLeft: 0 })

const END_OF_HEAD = '\r\n\r\n'

/**
 * Collects the bytes of a head.
 * @returns the head and the body's first bytes when the head is whole, else null
 */
export function collectHead(framing: MessageFraming, chunk: Buffer): Bytes | null {
  const bytes = (framing.head ? Buffer.concat([framing.head, chunk]) : chunk) as Bytes
  const found = bytes.indexOf(END_OF_HEAD)
  if (found >= 0 && found + END_OF_HEAD.length <= HEAD_BYTES_MAX) {
    framing.head = null
    return bytes
  }
  const tooLong = found >= 0 || bytes.length > HEAD_BYTES_MAX
  // A copy, because the socket reuses its buffer.
  framing.head = tooLong ? null : (Buffer.from(bytes) as Bytes)
  if (tooLong) framing.state = 'uncertain'
  return null
}

/** Counts bytes of a body whose length is known. */
export function passBody(framing: MessageFraming, count: number): void {
  framing.bodyLeft -= count
  if (framing.bodyLeft > 0) framing.state = 'body'
  else framing.state = framing.bodyLeft === 0 ? 'complete' : 'uncertain'
}

/** @returns the number, or -1 for any other text */
export function parseContentLength(text: string): number {
  return /^(?:0|[1-9]\d{0,11})$/.test(text) ? Number(text) : -1
}
